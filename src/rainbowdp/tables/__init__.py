"""Count where the data lives.

``count`` turns a table into the few numbers that a question needs. A table may be

* a data frame: pandas, Polars (eager or lazy), PyArrow (a table or a dataset), DuckDB, PySpark,
  counted by its own engine; a pandas or Polars Series is a frame of one column;
* a path or a glob of ``.csv``, ``.csv.gz``, ``.tsv``, ``.tsv.gz`` or ``.parquet`` files;
* an ``SQLTable`` of a PostgreSQL, SQLite or DuckDB database;
* counts: ``{"red": 10, "green": 7}``, or what ``value_counts()`` of pandas gives.

Nothing else than counts leaves the engine. The rules, the same for all of them:

* Only what the question lists is counted. Nulls, NaN and other values are not.
* Values compare as what the column holds. In a column of texts, and every column of a CSV or TSV
  file is one, "3" is the text 3 and not 3.0. In a column of numbers "3" and "3.0" are the number
  three, and a text that spells no number matches nothing; decimals and 128-bit integers
  compare as the nearest 64-bit floats. Truth values are "true" and "false"; dates are "2024-12-31".
* A range needs numbers. In a CSV or TSV file, texts that spell a number are that number.
  Infinity lies in a range that is open on its side.
* With a ``person`` column the ``person_rule`` keeps a random sample of ``rows_per_person`` of each
  person's counted rows, or lets each person be one record: the most frequent of that person's
  groups, or for a quantile the bin of that person's median. Either looks at one person's rows alone
  and favors no answer. Rows without a person are not counted, and rows that are not counted do not
  use up the limit.
* People are one if their values are equal to the last bit: texts by their bytes, whole numbers and
  decimals exactly. Floats are refused by the type of the column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rainbowdp.errors import InvalidQuestion
from rainbowdp.questions import Question
from rainbowdp.questions.base import checked_counts
from rainbowdp.tables.databases import SQLTable, count_sql
from rainbowdp.tables.duck import count_arrow, count_relation
from rainbowdp.tables.files import ParquetFile, count_files, must_exist
from rainbowdp.tables.frames import count_frame
from rainbowdp.tables.funnel import shielded
from rainbowdp.tables.series import count_series, is_series
from rainbowdp.tables.text_files import TextFile

__all__ = ["ParquetFile", "SQLTable", "TextFile", "count", "must_exist"]


def count(
    table: Any,
    question: Question,
    *,
    progress: Callable[[float], None] | None = None,
    key: int | None = None,
) -> dict[str, int]:
    """How many records of ``table`` fall into each group of ``question``, by the rules above.

    ``progress`` is called with numbers from 0 to 1 while files are read. ``key`` makes what a
    person rule keeps repeatable; without it a new one is drawn. A table that cannot be read or
    lacks a column is an ``UnreadableTable``, which shows nothing of what it holds.

    >>> from rainbowdp.questions import Winner
    >>> count({"green": 7}, Winner(["red", "green"]))
    {'red': 0, 'green': 7}
    """
    if not question.groups:
        raise InvalidQuestion("counting needs a question with groups, got one without")
    return shielded(lambda: _count(table, question, progress, key), table, question.column)


def _count(
    table: Any, question: Question, progress: Callable[[float], None] | None, key: int | None
) -> dict[str, int]:
    """Counts by whoever can read the table."""
    if isinstance(table, Mapping):
        return checked_counts(table, [name for name, _ in question.groups])
    if isinstance(table, str | Path | TextFile | ParquetFile):
        return count_files(table, question, progress, key=key)
    if isinstance(table, SQLTable):
        return count_sql(table, question, key)
    library = type(table).__module__.partition(".")[0].lstrip("_")
    if library == "duckdb":
        return count_relation(table, question, key)
    if library == "pyarrow" and hasattr(table, "schema"):
        return count_arrow(table, question, key)
    if is_series(table):
        return count_series(table, question, key)
    return count_frame(table, question, key)
