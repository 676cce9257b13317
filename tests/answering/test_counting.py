"""Counts: what goes out, what it proves, and what the ledger keeps."""

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
from rainbowdp.answering.counting import CountMechanism, CountRelease
from rainbowdp.cli import app
from rainbowdp.errors import InvalidGuarantee, InvalidMechanism, InvalidQuestion, RainbowError
from rainbowdp.exact.counts import ExactCount
from rainbowdp.exact.noise_build import canonical_noise
from rainbowdp.questions import unit_of

__all__ = ["dice"]

PROMISES: list[Any] = [
    rb.DP("0.7"),
    rb.DP(1, "0.01"),
    rb.GaussianDP("0.8"),
    rb.ZeroConcentrated("0.2"),
    rb.TradeOff([(0, 1), ("1/3", "1/3"), (1, 0)]),
]


def released(mechanism: CountMechanism, answer: int) -> CountRelease:
    return CountRelease(answer=answer, mechanism=mechanism)


@pytest.mark.parametrize("guarantee", PROMISES, ids=str)
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("confidence", ["0.5", "0.95"])
def test_an_interval_holds_the_count_so_often_whatever_the_count(
    guarantee: Any, rows: int, confidence: str
) -> None:
    at_most = 30
    mechanism = rb.best(rb.Count(at_most=at_most, rows_per_person=rows), guarantee)
    intervals = [released(mechanism, y).interval(confidence) for y in range(at_most + 1)]
    for count in range(at_most + 1):
        chances = answers_by_sums(mechanism.noise, count, at_most)
        held = sum(
            chance
            for chance, (low, high) in zip(chances, intervals, strict=True)
            if low <= count and (high is None or count <= high)
        )
        assert held >= Fraction(confidence)


@pytest.mark.parametrize("guarantee", PROMISES, ids=str)
@pytest.mark.slow
def test_a_p_value_is_small_no_more_often_than_it_says(guarantee: Any) -> None:
    at_most = 20
    mechanism = rb.best(rb.Count(at_most=at_most), guarantee)
    answers = range(at_most + 1)
    for claim in range(at_most + 3):
        up = [released(mechanism, y).p_value(at_least=claim) for y in answers]
        down = [released(mechanism, y).p_value(at_most=claim) for y in answers]
        for count in range(at_most + 3):
            chances = answers_by_sums(mechanism.noise, min(count, at_most), at_most)
            for null, values in ((count < claim, up), (count > claim, down)):
                for level in set(values) if null else ():
                    at_most_so = [
                        p for p, value in zip(chances, values, strict=True) if value <= level
                    ]
                    assert sum(at_most_so) <= level


def test_a_p_value_is_for_one_claim() -> None:
    release = released(rb.best(rb.Count(), rb.DP(1)), 7)
    for claims in ({}, {"at_least": 1, "at_most": 2}):
        with pytest.raises(InvalidQuestion, match="one claim"):
            release.p_value(**claims)
    assert release.at_least(7)
    assert not release.at_least(8)


def test_the_release_of_a_count_is_a_number_with_the_law_of_its_noise(dice: random.Random) -> None:
    mechanism = rb.best(rb.Count(at_most=12), rb.DP(1))
    for count in (0, 3, 12):
        chances = answers_by_sums(mechanism.noise, count, 12)
        drawn = [mechanism.release({"matching": count}) for _ in range(4000)]
        assert 0 <= min(drawn) <= max(drawn) <= 12
        for answer, chance in enumerate(chances):
            assert drawn.count(answer) / 4000 == pytest.approx(float(chance), abs=0.03)


def test_noise_for_fewer_records_of_a_person_is_refused() -> None:
    noise = canonical_noise(rb.DP(1), 1, 10**6)
    ExactCount(rb.Count(at_most=10**6), rb.DP(1), noise)
    for question in (rb.Count(at_most=10**6, rows_per_person=2), rb.Count(at_most=10**7)):
        with pytest.raises(InvalidMechanism):
            ExactCount(question, rb.DP(1), noise)


def test_counts_come_from_tables_as_for_a_threshold() -> None:
    table = pl.DataFrame({"age": [70, 66, 12, None, 80], "who": ["a", "a", "b", "c", "d"]})
    asked = rb.Count("age", minimum=65, person="who", where="age < 75")
    mechanism = rb.best(asked, rb.DP(300))
    assert mechanism.counts(table) == {"matching": 1}
    release = rb.ask(mechanism, table, ledger=None)
    assert (release.answer, type(release.answer)) == (1, int)
    assert release.proves is not None
    assert release.proves.in_words(release.answer) == "with 95 % confidence: exactly 1 person"
    assert "canonical-noise" in mechanism._repr_html_()
    assert "exactly 1" in release._repr_html_()


