"""Count where the data lives.

``count`` turns a table into the few numbers that a question needs. A table may be

* a data frame: pandas, Polars (eager or lazy), PyArrow, DuckDB, PySpark, counted by its own engine;
* a path or a glob of ``.csv``, ``.tsv``, ``.jsonl`` or ``.ndjson`` files, each also with ``.gz``,
  or of ``.parquet`` files;
* a ``TextFile``, which says how to read one, or a ``ParquetFile`` whose name does not tell;
* an ``SQLTable`` of a PostgreSQL database;
* counts: ``{"red": 10, "green": 7}``.

Nothing else than counts leaves the engine. The rules, the same for all of them:

* Only what the question lists is counted. Nulls, NaN and other values are not.
* A record of a text file is one line, and each line is read alone: whatever bytes it holds, every
  other line is counted as it would be without it. A field that is empty, missing or not valid in
  the file's encoding has no value. Only a trusted ``TextFile`` has fields that span lines.
* Values compare as what the column holds. In a column of texts, and every column of a text
  file is one, "3" is the text 3 and not 3.0. In a column of numbers "3" and "3.0" are the number
  three, and a text that spells no number matches nothing; decimals and 128-bit integers
  compare as the nearest 64-bit floats. Truth values are "true" and "false"; dates are "2024-12-31".
* A range needs numbers. In a text file, texts that spell a number are that number.
  Infinity lies in a range that is open on its side.
* With a ``person`` column at most ``rows_per_person`` counted rows of each person are kept, those
  of the first listed group first, then those of the second, and so on: a rule that looks
  at that person's rows alone. Rows without a person are not counted, and rows
  that are not counted do not use up the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rainbowdp.errors import InvalidQuestion
from rainbowdp.questions import Question
from rainbowdp.questions.base import checked_counts
from rainbowdp.tables.duck import count_arrow, count_relation
from rainbowdp.tables.files import ParquetFile, count_files, must_exist
from rainbowdp.tables.frames import count_frame
from rainbowdp.tables.postgres import SQLTable, count_sql
from rainbowdp.tables.text_files import TextFile

__all__ = ["ParquetFile", "SQLTable", "TextFile", "count", "must_exist"]


def count(
    table: Any, question: Question, *, progress: Callable[[float], None] | None = None
) -> dict[str, int]:
    """How many records of ``table`` fall into each group of ``question``, by the rules above.

    ``progress`` is called with numbers from 0 to 1 while files are read. A table that
    cannot be read or lacks a column is an ``UnreadableTable``.

    >>> from rainbowdp.questions import Winner
    >>> count({"green": 7}, Winner(["red", "green"]))
    {'red': 0, 'green': 7}
    """
    if not question.groups:
        raise InvalidQuestion("counting needs a question with groups, got one without")
    if isinstance(table, Mapping):
        return checked_counts(table, [name for name, _ in question.groups])
    if isinstance(table, str | Path | TextFile | ParquetFile):
        return count_files(table, question, progress)
    if isinstance(table, SQLTable):
        return count_sql(table, question)
    library = type(table).__module__.partition(".")[0].lstrip("_")
    if library == "duckdb":
        return count_relation(table, question)
    if library == "pyarrow":
        return count_arrow(table, question)
    return count_frame(table, question)
