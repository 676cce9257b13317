"""Several quantiles in one answer: margins on every small histogram, and what is refused."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import rainbowdp as rb
from questions.test_margins import BOTH, Histogram, distances, quantile, sizes, steps
from rainbowdp.answering.measure import measure
from rainbowdp.cli import app
from rainbowdp.questions import from_description
from rainbowdp.rules import family

QUARTILES = ["1/4", "1/2", "3/4"]


@pytest.mark.parametrize("neighbors", BOTH)
@pytest.mark.parametrize(
    ("qs", "bins", "records"),
    [
        (["1/4", "3/4"], 3, 5),
        (QUARTILES, 3, 4),
        (["1/10", "1/5", "1/2", "9/10"], 2, 5),
        (["2/7", "5/7"], 4, 3),
        pytest.param(QUARTILES, 4, 5, marks=pytest.mark.slow),
        pytest.param(["1/3", "9/10"], 4, 6, marks=pytest.mark.slow),
    ],
)
def test_margins_are_private_and_no_more_than_distances(
    qs: list[str], bins: int, records: int, neighbors: str
) -> None:
    """0 exactly at the truth, at most 1 apart between neighbors, at most the distance."""
    question = rb.Quantiles(qs, range(bins + 1), neighbors=neighbors)
    singles = [rb.Quantile(q, range(bins + 1), neighbors=neighbors) for q in qs]
    tuples = list(itertools.combinations_with_replacement(range(bins), len(qs)))
    names = [name for name, _ in question.groups]
    bins_of = [quantile(q) for q in qs]

    def truth(counts: Histogram) -> int:
        return tuples.index(tuple(bin_of(counts) for bin_of in bins_of))

    if neighbors == "substituted":
        every = [
            [s for s in sizes(bins + 1, total) if sum(s) == total]
            for total in range(1, records + 1)
        ]
    else:
        every = [[(*s, 0) for s in sizes(bins, 2 * records)]]
    more = 0
    for states in every:
        found = distances(states, truth, len(tuples), neighbors)
        margins = {}
        for state in states:
            counts = dict(zip(names, state[:-1], strict=True))
            margins[state] = list(question.margins(counts).values())
            largest = [
                max(
                    alone[names[place]]
                    for alone, place in zip((s.margins(counts) for s in singles), at, strict=True)
                )
                for at in tuples
            ]
            assert all(a >= b for a, b in zip(margins[state], largest, strict=True))
            more += margins[state] != largest
        for state in states:
            mine = margins[state]
            assert [place for place, margin in enumerate(mine) if margin == 0] == [
                truth(state[:-1])
            ]
            for after in steps(state, neighbors):
                if after in margins:
                    apart = (abs(a - b) for a, b in zip(mine, margins[after], strict=True))
                    assert max(apart) <= 1, (state, after)
            if sum(state) <= records:
                for margin, distance in zip(mine, (d.get(state) for d in found), strict=True):
                    assert distance is None or margin <= distance
    assert more or bins == 2  # alternations count


@pytest.mark.parametrize("neighbors", BOTH)
def test_one_quantile_is_a_quantile(neighbors: str) -> None:
    draw = np.random.default_rng(5)
    for q in ("1/2", "0.9", "3/7"):
        several = rb.Quantiles([q], range(7), neighbors=neighbors)
        alone = rb.Quantile(q, range(7), neighbors=neighbors)
        assert several.answers == alone.answers
        for _ in range(20):
            counts = dict(zip(alone.answers, draw.integers(0, 9, 6).tolist(), strict=True))
            assert several.margins(counts) == alone.margins(counts)


@pytest.mark.parametrize("neighbors", BOTH)
def test_counts_that_64_bits_do_not_hold(neighbors: str) -> None:
    question = rb.Quantiles(["0.123456789", "0.987654321"], range(5), neighbors=neighbors)
    names = [name for name, _ in question.groups]
    small = question.margins(dict(zip(names, [10**6, 1, 10**6, 5], strict=True)))
    large = question.margins(dict(zip(names, [10**30, 10**24, 10**30, 5 * 10**24], strict=True)))
    assert all(type(margin) is int for margin in large.values())
    for answer, margin in small.items():
        assert abs(large[answer] // 10**24 - margin) <= 2


def test_rising_and_falling_add_up() -> None:
    """The middle bin must lose to both sides, which no record does at once."""
    question = rb.Quantiles(["1/4", "3/4"], range(4))
    margins = question.margins({"< 1": 20, "[1, 2)": 60, "≥ 2": 20})
    assert margins["[1, 2) | [1, 2)"] == 0
    assert margins["< 1 | [1, 2)"] == 5
    assert margins["[1, 2) | ≥ 2"] == 6
    assert margins["< 1 | ≥ 2"] == 11


@pytest.mark.parametrize(
    ("qs", "bins", "message"),
    [
        ("1/2", 4, "qs must be a list"),
        ([], 4, "one to 9 quantiles, got 0"),
        ([f"{i}/11" for i in range(1, 11)], 3, "one to 9 quantiles, got 10"),
        (["1/2", "1/4"], 4, "qs must rise, got 1/4 after 1/2"),
        (["1/2", "1/2"], 4, "list each once"),
        (["1/2", "1"], 4, "strictly between 0 and 1, got 1"),
        (QUARTILES, 60, r"37,820 answers, .* use at most 48 bins, or ask for fewer"),
    ],
)
def test_what_makes_no_sense_is_refused(qs: list[str], bins: int, message: str) -> None:
    with pytest.raises(rb.InvalidQuestion, match=message):
        rb.Quantiles(qs, range(bins + 1))


def test_quantiles_describe_themselves(tmp_path: Path) -> None:
    question = rb.Quantiles(
        QUARTILES, [0, 10, 20, 50], "income", where="age > 65", closed_ends=True, rows_per_person=3
    )
    assert from_description(json.loads(json.dumps(question.describe()))) == question
    mechanism = rb.best(question, rb.DP(1))
    back = rb.load(mechanism.save(tmp_path / "quartiles.json"))
    assert back.exact() == mechanism.exact()
    assert mechanism.proves().within is not None


def test_quartiles_are_right_more_often_than_one_by_one() -> None:
    question, promise = rb.Quantiles(QUARTILES, range(9)), rb.DP(1)
    names = [name for name, _ in question.groups]
    counts = dict(zip(names, [10, 15, 25, 40, 60, 30, 15, 5], strict=True))
    together = max(rb.best(question, promise)[counts].items(), key=lambda item: item[1])
    one_by_one, answers = 1.0, []
    for q in QUARTILES:
        row = rb.best(rb.Quantile(q, range(9)), rb.DP("1/3"))[counts]
        margins = rb.Quantile(q, range(9)).margins(counts)
        answers.append(min(margins, key=margins.__getitem__))
        one_by_one *= row[answers[-1]]
    assert together[0] == " | ".join(answers)
    assert together[1] > one_by_one


def test_best_measures_quantiles_as_what_they_are() -> None:
    question = rb.Quantiles(QUARTILES, range(5))
    assert rb.best(question, rb.DP(1)).name == "margin-flip"
    flip, plain = family("margin-flip"), family("homogeneous")
    assert measure(flip, question, rb.DP(1)) < measure(plain, question, rb.DP(1))


def test_the_command_answers_with_a_bin_for_each(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text("income\n" + "5\n" * 100 + "15\n" * 100 + "40\n" * 200)
    line = ["ask", "quantiles", str(table), "--column", "income", "--bins", "0,10,20,50"]
    line += ["--q", "0.2,0.4,0.9", "--epsilon", "20", "--no-ledger"]
    found = CliRunner().invoke(app, [*line, "--json"])
    assert json.loads(found.stdout)["answer"] == "< 10 | [10, 20) | ≥ 20"
    found = CliRunner().invoke(app, [*line, "--explain"])
    assert "(10 in all)" in found.stdout
    line = ["compare", "quantiles", "--answers", "3", "--q", "0.25,0.75", "--records", "8"]
    found = CliRunner().invoke(app, [*line, "--epsilon", "1"])
    assert "quantiles over 6 answers" in found.stdout


def test_one_vote_of_a_person_is_the_median_bin() -> None:
    import polars

    rows = polars.DataFrame(
        {"who": ["ann"] * 3 + ["bob"] * 3, "income": [5, 15, 40, 15, 40, 45]}, strict=False
    )
    question = rb.Quantiles(
        ["1/4", "3/4"], [0, 10, 20, 50], "income", person="who", person_rule="one vote"
    )
    found = rb.best(question, rb.DP(1)).counts(rows)
    assert found == {"< 10": 0, "[10, 20)": 1, "≥ 20": 1}
    assert rb.look(rows, question).matched == {"< 10": 1, "[10, 20)": 2, "≥ 20": 3}
