"""``rainbow design``: an edge file in, a checked mechanism file out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rainbowdp.cli.output import (
    AsJson,
    guarantee_from,
    print_facts,
    print_json,
    progress_bar,
    working,
)
from rainbowdp.deployment import DEPLOYED, Deployment, deploy
from rainbowdp.errors import RainbowError

if TYPE_CHECKING:
    from rainbowdp.graphs.edges import Edges
    from rainbowdp.graphs.graph import RainbowGraph
    from rainbowdp.guarantees.guarantee import Guarantee
    from rainbowdp.mechanisms.best_on_graphs import Choice


KINDS = ("best", *DEPLOYED)


def _known_kind(value: str) -> str:
    if value not in KINDS:
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(KINDS)}.")
    return value


def design(
    edges: Annotated[
        Path,
        typer.Argument(
            metavar="EDGES",
            help="The graph: .gr (PACE or DIMACS, also .gz or .xz), .parquet, .csv or .npy.",
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
            help="Label nodes by the nearest of these: 17,5000 or Bellevue=17,Sinai=5000."
        ),
    ] = None,
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
    kind: Annotated[
        str,
        typer.Option(
            "--mechanism",
            callback=_known_kind,
            autocompletion=lambda: list(KINDS),
            metavar="KIND",
            help=f"One of {', '.join(KINDS)}. Best makes all of them and takes the one that says "
            "the true answer most often in the mean over nodes.",
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
        str | None, typer.Option(help="The column of lengths; sites are then nearest by length.")
    ] = None,
    weighted: Annotated[
        bool, typer.Option("--weighted", help="Nearest by the lengths of a DIMACS file.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Design a private mechanism for a graph, and prove it.

    Nodes are places, neighbors are one edge apart, and the answer is the region: the nearest
    site, or a label of your own. Writes two files: the mechanism, as readable JSON that proves
    itself, and for each node its region and its key (a depth, or a margin for each answer), which
    are all that a device needs to draw its answer. Each appears whole or not at all.

    A tie goes to the site listed first, and so does a node that no site reaches. Nodes that reach
    no other region answer without noise.

    Example: `rainbow design roads.gr.xz --sites 17,5000,9000 --epsilon 0.1 -o hospitals.json`

    Then on a phone with its own margins:
    `rb.load("hospitals.json").release({17: 0, 5000: 4, 9000: 21})`, or, where the mechanism is
    homogeneous, with its region and depth: `release((5000, 4))`.
    """
    from rainbowdp.graphs.readers.edges import read_graph

    started = time.perf_counter()
    guarantee = guarantee_from(epsilon, delta, mu)
    if (sites is None) == (labels is None):
        raise RainbowError("a design needs either --sites or --labels, got both or none")
    if (labels is None) != (rainbows is None):
        raise RainbowError("--labels and --rainbows go together, got one without the other")
    if not out.absolute().parent.is_dir():
        raise RainbowError(f"the folder of --out must exist, got {out}")
    ends = None if columns is None else [name.strip() for name in columns.split(",")]
    with working(f"Reading {edges}"):
        loaded = read_graph(edges, columns=ends, weight=weight, nodes=_counted_by(labels, edges))
    unreached = 0
    if sites is not None:
        graph, unreached = _by_sites(loaded, _sites(sites), weighted or weight is not None)
    else:
        assert labels is not None
        assert rainbows is not None
        graph = _by_labels(loaded, labels, rainbows)
    with working("Designing and proving the mechanism"):
        deployed, drawn = _deployed(graph, guarantee, kind, boundary)
    with working(f"Writing {out}"):
        written = deployed.save(out)
    seconds = time.perf_counter() - started
    _show(deployed, drawn, unreached, written, seconds, as_json)


def _counted_by(labels: Path | None, edges: Path) -> int | None:
    """How many nodes an array of labels is for: it names none, so they are 0, 1, 2, …"""
    from rainbowdp.graphs.readers.edges import load_npy

    if labels is None or labels.suffix != ".npy" or ".gr" in edges.suffixes:
        return None
    return load_npy(labels).size


def _sites(text: str) -> dict[Any, int]:
    """Names and nodes from ``17,5000`` or ``Bellevue=17,Sinai=5000``."""
    found: dict[Any, int] = {}
    for part in text.split(","):
        name, _, node = part.rpartition("=")
        if not node.strip().isdigit():
            raise RainbowError(
                f"a site must be a node or NAME=NODE, a whole number, got {part.strip()!r}"
            )
        key = name.strip() or int(node)
        if key in found:
            raise RainbowError(f"sites must be different, got {key!r} twice")
        found[key] = int(node)
    return found


