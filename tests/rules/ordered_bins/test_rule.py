"""OrderedBins bins: private on every edge of every small graph."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from kinds import ordered_bins as ordered
from rainbowdp.errors import NoPlace
from rainbowdp.exact.mechanism import ExactMechanism
from rainbowdp.rules.ordered_bins.build import ordered_holds, ordered_weights
from rainbowdp.rules.ordered_bins.rule import OrderedBins

Counts = tuple[int, ...]


def question(bins: int, q: str = "1/2", **options: object) -> rb.Quantile:
    return rb.Quantile(q, list(range(bins + 1)), **options)  # type: ignore[arg-type]


def tables(bins: int, most: int) -> list[Counts]:
    return [c for c in itertools.product(range(most + 1), repeat=bins) if sum(c) <= most]


def changed(counts: Counts, most: int) -> Iterator[Counts]:
    """One record added, or moved to a bin further up; the opposite is seen from the other end."""
    for i in range(len(counts)):
        more = [*counts[:i], counts[i] + 1, *counts[i + 1 :]]
        if sum(more) <= most:
            yield tuple(more)
        for j in range(i):
            if counts[j]:
                moved = list(more)
                moved[j] -= 1
                yield tuple(moved)


def too_far(ratio: Fraction, p: Counts, q: Counts) -> bool:
    one, other = sum(p), sum(q)
    top, bottom = ratio.numerator, ratio.denominator
    return any(
        a * other * bottom > top * b * one or b * one * bottom > top * a * other
        for a, b in zip(p, q, strict=True)
    )


# the least ratio that is proved for so many bins, and one that is comfortable
RATIOS = [
    (3, "13/10", 12), (3, "9/5", 12), (4, "3/2", 9), (4, "e", 9), (5, "17/10", 7), (6, "2", 5),
]  # fmt: skip


@pytest.mark.parametrize("q", ["1/2", "9/10", "1/7"])
@pytest.mark.parametrize(("bins", "ratio", "most"), RATIOS)
def test_every_pair_of_small_tables_is_close(bins: int, ratio: str, most: int, q: str) -> None:
    exact = Fraction("2.7182818") if ratio == "e" else Fraction(ratio)
    guarantee = rb.DP.from_ratio(exact)
    asked = question(bins, q)
    mechanism = ordered(asked, guarantee).exact()
    rows = {}
    for counts in tables(bins, most):
        place = asked.leads(dict(zip(asked.answers, counts, strict=True)))
        rows[counts] = mechanism.rule.weights(place, asked.answers)
    pairs = 0
    for counts, row in rows.items():
        for other in changed(counts, most):  # both neighbor relations at once
            assert not too_far(exact, row, rows[other]), (counts, other)
            pairs += 1
    assert pairs > 1000


@pytest.mark.slow
@given(st.data())
@settings(max_examples=150, deadline=None)
def test_every_run_of_edges_may_move(data: st.DataObject) -> None:
    bins, least = data.draw(st.sampled_from([(2, 2), (3, 26), (4, 40), (5, 53), (6, 65), (9, 135)]))
    epsilon = Fraction(data.draw(st.integers(least, 400)), 100)
    rule = ordered_weights(bins, rb.DP(epsilon))
    size = data.draw(st.sampled_from([1, 3, 10, 300, 10**12]))
    leads = sorted(
        data.draw(st.lists(st.integers(-size, size), min_size=bins - 1, max_size=bins - 1))
    )
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, bins - 1)] * 2)))
    moved = [*leads[:start], *(lead - 1 for lead in leads[start:end]), *leads[end:]]
    if moved != sorted(moved):
        return
    with mp.workdps(60):
        low = Fraction(str(mp.exp(mp.mpf(epsilon.numerator) / epsilon.denominator)))
    names = [str(number) for number in range(bins)]
    p, q = (rule.weights(tuple(place), names) for place in (leads, moved))
    assert not too_far(low, p, q)


@pytest.mark.parametrize(("bins", "epsilon"), [(3, "0.2"), (4, "0.3"), (5, "0.5"), (6, "0.6")])
def test_what_is_refused_is_not_private(bins: int, epsilon: str) -> None:
    guarantee = rb.DP(epsilon)
    assert not ordered_holds(bins, guarantee)
    with pytest.raises(rb.InvalidGuarantee, match="need a larger epsilon"):
        ordered(question(bins), guarantee)
    rule = weights(guarantee)
    ratio = Fraction(math.exp(float(epsilon)))
    names = [str(number) for number in range(bins)]
    places = list(itertools.combinations_with_replacement(range(-3, 3), bins - 1))
    assert any(
        too_far(ratio, rule.weights(place, names), rule.weights(other, names))
        for place in places
        for other in runs(place)
    )


def weights(guarantee: rb.DP) -> OrderedBins:
    """The same weights whatever the number of bins: two bins always have a proof."""
    return ordered_weights(2, guarantee)


def runs(leads: Counts) -> Iterator[Counts]:
    for start, end in itertools.combinations(range(len(leads) + 1), 2):
        moved = (*leads[:start], *(lead - 1 for lead in leads[start:end]), *leads[end:])
        if list(moved) == sorted(moved):
            yield moved


@given(st.integers(3, 7), st.integers(20, 40), st.data())
@settings(max_examples=100, deadline=None)
def test_a_row_is_the_closed_form(bins: int, tenths: int, data: st.DataObject) -> None:
    guarantee = rb.DP(Fraction(tenths, 10))
    leads = sorted(data.draw(st.lists(st.integers(-9, 9), min_size=bins - 1, max_size=bins - 1)))
    names = [str(number) for number in range(bins)]
    rule = ordered_weights(bins, guarantee)
    row = rule.weights(tuple(leads), names)
    true = sum(lead < 0 for lead in leads)
    e = math.exp(tenths / 10)
    for v in range(bins):
        if v == true:
            continue
        mirrored = leads if v > true else [-1 - lead for lead in leads]
        own = v - 1 if v > true else v
        a = mirrored[own]
        crowd = 1 + 1 / e
        crowd += sum(e ** -(1 + max(a - x, x)) for i, x in enumerate(mirrored) if i != own)
        assert row[v] / sum(row) == pytest.approx(e ** -(a + 1) / crowd, rel=1e-6, abs=1e-18)
        assert row[v] / sum(row) <= e**-a / (1 + e) * (1 + 1e-6) + 1e-18  # proximity has more
    assert rule.rows_at_leads(np.array([leads]))[0] == pytest.approx([w / sum(row) for w in row])


@given(st.integers(2, 6), st.lists(st.integers(0, 50), min_size=6, max_size=6), st.data())
def test_leads_say_what_margins_say(bins: int, some: list[int], data: st.DataObject) -> None:
    asked = question(bins, data.draw(st.sampled_from(["1/2", "0.9", "1/3"])))
    counts = dict(zip(asked.answers, some, strict=False))
    leads = asked.leads(counts)
    true = sum(lead < 0 for lead in leads)
    found = [-lead for lead in leads[:true]] + [0] + [lead + 1 for lead in leads[true:]]
    assert found == list(asked.margins(counts).values())


def test_best_takes_it_where_it_is_proved() -> None:
    for bins, epsilon, name in [
        (2, "0.5", "homogeneous"),
        (3, "0.2", "margin-flip"),
        (3, "0.25", "ordered-bins"),
        (4, "1", "ordered-bins"),
        (4, "3", "ordered-bins"),
        (9, "1", "margin-flip"),
    ]:
        assert rb.best(question(bins), rb.DP(epsilon)).name == name
    pairs = question(4, rows_per_person=2), question(4, neighbors="added or removed")
    for asked in pairs:
        assert rb.best(asked, rb.DP(2)).name == "proximity"
        with pytest.raises(rb.InvalidQuestion, match="one record a person substituted"):
            ordered(asked, rb.DP(2))
    assert rb.best(question(4), rb.DP(1, "1e-6")).name == "ordered-bins"
    assert rb.best(question(4), rb.DP(1, "0.1")).name == "ordered-bins"
    assert rb.best(question(4), rb.DP(1, "0.5")).name == "ordered-bins"  # nearer, with any δ
    assert rb.best(question(4), rb.GaussianDP(1)).name == "exponential"
    with pytest.raises(rb.InvalidGuarantee, match="need an"):
        ordered(question(4), rb.GaussianDP(1))


def test_by_margin_holds_the_least_and_the_most() -> None:
    asked = question(4)
    mechanism = rb.best(asked, rb.DP(1))
    seen: dict[int, list[float]] = {}
    for counts in tables(4, 9):
        table = dict(zip(asked.answers, counts, strict=True))
        margins = sorted(asked.margins(table).items(), key=lambda pair: pair[1])
        seen.setdefault(margins[1][1], []).append(mechanism[table][margins[0][0]])
    for margin, least, most in mechanism.by_margin(sorted(seen)):
        assert least <= min(seen[margin]) + 1e-12
        assert max(seen[margin]) <= most + 1e-12


def test_a_file_proves_itself_again(tmp_path: Path) -> None:
    asked = question(4)
    counts = {"< 1": 3, "[1, 2)": 5}
    made = rb.best(asked, rb.DP("0.7"))
    made.save(str(tmp_path / "quantile.json"))
    loaded = rb.load(tmp_path / "quantile.json")
    assert loaded == made.exact()
    assert loaded[counts] == made.exact()[counts]
    assert loaded.release(counts) in asked.answers


def test_it_answers_quantiles_alone() -> None:
    rule = ordered_weights(3, rb.DP(1))
    for asked in (
        rb.Winner(["a", "b", "c"]),
        question(3, rows_per_person=2),
    ):
        with pytest.raises(rb.InvalidMechanism, match="must be of a quantile"):
            ExactMechanism(
                rb.DP(1), asked.answers, rule, neighbors="substituted", question=asked.describe()
            )


@pytest.mark.parametrize(
    "place",
    [(0,), [0, 1], (1, 0), (0, 1.0), (0.0, 1), (0, True), (False, 1), {"a": 0}, None],
)
def test_a_wrong_place_has_no_row(place: object) -> None:
    with pytest.raises(NoPlace):
        ordered_weights(3, rb.DP(1)).weights(place, ("a", "b", "c"))


def test_floats_are_the_rows_of_all_leads_also_beyond_the_last_weight() -> None:
    rule = OrderedBins(40, (20, 11, 6, 1))
    leads = list(itertools.combinations_with_replacement(range(-7, 7), 3))
    for row, key in zip(rule.rows_at_leads(np.array(leads)), leads, strict=True):
        weights = rule.weights(key, "abcd")
        assert row == pytest.approx([weight / sum(weights) for weight in weights], rel=1e-12)


@pytest.mark.parametrize("bins", [2, 3, 4])
def test_chances_are_the_least_and_the_most_over_all_leads(bins: int) -> None:
    """Up to the last weight, which is next to nothing."""
    rule = OrderedBins(2 * 8**9, tuple(8**place for place in range(9, -1, -1)))
    leads = list(itertools.combinations_with_replacement(range(-13, 13), bins - 1))
    found: dict[int, list[float]] = {}
    for row, place in zip(rule.rows_at_leads(np.array(leads)), leads, strict=True):
        margin = min(lead + 1 if lead >= 0 else -lead for lead in place)
        found.setdefault(margin, []).append(row[sum(lead < 0 for lead in place)])
    for margin in range(1, 6):
        said = rule.chances(question(bins), margin)
        assert said == pytest.approx((min(found[margin]), max(found[margin])), rel=1e-8)


def test_a_far_bin_has_at_most_what_one_of_two_has() -> None:
    rule = OrderedBins(40, (20, 11, 6, 1))
    for short in range(6):
        rows = [rule.rows_at_leads(np.array([[lead]]))[0] for lead in range(short, short + 9)]
        alone = max(row[1] for row in rows)
        for bins in (2, 3, 5):
            assert rule.far_alone(question(bins), short) == pytest.approx(alone)
            assert rule.far(question(bins), short) == pytest.approx((bins - 1) * alone)
