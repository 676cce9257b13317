from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import rainbowdp as rb
from rainbowdp import paper
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.guarantees.piecewise import PiecewiseLinear
from rainbowdp.mechanisms import design as designing
from rainbowdp.mechanisms.design import _orbits, _worths, design, worst_case_boundary
from strategies import graphs, trade_offs

FIRST = (1.0, 0.0, 0.0)


def promises() -> st.SearchStrategy[PiecewiseLinear]:
    """Guarantees that a boundary can be designed for, none of them nearly trivial."""
    return st.one_of(
        st.builds(rb.DP, st.sampled_from(["0.2", "1", "2"]), st.sampled_from(["0", "0.05", "0.3"])),
        trade_offs(),
    )


def best_total(
    graph: rb.RainbowGraph, guarantee: PiecewiseLinear, places: Sequence[float]
) -> float:
    """The same program written down plainly: a column for each probability, no symmetry."""
    answers = graph.answers
    nodes = [(r, t) for r in graph.regions.values() if r.deepest is not None
             for t in range(r.deepest + 1)]  # fmt: skip
    place = {(r.label, t): n * len(answers) for n, (r, t) in enumerate(nodes)}
    steep = [(line.slope, line.rise) for line in guarantee.lines if line.slope >= 1]
    lines = [(line.slope, line.rise) for line in guarantee.lines]
    slack = itertools.count(len(nodes) * len(answers))
    upper: list[tuple[dict[int, float], float]] = []
    for region, depth in nodes[: len(nodes)]:
        deeper = (region.label, depth + 1)
        if deeper in place:
            for k, (slope, rise) in itertools.product(range(1, len(answers)), lines):
                row = {place[deeper] + i: 1.0 for i in range(k)}
                row |= {place[region.label, depth] + i: -slope for i in range(k)}
                upper.append((row, rise))
    for pair, (slope, rise) in itertools.product(graph.touching, steep):
        for more, less in (pair, pair[::-1]):
            total = {}
            for answer in answers:
                z = next(slack)
                mine = place[more, 0] + graph.regions[more].rainbow.index(answer)
                theirs = place[less, 0] + graph.regions[less].rainbow.index(answer)
                upper.append(({mine: 1.0, theirs: -slope, z: -1.0}, 0.0))
                total[z] = 1.0
            upper.append((total, rise))
    columns = next(slack)
    matrix = np.zeros((len(upper), columns))
    for number, (row, _) in enumerate(upper):
        for column, value in row.items():
            matrix[number, column] = value
    sums = np.zeros((len(nodes), columns))
    gain = np.zeros(columns)
    for number, (region, depth) in enumerate(nodes):
        first = place[region.label, depth]
        sums[number, first : first + len(answers)] = 1
        members = sum(graph.depth[d] == depth for d in region.datasets)
        gain[first : first + len(answers)] = members * np.asarray(places)
    found = linprog(
        -gain, matrix if len(upper) else None, [b for _, b in upper] or None,
        sums, np.ones(len(nodes)), bounds=(0, 1), method="highs",
    )  # fmt: skip
    assert found.status == 0
    return -float(found.fun or 0.0)


@pytest.mark.slow
@given(
    graphs(7, answers=3, touching=True),
    promises(),
    st.sampled_from([(1, 0, 0), (1, 0.5, 0), (2, 2, -1)]),
)
def test_the_design_is_the_optimum_of_the_plain_program_and_is_attained(
    graph: rb.RainbowGraph, guarantee: PiecewiseLinear, places: tuple[float, ...]
) -> None:
    found = design(graph, guarantee, utility=rb.Utility(places=places))
    assert found.value == pytest.approx(best_total(graph, guarantee, places), abs=1e-6)
    assert found.optimal
    assert found.boundary.clashes(guarantee) == ()
    mechanism = rb.optimal(graph, guarantee, found.boundary)
    reached = mechanism.utility(rb.Utility(places=places))
    endless = int(np.isinf(graph.depths).sum()) * places[0]
    assert reached - endless == pytest.approx(found.value, abs=1e-5 + 20 * float(found.mixing))
    assert mechanism.exact().mixing == 0  # the rows stand on the grid already


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(graphs(6, answers=3, touching=True), promises(), st.data())
def test_no_valid_row_for_all_regions_beats_the_worst_case(
    graph: rb.RainbowGraph, guarantee: PiecewiseLinear, data: st.DataObject
) -> None:
    found = design(graph, guarantee, worst=True)
    least = min(found.boundary[label][graph.regions[label].rainbow[0]]
                for label in found.boundary.exact_rows)  # fmt: skip
    assert least == pytest.approx(found.value, abs=1e-5)
    weights = data.draw(st.lists(st.integers(0, 20), min_size=3, max_size=3).filter(any))
    rival = rb.BoundaryCondition(graph, [w / sum(weights) for w in weights])
    if not rival.clashes(guarantee):
        assert weights[0] / sum(weights) <= found.bound + 1e-9


