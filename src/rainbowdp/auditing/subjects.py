"""What is audited: anything that has a law, or that draws.

===============================  ==================================================
a mechanism of ours, or a file   its integers, as they are released
a baseline, rows on a graph      its floats, taken exactly
a mapping, a frame, a file       rows as they are written
a function                       from a dataset to {answer: probability}
a function, with ``draws``       from a dataset to one answer, a new one each time
an OpenDP measurement            drawn from, and held against its own privacy map
===============================  ==================================================
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from rainbowdp.aliases import Dataset
from rainbowdp.answering.counting import CountMechanism
from rainbowdp.answering.mechanism import QuestionMechanism
from rainbowdp.auditing.given import World, Written, from_file, from_frame, from_mapping, read
from rainbowdp.baselines import Baseline
from rainbowdp.errors import InvalidMechanism, RainbowError
from rainbowdp.exact.counts import FORMAT as COUNT_FORMAT
from rainbowdp.exact.counts import ExactCount
from rainbowdp.exact.mechanism import FORMAT, ExactMechanism, Releasable
from rainbowdp.exact.rule import Outline
from rainbowdp.expecting import brief
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.questions import with_margins
from rainbowdp.rules.files import load_any


@dataclass(frozen=True)
class Subject:
    """A law or a draw, and what is known of whoever has it."""

    name: str
    call: Callable[[Dataset], Any]
    world: World = None
    claim: Guarantee | None = None
    only: tuple[Dataset, ...] | None = None  # the datasets that have rows, if not all
    pairs: tuple[tuple[Dataset, Dataset], ...] | None = None
    draws: bool = False  # whether a call draws an answer
    claims_at: Callable[[Iterable[tuple[Dataset, Dataset]]], Guarantee] | None = None


def subject_of(mechanism: Any, world: World, draws: int | None) -> Subject:
    """The subject that ``mechanism`` is; ``draws`` says that it is to be drawn from."""
    found = _found(mechanism, world, draws is not None)
    if world is not None and found.world is not None and found.world is not world:
        same = not isinstance(world, RainbowGraph) and world == found.world
        if not same:
            raise RainbowError(
                "the mechanism has a question or graph of its own, got another one; leave it out"
            )
    return replace(found, world=found.world if world is None else world)


def _found(mechanism: Any, world: World, drawn: bool) -> Subject:
    if isinstance(mechanism, str | PathLike):
        return _of_path(Path(mechanism), world, drawn)
    if isinstance(mechanism, ExactMechanism | QuestionMechanism):
        return _of_exact(mechanism.exact(), world, drawn)
    if isinstance(mechanism, CountMechanism | ExactCount):
        exact = mechanism if isinstance(mechanism, ExactCount) else mechanism.exact()
        return _of_count(exact, drawn)
    if isinstance(mechanism, Mechanism):
        return _of_rows(mechanism, drawn)
    if isinstance(mechanism, Baseline):
        if drawn:
            return _drawn(mechanism.name, lambda d: mechanism.sample(d, 1)[0], mechanism)
        return Subject(mechanism.name, mechanism.__getitem__, mechanism.world, mechanism.keeps)
    if isinstance(mechanism, Releasable):
        law = mechanism.release if drawn else mechanism.exact().__getitem__
        graph = getattr(mechanism, "graph", None)
        return Subject(mechanism.name, law, graph, mechanism.exact().guarantee, draws=drawn)
    if isinstance(mechanism, Mapping):
        return _of_written(from_mapping(mechanism, world), "the rows")
    if type(mechanism).__module__.startswith("opendp."):
        return _of_opendp(mechanism, world, drawn)
    if callable(mechanism):
        name = getattr(mechanism, "__name__", type(mechanism).__name__)
        return Subject("the function" if name == "<lambda>" else name, mechanism, draws=drawn)
    if hasattr(mechanism, "columns"):
        return _of_written(from_frame(mechanism, world), "the rows")
    raise InvalidMechanism(
        "audit takes a mechanism, its file, a table of rows, a function or an OpenDP measurement, "
        f"got {type(mechanism).__name__}"
    )


def _drawn(name: str, draw: Callable[[Dataset], Any], baseline: Baseline) -> Subject:
    return Subject(name, draw, baseline.world, baseline.keeps, draws=True)


def _of_path(path: Path, world: World, drawn: bool) -> Subject:
    text = read(path)
    if path.suffix.lower() != ".csv":
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            content = None
        if isinstance(content, dict) and content.get("format") in (FORMAT, COUNT_FORMAT):
            return replace(_found(load_any(path), world, drawn), name=str(path))
    return _of_written(from_file(path, text, world), str(path))


def _of_written(written: Written, name: str) -> Subject:
    rows: dict[Any, Mapping[Any, Any]] = dict(
        zip(map(_key, written.datasets), written.rows, strict=True)
    )

    def law(dataset: Dataset) -> Mapping[Any, Any]:
        row = rows.get(_key(dataset))
        if row is None and isinstance(dataset, int):
            row = rows.get(str(dataset))  # a file has texts, whatever a graph has
        if row is None:
            raise InvalidMechanism(f"the table has no row for {brief(dataset)}; add it")
        return row

    return Subject(name, law, written.world, only=written.datasets, pairs=written.pairs)


def _key(dataset: Dataset) -> Any:
    return tuple(dataset.items()) if isinstance(dataset, dict) else dataset


def _of_exact(exact: ExactMechanism, world: World, drawn: bool) -> Subject:
    """A mechanism in integers, over its question, the graph that is given, or its own lines."""
    call = exact.release if drawn else exact.__getitem__
    own: World = None
    if exact.question is not None and exact.question.get("kind") != "custom":
        own = with_margins(exact.question)
    elif exact.question is None and world is None:
        own, call = _on_lines(exact, drawn)
    return Subject(exact.name, call, own, exact.guarantee, draws=drawn)


def _on_lines(exact: ExactMechanism, drawn: bool) -> tuple[World, Callable[[Dataset], Any]]:
    """The graph of a mechanism file: a line of depths for each region, heads joined."""
    outline: Outline | None = exact.rule.outline(exact.answers)
    if outline is None or not outline.lines:
        raise InvalidMechanism(
            "this file finds its rows by margins and has no graph; give audit the graph"
        )
    edges: list[tuple[Any, Any]] = [((a, 0), (b, 0)) for a, b in outline.touching]
    rainbows: dict[Any, Any] = {}
    for label, (rainbow, length) in outline.lines.items():
        rainbows |= {(label, depth): rainbow for depth in range(length)}
        edges += [((label, depth), (label, depth + 1)) for depth in range(length - 1)]
    graph = RainbowGraph(edges, rainbows, answers=exact.answers)

    def at(node: tuple[Any, int]) -> Any:
        key = exact.rule.key_at_depth(*node, exact.answers)
        return exact.release(key) if drawn else exact[key]

    return graph, at


def _of_rows(mechanism: Mechanism, drawn: bool) -> Subject:
    """A mechanism on a graph: as it is released, or as it is given where it cannot be."""
    try:
        exact = None if mechanism.guarantee is None else mechanism.exact()
    except RainbowError:
        exact = None
    name, graph = mechanism.name, mechanism.graph
    if exact is None or exact.locate is None:
        if drawn:
            raise InvalidMechanism("these rows cannot be released, so nothing can be drawn")
        return Subject(
            f"{name} (rows in floats)", mechanism.__getitem__, graph, mechanism.guarantee
        )
    law = exact.release if drawn else exact.__getitem__
    return Subject(name, law, graph, mechanism.guarantee, draws=drawn)


def _of_count(exact: ExactCount, drawn: bool) -> Subject:
    question, noise = exact.question, exact.noise

    def law(counts: Dataset) -> dict[int, Fraction]:
        found, most = question.found(counts), question.at_most
        inner = {n: Fraction(noise.weight(n - found), noise.total) for n in range(1, most)}
        ends = {0: noise.at_least(found), most: noise.at_least(most - found)}
        return {**inner, **ends}

    if drawn:
        return Subject(
            exact.name, lambda d: exact.ready(d)(), question, exact.guarantee, draws=True
        )
    return Subject(exact.name, law, question, exact.guarantee)


def _of_opendp(measurement: Any, world: World, drawn: bool) -> Subject:
    """An OpenDP measurement, which says what it keeps and not what its law is."""
    if not drawn:
        raise InvalidMechanism(
            "an OpenDP measurement does not tell its law; say how often to draw, as in "
            "draws=100_000, or audit a function that computes the law"
        )
    carrier = str(measurement.input_domain.carrier_type)
    counted = world is not None and not isinstance(world, RainbowGraph)

    def taken(dataset: Dataset) -> Any:
        if not counted or not isinstance(dataset, dict):
            return dataset
        counts = list(dataset.values())
        return counts if carrier.startswith("Vec<") else counts[0]

    def draw(dataset: Dataset) -> Any:
        answer = measurement(taken(dataset))
        return tuple(answer) if isinstance(answer, list) else answer

    def claims_at(pairs: Iterable[tuple[Dataset, Dataset]]) -> Guarantee:
        farthest = max(_distance(measurement, taken(a), taken(b)) for a, b in pairs)
        return _claimed(measurement, farthest)

    return Subject("the OpenDP measurement", draw, draws=True, claims_at=claims_at)


def _distance(measurement: Any, one: Any, other: Any) -> Any:
    """How far two inputs are apart in the metric of a measurement."""
    metric = str(measurement.input_metric.type).rpartition("::")[2]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        steps = [b - a for a, b in zip(one, other, strict=True)]
        if metric.startswith("L1Distance"):
            return sum(map(abs, steps))
        if metric.startswith("LInfDistance"):
            if "monotonic" in str(measurement.input_metric) and min(steps) < 0 < max(steps):
                raise InvalidMechanism(
                    "a measurement over OpenDP's monotonic LInfDistance promises nothing where "
                    "some counts rise and others fall; audit it with neighbors='added or removed'"
                )
            return max(map(abs, steps))
    elif metric.startswith("AbsoluteDistance"):
        return abs(other - one)
    elif metric == "DiscreteDistance":
        return int(one != other)
    raise InvalidMechanism(
        f"audit cannot tell how far two inputs are apart in OpenDP's {metric}; give audit a "
        "function that calls the measurement, and its claim"
    )


def _claimed(measurement: Any, distance: Any) -> Guarantee:
    """What a measurement's privacy map promises at a distance."""
    said, measure = measurement.map(distance), str(measurement.output_measure.type)
    if measure == "MaxDivergence":
        return DP(said)
    if measure == "ZeroConcentratedDivergence":
        return ZeroConcentrated(said)
    if measure == "Approximate<MaxDivergence>":
        return DP(*said)
    raise InvalidMechanism(
        f"audit cannot hold draws against OpenDP's {measure}; give audit a function that calls the "
        "measurement, and its claim as a DP, GaussianDP or ZeroConcentrated"
    )
