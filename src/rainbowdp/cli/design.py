"""``rainbow design``: an edge file in, a checked mechanism file out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rainbowdp.cli.design_on_disk import (
    ON_DISK,
    DiskGoalAsked,
    DiskLengthsAsked,
    DiskRequest,
    design_on_disk,
    engine_for,
    must_go_together,
)
from rainbowdp.cli.maps import all_reached, counted, places_as_nodes, sites_from
from rainbowdp.cli.output import (
    AsJson,
    guarantee_from,
    print_facts,
    print_json,
    progress_bar,
    working,
)
from rainbowdp.cli.per_length import Measured, PerLength
from rainbowdp.deployment import DEPLOYED, Deployment, deploy
from rainbowdp.display.numbers import uncertain
from rainbowdp.errors import RainbowError

if TYPE_CHECKING:
    from rainbowdp.graphs.edges import Edges
    from rainbowdp.graphs.graph import RainbowGraph
    from rainbowdp.guarantees.guarantee import Guarantee
    from rainbowdp.mechanisms.best_on_graphs import Choice


KINDS = ("best", *DEPLOYED)
ENGINES = ("auto", "memory", "duckdb")
UNREACHED = ("refuse", "first")
_FEW = 8  # columns of keys that are listed


def _one_of(known: Sequence[str]) -> Callable[[str], str]:
    def checked(value: str) -> str:
        if value not in known:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(known)}.")
        return value

    return checked


def design(
    edges: Annotated[
        Path,
        typer.Argument(
            metavar="EDGES",
            help="The graph: .gr (PACE or DIMACS, also .gz or .xz), .parquet, .csv, .npy, "
            ".graphml, OpenStreetMap (.osm.pbf, .osm), or an edge list (.txt, .edges).",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="The mechanism file; the nodes go beside it, ending in .parquet."
        ),
    ],
    sites: Annotated[
        str | None,
        typer.Option(
            help="Label nodes by the nearest of these: 17,5000 or Bellevue=17,Sinai=5000; in an "
            "OpenStreetMap file also LATITUDE/LONGITUDE for the nearest node."
        ),
    ] = None,
    unreached: Annotated[
        str,
        typer.Option(
            callback=_one_of(UNREACHED),
            autocompletion=lambda: list(UNREACHED),
            metavar="RULE",
            help="What becomes of nodes that no site reaches: 'refuse' stops, 'first' gives them "
            "to the first site.",
        ),
    ] = UNREACHED[0],
    labels: Annotated[
        Path | None, typer.Option(help="Or a file of labels: columns node and label, or .npy.")
    ] = None,
    rainbows: Annotated[
        Path | None,
        typer.Option(help="For --labels: a table of each label and its answers, best first."),
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option(help="ε between neighbors, exactly as written: 1, 0.5 or 1/3.")
    ] = None,
    delta: Annotated[str, typer.Option(help="δ, for (ε,δ)-privacy.")] = "0",
    mu: Annotated[str | None, typer.Option(help="μ, for Gaussian privacy instead of ε.")] = None,
    epsilon_per_km: Annotated[
        str | None,
        typer.Option(help="Instead of ε between neighbors: ε for each kilometer between places."),
    ] = None,
    mu_per_km: Annotated[
        str | None, typer.Option(help="The same for μ, Gaussian privacy by length.")
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            help="The length of one step, to which lengths are rounded down: 10m. By default the "
            "longest round one in which 95 % of all length counts."
        ),
    ] = None,
    lengths_in: Annotated[
        str | None,
        typer.Option(help="What a length of 1 in the file is: km, ft, 0.1m. By default a meter."),
    ] = None,
    coordinates: Annotated[
        Path | None,
        typer.Option(help="A DIMACS .co file: lengths are then measured by it, as the crow flies."),
    ] = None,
    kind: Annotated[
        str,
        typer.Option(
            "--mechanism",
            callback=_one_of(KINDS),
            autocompletion=lambda: list(KINDS),
            metavar="KIND",
            help=f"One of {', '.join(KINDS)}. Best makes all of them and takes the one that says "
            "the true answer most often in the mean over nodes, or has the least loss.",
        ),
    ] = KINDS[0],
    boundary: Annotated[
        str | None,
        typer.Option(
            help="Homogeneous only, the rows where regions touch: 'worst' makes the least sure one "
            "as sure as possible, 'total' the sum over all nodes, 'symmetric' needs no program; or "
            "the row itself, first choice first: 0.6,0.3,0.1."
        ),
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="The two ends of an edge, where a table has more columns.")
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(
            help="The column or GraphML attribute of lengths; sites are then nearest by length."
        ),
    ] = None,
    weighted: Annotated[
        bool,
        typer.Option(
            "--weighted", help="Nearest by the lengths of a DIMACS file, neighbors by edge."
        ),
    ] = False,
    hops: Annotated[
        bool, typer.Option("--hops", help="Count edges, though the file has lengths.")
    ] = False,
    loss: Annotated[
        str | None,
        typer.Option(
            help="What an answer costs, for best and for --boundary total: a file with a line of "
            "answers and then a line for each region, or 'distance' from a node to the named site."
        ),
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option(help="What a node counts, 0 if not listed: columns node and weight, or .npy."),
    ] = None,
    forbid: Annotated[
        str | None, typer.Option(help="Answers that are never given: Bellevue,Sinai.")
    ] = None,
    ties: Annotated[
        str | None,
        typer.Option(
            help="For --rainbows: what joins answers that are as good as each other: '|'."
        ),
    ] = None,
    tiles: Annotated[
        Path | None,
        typer.Option(
            help="For phones: a table of each node and its tile. The tiles go to a folder beside "
            "the mechanism, ending in .tiles; rainbow check --tiles proves every edge of them."
        ),
    ] = None,
    sqlite: Annotated[
        bool, typer.Option("--sqlite", help="Also a database, ending in .db, to draw in SQL.")
    ] = False,
    engine: Annotated[
        str,
        typer.Option(
            callback=_one_of(ENGINES),
            autocompletion=lambda: list(ENGINES),
            metavar="ENGINE",
            help="Where the graph is searched: 'memory', or 'duckdb' on disk, for graphs that are "
            "larger than memory; 'auto' goes by size and says so.",
        ),
    ] = ENGINES[0],
    memory: Annotated[
        str | None,
        typer.Option(
            help="What duckdb may use: 2GB. By default a quarter of the machine's memory."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Design a private mechanism for a graph, and prove it.

    Nodes are places, neighbors are one edge apart, and the answer is the region: the nearest
    site, or a label of your own. Writes two files: the mechanism, as readable JSON that proves
    itself; and the key of each node, which is all that a device needs to draw its answer: its
    region (for a fixed point, the number of its row) and a depth, or a margin for each answer. Each
    file appears whole or not at all.

    A tie goes to the site listed first. A node that no site reaches is refused, or goes to the
    first site by `--unreached first`. Nodes that reach no other region answer without noise. What
    is best depends on your goal: `--loss` says what an answer costs, `--weights` how many people
    live at each node, `--forbid` what is never answered.

    Example: `rainbow design roads.gr.xz --sites 17,5000,9000 --epsilon 0.1 -o hospitals.json`

    By length, where the file has lengths:
    `rainbow design roads.gr --sites 17,5000 --epsilon-per-km 2 --unit 10m -o hospitals.json`

    Then on a phone with its own margins:
    `rb.load("hospitals.json").release({17: 0, 5000: 4, 9000: 21})`, or, where the mechanism is
    homogeneous, with its region and depth: `release((5000, 4))`.
    """
    from rainbowdp.graphs.edges import Ids
    from rainbowdp.graphs.readers.edges import read_graph
    from rainbowdp.graphs.readers.nodes import read_labels

    started = time.perf_counter()
    asked = PerLength.asked(epsilon_per_km, mu_per_km, unit, lengths_in, coordinates)
    guarantee = None
    if asked is None:
        guarantee = guarantee_from(epsilon, delta, mu)
    elif epsilon is not None or mu is not None or delta != "0" or weighted or hops:
        raise RainbowError(
            "A promise by length stands alone: leave out --epsilon, --mu, --delta, --weighted and "
            "--hops."
        )
    if (sites is None) == (labels is None):
        raise RainbowError("a design needs either --sites or --labels, got both or none")
    if sites is None and unreached != UNREACHED[0]:
        raise RainbowError("--unreached is for --sites, got --labels; leave it out")
    if (labels is None) != (rainbows is None):
        raise RainbowError("--labels and --rainbows go together, got one without the other")
    if out.is_dir():
        raise RainbowError(f"--out must be a file, got the folder {out}")
    if not out.absolute().parent.is_dir():
        raise RainbowError(f"the folder of --out must exist, got {out}")
    if tiles is not None:
        _must_be_new(out.with_suffix(".tiles"))
    if sites is not None:
        sites = places_as_nodes(sites, edges)
    ends = None if columns is None else [name.strip() for name in columns.split(",")]
    only_in_memory = {
        "--coordinates": coordinates is not None,
        "--mechanism fixed-point or primal-dual": kind not in ON_DISK,
        "--tiles": tiles is not None,
    }
    needing = [name for name, said in only_in_memory.items() if said]
    if engine_for(edges, engine, needing) == "duckdb":
        on_disk = DiskRequest(
            *(edges, ends, sites, labels, rainbows, guarantee, kind, out, memory),
            lengths=DiskLengthsAsked(weight, weighted or weight is not None, hops, asked),
            goal=DiskGoalAsked(loss, weights, forbid, ties, boundary),
            unreached=unreached,
            sqlite=sqlite,
        )
        design_on_disk(on_disk, as_json=as_json)
        return
    if memory is not None:
        raise RainbowError("--memory is for --engine duckdb; leave it out")
    with working(f"Reading {edges}"):
        loaded = read_graph(edges, columns=ends, weight=weight, nodes=_counted_by(labels, edges))
    measured = None
    if asked is not None:
        loaded, measured = asked.measured(loaded, edges)
        guarantee = measured.step
    else:
        _say_what_lengths_are(loaded, edges, weighted or hops or weight is not None)
    assert guarantee is not None
    placed = None if tiles is None else read_labels(tiles, loaded).tolist()
    beyond = 0
    utility: Any = None
    if sites is not None:
        named = not isinstance(loaded.names, range | Ids)
        found, by_length = sites_from(sites, named), weighted or weight is not None
        nearest = None if measured is not None else by_length
        with all_reached(edges):
            graph, beyond = _by_sites(loaded, found, nearest, unreached)
        if loss == "distance":
            by_length = by_length or measured is not None
            with working("Measuring distances"):
                utility = _minus_distance(loaded if by_length else graph, found, by_length)
    else:
        assert labels is not None
        assert rainbows is not None
        graph, utility = _by_labels(loaded, labels, rainbows, ties)
        if loss == "distance":
            raise RainbowError("--loss distance needs --sites, got --labels; give a loss matrix")
    goal = _goal(graph, loaded, utility, loss, weights, forbid)
    with working("Designing and proving the mechanism"):
        deployed, drawn = _deployed(graph, guarantee, kind, boundary, goal)
    with working(f"Writing {out}"):
        written = deployed.save(out)
        _save_for_phones(deployed, out, placed, sqlite)
    seconds = time.perf_counter() - started
    _show(deployed, drawn, beyond, written, seconds, as_json, goal, measured)


