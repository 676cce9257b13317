"""What is drawn, not how it looks: lines, marks and labels against numbers found elsewhere."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text
from scipy.stats import norm

import rainbowdp as rb
import reference
import strategies as our
from rainbowdp import paper, plots
from rainbowdp.display.colors import BLUE, GREEN, ORANGE
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.paper.figures import figures, printed_curves
from rainbowdp.plots.curves import phase_changes, smooth
from rainbowdp.plots.style import darker, spread
from rainbowdp.plots.testing import polygon

PATH = rb.RainbowGraph([(i, i + 1) for i in range(5)], [("yes", "no")] * 3 + [("no", "yes")] * 3)


def words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def line(ax: Axes, label: str) -> tuple[Any, Any]:
    (found,) = (line for line in ax.get_lines() if line.get_label() == label)
    return np.asarray(found.get_xdata()), np.asarray(found.get_ydata())


def polygons(ax: Axes) -> list[PolyCollection]:
    return [c for c in ax.collections if isinstance(c, PolyCollection)]


def edges(ax: Axes) -> tuple[int, int]:
    """How many lines are solid, and how many dotted."""
    inside, between = (c for c in ax.collections if isinstance(c, LineCollection))
    return len(inside.get_segments()), len(between.get_segments())


def outline(drawn: PolyCollection, place: int) -> Any:
    """One of the curved shapes as a polygon."""
    found = drawn.get_paths()[place].to_polygons()
    return found[0] if found else np.zeros((3, 2))


def area(outline: Any) -> float:
    x, y = outline[:, 0], outline[:, 1]
    return abs(float(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))) / 2


def shown(figure: Figure) -> list[Text]:
    """All words that a reader sees."""
    found: list[Text] = []
    for ax in figure.findobj(Axes):
        assert isinstance(ax, Axes)
        found += [*ax.texts, ax.title, ax._left_title]  # type: ignore[attr-defined]
        legend = ax.get_legend()
        found += legend.get_texts() if legend is not None else []
        if not ax.axison:
            continue
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            found.append(axis.label)
            ticks = axis.get_major_ticks()
            found += [tick.label1 for tick in ticks if low <= tick.get_loc() <= high]
    return [text for text in found if text.get_visible() and text.get_text().strip()]


def assert_readable(ax: Axes) -> None:
    """All words lie inside the figure, and no two of them overlap."""
    figure = ax.get_figure()
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    boxes = [(text.get_text(), Text.get_window_extent(text)) for text in shown(figure)]
    whole = figure.bbox
    for name, box in boxes:
        assert whole.x0 <= box.x0 + 1, name
        assert box.x1 <= whole.x1 + 1, name
        assert whole.y0 <= box.y0 + 1, name
        assert box.y1 <= whole.y1 + 1, name
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        up = min(a.y1, b.y1) - max(a.y0, b.y0)
        assert min(across, up) <= 1, f"{one!r} covers {other!r}"


# Growth


def closed_form(s: float, ratio: float, delta: float, tau: float, depth: float) -> float:
    """The theory's closed form with a real depth."""
    rho = delta / (ratio - 1)
    if depth <= tau:
        return min(1.0, float(ratio**depth * (s + rho) - rho))
    start = ratio**tau * (s + rho) - rho
    return 1.0 - max(0.0, float(ratio ** -(depth - tau) * (1 - start + rho) - rho))


@given(
    st.floats(0.01, 2),
    st.sampled_from([0.0, 1e-3, 0.02, 0.2]),
    st.floats(1e-4, 0.9),
    st.floats(0, 40),
)
def test_between_depths_the_curves_follow_the_closed_form(
    epsilon: float, delta: float, s: float, depth: float
) -> None:
    promise = rb.DP(epsilon, delta)
    found = smooth(promise, np.array([s]), np.array([depth]))[0, 0]
    tau = promise.phase_change(s)
    wanted = closed_form(s, math.exp(epsilon), delta, tau, depth)
    assert found == pytest.approx(wanted, abs=1e-9)


