"""Maps: what is lost and what is learned, beside what others use, under the same guarantee.

    python benchmarks/maps.py plane [--size 14] [--epsilon 0.2,0.5,1]
    python benchmarks/maps.py roads [ROADS] [--sites 5,20,100] [--epsilon 0.05,0.2,1]
    python benchmarks/maps.py extracts [ROADS] [--nodes 4000] [--sites 5] [--epsilon 0.05,0.2,1]
    python benchmarks/maps.py stand-in [--like florida|north-east] [--sites 20] [--epsilon 0.2]
    python benchmarks/maps.py picture

**plane**: a square of places, neighbors one king's move apart, so that our ε per move implies ε per
unit of straight distance: the promise of planar Laplace noise. Beside it planar Laplace noise, then
the nearest site; the same, each noisy point remapped by the prior (Chatzikokolakis et al. 2017);
the exponential mechanism with the distance as its score; and the least loss of any mechanism, by
our linear program and, where the package ``qif`` (libqif) is installed, by theirs.

**roads**: a road graph; goals are the nearest site, and the distance to the site that is named.
Others: exponential and permute-and-flip, with the margin and with the distance as the score, and
noise, then the nearest site (a junction drawn with weight e^{−εd/2}), on a sample of junctions.

**extracts**: ``rb.best`` without the program beside the program.

**stand-in**: made-up roads with as many junctions and roads as DIMACS's Florida (1,070,376 and
1.27 a junction) or North-East (1,524,453 and 1.28), whose files are not here. Streets on a grid, a
strip four times as long as wide for Florida; a quarter of them is left out at random, and what does
not hang together with the rest; then as many streets are broken by a bend as the junctions ask for,
since most nodes of a road map have two roads. The chances are valued on 20,000 random nodes.

Each prints Markdown, and a line for everything that is better than best.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import math
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

import rainbowdp as rb
from graphs import EXTRACT, extract
from rainbowdp.graphs.truth import true_answers
from rainbowdp.mechanisms.best_on_graphs import KINDS, best_on_graph
from rainbowdp.numeric.coins import first_heads

BLOCK = 1 << 14
SAMPLE = 100


class Rows:
    """Rows that somebody else made, on our graph."""

    def __init__(self, graph: rb.RainbowGraph, rows: Any, name: str) -> None:
        self.graph, self.rows, self.name = graph, rows, name

    def rows_at(self, positions: Any) -> Any:
        """The rows of some places."""
        return self.rows[positions]


def square(size: int) -> tuple[Any, Any]:
    """Points of a square, and each king's move once."""
    number = np.arange(size * size).reshape(size, size)
    moves = [
        (number[:-1], number[1:]),
        (number[:, :-1], number[:, 1:]),
        (number[:-1, :-1], number[1:, 1:]),
        (number[:-1, 1:], number[1:, :-1]),
    ]
    pairs = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in moves])
    return np.stack(np.divmod(np.arange(size * size), size), axis=1).astype(float), pairs


def planar_laplace(
    points: Any, sites: Any, epsilon: float, prior: Any, away: Any
) -> tuple[Any, Any]:
    """Chances of each site: the nearest to the noisy point, and the best for it by the prior."""
    step, reach = 0.5, 10 / epsilon
    low, high = points.min(axis=0) - reach, points.max(axis=0) + reach
    axes = [np.arange(a, b + step, step) for a, b in zip(low, high, strict=True)]
    cells = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    nearest = np.hypot(*(cells[:, None] - sites[None]).transpose(2, 0, 1)).argmin(axis=1)
    noise = np.empty((len(points), len(cells)), dtype=np.float32)
    for number, point in enumerate(points):
        row = np.exp(-epsilon * np.hypot(*(cells - point).T))
        noise[number] = row / row.sum()
    lost = (noise * prior[:, None].astype(np.float32)).T @ away.astype(np.float32)
    best = lost.argmin(axis=1)
    found = []
    for chosen in (nearest, best):
        rows = np.stack([noise[:, chosen == s].sum(axis=1) for s in range(len(sites))], axis=1)
        found.append(rows / rows.sum(axis=1, keepdims=True))
    return found[0], found[1]