def _must_be_new(folder: Path) -> None:
    """Refuse tiles that could not be written, before the work and before any other file is."""
    if folder.exists():
        raise RainbowError(f"the folder of the tiles must be new, got {folder}; remove it first")


def _save_for_phones(
    deployed: Deployment, out: Path, placed: list[Any] | None, sqlite: bool
) -> None:
    if placed is not None:
        deployed.save_tiles(out, placed, folder=out.with_suffix(".tiles"))
    if sqlite:
        deployed.save_sqlite(out.with_suffix(".db"), placed)


def _say_what_lengths_are(loaded: Edges, path: Path, said: bool) -> None:
    """Refuse lengths that nothing was said of: they are not dropped in silence."""
    if loaded.weights is not None and not said and not (loaded.weights == 1).all():
        raise RainbowError(
            f"{path} has lengths, and --epsilon and --mu count edges. Give --epsilon-per-km or "
            "--mu-per-km to go by length, --weighted for the nearest site by length, or --hops."
        )


def _counted_by(labels: Path | None, edges: Path) -> int | None:
    """How many nodes an array of labels is for: it names none, so they are 0, 1, 2, …"""
    from rainbowdp.graphs.readers.edges import load_npy

    if labels is None or labels.suffix != ".npy" or ".gr" in edges.suffixes:
        return None
    return load_npy(labels).size


