"""Integer rows: exactly close, as good as units allow, and drawn without a float."""

from __future__ import annotations

import ast
import inspect
import itertools
import secrets
import sys
import textwrap
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from types import FrameType
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

import rainbowdp as rb
import reference
import strategies
from kinds import permute_and_flip as flip
from rainbowdp.exact import steps
from rainbowdp.exact.mechanism import ExactMechanism
from rainbowdp.exact.rows import ExactRow
from rainbowdp.exact.steps import (
    BITS,
    LONGEST,
    allowed,
    exact_step,
    in_answer_order,
    ladder,
    on_grid,
    repaired,
    symmetric_pair,
)
from rainbowdp.guarantees.polygons import safe_curve
from rainbowdp.rules.homogeneous.rule import Homogeneous, OneLadder
from rainbowdp.rules.proximity.rule import Proximity

TOTAL = 1 << BITS
YES_NO = ("yes", "no")
HALVES = rb.TradeOff([(0, "1/2"), ("1/2", 0), (1, 0)])


# one step


@given(strategies.rational_curves(), strategies.weight_rows())
@settings(max_examples=100, deadline=None)
@example(HALVES, (0, 0, 7))
@example(HALVES, (0, 1, 0, 0))
def test_a_step_is_exactly_close_and_within_units_of_the_best(
    curve: rb.TradeOff, row: tuple[int, ...]
) -> None:
    deeper = exact_step(curve, row)
    total = sum(row)
    assert all(type(weight) is int and weight >= 0 for weight in deeper)
    assert sum(deeper) == total
    assert len(deeper) == len(row)
    lines = reference.polygon_lines(curve.knots)
    if len(lines) > 10:  # the sets that matter are few, and so are the lines
        lines = lines[:: len(lines) // 10]
    assert reference.integer_excess(row, deeper, lines) == 0
    sums = zip(itertools.accumulate(row), itertools.accumulate(deeper), strict=True)
    for before, after in sums:
        best = total * reference.polygon(curve.knots, Fraction(before, total))
        assert best - (len(row) + 1) <= after <= best


@pytest.mark.slow
@given(strategies.rational_curves(), st.fractions(0, 1))
@settings(deadline=None)
def test_what_a_curve_allows_is_the_polygon_times_the_total(
    curve: rb.TradeOff, level: Fraction
) -> None:
    for weight, total in ((level.numerator, level.denominator), (0, 7), (7, 7)):
        wanted = total * reference.polygon(curve.knots, Fraction(weight, total))
        assert allowed(curve, weight, total) == wanted
    for x, y in curve.knots[::37]:
        assert allowed(curve, x.numerator, x.denominator) == (1 - y) * x.denominator


def test_a_step_of_gaussian_privacy_keeps_gaussian_privacy() -> None:
    curve = safe_curve(rb.GaussianDP("0.75"))
    row: tuple[int, ...] = (TOTAL // 7, TOTAL // 3, 1, TOTAL - TOTAL // 7 - TOTAL // 3 - 1)
    for _ in range(4):
        deeper = exact_step(curve, row)
        assert reference.gaussian_close(row, deeper, Fraction(3, 4))
        row = deeper


# ladders


@given(strategies.rational_curves(), strategies.weight_rows(), st.integers(0, 12))
@settings(max_examples=50)
def test_a_ladder_climbs_step_by_step_and_ends(
    curve: rb.TradeOff, row: tuple[int, ...], deepest: int
) -> None:
    seen: list[int] = []
    rows = ladder(curve, row, deepest, progress=seen.append)
    assert rows[0] == row
    assert 1 <= len(rows) <= deepest + 1
    assert seen == list(range(2, len(rows) + 1))
    for shallow, deep in itertools.pairwise(rows):
        assert deep == exact_step(curve, shallow) != shallow
        for a, b in zip(itertools.accumulate(shallow), itertools.accumulate(deep), strict=True):
            assert a <= b
    if len(rows) <= deepest:
        assert exact_step(curve, rows[-1]) == rows[-1]


def test_a_ladder_is_never_longer_than_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    assert LONGEST == 1 << 15
    monkeypatch.setattr(steps, "LONGEST", 10)
    curve = safe_curve(rb.DP("1e-9"))
    assert len(ladder(curve, (TOTAL // 2, TOTAL // 2), 10**9)) == 10
    assert len(ladder(curve, (TOTAL // 2, TOTAL // 2))) == 10
    rule = Homogeneous({"a": ladder(curve, (TOTAL // 2, TOTAL // 2), 10**9)}, {}, ())
    assert rule.weights(("a", 10**9), YES_NO) == rule.rows["a"][9]


def test_a_ladder_to_the_end_says_the_first_answer() -> None:
    first, other = symmetric_pair(rb.DP(1), 3)
    rows = ladder(safe_curve(rb.DP(1)), (first, other, other))
    assert rows[-1] == exact_step(safe_curve(rb.DP(1)), rows[-1])
    assert rows[-1][0] >= TOTAL - 6
    first, other = symmetric_pair(rb.DP(1, "1e-3"), 3)
    certain = ladder(safe_curve(rb.DP(1, "1e-3")), (first, other, other))
    assert certain[-1] == (TOTAL, 0, 0)


# symmetric rows


@pytest.mark.slow
@given(
    strategies.rational_curves(),
    st.integers(2, 6),
    st.one_of(st.just(TOTAL), st.integers(1, 60), st.integers(10**6, 10**9)),
)
@settings(max_examples=100, deadline=None)
def test_symmetric_rows_are_close_and_the_best_that_are(
    curve: rb.TradeOff, answers: int, total: int
) -> None:
    first, share = symmetric_pair(curve, answers, total)
    row = (first, *[share] * (answers - 1))
    assert sum(row) == total
    assert type(first) is int
    assert 0 <= share <= first
    lines = [line for line in reference.polygon_lines(curve.knots) if line[0] >= 1]

    def swapped(a: int, b: int) -> Fraction:
        """The excess of two rows with first choices exchanged; the other answers are equal."""
        worst = [max(Fraction(0), a - slope * b) - rise * total for slope, rise in lines]
        return max(worst, default=Fraction(0))

    if share < total // answers:  # else no row of this form is nearer to uniform
        assert swapped(row[0], share) <= 0
        other = (share, row[0], *row[2:])
        some = lines[:: max(1, len(lines) // 8)]
        assert reference.integer_excess(row, other, some) == 0
    if share > 0:
        assert swapped(row[0] + answers - 1, share - 1) > 0


# onto the grid


@given(st.integers(1, 6).flatmap(strategies.exact_rows), st.integers(1, 1000))
def test_the_grid_is_a_unit_away_and_sums_to_the_total(
    row: tuple[Fraction, ...], total: int
) -> None:
    weights = on_grid(row, total)
    assert sum(weights) == total
    for weight, p in zip(weights, row, strict=True):
        assert type(weight) is int
        assert weight >= 0
        assert abs(weight - p * total) < 1


RATIO = Fraction(2)
CLOSE: dict[Any, tuple[Fraction, ...]] = {
    "a": (Fraction(3, 5), Fraction(2, 5)),
    "b": (Fraction(2, 5), Fraction(3, 5)),
}


def test_rows_with_slack_need_no_repair() -> None:
    rows, mixing = repaired(rb.DP.from_ratio(2), CLOSE, [("a", "b")])
    assert mixing == 0
    assert rows == {label: on_grid(row) for label, row in CLOSE.items()}


@pytest.mark.slow
@given(st.integers(-70, 0), strategies.ratios(), st.integers(2, 4), st.sampled_from((0, 1, 3)))
@settings(max_examples=100, deadline=None)
@example(-30, Fraction(2), 2, 0)
@example(-56, Fraction(2), 3, 1)
@example(-5, Fraction(2), 3, 1)
def test_repair_is_exact_and_the_least(
    exponent: int, ratio: Fraction, answers: int, twentieths: int
) -> None:
    """Rows that exceed the guarantee by a chosen amount."""
    ratio, delta = ratio + Fraction(1, 10), Fraction(twentieths, 20)
    lines = [(ratio, delta)]
    share = (1 - delta) / (ratio + answers - 1)
    share -= share * Fraction(2) ** exponent / 2
    head = (1 - (answers - 1) * share, *[share] * (answers - 1))
    heads: dict[Any, tuple[Fraction, ...]] = {
        place: tuple(head[(v - place) % answers] for v in range(answers))
        for place in range(answers)
    }
    touching = list(itertools.combinations(range(answers), 2))

    def valid(mixing: Fraction) -> bool:
        mixed = [
            on_grid([(1 - mixing) * p + mixing / answers for p in row]) for row in heads.values()
        ]
        return all(reference.integer_excess(mixed[a], mixed[b], lines) == 0 for a, b in touching)

    guarantee = rb.DP.from_ratio(ratio, delta=delta)
    if not valid(Fraction(1, 1 << 10)):
        with pytest.raises(rb.InvalidBoundary) as caught:
            repaired(guarantee, heads, touching)
        reference.assert_one_sentence(caught.value, guarantee, "2^-10")
        return
    rows, mixing = repaired(guarantee, heads, touching)
    for a, b in touching:
        assert reference.integer_excess(rows[a], rows[b], lines) == 0
    assert mixing == 0 or (mixing.numerator == 1 and mixing.denominator.bit_count() == 1)
    assert mixing == 0 or not valid(Fraction(0))
    if mixing > Fraction(1, 1 << (BITS - 2)):
        assert not valid(mixing / 2)


def test_repair_looks_at_touching_pairs_alone() -> None:
    rows: dict[Any, tuple[Fraction, ...]] = {
        "a": (Fraction(1), Fraction(0)),
        "b": (Fraction(1, 2), Fraction(1, 2)),
        "c": (Fraction(0), Fraction(1)),
    }
    fixed, mixing = repaired(rb.DP(0, "0.5"), rows, [("a", "b"), ("b", "c")])
    assert mixing == 0
    assert fixed["a"] == (TOTAL, 0)
    with pytest.raises(rb.InvalidBoundary):
        repaired(rb.DP(0, "0.5"), rows, [("a", "c")])


def test_a_row_is_put_into_the_order_of_the_answers() -> None:
    assert in_answer_order((1, 2, 3), ("b", "c", "a"), ("a", "b", "c")) == (3, 1, 2)
    with pytest.raises(rb.InvalidMechanism):
        in_answer_order((1, 2, 3), ("b", "c", "d"), ("a", "b", "c"))


# places


def mechanism(rule: Homogeneous | Proximity, answers: tuple[str, ...] = YES_NO) -> ExactMechanism:
    return ExactMechanism(rb.DP.from_ratio(len(answers)), answers, rule)


LADDERS = Homogeneous({"yes": ((4, 2), (5, 1)), "no": ((2, 4),)}, {"no": "no"}, (("yes", "no"),))
MARGINS = Proximity(100, (25, 9, 3, 1))


def test_a_place_is_a_region_and_a_depth() -> None:
    made = mechanism(LADDERS)
    assert made.at(("yes", 0)).weights == (4, 2)
    assert made.at(("yes", 1)).weights == (5, 1)
    assert made.at(("yes", 10**400)).weights == (5, 1)
    assert made.at(("no", float("inf"))).weights == (0, 6)
    assert made["yes", 1] == {"yes": Fraction(5, 6), "no": Fraction(1, 6)}
    assert list(made["no", 0]) == ["no", "yes"]
    assert str(made.proof) == (
        "log(2)-DP proved exactly: 2 pairs of rows with total weight 6, for the 1 listed pair of "
        "touching regions and for neighboring depths inside each; only the graph can tell whether "
        "these are all"
    )


@pytest.mark.parametrize(
    "place",
    [
        ("blue", 0),
        ("yes", float("inf")),
        ("yes", float("nan")),
        ("yes", None),
        ("yes",),
        "yes",
        7,
        None,
        ([], 0),
        ("yes", -1),
        ("yes", -(10**9)),
        ("yes", -float("inf")),
        ("yes", 0.5),
        ("yes", "1"),
    ],
)
def test_what_is_no_place_has_no_row(place: Any) -> None:
    """A depth of −1 would be the last row of a list: the surest answer at a border."""
    with pytest.raises(rb.UnknownDataset):
        mechanism(LADDERS).release(place)


@pytest.mark.parametrize(
    "place",
    [
        {"a": 0, "b": 0, "c": 1},
        {"a": 1, "b": 1, "c": 1},
        {"a": 0, "b": -1, "c": 1},
        {"a": 0, "b": -100, "c": 1},
        {"a": 0, "b": 1.5, "c": 1},
        {"a": 0, "b": 1e9, "c": 1},
        {"a": 0, "b": float("inf"), "c": 1},
        {"a": 0, "b": "1", "c": 1},
        {"a": 0, "b": 1},
        {"a": 0, "b": 1, "c": 1, "d": 0},
        ("a", 0),
        None,
    ],
)
def test_what_are_no_margins_have_no_row(place: Any) -> None:
    """The proof speaks of margins from 0 that are 0 exactly once; nothing else may be drawn."""
    with pytest.raises(rb.UnknownDataset):
        mechanism(MARGINS, ("a", "b", "c")).release(place)


def test_margins_give_their_weights() -> None:
    made = mechanism(MARGINS, ("a", "b", "c"))
    assert made.at({"a": 0, "b": 1, "c": 2}).weights == (66, 25, 9)
    assert made.at({"c": 0, "b": 10**400, "a": 3}).weights == (3, 1, 96)


class Tied:
    """A user's own question, by the protocol alone, that makes a mistake with ties."""

    answers = ("a", "b", "c")
    neighbors = "substituted"
    column = None
    groups = ()
    by = None
    weight = None
    limit = 1
    person = None
    rows_per_person = 1
    where = None
    apply = None
    person_rule = "sample"

    def __init__(self, margins: dict[str, Any]) -> None:
        self._margins = margins

    def margins(self, counts: Any, /) -> dict[str, Any]:
        """What it was given."""
        return self._margins

    def describe(self) -> dict[str, Any]:
        """Hardly anything."""
        return {"kind": "custom", "name": "tied"}


@pytest.mark.parametrize("ratio", [Fraction(3, 2), Fraction(4)])
@pytest.mark.parametrize(
    "margins",
    [
        {"a": 0, "b": 0, "c": 3},
        {"a": 0, "b": -3, "c": 3},
        {"a": 1, "b": 2, "c": 3},
        {"a": 0, "b": 0.5, "c": 3},
        {"a": 0, "b": 1},
    ],
)
def test_margins_of_a_users_question_are_checked(margins: dict[str, Any], ratio: Fraction) -> None:
    """Both rules; the surest row must not stand where two answers are tied."""
    question: Any = Tied(margins)
    made = rb.best(question, rb.DP.from_ratio(ratio))
    with pytest.raises(rb.RainbowError):
        made.release("anything")


# made means proved


def test_rows_that_break_the_guarantee_cannot_be_made() -> None:
    with pytest.raises(rb.InvalidMechanism) as caught:
        mechanism(Homogeneous({"yes": ((5, 1),), "no": ((1, 5),)}, {}, (("yes", "no"),)))
    assert "'yes' and 'no'" in str(caught.value)
    with pytest.raises(rb.InvalidMechanism):
        mechanism(Homogeneous({"yes": ((3, 3), (6, 0))}, {}, ()))
    with pytest.raises(rb.InvalidMechanism):
        mechanism(Proximity(100, (24, 9, 3, 1)), ("a", "b", "c"))


@pytest.mark.parametrize(
    ("rows", "answers"),
    [
        (((4, 2),), ("a", "b", "c")),
        (((4, 1, 1),), ("a", "b")),
        (((4, 2), (4, 1, 1)), ("a", "b")),
        (((4, 2),), ("a", "a")),
    ],
)
def test_rows_must_fit_the_answers(rows: tuple[tuple[int, ...], ...], answers: Any) -> None:
    with pytest.raises(rb.InvalidMechanism):
        mechanism(Homogeneous({"yes": rows}, {}, ()), answers)


def test_answers_by_margin_must_differ() -> None:
    with pytest.raises(rb.InvalidMechanism):
        mechanism(MARGINS, ("a", "a", "b"))


# the draw


def boundaries(weights: tuple[int, ...]) -> list[tuple[int, int]]:
    """The first and the last integer of each answer that has any, with the answer's number."""
    found, start = [], 0
    for number, weight in enumerate(weights):
        if weight:
            found += [(start, number), (start + weight - 1, number)]
        start += weight
    return found


ODD = (2**63 + 1, 0, 2**61 + 1, 1, 0, 2**64 - 2**63 - 2**61 - 4, 1, 0)


@pytest.mark.parametrize("weights", [(1,), (3, 2), (0, 0, 5, 0), ODD, (0, TOTAL - 1, 1)])
def test_each_integer_below_the_total_has_its_answer(
    weights: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ODD no two neighboring integers differ as floats, yet each has its own answer."""
    asked: list[int] = []
    row = ExactRow(tuple(range(len(weights))), weights)
    for number, answer in boundaries(weights):

        def below(total: int, number: int = number) -> int:
            asked.append(total)
            return number

        monkeypatch.setattr(secrets, "randbelow", below)
        assert row.draw() == answer
    assert set(asked) == {sum(weights)}
    assert all(type(total) is int for total in asked)


def test_every_integer_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = (3, 0, 4, 1)
    row = ExactRow(("a", "b", "c", "d"), weights)
    drawn = Counter[str]()
    for number in range(8):
        monkeypatch.setattr(secrets, "randbelow", lambda total, number=number: number)
        drawn[row.draw()] += 1
    assert drawn == {"a": 3, "c": 4, "d": 1}


def test_a_release_asks_the_operating_system_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def below(total: int) -> int:
        asked.append(total)
        return total - 1

    monkeypatch.setattr(secrets, "randbelow", below)
    assert mechanism(LADDERS).release(("yes", 0)) == "no"
    assert rb.best(rb.Winner(["red", "green"]), rb.DP(1)).release({"red": 9}) == "green"
    assert asked == [6, TOTAL]


def floats_in(value: Any) -> bool:
    if isinstance(value, float):
        return True
    if isinstance(value, dict):
        return any(floats_in(part) for pair in value.items() for part in pair)
    return isinstance(value, list | tuple | set) and any(floats_in(part) for part in value)


def traced(call: Callable[[], object]) -> tuple[set[str], list[str]]:
    """The functions of the package that ``call`` goes through, and the floats seen in them."""
    seen: set[str] = set()
    found: list[str] = []

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] not in ("rainbowdp", "secrets", "random", "bisect"):
            return None
        seen.add(frame.f_code.co_qualname)
        values = {**frame.f_locals, "returned": argument if event == "return" else None}
        found.extend(f"{frame.f_code.co_qualname}.{k}" for k, v in values.items() if floats_in(v))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return seen, found


@pytest.mark.parametrize("ratio", [Fraction(3, 2), Fraction(4)])
def test_no_float_is_seen_on_the_way_of_a_release(ratio: Fraction) -> None:
    """Line by line, in every function of the package that a release goes through."""
    table = rb.best(rb.Winner(["a", "b", "c"]), rb.DP.from_ratio(ratio)).exact()
    seen, found = traced(lambda: table.release({"a": 10, "b": 7, "c": 1}))
    drawn = {"ExactMechanism.release", "MarginTable.drawer", "Shape.share_bounds"}
    assert drawn <= seen
    assert found == []
    seen, found = traced(lambda: table.at({"a": 10, "b": 7, "c": 1}).draw())
    assert {"ExactMechanism.at", "MarginTable.weights", "ExactRow.draw"} <= seen
    assert found == []
    coins = flip(rb.Winner(["a", "b", "c"]), rb.DP.from_ratio(ratio)).exact()
    seen, found = traced(lambda: coins.release({"a": 10, "b": 7, "c": 1}))
    assert {"ExactMechanism.release", "PermuteAndFlip.drawer", "Falling.at"} <= seen
    assert found == []
    many = [str(number) for number in range(30)]
    coins = flip(rb.Winner(many), rb.DP.from_ratio(ratio)).exact()
    seen, found = traced(lambda: coins.release({"3": 10, "7": 9}))
    assert {"ExactMechanism.release", "Falling.bounds"} <= seen
    assert found == []
    two = rb.best(rb.Winner(["a", "b"]), rb.DP.from_ratio(ratio)).exact()
    seen, found = traced(lambda: two.release({"a": 10, "b": 7}))
    assert {"ExactMechanism.release", "OneLadder.drawer", "OneLadder._pair"} <= seen
    assert found == []


def test_the_tracer_sees_floats() -> None:
    made = mechanism(LADDERS)
    _, found = traced(lambda: made.release(("no", float("inf"))))
    assert found


@pytest.mark.parametrize(
    "function",
    [ExactRow.draw, ExactMechanism.at, OneLadder.weights, Proximity.weights],
)
def test_no_float_is_written_on_the_way_of_a_release(function: Any) -> None:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    for node in ast.walk(tree):
        assert not (isinstance(node, ast.Constant) and isinstance(node.value, float))
        assert not (isinstance(node, ast.Name) and node.id in ("float", "math", "np", "random"))
        assert not isinstance(node, ast.Div)


def test_draws_leave_every_seeded_generator_alone() -> None:
    import random

    state = random.getstate()
    mechanism(LADDERS).release(("yes", 0))
    assert random.getstate() == state


# one in a billion: each bound below fails by chance with a probability under 1e-10


def likely(count: int, draws: int, probability: Fraction) -> bool:
    """Whether so many hits in so many draws are within what chance does, at 1e-11 a side."""
    p = float(probability)
    return bool(
        stats.binom.sf(count - 1, draws, p) > 1e-11 and stats.binom.cdf(count, draws, p) > 1e-11
    )


@pytest.mark.parametrize("draws", [10**5, pytest.param(10**6, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "weights",
    [
        (TOTAL // 3, TOTAL // 7, TOTAL - TOTAL // 3 - TOTAL // 7),
        (0, TOTAL - TOTAL // 10**4 - 1, 0, TOTAL // 10**4, 1, 0),
    ],
)
def test_draws_are_spread_as_the_weights(weights: tuple[int, ...], draws: int) -> None:
    row = ExactRow(tuple(range(len(weights))), weights)
    counts = Counter(row.draw() for _ in range(draws))
    total = sum(weights)
    for answer, weight in enumerate(weights):
        if weight == 0:
            assert counts[answer] == 0
        assert likely(counts[answer], draws, Fraction(weight, total))
    common = [number for number, weight in enumerate(weights) if weight * 1000 > total]
    if len(common) == len(weights):
        expected = [draws * weight / total for weight in weights]
        observed = [counts[number] for number in common]
        assert stats.chisquare(observed, expected).pvalue > 1e-10
