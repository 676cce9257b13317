"""No private value in anything that comes out: a marker in every place, and a search for it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pandas as pd
import pytest
from typer.testing import CliRunner

import markers
import rainbowdp as rb
from markers import CASES, FILES
from postgres import connect, fresh_schema
from rainbowdp import tables
from rainbowdp.cli import app
from rainbowdp.tables import funnel

SEED = 16


def by_command(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


@pytest.fixture
def fresh(tmp_path: Path) -> Callable[[], Path]:
    numbers = iter(range(10**6))

    def make() -> Path:
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        return folder

    return make


@pytest.mark.parametrize("times", [len(CASES), pytest.param(400, marks=pytest.mark.slow)])
def test_no_marker_comes_out_by_the_api(
    times: int, fresh: Callable[[], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAINBOWDP_CACHE", str(tmp_path / "kept"))
    dice, names = Random(SEED), list(CASES)
    for number in range(times):
        case, marker = names[number % len(names)], f"patient{dice.getrandbits(64):x}"
        assert markers.leaks(case, marker, fresh(), dice, CASES) == [], case
        assert marker not in str(list((tmp_path / "kept").rglob("*")))


@pytest.mark.parametrize("times", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_no_marker_comes_out_of_the_command(times: int, fresh: Callable[[], Path]) -> None:
    dice = Random(SEED)
    for number in range(times):
        case, marker = FILES[number % len(FILES)], f"patient{dice.getrandbits(64):x}"
        assert markers.command(case, marker, fresh(), by_command) == [], case


def test_no_marker_comes_out_of_postgresql(postgres_url: str, fresh: Callable[[], Path]) -> None:
    url = fresh_schema(postgres_url)
    dice = Random(SEED)
    with connect(url) as connection:
        connection.execute("CREATE TABLE t (v text)")
        connection.execute("CREATE VIEW casts AS SELECT CAST(v AS integer) AS x, v AS who FROM t")
        connection.execute("CREATE VIEW who AS SELECT 1 AS x, CAST(v AS date) AS who FROM t")
        connection.execute(
            "CREATE FUNCTION loud(v text) RETURNS text LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE WARNING 'see %', v; RAISE EXCEPTION 'see %', v; END $$"
        )
        connection.execute("CREATE VIEW loud AS SELECT loud(v) AS x, v AS who FROM t")
        for number in range(24):
            marker = f"patient{dice.getrandbits(64):x}"
            connection.execute("TRUNCATE t")
            connection.execute("INSERT INTO t VALUES (%s)", (marker,))
            view = ("casts", "who", "loud")[number % 3]
            made = {"view": lambda *_: tables.SQLTable(url, view)}  # noqa: B023
            assert markers.leaks("view", marker, fresh(), dice, made) == []


@pytest.mark.slow
def test_no_marker_comes_out_of_spark(
    spark: Any, fresh: Callable[[], Path], capfd: pytest.CaptureFixture[str]
) -> None:
    dice = Random(SEED)
    every = []
    for number in range(6):
        marker = f"patient{dice.getrandbits(64):x}"
        every.append(marker)
        rows = spark.createDataFrame([(marker,), ("1",)], ["v"])
        sql = [
            ("CAST(v AS INT) AS x", "v AS who"),
            ("v AS x", "CAST(v AS DATE) AS who"),
            ("raise_error(v) AS x", "v AS who"),
        ][number % 3]
        made = {"frame": lambda *_: rows.selectExpr(*sql)}  # noqa: B023
        assert markers.leaks("frame", marker, fresh(), dice, made) == []
    out, err = capfd.readouterr()  # Java writes past Python's streams
    assert not [marker for marker in every if marker in out + err]


@pytest.mark.parametrize("case", ["duckdb cast", "polars function", "polars cast"])
def test_a_planted_leak_is_found(
    case: str, fresh: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "shielded", lambda work, *_: work())
    listed = ["a", "b"] if case == "polars function" else ["1", "2"]
    question = rb.best(rb.Winner(listed, "x"), rb.DP(1))
    monkeypatch.setattr(markers, "questions", lambda _: question)
    assert "raised" in markers.leaks(case, "patient77", fresh(), Random(1), CASES)


def test_a_chained_leak_is_found(
    fresh: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def chained(work: Callable[[], Any], *_: Any) -> Any:
        try:
            return work()
        except Exception:
            raise rb.UnreadableTable("something is wrong") from None

    monkeypatch.setattr(tables, "shielded", chained)
    question = rb.best(rb.Winner(["1", "2"], "x"), rb.DP(1))
    monkeypatch.setattr(markers, "questions", lambda _: question)
    assert markers.leaks("duckdb cast", "patient77", fresh(), Random(2), CASES) == ["raised"]


def test_what_is_said_and_what_passes() -> None:
    def raising(error: BaseException) -> Callable[[], None]:
        def work() -> None:
            raise error

        return work

    with pytest.raises(rb.UnreadableTable) as caught:
        funnel.shielded(raising(KeyError("Ann")), pd.DataFrame(), "choice")
    assert str(caught.value) == (
        "The pandas table cannot be read: column 'choice' raised KeyError. The rest of that "
        "message is left out, because it may show private values. To see it, compute the column "
        "in pandas."
    )
    for error in (KeyboardInterrupt(), SystemExit(3), rb.InvalidQuestion("no")):
        with pytest.raises(type(error)) as passed:
            funnel.shielded(raising(error), None, "x")
        assert passed.value is error
    for interrupt in (RuntimeError("Query interrupted"), duckdb.InterruptException("stop")):
        with pytest.raises(KeyboardInterrupt):
            funnel.shielded(raising(interrupt), None, "x")


def test_warnings_come_back_afterwards() -> None:
    assert tables.count({"a": 1}, rb.Winner(["a", "b"])) == {"a": 1, "b": 0}
    with pytest.warns(UserWarning, match="heard"):
        warnings.warn("heard", stacklevel=1)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda frame: rb.ask(frame, rb.best(rb.Winner(["a", "b"], "x"), rb.DP(1)), ledger=None),
        lambda frame: rb.best(frame, rb.DP(1)),
        lambda frame: rb.by_kind(frame, rb.DP(1), "proximity"),
        lambda frame: rb.best(rb.Winner(["a", "b"], "x"), frame),
        lambda frame: _custom(frame),
    ],
)
def test_a_table_in_the_wrong_place_is_not_shown(wrong: Callable[[Any], Any]) -> None:
    frame = pd.DataFrame({"x": ["patient77"]})
    with pytest.raises(rb.RainbowError) as caught:
        wrong(frame)
    assert "patient77" not in markers.raised(caught.value)


def _custom(frame: Any) -> Any:
    def margins(dataset: Any) -> dict[str, int]:
        raise KeyError(str(dataset))

    question = rb.Custom(["a", "b"], margins, neighbors="substituted", name="own")
    return rb.ask(rb.best(question, rb.DP(1)), frame, ledger=None)