@given(st.floats(0.01, 2), st.floats(1e-4, 0.9), st.floats(0, 20))
def test_under_gaussian_privacy_too(mu: float, s: float, depth: float) -> None:
    found = smooth(rb.GaussianDP(mu), np.array([s]), np.array([depth]))[0, 0]
    assert found == pytest.approx(norm.cdf(norm.ppf(s) + depth * mu), abs=1e-9)


@given(our.guarantees(), our.rows(4))
def test_curves_pass_through_the_whole_depths_rise_and_keep_their_order(
    promise: TradeOffCurve, row: tuple[float, ...]
) -> None:
    sums = np.minimum(np.cumsum(row), 1.0)
    found = smooth(promise, sums, np.arange(121) / 10)
    assert (found[::10] == promise.grow(sums[None, :], np.arange(13)[:, None])).all()
    assert (np.diff(found, axis=0) >= -1e-9).all()
    assert (np.diff(found, axis=1) >= -1e-9).all()


def test_growth_draws_the_rows_and_marks_each_phase_change() -> None:
    promise = rb.DP.from_ratio(paper.RATIO)
    ax = plots.growth(promise, paper.BOUNDARY, 60)
    rows = promise.rows(paper.BOUNDARY, np.arange(61))
    for number in range(5):
        depth, chance = line(ax, str(number + 1))
        assert (depth[::10] == np.arange(61)).all()
        assert chance[::10] == pytest.approx(rows[:, number], abs=1e-12)
    for k, tau in ((1, 38), (2, 22), (3, 7), (4, 1)):
        (at,), (height,) = line(ax, f"τ{k}")
        assert at == tau
        assert height == pytest.approx(rows[tau, k - 1])
    assert {"τ₁ = 38", "τ₂ = 22", "τ₃ = 7", "τ₄ = 1"} <= set(words(ax))


def test_growth_of_prefix_sums_and_names() -> None:
    promise = rb.DP(1)
    ax = plots.growth(promise, {"yes": 0.1, "perhaps": 0.2, "no": 0.7}, 6, sums=True)
    assert line(ax, "yes")[1][::10] == pytest.approx(promise.grow(0.1, np.arange(7)))
    assert line(ax, "first 2")[1][::10] == pytest.approx(promise.grow(0.3, np.arange(7)))
    assert {"yes", "first 2"} <= set(words(ax))


def test_gaussian_growth_has_no_phase_change() -> None:
    ax = plots.growth(rb.GaussianDP(1), (0.2, 0.8))
    assert not any("τ" in word for word in words(ax))


@given(our.dps(), our.exact_rows(3))
def test_phase_changes_are_those_of_the_guarantee(
    promise: rb.DP, row: tuple[Fraction, ...]
) -> None:
    sums = list(itertools.accumulate(row))[:-1]
    wanted = [(k, promise._phase_change(s)) for k, s in enumerate(sums, 1)]
    two_slopes = promise.exact_ratio != 1 and promise.exact_delta < 1
    expected = [(k, t) for k, t in wanted if two_slopes and 0 < t < math.inf]
    assert phase_changes(promise, row) == expected


def test_a_depth_must_be_whole() -> None:
    with pytest.raises(rb.RainbowError) as refused:
        plots.growth(rb.DP(1), (0.5, 0.5), 0)
    reference.assert_one_sentence(refused.value, "depth=0")


# Graphs


def test_a_disc_for_each_dataset_with_bands_in_preference_order() -> None:
    graph = paper.figure_one()
    ax = plots.graph(graph)
    *bands, rims = polygons(ax)
    assert len(bands) == 3
    assert len(rims.get_paths()) == 18
    tints = {"blue": BLUE, "red": ORANGE, "green": GREEN}
    for place, dataset in enumerate(graph.datasets):
        shown = [to_hex(np.asarray(band.get_facecolor())[place].tolist()) for band in bands]
        assert shown == [tints[answer] for answer in graph.rainbow(dataset)]
        heights = [np.asarray(band.get_paths()[place].vertices)[:, 1].mean() for band in bands]
        assert heights == sorted(heights, reverse=True)  # the first choice on top
    assert set(words(ax)) == set(graph.datasets)
    assert sum(edges(ax)) == 31
    crossing = [
        1 for a, b in graph.edge_positions() if graph.region_numbers[a] != graph.region_numbers[b]
    ]
    assert edges(ax)[1] == len(crossing)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)  # the first figure loads fonts
