"""Baselines keep what they say, and are what the libraries of others do."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import opendp.prelude as opendp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import rainbowdp as rb
import strategies
from rainbowdp import paper
from rainbowdp.baselines import (
    Baseline,
    exponential,
    inverse_sensitivity,
    permute_and_flip,
    printed_operator,
    propose_test_release,
    randomized_response,
    report_noisy_max,
)
from rainbowdp.questions import Question
from rainbowdp.questions.histograms import histograms, neighboring, up_to

FALSE_ALARM = 1e-9
Maker = Callable[[Any, Any], Baseline]
PURE: tuple[Maker, ...] = (exponential, permute_and_flip, inverse_sensitivity)
ALL: tuple[Maker, ...] = (*PURE, randomized_response, propose_test_release)
RELATIONS: tuple[str, ...] = ("substituted", "added or removed")


def winner(answers: int, neighbors: str = "substituted", rows: int = 1) -> rb.Winner:
    return rb.Winner(list("abcdefghijkl"[:answers]), neighbors=neighbors, rows_per_person=rows)


def questions(neighbors: str) -> Iterator[tuple[Question, int]]:
    """Questions with a number of records whose histograms are few."""
    yield winner(2, neighbors), 12
    yield winner(3, neighbors), 8
    yield winner(4, neighbors), 5
    yield winner(3, neighbors, rows=2), 7
    yield rb.Threshold(4, neighbors=neighbors), 12
    yield rb.Quantile("1/3", [0, 1, 2, 3], neighbors=neighbors), 7
    yield rb.Quantile("1/2", [0, 1, 2, 3, 4], neighbors=neighbors, rows_per_person=3), 6


@pytest.mark.parametrize("maker", ALL, ids=lambda maker: maker.__name__)
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("epsilon", ["0.3", "1", "2.5"])
def test_keeps_what_it_says_on_every_small_histogram(
    maker: Maker, neighbors: str, epsilon: str
) -> None:
    for question, records in questions(neighbors):
        promise = rb.DP(epsilon, "0.05")
        baseline = maker(question, promise)
        check = baseline.check(records=records)
        assert check, f"{question}: {check}"
        assert check.pairs > 10
        assert baseline.keeps == (rb.DP(epsilon) if maker in PURE else promise)


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("maker", [exponential, permute_and_flip, randomized_response])
def test_the_privacy_is_tight_and_a_check_can_fail(maker: Maker, neighbors: str) -> None:
    check = maker(winner(3, neighbors), rb.DP(1)).check(rb.DP("0.97"), records=14)
    assert not check
    assert check.excess > 0
    assert check.neighbors is not None
    one, other = (Counter[str](counts) for counts in check.neighbors)
    changed = (one - other).total(), (other - one).total()
    assert max(changed) == 1
    assert sum(changed) == 1 or neighbors == "substituted"


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_double_the_rate_would_break_it(neighbors: str) -> None:
    for maker in (exponential, permute_and_flip):
        assert not maker(winner(3, neighbors), rb.DP(2)).check(rb.DP("1.5"), records=10)


def test_propose_test_release_is_tight_in_delta() -> None:
    baseline = propose_test_release(winner(2), rb.DP(1, "0.05"))
    assert baseline.check(records=30)
    assert not baseline.check(rb.DP(1, "0.049"), records=30)
    assert not baseline.check(rb.DP("0.7", "0.05"), records=30)


def every_set(size: int) -> Iterator[tuple[int, ...]]:
    for length in range(1, size + 1):
        yield from itertools.combinations(range(size), length)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_the_check_agrees_with_brute_force(neighbors: str) -> None:
    question, records, promise = winner(3, neighbors), 5, rb.DP("0.5", "0.01")
    baseline = exponential(question, rb.DP(1))
    tables = [t for t in itertools.product(range(records + 1), repeat=3) if sum(t) <= records]
    worst, pairs = 0.0, 0
    for one, other in itertools.combinations(tables, 2):
        more = [max(0, a - b) for a, b in zip(one, other, strict=True)]
        less = [max(0, b - a) for a, b in zip(one, other, strict=True)]
        limit = 1 if neighbors == "added or removed" else 2
        if sum(more) > 1 or sum(less) > 1 or sum(more) + sum(less) > limit:
            continue
        pairs += 1
        rows = [
            [baseline[dict(zip("abc", t, strict=True))][a] for a in "abc"] for t in (one, other)
        ]
        for p, q in (rows, rows[::-1]):
            for chosen in every_set(3):
                excess = sum(p[i] for i in chosen) - promise.ratio * sum(q[i] for i in chosen)
                worst = max(worst, excess - promise.delta)
    check = baseline.check(promise, records=records)
    assert check.pairs == pairs
    assert check.excess == pytest.approx(worst, rel=1e-9)
    assert worst > 0


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_histograms_and_their_neighbors_are_all_there(neighbors: str, rows: int) -> None:
    question, records = winner(3, neighbors, rows), 4
    listed = [tuple(row) for row in up_to(question, records).tolist()]
    whole = [t for t in itertools.product(range(records + 1), repeat=3) if sum(t) <= records]
    assert listed == sorted(whole)
    exact = [tuple(row) for row in histograms(question, records).tolist()]
    assert exact == [t for t in sorted(whole) if sum(t) == records]
    found = {
        frozenset((listed[a], listed[b]))
        for first, second in neighboring(question, records)
        for a, b in zip(first.tolist(), second.tolist(), strict=True)
    }
    steps = nx.Graph()  # with uncounted records a substitution is a move in a simplex
    steps.add_nodes_from(whole)
    for one, other in itertools.combinations(whole, 2):
        change = [a - b for a, b in zip(one, other, strict=True)]
        gain, loss = sum(max(0, c) for c in change), sum(max(0, -c) for c in change)
        if neighbors == "substituted":
            near = max(gain, loss) <= rows
        else:
            near = min(gain, loss) == 0 and gain + loss <= rows
        if near:
            steps.add_edge(one, other)
    assert found == {frozenset(edge) for edge in steps.edges}
    assert sum(len(first) for first, _ in neighboring(question, records)) == len(found)


def flips(scores: Sequence[int], rate: Fraction) -> list[Fraction]:
    """Permute-and-flip by inclusion and exclusion in fractions; e^{−c} is ``rate``."""
    chances = [rate ** (max(scores) - s) for s in scores]
    found = []
    for v, own in enumerate(chances):
        others = [x for i, x in enumerate(chances) if i != v]
        sums = [Fraction(1)] + [Fraction(0)] * len(others)  # elementary symmetric polynomials
        for x in others:
            for k in range(len(others), 0, -1):
                sums[k] += x * sums[k - 1]
        found.append(own * sum((-1) ** k * e / (k + 1) for k, e in enumerate(sums)))
    return found


@given(st.lists(st.integers(0, 40), min_size=2, max_size=12), st.integers(2, 9))
def test_permute_and_flip_is_right_to_a_few_ulps(scores: list[int], base: int) -> None:
    names = list("abcdefghijkl"[: len(scores)])
    question = rb.Winner(names, neighbors="added or removed")
    row = permute_and_flip(question, rb.DP.from_ratio(base))[dict(zip(names, scores, strict=True))]
    due = flips(scores, Fraction(1, base))
    assert sum(due) == 1
    for answer, exact in zip(names, due, strict=True):
        assert row[answer] == pytest.approx(float(exact), rel=1e-12)


@given(st.lists(st.integers(0, 30), min_size=2, max_size=8), st.floats(0.05, 3))
def test_permute_and_flip_is_never_worse_than_the_exponential_mechanism(
    scores: list[int], epsilon: float
) -> None:
    names = list("abcdefgh"[: len(scores)])
    counts = dict(zip(names, scores, strict=True))
    one, other = (
        sum(p * counts[a] for a, p in maker(rb.Winner(names), rb.DP(epsilon))[counts].items())
        for maker in (permute_and_flip, exponential)
    )
    assert one >= other - 1e-9


def unlikely(draws: Sequence[Any], row: dict[Any, float]) -> bool:
    """Whether a chi-square test finds the draws not to be from ``row``, at one in a billion."""
    seen, size = Counter(draws), len(draws)
    common = [a for a, p in row.items() if p * size >= 5]
    rest = 1 - sum(row[a] for a in common)
    cells = [(seen[a], row[a] * size) for a in common]
    if rest * size > 1e-6:
        cells.append((size - sum(seen[a] for a in common), max(rest * size, 5.0)))
    statistic = sum((count - due) ** 2 / due for count, due in cells)
    return bool(chi2.sf(statistic, len(cells) - 1) < FALSE_ALARM)


COUNTS = {"a": 6, "b": 5, "c": 3, "d": 5}


def wrong(row: dict[Any, float]) -> dict[Any, float]:
    """The law at double the rate, which a test must tell apart."""
    total = sum(p**2 for p in row.values())
    return {a: p**2 / total for a, p in row.items()}


@pytest.mark.parametrize("noise", ["exponential", "gumbel"])
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_noisy_max_is_what_noise_does(neighbors: str, noise: Any) -> None:
    rate = 0.5 if neighbors == "substituted" else 1.0
    row = report_noisy_max(winner(4, neighbors), rb.DP(1), noise)[COUNTS]
    rng = np.random.default_rng(11)
    draw = rng.exponential if noise == "exponential" else lambda s, n: rng.gumbel(0, s, n)
    noisy = draw(1 / rate, (200_000, 4)) + np.array(list(COUNTS.values()))
    drawn = [list(COUNTS)[i] for i in noisy.argmax(axis=1)]
    assert not unlikely(drawn, row)
    assert unlikely(drawn, wrong(row))
    same = {"exponential": permute_and_flip, "gumbel": exponential}[noise]
    assert row == same(winner(4, neighbors), rb.DP(1))[COUNTS]


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize(
    "maker", [permute_and_flip, pytest.param(exponential, marks=pytest.mark.slow)]
)
def test_opendp_draws_the_same(neighbors: str, maker: Maker) -> None:
    opendp.enable_features("contrib")
    monotonic = neighbors == "added or removed"
    domain = opendp.vector_domain(opendp.atom_domain(T=int))
    metric = opendp.linf_distance(T=int, monotonic=monotonic)
    pure = maker is permute_and_flip  # for zCDP OpenDP uses Gumbel noise
    measure = opendp.max_divergence() if pure else opendp.zero_concentrated_divergence()
    scale = 1.0 if monotonic else 2.0
    measurement: Any = opendp.m.make_noisy_max(domain, metric, measure, scale)
    promised = 1.0 if pure else 1 / 8  # ε for exponential noise, ε²/8 of bounded range for Gumbel
    assert measurement.map(1) == pytest.approx(promised)
    row = maker(winner(4, neighbors), rb.DP(1))[COUNTS]
    drawn = ["abcd"[measurement(list(COUNTS.values()))] for _ in range(5000)]
    assert not unlikely(drawn, row)
    assert unlikely(drawn, wrong(row))


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("maker", [permute_and_flip, exponential])
def test_diffprivlib_draws_the_same(neighbors: str, maker: Maker) -> None:
    from diffprivlib import mechanisms  # type: ignore[import-untyped, unused-ignore]

    kind = mechanisms.PermuteAndFlip if maker is permute_and_flip else mechanisms.Exponential
    theirs = kind(
        epsilon=1,
        sensitivity=1,
        utility=list(COUNTS.values()),
        monotonic=neighbors == "added or removed",
        candidates=list(COUNTS),
        random_state=random.Random(5).randrange(10**6),
    )
    row = maker(winner(4, neighbors), rb.DP(1))[COUNTS]
    drawn = [theirs.randomise() for _ in range(20_000)]
    assert not unlikely(drawn, row)
    assert unlikely(drawn, wrong(row))


def test_opendp_randomized_response_is_the_same() -> None:
    opendp.enable_features("contrib")
    row = randomized_response(winner(3), rb.DP(1))[{"b": 1}]
    measurement: Any = opendp.m.make_randomized_response(list("abc"), row["b"])
    assert measurement.map(1) == pytest.approx(1.0)
    drawn = [measurement("b") for _ in range(5000)]
    assert not unlikely(drawn, row)
    assert unlikely(drawn, wrong(row))


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("maker", ALL, ids=lambda maker: maker.__name__)
def test_by_margin_is_the_worst_of_all_tables(maker: Maker, neighbors: str) -> None:
    for question, records in (
        (winner(3, neighbors), 12),
        (winner(3, neighbors, rows=2), 12),
        (rb.Quantile("1/2", [0, 1, 2, 3], neighbors=neighbors), 10),
        (rb.Threshold(7, neighbors=neighbors), 14),
    ):
        baseline = maker(question, rb.DP(1, "0.05"))
        groups = [name for name, _ in question.groups]
        seen: dict[int, list[float]] = {}
        for row in up_to(question, records).tolist():
            counts = dict(zip(groups, row, strict=True))
            margins = question.margins(counts)
            true = next(a for a, margin in margins.items() if margin == 0)
            nearest = min(margin for margin in margins.values() if margin)
            seen.setdefault(nearest, []).append(baseline[counts][true])
        for margin, least, most in baseline.by_margin([1, 2, 3]):
            assert min(seen[margin]) >= least - 1e-12
            assert max(seen[margin]) <= most + 1e-12
            if isinstance(question, rb.Winner) and maker in (exponential, permute_and_flip):
                assert min(seen[margin]) == pytest.approx(least, rel=1e-12)


@given(st.integers(2, 7), st.floats(0.01, 5), st.data())
@settings(max_examples=50)
def test_inverse_sensitivity_is_private_for_any_margins(
    answers: int, epsilon: float, data: st.DataObject
) -> None:
    lists = st.lists(st.integers(1, 6), min_size=answers, max_size=answers)
    first = data.draw(lists)
    first[data.draw(st.integers(0, answers - 1))] = 0
    second = [max(1, m + data.draw(st.sampled_from((-1, 0, 1)))) for m in first]
    places = [i for i, m in enumerate(first) if m <= 1]
    second[data.draw(st.sampled_from(places))] = 0
    second = [1 if a == 0 and b else b for a, b in zip(first, second, strict=True)]
    question = rb.Custom(
        list("abcdefg"[:answers]),
        lambda margins: dict(zip("abcdefg", margins, strict=False)),
        neighbors="substituted",
        name="any margins",
    )
    baseline = inverse_sensitivity(question, rb.DP(epsilon))
    rows = [[baseline[m][a] for a in "abcdefg"[:answers]] for m in (first, second)]
    assert not rb.DP(epsilon).excess(*rows)


@pytest.mark.parametrize("answers", [2, 3, 6])
def test_inverse_sensitivity_cannot_have_a_larger_rate(answers: int) -> None:
    names = list("abcdef"[:answers])
    question = rb.Custom(
        names,
        lambda margins: dict(zip(names, margins, strict=True)),
        neighbors="substituted",
        name="any margins",
    )
    baseline = inverse_sensitivity(question, rb.DP(1))
    one, other = [0, 40, *[2] * (answers - 2)], [0, 41, *[1] * (answers - 2)]
    assert baseline[one]["b"] / baseline[other]["b"] == pytest.approx(math.e, rel=1e-9)


@given(strategies.graphs(7), st.sampled_from(["0.4", "1.2"]), st.sampled_from(["0.02", "0.3"]))
@settings(max_examples=50)
def test_every_edge_of_a_graph(graph: rb.RainbowGraph, epsilon: str, delta: str) -> None:
    for maker in (*ALL, printed_operator):
        baseline = maker(graph, rb.DP(epsilon, delta))
        assert baseline.check(), maker.__name__
        for dataset in graph.datasets:
            assert sum(baseline[dataset].values()) == pytest.approx(1)
            assert tuple(baseline[dataset]) == graph.rainbow(dataset)


def test_scores_on_a_graph_are_distances() -> None:
    graph = paper.figure_one()
    baseline = exponential(graph, rb.DP(2))
    plain = nx.Graph([(a, b) for a in graph.datasets for b in graph.neighbors(a)])
    for dataset in graph.datasets:
        far = nx.single_source_shortest_path_length(plain, dataset)
        weights = {
            answer: math.exp(-min(far[d] for d in graph.datasets if graph.rainbow(d)[0] == answer))
            for answer in graph.answers
        }
        for answer, weight in weights.items():
            assert baseline[dataset][answer] == pytest.approx(weight / sum(weights.values()))


def test_the_printed_operator_breaks_its_promise_and_keeps_the_true_one() -> None:
    graph = rb.RainbowGraph.line(("a", "b"), 6)
    edge = rb.RainbowGraph(
        [*graph.edge_positions().tolist(), [6, 7]], [("a", "b")] * 7 + [("b", "a")]
    )
    promise = rb.DP.from_ratio(2, delta="0.05")
    baseline = printed_operator(edge, promise)
    assert baseline.keeps == rb.DP.from_ratio(2, delta="0.1")
    assert baseline.check()
    assert not baseline.check(guarantee=promise)
    right = rb.optimal(edge, promise)
    assert baseline[4]["a"] > right[4]["a"]
    assert baseline[6] == pytest.approx(right[6])


def test_a_component_of_one_rainbow_is_certain() -> None:
    graph = rb.RainbowGraph([(0, 1), (2, 3)], [("a", "b"), ("b", "a"), ("a", "b"), ("a", "b")])
    for maker in (*PURE, propose_test_release, printed_operator):
        assert maker(graph, rb.DP(1, "0.1"))[2] == {"a": 1.0, "b": 0.0}


def test_no_privacy_lost_where_nothing_may_be_said() -> None:
    for maker in (*PURE, randomized_response):
        assert maker(winner(4), rb.DP(0))[COUNTS] == pytest.approx(dict.fromkeys("abcd", 0.25))


def test_samples_follow_the_row() -> None:
    baseline = exponential(winner(4), rb.DP(1))
    assert not unlikely(baseline.sample(COUNTS, 20_000, seed=3), baseline[COUNTS])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: exponential(winner(2), rb.GaussianDP(1)), "needs an (ε,δ) guarantee, got 1-GDP"),
        (lambda: exponential("votes.csv", rb.DP(1)), "rainbow graph or a question, got str"),  # type: ignore[arg-type]
        (lambda: propose_test_release(winner(2), rb.DP(1)), "delta strictly between 0 and 1"),
        (lambda: printed_operator(paper.figure_one(), rb.DP(1)), "use rb.optimal"),
        (lambda: printed_operator(winner(2), rb.DP(1, 0.1)), "got a question"),  # type: ignore[arg-type]
        (lambda: report_noisy_max(winner(2), rb.DP(1), "laplace"), "noise must be"),  # type: ignore[arg-type]
        (lambda: exponential(winner(2), rb.DP(1)).check(), "give check a number of records"),
        (
            lambda: exponential(winner(9), rb.DP(1)).check(records=30),
            "more than the limit of 200,000",
        ),
        (
            lambda: exponential(winner(2), rb.DP(1)).check(records=-1),
            "records must be a whole number",
        ),
        (lambda: exponential(paper.figure_one(), rb.DP(1)).by_margin([1]), "ask it for datasets"),
    ],
)
def test_refusals_are_one_sentence(call: Callable[[], object], words: str) -> None:
    with pytest.raises(rb.RainbowError) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
