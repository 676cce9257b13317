"""Questions answered in integers: every pair of neighboring tables, over all sets of answers."""

from __future__ import annotations

import functools
import inspect
import secrets
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from scipy import stats

import rainbowdp as rb
import reference
from kinds import exponential, homogeneous, margin_flip
from kinds import permute_and_flip as flip
from rainbowdp.answering.best import best
from rainbowdp.answering.mechanism import QuestionMechanism
from rainbowdp.answering.worlds import proximity
from rainbowdp.exact.steps import BITS
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.questions import Between, Question, limited
from rainbowdp.rules import family
from rainbowdp.rules.homogeneous.rule import OneLadder
from reference import Point

TOTAL = 1 << BITS
Histogram: TypeAlias = tuple[int, ...]
Step: TypeAlias = Callable[[Histogram], set[Histogram]]

POLYGON = rb.TradeOff([(0, 1), ("1/10", "6/10"), ("1/3", "1/3"), ("6/10", "1/10"), (1, 0)])
GUARANTEES: dict[str, TradeOffCurve] = {
    "ratio 3/2": rb.DP.from_ratio(3, 2),
    "ratio 3": rb.DP.from_ratio(3),
    "ratio 5/2, delta 1/50": rb.DP.from_ratio(5, 2, delta="1/50"),
    "epsilon 1": rb.DP(1),
    "epsilon 0.3, delta 1e-3": rb.DP("0.3", "1e-3"),
    "epsilon 0, delta 1/20": rb.DP(0, "1/20"),
    "mu 1": rb.GaussianDP(1),
    "polygon": POLYGON,
}


def lines_of(guarantee: TradeOffCurve) -> list[Point]:
    """Lines that rows must keep; for a decimal ε with a fraction just below e^ε."""
    if isinstance(guarantee, rb.TradeOff):
        return reference.polygon_lines(guarantee.knots)
    assert isinstance(guarantee, rb.DP)
    ratio = guarantee.exact_ratio
    if ratio is None:
        assert guarantee.exact_epsilon is not None
        ratio, _ = reference.exp_between(guarantee.exact_epsilon)
    return [(ratio, guarantee.exact_delta)]


@functools.cache
def close(p: Histogram, q: Histogram, guarantee: TradeOffCurve) -> bool:
    if isinstance(guarantee, rb.GaussianDP):
        return reference.gaussian_close(p, q, guarantee.exact_mu, 40)
    return reference.integer_excess(p, q, lines_of(guarantee)) == 0


def several(step: Step, times: int) -> Step:
    """Up to so many steps."""

    def walk(counts: Histogram) -> set[Histogram]:
        found = {counts}
        for _ in range(times):
            found |= set().union(*(step(one) for one in found))
        return found - {counts}

    return walk


def on_one_total(p: Histogram, q: Histogram) -> tuple[Histogram, Histogram]:
    """The same proportions with one total: rows are drawn from whatever total each has."""
    one, other = sum(p), sum(q)
    return tuple(a * other for a in p), tuple(b * one for b in q)


def assert_all_neighbors_are_close(
    mechanism: QuestionMechanism, tables: Iterable[Histogram], step: Step
) -> None:
    """``tables`` are counts of the groups, then of the records in no group."""
    names = [name for name, _ in mechanism.question.groups]
    exact = mechanism.exact()
    known = set(tables)

    def row(counts: Histogram) -> Histogram:
        weights = exact.at(dict(zip(names, counts, strict=False))).weights
        assert all(type(weight) is int and weight >= 0 for weight in weights)
        assert sum(weights) == TOTAL or mechanism.name not in ("homogeneous", "proximity")
        return weights

    rows = {counts: row(counts) for counts in known}
    pairs = 0
    for counts, one in rows.items():
        for other in step(counts) & known:
            pairs += 1
            both = on_one_total(one, rows[other])
            assert close(*both, mechanism.guarantee), (counts, other)
    assert pairs >= len(known) - 1 > 0