@given(our.graphs(answers=3), st.floats(0.1, 3))
def test_the_bands_of_a_mechanism_have_the_area_of_its_probabilities(
    graph: rb.RainbowGraph, epsilon: float
) -> None:
    mechanism = rb.optimal(graph, rb.DP(epsilon))
    *bands, rims = polygons(plots.graph(mechanism, radius=1.0))
    for place, dataset in enumerate(graph.datasets):
        disc = area(outline(rims, place))
        shares = [area(outline(band, place)) / disc for band in bands]
        assert shares == pytest.approx(list(mechanism[dataset].values()), abs=0.02)


def test_positions_are_taken_as_given_or_refused() -> None:
    places = {i: (float(i), 0.0) for i in range(6)}
    ax = plots.graph(PATH, places)
    centers = [np.asarray(path.vertices).mean(axis=0) for path in polygons(ax)[-1].get_paths()]
    assert np.array(centers)[:, 0] == pytest.approx(np.arange(6), abs=0.05)
    for wrong, said in (
        ({0: (0, 0)}, "dataset 1"),
        (np.zeros((5, 2)), "(5, 2)"),
        ([["a", "b"]] * 6, "pairs of numbers"),
        (np.full((6, 2), np.nan), "finite"),
    ):
        with pytest.raises(rb.RainbowError) as refused:
            plots.graph(PATH, wrong)
        reference.assert_one_sentence(refused.value, said)


def test_many_datasets_are_not_named_unless_asked() -> None:
    graph = rb.RainbowGraph.line(("yes", "no"), 60)
    assert words(plots.graph(graph)) == []
    assert len(words(plots.graph(graph, labels=True))) == 61


def test_only_graphs_and_their_mechanisms_are_drawn() -> None:
    for draw in (plots.graph, plots.boundary_graph):
        with pytest.raises(rb.RainbowError) as refused:
            draw("a graph")  # type: ignore[arg-type]
        reference.assert_one_sentence(refused.value, "'a graph'")


def test_a_large_graph_needs_positions() -> None:
    with pytest.raises(rb.RainbowError) as refused:
        plots.graph(rb.RainbowGraph.line(("yes", "no"), 2_000))
    reference.assert_one_sentence(refused.value, "2,001", "plots.regions")


# Boundary graphs


def test_the_boundary_graph_has_its_lines_and_its_heads_joined() -> None:
    ax = plots.boundary_graph(paper.figure_one())
    assert len(polygons(ax)[-1].get_paths()) == 11
    assert edges(ax) == (5, 11)
    assert {"d1\ndepth 2", "d3, d7\ndepth 0", "d17, d18\ndepth 0"} <= set(words(ax))


def test_long_lines_are_shortened_and_endless_regions_stand_apart() -> None:
    edges_ = [(i, i + 1) for i in range(40)]
    graph = rb.RainbowGraph(edges_, [("yes", "no")] * 40 + [("no", "yes")] + [("yes", "no")] * 2)
    ax = plots.boundary_graph(graph)
    line_of_40 = ["depth 0", "depth 1", "depth 2", "depth 3", "depth 39"]
    assert sorted(words(ax)) == sorted([*line_of_40, "depth 0", "depth ∞"])
    assert edges(ax) == (3, 2)  # the gap is dotted, as is the line between the heads
    assert_readable(ax)


def test_a_mechanism_on_the_boundary_graph_shows_its_rows() -> None:
    mechanism = rb.optimal(PATH, rb.DP(1))
    *bands, rims = polygons(plots.boundary_graph(mechanism))
    lines = PATH.boundary_graph()
    for place, name in enumerate(lines.datasets):
        disc = area(outline(rims, place))
        first = area(outline(bands[0], place)) / disc
        assert first == pytest.approx(next(iter(mechanism.rows[name].values())), abs=0.02)
    with pytest.raises(rb.RainbowError) as refused:
        plots.boundary_graph(rb.proximity(PATH, rb.DP(1)))
    reference.assert_one_sentence(refused.value, "plots.graph")


