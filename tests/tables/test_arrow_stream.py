"""Batches made while DuckDB asks for them, each given back."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import closing

import duckdb
import pyarrow as pa
import pytest

from rainbowdp.tables import arrow_stream
from rainbowdp.tables.arrow_stream import Texts, TextStream, batches_of

FIRST: list[bytes | None] = [b"red", None, b"", "é\0".encode()]
SECOND: list[bytes | None] = [None, b"1", b"2", None]


def batches() -> Iterator[Sequence[Texts]]:
    for _ in range(3):
        yield [Texts.of(FIRST), Texts.of(SECOND)]
    yield [Texts.of([]), Texts.of([])]


@pytest.fixture(autouse=True)
def _nothing_stays_lent() -> Iterator[None]:
    yield
    gc.collect()
    assert not arrow_stream._lent


@pytest.mark.slow
def test_pyarrow_reads_what_was_written() -> None:
    """The other reader of the interface, which checks what it is given."""
    table = pa.table(TextStream(["a", "b"], batches))
    table.validate(full=True)
    assert table.column_names == ["a", "b"]
    expected = [value if value is None else value.decode() for value in FIRST]
    assert table["a"].to_pylist() == 3 * expected
    assert table["b"].to_pylist() == 3 * [None, "1", "2", None]
    taken = table["a"]  # outlives its table
    del table
    gc.collect()
    assert taken.to_pylist() == 3 * expected
    del taken


def test_duckdb_scans_it_as_often_as_it_likes() -> None:
    stream = TextStream(["a", "b"], batches)
    with closing(stream), duckdb.connect() as connection:
        connection.register("t", stream)
        for _ in range(2):
            rows = connection.execute("SELECT a, count(*) FROM t GROUP BY a ORDER BY a").fetchall()
            assert rows == [("", 3), ("red", 3), ("é\0", 3), (None, 3)]
        assert len(connection.execute("SELECT b FROM t LIMIT 1").fetchall()) == 1
        connection.unregister("t")


def test_a_stream_that_nobody_reads_is_given_back() -> None:
    stream = TextStream(["a"], batches)
    capsule = stream.__arrow_c_stream__()
    assert arrow_stream._lent
    del capsule
    stream.close()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError("a private value")])
def test_a_failure_is_kept_and_not_shown(error: BaseException) -> None:
    def failing() -> Iterator[Sequence[Texts]]:
        yield [Texts.of([b"red"])]
        raise error

    stream = TextStream(["a"], failing)
    with closing(stream), duckdb.connect() as connection:
        connection.register("t", stream)
        with pytest.raises(duckdb.Error) as caught:
            connection.execute("SELECT count(*) FROM t").fetchall()
        connection.unregister("t")
    assert stream.failure is error
    assert "private" not in str(caught.value)
    stream.failure = None
    error.__traceback__ = None


def test_a_batch_ends_before_its_offsets_do(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(b"red", None), (b"x" * 9, b"y" * 9), (None, None), (b"", b"1"), (b"2", b"3")]
    monkeypatch.setattr(arrow_stream, "ROWS", 3)
    monkeypatch.setattr(arrow_stream, "BYTES", 20)
    made = list(batches_of(rows))
    assert [len(first) for first, _ in made] == [2, 3]
    found = pa.table(TextStream(["a", "b"], lambda: iter(made))).to_pydict()
    assert found["a"] == ["red", "x" * 9, None, "", "2"]
    assert list(batches_of([])) == []
