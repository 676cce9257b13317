from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.graphs.readers import gr as gr_files
from reference import assert_one_sentence

PATH = "p tw 4 3\n1 2\n2 3\n3 4\n"


def write(folder: Path, text: str, name: str = "graph.gr") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_nodes_go_by_the_names_of_the_file(tmp_path: Path) -> None:
    edges = rb.read_graph(write(tmp_path, PATH))
    assert edges.names == range(1, 5)
    assert np.asarray(edges.pairs).dtype == np.uint32
    orders = {"l": ("l", "r"), "r": ("r", "l")}
    graph = rb.RainbowGraph(edges, orders, labels=["l", "l", "r", "r"])
    assert graph.boundary == (2, 3)
    assert graph.depth[1] == graph.depth[4] == 1
    assert 0 not in graph
    assert graph.neighbors(2) == (1, 3)


@pytest.mark.parametrize("packed", ["graph.gr.xz", "graph.gr.gz"])
def test_packed_files_read_alike(tmp_path: Path, packed: str) -> None:
    opener = lzma.open if packed.endswith("xz") else gzip.open
    with opener(tmp_path / packed, "wt") as file:
        file.write(PATH)
    assert np.asarray(rb.read_graph(tmp_path / packed).pairs).tolist() == [[0, 1], [1, 2], [2, 3]]


def test_lengths_of_arcs(tmp_path: Path) -> None:
    text = "c roads\np sp 3 4\nc arcs\na 1 2 803\na 2 1 803\na 2 3 158\na 3 2 0\n"
    edges = rb.read_graph(write(tmp_path, text))
    assert np.asarray(edges.pairs).tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
    assert edges.weights is not None
    assert edges.weights.tolist() == [803, 803, 158, 0]


@given(
    edges=st.lists(st.tuples(st.integers(1, 12), st.integers(1, 12), st.integers(0, 10**6))),
    weighted=st.booleans(),
    noise=st.lists(st.sampled_from(["c word 7", "", "  ", "cc", "\t"]), max_size=4),
    gap=st.sampled_from([" ", "  ", "\t"]),
    ending=st.sampled_from(["\n", "\r\n", " \n"]),
    last=st.booleans(),
    block=st.integers(1, 40),
    data=st.data(),
)
def test_a_block_reads_as_its_lines_do(
    tmp_path_factory: pytest.TempPathFactory,
    edges: list[tuple[int, int, int]],
    weighted: bool,
    noise: list[str],
    gap: str,
    ending: str,
    last: bool,
    block: int,
    data: st.DataObject,
) -> None:
    lines = [gap.join(map(str, ("a", *e) if weighted else e[:2])) for e in edges]
    for line in noise:
        lines.insert(data.draw(st.integers(0, len(lines))), line)
    text = ending.join([f"p {'sp' if weighted else 'tw'} 12 {len(edges)}", *lines])
    path = tmp_path_factory.mktemp("gr") / "graph.gr"
    path.write_bytes((text + (ending if last else "")).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gr_files, "_BLOCK", block)
        read = rb.read_graph(path)
    assert np.asarray(read.pairs).tolist() == [[u - 1, v - 1] for u, v, _ in edges]
    if weighted:
        assert read.weights is not None
        assert read.weights.tolist() == [w for *_, w in edges]


BAD = [
    ("p tw 4 3\n1 2\n2 3\n", "announces 3 edges, but 2 follow"),
    ("p tw 4 1\n1 2\n2 3\n", "announces 1 edges, but 2 follow"),
    ("p tw 4 2\n1 2\n2 5\n", "'2 5' in {file}, line 3"),
    ("p tw 4 2\n1 2\n0 3\n", "'0 3' in {file}, line 3"),
    ("p tw 4 2\n1 2\n-1 3\n", "'-1 3' in {file}, line 3"),
    ("c\np tw 4 2\nc\n1 2\nc\n1 x\n", "'1 x' in {file}, line 6"),
    ("p tw 4 2\n1 2 3\n4\n", "'1 2 3' in {file}, line 2"),
    ("p tw 4 2\n1 2\n3\n", "'3' in {file}, line 3"),
    ("p tw 4 1\na 1 2 7\n", "'a 1 2 7' in {file}, line 2"),
    ("p sp 4 1\n1 2\n", "must be 'a u v length' in whole numbers"),
    ("p sp 4 1\na 1 2\n", "'a 1 2' in {file}, line 2"),
    ("p sp 4 1\na 1 2 1.5\n", "'a 1 2 1.5' in {file}, line 2"),
    ("p sp 4 1\na 1 2 99999999999999999999\n", "line 2"),
    ("p sp 4 1\na 1 2 9223372036854775807\n", "line 2"),
    ("p tw 4 1\n1.0 2\n", "'1.0 2' in {file}, line 2"),
    ("1 2\n2 3\n", "does not begin with a line 'p tw NODES EDGES'"),
    ("", "does not begin with a line 'p tw NODES EDGES'"),
    ("p tw four 3\n", "'p tw four 3' in {file}, line 1"),
    ("p tw 4\n", "'p tw 4' in {file}, line 1"),
    ("p tw 0 0\n", "1 to 4294967295 nodes, got 0"),
    ("p tw 5000000000 0\n", "got 5000000000"),
]


@pytest.mark.parametrize(("text", "said"), BAD)
def test_a_bad_line_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(rb.InvalidGraph) as refused:
        rb.read_graph(path)
    assert_one_sentence(refused.value, said.format(file=path), path)


@pytest.mark.parametrize("packed", ["cut.gr.xz", "cut.gr.gz"])
def test_a_file_cut_off_in_the_middle(tmp_path: Path, packed: str) -> None:
    opener = lzma.open if packed.endswith("xz") else gzip.open
    path = tmp_path / packed
    numbers = np.random.default_rng(1).integers(1, 900, (2000, 2))
    with opener(path, "wt") as file:
        file.write("p tw 900 2000\n" + "".join(f"{u} {v}\n" for u, v in numbers))
    whole = path.read_bytes()
    for kept in (len(whole) // 2, len(whole) - 6):
        path.write_bytes(whole[:kept])
        with pytest.raises(rb.InvalidGraph) as refused:
            rb.read_graph(path)
        assert_one_sentence(refused.value, "to its end", path)
    path.write_bytes(b"not packed at all")
    with pytest.raises(rb.InvalidGraph, match="to its end"):
        rb.read_graph(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(rb.InvalidGraph) as refused:
        rb.read_graph(tmp_path / "none.gr.xz")
    assert_one_sentence(refused.value, "none.gr.xz", "No such file")


def test_a_gr_file_takes_no_other_options(tmp_path: Path) -> None:
    with pytest.raises(rb.InvalidGraph, match="leave out columns"):
        rb.read_graph(write(tmp_path, PATH), nodes=9)
