"""Rankings: margins against breadth-first search and against all levels, and what is refused."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import rainbowdp as rb
from questions.test_margins import BOTH, Histogram, distances, sizes
from rainbowdp.answering.measure import measure
from rainbowdp.cli import app
from rainbowdp.questions import from_description
from rainbowdp.questions.orders import as_counts, as_sets, in_order
from rainbowdp.rules import family

NAMES = "abcdef"


def chosen(size: int, first: int, ordered: bool) -> list[tuple[int, ...]]:
    choose = itertools.permutations if ordered else itertools.combinations
    return list(choose(range(size), first))


def truth(counts: Histogram, first: int, ordered: bool) -> tuple[int, ...]:
    """Write the answers down by their records, ties to the first listed, and take the first."""
    leading = sorted(range(len(counts)), key=lambda i: (-counts[i], i))[:first]
    return tuple(leading) if ordered else tuple(sorted(leading))


def asked(size: int, first: int, ordered: bool, neighbors: str) -> rb.Ranking:
    return rb.Ranking(list(NAMES[:size]), first=first, in_order=ordered, neighbors=neighbors)


def searched(
    size: int, first: int, ordered: bool, neighbors: str, records: int
) -> Iterator[tuple[Histogram, list[int], list[int | None]]]:
    """Each histogram with our margins and those found by breadth-first search."""
    question, rankings = asked(size, first, ordered, neighbors), chosen(size, first, ordered)
    if neighbors == "substituted":
        every = [
            [s for s in sizes(size + 1, total) if sum(s) == total]
            for total in range(1, records + 1)
        ]
    else:
        every = [[(*s, 0) for s in sizes(size, 2 * records + first)]]
    for states in every:
        found = distances(
            states, lambda c: rankings.index(truth(c, first, ordered)), len(rankings), neighbors
        )
        for state in states:
            if sum(state) <= records:
                margins = question.margins(dict(zip(question.among, state[:-1], strict=True)))
                yield state, list(margins.values()), [d.get(state) for d in found]


CASES = [(2, 1, 6), (3, 1, 5), (2, 2, 6), (3, 2, 5), (3, 3, 5), (4, 2, 4), (4, 3, 3)]


@pytest.mark.parametrize("neighbors", BOTH)
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize(("size", "first", "records"), CASES)
def test_margins_are_distances(
    size: int, first: int, records: int, ordered: bool, neighbors: str
) -> None:
    """Exactly; for an order under substitution at most, and one less at most."""
    if size == first and not ordered:
        return
    bound = ordered and neighbors == "substituted"
    for state, margins, expected in searched(size, first, ordered, neighbors, records):
        for margin, distance in zip(margins, expected, strict=True):
            if distance is None:  # the table is too small for this ranking
                assert margin > 0
            elif bound:
                assert min(distance, 1) <= margin <= distance <= margin + 1, (state, margins)
            else:
                assert margin == distance, (state, margins, expected)


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", BOTH)
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize(("size", "first", "records"), [(4, 2, 6), (4, 3, 6), (5, 2, 4)])
def test_margins_are_distances_of_more(
    size: int, first: int, records: int, ordered: bool, neighbors: str
) -> None:
    if neighbors == "added or removed":
        records = 3
    test_margins_are_distances(size, first, records, ordered, neighbors)


def every_way(counts: Histogram, chain: tuple[int, ...], top: int) -> Iterator[tuple[int, int]]:
    """Records added and taken away, over all final counts up to ``top`` that have the ranking."""
    for final in itertools.product(range(top + 1), repeat=len(counts)):
        if truth(final, len(chain), ordered=True) == chain:
            moved = [after - before for after, before in zip(final, counts, strict=True)]
            yield sum(max(0, m) for m in moved), sum(max(0, -m) for m in moved)


@given(st.lists(st.integers(0, 6), min_size=3, max_size=4).map(tuple), st.data())
@settings(max_examples=40)
def test_an_order_costs_its_least_price(counts: Histogram, data: st.DataObject) -> None:
    first = data.draw(st.integers(1, len(counts)))
    chain = data.draw(st.sampled_from(chosen(len(counts), first, ordered=True)))
    ways = list(every_way(counts, chain, 9))
    for added, taken in ((1, 1), (1, 2), (3, 1)):
        price = in_order(as_counts(counts), np.array([chain]), added, taken)[0]
        assert price == min(added * a + taken * t for a, t in ways)


@given(st.lists(st.integers(0, 6), min_size=3, max_size=4).map(tuple), st.data())
@settings(max_examples=40)
def test_an_order_takes_one_more_substitution_at_most(
    counts: Histogram, data: st.DataObject
) -> None:
    first = data.draw(st.integers(2, len(counts)))
    chain = data.draw(st.sampled_from(chosen(len(counts), first, ordered=True)))
    question = asked(len(counts), first, ordered=True, neighbors="substituted")
    margins = list(question.margins(dict(zip(question.among, counts, strict=True))).values())
    margin = margins[chosen(len(counts), first, ordered=True).index(chain)]
    least = min(max(way) for way in every_way(counts, chain, 9))
    assert margin <= least <= margin + 1


@given(
    st.lists(st.integers(0, 10**30), min_size=3, max_size=5),
    st.booleans(),
    st.sampled_from(BOTH),
)
@settings(max_examples=40)
def test_counts_of_any_size_scale(counts: list[int], ordered: bool, neighbors: str) -> None:
    """Margins of counts that 64 bits do not hold are those of the same counts in small."""
    question = asked(len(counts), 2, ordered, neighbors)
    small = [n % 1000 for n in counts]
    far = 10**25  # added to all, no one comes near zero
    one = question.margins(dict(zip(question.among, [n + 10**4 for n in small], strict=True)))
    other = question.margins(dict(zip(question.among, [n + far for n in small], strict=True)))
    assert one == other
    assert all(type(margin) is int for margin in other.values())


@pytest.mark.parametrize("neighbors", BOTH)
@pytest.mark.parametrize("ordered", [True, False])
def test_the_first_alone_is_the_winner(ordered: bool, neighbors: str) -> None:
    names, draw = [str(number) for number in range(9)], np.random.default_rng(7)
    for _ in range(30):
        counts = dict(zip(names, draw.integers(0, 12, 9).tolist(), strict=True))
        ranking = rb.Ranking(names, first=1, in_order=ordered, neighbors=neighbors)
        assert ranking.margins(counts) == rb.Winner(names, neighbors=neighbors).margins(counts)
        sets = np.arange(9)[:, None]
        held, coming = as_counts(list(counts.values())), neighbors == "added or removed"
        assert as_sets(held, sets, coming=coming).tolist() == list(ranking.margins(counts).values())


@pytest.mark.parametrize("ordered", [True, False])
def test_neighbors_of_rankings_of_many_differ_by_one(ordered: bool) -> None:
    names, draw = [str(number) for number in range(12)], np.random.default_rng(3)
    for neighbors in BOTH:
        question = rb.Ranking(names, first=3, in_order=ordered, neighbors=neighbors)
        for _ in range(15):
            counts = draw.integers(0, 30, 12)
            moved = counts.copy()
            moved[draw.integers(12)] += 1
            if neighbors == "substituted":
                moved[draw.choice(np.flatnonzero(moved))] -= 1
            one, other = (
                np.array(list(question.margins(dict(zip(names, c.tolist(), strict=True))).values()))
                for c in (counts, moved)
            )
            assert abs(one - other).max() <= 1
            assert (one == 0).sum() == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"among": list("abc"), "first": 4}, "first must be at most 3"),
        ({"among": list("abc"), "first": 0}, "whole number of at least 1"),
        ({"among": list("abc"), "first": 3, "in_order": False}, "ask for fewer, or in order"),
        ({"among": list("abc"), "first": 2, "in_order": 1}, "in_order must be True or False"),
        (
            {"among": [str(i) for i in range(20)], "first": 4},
            r"116,280 rankings .* ask for the first 3, or as a set",
        ),
        ({"among": ["a>b", "c"], "first": 2}, "in_order=False, or rename"),
        ({"among": ["a, b", "c", "d"], "first": 2, "in_order": False}, "in_order=True, or rename"),
        ({"among": ["a"], "first": 1}, "at least two"),
        ({"among": [str(i) for i in range(20_001)], "first": 1}, "list fewer"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(rb.InvalidQuestion, match=message):
        rb.Ranking(**arguments)  # type: ignore[arg-type]


def test_a_ranking_describes_itself(tmp_path: Path) -> None:
    question = rb.Ranking(
        ["red", "green"], "choice", first=2, other="else", missing="none", where="age > 65"
    )
    assert question.among == ("red", "green", "else", "none")
    assert [str(rule) for _, rule in question.groups[2:]] == ["is something else", "is missing"]
    described = json.loads(json.dumps(question.describe()))
    assert from_description(described) == question
    mechanism = rb.best(question, rb.DP(1))
    back = rb.load(mechanism.save(tmp_path / "ranking.json"))
    assert back.exact() == mechanism.exact()
    counts = {"red": 9, "green": 5, "else": 2}
    assert back[counts] == mechanism.exact()[counts]


def test_a_table_is_ranked() -> None:
    votes = ["red"] * 60 + ["blue"] * 40 + ["green"] * 20 + [None] * 50
    question = rb.Ranking(["red", "green", "blue"], "choice", first=2)
    release = rb.ask(
        rb.best(question, rb.DP(20)), {"red": 60, "blue": 40, "green": 20}, ledger=None
    )
    assert release.answer == "red > blue"
    assert release.proves is not None
    import polars

    frame = polars.DataFrame({"choice": votes})
    assert rb.ask(rb.best(question, rb.DP(20)), frame, ledger=None).answer == "red > blue"


@pytest.mark.slow
def test_best_measures_rankings_as_what_they_are() -> None:
    """Over histograms of the few that are ranked, not over votes of as many answers."""
    flip, plain = family("margin-flip"), family("homogeneous")
    for ordered in (True, False):
        question = rb.Ranking(list("abcde"), first=2, in_order=ordered)
        expected = "margin-flip" if ordered else "permute-and-flip"
        assert rb.best(question, rb.DP(1)).name == expected
        assert measure(flip, question, rb.DP(1)) < 0.7 * measure(plain, question, rb.DP(1))
    assert rb.best(rb.Ranking(list("abc"), first=2, in_order=False), rb.DP(2)).name == "proximity"
    rows = [measure(flip, rb.Ranking(list("abcd"), first=2), rb.DP(e)) for e in ("0.1", "1", "3")]
    assert rows == sorted(rows, reverse=True)


@pytest.mark.slow
def test_the_command_ranks(tmp_path: Path) -> None:
    table = tmp_path / "votes.csv"
    table.write_text("choice\n" + "red\n" * 90 + "blue\n" * 60 + "green\n" * 20)
    line = ["ask", "ranking", str(table), "--column", "choice", "--among", "red,green,blue,white"]
    line += ["--first", "2", "--epsilon", "20", "--no-ledger", "--json"]
    found = CliRunner().invoke(app, line)
    assert json.loads(found.stdout)["answer"] == "red > blue"
    found = CliRunner().invoke(app, [*line, "--as-set"])
    assert json.loads(found.stdout)["answer"] == "red, blue"
    found = CliRunner().invoke(app, [*line[:-1], "--explain"])
    assert "red > green; red > blue; red > white; green > red" in found.stdout
    assert "(12 in all)" in found.stdout
    names = ",".join(str(number) for number in range(12))
    many = [*line[:6], names, "--first", "3", "--epsilon", "1", "--explain"]
    found = CliRunner().invoke(app, many)
    assert "(1,320 in all)" in found.stdout
    assert "textbook" not in found.stdout
    compared = CliRunner().invoke(
        app,
        ["compare", "ranking", "--answers", "3", "--as-set", "--records", "8", "--epsilon", "1"],
    )
    assert "ranking over 3 answers" in compared.stdout


@pytest.mark.slow
def test_an_order_mostly_has_its_distance() -> None:
    question, chains = asked(3, 2, True, "substituted"), chosen(3, 2, ordered=True)
    equal = []
    for counts in itertools.product(range(0, 8, 2), repeat=3):
        margins = question.margins(dict(zip(question.among, counts, strict=True))).values()
        for chain, margin in zip(chains, margins, strict=True):
            equal.append(margin == min(max(way) for way in every_way(counts, chain, 8)))
    assert np.mean(equal) > 0.98
