from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.aliases import Dataset
from rainbowdp.guarantees.curve import TradeOffCurve
from reference import assert_one_sentence, worst_by_lines
from strategies import exact_promises, exact_rows, graphs, table_pairs

YES, NO = ("yes", "no"), ("no", "yes")
PAIR = rb.RainbowGraph([("a", "b")], {"a": YES, "b": NO})
Rows = dict[Dataset, tuple[Fraction, ...]]


def test_from_table_takes_mappings_and_sequences() -> None:
    mechanism = rb.Mechanism.from_table(PAIR, {"b": (0.25, 0.75), "a": {"no": 0.25, "yes": 0.75}})
    assert dict(mechanism) == {"a": {"yes": 0.75, "no": 0.25}, "b": {"no": 0.75, "yes": 0.25}}
    assert list(mechanism) == ["a", "b"]
    assert len(mechanism) == 2


def test_a_dataset_lists_its_answers_most_preferred_first() -> None:
    graph = rb.RainbowGraph([], [(3, 1, 2), (2, 3, 1)], answers=(1, 2, 3))
    mechanism = rb.Mechanism.from_table(graph, {0: (0.1, 0.2, 0.7), 1: (0.1, 0.2, 0.7)})
    assert list(mechanism[0].items()) == [(3, 0.7), (1, 0.1), (2, 0.2)]
    assert list(mechanism[1].items()) == [(2, 0.2), (3, 0.7), (1, 0.1)]


def test_equal_rows_are_kept_once() -> None:
    graph = rb.RainbowGraph([], [YES] * 5)
    mechanism = rb.Mechanism.from_table(graph, dict.fromkeys(range(5), (0.5, 0.5)))
    assert mechanism.table.shape == (1, 2)
    assert mechanism.rows is mechanism


@settings(max_examples=50)
@given(exact_promises(), st.data())
def test_check_is_brute_force_over_all_edges_and_sets(
    world: tuple[TradeOffCurve, list[tuple[Fraction, Fraction]]], data: st.DataObject
) -> None:
    promise, lines = world
    graph = data.draw(graphs(6, data.draw(st.integers(1, 4))))
    common = data.draw(exact_rows(len(graph.answers)))
    near = data.draw(st.booleans())  # rows near each other are private about half the time
    rows: Rows = {}
    for d in graph.datasets:
        own = data.draw(exact_rows(len(graph.answers)))
        rows[d] = tuple((5 * a + b) / 6 if near else b for a, b in zip(common, own, strict=True))
    mechanism = rb.Mechanism.from_table(graph, rows, promise)
    edges = [graph.names(pair) for pair in graph.edge_positions()]
    worst = max((worst_by_lines(rows[a], rows[b], lines) for a, b in edges), default=Fraction(0))
    check = mechanism.check()
    event("private" if worst == 0 else "broken")
    assert bool(check) == (worst == 0)
    assert check == mechanism.check(promise, every_edge=True)
    different = {frozenset((rows[a], rows[b])) for a, b in edges if rows[a] != rows[b]}
    assert check.pairs == len(different)
    if check.holds:
        assert (check.excess, check.neighbors, check.answers) == (0.0, None, ())
        return
    assert check.excess == pytest.approx(float(worst), rel=1e-9)
    assert check.neighbors is not None
    more, less = check.neighbors
    assert less in graph.neighbors(more)
    places = [graph.answers.index(a) for a in check.answers]
    much = sum((rows[more][a] for a in places), Fraction(0))
    little = sum((rows[less][a] for a in places), Fraction(0))
    assert much - min([Fraction(1)] + [s * little + r for s, r in lines]) == worst
    assert_one_sentence(ValueError(str(check)), repr(more), repr(less), f"{check.excess:.6g}")