def _by_sites(
    loaded: Edges, sites: dict[Any, int | str], weighted: bool | None, unreached: Any
) -> tuple[RainbowGraph, int]:
    """The graph, and how many nodes no site reaches."""
    from rainbowdp.graphs.graph import RainbowGraph
    from rainbowdp.graphs.lengths import with_lengths
    from rainbowdp.graphs.sites import nearest_sites

    with progress_bar("Finding the nearest sites") as progress:
        near = nearest_sites(
            loaded, sites, weighted=weighted, unreached=unreached, progress=progress
        )
    loaded = loaded if weighted is None else with_lengths(loaded, False)
    graph = RainbowGraph(loaded, near.rainbows, near.names, labels=near.labels)
    return graph, near.unreached


def _by_labels(
    loaded: Edges, labels: Path, rainbows: Path, ties: str | None
) -> tuple[RainbowGraph, Any]:
    """The graph, and what its ties are worth if rainbows have several first choices."""
    from rainbowdp.graphs.graph import RainbowGraph
    from rainbowdp.graphs.lengths import with_lengths
    from rainbowdp.graphs.partial import tied_rainbows
    from rainbowdp.graphs.readers.nodes import read_labels, read_rainbows

    marks = read_labels(labels, loaded)
    loaded = loaded if loaded.steps is not None else with_lengths(loaded, False)
    orders = read_rainbows(rainbows, sorted(set(marks.tolist())))
    partial = tied_rainbows(orders, ties)
    graph = RainbowGraph(loaded, partial.rainbows, partial.answers, labels=marks)
    return graph, partial.utility if partial.tied else None