def with_qif(points: Any, away: Any, prior: Any, epsilon: float) -> Any:
    """The program of libqif: least loss with ε a king's move, farther pairs by chaining."""
    qif: Any = importlib.import_module("qif")

    def moves(a: int, b: int) -> float:
        return float(np.abs(points[a] - points[b]).max())

    return qif.mechanism.d_privacy.min_loss_given_d(
        prior,
        away.shape[1],
        lambda a, b: epsilon * moves(a, b),
        lambda d, v: float(away[d, v]),
        d_priv_ch=lambda a, b: moves(a, b) > 1,
    )


def plane(size: int, epsilons: list[str]) -> list[str]:
    points, pairs = square(size)
    random = np.random.default_rng(7)
    chosen = np.sort(random.choice(len(points), 6, replace=False))
    sites, centers = points[chosen], points[random.choice(len(points), 3, replace=False)]
    prior = sum(np.exp(-np.hypot(*(points - c).T) / 3) for c in centers)
    prior /= prior.sum()
    away = np.hypot(*(points[:, None] - sites[None]).transpose(2, 0, 1))
    names = [int(site) for site in chosen]
    orders = {names[k]: tuple(names[j] for j in np.argsort(away[chosen[k]])) for k in range(6)}
    labels = [names[k] for k in away.argmin(axis=1)]
    graph = rb.RainbowGraph(pairs, orders, names, labels=labels)
    lost: list[str] = []
    print(
        f"{len(points)} places, 6 sites; the nearest site is {prior @ away.min(axis=1):.3f} away.\n"
    )
    print(
        "| ε | mechanism | distance | extra | within 3 | true site | region guessed | "
        "place missed by |"
    )
    print("| --- " * 8 + "|")
    for text in epsilons:
        promise, epsilon = rb.DP(text), float(text)
        first, second = planar_laplace(points, sites, epsilon, prior, away)
        scored = np.exp(-epsilon / 2 * away)
        program = rb.program(
            graph, promise, utility=-away, weights=prior, progress=lambda line: None
        )
        without = [kind for kind in KINDS if kind != "program"]
        ours = best_on_graph(graph, promise, -away, prior, kinds=without)
        peers = {
            f"best: {ours.name}": ours,
            "best, remapped": rb.remap(ours, prior, -away),
            "planar Laplace, nearest": Rows(graph, first, "planar"),
            "planar Laplace, remapped": Rows(graph, second, "planar"),
            "exponential by distance": Rows(graph, scored / scored.sum(axis=1, keepdims=True), "e"),
            "permute-and-flip by distance": Rows(graph, _flip(away, epsilon), "f"),
            "linear program": program.mechanism,
        }
        if importlib.util.find_spec("qif") is not None:
            started = time.process_time()
            channel = np.asarray(with_qif(points, away, prior, epsilon))
            print(f"libqif's program took {time.process_time() - started:.1f} s.", flush=True)
            peers["libqif's program"] = Rows(graph, channel, "qif")
        least = math.inf
        for name, peer in peers.items():
            told = rb.assess(peer, away, prior=prior, within=[3], coordinates=points)
            assert told.loss is not None
            assert told.attack is not None
            print(
                f"| {text} | {name} | {told.loss.distance:.3f} | {told.loss.extra:.3f} | "
                f"{told.loss.within[3]:.1%} | {told.truth:.1%} | {told.attack.region_after:.1%} | "
                f"{told.attack.error_after:.3f} |",
                flush=True,
            )
            if name.startswith("best"):
                least = min(least, told.loss.distance)
            elif "program" not in name and told.loss.distance < least * (1 - 1e-9):
                lost.append(f"ε = {text}: {name} is {told.loss.distance:.3f} away, we {least:.3f}")
    return lost