# Trade-off curves


@pytest.mark.slow
@settings(max_examples=20, deadline=None)  # the first figure loads fonts
@given(our.guarantees())
def test_the_curve_of_a_guarantee_is_one_less_its_step(promise: TradeOffCurve) -> None:
    ax = plots.trade_off(promise)
    level, missed = line(ax, str(promise))
    assert missed == pytest.approx(1 - promise.step(level))
    assert (level[0], level[-1]) == (0, 1)


def test_the_corner_of_a_curve_is_drawn() -> None:
    level, missed = line(plots.trade_off([rb.DP.from_ratio(2), rb.GaussianDP(1)]), "log(2)-DP")
    corner = int(np.abs(level - 1 / 3).argmin())
    assert (level[corner], missed[corner]) == (pytest.approx(1 / 3), pytest.approx(1 / 3))


@given(our.rows(4), our.rows(4))
def test_no_set_of_answers_tells_two_rows_apart_better_than_their_polygon(
    p: tuple[float, ...], q: tuple[float, ...]
) -> None:
    level, missed = polygon(np.array(p), np.array(q))
    tests = [
        (sum(p[a] for a in answers), 1 - sum(q[a] for a in answers))
        for answers in reference.every_set(4)
    ]
    for x, y in tests:
        assert y >= np.interp(x, level, missed) - 1e-9 or np.isclose(level, x).any()
    for x, y in zip(level, missed, strict=True):
        assert any(math.isclose(x, a, abs_tol=1e-9) and abs(y - b) < 1e-9 for a, b in tests)


def test_the_worst_pair_of_a_private_mechanism_touches_and_of_another_dips() -> None:
    graph = paper.figure_one()
    promise = rb.DP(1, "0.1")
    kept = plots.worst_pair(rb.optimal(graph, promise))
    assert "not below" in kept.get_title(loc="left")
    wrong = rb.printed_operator(graph, promise)
    ax = plots.worst_pair(wrong, promise)
    excess = wrong.check(guarantee=promise).excess
    assert f"{excess:.3g} below" in ax.get_title(loc="left")
    (label,) = (name for name in (ln.get_label() for ln in ax.get_lines()) if " – " in str(name))
    level, missed = line(ax, str(label))
    assert (missed - (1 - promise.step(np.minimum(level, 1)))).min() == pytest.approx(-excess)
    here, there = str(label).split(" – ")
    assert there in graph.neighbors(here)


def test_what_has_no_worst_pair_is_refused() -> None:
    lone = rb.RainbowGraph([], [("yes", "no")])
    for mechanism, said in (
        (rb.Mechanism.from_table(PATH, dict.fromkeys(range(6), (0.5, 0.5))), "has no guarantee"),
        (rb.optimal(lone, rb.DP(1)), "different rows"),
        (rb.exponential(rb.Winner(["a", "b"]), rb.DP(1)), "question"),
    ):
        with pytest.raises(rb.RainbowError) as refused:
            plots.worst_pair(mechanism)
        reference.assert_one_sentence(refused.value, said)
    with pytest.raises(rb.RainbowError):
        plots.trade_off([])


# Comparisons


@pytest.mark.slow
def test_a_comparison_draws_every_mechanism_by_margin() -> None:
    compared = rb.compare(rb.Winner(["a", "b", "c"]), rb.DP(1), margins=range(1, 9))
    for error in (True, False):
        ax = plots.comparison(compared, error=error)
        for standing in compared.standings:
            name = standing.name
            margins, height = line(ax, name)
            chance = np.array([standing.by_margin[int(m)] for m in margins])
            assert height == pytest.approx(1 - chance if error else chance)
            assert list(margins) == list(range(1, 9))
            assert name in words(ax)
        assert_readable(ax)
    with pytest.raises(rb.RainbowError):
        plots.comparison("best")  # type: ignore[arg-type]


# Maps


