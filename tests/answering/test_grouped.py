"""All groups together keep the guarantee: every pair of small tables, every outcome."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pytest
from scipy.stats import norm

import rainbowdp as rb
from rainbowdp.answering.grouped import GroupedMechanism
from rainbowdp.answering.measure import measure
from rainbowdp.errors import InvalidGuarantee, InvalidMechanism, InvalidQuestion
from rainbowdp.guarantees.moves import of_one_move
from rainbowdp.questions import limited

Table: TypeAlias = tuple[tuple[int, ...], ...]  # a count for each group and answer
GROUPS = ["north", "south"]
COLORS = ["red", "green", "blue"]


def tables(most: int, width: int) -> Iterator[Table]:
    """Every table of two groups with at most so many records each."""
    rows = [r for r in itertools.product(range(most + 1), repeat=width) if sum(r) <= most]
    yield from itertools.product(rows, repeat=2)


def one_move(table: Table) -> Iterator[Table]:
    """Every table with one record less in some cell."""
    for group, row in enumerate(table):
        for cell, count in enumerate(row):
            if count:
                less = (*row[:cell], count - 1, *row[cell + 1 :])
                yield (*table[:group], less, *table[group + 1 :])


def neighbors(table: Table, relation: str, public: bool, rows: int) -> set[Table]:
    """Every table that one change makes of ``table``: at most ``rows`` records go, and come."""
    found = {table}
    if relation == "added or removed":
        for _ in range(rows):
            found |= {less for each in found for less in one_move(each)}
        return _inside(found, table, public)
    cells = [(g, c) for g, row in enumerate(table) for c in range(len(row))]
    for _ in range(rows):
        for each in list(found):
            for less in [each, *one_move(each)]:
                for group, cell in cells:
                    changed = [list(row) for row in less]
                    changed[group][cell] += 1
                    found.add(tuple(map(tuple, changed)))
                found.add(less)
    return _inside(found, table, public)


def _inside(found: set[Table], table: Table, public: bool) -> set[Table]:
    """Other tables; where groups are public nobody changes them, and one person is in one."""
    most = 1 if public else 2
    changed = {t: sum(a != b for a, b in zip(t, table, strict=True)) for t in found}
    return {t for t, groups in changed.items() if 1 <= groups <= most}


def joint(mechanism: GroupedMechanism, table: Table) -> dict[tuple[Any, ...], Fraction]:
    """The chances of all answers together, exactly."""
    exact: Any = mechanism.inner.exact()
    names = [name for name, _ in mechanism.question.groups]
    rows = [exact[dict(zip(names, row, strict=True))] for row in table]
    return {
        answers: math.prod(
            (row[a] for row, a in zip(rows, answers, strict=True)), start=Fraction(1)
        )
        for answers in itertools.product(*rows)
    }


SHAPES = [
    (relation, public, rows)
    for relation in ("substituted", "added or removed")
    for public in (False, True)
    for rows in (1, 2)
]


def asked(relation: str, public: bool, rows: int, colors: list[str] = COLORS) -> rb.Grouped:
    vote = limited(rb.Winner(colors, neighbors=relation), rows)
    return rb.Grouped(vote, None, GROUPS, public=public)


def pairs(question: rb.Grouped, most: int) -> Iterator[tuple[Table, Table]]:
    width = len(question.groups)
    for table in tables(most, width):
        for other in neighbors(
            table, question.neighbors, question.public, question.rows_per_person
        ):
            yield table, other


@pytest.mark.parametrize(("relation", "public", "rows"), SHAPES)
def test_pure_privacy_of_all_answers_together(relation: str, public: bool, rows: int) -> None:
    question = asked(relation, public, rows)
    mechanism = rb.best(question, rb.DP.from_ratio(4))
    found: dict[Table, Any] = {}
    worst = Fraction(0)
    for table, other in pairs(question, 1 if rows > 1 else 2):
        p = found.setdefault(table, None) or joint(mechanism, table)
        q = found.setdefault(other, None) or joint(mechanism, other)
        found[table], found[other] = p, q
        worst = max(worst, *(p[a] / q[a] for a in p), *(q[a] / p[a] for a in p))
    assert worst <= 4
    assert worst > 3.5 or rows > 1, float(worst)  # what is paid is used, and so is looked at


@pytest.mark.parametrize(("relation", "public", "rows"), SHAPES)
def test_delta_of_all_answers_together(relation: str, public: bool, rows: int) -> None:
    question = asked(relation, public, rows, ["red", "green"])
    delta = Fraction(1, 50)
    mechanism = rb.best(question, rb.DP.from_ratio(2, delta=delta))
    worst = Fraction(0)
    for table, other in pairs(question, 3 if rows == 1 else 2):
        p, q = joint(mechanism, table), joint(mechanism, other)
        for one, two in ((p, q), (q, p)):
            worst = max(worst, sum((max(one[a] - 2 * two[a], Fraction(0)) for a in p), Fraction(0)))
    assert 0 < worst <= delta


@pytest.mark.parametrize(("relation", "public", "rows"), SHAPES)
def test_concentrated_privacy_of_all_answers_together(
    relation: str, public: bool, rows: int
) -> None:
    question = asked(relation, public, rows, ["red", "green"])
    mechanism = rb.best(question, rb.ZeroConcentrated("0.2"))
    for table, other in pairs(question, 2):
        p, q = joint(mechanism, table), joint(mechanism, other)
        one = np.array([float(p[a]) for a in p])
        two = np.array([float(q[a]) for a in p])
        for order in (1.01, 1.5, 2, 4, 16, 64):
            divergence = math.log(float((one**order * two ** (1 - order)).sum())) / (order - 1)
            assert divergence <= 0.2 * order + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("relation", "public", "rows"), SHAPES)
def test_gaussian_privacy_of_all_answers_together(relation: str, public: bool, rows: int) -> None:
    question = asked(relation, public, rows, ["red", "green"])
    mechanism = rb.best(question, rb.GaussianDP(1))
    epsilons = np.linspace(-4, 4, 33)
    allowed = norm.cdf(-epsilons + 0.5) - np.exp(epsilons) * norm.cdf(-epsilons - 0.5)
    for table, other in pairs(question, 2):
        p, q = joint(mechanism, table), joint(mechanism, other)
        one = np.array([float(p[a]) for a in p])
        two = np.array([float(q[a]) for a in p])
        for epsilon, most in zip(epsilons, allowed, strict=True):
            assert np.maximum(0, one - math.exp(epsilon) * two).sum() <= most + 1e-12


@pytest.mark.parametrize("moves", [2, 3, 7])
def test_moves_keep_what_is_promised_and_little_less(moves: int) -> None:
    ratio = Fraction(5, 2)
    guarantee = rb.DP.from_ratio(ratio, delta="0.01")
    one = of_one_move(guarantee, moves)
    assert isinstance(one, rb.DP)
    step = one.exact_ratio
    assert step is not None
    assert step**moves <= ratio < (step + Fraction(1, 2**60)) ** moves
    assert one.exact_delta * sum(step**i for i in range(moves)) <= Fraction(1, 100)
    plain = of_one_move(rb.DP(3, "0.01"), moves)
    assert isinstance(plain, rb.DP)
    assert plain.exact_epsilon == Fraction(3, moves)
    total = float(plain.exact_delta) * sum(math.exp(3 * i / moves) for i in range(moves))
    assert total == pytest.approx(0.01, rel=1e-12)


def test_a_curve_has_no_price_for_two_moves() -> None:
    curve = rb.TradeOff([(0, 1), ("1/3", "1/3"), (1, 0)])
    with pytest.raises(InvalidGuarantee, match="2 moves of a record"):
        rb.best(asked("substituted", False, 1), curve)
    assert rb.best(asked("substituted", True, 1), curve).inner.guarantee == curve


def test_an_inner_mechanism_that_promises_less_is_refused() -> None:
    question = asked("substituted", False, 1)
    inner = rb.best(question.ways[0].question, rb.DP(1))
    with pytest.raises(InvalidMechanism, match="all of one change keep 1-DP"):
        GroupedMechanism(question, rb.DP(1), inner)
    with pytest.raises(InvalidMechanism):
        GroupedMechanism(question, rb.DP(1), rb.best(question.question, rb.DP("0.5")))


def test_ask_pays_once_and_remembers_all_groups(tmp_path: Any) -> None:
    ledger = rb.Ledger.create(
        tmp_path / "b.db", dataset="d", epsilon=3, neighbors="added or removed"
    )
    mechanism = rb.best(asked("added or removed", False, 1), rb.DP(1))
    table = {"north": {"red": 90}, "south": {"blue": 90}}
    first = rb.ask(mechanism, table, ledger=ledger, name="both", source="here")
    again = rb.ask(mechanism, {}, ledger=ledger, name="both", source="here")
    assert first.answer == again.answer == {"north": "red", "south": "blue"}
    assert again.recalled
    assert ledger.balance().spent == rb.Ledger.open(tmp_path / "b.db").history()[0].cost
    assert first.proves == mechanism.proves() == again.proves
    assert "2 groups" in first._repr_html_()


def test_by_kind_and_html() -> None:
    mechanism = rb.by_kind(asked("substituted", True, 1), rb.DP(1), "margin-flip")
    assert mechanism.name == "margin-flip"
    assert "north, south" in mechanism._repr_html_()
    chances = mechanism[{"north": {"red": 9}}]
    assert chances["north"]["red"] > 0.9
    assert set(chances["south"]) == set(COLORS)
    said = {1: "inside one group", 2: "at most 2 such changes"}[mechanism.moves or 0]
    assert f"one change is {said}" in mechanism.proof_in_words


def test_wrong_public() -> None:
    with pytest.raises(InvalidQuestion, match="must be True or False"):
        rb.Grouped(rb.Winner(COLORS), None, GROUPS, public="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("question", "moves"),
    [(rb.Threshold(50), 1), (rb.Share("0.9"), 1), (rb.Winner(COLORS), None)],
)
def test_public_groups_are_asked_in_the_better_way(question: Any, moves: int | None) -> None:
    public = rb.best(rb.Grouped(question, None, GROUPS, public=True), rb.DP(1))
    if moves is not None:
        assert public.moves == moves
    private = rb.best(rb.Grouped(question, None, GROUPS), rb.DP(1))
    inners: list[Any] = [public.inner, private.inner]
    better, worse = (measure(each.family, each.question, each.guarantee) for each in inners)
    assert better <= worse
