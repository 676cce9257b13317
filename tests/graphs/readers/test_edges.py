from __future__ import annotations

import gzip
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.graphs.edges import Ids, numbered, place_of
from reference import assert_one_sentence

PAIRS = [[0, 1], [1, 2], [2, 3], [0, 3]]


def named(edges: Any) -> list[list[Any]]:
    """The edges by the names of their ends."""
    return [[edges.names[a], edges.names[b]] for a, b in np.asarray(edges.pairs).tolist()]


def parquet(path: Path, select: str) -> Path:
    duckdb.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
    return path


@pytest.mark.parametrize("shift", [0, 7, 3_000_000_000, 10**15])
@pytest.mark.parametrize("kind", ["csv", "csv.gz", "tsv", "bare.csv", "crlf.csv", "parquet", "npy"])
def test_every_kind_of_file_reads_alike(tmp_path: Path, kind: str, shift: int) -> None:
    path = tmp_path / f"edges.{kind}"
    pairs = [[a + shift, b + shift] for a, b in PAIRS]
    separator = "\t" if kind == "tsv" else ","
    lines = [separator.join(map(str, pair)) for pair in pairs]
    if "bare" not in kind:
        lines.insert(0, f"from{separator}to")
    text = "".join(line + ("\r\n" if "crlf" in kind else "\n") for line in lines)
    if kind == "parquet":
        rows = ", ".join(f"({a}::BIGINT, {b}::BIGINT)" for a, b in pairs)
        parquet(path, f"SELECT * FROM (VALUES {rows}) AS t(a, b)")
    elif kind == "npy":
        np.save(path, np.array(pairs))
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_bytes(text.encode())
    edges = rb.read_graph(path)
    assert named(edges) == pairs
    assert edges.names == range(shift, shift + 4)


def test_ids_with_gaps_are_the_datasets_and_no_others(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("5,900000000000\n900000000000,17\n")
    edges = rb.read_graph(path)
    assert named(edges) == [[5, 900000000000], [900000000000, 17]]
    assert np.asarray(edges.pairs).dtype == np.uint32
    labels = np.array([0, 0, 1])
    graph = rb.RainbowGraph(edges, [("a", "b"), ("b", "a")], labels=labels)
    assert list(graph.datasets) == [5, 17, 900000000000]
    assert graph.boundary == (5, 17, 900000000000)
    assert graph.region[17] == 0
    for stranger in (6, -1, 10**30, "17", True):
        assert stranger not in graph


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=12), st.integers(1, 99))
def test_numbering_keeps_every_edge(pairs: list[tuple[int, int]], factor: int) -> None:
    ids = np.array(pairs, dtype=np.uint64).reshape(-1, 2) * np.uint64(factor)
    edges = numbered(ids)
    assert named(edges) == ids.tolist()
    assert edges.names is not None
    assert list(edges.names) == sorted(set(ids.ravel().tolist()))


def test_ids_are_a_sequence() -> None:
    ids = Ids(np.array([3, 5, 9]))
    assert list(ids[1:]) == [5, 9]
    assert [place_of(ids, value) for value in (3, 4, 9, 10)] == [0, None, 2, None]
    assert 5 in ids
    assert 6 not in ids
    assert place_of(Ids(np.array([], dtype=np.int64)), 1) is None


def test_a_memory_map_is_not_copied(tmp_path: Path) -> None:
    np.save(tmp_path / "edges.npy", np.array(PAIRS, dtype=np.uint32))
    edges = rb.read_graph(tmp_path / "edges.npy")
    assert isinstance(edges.pairs, np.memmap)
    assert repr(edges) == "Edges(4 nodes, 4 edges)"