@pytest.mark.parametrize("answers", [2, 3, 4, 5])
@pytest.mark.parametrize("delta", ["0", "0.05"])
def test_where_all_regions_touch_it_is_the_symmetric_closed_form(answers: int, delta: str) -> None:
    names = tuple(range(answers))
    graph = rb.RainbowGraph(
        itertools.combinations(names, 2), [(i, *(a for a in names if a != i)) for i in names]
    )
    promise = rb.DP(1, delta)
    b = (1 - promise.delta) / (promise.ratio + answers - 1)
    for worst in (False, True):
        row = design(graph, promise, worst=worst).boundary[graph.rainbow(0)]
        assert row[0] == pytest.approx(1 - (answers - 1) * b, abs=2e-7)


def test_symmetric_regions_share_their_row() -> None:
    graph = paper.figure_one()
    whole = rb.RainbowGraph(
        [(a, b) for a in range(3) for b in range(a)],
        [("r", "g", "b"), ("g", "b", "r"), ("b", "r", "g")],
    )
    worths = _worths(whole, rb.Utility(places=FIRST), None, 9)
    assert set(_orbits(whole, worths).values()) == {0}
    worths = _worths(graph, rb.Utility(places=FIRST), None, 9)
    assert len(set(_orbits(graph, worths).values())) == 6  # the figure has no symmetry


def test_the_best_total_may_give_up_a_small_region_and_the_worst_case_does_not() -> None:
    star = rb.RainbowGraph([(0, n) for n in range(1, 9)], [("y", "n")] + [("n", "y")] * 8)
    total = design(star, rb.DP(1)).boundary
    fair = design(star, rb.DP(1), worst=True).boundary
    assert total["n", "y"]["n"] > 0.99
    assert fair["n", "y"]["n"] == pytest.approx(fair["y", "n"]["y"], abs=1e-5)


def test_weights_replace_the_count_of_datasets() -> None:
    star = rb.RainbowGraph([(0, n) for n in range(1, 9)], [("y", "n")] + [("n", "y")] * 8)
    found = design(star, rb.DP(1), weights={(("y", "n"), 0): 100})
    assert found.boundary["y", "n"]["y"] > 0.99


def test_weights_do_not_change_the_worst_case() -> None:
    star = rb.RainbowGraph([(0, n) for n in range(1, 9)], [("y", "n")] + [("n", "y")] * 8)
    weights = {(("y", "n"), 0): 1, (("n", "y"), 0): 8}
    whole, small = (
        design(graph, rb.DP(1), weights=chosen, worst=True)
        for graph, chosen in ((star, None), (star.boundary_graph(), weights))
    )
    assert small.value == pytest.approx(whole.value)
    for label in star.regions:
        assert small.boundary[label] == pytest.approx(whole.boundary[label], abs=1e-5)


def test_optimal_without_a_boundary_designs_one() -> None:
    graph = paper.figure_one()
    chosen = rb.optimal(graph, rb.DP("0.3"))
    plain = rb.optimal(graph, rb.DP("0.3"), rb.BoundaryCondition.symmetric(graph, rb.DP("0.3")))
    worst = [min(m[d][graph.rainbow(d)[0]] for d in graph.datasets) for m in (chosen, plain)]
    assert worst[0] >= worst[1] - 1e-6
    assert rb.optimal(graph, rb.GaussianDP(1)).check()
    assert rb.optimal(rb.RainbowGraph([], [("a", "b")]), rb.DP(1))[0] == {"a": 1.0, "b": 0.0}


@pytest.mark.parametrize("epsilon", [34, 35, 700])
def test_an_epsilon_that_no_solver_takes_has_the_symmetric_boundary(epsilon: int) -> None:
    mechanism = rb.optimal(paper.figure_one(), rb.DP(epsilon))
    assert mechanism.check()
    assert mechanism.exact().proof


@pytest.mark.parametrize("worst", [True, False])
def test_where_there_is_nothing_to_choose_the_design_is_that(worst: bool) -> None:
    alone = rb.RainbowGraph([(0, 1)], {0: ("a", "b")}, labels={0: 0, 1: 0})
    found = design(alone, rb.DP(1), worst=worst)
    assert rb.optimal(alone, rb.DP(1), found.boundary)[0] == {"a": 1.0, "b": 0.0}
    pair = rb.RainbowGraph([(0, 1)], [("a", "b"), ("b", "a")])
    single = design(pair, rb.DP(1), worst=worst, forbid="b")
    assert single.value == single.bound
    assert all(single.boundary[label] == {"a": 1.0} for label in single.boundary.graph.regions)


