"""Files that are made to hurt a reader: refused in one sentence, within 200 MB and some seconds."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rainbow_release
import rainbowdp as rb
import reference
from crafted_files import CRAFTED
from rainbowdp.rules.files import load_any

READER = Path(rainbow_release.__file__).with_name("rainbow-release.js")
SPARE = 200 << 20  # bytes
SECONDS = 60  # of a processor, for all files together: ours take five

# The limit is set once everything is imported; what takes more is a MemoryError, or is killed.
IN_PYTHON = """
import json, resource, sys
from {module} import {load} as load, {error} as refused
{more}
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize() + {spare}
resource.setrlimit(resource.RLIMIT_AS, (size, size))
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))
for path in sys.argv[1:]:
    try:
        load(path)
        said = None
    except refused as error:
        said = str(error)
    print(json.dumps([path, said]), flush=True)
"""
IN_NODE = """
import { readFileSync } from "node:fs";
const { load, Refused } = await import(process.argv[2]);
for (const path of process.argv.slice(3)) {
  let said = null;
  try {
    load(readFileSync(path, "utf8"));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    said = error.message;
  }
  console.log(JSON.stringify([path, said]));
}
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("crafted")
    for number, make in enumerate(CRAFTED.values()):
        (folder / f"{number}.json").write_text(make(), encoding="utf-8")
    return [str(folder / f"{number}.json") for number in range(len(CRAFTED))]


def script(module: str, load: str, error: str, more: str = "") -> list[str]:
    made = IN_PYTHON.format(
        module=module, load=load, error=error, more=more, spare=SPARE, seconds=SECONDS
    )
    return [sys.executable, "-c", made]


NODE = [
    *(shutil.which("node") or "node", f"--max-old-space-size={SPARE >> 20}"),
    *("--input-type=module", "--eval", IN_NODE, "-", READER.as_uri()),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        script("rainbowdp", "load", "InvalidFile", "import rainbowdp.rules.files, scipy.sparse"),
        script("rainbow_release", "load", "Refused", "import hashlib, json"),
        NODE,
    ],
    ids=["rainbowdp", "rainbow_release", "javascript"],
)
def test_each_is_refused_in_one_sentence(command: list[str], files: list[str]) -> None:
    told = subprocess.run([*command, *files], capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in told.stdout.splitlines()]
    assert len(found) == len(files), told.stderr[-2000:]
    for name, (_, said) in zip(CRAFTED, found, strict=True):
        assert said is not None, f"{name} was taken"
        assert "\n" not in said
        assert len(said) < 800, name
        assert "checksum" not in said, name


QUICK = [name for name in CRAFTED if "10^6" not in name]


@pytest.mark.parametrize("name", QUICK)
def test_small_ones_are_refused_at_once(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(CRAFTED[name](), encoding="utf-8")
    with pytest.raises(rb.InvalidFile) as caught:
        load_any(path)
    reference.assert_one_sentence(caught.value, path)
    with pytest.raises(rainbow_release.Refused) as refused:
        rainbow_release.load(path)
    reference.assert_one_sentence(refused.value)