def test_columns_are_chosen_by_name(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text('road,"from",to,meters\nBroadway,0,1,12.5\nCanal,1,2,0\n')
    edges = rb.read_graph(path, columns=("from", "to"), weight="meters")
    assert named(edges) == [[0, 1], [1, 2]]
    assert edges.weights is not None
    assert edges.weights.tolist() == [12.5, 0]
    table = parquet(tmp_path / "e.parquet", f"SELECT * FROM '{path}'")
    again = rb.read_graph(table, columns=("to", "from"), weight="meters")
    assert named(again) == [[1, 0], [2, 1]]


def test_a_glob_of_parquet_files_is_one_graph(tmp_path: Path) -> None:
    parquet(tmp_path / "part-0.parquet", "SELECT 0 AS a, 1 AS b")
    parquet(tmp_path / "part-1.parquet", "SELECT 1 AS a, 2 AS b")
    assert named(rb.read_graph(tmp_path / "part-*.parquet")) == [[0, 1], [1, 2]]
    folder = tmp_path / "spark.parquet"
    folder.mkdir()
    with pytest.raises(rb.InvalidGraph, match="no such file"):
        rb.read_graph(folder)
    (tmp_path / "part-1.parquet").rename(folder / "part-1.parquet")
    assert named(rb.read_graph(folder)) == [[1, 2]]


def test_nodes_that_no_edge_has(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("0,1\n1,2\n")
    assert rb.read_graph(path, nodes=5).names == range(5)
    with pytest.raises(rb.InvalidGraph) as refused:
        rb.read_graph(path, nodes=2)
    assert_one_sentence(refused.value, "from 0 to 1, got 2", f"{path}, line 2")
    path.write_text("from,to\n\n0,1\n7,2\n")
    with pytest.raises(rb.InvalidGraph, match=r"got 7 in .*, line 4"):
        rb.read_graph(path, nodes=3)
    table = parquet(tmp_path / "edges.parquet", "SELECT 0 AS a, 9 AS b")
    with pytest.raises(rb.InvalidGraph, match=r"got 9 in .*, row 1"):
        rb.read_graph(table, nodes=3)
    np.save(tmp_path / "edges.npy", np.array(PAIRS))
    with pytest.raises(rb.InvalidGraph, match=r"from 0 to 2, got 3 in .*, row 2"):
        rb.read_graph(tmp_path / "edges.npy", nodes=3)


CSV = [
    ("1,2,3\n", "has the columns 1, 2, 3;"),
    ("a,b,c\n1,2,3\n", "has the columns a, b, c;"),
    ("1\n2\n", "has the columns 1;"),
    ("", "{file} has no columns"),
    ("from,to\n", "has no edges"),
    ("from,from\n1,2\n", "different names"),
    ("from,to\n1,2\n3,x\n", "got x in {file}, line 3"),
    ("from,to\n\n1,2\n\n3,\n", "got nothing in {file}, line 5"),
    ("1,2\n-3,4\n", "got -3 in {file}, line 2"),
    ("1,2\n3,1.5\n", "got 1.5 in {file}, line 2"),
    ("1,2\n3,1e3\n", "got 1e3 in {file}, line 2"),
    ("1,2\n3,0x1F\n", "got 0x1F in {file}, line 2"),
    ("1,2\n3,1_000\n", "got 1_000 in {file}, line 2"),
    ("1,2\n3,99999999999999999999\n", "got 99999999999999999999 in {file}, line 2"),
    ("1,2\n3,4,5\n", "2 fields as the first one has, got 3 in {file}, line 2"),
    ("1,2\n3,4\r\n", "one kind of line end"),
    ("1,2\n3\n", "2 fields as the first one has, got 1 in {file}, line 2"),
]


@pytest.mark.parametrize(("text", "said"), CSV)
def test_a_bad_line_of_text_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "edges.csv"
    path.write_text(text)
    with pytest.raises(rb.InvalidGraph) as refused:
        rb.read_graph(path)
    assert_one_sentence(refused.value, said.format(file=path), path)


PARQUET = [
    ("SELECT 1 AS a, 2 AS b, 3 AS c", "has the columns a, b, c;"),
    ("SELECT 1 AS a", "has the columns a;"),
    ("SELECT 1 AS a, 2 AS b WHERE false", "has no edges"),
    ("SELECT 'x' AS a, 2 AS b", "column 'a' of type VARCHAR"),
    ("SELECT 1 AS a, 2.5::DOUBLE AS b", "column 'b' of type DOUBLE"),
    ("SELECT * FROM (VALUES (1, 2), (3, NULL)) AS t(a, b)", "got 3, nothing in {file}, row 2"),
    ("SELECT * FROM (VALUES (1, 2), (-3, 4)) AS t(a, b)", "got -3, 4 in {file}, row 2"),
]


@pytest.mark.parametrize(("select", "said"), PARQUET)
def test_a_bad_row_of_parquet_is_named(tmp_path: Path, select: str, said: str) -> None:
    path = parquet(tmp_path / "edges.parquet", select)
    with pytest.raises(rb.InvalidGraph) as refused:
        rb.read_graph(path)
    assert_one_sentence(refused.value, said.format(file=path), path)


ARRAYS = [
    (np.zeros((2, 3), dtype=np.int64), "two columns, got int64 of shape (2, 3)"),
    (np.zeros(4, dtype=np.int64), "two columns, got int64 of shape (4,)"),
    (np.zeros((2, 2)), "integers in two columns, got float64"),
    (np.array([[0, 1], [-1, 2]]), "got [-1, 2] in {file}, row 1"),
    (np.zeros((0, 2), dtype=np.int64), "has no edges"),
]


@pytest.mark.parametrize(("array", "said"), ARRAYS, ids=lambda value: str(value)[:20])
def test_a_bad_array_is_refused(tmp_path: Path, array: Any, said: str) -> None:
    path = tmp_path / "edges.npy"
    np.save(path, array)
    with pytest.raises(rb.InvalidGraph) as refused:
        rb.read_graph(path)
    assert_one_sentence(refused.value, said.format(file=path), path)


@pytest.mark.parametrize("kind", ["csv.gz", "parquet", "npy"])
def test_a_file_cut_off_in_the_middle(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"edges.{kind}"
    pairs = np.random.default_rng(1).integers(0, 900, (2000, 2))
    if kind == "npy":
        np.save(path, pairs)
    elif kind == "parquet":
        parquet(path, "SELECT range AS a, range + 1 AS b FROM range(2000)")
    else:
        path.write_bytes(gzip.compress("".join(f"{a},{b}\n" for a, b in pairs).encode()))
    whole = path.read_bytes()
    for kept in (len(whole) // 2, 3, 0):
        path.write_bytes(whole[:kept])
        with pytest.raises(rb.InvalidGraph) as refused:
            rb.read_graph(path)
        assert_one_sentence(refused.value, path)


@pytest.mark.parametrize("shape", ["(-5, 2)", "(10**9, 2)", "('a', 2)", "((" * 99, "(1e99, 2)"])
def test_an_array_whose_header_says_anything(tmp_path: Path, shape: str) -> None:
    path = tmp_path / "edges.npy"
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(160))
    with pytest.raises(rb.InvalidGraph) as refused:
        rb.read_graph(path)
    assert_one_sentence(refused.value, path)


@pytest.mark.parametrize("odd", ["", 3, np.arange(3), ["a"]], ids=str)
def test_a_column_must_be_one_of_the_file(tmp_path: Path, odd: Any) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(rb.InvalidGraph) as refused:
        rb.read_graph(path, columns=("a", odd))
    assert_one_sentence(refused.value, "has no column", path)
    with pytest.raises(rb.InvalidGraph, match=r"has no column|needs a str"):
        rb.read_graph(path, weight=odd)


def test_what_is_no_graph_file(tmp_path: Path) -> None:
    with pytest.raises(rb.InvalidGraph) as refused:
        rb.read_graph("roads.doc")
    assert_one_sentence(refused.value, ".gr.xz", "got roads.doc")
    for name in ("none.csv", "none.parquet", "none.npy", "none.txt", "none.graphml"):
        with pytest.raises(rb.InvalidGraph, match=r"none\."):
            rb.read_graph(tmp_path / name)
    path = tmp_path / "edges.csv"
    path.write_text("a,b,w\n1,2,x\n")
    with pytest.raises(rb.InvalidGraph, match="its columns are a, b, w"):
        rb.read_graph(path, columns=("a", "c"))
    with pytest.raises(rb.InvalidGraph, match=r"got x in .*edges.csv, line 2"):
        rb.read_graph(path, columns=("a", "b"), weight="w")
    np.save(tmp_path / "edges.npy", np.array(PAIRS))
    with pytest.raises(rb.InvalidGraph, match="has no column names"):
        rb.read_graph(tmp_path / "edges.npy", columns=("a", "b"))


@pytest.mark.parametrize("ending", ["txt", "txt.gz", "edges", "edgelist"])
@pytest.mark.parametrize("mark", ["#", "%"])
@pytest.mark.parametrize("separator", ["\t", " ", ","])
def test_an_edge_list_has_comments_and_no_line_of_names(
    tmp_path: Path, ending: str, mark: str, separator: str
) -> None:
    path = tmp_path / f"list.{ending}"
    lines = [separator.join(map(str, pair)) for pair in PAIRS]
    text = "\n".join([f"{mark} From{separator}To", *lines[:2], f"{mark} more", "", *lines[2:], ""])
    path.write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
    edges = rb.read_graph(path)
    assert (named(edges), edges.names) == (PAIRS, range(4))


@pytest.mark.parametrize("ending", ["txt", "txt.gz", "csv", "csv.gz", "tsv.gz"])
@pytest.mark.parametrize("part", [b"1", b'"'])
def test_a_line_without_end_is_refused(tmp_path: Path, ending: str, part: bytes) -> None:
    path = tmp_path / f"list.{ending}"
    text = (b"1,2\n" if "csv" in ending else b"1\t2\n") + part * (1 << 20) + b"1"
    path.write_bytes(gzip.compress(text, 1) if ending.endswith("gz") else text)
    with pytest.raises(rb.InvalidGraph, match=r"line 2 is longer than 1,048,576") as caught:
        rb.read_graph(path)
    assert_one_sentence(caught.value, path)


@pytest.mark.parametrize("ending", ["txt", "csv", "parquet"])
def test_nodes_may_have_names(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"friends.{ending}"
    pairs = [["zoe", "ann"], ["ann", "bob"], ["3", "zoe"]]
    if ending == "parquet":
        rows = ", ".join(f"('{a}', '{b}')" for a, b in pairs)
        parquet(path, f"SELECT * FROM (VALUES {rows}) AS t(a, b)")
    else:
        head = "" if ending == "txt" else "from,to\n"
        space = " " if ending == "txt" else ","
        path.write_text(head + "\n".join(space.join(pair) for pair in pairs))
    edges = rb.read_graph(path)
    assert edges.names == ["3", "ann", "bob", "zoe"]
    assert named(edges) == pairs
    labels = tmp_path / "labels.csv"
    labels.write_text("node,label\nbob,x\nann,x\nzoe,y\n3,y\n")
    assert rb.read_labels(labels, edges).tolist() == ["y", "x", "x", "y"]
    labels.write_text("node,label\nbob,x\nann,x\nzoe,y\n")
    with pytest.raises(rb.InvalidGraph, match="no label for node 3"):
        rb.read_labels(labels, edges)
    labels.write_text("node,label\nbob,x\nann,x\nzoe,y\n3,y\nmax,y\n")
    with pytest.raises(rb.InvalidGraph, match="label for node max, which is not in the graph"):
        rb.read_labels(labels, edges)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0 1\n1 x\n", "got x in .*, line 2"),
        ("a b\n\nb\n", "must have 2 fields .* got 1 in .*, line 3"),
        ("a b c\n", "columns 1, 2, 3; name the two"),
        ("# nothing\n", "has no columns"),
        ("a\tb\nb\t\n", "must have names, got none in .*, line 2"),
    ],
)
def test_an_edge_list_that_makes_no_sense_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "list.txt"
    path.write_text(text)
    with pytest.raises(rb.InvalidGraph, match=said) as error:
        rb.read_graph(path)
    assert_one_sentence(error.value)


@pytest.mark.parametrize(
    ("sql", "length"),
    [
        ("0.99999999999999999999::DECIMAL(38, 20)", Fraction(10**20 - 1, 10**20)),
        ("'0.99999999999999999999'", Fraction(10**20 - 1, 10**20)),
        ("9007199254740995::BIGINT", Fraction(9007199254740995)),
        ("1.10::DECIMAL(10, 2)", Fraction(11, 10)),
        ("1.1::DOUBLE", Fraction(1.1)),
    ],
)
def test_no_length_of_a_parquet_file_has_more_steps_than_it_is_long(
    tmp_path: Path, sql: str, length: Fraction
) -> None:
    path = parquet(tmp_path / "edges.parquet", f"SELECT 0 AS a, 1 AS b, {sql} AS long")
    edges = rb.read_graph(path, columns=("a", "b"), weight="long")
    for unit in (length, Fraction(float(length)), length / 3):
        measured = rb.with_lengths(edges, unit=unit)
        assert measured.steps is not None
        assert measured.steps[0] <= length // unit
        with rb.graph_on_disk(
            path, columns=("a", "b"), weight="long", lengths=True, unit=unit
        ) as held:
            assert held.engine.one("SELECT max(steps) FROM edges") == (measured.steps[0],)
    if length.denominator == 10:  # a short decimal is what it says
        assert rb.with_lengths(edges, unit="0.1").steps == [11]


def test_the_third_column_of_an_edge_list_may_be_lengths(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("# a road and its metres\na b 1.5\nb c 2\n")
    edges = rb.read_graph(path, columns=["1", "2"], weight="3")
    assert edges.weights is not None
    assert edges.weights.tolist() == [1.5, 2.0]