def _by_sites(loaded: Edges, sites: dict[Any, int], weighted: bool) -> tuple[RainbowGraph, int]:
    from rainbowdp.graphs.graph import RainbowGraph
    from rainbowdp.graphs.sites import nearest_sites

    with progress_bar("Finding the nearest sites") as progress:
        near = nearest_sites(loaded, sites, weighted=weighted, progress=progress)
    return RainbowGraph(loaded, near.rainbows, near.names, labels=near.labels), near.unreached


def _by_labels(loaded: Edges, labels: Path, rainbows: Path) -> RainbowGraph:
    from rainbowdp.graphs.graph import RainbowGraph
    from rainbowdp.graphs.readers.nodes import read_labels, read_rainbows

    marks = read_labels(labels, loaded)
    return RainbowGraph(loaded, read_rainbows(rainbows, sorted(set(marks.tolist()))), labels=marks)


def _deployed(
    graph: RainbowGraph, promise: Guarantee, kind: str, boundary: str | None
) -> tuple[Deployment, str | None]:
    """The mechanism with its keys, and how its boundary was found, in words, if it has one."""
    from rainbowdp.guarantees.curve import curve_of
    from rainbowdp.mechanisms.boundary import BoundaryCondition
    from rainbowdp.mechanisms.design import design as designed
    from rainbowdp.mechanisms.design import worst_case_boundary

    guarantee = curve_of(promise, "a mechanism on a graph")
    if boundary is None and kind != "homogeneous":
        return deploy(graph, guarantee, kind), None
    if kind not in ("best", "homogeneous"):
        raise RainbowError(f"{kind} has no boundary to choose; leave out --boundary")
    condition: BoundaryCondition | Sequence[str]
    if boundary == "total":
        condition, words = designed(graph, guarantee).boundary, "designed for the sum"
    elif boundary == "symmetric":
        condition, words = BoundaryCondition.symmetric(graph, guarantee), "symmetric, as asked for"
    elif boundary in (None, "worst"):
        drawn = worst_case_boundary(graph, guarantee)
        condition, words = drawn.boundary, drawn.words
    else:
        assert boundary is not None
        condition, words = [part.strip() for part in boundary.split(",")], "as given"
    return deploy(graph, guarantee, "homogeneous", boundary=condition), words


def _show(
    deployed: Deployment,
    drawn: str | None,
    unreached: int,
    written: Path,
    seconds: float,
    as_json: bool,
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
                "unreached": unreached,
                "guarantee": describe_guarantee(exact.guarantee),
                "truth": {"least": float(truth.min()), "mean": float(truth.mean())},
                "kind": exact.name,
                "boundary": drawn,
                "goal": None if deployed.choice is None else deployed.choice.goal,
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
    deepest = f"at most {max(depths)} deep" if depths else "none with a boundary"
    facts = {
        "graph": f"{_counted(len(graph), 'node')}, {_counted(graph.edge_count, 'edge')}",
        "regions": (
            f"{len(graph.regions):,}, {_counted(len(graph.touching), 'pair')} touching, {deepest}"
        ),
        "guarantee": f"{exact.guarantee}, neighbors {exact.neighbors}",
        "kind": _chosen(deployed, drawn),
        "true answer": f"{_percent(truth.min())} at least, {_percent(truth.mean())} on average",
        "proved": f"exactly, {exact.proof.statement}; checked on every edge",
    }
    if certain:
        facts["certain"] = f"{_counted(certain, 'node')} with no other region in reach: no noise"
    if unreached:
        facts["unreached"] = f"{_counted(unreached, 'node')} with no site in reach: the first one's"
    facts["mechanism"] = mechanism
    facts["nodes"] = f"{nodes}: node, region, {', '.join(deployed.keys)}"
    print_facts(facts)
    if deployed.choice is not None:
        typer.echo("")
        _print_candidates(deployed.choice)


def _chosen(deployed: Deployment, drawn: str | None) -> str:
    if deployed.choice is not None:
        return f"{deployed.name}, which says the true answer most often of those below"
    return deployed.name if drawn is None else f"{deployed.name}, its boundary {drawn}"


def _print_candidates(choice: Choice) -> None:
    """A line for each kind: its mean chance of the true answer, or why there is none."""
    width = max(len(each.kind) for each in choice.candidates)
    for each in choice.candidates:
        shown = "–" if each.value is None else _percent(each.value)
        typer.echo(f"  {each.kind:<{width}}  {shown:>7}  {each.note}".rstrip())


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _percent(share: float) -> str:
    return f"{floor(share * 1e4) / 100:.2f}%"  # rounded down: no private answer is certain
