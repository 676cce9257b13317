"""Count where the data lives.

``count`` turns a table into the few numbers that a question needs. A table may be

* a data frame: pandas, Polars (eager or lazy), PyArrow (a table or a dataset), DuckDB, PySpark,
  counted by its own engine; a pandas or Polars Series is a frame of one column;
* a path or a glob of ``.csv``, ``.tsv``, ``.jsonl`` or ``.ndjson`` files, each also with ``.gz``,
  or of ``.parquet`` files;
* a ``TextFile``, which says how to read one, or a ``ParquetFile`` whose name does not tell;
* an ``SQLTable`` of a PostgreSQL, SQLite or DuckDB database, which counts itself, or of any other
  that SQLAlchemy reaches, out of which the needed columns are counted here;
* counts: ``{"red": 10, "green": 7}``, or what ``value_counts()`` of pandas gives.

Nothing else than counts leaves the engine that counts. The rules, the same for all of them:

* Only what the question lists is counted. Nulls, NaN and other values are not.
* A record of a text file is one line, and each line is read alone: whatever bytes it holds, every
  other line is counted as it would be without it. A field that is empty, missing or not valid in
  the file's encoding has no value. Only a trusted ``TextFile`` has fields that span lines.
* The declared type of the column says how the question's texts and ends are read, never what is in
  it; ``values.py`` has the rules. A question that no value of the type can match is refused.
* Only records for which the question's condition is true are counted. A test in it is unknown where
  a record has no value that the declared type allows, and NaN is none; so is what depends on it.
  The condition comes before any limit per person.
* A range needs numbers, dates or times. In a text file, texts that spell one are that. Infinity
  lies in a range that is open on its side.
* With a ``person`` column the ``person_rule`` keeps a random sample of ``rows_per_person`` of each
  person's counted rows, or lets each person be one record: the most frequent of that person's
  groups, or for a quantile the bin of that person's median. Either looks at one person's rows alone
  and favors no answer. Rows without a person are not counted, and rows that are not counted do not
  use up the limit.
* People are one if their values are equal to the last bit: texts by their bytes, whole numbers and
  decimals exactly. Floats are refused by the type of the column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rainbowdp.errors import InvalidQuestion
from rainbowdp.expecting import expect
from rainbowdp.questions import Grouped, Keys, Question
from rainbowdp.questions.base import Counted, CountQuestion, checked_counts
from rainbowdp.tables.databases import SQLTable, in_database
from rainbowdp.tables.duck import in_arrow, in_relation
from rainbowdp.tables.files import (
    ParquetFile,
    ReadTable,
    files_read_once,
    in_files,
    must_exist,
)
from rainbowdp.tables.frames import as_arrow, count_frame, look_at_frame
from rainbowdp.tables.funnel import shielded
from rainbowdp.tables.looking import Look, looked
from rainbowdp.tables.naming import named_people
from rainbowdp.tables.prepared import Found, Prepared, Work, counted
from rainbowdp.tables.series import count_series, frame_of, is_series
from rainbowdp.tables.text_files import TextFile
from rainbowdp.tables.values import counts_by_name

__all__ = [
    "Look",
    "ParquetFile",
    "SQLTable",
    "TextFile",
    "count",
    "count_groups",
    "count_names",
    "look",
    "must_exist",
    "must_have",
    "read_once",
]


def count(
    table: Any,
    question: Question,
    *,
    progress: Callable[[float], None] | None = None,
    key: int | None = None,
) -> dict[str, int]:
    """How many records of ``table`` fall into each group of ``question``, by the rules above.

    Where records have weights, these are the units of weight that each group has in total.
    ``progress`` is called with numbers from 0 to 1 while files are read. ``key`` makes what a
    person rule keeps repeatable; without it a new one is drawn. A table that cannot be read or
    lacks a column is an ``UnreadableTable``, which shows nothing of what it holds.

    >>> from rainbowdp.questions import Winner
    >>> count({"green": 7}, Winner(["red", "green"]))
    {'red': 0, 'green': 7}
    """
    names = _names(question)
    if _is_plain(table):
        if list(table) == names and min(table.values()) >= 0:
            return dict(table)
        return checked_counts(table, names)
    if isinstance(table, Mapping):
        return shielded(lambda: checked_counts(table, names), table, question.column)
    return counts_by_name(question, _cells(table, question, progress, key))


def count_groups(
    table: Any,
    question: Grouped,
    *,
    progress: Callable[[float], None] | None = None,
    key: int | None = None,
) -> dict[str, dict[str, int]]:
    """The same for each group of records that are counted apart, all in one scan.

    >>> from rainbowdp.questions import Grouped, Winner
    >>> polls = Grouped(Winner(["red", "green"]), None, ["north", "south"])
    >>> count_groups({"north": {"red": 3}}, polls)
    {'north': {'red': 3, 'green': 0}, 'south': {'red': 0, 'green': 0}}
    """
    names, parts = _names(question), question.by.names
    if isinstance(table, Mapping):
        return shielded(lambda: _given(table, names, parts), table, question.column)
    counts = _cells(table, question, progress, key)
    rows = (counts[place : place + len(names)] for place in range(0, len(counts), len(names)))
    return {part: counts_by_name(question, row) for part, row in zip(parts, rows, strict=True)}


def _given(
    table: Mapping[Any, Any], names: Sequence[str], parts: Sequence[str]
) -> dict[str, dict[str, int]]:
    """Counts that are given for each group; a group that is left out has none."""
    if not set(table) <= set(parts):
        raise InvalidQuestion("counts must be of the listed groups, got another one: leave it out")
    return {part: checked_counts(table.get(part, {}), names) for part in parts}


def count_names(
    table: Any,
    question: Keys,
    *,
    progress: Callable[[float], None] | None = None,
    key: int | None = None,
) -> dict[str, int]:
    """How many people each value of a column has, of which one counts in few values alone.

    >>> import polars as pl
    >>> from rainbowdp.questions import Keys
    >>> visits = pl.DataFrame({"ill": ["flu", "flu", "cold"], "who": [1, 1, 2]})
    >>> sorted(count_names(visits, Keys("ill", person="who")).items())
    [('cold', 1), ('flu', 1)]
    """
    if isinstance(table, Mapping):
        return shielded(lambda: question.found(table), table, question.column)

    def work(prepared: Prepared) -> dict[str, int]:
        return named_people(prepared, question.keys_per_person, key)

    def in_frame() -> dict[str, int]:
        return in_arrow(as_arrow(table, question), question, work)

    return _done(table, question, work, in_frame, progress)


@contextmanager
def read_once(
    table: Any,
    questions: Sequence[Any],
    progress: Callable[[float], None] | None = None,
) -> Iterator[Any]:
    """The table for several questions: of files, what all of them need, read in one scan.

    A frame is in memory and a database counts itself, so these are what they were.

    >>> with read_once({"red": 1}, []) as table:
    ...     table
    {'red': 1}
    """
    if not isinstance(table, str | Path | TextFile | ParquetFile):
        yield table
        return
    held = files_read_once(table, questions, progress)
    read = shielded(held.__enter__, table, None)
    try:
        yield read
    finally:
        held.__exit__(None, None, None)


def _is_plain(table: Any) -> bool:
    """Whether it is names and whole numbers of Python, which run no code of their own."""
    if type(table) is not dict:
        return False
    size = len(table)
    return [*map(type, table)].count(str) == size == [*map(type, table.values())].count(int)


def _names(question: Counted) -> list[str]:
    if isinstance(question, CountQuestion):  # has them listed
        return question.group_names
    if not question.groups:
        raise InvalidQuestion("counting needs a question with groups, got one without")
    return [name for name, _ in question.groups]


def _cells(
    table: Any, question: Counted, progress: Callable[[float], None] | None, key: int | None
) -> list[int]:
    def work(prepared: Prepared) -> list[int]:
        return counted(prepared, key)

    def in_frame() -> list[int]:
        if is_series(table):
            return count_series(table, question, key)
        return count_frame(table, question, key)

    return _done(table, question, work, in_frame, progress)


def must_have(table: Any, question: Counted) -> None:
    """Raise unless a file or a database table has the columns of a question, of fitting types.

    No record is read: of a text file its header line, of others what declares their types.

    >>> must_have({"red": 1}, Keys("ill"))
    Traceback (most recent call last):
        ...
    rainbowdp.errors.InvalidQuestion: only files and tables of databases declare their columns
    """

    def in_frame() -> None:
        raise InvalidQuestion("only files and tables of databases declare their columns")

    _done(table, question, lambda prepared: None, in_frame, None)


def look(
    table: Any, question: Question, *, progress: Callable[[float], None] | None = None
) -> Look:
    """Look at a table before anything is paid. **The result is exact and private.**

    It is for people who may read the table anyway, to see whether a question asks what it should:
    how many rows match each answer or bin, how many match none and why, and how many rows people
    have. No budget pays for it, so the result must not be passed on.

    Parameters
    ----------
    table
        A file, a frame or a table of a database.
    question
        The question that you are about to ask.
    progress
        Called with numbers from 0 to 1 while files are read.

    Returns
    -------
    Look
        What is in the table.

    Raises
    ------
    UnreadableTable
        If the table cannot be read, or no answer can match the type of the column.

    Examples
    --------
    >>> import polars as pl
    >>> from rainbowdp import Winner
    >>> votes = pl.DataFrame({"vote": ["red", "Red", "green", None]})
    >>> found = look(votes, Winner(["red", "green"], "vote"))
    >>> found.matched, found.missing, found.unmatched
    ({'red': 1, 'green': 1}, 1, {'capital letters differ': 1})

    """
    expect(question, Question, "look", InvalidQuestion)
    if not question.groups or isinstance(table, Mapping):
        raise InvalidQuestion("look needs a table and a question that names a column of it")

    def in_frame() -> Look:
        return look_at_frame(frame_of(table, question) if is_series(table) else table, question)

    return _done(table, question, looked, in_frame, progress)


def _done(
    table: Any,
    question: Counted,
    work: Work[Found],
    in_frame: Callable[[], Found],
    progress: Callable[[float], None] | None,
) -> Found:
    """The work done by whoever can read the table; a failure shows nothing of what it holds."""

    def done() -> Found:
        if isinstance(table, ReadTable):
            return table.done(question, work)
        if isinstance(table, str | Path | TextFile | ParquetFile):
            return in_files(table, question, work, progress)
        if isinstance(table, SQLTable):
            return in_database(table, question, work)
        library = type(table).__module__.partition(".")[0].lstrip("_")
        if library == "duckdb":
            return in_relation(table, question, work)
        if library == "pyarrow" and hasattr(table, "schema"):
            return in_arrow(table, question, work)
        return in_frame()

    return shielded(done, table, question.column)