@pytest.mark.slow
@pytest.mark.parametrize("at", [0, 500, 998])
def test_one_broken_edge_is_found_in_any_block_by_either_engine(
    at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = np.arange(999)
    edges = np.stack([nodes, nodes + 1], axis=1)
    graph = rb.RainbowGraph(edges, [YES, NO], labels=np.arange(1000) % 2)
    likely = 0.5 + 0.01 * np.arange(1000) / 1000
    likely[at + 1 :] -= 0.4  # a fall of 0.4 between two neighbors, slow rises elsewhere
    table = np.stack([likely, 1 - likely], axis=1)
    mechanism = rb.Mechanism(graph, table, np.arange(1000), rb.DP(1))
    whole = mechanism.check(every_edge=True)
    assert whole.neighbors == (at, at + 1)
    monkeypatch.setattr("rainbowdp.mechanisms.mechanism._BLOCK", 7)
    assert mechanism.check(every_edge=True) == whole
    monkeypatch.setattr("rainbowdp.graphs.engines.LARGE", 0)
    assert mechanism.check(every_edge=True) == whole
    assert mechanism.rows_at(np.array([at, 3])).tolist() == table[[at, 3]].tolist()


def test_a_check_says_what_is_broken() -> None:
    mechanism = rb.Mechanism.from_table(PAIR, {"a": (0.9, 0.1), "b": (0.1, 0.9)})
    assert str(mechanism.check(rb.DP.from_ratio(2))) == (
        "log(2)-DP is broken: {yes} is too likely at 'a' beside its neighbor 'b', by 0.7"
    )
    assert str(mechanism.check(rb.DP.from_ratio(9))) == (
        "log(9)-DP holds on all 1 distinct pairs of neighboring rows"
    )


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.uint16, np.int32, np.int64, np.uint64])
def test_check_reads_an_index_of_any_integer_type(kind: type[np.integer[Any]]) -> None:
    # 40·60 + 41 does not fit a byte: a wrapped code compares two rows that are not neighbors.
    graph = rb.RainbowGraph([(40, 41)], [YES] * 60)
    table = np.full((60, 2), 0.5)
    table[41] = 1.0, 0.0
    check = rb.Mechanism(graph, table, np.arange(60, dtype=kind)).check(rb.DP(1))
    assert not check
    assert check.neighbors in ((40, 41), (41, 40))


@pytest.mark.parametrize("row", [(float("nan"), 1.0), (0.3, 0.3), (2.0, -1.0), (float("inf"), 0.0)])
@pytest.mark.parametrize("promise", [rb.DP(1), rb.GaussianDP(1)])
def test_rows_that_are_no_distributions_never_pass(
    row: tuple[float, float], promise: TradeOffCurve
) -> None:
    def passes() -> bool:
        table = np.array([row, (0.5, 0.5)])
        return bool(rb.Mechanism(PAIR, table, np.arange(2), promise).check())

    try:
        assert not passes()
    except rb.RainbowError as error:
        assert_one_sentence(error)


def test_a_check_needs_a_guarantee() -> None:
    mechanism = rb.Mechanism.from_table(PAIR, {"a": (0.9, 0.1), "b": (0.1, 0.9)})
    with pytest.raises(rb.RainbowError) as caught:
        mechanism.check()
    assert_one_sentence(caught.value, "guarantee")
    assert not mechanism.check(rb.DP(1))
    assert mechanism.check(rb.DP(3))


@given(graphs(6), st.data())
def test_homogeneity_is_one_row_for_each_boundary(
    graph: rb.RainbowGraph, data: st.DataObject
) -> None:
    choices = [data.draw(exact_rows(len(graph.answers))) for _ in range(2)]
    rows: Rows = {d: data.draw(st.sampled_from(choices)) for d in graph.datasets}
    if data.draw(st.booleans()):  # homogeneous by construction; the interior may do what it likes
        own = {label: data.draw(st.sampled_from(choices)) for label in graph.regions}
        rows |= {d: own[graph.region[d]] for d in graph.boundary}
    found = rb.Mechanism.from_table(graph, rows).homogeneity()
    expected = all(
        rows[a] == rows[b]
        for a, b in itertools.combinations(graph.boundary, 2)
        if graph.region[a] == graph.region[b]
    )
    event(f"homogeneous: {expected}")
    assert bool(found) == expected
    if found.differ is not None:
        a, b = found.differ
        assert graph.region[a] == graph.region[b]
        assert {a, b} <= set(graph.boundary)
        assert rows[a] != rows[b]
    assert (found.differ is None) == expected