def tables(question: Question, most: int) -> list[list[Histogram]]:
    """Histograms to look at together: of one size, or of every size up to ``most``."""
    groups = len(question.groups)
    if question.neighbors == "substituted":
        return [reference.histograms(groups + 1, size) for size in range(1, most + 1)]
    return [
        [(*counts, 0) for size in range(most + 1) for counts in reference.histograms(groups, size)]
    ]


def step_of(question: Question) -> Step:
    substituted = question.neighbors == "substituted"
    return reference.one_substituted if substituted else reference.one_added_or_removed


QUESTIONS: list[tuple[Question, int]] = [
    (rb.Winner(["a", "b", "c"]), 7),
    (rb.Winner(["a", "b", "c"], neighbors="added or removed"), 4),
    (rb.Threshold(3), 7),
    (rb.Threshold(3, neighbors="added or removed"), 7),
    (rb.Quantile("1/2", [0, 1, 2, 3]), 6),
    (rb.Quantile("9/10", [0, 1, 2, 3], neighbors="added or removed"), 5),
]


def mechanisms(question: Question, guarantee: TradeOffCurve) -> list[QuestionMechanism]:
    found = [best(question, guarantee), homogeneous(question, guarantee)]
    if isinstance(guarantee, rb.DP) and guarantee.ratio > len(question.answers) - 1:
        found.append(proximity(question, guarantee))
    if isinstance(guarantee, rb.DP) and guarantee.ratio > 1 and isinstance(question, rb.Winner):
        found.append(flip(question, guarantee))
    if isinstance(guarantee, rb.DP) and guarantee.ratio > 1:
        found.append(margin_flip(question, guarantee))
    if isinstance(guarantee, rb.GaussianDP):
        found.append(exponential(question, guarantee))
    return [made for place, made in enumerate(found) if made not in found[:place]]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=[] if name in ("ratio 3", "epsilon 1", "polygon") else [pytest.mark.slow]
        )
        for name in GUARANTEES
    ],
)
@pytest.mark.parametrize(("question", "most"), QUESTIONS, ids=lambda q: type(q).__name__)
def test_every_two_neighboring_tables_are_exactly_close(
    question: Question, most: int, name: str
) -> None:
    promise = GUARANTEES[name]
    largest = min(most, 5) if isinstance(promise, rb.GaussianDP) else most
    for mechanism in mechanisms(question, promise):
        for together in tables(question, largest):
            assert_all_neighbors_are_close(mechanism, together, step_of(question))


@pytest.mark.parametrize("records", [2, 3])
@pytest.mark.parametrize(
    ("question", "most"),
    [
        (rb.Winner(["a", "b", "c"]), 5),
        (rb.Winner(["a", "b", "c"], neighbors="added or removed"), 4),
        (rb.Threshold(4), 7),
        (rb.Quantile("1/2", [0, 1, 2, 3]), 5),
    ],
    ids=lambda q: type(q).__name__,
)
@pytest.mark.slow
def test_all_records_of_one_person_together_are_exactly_close(
    question: Any, most: int, records: int
) -> None:
    shared = limited(question, records)
    step = several(step_of(question), records)
    for ratio in (Fraction(3, 2), Fraction(3)):
        for mechanism in mechanisms(shared, rb.DP.from_ratio(ratio)):
            for together in tables(shared, most):
                assert_all_neighbors_are_close(mechanism, together, step)


@pytest.mark.parametrize("ratio", [Fraction(3, 2), Fraction(3)])
def test_one_record_too_many_is_noticed(ratio: Fraction) -> None:
    """The same check fails where two records change and one was promised."""
    mechanism = best(rb.Winner(["a", "b", "c"]), rb.DP.from_ratio(ratio))
    with pytest.raises(AssertionError):
        assert_all_neighbors_are_close(
            mechanism, reference.histograms(4, 5), several(reference.one_substituted, 2)
        )


