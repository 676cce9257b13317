"""``rainbow design`` where the graph is larger than memory: the same files, through DuckDB."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from rainbowdp.cli.maps import counted, sites_from
from rainbowdp.cli.output import print_facts, print_json, working
from rainbowdp.display.numbers import uncertain
from rainbowdp.errors import RainbowError

if TYPE_CHECKING:
    from rainbowdp.graphs.disk import DiskGraph, DiskRegions
    from rainbowdp.guarantees.guarantee import Guarantee
    from rainbowdp.on_disk import DiskDeployment

_FEW = 8  # columns of keys that are listed


@dataclass(frozen=True)
class DiskRequest:
    """What was asked for."""

    edges: Path
    columns: list[str] | None
    sites: str | None
    labels: Path | None
    rainbows: Path | None
    guarantee: Guarantee
    kind: str
    out: Path
    memory: str | None
    hops: bool
    loss: str | None = None


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


def design_on_disk(asked: DiskRequest, *, as_json: bool) -> None:
    """Design, prove and write, with the graph on disk."""
    from rainbowdp.graphs.disk import graph_on_disk
    from rainbowdp.guarantees.curve import curve_of
    from rainbowdp.on_disk import deploy_on_disk

    started = time.perf_counter()
    guarantee = curve_of(asked.guarantee, "a mechanism on a graph")
    with graph_on_disk(
        asked.edges,
        columns=asked.columns,
        lengths=False if asked.hops else None,
        memory=asked.memory,
        folder=asked.out.absolute().parent,
    ) as graph:
        regions = _regions(graph, asked)
        made = deploy_on_disk(regions, guarantee, asked.kind, utility=_utility(regions, asked))
        with working(f"Writing {asked.out}"):
            written = made.save(asked.out)
        _show(made, written, time.perf_counter() - started, as_json)


def _utility(regions: DiskRegions, asked: DiskRequest) -> dict[Any, dict[Any, float]] | None:
    if asked.loss is None:
        return None
    if asked.kind != "best":
        raise RainbowError(
            "a goal of your own decides for --mechanism best only; leave out --loss, or --mechanism"
        )
    from rainbowdp.graphs.readers.goals import read_loss

    costs = read_loss(asked.loss, list(regions.rainbows), regions.answers)
    return {label: {a: -cost for a, cost in row.items()} for label, row in costs.items()}


def _regions(graph: DiskGraph, asked: DiskRequest) -> DiskRegions:
    if asked.sites is not None:
        named = not isinstance(graph.names, range) and graph.has_texts
        return graph.nearest_sites(sites_from(asked.sites, named))
    from rainbowdp.graphs.readers.nodes import read_rainbows

    assert asked.labels is not None
    assert asked.rainbows is not None
    marks = graph.labels_from(asked.labels)
    return graph.labeled(marks, read_rainbows(asked.rainbows, sorted(set(marks.tolist()))))


def _show(made: DiskDeployment, written: Path, seconds: float, as_json: bool) -> None:
    from rainbowdp.guarantees.descriptions import describe_guarantee

    regions, exact = made.regions, made.mechanism
    graph, keys = regions.graph, str(written.with_suffix(".parquet"))
    if as_json:
        print_json(
            {
                "engine": "duckdb",
                "nodes": len(graph),
                "edges": graph.edge_count,
                "regions": len(regions.rainbows),
                "touching": len(regions.touching),
                "unreached": regions.unreached,
                "guarantee": describe_guarantee(exact.guarantee),
                "neighbors": exact.neighbors,
                "truth": {"least": made.least, "mean": made.mean},
                "loss": None if made.value is None else -made.value,
                "kind": exact.name,
                "candidates": [each.as_dict() for each in made.candidates] or None,
                "proof": exact.proof.statement,
                "mechanism": str(written),
                "keys": keys,
                "seconds": round(seconds, 3),
            }
        )
        return
    by_loss = made.value is not None
    best = "loses least" if by_loss else "says the true answer most often"
    told = f", which {best} of those below" if made.candidates else ""
    facts: dict[str, Any] = {
        "engine": "duckdb, the graph on disk",
        "graph": f"{counted(len(graph), 'node')}, {counted(graph.edge_count, 'edge')}",
        "regions": f"{len(regions.rainbows):,}, {counted(len(regions.touching), 'pair')} touching",
        "guarantee": f"{exact.guarantee}, neighbors {exact.neighbors}",
        "kind": f"{exact.name}{told}",
        "true answer": f"{uncertain(made.least)} at least, {uncertain(made.mean)} on average",
        "proved": f"exactly, {exact.proof.statement}; checked on every edge",
    }
    if made.value is not None:
        facts["loss"] = f"{-made.value:.4g} in the mean over nodes"
    if regions.unreached:
        facts["unreached"] = f"{counted(regions.unreached, 'node')} with no site in reach"
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
                value = f"{-each.value:.4g}" if by_loss else uncertain(each.value)
            typer.echo(f"  {each.kind:<{width}}  {value:>7}  {each.note}".rstrip())