def test_rows_that_agree_on_the_first_choice_only_are_not_homogeneous() -> None:
    graph = rb.RainbowGraph([(0, 1), (1, 2)], [(1, 2, 3), (2, 1, 3), (1, 2, 3)])
    table = {0: (0.5, 0.3, 0.2), 1: (0.4, 0.4, 0.2), 2: (0.5, 0.2, 0.3)}
    assert rb.Mechanism.from_table(graph, table).homogeneity().differ == (0, 2)


def exact_prefixes(graph: rb.RainbowGraph, rows: Rows, d: Dataset) -> list[Fraction]:
    return list(itertools.accumulate(rows[d][graph.answers.index(a)] for a in graph.rainbow(d)))


@given(table_pairs())
def test_utility_is_the_expected_worth(
    world: tuple[rb.RainbowGraph, Rows, Rows],
) -> None:
    graph, rows, _ = world
    mechanism = rb.Mechanism.from_table(graph, rows)
    worth = [Fraction(3, 1 + k) for k in range(len(graph.answers))]

    def scaled(d: Dataset, answer: object) -> float:
        return (1 + graph.position(d)) * float(worth[graph.rainbow(d).index(answer)])

    by_place = by_worth = Fraction(0)
    for number, d in enumerate(graph.datasets):
        prefixes = [Fraction(0), *exact_prefixes(graph, rows, d)]
        own = sum(
            w * (b - a) for w, (a, b) in zip(worth, itertools.pairwise(prefixes), strict=True)
        )
        by_place += own
        by_worth += (1 + number) * own
    assert mechanism.utility(rb.Utility(places=[float(w) for w in worth])) == pytest.approx(
        float(by_place)
    )
    assert mechanism.utility(rb.Utility(scaled)) == pytest.approx(float(by_worth))


@settings(max_examples=50)
@given(table_pairs())
def test_dominance_is_that_of_exact_fractions(world: tuple[rb.RainbowGraph, Rows, Rows]) -> None:
    graph, first, second = world
    a, b = rb.Mechanism.from_table(graph, first), rb.Mechanism.from_table(graph, second)
    gaps = {
        d: [
            x - y
            for x, y in zip(*(exact_prefixes(graph, t, d) for t in (first, second)), strict=True)
        ]
        for d in graph.datasets
    }
    better = any(gap > 0 for row in gaps.values() for gap in row)
    worse = any(gap < 0 for row in gaps.values() for gap in row)
    assert_relation(rb.relate(a, b), world, better, worse)
    assert_relation(rb.relate(b, a), (graph, second, first), worse, better)
    assert rb.dominates(a, b) == (not worse)
    assert rb.dominates(b, a) == (not better)


@settings(max_examples=50)
@given(table_pairs())
def test_lexicographic_is_that_of_exact_fractions(
    world: tuple[rb.RainbowGraph, Rows, Rows],
) -> None:
    graph, first, second = world
    a, b = rb.Mechanism.from_table(graph, first), rb.Mechanism.from_table(graph, second)
    pairs = [
        (exact_prefixes(graph, first, d), exact_prefixes(graph, second, d)) for d in graph.datasets
    ]
    relation = rb.relate(a, b, "lexicographic")
    assert_relation(relation, world, any(x > y for x, y in pairs), any(x < y for x, y in pairs))
    for witness in (relation.better, relation.worse):
        if witness is not None:  # the prefix is the first that differs
            x, y = (exact_prefixes(graph, t, witness.dataset) for t in (first, second))
            assert x[: len(witness.prefix) - 1] == y[: len(witness.prefix) - 1]