@pytest.mark.parametrize("ratio", [Fraction(3, 2), Fraction(4)])
def test_a_custom_question_is_exactly_close(ratio: Fraction) -> None:
    def margins(counts: Any) -> dict[str, int]:
        n = counts["n"]
        return {"low": max(0, n - 2), "mid": max(0, 3 - n, n - 5), "high": max(0, 6 - n)}

    question = rb.Custom(
        ["low", "mid", "high"],
        margins,
        neighbors="added or removed",
        name="three levels",
        groups=[("n", Between(0, None))],
    )
    every = [(n, 0) for n in range(12)]
    step: Step = lambda counts: {(counts[0] - 1, 0), (counts[0] + 1, 0)}  # noqa: E731
    for mechanism in mechanisms(question, rb.DP.from_ratio(ratio)):
        assert_all_neighbors_are_close(mechanism, every, step)


# a boundary of one's own


def test_a_boundary_row_is_where_the_ladder_starts() -> None:
    mechanism = rb.optimal(rb.Winner(["a", "b", "c"]), rb.DP.from_ratio(2), ["0.45", "0.25", "0.3"])
    assert mechanism.name == "homogeneous"
    assert mechanism.exact().mixing == 0
    got = mechanism.exact()[{"b": 1}]
    assert {answer: round(float(p), 12) for answer, p in got.items()} == {
        "b": 0.45,
        "c": 0.3,
        "a": 0.25,
    }
    for together in tables(mechanism.question, 5):
        assert_all_neighbors_are_close(mechanism, together, reference.one_substituted)


def test_a_boundary_row_that_is_not_private_is_refused() -> None:
    mechanism = rb.optimal(rb.Winner(["a", "b", "c"]), rb.DP.from_ratio(2), ["0.6", "0.2", "0.2"])
    with pytest.raises(rb.InvalidBoundary):
        mechanism.release({"a": 100})
    with pytest.raises(rb.InvalidDistribution):
        rb.optimal(rb.Winner(["a", "b", "c"]), rb.DP(1), ["0.6", "0.4"])


# two answers: no better worst case


def two_answers(
    question: Question, most: int
) -> tuple[list[Histogram], list[tuple[int, int]], list[int]]:
    """The histogram graph of a question with two answers."""
    together = tables(question, most)[-1]
    place = {counts: number for number, counts in enumerate(together)}
    names = [name for name, _ in question.groups]
    step = step_of(question)
    edges = {
        (min(place[c], place[o]), max(place[c], place[o]))
        for c in together
        for o in step(c) & place.keys()
    }
    truths = [
        list(question.margins(dict(zip(names, counts, strict=False))).values()).index(0)
        for counts in together
    ]
    return together, sorted(edges), truths


@pytest.mark.parametrize(
    ("question", "most"),
    [
        (rb.Winner(["a", "b"]), 4),
        (rb.Winner(["a", "b"], neighbors="added or removed"), 4),
        (rb.Threshold(3), 6),
        (rb.Threshold(2, neighbors="added or removed"), 7),
        (rb.Quantile("1/2", [0, 1, 2]), 5),
    ],
    ids=lambda q: type(q).__name__,
)
@pytest.mark.parametrize(
    ("ratio", "delta"), [("11/10", "0"), ("2", "0"), ("4", "1/10"), ("3/2", "1/1000")]
)
def test_with_two_answers_no_mechanism_has_a_better_worst_case(
    question: Question, most: int, ratio: str, delta: str
) -> None:
    """Of all mechanisms with the best worst case, none gives any table its truth more often."""
    slope, rise = Fraction(ratio), Fraction(delta)
    mechanism = best(question, rb.DP.from_ratio(slope, delta=rise))
    together, edges, truths = two_answers(question, most)
    assert {0, 1} == set(truths)
    names = [name for name, _ in question.groups]
    ours = []
    for counts, truth in zip(together, truths, strict=True):
        row = mechanism[dict(zip(names, counts, strict=False))]
        ours.append(row[question.answers[truth]])
    worst = float((slope + rise) / (slope + 1))
    assert min(ours) == pytest.approx(worst, abs=1e-12)
    goals: list[list[float]] = np.eye(len(truths)).tolist()
    theirs = reference.best_truths(edges, truths, slope, rise, worst - 1e-12, goals)
    assert ours == pytest.approx(theirs, abs=1e-9)
    with pytest.raises(AssertionError):  # infeasible
        reference.best_truths(edges, truths, slope, rise, worst + 1e-6, goals[:1])