def _flip(away: Any, epsilon: float) -> Any:
    return first_heads(np.exp(-epsilon / 2 * (away - away.min(axis=1, keepdims=True))))


def with_sites(edges: Any, count: int, seed: int) -> tuple[rb.RainbowGraph, list[Any]]:
    names = edges.names
    chosen = np.random.default_rng(seed).choice(len(names), count, replace=False)
    nodes = [names[int(place)] for place in sorted(chosen)]
    near = rb.nearest_sites(edges, nodes)
    return rb.RainbowGraph(edges, near.rainbows, near.names, labels=near.labels), nodes


def roads(
    edges: Any,
    counts: list[int],
    epsilons: list[str],
    goals: list[str],
    valued: int | None = None,
    seed: int = 1,
) -> list[str]:
    """Goals are errors in %, and how much farther the named site is than the nearest.

    Valued on so many random nodes, the same for all, or on all.
    """
    lost = []
    print(
        "| sites | ε | goal | best | its value | exponential | permute-and-flip | exponential by "
        "distance | permute-and-flip by distance | noise (sample) | best (sample) | seconds |"
    )
    print("| --- " * 12 + "|")
    for count in counts:
        graph, nodes = with_sites(edges, count, seed)
        away = rb.site_distances(graph, nodes)
        away[np.isinf(away)] = away[np.isfinite(away)].max()
        truth = true_answers(graph)
        every = np.arange(len(graph))
        if valued is not None and valued < len(graph):
            every = np.sort(np.random.default_rng(2).choice(len(graph), valued, replace=False))
        places = np.random.default_rng(0).choice(len(graph), min(SAMPLE, len(graph)), replace=False)
        hops = np.stack([_from(graph, int(place)) for place in places])
        for text in epsilons:
            epsilon = float(text)
            noise = np.empty((len(places), count))
            for row, far in enumerate(hops):
                weights = np.exp(-epsilon / 2 * far)
                noise[row] = np.bincount(truth, weights, count) / weights.sum()
            for goal in goals:
                table = None if goal == "error" else -away
                started = time.process_time()
                choice = rb.best(graph, rb.DP(text), utility=table)
                spent = time.process_time() - started
                shown = _ours(choice.mechanism, every, goal, truth, away)
                others = _others(graph, away, truth, every, epsilon, goal)
                right, away_here = truth[places], away[places]
                sampled = _value(noise, goal, right, away_here)
                here = _value(choice.mechanism.rows_at(places), goal, right, away_here)
                line = [_shown(x, goal) for x in (shown, *others.values(), sampled, here)]
                print(
                    f"| {count} | {text} | {goal} | {choice.name} | {' | '.join(line)} | "
                    f"{spent:.1f} |",
                    flush=True,
                )
                for name, other in {**others, "noise (sample)": sampled}.items():
                    if other < (here if "sample" in name else shown) * (1 - 1e-9):
                        lost.append(
                            f"{count} sites, ε = {text}, {goal}: {name} {_shown(other, goal)}"
                        )
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"\nLargest memory: {most:.2f} GB.\n")
    return lost


def _value(rows: Any, goal: str, right: Any, away: Any) -> float:
    if goal == "error":
        return 1 - float(rows[np.arange(len(rows)), right].mean())
    return float(((rows * away).sum(axis=1) - away.min(axis=1)).mean())


def _shown(value: float, goal: str) -> str:
    return f"{value:.2%}" if goal == "error" else f"{value:.3g}"


def _from(graph: rb.RainbowGraph, place: int) -> Any:
    start = np.zeros(len(graph), dtype=np.bool_)
    start[place] = True
    return graph.distances(start)


