"""Comparisons against plain loops, and the numbers that the theory states."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

import rainbowdp as rb
from kinds import homogeneous
from rainbowdp import paper
from rainbowdp.baselines import exponential, permute_and_flip, randomized_response
from rainbowdp.cli.compare import compare as command
from rainbowdp.cli.output import Group
from rainbowdp.comparison import Comparison, Standing, compare
from rainbowdp.questions import Question
from rainbowdp.questions.histograms import histograms


def winner(answers: int, **options: Any) -> rb.Winner:
    return rb.Winner(list("abcdef"[:answers]), **options)


NONE = math.nan  # the mechanism does not exist there
TABLE = [  # q, n, ε, then exponential, permute-and-flip, homogeneous, proximity in percent
    (2, 30, "1", 4.61, 3.49, 2.74, 2.74),
    (3, 20, "0.3", 37.14, 29.47, 30.62, NONE),
    (3, 20, "1", 13.13, 9.81, 11.23, 8.42),
    (3, 20, "2", 6.73, 5.20, 4.31, 2.65),
    (4, 12, "0.3", 58.90, 52.66, 53.96, NONE),
    (4, 12, "1", 29.62, 23.11, 26.22, NONE),
    (4, 12, "1.5", 20.44, 15.75, 17.68, 11.48),
    pytest.param(6, 6, "2", 39.79, 32.95, 30.62, 21.24, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("answers", "records", "epsilon", "e", "pf", "h", "p"), TABLE)
def test_the_table_of_mean_errors(
    answers: int, records: int, epsilon: str, e: float, pf: float, h: float, p: float
) -> None:
    makers: dict[str, Any] = {
        "textbook exponential": (rb.exponential, e),
        "permute-and-flip": (rb.permute_and_flip, pf),
        "homogeneous": (homogeneous, h),
        "proximity": (rb.proximity, p),
    }
    question, guarantee = winner(answers), rb.DP(epsilon)
    if math.isnan(p):
        with pytest.raises(rb.InvalidGuarantee):
            makers.pop("proximity")[0](question, guarantee)
    found = compare(question, guarantee, {n: m for n, (m, _) in makers.items()}, records=records)
    for name, (_, percent) in makers.items():
        assert 100 * found[name].mean_error == pytest.approx(percent, abs=0.00501)


QUESTIONS: list[tuple[Question, int]] = [
    (winner(3), 7),
    (winner(3, neighbors="added or removed", rows_per_person=2), 6),
    (rb.Quantile("1/2", [0, 1, 2, 3]), 7),
    (rb.Threshold(4), 9),
]


def truths(question: Question, mechanism: Any, counts: dict[str, int]) -> tuple[int, float]:
    margins = question.margins(counts)
    true = next(a for a, margin in margins.items() if margin == 0)
    return min(m for m in margins.values() if m), mechanism[counts][true]


@pytest.mark.parametrize(("question", "records"), QUESTIONS)
@pytest.mark.parametrize("promise", [rb.DP(1), rb.DP("0.5", "1e-3")], ids=str)
def test_every_number_against_plain_loops(question: Question, records: int, promise: rb.DP) -> None:
    makers: dict[str, Callable[..., Any]] = {
        "best": rb.best,
        "homogeneous": rb.optimal,
        "flip": permute_and_flip,
        "response": randomized_response,
    }
    found = compare(question, promise, makers, records=records)
    names = [name for name, _ in question.groups]
    tables = [dict(zip(names, row, strict=True)) for row in histograms(question, records).tolist()]
    assert found.datasets == len(tables)
    for name, maker in makers.items():
        mechanism, standing = maker(question, promise), found[name]
        chances = [truths(question, mechanism, counts) for counts in tables]
        assert standing.mean_error == pytest.approx(
            1 - sum(p for _, p in chances) / len(chances), rel=1e-12
        )
        assert standing.worst == pytest.approx(min(p for _, p in chances), rel=1e-12)
        assert truths(question, mechanism, standing.worst_dataset)[1] == pytest.approx(
            standing.worst, rel=1e-12
        )
        assert set(standing.by_margin) == {margin for margin, _ in chances}
        for margin, least in standing.by_margin.items():
            assert least == pytest.approx(min(p for m, p in chances if m == margin), rel=1e-12)


def test_the_epsilon_to_match_is_the_least_that_does() -> None:
    question, promise = winner(3), rb.DP(1)
    found = compare(question, promise, records=12)
    target = found["best"].mean_error
    for name, maker in (
        ("textbook exponential", exponential),
        ("textbook permute-and-flip", permute_and_flip),
    ):
        needed = found[name].epsilon_to_match
        assert needed is not None
        assert needed > 1
        at, below = (
            compare(question, rb.DP(e), [maker], records=12).standings[0].mean_error
            for e in (needed, needed * 0.999)
        )
        assert at <= target < below
    assert found["best"].epsilon_to_match == 1


def test_the_epsilon_to_match_weighs_datasets_as_the_mean_error_does() -> None:
    graph = paper.figure_one()
    people = {dataset: 1 + 40 * (place % 5 == 0) for place, dataset in enumerate(graph.datasets)}
    makers: dict[str, Any] = {"homogeneous": homogeneous, "exponential": exponential}
    found = compare(graph, rb.DP(1), makers, weights=people)
    needed, target = found["exponential"].epsilon_to_match, found["homogeneous"].mean_error
    assert needed is not None
    at, below = (
        compare(graph, rb.DP(e), [exponential], weights=people).standings[0].mean_error
        for e in (needed, needed * 0.999)
    )
    assert at <= target < below


def test_others_may_be_better_and_then_need_less() -> None:
    makers: dict[str, Any] = {
        "homogeneous": homogeneous,
        "permute-and-flip": permute_and_flip,
    }
    found = compare(winner(4), rb.DP("0.3"), makers, records=12)
    flip = found["permute-and-flip"]
    assert flip.mean_error < found["homogeneous"].mean_error  # not best in the mean
    assert flip.epsilon_to_match is not None
    assert flip.epsilon_to_match < 0.3
    assert flip.worst < found["homogeneous"].worst  # but it is in the worst case


def test_no_epsilon_is_enough_where_the_rule_cannot_learn() -> None:
    class Guess:
        name = "guess"

        def __getitem__(self, dataset: object) -> dict[str, float]:
            return {"a": 0.5, "b": 0.5}

    makers: dict[str, Callable[..., Any]] = {"best": rb.best, "guess": lambda *_: Guess()}
    found = compare(winner(2), rb.DP(1), makers, records=6)
    assert found["guess"].epsilon_to_match is None
    assert found["guess"].sure_from is None
    assert found["guess"].mean_error == 0.5
    assert "–" in str(found)


def test_the_margin_to_be_sure_is_the_first_that_is() -> None:
    found = compare(winner(3), rb.DP(1), records=20)
    for name, maker in (("best", rb.best), ("textbook exponential", exponential)):
        sure = found[name].sure_from
        assert sure is not None
        rows = maker(winner(3), rb.DP(1)).by_margin([sure - 1, sure])
        assert rows[0][1] < 0.99 <= rows[1][1]
    assert found["randomized response"].sure_from is None
    assert compare(winner(2), rb.DP(20), records=4)["best"].sure_from == 1


@pytest.mark.slow
def test_margins_are_worst_tables_of_any_size() -> None:
    found = compare(winner(3), rb.DP(1), margins=[1, 2, 4])
    enumerated = compare(winner(3), rb.DP(1), records=18)  # holds a table (6, 6, 6)
    assert found.datasets == 3
    assert found["textbook exponential"].by_margin[1] == pytest.approx(1 / 3)
    for name in ("best", "homogeneous", "textbook exponential", "textbook permute-and-flip"):
        for margin, least in found[name].by_margin.items():
            assert least <= enumerated[name].by_margin[margin] + 1e-12


def test_given_datasets_are_counts_or_tables() -> None:
    tables = [{"a": 5, "b": 2}, ["a", "a", "b"]]
    question = rb.Winner(["a", "b"])
    found = compare(question, rb.DP(1), {"it": exponential}, datasets=tables[:1])
    assert found["it"].mean_error == pytest.approx(1 / (1 + math.exp(1.5)))
    assert found.over == "1 given datasets"


def test_a_graph_is_compared_by_first_choices() -> None:
    graph = paper.figure_one()
    found = compare(graph, rb.DP("0.9"))
    best = rb.optimal(graph, rb.DP("0.9"))
    chances = [best[d][graph.rainbow(d)[0]] for d in graph.datasets]
    assert found["homogeneous"].mean_error == pytest.approx(1 - sum(chances) / 18)
    assert found["homogeneous"].worst == pytest.approx(min(chances))
    assert found["homogeneous"].worst_dataset in graph
    assert found["homogeneous"].sure_from is None
    inside = compare(graph, rb.DP("0.9"), [rb.optimal], datasets=["d6", "d1"])
    assert inside.standings[0].mean_error == pytest.approx(
        1 - sum(best[d]["blue"] for d in ("d1", "d6")) / 2
    )


def test_where_a_graph_is_sure() -> None:
    line = [("a", "b")] * 6 + [("b", "a")]
    graph = rb.RainbowGraph([(i, i + 1) for i in range(6)], line)
    sure = compare(graph, rb.DP(2), [rb.optimal]).standings[0]
    assert sure.sure_from == min(m for m, p in sure.by_margin.items() if p >= 0.99)


def test_a_gaussian_guarantee_compares_what_keeps_it() -> None:
    found = compare(winner(3), rb.GaussianDP(1), records=8)
    kinds = [s.mechanism for s in found.standings]
    assert kinds == ["noisy-counts", "homogeneous", "exponential"]  # under no second name
    assert "textbook exponential" in found.left_out
    assert found["best"].epsilon_to_match is None
    assert json.loads(json.dumps(found.as_dict()))["guarantee"]


def test_a_comparison_reads_and_serializes() -> None:
    found = compare(winner(3), rb.DP(1), records=20)
    assert isinstance(found, Comparison)
    assert isinstance(found["best"], Standing)
    text = str(found)
    assert "best (margin-table)" in text
    assert "8.42 %" in text
    assert "100.00 %" not in text
    content = json.loads(json.dumps(found.as_dict()))
    assert content["datasets"] == 231
    assert content["mechanisms"][0]["mean_error"] == found["best"].mean_error
    assert content["guarantee"]["epsilon"] == "1"


def test_the_page_shows_this_very_table() -> None:
    page = (Path(__file__).parent.parent / "docs" / "when.md").read_text()
    found = compare(rb.Winner(["red", "green", "blue"]), rb.DP(1), records=20)
    assert textwrap.indent(str(found), "    ") in page


def test_the_page_shows_what_quantiles_cost() -> None:
    found = compare(rb.Quantile("1/2", [0, 1, 2, 3]), rb.DP(1), records=20)
    names = ("textbook exponential", "textbook permute-and-flip", "best", "inverse sensitivity")
    assert [round(100 * found[name].mean_error, 1) for name in names] == [19.7, 13.8, 7.9, 11.2]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: compare(winner(2), rb.DP(1)), "over records, datasets or margins"),
        (lambda: compare(winner(2), rb.DP(1), records=3, margins=[1]), "give exactly one of them"),
        (lambda: compare(winner(2), rb.DP(1), margins=[0]), "whole numbers from 1"),
        (lambda: compare(winner(2), rb.DP(1), datasets=[]), "at least one dataset"),
        (lambda: compare(winner(2), rb.DP(1), [], records=3), "no mechanism to compare"),
        (lambda: compare(winner(2), rb.DP(1), ["best"], records=3), "must be functions"),  # type: ignore[list-item]
        (lambda: compare(winner(6), rb.DP(1), records=60), "more than the limit of 200,000"),
        (lambda: compare(paper.figure_one(), rb.DP(1), records=3), "over its datasets"),
        (lambda: compare(paper.figure_one(), rb.DP(1), datasets=["x"]), "the graph has no dataset"),
        (lambda: compare(winner(4), rb.DP(1), [rb.proximity], records=3), "holds from epsilon"),
        (lambda: compare(winner(2), rb.DP(1), records=3)["median"], "got 'median'"),
    ],
)
def test_refusals_are_one_sentence(call: Callable[[], object], words: str) -> None:
    with pytest.raises(rb.RainbowError) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def run(*arguments: str) -> Result:
    app = typer.Typer(cls=Group)
    app.command()(command)
    app.command("other")(lambda: None)
    return CliRunner().invoke(app, ["compare", *arguments])


def test_the_command_prints_the_table() -> None:
    result = run("winner", "--answers", "3", "--records", "20", "--epsilon", "1")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0] == "winner over 3 answers, one record substituted, 1-DP"
    assert any(line.startswith("textbook permute-and-flip") and "9.81 %" in line for line in lines)


def test_the_command_prints_json() -> None:
    options = ("--neighbors", "added or removed", "--json")
    result = run("winner", "--answers", "3", "--records", "9", "--epsilon", "1", *options)
    content = json.loads(result.output)
    assert content["question"] == "winner over 3 answers, one record added or removed"
    names = [mechanism["name"] for mechanism in content["mechanisms"]]
    assert names[0] == "best"
    assert "textbook exponential" in names


def test_the_command_knows_all_questions() -> None:
    for arguments in (
        ("threshold", "--at-least", "5"),
        ("threshold",),
        ("quantile", "--answers", "4", "--q", "0.25", "--delta", "0.01"),
    ):
        result = run(*arguments, "--records", "9", "--epsilon", "0.5")
        assert result.exit_code == 0, result.output
        assert result.output.startswith(arguments[0])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("winner", "--records", "9", "--epsilon", "-1"), "epsilon must be in"),
        (("winner", "--records", "0", "--epsilon", "1"), "at least 1 record"),
        (("winner", "--records", "9", "--epsilon", "1", "--answers", "1"), "at least 2 answers"),
        (("winner", "--records", "9", "--epsilon", "1", "--neighbors", "x"), "neighbors must"),
        (
            ("winner", "--answers", "9", "--records", "90", "--epsilon", "1"),
            "more than the limit of 200,000",
        ),
    ],
)
def test_the_command_refuses_in_one_sentence(arguments: tuple[str, ...], words: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in result.output
    assert len(result.output.splitlines()) == 1


@pytest.mark.slow
def test_bins_in_order_are_compared_by_distance_too() -> None:
    """From the rows of every histogram, one at a time."""
    question, promise = rb.Quantile("1/2", range(5)), rb.DP("0.5", "0.1")
    found = rb.compare(question, promise, records=6)
    mechanism = rb.best(question, promise)
    records, bins, beyond, seen = 0.0, 0.0, 0.0, 0
    for row in histograms(question, 6).tolist():
        table = dict(zip(question.answers, row, strict=True))
        margins = question.margins(table)
        true = min(margins, key=margins.__getitem__)
        for answer, chance in mechanism[table].items():
            away = abs(question.answers.index(answer) - question.answers.index(true))
            records += chance * margins[answer]
            bins += chance * away
            beyond += chance * (away > 1)
        seen += 1
    off = found["best"].off
    assert off is not None
    assert (off.records, off.bins, off.beyond) == pytest.approx(
        (records / seen, bins / seen, beyond / seen)
    )
    assert "records off" in str(found)
    assert found["best"].as_dict()["bins_off"] == off.bins
    poll = rb.compare(rb.Winner(["a", "b", "c"]), rb.DP(1), records=4)
    assert poll["best"].off is None
    assert "bins off" not in str(poll)


def test_distances_of_people_are_called_so() -> None:
    question = rb.Quantile("1/2", range(4), rows_per_person=2)
    assert "people off" in str(rb.compare(question, rb.DP(1), records=4))