def test_deep_datasets_count_at_the_last_level() -> None:
    line = rb.RainbowGraph([(n, n + 1) for n in range(40)], [("y", "n")] * 20 + [("n", "y")] * 21)
    deep, shallow = design(line, rb.DP(1)), design(line, rb.DP(1), levels=2)
    assert shallow.value < deep.value
    assert shallow.boundary.clashes(rb.DP(1)) == ()


@pytest.mark.parametrize(
    ("guarantee", "options", "said"),
    [
        (rb.GaussianDP(1), {}, "1-GDP"),
        (rb.DP(35), {}, "at most 1e+15, got 35-DP"),
        (rb.DP(1), {"levels": -1}, "levels=-1"),
        (rb.DP(1), {"weights": {(("y", "n"), 0): -1.0}}, "-1"),
        (rb.DP(1), {"weights": {(("y", "n"), 0): float("inf")}}, "inf"),
        (rb.DP(1), {"utility": rb.Utility(places=(1e300, 0))}, "1e15"),
        (rb.DP(1), {"utility": rb.Utility(places=(1, 0, 0))}, "2 answers"),
    ],
)
def test_bad_input_is_refused(
    guarantee: TradeOffCurve, options: dict[str, object], said: str
) -> None:
    graph = rb.RainbowGraph([(0, 1)], [("y", "n"), ("n", "y")])
    with pytest.raises(rb.RainbowError) as caught:
        design(graph, guarantee, **options)  # type: ignore[arg-type]
    assert said in str(caught.value)


def test_a_program_that_is_large_is_solved_on_the_boundary_if_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Four regions in a row: those at the ends touch one other each, which symmetry cannot use."""
    colors = "abcd"
    rainbows = [tuple(colors[i:] + colors[:i]) for i in range(4) for _ in range(3)]
    graph = rb.RainbowGraph([(i, i + 1) for i in range(11)], rainbows)
    whole = worst_case_boundary(graph, rb.DP("0.5"))
    monkeypatch.setattr(designing, "moderate_levels", lambda _: None)
    monkeypatch.setattr(designing, "_SHARP", 1)  # and its solution is not moved to a vertex
    assert worst_case_boundary(graph, rb.DP("0.5")).words.startswith("symmetric: a program for 3")
    drawn = worst_case_boundary(graph, rb.DP("0.5"), asked=True)
    assert drawn.words == "designed, the worst case first, the sum by the boundary alone"

    def least(boundary: rb.BoundaryCondition) -> float:
        made = rb.optimal(graph, rb.DP("0.5"), boundary)
        assert made.check(every_edge=True)
        return min(made[node][graph.rainbow(node)[0]] for node in graph.datasets)

    assert least(drawn.boundary) == pytest.approx(least(whole.boundary), abs=1e-6)
    symmetric = rb.BoundaryCondition.symmetric(graph, rb.DP("0.5"))
    assert least(drawn.boundary) > least(symmetric) + 0.01
    with_delta = worst_case_boundary(graph, rb.DP("0.5", "0.01"), asked=True)
    assert with_delta.words.startswith("symmetric: a program for 3 touching pairs")


def test_a_gaussian_guarantee_has_a_designed_boundary_where_that_is_better() -> None:
    colors = "abcd"
    row = [tuple(colors[i:] + colors[:i]) for i in range(4) for _ in range(3)]
    line = rb.RainbowGraph([(i, i + 1) for i in range(11)], row)
    promise = rb.GaussianDP("0.8")
    symmetric = rb.BoundaryCondition.symmetric(line, promise)
    drawn = worst_case_boundary(line, promise, asked=True)
    assert drawn.words == "designed, the worst case first, by a polygon within 0.8-GDP"
    assert min(row[0] for row in drawn.boundary.exact_rows.values()) > 0.005 + min(
        row[0] for row in symmetric.exact_rows.values()
    )
    made = rb.optimal(line, promise, drawn.boundary)
    assert made.check(every_edge=True)
    assert made.proof.exact
    assert worst_case_boundary(line, promise).words == "symmetric: no linear program is for 0.8-GDP"
    ring = rb.RainbowGraph(
        [(0, 1), (1, 2), (2, 0)], [("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b")]
    )
    same = worst_case_boundary(ring, promise, asked=True)
    assert same.words == "symmetric, no worse than one designed for 0.8-GDP"


def test_a_gaussian_program_that_is_too_large_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(designing, "_LARGE", 10)
    graph = rb.RainbowGraph([(0, 1)], [("a", "b"), ("b", "a")])
    drawn = worst_case_boundary(graph, rb.GaussianDP(1), asked=True)
    assert drawn.words == "symmetric: a program for 1-GDP would be too large here"