def grid(size: int) -> tuple[rb.RainbowGraph, Any]:
    """A square grid cut into four quarters."""
    ids = np.arange(size * size).reshape(size, size)
    across = np.stack([ids[:, :-1].ravel(), ids[:, 1:].ravel()], axis=1)
    down = np.stack([ids[:-1].ravel(), ids[1:].ravel()], axis=1)
    rows, columns = np.divmod(np.arange(size * size), size)
    quarter = 2 * (rows >= size // 2) + (columns >= size // 2)
    names = ["nw", "ne", "sw", "se"]
    orders = {k: tuple(names[k:] + names[:k]) for k in range(4)}
    graph = rb.RainbowGraph(np.concatenate([across, down]), orders, labels=quarter)
    return graph, np.stack([columns, -rows], axis=1).astype(float)


def test_a_map_is_colored_by_region_and_confidence(tmp_path: Path) -> None:
    graph, places = grid(30)
    mechanism = rb.optimal(graph, rb.DP("0.3"))
    ax = plots.regions(mechanism, shape=(30, 30))
    image = np.asarray(ax.images[0].get_array())
    assert image.shape == (30, 30, 3)
    assert to_hex(image[0, 0]) == BLUE  # deepest in the first region
    shades = image[14, :15].sum(axis=-1)
    assert (shades[-1] >= shades).all()  # palest at the border
    assert set(words(ax)) == {"nw", "ne", "sw", "se"}
    scattered = plots.regions(mechanism, places)
    (points,) = (c for c in scattered.collections if isinstance(c, PathCollection))
    assert points.get_rasterized()
    assert np.asarray(points.get_offsets()) == pytest.approx(places)
    assert points.get_facecolors()[:, :3] == pytest.approx(image.reshape(-1, 3))  # type: ignore[attr-defined]
    text = plots.save(scattered, tmp_path / "map.svg").read_text()
    assert text.count("<image") == 2
    assert_readable(scattered)


def test_a_graph_alone_is_colored_by_depth() -> None:
    graph, _ = grid(8)
    shown = np.asarray(plots.regions(graph, shape=(8, 8)).images[0].get_array())
    assert to_hex(shown[0, 0]) == BLUE
    assert shown[3, 3].sum() > shown[1, 1].sum()


def test_more_regions_than_colors_still_differ_where_they_touch() -> None:
    size = 20
    graph = rb.RainbowGraph(
        [(i, i + 1) for i in range(size - 1)], dict.fromkeys(range(size), ("yes", "no")),
        labels=list(range(size)),
    )  # fmt: skip
    shades = np.asarray(plots.regions(graph, shape=(1, size)).images[0].get_array())[0]
    assert (np.abs(np.diff(shades, axis=0)).sum(axis=1) > 0.05).all()


def test_a_map_needs_places() -> None:
    graph, places = grid(4)
    for arguments in ({}, {"shape": (3, 3)}, {"shape": (4, 4), "positions": places}):
        with pytest.raises(rb.RainbowError):
            plots.regions(graph, **arguments)


@pytest.mark.slow
def test_a_map_of_many_datasets_is_a_small_vector_file(tmp_path: Path) -> None:
    graph, places = grid(500)
    mechanism = rb.optimal(graph, rb.DP("0.02"))
    ax = plots.regions(mechanism, places)
    assert plots.save(ax, tmp_path / "map.svg").stat().st_size < 1_000_000


# The paper


@pytest.mark.slow
def test_every_figure_of_the_paper_is_readable() -> None:
    drawn = {place: draw() for place, draw in figures().items()}
    assert list(drawn) == ["Fig. 1(A)", "Fig. 1(B)", "Fig. 2", "Fig. 3", "Fig. 4", "Fig. 5"]
    for ax in drawn.values():
        assert_readable(ax)


@pytest.mark.slow
@pytest.mark.parametrize(("place", "delta"), [("Fig. 4", "0.001"), ("Fig. 5", "0.01")])
def test_the_printed_curves_stand_beside_the_right_ones(place: str, delta: str) -> None:
    ax = figures()[place]()
    right = rb.DP.from_ratio(paper.RATIO, delta=delta)
    sums = list(itertools.accumulate(paper.BOUNDARY))
    for depth in range(41):
        for number in range(5):
            low = sums[number - 1] if number else Fraction(0)
            printed = line(ax, f"{number + 1} as printed")[1][10 * depth]
            assert printed == pytest.approx(float(sums[number] - low), abs=1e-12)
            ours = line(ax, str(number + 1))[1][10 * depth]
            assert ours == pytest.approx(right.rows(paper.BOUNDARY, depth)[number], abs=1e-12)
        sums = [paper.printed_step(s, paper.RATIO, Fraction(delta)) for s in sums]
    assert (printed_curves(delta, np.arange(0, 40, 0.1)) >= -1e-12).all()


# What all share


def one_of_each() -> dict[str, Any]:
    graph, places = grid(4)
    compared = rb.compare(rb.Winner(["a", "b"]), rb.DP(1), margins=[1, 2])
    return {
        "graph": lambda ax: plots.graph(PATH, ax=ax),
        "boundary_graph": lambda ax: plots.boundary_graph(PATH, ax=ax),
        "growth": lambda ax: plots.growth(rb.DP(1), (0.2, 0.8), ax=ax),
        "trade_off": lambda ax: plots.trade_off(rb.DP(1), ax=ax),
        "worst_pair": lambda ax: plots.worst_pair(rb.optimal(PATH, rb.DP(1)), ax=ax),
        "comparison": lambda ax: plots.comparison(compared, ax=ax),
        "regions": lambda ax: plots.regions(graph, places, ax=ax),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", one_of_each())
def test_axes_are_taken_and_given_back_and_settings_left_alone(name: str, tmp_path: Path) -> None:
    before = dict(rcParams)
    ax = Figure().add_subplot()
    assert one_of_each()[name](ax) is ax
    own = one_of_each()[name](None)
    assert isinstance(own.get_figure(), Figure)
    assert plots.save(own, tmp_path / f"{name}.svg").read_bytes().startswith(b"<?xml")
    assert dict(rcParams) == before
    assert set(plots.__all__) == {*one_of_each(), "save"}


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "start"), [("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_other_kinds_of_files(kind: str, start: bytes, tmp_path: Path) -> None:
    before = dict(rcParams)
    file = plots.save(plots.graph(PATH), tmp_path / f"graph.{kind}")
    assert file.read_bytes().startswith(start)
    assert dict(rcParams) == before


@pytest.mark.slow
def test_the_same_figure_gives_the_same_bytes(tmp_path: Path) -> None:
    for kind in ("svg", "pdf"):
        path = tmp_path / f"a.{kind}"
        one = plots.save(plots.graph(PATH), path).read_bytes()
        assert plots.save(plots.graph(PATH), path).read_bytes() == one


def test_a_figure_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    ax = plots.graph(PATH)
    for path, said in (
        (tmp_path / "figure.gif", "figure.gif"),
        (tmp_path / "nowhere" / "figure.svg", "No such file"),
    ):
        with pytest.raises(rb.RainbowError) as refused:
            plots.save(ax, path)
        reference.assert_one_sentence(refused.value, said)
    assert list(tmp_path.iterdir()) == []


@given(st.lists(st.floats(-1, 2), min_size=1, max_size=8), st.floats(0.01, 0.1))
def test_labels_are_spread_as_little_as_can_be(wanted: list[float], gap: float) -> None:
    found = spread(wanted, gap, 0.0, 1.0)
    order = np.argsort(wanted, kind="stable")
    assert (np.diff(found[order]) >= gap - 1e-9).all()
    assert found.min() >= -1e-9
    assert found.max() <= 1 + 1e-9
    settled = spread(found, gap, 0.0, 1.0)
    assert settled == pytest.approx(found)


def test_dark_enough_to_see() -> None:
    assert darker("#000000", 4.5) == "#000000"
    assert darker("#ffff00", 4.5) < "#a0a000"


@pytest.mark.slow
def test_drawing_leaves_pyplot_alone_and_a_missing_library_names_its_extra() -> None:
    script = """
import sys
import rainbowdp as rb
from rainbowdp import plots
plots.growth(rb.DP(1), (0.2, 0.8))
print("matplotlib.pyplot" in sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
    script = "import sys; sys.modules['matplotlib'] = None\nimport rainbowdp.plots"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.stderr.strip().endswith("this needs Matplotlib: pip install 'rainbowdp[plot]'")