@pytest.mark.parametrize("records", [1, 3, 5, 7])
@pytest.mark.parametrize("ratio", ["11/10", "2", "5"])
def test_with_two_like_sides_no_mechanism_has_a_better_mean(records: int, ratio: str) -> None:
    slope, rise = Fraction(ratio), Fraction(1, 100)
    mechanism = best(rb.Winner(["a", "b"]), rb.DP.from_ratio(slope, delta=rise))
    truths = [0 if 2 * a > records else 1 for a in range(records + 1)]
    edges = [(a, a + 1) for a in range(records)]
    ours = sum(mechanism[{"a": a, "b": records - a}]["ab"[truth]] for a, truth in enumerate(truths))
    (theirs,) = reference.best_truths(edges, truths, slope, rise, 0.0, [[1.0] * len(truths)])
    assert ours == pytest.approx(theirs, abs=1e-9)


# which mechanism


@pytest.mark.parametrize(
    ("answers", "guarantee", "name"),
    [
        (2, rb.DP(1), "homogeneous"),
        (2, rb.DP(9), "homogeneous"),
        pytest.param(3, rb.DP("0.05"), "margin-table", marks=pytest.mark.slow),
        (3, rb.DP("0.7"), "margin-table"),
        pytest.param(3, rb.DP.from_ratio(2), "margin-table", marks=pytest.mark.slow),
        (3, rb.DP("1.1", "0.1"), "margin-table"),
        (3, rb.DP("0.009"), "permute-and-flip"),
        pytest.param(3, rb.DP("0.009", "1e-6"), "permute-and-flip", marks=pytest.mark.slow),
        (3, rb.DP("0.009", "0.2"), "noisy-counts"),
        (3, rb.DP("4.5"), "proximity"),
        (7, rb.DP(1), "crowd-table"),
        pytest.param(7, rb.DP(1, "0.01"), "crowd-table", marks=pytest.mark.slow),
        (11, rb.DP(1), "permute-and-flip"),
        (7, rb.DP(1, "0.3"), "noisy-counts"),
        (7, rb.ZeroConcentrated("1/8"), "exponential"),
        (7, rb.DP(3), "proximity"),
        (3, POLYGON, "homogeneous"),
    ],
)
def test_the_choice_depends_on_the_question_and_the_guarantee_alone(
    answers: int, guarantee: TradeOffCurve, name: str
) -> None:
    assert list(inspect.signature(best).parameters) == [
        "question",
        "guarantee",
        "records",
        "utility",
        "weights",
        "forbid",
    ]
    chosen = best(rb.Winner(list("abcdefghijkl"[:answers])), guarantee)
    assert (chosen.name, chosen.family.options()) == (name, {})
    other = best(rb.Winner(list("opqrstuvwxyz"[:answers]), neighbors="added or removed"), guarantee)
    assert other.name == name
    before = chosen.exact()
    for table in ({"a": 10**9}, {"b": 3}, {}):
        chosen.release(table)
    assert chosen.exact() is before
    assert before.name == name


def test_noise_is_for_votes_whose_records_are_substituted() -> None:
    names = list("abcdefghijkl")
    assert best(rb.Winner(names), rb.GaussianDP(1)).name == "noisy-counts"
    come_and_go = rb.Winner(names, neighbors="added or removed")
    assert best(come_and_go, rb.GaussianDP(1)).name == "exponential"


def test_the_data_is_read_after_the_rows_are_made() -> None:
    """Rows are made without a table; a table only points at one of them."""
    mechanism = homogeneous(rb.Winner(["a", "b", "c"]), rb.DP("0.5"))
    rule = mechanism.exact().rule
    assert isinstance(rule, OneLadder)
    rows = {row for a, b in rule.ladder for row in ((a, b, b), (b, a, b), (b, b, a))}
    for counts in reference.histograms(3, 6):
        table = dict(zip("abc", counts, strict=True))
        assert mechanism.exact().at(table).weights in rows


