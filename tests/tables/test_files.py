"""Any file, any one line replaced by any bytes: every other line is counted as before."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import pytest
from hypothesis import HealthCheck, example, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from line_oracle import column, json_column, neighbors
from rainbowdp.questions import Winner
from rainbowdp.tables import TextFile, files
from rainbowdp.tables.files import count_files
from rainbowdp.tables.locked import locked_connection
from rainbowdp.tables.text_reader import Sizes
from strategies import lines

QUESTION = Winner(["red", "blue", "é", "1"], "choice")
HEADER = {",": b"id,choice,note", ";": b"id;choice;note", "\t": b"id\tchoice\tnote"}
Count: TypeAlias = Callable[[Any], dict[str, int]]


def tallied(values: list[str | None]) -> dict[str, int]:
    return {answer: values.count(answer) for answer in QUESTION.answers}


@pytest.fixture(scope="module")
def _one_connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Connecting takes longest, and is the same each time."""
    folder = tmp_path_factory.mktemp("spilled")
    with locked_connection(folder) as connection, pytest.MonkeyPatch.context() as patch:

        @contextmanager
        def again(*_: object) -> Iterator[duckdb.DuckDBPyConnection]:
            yield connection

        patch.setattr(files, "locked_connection", again)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


def sizes() -> st.SearchStrategy[Sizes]:
    """Chunks that end anywhere in a line; the plain reader and the compiled one."""
    read = partial(Sizes, longest=1 << 12)
    return st.builds(read, st.integers(1, 60), compiled_from=st.sampled_from([0, 1 << 30]))


pairs = given(
    st.lists(lines(), min_size=1, max_size=10), lines(), st.integers(0, 9), st.booleans(), sizes()
)
relaxed = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.usefixtures("_one_connection")
@pytest.mark.parametrize(
    ("delimiter", "encoding", "name"),
    [
        (",", "utf-8", "t.csv"),
        (",", "latin-1", "t.csv.gz"),
        (";", "cp1252", "t.csv"),
        ("\t", "utf-8", "t.tsv"),
    ],
)
@relaxed
@pairs
@example([b"1,red,x"] * 9, b'1,red,"', 0, True, Sizes(7, 100))
@example([b"1,red,x"] * 9, b'1,red,\\"', 0, True, Sizes(7, 100, 0))
def test_a_replaced_line_changes_no_other(
    folder: Path,
    delimiter: str,
    encoding: str,
    name: str,
    listed: list[bytes],
    other: bytes,
    place: int,
    ended: bool,
    sized: Sizes,
) -> None:
    found = []
    for records in (
        listed,
        [*listed[: place % len(listed)], other, *listed[place % len(listed) + 1 :]],
    ):
        content = b"\n".join([HEADER[delimiter], *records]) + (b"\n" if ended else b"")
        file = folder / name
        file.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        counts = count_files(TextFile(file, encoding=encoding), QUESTION, None, sized)
        assert counts == tallied(column(records, 1, ord(delimiter), encoding))
        found.append(counts)
    assert neighbors(*found)


@pytest.mark.slow
@pytest.mark.usefixtures("_one_connection")
@relaxed
@pairs
def test_a_replaced_line_of_json_changes_no_other(
    folder: Path, listed: list[bytes], other: bytes, place: int, ended: bool, sized: Sizes
) -> None:
    place %= len(listed)
    found = []
    for records in (listed, [*listed[:place], other, *listed[place + 1 :]]):
        file = folder / "t.jsonl"
        file.write_bytes(b"\n".join(records) + (b"\n" if ended else b""))
        counts = count_files(file, QUESTION, None, sized)
        rest = tallied(json_column([*listed[:place], *listed[place + 1 :]], "choice"))
        assert neighbors(counts, rest)
        found.append(counts)
    assert neighbors(*found)


