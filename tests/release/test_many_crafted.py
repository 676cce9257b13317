"""More than 200 crafted files, each read within some seconds, all within 256 MB, or refused."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest

import rainbow_release
import rainbowdp as rb
from crafted_files import CRAFTED
from crafted_variants import VARIANTS, emptied, graphs, leveled, tables, variant
from golden_files import MAKERS
from rainbowdp.rules.files import load_any

SPARE = 256 << 20  # bytes
SECONDS = 10  # of a processor for one file, on a machine that others use, too

# A file that takes too long is told as "slow". Memory counts from when everything is imported, and
# is the most that all files took. Threads reserve addresses that nobody uses, so these are bounded
# only to spare the machine.
CHILD = """
import json, resource, signal, sys
import numpy, scipy.sparse, duckdb, pyarrow, hashlib, csv, gzip, lzma, xml.parsers.expat
import rainbow_release, rainbowdp as rb, rainbowdp.rules.files
from rainbowdp.tables import TextFile, count
WINNER = rb.Winner(["red", "blue"], "choice")
def package(path): rainbowdp.rules.files.load_any(path)
def light(path): rainbow_release.load(path)
def graph(path):
    rb.read_graph(path, **({{"weight": "w"}} if "graphml" in path else {{}}))
def table(path):
    count(path, WINNER)
def trusted(path):
    count(TextFile(path, trusted=True), WINNER)
load = {{"package": package, "light": light, "graph": graph, "table": table, "trusted": trusted}}
class Slow(BaseException): pass
def slow(*_): raise Slow
signal.signal(signal.SIGVTALRM, slow)
def most(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize() + (4 << 30)
resource.setrlimit(resource.RLIMIT_AS, (size, size))
before = most()
for path in sys.argv[2:]:
    signal.setitimer(signal.ITIMER_VIRTUAL, {seconds})
    try:
        load[sys.argv[1]](path)
        said = "taken"
    except (rb.RainbowError, rainbow_release.Refused) as error:
        said = str(error)
    except Slow:
        said = "slow"
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    print(json.dumps([path, said, most() - before]), flush=True)
"""


def must_be_bounded(how: str, paths: Iterable[Path]) -> None:
    """A child takes or refuses each file in one sentence, within its limits."""
    listed = [str(path) for path in paths]
    code = CHILD.format(seconds=SECONDS)
    told = subprocess.run(
        [sys.executable, "-c", code, how, *listed], capture_output=True, text=True, check=False
    )
    found = [json.loads(line) for line in told.stdout.splitlines()]
    assert [path for path, _, _ in found] == listed, told.stderr[-2000:]
    for path, said, taken in found:
        assert taken < SPARE, path
        assert said != "slow", path
        assert "\n" not in said, path
        assert len(said) < 800, path


def test_there_are_200_of_them() -> None:
    assert len(CRAFTED) + len(VARIANTS) + 8 * 6 + 3 * 6 > 200


@pytest.mark.slow
@pytest.mark.parametrize("how", ["package", "light"])
def test_mechanisms(how: str, tmp_path: Path) -> None:
    paths = []
    for number, (name, way) in enumerate(VARIANTS):
        path = tmp_path / f"{number}-{way.__name__}-{name}.json"
        path.write_text(variant(name, way), encoding="utf-8")
        paths.append(path)
    must_be_bounded(how, paths)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["graph", "table", "trusted"])
def test_data_without_end(how: str, tmp_path: Path) -> None:
    made = list(graphs() if how == "graph" else tables())
    if how == "trusted":
        made = [(name, content) for name, content in made if "jsonl" not in name]
    for name, content in made:
        (tmp_path / name).write_bytes(content)
    must_be_bounded(how, [tmp_path / name for name, _ in made])


@pytest.mark.parametrize("name", list(MAKERS)[::4])
def test_some_are_refused_at_once(name: str, tmp_path: Path) -> None:
    for way in (emptied, leveled):
        path = tmp_path / "m.json"
        path.write_text(variant(name, way), encoding="utf-8")
        for load in (load_any, rainbow_release.load):
            with suppress(rb.InvalidFile, rainbow_release.Refused):  # and nothing else
                load(path)