def _ours(made: Any, every: Any, goal: str, truth: Any, away: Any) -> float:
    total = 0.0
    for start in range(0, len(every), BLOCK):
        part = every[start : start + BLOCK]
        total += _value(made.rows_at(part), goal, truth[part], away[part]) * len(part)
    return total / len(every)


def _others(
    graph: rb.RainbowGraph, away: Any, truth: Any, every: Any, epsilon: float, goal: str
) -> dict[str, float]:
    """Mean errors or extra steps of what anybody would write in ten lines."""
    from rainbowdp.graphs.margins import whole_margins, with_infinity

    margins = whole_margins(graph)
    names = [
        f"{kind}{by}" for by in ("", " by distance") for kind in ("exponential", "permute-and-flip")
    ]
    total = dict.fromkeys(names, 0.0)
    for start in range(0, len(every), BLOCK):
        part = every[start : start + BLOCK]
        block, far = with_infinity(margins[part]), away[part].astype(np.float64)
        for by, score in (("", block), (" by distance", far - far.min(axis=1, keepdims=True))):
            chances = np.exp(-epsilon / 2 * score)
            for kind, rows in (
                ("exponential", chances / chances.sum(axis=1, keepdims=True)),
                ("permute-and-flip", first_heads(chances)),
            ):
                total[kind + by] += _value(rows, goal, truth[part], far) * len(part)
    return {name: value / len(every) for name, value in total.items()}


def extracts(edges: Any, size: int, sites: list[int], epsilons: list[str]) -> None:
    """Without the program among the candidates, beside it."""
    kinds = [kind for kind in KINDS if kind != "program"]
    print(
        "| nodes | sites | ε | best without the program | its error | program | above | seconds |"
    )
    print("| --- " * 8 + "|")
    pairs = extract(edges, size, 3)
    nodes = np.unique(pairs)
    for count in sites:
        chosen = [int(s) for s in np.random.default_rng(5).choice(nodes, count, replace=False)]
        near = rb.nearest_sites(pairs, chosen)
        graph = rb.RainbowGraph(pairs, near.rainbows, near.names, labels=near.labels)
        for text in epsilons:
            choice = best_on_graph(graph, rb.DP(text), kinds=kinds)
            started = time.process_time()
            found = rb.program(graph, rb.DP(text), progress=lambda line: None)
            spent = time.process_time() - started
            least, error = 1 - found.objective / len(graph), 1 - choice.value
            print(
                f"| {len(graph)} | {count} | {text} | {choice.name} | {error:.3%} | {least:.3%} | "
                f"{error / least - 1:.1%} | {spent:.1f} |",
                flush=True,
            )


LIKE = {"florida": (1_070_376, 4, 1.27), "north-east": (1_524_453, 1, 1.28)}


def stand_in(nodes: int, longer: float, roads_each: float, seed: int = 3) -> Any:
    """Streets on a grid with gaps and bends: so many nodes, and roads for each of them."""
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    random = np.random.default_rng(seed)
    crossings = nodes * 0.55  # about; the bends make up for what is missing
    width = math.isqrt(round(crossings / longer))
    number = np.arange(round(crossings / width) * width).reshape(-1, width)
    pairs = np.concatenate(
        [
            np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1),
            np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1),
        ]
    )
    pairs = pairs[random.random(len(pairs)) > 0.25]
    joined = sparse.coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(number.size,) * 2)
    part = connected_components(joined, directed=False)[1]
    kept = part == np.bincount(part).argmax()
    place = np.cumsum(kept) - 1
    pairs, held = place[pairs[kept[pairs[:, 0]]]], int(kept.sum())
    # With b bends there are len(pairs) + b roads and held + b nodes; the rest are dead ends.
    bends = round((len(pairs) - roads_each * held) / (roads_each - 1))
    broken = random.integers(0, len(pairs), min(bends, nodes - held))
    many = np.bincount(broken, minlength=len(pairs))
    found = [pairs[many == 0]]
    following = held
    for bent in range(1, int(many.max(initial=0)) + 1):
        streets = pairs[many == bent]
        inner = following + np.arange(len(streets) * bent).reshape(-1, bent)
        chain = np.column_stack([streets[:, 0], inner, streets[:, 1]])
        found += [chain[:, k : k + 2] for k in range(bent + 1)]
        following += inner.size
    ends = random.integers(0, following, nodes - following)
    found.append(np.stack([ends, following + np.arange(len(ends))], axis=1))
    return rb.Edges(np.concatenate(found), range(nodes))


