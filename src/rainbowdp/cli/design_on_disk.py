"""``rainbow design`` where the graph is larger than memory: the same files, through DuckDB."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from rainbowdp.cli.maps import all_reached, counted, sites_from
from rainbowdp.cli.output import print_facts, print_json, working
from rainbowdp.display.numbers import uncertain
from rainbowdp.errors import RainbowError

if TYPE_CHECKING:
    from rainbowdp.cli.per_length import Measured, PerLength
    from rainbowdp.graphs.disk_graph import DiskGraph, DiskRegions
    from rainbowdp.guarantees.guarantee import Guarantee
    from rainbowdp.on_disk.deploying import DiskDeployment

ON_DISK = ("best", "homogeneous", "proximity", "margin-flip", "exponential")
BOUNDARIES = ("worst", "total", "symmetric")
_FEW = 8  # columns of keys that are listed


@dataclass(frozen=True)
class DiskGoalAsked:
    """What the designer wants, as the options say it."""

    loss: str | None = None
    weights: Path | None = None
    forbid: str | None = None
    ties: str | None = None
    boundary: str | None = None


@dataclass(frozen=True)
class DiskLengthsAsked:
    """What lengths are for, as the options say it."""

    weight: str | None = None
    nearest: bool = False
    hops: bool = False
    promise: PerLength | None = None


@dataclass(frozen=True)
class DiskRequest:
    """What was asked for; without a guarantee there is a promise by length."""

    edges: Path
    columns: list[str] | None
    sites: str | None
    labels: Path | None
    rainbows: Path | None
    guarantee: Guarantee | None
    kind: str
    out: Path
    memory: str | None
    lengths: DiskLengthsAsked = DiskLengthsAsked()
    goal: DiskGoalAsked = DiskGoalAsked()
    unreached: str = "refuse"
    sqlite: bool = False


def engine_for(edges: Path, engine: str, only_in_memory: Sequence[str]) -> str:
    """The engine by name, or by size, which is said on standard error."""
    from rainbowdp.graphs.disk import too_large_for_memory

    if engine == "memory":
        return engine
    refused = f"{only_in_memory[0]} needs the graph in memory" if only_in_memory else None
    if engine == "duckdb":
        if refused is not None:
            raise RainbowError(f"{refused}; leave it out, or use --engine memory")
        return engine
    why = too_large_for_memory(edges)
    if why is None:
        return "memory"
    if refused is not None:
        raise RainbowError(f"{refused}, but {why}; leave it out, or try --engine memory")
    typer.echo(f"rainbow: {why}: it stays on disk (--engine duckdb)", err=True)
    return "duckdb"


def must_go_together(kind: str, boundary: str | None, goal: bool) -> None:
    """Refuse a goal that nothing would follow, and a boundary of a kind that has none."""
    if kind == "best" and boundary is None:
        return
    if goal and not (boundary == "total" and kind in ("best", "homogeneous")):
        raise RainbowError(
            "a goal of your own decides for --mechanism best or --boundary total only; leave out "
            "--loss, --weights and --ties, or the other option"
        )
    if boundary is not None and kind not in ("best", "homogeneous"):
        raise RainbowError(f"{kind} has no boundary to choose; leave out --boundary")


def design_on_disk(asked: DiskRequest, *, as_json: bool) -> None:
    """Design, prove and write, with the graph on disk."""
    from rainbowdp.guarantees.curve import curve_of
    from rainbowdp.on_disk.deploying import deploy_on_disk

    started = time.perf_counter()
    with _opened(asked) as graph:
        measured, promise = None, asked.guarantee
        if asked.lengths.promise is not None:
            assert graph.lengths is not None
            measured = asked.lengths.promise.on_disk(graph.lengths, asked.edges)
            promise = measured.step
        assert promise is not None
        regions, utility = _regions(graph, asked)
        utility = _utility(regions, asked.goal.loss, utility)
        people = asked.goal.weights
        weights = None if people is None else graph.weights_from(people)
        goal, boundary = utility is not None or weights is not None, asked.goal.boundary
        must_go_together(asked.kind, boundary, goal)
        homogeneous = boundary is not None or asked.kind == "homogeneous"
        made = deploy_on_disk(
            regions,
            curve_of(promise, "a mechanism on a graph"),
            "homogeneous" if homogeneous else asked.kind,
            boundary=_boundary(boundary) if homogeneous else None,
            utility=utility,
            weights=weights,
            forbid=_forbidden(regions, asked.goal.forbid),
        )
        with working(f"Writing {asked.out}"):
            written = made.save(asked.out)
            if asked.sqlite:
                made.save_sqlite(asked.out.with_suffix(".db"))
        seconds = time.perf_counter() - started
        _show(made, regions, written, seconds, as_json, asked.goal, measured)


def _opened(asked: DiskRequest) -> AbstractContextManager[DiskGraph]:
    from rainbowdp.cli.per_length import fitting_unit
    from rainbowdp.graphs.disk import graph_on_disk

    lengths, promise = asked.lengths, asked.lengths.promise
    given: dict[str, Any] = {"lengths": False if lengths.hops else None}
    if lengths.nearest:
        given = {"lengths": "nearest"}
    if promise is not None:
        unit = fitting_unit if promise.unit is None else promise.unit
        given = {"lengths": True, "unit": unit, "measure": "m", "scale": promise.scale}
    return graph_on_disk(
        asked.edges,
        columns=asked.columns,
        weight=lengths.weight,
        memory=asked.memory,
        folder=asked.out.absolute().parent,
        **given,
    )


def _boundary(said: str | None) -> str | list[str]:
    if said is None:
        return "worst"
    return said if said in BOUNDARIES else [part.strip() for part in said.split(",")]


def _forbidden(regions: DiskRegions, said: str | None) -> tuple[Any, ...]:
    named = {str(answer): answer for answer in regions.answers}
    words = [] if said is None else [word.strip() for word in said.split(",")]
    return tuple(named.get(word, word) for word in words)


def _utility(regions: DiskRegions, loss: str | None, ties: Any) -> Any:
    """What answers are worth: by the losses, else by the ties of rainbows."""
    if loss is None:
        return ties
    if loss == "distance":
        if regions.sites is None:
            raise RainbowError("--loss distance needs --sites, got --labels; give a loss matrix")
        return "distance"
    from rainbowdp.graphs.readers.goals import read_loss

    costs = read_loss(loss, list(regions.rainbows), regions.answers)
    return {label: {a: -cost for a, cost in row.items()} for label, row in costs.items()}


def _regions(graph: DiskGraph, asked: DiskRequest) -> tuple[DiskRegions, Any]:
    """The regions, and what their ties are worth if rainbows have several first choices."""
    if asked.sites is not None:
        named = not isinstance(graph.names, range) and graph.has_texts
        unreached: Any = asked.unreached
        with all_reached(asked.edges):
            return graph.nearest_sites(sites_from(asked.sites, named), unreached=unreached), None
    from rainbowdp.graphs.partial import tied_rainbows
    from rainbowdp.graphs.readers.nodes import read_rainbows

    assert asked.labels is not None
    assert asked.rainbows is not None
    marks = graph.labels_from(asked.labels)
    orders = read_rainbows(asked.rainbows, sorted(set(marks.tolist())))
    partial = tied_rainbows(orders, asked.goal.ties)
    regions = graph.labeled(marks, partial.rainbows, partial.answers)
    return regions, partial.utility if partial.tied else None


def _show(
    made: DiskDeployment,
    regions: DiskRegions,
    written: Path,
    seconds: float,
    as_json: bool,
    goal: DiskGoalAsked,
    measured: Measured | None,
) -> None:
    from rainbowdp.guarantees.descriptions import describe_guarantee

    exact, graph, keys = made.mechanism, regions.graph, str(written.with_suffix(".parquet"))
    forbidden = [str(answer) for answer in _forbidden(regions, goal.forbid)]
    drawn = made.note if exact.name == "homogeneous" and not made.candidates else None
    if as_json:
        print_json(
            {
                "engine": "duckdb",
                "nodes": len(graph),
                "edges": graph.edge_count,
                "regions": len(made.regions.rainbows),
                "touching": len(made.regions.touching),
                "unreached": regions.unreached,
                "guarantee": describe_guarantee(exact.guarantee),
                "neighbors": exact.neighbors,
                "lengths": None if measured is None else measured.as_dict(),
                "truth": {"least": made.least, "mean": made.mean},
                "kind": exact.name,
                "boundary": drawn,
                "goal": made.goal if made.candidates else None,
                "value": made.value if made.candidates else None,
                "forbidden": forbidden,
                "candidates": [each.as_dict() for each in made.candidates] or None,
                "proof": exact.proof.statement,
                "mechanism": str(written),
                "keys": keys,
                "seconds": round(seconds, 3),
            }
        )
        return
    touching = counted(len(made.regions.touching), "pair")
    facts: dict[str, Any] = {
        "engine": "duckdb, the graph on disk",
        "graph": f"{counted(len(graph), 'node')}, {counted(graph.edge_count, 'edge')}",
        "regions": f"{len(made.regions.rainbows):,}, {touching} touching",
        "guarantee": f"{exact.guarantee}, neighbors {exact.neighbors}",
        **({} if measured is None else measured.facts()),
        "kind": f"{exact.name}{_why(made, goal, drawn)}",
        "true answer": f"{uncertain(made.least)} at least, {uncertain(made.mean)} on average",
        "proved": f"exactly, {exact.proof.statement}; checked on every edge",
    }
    if made.candidates and goal.loss is not None:
        over = "nodes" if goal.weights is None else "nodes by their weights"
        facts["loss"] = f"{-made.value:.4g} in the mean over {over}"
    if regions.unreached:
        beyond = counted(regions.unreached, "node")
        facts["unreached"] = f"{beyond} with no site in reach: for the first site"
    facts["mechanism"] = str(written)
    shown = (
        made.keys if len(made.keys) <= _FEW else [*made.keys[:2], f"… ({len(made.keys)} columns)"]
    )
    facts["nodes"] = f"{keys}: node, region, {', '.join(shown)}"
    print_facts(facts)
    if made.candidates:
        typer.echo("")
        width = max(len(each.kind) for each in made.candidates)
        for each in made.candidates:
            value = "–"
            if each.value is not None:
                value = uncertain(each.value) if goal.loss is None else f"{-each.value:.4g}"
            typer.echo(f"  {each.kind:<{width}}  {value:>7}  {each.note}".rstrip())


def _why(made: DiskDeployment, goal: DiskGoalAsked, drawn: str | None) -> str:
    """How the mechanism was chosen, in words."""
    if not made.candidates:
        return "" if drawn is None else f", its boundary {drawn}"
    if goal.loss is not None:
        return ", which loses least of those below"
    if goal.weights is not None or goal.ties is not None:
        return ", which does best of those below"
    return ", which says the true answer most often of those below"