def _minus_distance(edges: Any, sites: dict[Any, Any], by_length: bool) -> Any:
    """Minus the distance to the named site; a site that cannot be reached is as far as any."""
    import numpy as np

    from rainbowdp.graphs.site_distances import site_distances

    found = site_distances(edges, sites, weighted=by_length)
    beyond = np.isinf(found)
    found[beyond] = found[~beyond].max(initial=0.0)
    return np.negative(found, out=found)


@dataclass(frozen=True)
class _Goal:
    """What the designer wants, as ``rb.best`` takes it; ``sign`` is −1 where losses are shown."""

    utility: Any
    weights: Any
    forbid: tuple[Any, ...]
    sign: int

    @property
    def given(self) -> bool:
        """Whether answers or nodes are not all worth the same."""
        return self.utility is not None or self.weights is not None


def _goal(
    graph: RainbowGraph,
    loaded: Edges,
    utility: Any,
    loss: str | None,
    weights: Path | None,
    forbid: str | None,
) -> _Goal:
    from rainbowdp.graphs.readers.goals import read_loss, read_weights

    if loss is not None and loss != "distance":
        costs = read_loss(loss, list(graph.regions), graph.answers)
        utility = {row: {a: -cost for a, cost in each.items()} for row, each in costs.items()}
    counted = None if weights is None else read_weights(weights, loaded)
    named = {str(answer): answer for answer in graph.answers}
    words = [] if forbid is None else [word.strip() for word in forbid.split(",")]
    unwanted = tuple(named.get(word, word) for word in words)
    return _Goal(utility, counted, unwanted, 1 if loss is None else -1)


def _deployed(
    graph: RainbowGraph, promise: Guarantee, kind: str, boundary: str | None, goal: _Goal
) -> tuple[Deployment, str | None]:
    """The mechanism with its keys, and how its boundary was found, in words, if it has one."""
    from rainbowdp.graphs.forbidding import forbid
    from rainbowdp.guarantees.curve import curve_of
    from rainbowdp.mechanisms.boundary import BoundaryCondition
    from rainbowdp.mechanisms.design import design as designed
    from rainbowdp.mechanisms.design import worst_case_boundary
    from rainbowdp.mechanisms.preferring import preferring
    from rainbowdp.mechanisms.worths import goal_of

    guarantee = curve_of(promise, "a mechanism on a graph")
    wanted: dict[str, Any] = {
        "utility": goal.utility,
        "weights": goal.weights,
        "forbid": goal.forbid,
    }
    if kind == "best" and boundary is None:
        return deploy(graph, guarantee, kind, **wanted), None
    must_go_together(kind, boundary, goal.given)
    if boundary is None and kind != "homogeneous":
        return deploy(graph, guarantee, kind, forbid=goal.forbid), None
    condition: BoundaryCondition | Sequence[str]
    if boundary == "total":
        graph, worths = goal_of(graph, **wanted)
        if goal.utility is not None:
            graph = preferring(graph, worths)
        found = designed(graph, guarantee, utility=worths).boundary
        return deploy(found.graph, guarantee, "homogeneous", boundary=found), "designed for the sum"
    graph = forbid(graph, goal.forbid)
    if boundary == "symmetric":
        condition, words = BoundaryCondition.symmetric(graph, guarantee), "symmetric, as asked for"
    elif boundary in (None, "worst"):
        drawn = worst_case_boundary(graph, guarantee, asked=True)
        condition, words = drawn.boundary, drawn.words
    else:
        assert boundary is not None
        condition, words = [part.strip() for part in boundary.split(",")], "as given"
    return deploy(graph, guarantee, "homogeneous", boundary=condition), words