def old_count(file: Path) -> dict[str, int]:
    """How files were read before: DuckDB resolves quotes across lines."""
    table = (
        f"read_csv('{file}', auto_detect = false, header = true, delim = ',', quote = '\"', "
        "escape = '\"', columns = {'id': 'VARCHAR', 'choice': 'VARCHAR', 'note': 'VARCHAR'}, "
        "null_padding = true, strict_mode = false, ignore_errors = true, parallel = false)"
    )
    with duckdb.connect() as connection:
        rows = connection.execute(f"SELECT choice, count(*) FROM {table} GROUP BY 1").fetchall()
    found: dict[Any, int] = dict(rows)
    return {answer: found.get(answer, 0) for answer in QUESTION.answers}


def broken_pair(count: Count, folder: Path, tries: int) -> int | None:
    """Which of so many random pairs is not one of neighbors, if any is."""
    draw, file = random.Random(11), folder / "pair.csv"
    remarks = [b"fine", b'"quoted, in full"', b'5" pipe', b'"', b'\\"', b"\xff", b"a;b", b"\0"]
    for number in range(tries):
        listed = [b"%d,red,%s" % (i, draw.choice(remarks[:2])) for i in range(9)]
        other = listed.copy()
        other[draw.randrange(9)] = b"7,blue," + draw.choice(remarks)
        found = []
        for records in (listed, other):
            file.write_bytes(b"\n".join([HEADER[","], *records]) + b"\n")
            found.append(count(file))
        if not neighbors(*found):
            return number
    return None


@pytest.mark.slow
@pytest.mark.usefixtures("_one_connection")
def test_the_reader_of_before_is_found_out(tmp_path: Path) -> None:
    assert broken_pair(old_count, tmp_path, 60) is not None
    assert broken_pair(lambda file: count_files(file, QUESTION), tmp_path, 60) is None


def test_a_line_of_megabytes_is_one_line(tmp_path: Path) -> None:
    """Longer than any chunk, and than what is looked at."""
    long = b'1,red,"' + b"x" * 5_000_000
    for beyond in (b"", b"y" * 20_000_000):
        (tmp_path / "t.csv").write_bytes(
            b"id,choice,note\n1,blue,\n" + long + beyond + b"\n1,blue,\n" + beyond + b",red\n2,blue"
        )
        expected = {"red": 1 if beyond else 2, "blue": 3, "é": 0, "1": 0}
        assert count_files(tmp_path / "t.csv", QUESTION) == expected


def test_not_a_line_is_read_twice_or_left_out_between_files_and_members(tmp_path: Path) -> None:
    rows = [b"%d,%s,x\n" % (i, random.Random(i).choice([b"red", b"blue"])) for i in range(9000)]
    parts = [b"id,choice,note\n" + b"".join(rows[i::3]) for i in range(3)]
    for i, part in enumerate(parts):
        half = len(part) // 2
        packed = gzip.compress(part[:half]) + gzip.compress(part[half:])  # two members
        (tmp_path / f"p{i}.csv.gz").write_bytes(packed)
    expected = tallied([str(row.split(b",")[1], "ascii") for row in rows])
    for sized in (Sizes(), Sizes(1000, 2000), Sizes(1000, 2000, 0)):
        assert count_files(f"{tmp_path}/p*.csv.gz", QUESTION, None, sized) == expected


@pytest.mark.slow
def test_progress_of_a_text_file_runs_from_nothing_to_all(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"id,choice,note\n" + b"1,red,x\n" * 200_000)
    seen: list[float] = []
    counts = count_files(tmp_path / "t.csv", QUESTION, seen.append)
    assert counts["red"] == 200_000
    assert seen == sorted(seen)
    assert 0 <= seen[0] < 1
    assert seen[-1] == 1

    def stop(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count_files(tmp_path / "t.csv", QUESTION, stop)


def test_the_strategy_of_lines_reaches_both_readers_of_quotes() -> None:
    """A generator without open quotes or bytes beyond UTF-8 would prove nothing."""
    for wanted in (lambda line: line.count(b'"') % 2, lambda line: b"\xff" in line):
        with pytest.raises(NoSuchExample):
            find(st.just(b"red"), wanted)
        assert wanted(find(lines(), wanted))