def test_a_count_beyond_the_largest_answer_counts_as_that() -> None:
    mechanism = rb.best(rb.Count(at_most=50), rb.DP(300))
    release = rb.ask(mechanism, {"matching": 10**12}, ledger=None)
    assert release.answer == 50
    assert release.interval() == (50, None)
    assert mechanism.proves().in_words(50) == "with 95 % confidence: 50 records or more"


def test_a_ledger_keeps_the_answer_and_what_it_proves(tmp_path: Path) -> None:
    ledger = rb.Ledger.create(str(tmp_path / "b.db"), dataset="d", epsilon=2)
    mechanism = rb.best(rb.Count(), rb.DP(1))
    asked: dict[str, Any] = {"ledger": ledger, "name": "n", "source": "s"}
    first = rb.ask(mechanism, {"matching": 40}, **asked)
    again = rb.ask(mechanism, {"matching": 40}, **asked)
    assert again.recalled
    assert not first.recalled
    assert (again.answer, again.proves) == (first.answer, first.proves)
    assert again.interval("0.9") == first.interval("0.9")
    assert first.entry is not None
    assert first.entry.answer == str(first.answer)


def test_a_recalled_answer_of_other_noise_has_only_its_recorded_interval(tmp_path: Path) -> None:
    ledger = rb.Ledger.create(str(tmp_path / "b.db"), dataset="d", epsilon=2)
    mechanism = rb.best(rb.Count(), rb.DP(1))
    entry = ledger.spend(
        rb.DP(1),
        question=mechanism.question.describe(),
        unit=unit_of(mechanism.question),
        neighbors="substituted",
        source="s",
        mechanism={
            "kind": mechanism.name,
            "noise": "other",
            "proves": mechanism.proves().describe(),
        },
        name="n",
    )
    ledger.record(entry, "41")
    found = rb.ask(mechanism, {"matching": 40}, ledger=ledger, name="n", source="s")
    assert found.proves == mechanism.proves()
    with pytest.raises(RainbowError, match="other noise"):
        found.interval()


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: rb.Count("age"), InvalidQuestion, "a count needs both a column"),
        (lambda: rb.Count(at_most=0), InvalidQuestion, "at_most must be"),
        (lambda: rb.best(rb.Count(), rb.DP(0)), InvalidGuarantee, "no answer may depend"),
        (lambda: rb.best(rb.Count(), rb.GaussianDP(0)), InvalidGuarantee, "no answer may depend"),
        (
            lambda: rb.best(rb.Count(), rb.TradeOff([(0, 1), (1, 0)])),
            InvalidGuarantee,
            "no answer may depend",
        ),
        (lambda: rb.best(rb.Count(), "1"), InvalidGuarantee, "a guarantee must be"),  # type: ignore[call-overload]
        (lambda: rb.best(rb.Count(), rb.DP(1)).proves(1), InvalidQuestion, "confidence"),
    ],
)
def test_what_makes_no_sense_is_refused(make: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()


def test_the_claim_is_made_where_it_is_proved() -> None:
    assert rb.best(rb.Count(), rb.GaussianDP(1)).claim == "optimal for every threshold at once"
    assert rb.best(rb.Count(), rb.ZeroConcentrated(1)).claim is None
    assert rb.best(rb.Count(rows_per_person=2), rb.DP(1)).claim is None


TABLE = "examples/data/election.csv"
ASKED = ("ask", "count", TABLE, "--column", "vote", "--equals", "Clinton", "--no-ledger")


def test_the_command_says_a_number_and_its_interval() -> None:
    result = CliRunner().invoke(app, [*ASKED, "--epsilon", "300"])
    assert result.exit_code == 0
    assert "answer     551\n" in result.output
    assert "proves     with 95 % confidence: exactly 551 records" in result.output
    told = json.loads(CliRunner().invoke(app, [*ASKED, "--mu", "30", "--json"]).output)
    assert told["answer"] == 551
    assert told["mechanism"] == "canonical-noise"


@pytest.mark.parametrize(
    "promise",
    [("--epsilon", "1"), ("--mu", "1"), ("--rho", "0.1"), ("--epsilon", "0", "--delta", "0.1")],
)
def test_explain_shows_how_far_off_an_answer_may_be(promise: tuple[str, ...]) -> None:
    told = json.loads(CliRunner().invoke(app, [*ASKED, *promise, "--explain", "--json"]).output)
    widths = [row["within"] for row in told["half_width"]]
    assert widths == sorted(widths)
    for others in told["half_width_of_others"].values():
        assert all(own <= other for own, other in zip(widths, others, strict=True))
    shown = CliRunner().invoke(app, [*ASKED, *promise, "--explain"]).output
    assert "how many records the answer is off at most" in shown
    assert ("No answer is farther off" in shown) == (told["never_farther"] is not None)


def test_a_count_has_one_mechanism() -> None:
    for extra in (("--mechanism", "proximity"), ("--records", "100")):
        result = CliRunner().invoke(app, [*ASKED, "--epsilon", "1", *extra])
        assert result.exit_code == 2
        assert "There is one mechanism for this question" in result.output