def assert_relation(
    relation: Any, world: tuple[rb.RainbowGraph, Rows, Rows], better: bool, worse: bool
) -> None:
    graph, first, second = world
    verdicts = {
        (False, False): "equal",
        (True, False): "dominates",
        (False, True): "dominated",
        (True, True): "incomparable",
    }
    event(verdicts[better, worse])
    assert relation.verdict == verdicts[better, worse]
    for witness, sign in ((relation.better, 1), (relation.worse, -1)):
        assert (witness is not None) == (better if sign == 1 else worse)
        if witness is None:
            continue
        count = len(witness.prefix)
        assert witness.prefix == graph.rainbow(witness.dataset)[:count]
        x, y = (exact_prefixes(graph, t, witness.dataset)[count - 1] for t in (first, second))
        assert sign * (x - y) > 0
        assert (witness.first, witness.second) == pytest.approx((float(x), float(y)))


@given(table_pairs(), st.lists(st.integers(0, 9), min_size=4, max_size=4))
def test_a_utility_relates_by_its_total(
    world: tuple[rb.RainbowGraph, Rows, Rows], worths: list[int]
) -> None:
    graph, first, second = world
    places = sorted(worths, reverse=True)[: len(graph.answers)]
    a, b = rb.Mechanism.from_table(graph, first), rb.Mechanism.from_table(graph, second)

    def worth(rows: Mapping[Dataset, tuple[Fraction, ...]], d: Dataset) -> Fraction:
        ordered = [rows[d][graph.answers.index(x)] for x in graph.rainbow(d)]
        return sum((w * p for w, p in zip(places, ordered, strict=True)), Fraction(0))

    total = sum((worth(first, d) - worth(second, d) for d in graph.datasets), Fraction(0))
    relation = rb.relate(a, b, rb.Utility(places=places))
    expected = "equal" if total == 0 else "dominates" if total > 0 else "dominated"
    assert relation.verdict == expected
    witness = relation.better if total > 0 else relation.worse
    assert (witness is None) == (total == 0)
    if witness is not None:
        x, y = worth(first, witness.dataset), worth(second, witness.dataset)
        assert (x - y) * total > 0
        assert (witness.first, witness.second) == pytest.approx((float(x), float(y)))
    if rb.dominates(a, b):  # Utility is order reasonable
        assert relation.verdict in ("equal", "dominates")


def test_a_relation_reads_well() -> None:
    a = rb.Mechanism.from_table(PAIR, {"a": (0.9, 0.1), "b": (0.5, 0.5)})
    b = rb.Mechanism.from_table(PAIR, {"a": (0.8, 0.2), "b": (0.25, 0.75)})
    assert str(rb.relate(a, b)) == (
        "incomparable; better at 'a': P(yes) = 0.9 against 0.8; worse at 'b': P(no) = 0.5 "
        "against 0.75"
    )
    # A worth is no probability, and must not be shown as one.
    assert "P(" not in str(rb.relate(a, b, rb.Utility(places=(5, 2))))


def test_rounding_makes_no_difference() -> None:
    a = rb.Mechanism.from_table(PAIR, {"a": (0.3, 0.7), "b": (0.3, 0.7)})
    b = rb.Mechanism.from_table(PAIR, {"a": (0.1 + 0.2, 0.7), "b": (0.3, 0.7)})
    assert rb.relate(a, b).verdict == "equal"
    # Small numbers count by their ratios: the same difference matters where nothing else is.
    tiny = rb.Mechanism.from_table(PAIR, {"a": (1e-20, 1), "b": (0.3, 0.7)})
    none = rb.Mechanism.from_table(PAIR, {"a": (0, 1), "b": (0.3, 0.7)})
    assert rb.relate(tiny, none).verdict == "dominates"


