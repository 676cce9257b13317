"""Tests of shares: what goes out, what it proves, and a p-value from a count."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import rainbowdp as rb
from dice import dice
from noise_oracle import answers_by_sums
from rainbowdp.answering.counting import CountRelease
from rainbowdp.cli import app
from rainbowdp.errors import InvalidGuarantee, InvalidQuestion

__all__ = ["dice"]


def binomial(records: int, share: Fraction) -> list[Fraction]:
    """By adding one record after the other."""
    found = [Fraction(1)]
    for _ in range(records):
        rest = [*(p * (1 - share) for p in found), Fraction(0)]
        found = [
            p + q for p, q in zip(rest, [Fraction(0), *(p * share for p in found)], strict=True)
        ]
    return found


def test_answers_have_the_law_of_the_line(dice: random.Random) -> None:
    test = rb.best(rb.ProportionTest("0.5", records=20), rb.DP(1))
    for found in (8, 13, 20):
        drawn = [test.release({"matching": found}) for _ in range(3000)]
        assert drawn.count("significant") / 3000 == pytest.approx(
            float(test.line.chance(found)), abs=0.03
        )
        assert set(drawn) <= set(test.question.answers)


def test_a_test_reads_tables_and_is_paid_for(tmp_path: Path) -> None:
    table = pl.DataFrame({"outcome": ["well"] * 180 + ["ill"] * 20, "who": range(200)})
    asked = rb.ProportionTest("0.5", "outcome", equals="well", records=200, person="who")
    test = rb.best(asked, rb.DP(1))
    assert test.counts(table) == {"matching": 180}
    ledger = rb.Ledger.create(str(tmp_path / "b.db"), dataset="d", epsilon=2, person="who")
    options: dict[str, Any] = {"ledger": ledger, "name": "n", "source": "s"}
    first, again = (rb.ask(test, table, **options) for _ in range(2))
    assert first.answer == again.answer == "significant"
    assert again.recalled
    assert again.proves == first.proves == test.proves()
    assert "most-powerful-test" in test._repr_html_()
    assert test.proves().in_words("not significant").startswith("nothing")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: rb.ProportionTest("1.5", records=9), "above must lie between"),
        (lambda: rb.ProportionTest("0.5", records=0), "records must be"),
        (lambda: rb.ProportionTest("0.5", records=10**7), "at most 1000000"),
        (lambda: rb.ProportionTest("0.5", records=9, alpha=0), "alpha must lie between"),
        (lambda: rb.ProportionTest("0.5", records=9, rows_per_person=2), "independent draws"),
        (
            lambda: rb.ProportionTest("0.5", records=9, neighbors="added or removed"),
            "public number",
        ),
        (lambda: rb.ProportionTest("0.5", "c", records=9), "a test needs both"),
        (
            lambda: rb.best(rb.ProportionTest("0.5", records=9), rb.DP(1)).power(2),
            "between 0 and 1",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(make: Any, words: str) -> None:
    with pytest.raises(InvalidQuestion, match=words):
        make()


def test_a_guarantee_under_which_nothing_may_depend_on_the_data_is_refused() -> None:
    with pytest.raises(InvalidGuarantee, match="no answer may depend"):
        rb.best(rb.ProportionTest("0.5", records=9), rb.DP(0))
    assert rb.best(rb.ProportionTest("0.5", records=9), rb.ZeroConcentrated(1)).claim is None


@pytest.mark.parametrize("guarantee", [rb.DP(1), rb.DP(1, "0.01"), rb.GaussianDP(1)], ids=str)
def test_a_p_value_of_a_share_is_small_no_more_often_than_it_says(guarantee: Any) -> None:
    records, at_most = 10, 14
    mechanism = rb.best(rb.Count(at_most=at_most), guarantee)
    values = [
        CountRelease(answer=y, mechanism=mechanism).share_p_value("0.4", records=records)
        for y in range(at_most + 1)
    ]
    assert values == sorted(values, reverse=True)
    for share in (Fraction(2, 5), Fraction(1, 5)):
        chances = [Fraction(0)] * (at_most + 1)
        for found, p in enumerate(binomial(records, share)):
            for y, q in enumerate(answers_by_sums(mechanism.noise, found, at_most)):
                chances[y] += p * q
        for level in values:
            said = sum(p for p, value in zip(chances, values, strict=True) if value <= level)
            assert said <= level
            if share == Fraction(2, 5):  # and no more than it must
                assert said >= level * (1 - Fraction(1, 10**9))


def test_the_test_of_a_given_level_finds_more_than_the_p_value_of_a_count() -> None:
    guarantee, records = rb.DP("0.5"), 60
    test = rb.best(rb.ProportionTest("0.5", records=records), guarantee)
    mechanism = rb.best(rb.Count(), guarantee)
    least = next(
        y
        for y in range(200)
        if CountRelease(answer=y, mechanism=mechanism).share_p_value("0.5", records=records) <= 0.05
    )
    for share in (Fraction(3, 5), Fraction(7, 10)):
        power = sum(
            p * mechanism.noise.at_least(least - found)
            for found, p in enumerate(binomial(records, share))
        )
        assert float(power) <= test.power(share) + 1e-9


TABLE = "examples/data/election.csv"
ASKED = (
    "ask",
    "test",
    TABLE,
    "--column",
    "vote",
    "--equals",
    "Clinton",
    "--above",
    "50%",
    "--sample-size",
    "944",
)


def test_the_command_tests_and_explains() -> None:
    result = CliRunner().invoke(app, [*ASKED, "--epsilon", "2", "--no-ledger"])
    assert "answer     significant\n" in result.output
    assert "if at most 50 % matched" in result.output
    shown = CliRunner().invoke(app, [*ASKED, "--epsilon", "1", "--explain"]).output
    assert "how likely 'significant' is" in shown
    told = json.loads(CliRunner().invoke(app, [*ASKED, "--mu", "1", "--explain", "--json"]).output)
    assert told["power"][0]["power"] == pytest.approx(0.05)
    other = CliRunner().invoke(app, [*ASKED, "--epsilon", "1", "--no-ledger", "--records", "9"])
    assert "There is one mechanism for this question" in other.output