def picture(target: Path) -> None:
    """Where a device that answered may be, for two values of ε, on a square of 40 by 40 places."""
    from matplotlib.figure import Figure
    from matplotlib.patheffects import withStroke

    points, pairs = square(40)
    sites = {"Ash": 9 * 40 + 8, "Birch": 12 * 40 + 31, "Cedar": 32 * 40 + 20}
    near = rb.nearest_sites(pairs, sites)
    graph = rb.RainbowGraph(pairs, near.rainbows, near.names, labels=near.labels)
    figure = Figure(figsize=(8.4, 3.1), layout="constrained")
    axes = figure.subplots(1, 3)
    shown = [("by the prior: anywhere", np.full(len(graph), 1 / len(graph)))]
    for text in ("0.1", "0.5"):
        made = rb.by_kind(graph, rb.DP(text), "margin-flip")
        shown.append((f"after the answer Ash, ε = {text}", rb.posterior(made, "Ash")))
    most = max(float(chances.max()) for _, chances in shown)
    for axis, (title, chances) in zip(axes, shown, strict=True):
        image = axis.imshow(
            chances.reshape(40, 40).T, origin="lower", cmap="magma_r", vmin=0, vmax=most
        )
        for number in range(3):
            own = (near.numbers == number).astype(float).reshape(40, 40).T
            axis.contour(own, levels=[0.5], colors="0.35", linewidths=0.8)
        for name, node in sites.items():
            axis.plot(*points[node], "o", color="white", markeredgecolor="black", markersize=6)
            axis.annotate(
                name,
                points[node],
                (0, 8),
                textcoords="offset points",
                ha="center",
                fontsize=9,
                path_effects=[withStroke(linewidth=2.5, foreground="white")],
            )
        axis.set_title(title, fontsize=10)
        axis.set_xticks([])
        axis.set_yticks([])
    figure.colorbar(image, ax=axes, label="chance of a place", format="%.4f", shrink=0.9)
    figure.savefig(target, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["plane", "roads", "extracts", "stand-in", "picture"])
    parser.add_argument("roads", nargs="?", type=Path, default=EXTRACT)
    parser.add_argument("--size", type=int, default=14)
    parser.add_argument("--nodes", type=int, default=4000)
    parser.add_argument("--sites", default="5,20,100")
    parser.add_argument("--epsilon", default="0.05,0.2,1")
    parser.add_argument("--like", choices=list(LIKE), default="florida")
    parser.add_argument("--goal", default="error,extra steps")
    given = parser.parse_args()
    epsilons, sites = given.epsilon.split(","), [int(n) for n in given.sites.split(",")]
    if given.what == "extracts":
        extracts(rb.read_graph(given.roads), given.nodes, sites, epsilons)
        return
    if given.what == "picture":
        picture(Path(__file__).parents[1] / "docs" / "figures" / "posterior.png")
        return
    if given.what == "plane":
        lost = plane(given.size, epsilons)
    elif given.what == "stand-in":
        made = stand_in(*LIKE[given.like])
        print(f"{len(made.names):,} nodes, {len(made.pairs):,} roads.\n")
        lost = roads(made, sites, epsilons, given.goal.split(","), 20_000)
    else:
        lost = roads(rb.read_graph(given.roads), sites, epsilons, given.goal.split(","))
    print("\n".join(f"Lost: {line}." for line in lost) or "Nothing is better than best.")


if __name__ == "__main__":
    main()