@pytest.mark.parametrize(
    ("table", "error", "said"),
    [
        ({"a": (0.5, 0.5)}, rb.InvalidMechanism, "'b'"),
        ({"a": (0.5, 0.5), "b": (0.5, 0.5), "zoo": (1, 0)}, rb.UnknownDataset, "'zoo'"),
        ({"a": (0.5, 0.5), "b": (0.5, 0.6)}, rb.InvalidDistribution, "1.1"),
        ({"a": (0.5, 0.5), "b": (0.5,)}, rb.InvalidDistribution, "1"),
        ({"a": (0.5, 0.5), "b": (float("nan"), 1)}, rb.InvalidDistribution, "nan"),
        ({"a": (0.5, 0.5), "b": {"maybe": 1}}, rb.InvalidDistribution, "'maybe'"),
        ({"a": (0.5, 0.5), "b": {"yes": float("nan")}}, rb.InvalidDistribution, "nan"),
        ({"a": (0.5, 0.5), "b": (1.25, -0.25)}, rb.InvalidDistribution, "-0.25"),
        ({"a": (0.5, 0.5), "b": "ab"}, rb.InvalidDistribution, "'ab'"),
        ({"a": (0.5, 0.5), "b": None}, rb.InvalidDistribution, "None"),
    ],
)
def test_bad_tables_are_refused_in_one_sentence(
    table: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error) as caught:
        rb.Mechanism.from_table(PAIR, table)
    assert type(caught.value) is error
    assert_one_sentence(caught.value, said)


def test_rows_of_the_wrong_shape_are_refused() -> None:
    for table, index in (
        (np.full((1, 3), 1 / 3), np.zeros(2, dtype=int)),
        (np.full((1, 2), 0.5), np.zeros(3, dtype=int)),
        (np.full(2, 0.5), np.zeros(2, dtype=int)),
    ):
        with pytest.raises(rb.InvalidMechanism) as caught:
            rb.Mechanism(PAIR, table, index)
        assert_one_sentence(caught.value, table.shape)


@pytest.mark.parametrize("index", [[0, 5], [0, -1]])
def test_an_index_past_the_rows_is_refused(index: list[int]) -> None:
    with pytest.raises(rb.InvalidMechanism) as caught:
        rb.Mechanism(PAIR, np.full((2, 2), 0.5), np.array(index))
    assert_one_sentence(caught.value, index[1])


def test_an_unknown_dataset_is_named() -> None:
    mechanism = rb.Mechanism.from_table(PAIR, {"a": (0.5, 0.5), "b": (0.5, 0.5)})
    with pytest.raises(rb.UnknownDataset) as caught:
        mechanism["nope"]
    assert_one_sentence(caught.value, "'nope'")
    assert "nope" not in mechanism
    assert mechanism.get("nope") is None


def test_mechanisms_on_two_graphs_are_not_compared() -> None:
    twin = rb.RainbowGraph([("a", "b")], {"a": YES, "b": NO})
    table = {"a": (0.5, 0.5), "b": (0.5, 0.5)}
    first, second = (rb.Mechanism.from_table(graph, table) for graph in (PAIR, twin))
    for ask in (rb.relate, rb.dominates):
        with pytest.raises(rb.RainbowError) as caught:
            ask(first, second)
        assert_one_sentence(caught.value, "different graphs")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: rb.Utility(), "give one of them"),
        (lambda: rb.Utility(lambda d, a: 0, places=(1, 0)), "give one of them"),
        (lambda: rb.Utility(places=(0, 1)), "(0.0, 1.0)"),
        (lambda: rb.Utility(places=(float("nan"), 1)), "nan"),
        (lambda: rb.Utility(places=(float("inf"), 1)), "inf"),
        (lambda: coin().utility(rb.Utility(places=(1, 0, 0))), "3"),
        (lambda: coin().utility(rb.Utility(lambda d, a: float(a == "no"))), "'a'"),
        (lambda: rb.relate(coin(), coin(), "alphabetic"), "alphabetic"),  # type: ignore[arg-type]
    ],
)
def test_bad_orders_are_refused_in_one_sentence(make: Any, said: str) -> None:
    with pytest.raises(rb.RainbowError) as caught:
        make()
    assert_one_sentence(caught.value, said)


def coin() -> rb.Mechanism:
    return rb.Mechanism.from_table(PAIR, {"a": (0.5, 0.5), "b": (0.5, 0.5)})