@pytest.mark.parametrize("make", [best, homogeneous, QuestionMechanism])
def test_epsilon_zero_is_refused(make: Any) -> None:
    extra = (family("homogeneous"),) if make is QuestionMechanism else ()
    for guarantee in (rb.DP(0), rb.DP.from_ratio(1)):
        with pytest.raises(rb.InvalidGuarantee) as caught:
            make(rb.Winner(["a", "b"]), guarantee, *extra)
        reference.assert_one_sentence(caught.value, "epsilon=0")
    assert make(rb.Winner(["a", "b"]), rb.DP(0, "0.1"), *extra).release({"a": 10**6}) == "a"


@pytest.mark.parametrize("epsilon", ["1e-20", "1e-60"])
def test_no_float_decides_that_epsilon_is_zero(epsilon: str) -> None:
    """A float cannot tell e^1e-20 from 1, yet such an ε is not 0: it is refused for what it is."""
    with pytest.raises(rb.InvalidGuarantee, match=f"{epsilon}-DP is too little for an answer"):
        best(rb.Winner(["a", "b"]), rb.DP(epsilon))


@pytest.mark.parametrize("guarantee", [rb.GaussianDP(0), rb.TradeOff([(0, 1), (1, 0)])])
@pytest.mark.parametrize("answers", [2, 3])
def test_a_guarantee_that_lets_nothing_out_is_refused_or_uniform(
    guarantee: TradeOffCurve, answers: int
) -> None:
    """However ε = 0 is written, the rows are equal or there are none."""
    try:
        exact = best(rb.Winner(list("abc"[:answers])), guarantee).exact()
    except rb.RainbowError:
        return
    assert exact.at({"a": 5}).weights == exact.at({"b": 5}).weights


def test_proximity_is_refused_at_once_where_it_does_not_hold() -> None:
    with pytest.raises(rb.InvalidGuarantee):
        proximity(rb.Winner(["a", "b", "c"]), rb.DP("0.69"))
    with pytest.raises(rb.InvalidGuarantee):
        proximity(rb.Winner(["a", "b", "c"]), rb.GaussianDP(3))


# reading a mechanism


@pytest.mark.parametrize("ratio", [Fraction(3, 2), Fraction(3)])
def test_the_truth_by_margin_is_what_the_rows_say(ratio: Fraction) -> None:
    question = rb.Winner(["a", "b", "c"])
    mechanism = best(question, rb.DP.from_ratio(ratio))
    found = mechanism.by_margin([1, 2, 3, 10**20])
    assert [margin for margin, _, _ in found] == [1, 2, 3, 10**20]
    for counts in reference.histograms(3, 12):
        table = dict(zip("abc", counts, strict=True))
        margins = question.margins(table)
        truth = min(margins, key=lambda answer: margins[answer])
        nearest = sorted(margins.values())[1]
        if nearest <= 3:
            _, least, most = found[nearest - 1]
            assert least - 1e-15 <= mechanism[table][truth] <= most + 1e-15
    assert found[3][1] == pytest.approx(1)


@pytest.mark.parametrize("ratio", [Fraction(3, 2), Fraction(3)])
@pytest.mark.parametrize("margin", [0, -1])
def test_a_margin_below_one_has_no_row(ratio: Fraction, margin: int) -> None:
    mechanism = best(rb.Winner(["a", "b", "c"]), rb.DP.from_ratio(ratio))
    with pytest.raises(rb.RainbowError):
        mechanism.by_margin([margin])


def test_probabilities_are_floats_likeliest_first() -> None:
    mechanism = best(rb.Winner(["a", "b", "c"]), rb.DP(2))
    row = mechanism[{"b": 9, "c": 8}]
    assert list(row) == ["b", "c", "a"]
    assert sum(row.values()) == pytest.approx(1)
    assert mechanism.check() == mechanism.proof == mechanism.exact().proof


