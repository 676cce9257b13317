from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest

from rainbowdp.graphs import disk
from rainbowdp.graphs.readers.sizes import about_edges

EXTRACT = Path(__file__).parents[3] / "examples" / "data" / "ny-extract.gr.xz"


def test_a_packed_file_is_counted_as_what_is_in_it() -> None:
    assert about_edges(EXTRACT) == pytest.approx(6931, rel=0.01)


@pytest.mark.parametrize("name", ["e.csv", "e.csv.gz", "e.txt.gz", "e.gr.xz"])
def test_long_files_are_guessed_from_their_beginning(tmp_path: Path, name: str) -> None:
    many = 200_000
    text = "".join(f"{n * 7919 % many},{(n + 1) * 104729 % many}\n" for n in range(many)).encode()
    packed = {"z": lzma.compress(text, preset=0) if name.endswith("xz") else gzip.compress(text, 1)}
    (tmp_path / name).write_bytes(packed.get(name[-1], text))
    assert about_edges(tmp_path / name) == pytest.approx(many, rel=0.15)


def test_other_forms(tmp_path: Path) -> None:
    np.save(tmp_path / "e.npy", np.zeros((17, 2), dtype=np.int64))
    assert about_edges(tmp_path / "e.npy") == 17
    (tmp_path / "e.graphml").write_text('<graph>\n<edge source="1"\n target="2"/></graph>\n')
    assert about_edges(tmp_path / "e.graphml") == 1
    assert about_edges(tmp_path / "none.csv") == 0
    for odd in ("odd.gr.xz", "odd.csv.gz", "odd.csv"):
        (tmp_path / odd).write_bytes(b"x" * 40)
        assert about_edges(tmp_path / odd) == 4


def test_a_packed_file_that_is_too_large_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "half_of_memory", lambda: 300_000)
    told = disk.too_large_for_memory(EXTRACT)
    assert told is not None
    assert told.startswith("some 6,9")
    monkeypatch.setattr(disk, "half_of_memory", lambda: 1 << 30)
    assert disk.too_large_for_memory(EXTRACT) is None