def _show(
    deployed: Deployment,
    drawn: str | None,
    beyond: int,
    written: Path,
    seconds: float,
    as_json: bool,
    goal: _Goal,
    measured: Measured | None = None,
) -> None:
    from rainbowdp.guarantees.descriptions import describe_guarantee

    graph, exact, truth = deployed.graph, deployed.exact(), deployed.truth
    depths = [region.deepest for region in graph.regions.values() if region.deepest is not None]
    certain = sum(region.unbounded for region in graph.regions.values())
    mechanism, nodes = str(written), str(written.with_suffix(".parquet"))
    if as_json:
        print_json(
            {
                "nodes": len(graph),
                "edges": graph.edge_count,
                "regions": len(graph.regions),
                "touching": len(graph.touching),
                "deepest": max(depths, default=None),
                "certain": certain,
                "unreached": beyond,
                "guarantee": describe_guarantee(exact.guarantee),
                "neighbors": exact.neighbors,
                "lengths": None if measured is None else measured.as_dict(),
                "truth": {"least": float(truth.min()), "mean": float(truth.mean())},
                "kind": deployed.name,
                "boundary": drawn,
                "goal": None if deployed.choice is None else deployed.choice.goal,
                "value": None if deployed.choice is None else deployed.choice.value,
                "forbidden": [str(answer) for answer in goal.forbid],
                "candidates": [each.as_dict() for each in deployed.choice.candidates]
                if deployed.choice is not None
                else None,
                "proof": exact.proof.statement,
                "mechanism": mechanism,
                "keys": nodes,
                "seconds": round(seconds, 3),
            }
        )
        return
    steps = "" if measured is None else f" steps of {measured.unit_in_words}"
    deepest = f"at most {max(depths):,}{steps} deep" if depths else "none with a boundary"
    facts = {
        "graph": f"{counted(len(graph), 'node')}, {counted(graph.edge_count, 'edge')}",
        "regions": (
            f"{len(graph.regions):,}, {counted(len(graph.touching), 'pair')} touching, {deepest}"
        ),
        "guarantee": f"{exact.guarantee}, neighbors {exact.neighbors}",
        **({} if measured is None else measured.facts()),
        "kind": _chosen(deployed, drawn, goal),
        "true answer": f"{uncertain(truth.min())} at least, {uncertain(truth.mean())} on average",
        "proved": f"exactly, {exact.proof.statement}; checked on every edge",
    }
    if deployed.choice is not None and goal.sign < 0:
        over = "nodes" if goal.weights is None else "nodes by their weights"
        facts["loss"] = f"{-deployed.choice.value:.4g} in the mean over {over}"
    if certain:
        facts["certain"] = f"{counted(certain, 'node')} with no other region in reach: no noise"
    if beyond:
        facts["unreached"] = f"{counted(beyond, 'node')} with no site in reach: for the first site"
    facts["mechanism"] = mechanism
    facts["nodes"] = f"{nodes}: node, region, {_columns(list(deployed.keys))}"
    print_facts(facts)
    if deployed.choice is not None:
        typer.echo("")
        _print_candidates(deployed.choice, goal)


def _columns(keys: list[str]) -> str:
    if len(keys) <= _FEW:
        return ", ".join(keys)
    return f"{', '.join(keys[:2])}, … ({len(keys)} columns)"


def _chosen(deployed: Deployment, drawn: str | None, goal: _Goal) -> str:
    if deployed.choice is not None:
        if goal.sign < 0:
            told = "loses least of those below"
        elif goal.given:
            told = "does best of those below"
        else:
            told = "says the true answer most often of those below"
        return f"{deployed.name}, which {told}"
    return deployed.name if drawn is None else f"{deployed.name}, its boundary {drawn}"


def _print_candidates(choice: Choice, goal: _Goal) -> None:
    """A line for each kind: its mean chance of the true answer or loss, or why there is none."""
    width = max(len(each.kind) for each in choice.candidates)
    for each in choice.candidates:
        shown = "–"
        if each.value is not None:
            shown = uncertain(each.value) if goal.sign > 0 else f"{-each.value:.4g}"
        typer.echo(f"  {each.kind:<{width}}  {shown:>7}  {each.note}".rstrip())
