"""Tables with a marker in some place, and a search for it in everything that comes out.

A case is an engine, a place and a way to fail; ``leaks`` names where its marker was found.
"""

from __future__ import annotations

import io
import json
import logging
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet

import rainbowdp as rb
from rainbowdp.ledger import Ledger

Make = Callable[[str, Path], Any]


class Odd:
    """A value that shows itself in an error, a warning and the log whatever is done with it."""

    def __init__(self, marker: str) -> None:
        self.marker = marker

    armed: ClassVar[bool] = False  # a table can be made of it first

    def _show(self, *_: Any) -> Any:
        if not Odd.armed:
            return False
        warnings.warn(f"odd {self.marker}", RuntimeWarning, stacklevel=2)
        logging.getLogger("polars.odd").error("odd %s", self.marker)
        raise ValueError(f"odd {self.marker}") from KeyError(self.marker)

    __eq__ = __lt__ = __gt__ = __float__ = __int__ = _show

    def __str__(self) -> str:
        return str(self._show())

    def __hash__(self) -> int:
        return 7


def text_file(name: str, text: str) -> Make:
    def make(marker: str, folder: Path) -> Path:
        path = folder / name
        path.write_bytes(text.replace("MARKER", marker).encode("utf-8", "surrogateescape"))
        return path

    return make


def _parquet(marker: str, folder: Path) -> Path:
    path = folder / "t.parquet"
    table = pa.table({"x": [marker, "a"], "who": [marker, "b"], "odd": [[marker], ["c"]]})
    pyarrow.parquet.write_table(table, path)
    return path


def _torn_parquet(marker: str, folder: Path) -> Path:
    path = _parquet(marker, folder)
    path.write_bytes(path.read_bytes()[: -Random(marker).randrange(1, 60)])
    return path


def _no_parquet(marker: str, folder: Path) -> Path:
    path = folder / "t.parquet"
    path.write_text(f"x\n{marker}\n")
    return path


def _duckdb(sql: str) -> Make:
    def make(marker: str, _: Path) -> Any:
        return duckdb.connect().sql(sql.replace("MARKER", marker))

    return make


def _raising(marker: str) -> Callable[[Any], Any]:
    return lambda value: Odd(marker)._show()


def _frame(make: Callable[[str], Any]) -> Make:
    return lambda marker, _: make(marker)


CASES: dict[str, Make] = {
    "csv": text_file("t.csv", "x,who\nMARKER,MARKER\na,b\n"),
    "csv other column": text_file("t.csv", "x,who,more\na,MARKER,MARKER\nb,c,MARKER\n"),
    "csv broken quote": text_file("t.csv", 'x,who\n"MARKER,b\na,"MARKER"MARKER\n'),
    "csv no header": text_file("t.csv", "MARKER,MARKER\na,b\n"),
    "csv no text": text_file("t.csv", "x,who\n\udcff\udcfeMARKER,\0MARKER\n"),
    "csv no gzip": text_file("t.csv.gz", "x,who\nMARKER,b\n"),
    "tsv": text_file("t.tsv", "x\twho\nMARKER\tMARKER\textra\n"),
    "parquet": _parquet,
    "parquet torn": _torn_parquet,
    "parquet none": _no_parquet,
    "arrow": _frame(lambda m: pa.table({"x": [m, "a"], "who": [m, m]})),
    "arrow lists": _frame(lambda m: pa.table({"x": [[m], ["a"]], "who": [m, m]})),
    "duckdb cast": _duckdb(
        "SELECT CAST(v AS INTEGER) AS x, v AS who FROM (VALUES ('MARKER')) t(v)"
    ),
    "duckdb error": _duckdb(
        "SELECT CASE WHEN v <> '' THEN error('see ' || v) END AS x, v AS who "
        "FROM (VALUES ('MARKER')) t(v)"
    ),
    "duckdb person": _duckdb(
        "SELECT 'a' AS x, CAST(v AS DATE) AS who FROM (VALUES ('MARKER')) t(v)"
    ),
    "pandas": _frame(lambda m: pd.DataFrame({"x": [m, "a"], "who": [m, None]})),
    "pandas objects": _frame(lambda m: pd.DataFrame({"x": [Odd(m), "a"], "who": ["a", "b"]})),
    "pandas person": _frame(lambda m: pd.DataFrame({"x": ["a", "b"], "who": [Odd(m), Odd(m)]})),
    "pandas category": _frame(
        lambda m: pd.DataFrame({"x": pd.Categorical([Odd(m)]), "who": ["a"]})
    ),
    "pandas mixed": _frame(lambda m: pd.DataFrame({"x": [m, 1, Odd(m)], "who": [1, m, None]})),
    "polars cast": _frame(
        lambda m: pl.LazyFrame({"x": [m], "who": [m]}).with_columns(pl.col("x").cast(pl.Int64))
    ),
    "polars function": _frame(
        lambda m: pl.LazyFrame({"x": ["a"], "who": [m]}).with_columns(
            pl.col("x").map_elements(_raising(m), return_dtype=pl.String)
        )
    ),
    "polars person": _frame(
        lambda m: pl.LazyFrame({"x": ["a"], "who": [m]}).with_columns(
            pl.col("who").str.to_date("%Y-%m-%d", strict=True)
        )
    ),
    "polars objects": _frame(lambda m: pl.DataFrame({"x": [Odd(m)], "who": [m]})),
    "polars missing": _frame(lambda m: pl.LazyFrame({"y": [m], "who": [m]})),
    "counts": _frame(lambda m: {"a": 3, m: 4}),
    "counts odd": _frame(lambda m: {"a": m}),
    "counts text": _frame(lambda m: {"a": Odd(m)}),
    "a list": _frame(lambda m: [m, Odd(m)]),
}
_FIRST: dict[str | None, bytes] = {}
FILES = [name for name in CASES if name.startswith(("csv", "tsv", "parquet"))]