def test_counts_and_tables_are_the_same_dataset(tmp_path: Path) -> None:
    mechanism = best(rb.Winner(["a", "b"], "choice"), rb.DP(1))
    table = tmp_path / "table.csv"
    table.write_text("choice\n" + "a\n" * 5 + "b\n" * 2 + "other\n")
    assert mechanism.counts(table) == {"a": 5, "b": 2}
    assert mechanism[table] == mechanism[{"a": 5, "b": 2}]
    with pytest.raises(rb.InvalidQuestion):
        mechanism.release({"a": 5, "other": 1})
    for wrong in ({"a": -1}, {"a": 1.5}, {"a": True}):
        with pytest.raises(rb.InvalidQuestion):
            mechanism.release(wrong)


# release and sample


def test_a_sample_is_no_release(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = best(rb.Winner(["a", "b"]), rb.DP(1))
    first = mechanism.sample({"a": 3}, 50, seed=7)
    assert first == mechanism.sample({"a": 3}, 50, seed=7)
    assert first != mechanism.sample({"a": 3}, 50, seed=8)
    assert len(first) == 50
    assert set(first) == {"a", "b"}

    def refuse(total: int) -> int:
        raise AssertionError(total)

    monkeypatch.setattr(secrets, "randbelow", refuse)
    assert len(mechanism.sample({"a": 3}, 5)) == 5  # never touches what a release draws from
    with pytest.raises(AssertionError):
        mechanism.release({"a": 3})


def test_a_release_does_not_use_the_generators_of_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = best(rb.Winner(["a", "b"]), rb.DP(1))

    def refuse(*_: object, **__: object) -> Any:
        raise AssertionError

    monkeypatch.setattr(np.random, "default_rng", refuse)
    assert mechanism.release({"a": 3}) in {"a", "b"}
    with pytest.raises(AssertionError):
        mechanism.sample({"a": 3}, 1)


def no_more_than(hits: int, draws: int) -> float:
    """A lower bound on the probability, wrong with a probability of 1e-11 (Clopper–Pearson)."""
    return 0.0 if hits == 0 else float(stats.beta.ppf(1e-11, hits, draws - hits + 1))


def no_less_than(hits: int, draws: int) -> float:
    return 1.0 if hits == draws else float(stats.beta.ppf(1 - 1e-11, hits + 1, draws - hits))


@pytest.mark.parametrize(
    ("guarantee", "one", "other"),
    [
        (rb.DP(1), {"a": 3, "b": 2, "c": 1}, {"a": 2, "b": 3, "c": 1}),
        pytest.param(
            rb.DP("0.5"),
            {"a": 3, "b": 2, "c": 1},
            {"a": 2, "b": 3, "c": 1},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            rb.DP("0.5", "0.01"),
            {"a": 6, "b": 2, "c": 1},
            {"a": 5, "b": 2, "c": 2},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_drawn_answers_of_neighbors_keep_the_promise(
    guarantee: rb.DP, one: dict[str, int], other: dict[str, int]
) -> None:
    draws = 150_000
    mechanism = best(rb.Winner(["a", "b", "c"]), guarantee)
    rows = [mechanism.exact().at(table) for table in (one, other)]
    p, q = (Counter(row.draw() for _ in range(draws)) for row in rows)
    sharpest = 0.0
    for chosen in reference.every_set(3):
        names = ["abc"[i] for i in chosen]
        for more, less in ((p, q), (q, p)):
            low = no_more_than(sum(more[a] for a in names), draws)
            high = no_less_than(sum(less[a] for a in names), draws)
            assert low <= guarantee.ratio * high + guarantee.delta
            sharpest = max(sharpest, (low - guarantee.delta) / high)
    if guarantee.delta == 0:  # the promise is not only kept but used
        assert sharpest > 0.78 * guarantee.ratio
    for row, drawn in zip(rows, (p, q), strict=True):
        for answer, probability in row.probabilities.items():
            assert no_more_than(drawn[answer], draws) <= probability
            assert probability <= no_less_than(drawn[answer], draws)