def questions(dice: Random) -> rb.QuestionMechanism:
    person = dice.choice([None, "who"])
    return _mechanism(dice.randrange(4), person, dice.choice(["1", "5"]))


@cache
def _mechanism(kind: int, person: str | None, epsilon: str) -> rb.QuestionMechanism:
    made: Any = [
        rb.Winner(["a", "b"], "x", person=person),
        rb.Winner(["1", "2"], "x", person=person),
        rb.Threshold(2, "x", minimum=1, person=person),
        rb.Quantile("1/2", [0, 1, 2], "x", person=person),
    ][kind]
    found: rb.QuestionMechanism = rb.best(made, rb.DP(epsilon))
    return found


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and all that hangs on it."""
    seen: list[BaseException] = []
    waiting = [error]
    while waiting:
        found = waiting.pop()
        if found is not None and found not in seen:
            seen.append(found)
            waiting += [found.__cause__, found.__context__, *getattr(found, "exceptions", ())]
    yield from seen


def raised(error: BaseException) -> str:
    """Everything that an error carries."""
    parts = []
    for one in chain(error):
        notes = getattr(one, "__notes__", [])
        parts += [str(one), repr(one), repr(one.args), repr(vars(one)), *notes]
    return "\n".join([*parts, *traceback.format_exception(error)])


def _ledger(folder: Path, person: str | None) -> Ledger:
    """A ledger of its own; copies of one for each unit, as creating syncs the disk."""
    if person not in _FIRST:
        first = folder / "first.db"
        Ledger.create(first, dataset="markers", epsilon=100, person=person)
        _FIRST[person] = first.read_bytes()
        first.unlink()
    (folder / "budget.db").write_bytes(_FIRST[person])
    return Ledger.open(folder / "budget.db")


def leaks(case: str, marker: str, folder: Path, dice: Random, tables: dict[str, Make]) -> list[str]:
    """Where the marker of one case was found, asked by the API."""
    table = tables[case](marker, folder)
    mechanism = questions(dice)
    ledger = _ledger(folder, mechanism.question.person)
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    root = logging.getLogger()
    root.addHandler(handler)
    out, err = io.StringIO(), io.StringIO()
    found = {}
    Odd.armed = True
    try:
        with (
            redirect_stdout(out),
            redirect_stderr(err),
            warnings.catch_warnings(record=True) as all_,
        ):
            warnings.simplefilter("always")
            try:
                rb.ask(mechanism, table, ledger=ledger, name="poll", source="markers")
            except BaseException as error:
                found["raised"] = raised(error)
                if not isinstance(error, rb.RainbowError):
                    found["raised"] += f" {marker} (an error of somebody else)"
        found["warned"] = "\n".join(str(warning.message) for warning in all_)
    finally:
        Odd.armed = False
        root.removeHandler(handler)
    found |= {"printed": out.getvalue() + err.getvalue(), "logged": log.getvalue()}
    found["ledger"] = (folder / "budget.db").read_bytes().decode("latin-1")
    return [place for place, text in found.items() if marker in text]


def command(case: str, marker: str, folder: Path, run: Callable[..., Any]) -> list[str]:
    """The same for a file, asked by the command."""
    path = CASES[case](marker, folder)
    place = folder / "budget.db"
    found = {}
    for more in ([], ["--json"], ["--person", "who"]):
        _ledger(folder, "who" if "who" in more else None)
        words = ["--column", "x", "--among", "a,b", "--epsilon", "1", "--ledger", str(place)]
        result = run("ask", "winner", str(path), *words, *more)
        found[f"printed {more}"] = result.stdout + result.stderr
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            found[f"raised {more}"] = marker
        if more == ["--json"]:
            json.loads(result.stdout)
        found[f"ledger {more}"] = place.read_bytes().decode("latin-1")
    return [where for where, text in found.items() if marker in text]
