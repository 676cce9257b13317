"""The library's numbers for a world and settings, ready for JSON.

``answer`` is what a moved control shows at once, in floats; ``prove`` is the exact proof behind
the badge; ``costs`` and ``match`` set the mechanisms side by side; ``mechanism_file`` is the
mechanism that would be released.
"""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Floats
from rainbowdp.answering.best import best, by_kind
from rainbowdp.answering.mechanism import QuestionMechanism
from rainbowdp.baselines import Baseline, printed_operator
from rainbowdp.comparison import Maker, compare
from rainbowdp.errors import InvalidBoundary, InvalidFile, InvalidGuarantee
from rainbowdp.exact.check import Check
from rainbowdp.exact.mechanism import ExactMechanism
from rainbowdp.graphs.margins import margins
from rainbowdp.guarantees.curve import TradeOffCurve, curve_of
from rainbowdp.guarantees.descriptions import describe_guarantee
from rainbowdp.guarantees.dp import DP
from rainbowdp.mechanisms.best_on_graphs import Choice
from rainbowdp.mechanisms.boundary import BoundaryCondition
from rainbowdp.mechanisms.kinds import ON_GRAPHS
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.mechanisms.worths import worths_of
from rainbowdp.questions.histograms import margins_of
from rainbowdp.studio.designing import designed
from rainbowdp.studio.looking import inspect, worst_of_all
from rainbowdp.studio.offers import BASELINES, BEST, REFERENCE, offered
from rainbowdp.studio.recipe import recipe
from rainbowdp.studio.settings import Settings
from rainbowdp.studio.worlds import World

_SURE = 0.99
_UNITS = 10_000  # of a share on the page
_KEPT = 64  # mechanisms, with what was worked out about each
_FARTHEST = 60  # depths of a curve that nobody reaches


def answer(world: World, settings: Settings) -> dict[str, Any]:
    """Rows, verdict, curves, the chosen dataset and the lines of Python."""
    shared = {
        "guarantee": describe_guarantee(settings.guarantee) | {"text": str(settings.guarantee)},
        "equal_shares": list(_equal_shares(world, settings.guarantee)),
        "recipe": recipe(world, settings),
    }
    try:
        mechanism = make(world, settings)
    except InvalidBoundary as error:
        return shared | {"verdict": _clash(world, settings, str(error))}
    except InvalidGuarantee as error:
        return shared | {"verdict": {"state": "refused", "text": str(error)}}
    number = int(world.graph.region_numbers[settings.dataset or 0])
    return shared | {
        "rows": preferred(mechanism).tolist(),
        "verdict": _verdict(world, _checked(world, _bare(settings))),
        "curves": _curves(world, _bare(settings), number),
        "dataset": None
        if settings.dataset is None
        else inspect(mechanism, settings.guarantee, settings.dataset),
    }


def make(world: World, settings: Settings) -> Mechanism:
    """The mechanism on the drawn graph, in floats."""
    return _made(world, _bare(settings))


def _bare(settings: Settings) -> Settings:
    """The settings without the dataset that is looked at, on which no mechanism depends."""
    return Settings(settings.mechanism, settings.guarantee, settings.boundary)


# Worlds, settings and mechanisms are values that never change, so what was worked out for them
# holds for as long as it is kept.


@lru_cache(maxsize=_KEPT)
def _made(world: World, settings: Settings) -> Mechanism:
    mechanism: Mechanism = maker(world, settings)(world.graph, settings.guarantee)
    return mechanism


@lru_cache(maxsize=_KEPT)
def _checked(world: World, settings: Settings) -> Check:
    """The check of the very mechanism that is shown, on every edge."""
    return _made(world, settings).check(settings.guarantee, every_edge=True)


def maker(world: World, settings: Settings) -> Maker:
    """A function of a graph and a guarantee to the mechanism that ``settings`` name."""
    name = settings.mechanism
    question: Any = world.question
    if name == BEST and question is not None:
        return lambda graph, promise: _answered(world, _best(question, promise))
    if name == BEST:
        return lambda graph, promise: _on_graph(_chosen(world, promise))
    if name in ON_GRAPHS and offered(world)[name].boundary:
        if question is not None and settings.boundary is None:  # all rivals alike, as released
            return lambda graph, promise: _answered(world, by_kind(question, promise, name))
        grown, row = ON_GRAPHS[name], settings.boundary
        if row is None:
            return lambda graph, promise: grown(graph, promise, designed(graph, promise))
        return lambda graph, promise: grown(graph, promise, row)
    if name in ON_GRAPHS and (question is None or name == "proximity"):
        return ON_GRAPHS[name]
    if name == "printed":
        return lambda graph, promise: printed_operator(graph, promise).mechanism
    if name == "file":
        return lambda graph, promise: _of_file(world, promise)
    if name in BASELINES:
        law = BASELINES[name]
        return lambda graph, promise: _carried_out(world, law(question or graph, promise))
    assert question is not None
    return lambda graph, promise: _answered(world, by_kind(question, promise, name))


def prove(world: World, settings: Settings) -> dict[str, Any]:
    """The badge of our own mechanisms: proved in integers, from the rows that would be released."""
    if settings.mechanism == "file":
        assert world.file is not None
        if world.file.guarantee != settings.guarantee:
            return {"state": "checked", "text": "the file was proved for its own guarantee only"}
        return {"state": "proved", "text": _proof(world.file)}
    return {"state": "proved", "text": _proof(exact(world, settings))}


def exact(world: World, settings: Settings) -> ExactMechanism:
    """The mechanism in integers with its proof: of a question, for tables of every size."""
    offer = offered(world)[settings.mechanism]
    if not offer.releasable:
        raise InvalidFile(
            f"{offer.name} has no exact proof, so it cannot be saved to a file; choose "
            f"{' or '.join(ON_GRAPHS)}"
        )
    if settings.mechanism == "file":
        assert world.file is not None
        return world.file
    if settings.mechanism == BEST and world.question is not None:
        return best(world.question, settings.guarantee).exact()
    if settings.mechanism == BEST:
        return _chosen(world, settings.guarantee).exact()
    if world.question is None:
        return make(world, settings).exact()
    options = {"boundary": settings.boundary} if offer.boundary else {}
    return by_kind(world.question, settings.guarantee, offer.name, **options).exact()


def mechanism_file(world: World, settings: Settings) -> str:
    """The text of the mechanism file."""
    return exact(world, settings).as_text()


def priced(world: World) -> list[str]:
    """The mechanisms that stand side by side at once; what ``rb.best`` takes is asked for apart."""
    return [name for name in offered(world) if name != BEST]


def costs(world: World, settings: Settings) -> list[dict[str, Any]]:
    """Each of them with its cost."""
    return [cost(world, settings, name) for name in priced(world)]


def cost(world: World, settings: Settings, name: str) -> dict[str, Any]:
    """The mean error, worst case and curve by margin of a mechanism that ``world`` offers."""
    told: dict[str, Any] = offered(world)[name].as_dict()
    try:
        mechanism = make(world, Settings(name, settings.guarantee, settings.boundary))
    except (InvalidBoundary, InvalidGuarantee) as error:
        return told | {"missing": str(error)}
    margin = _margins(world)
    truth = preferred(mechanism)[:, 0]
    return told | {
        "kind": mechanism.name or name,
        "mean_error": 1 - worths_of(world.graph, weights=world.weights).mean(mechanism),
        "worst": float((1 - truth).max()),
        "by_margin": [
            [int(m), float(truth[margin == m].min())]
            for m in np.unique(margin[np.isfinite(margin)])
        ],
    }


def best_cost(world: World, settings: Settings) -> dict[str, Any]:
    """The same of what ``rb.best`` takes, and its name."""
    told = cost(world, settings, BEST)
    if world.question is None and "missing" not in told:
        chosen = _chosen(world, settings.guarantee)
        taken = next((each for each in chosen.candidates if each.kind == chosen.name), None)
        told |= {"kind": chosen.name, "how": taken.note if taken else ""}
    return told


def worst_pair(world: World, settings: Settings) -> dict[str, Any] | None:
    """Of all neighbors, the two at which most of what is allowed is used; none without them."""
    try:
        mechanism = make(world, settings)
    except (InvalidBoundary, InvalidGuarantee):
        return None
    return worst_of_all(mechanism, settings.guarantee)


def match(world: World, settings: Settings) -> dict[str, float | None]:
    """The ε with which each mechanism would have the mean error of the homogeneous one."""
    made: dict[str, Maker] = {}
    for name in offered(world):
        if name == BEST:
            continue
        chosen = Settings(name, settings.guarantee, settings.boundary)
        with suppress(InvalidBoundary, InvalidGuarantee):
            make(world, chosen)
            made[name] = maker(world, chosen)
    if REFERENCE not in made:
        return {}
    compared = compare(world.graph, settings.guarantee, made, weights=world.weights)
    return {name: compared[name].epsilon_to_match for name in made}


@lru_cache(maxsize=16)
def _margins(world: World) -> Floats:
    """How far each dataset is from the nearest one with another first choice."""
    found = margins(world.graph)
    least: Floats = np.where(found == 0, np.inf, found).min(axis=1)
    return least


def preferred(mechanism: Mechanism) -> Floats:
    """The row of every dataset, in its own order of preference."""
    graph = mechanism.graph
    place = {answer: number for number, answer in enumerate(graph.answers)}
    orders = np.array([[place[a] for a in region.rainbow] for region in graph.regions.values()])
    rows = mechanism.table[mechanism.index]
    ordered: Floats = np.take_along_axis(rows, orders[graph.region_numbers], axis=1)
    return ordered


@lru_cache(maxsize=_KEPT)
def _equal_shares(world: World, guarantee: TradeOffCurve) -> tuple[float, ...]:
    """Where a boundary by hand starts: the symmetric row in four digits, on the private side."""
    condition = BoundaryCondition.symmetric(world.graph, guarantee)
    share = next(iter(condition.exact_rows.values()), (Fraction(0),))[-1]
    others = len(world.graph.answers) - 1
    units = min(math.ceil(share * _UNITS), _UNITS // (others + 1))
    return ((_UNITS - others * units) / _UNITS, *[units / _UNITS] * others)


def _carried_out(world: World, baseline: Baseline) -> Mechanism:
    """A baseline on the drawn graph; for a question, by the scores that the question has."""
    if baseline.mechanism is not None:
        return baseline.mechanism
    assert world.counts is not None
    rows = baseline.rows(world.counts)
    return Mechanism(world.graph, rows, np.arange(len(rows)), baseline.keeps)


def _answered(world: World, mechanism: QuestionMechanism) -> Mechanism:
    """A question's mechanism on the drawn graph."""
    assert world.counts is not None
    margins = margins_of(mechanism.question, world.counts)
    rows = mechanism.exact().rule.rows_at(mechanism.question, world.counts, margins)
    return Mechanism(
        world.graph,
        rows,
        np.arange(len(rows)),
        curve_of(mechanism.guarantee, "the studio"),
        name=mechanism.name,
    )


@lru_cache(maxsize=64)
def _best(question: Any, guarantee: TradeOffCurve) -> QuestionMechanism:
    made = best(question, guarantee)
    assert isinstance(made, QuestionMechanism)
    return made


@lru_cache(maxsize=16)
def _chosen(world: World, guarantee: TradeOffCurve) -> Choice:
    """What ``rb.best`` takes on a graph whose datasets count by their weights."""
    return best(world.graph, guarantee, weights=world.weights)


def _on_graph(found: Choice) -> Mechanism:
    """The rows of what was chosen for a graph, whichever kind it is."""
    chosen: Any = found.mechanism
    rows: Mechanism = chosen if isinstance(chosen, Mechanism) else chosen.mechanism
    return rows


def _of_file(world: World, guarantee: TradeOffCurve) -> Mechanism:
    assert world.file is not None
    answers = world.file.answers
    weights = [
        world.file.rule.weights(world.key_in_file(position), answers)
        for position in range(len(world.graph))
    ]
    table = np.array([[weight / sum(row) for weight in row] for row in weights])
    return Mechanism(world.graph, table, np.arange(len(table)), guarantee)


def _proof(mechanism: ExactMechanism) -> str:
    where = " on tables of every size" if mechanism.question is not None else ""
    compared = mechanism.proof.statement.partition(" with total")[0]
    return f"{mechanism.guarantee}{where}: {compared}, in whole numbers"


def _verdict(world: World, check: Check) -> dict[str, Any]:
    if check:
        text = f"{check.guarantee} holds on all {check.pairs} pairs of neighboring rows"
        return {"state": "checked", "text": text}
    assert check.neighbors is not None
    ends = [world.graph.position(dataset) for dataset in check.neighbors]
    more, less = map(world.show, ends)
    answers = ", ".join(str(a) for a in check.answers)
    text = f"{{{answers}}} at {more} beside {less}, by {check.excess:.3g} more than {{}} allows"
    return {
        "state": "violated",
        "text": text.replace("{}", str(check.guarantee)),
        "excess": check.excess,
        "edge": ends,
    }


def _clash(world: World, settings: Settings, text: str) -> dict[str, Any]:
    """A boundary that is not private: the regions that give it away."""
    found: dict[str, Any] = {"state": "violated", "text": text, "boundary": True}
    try:
        condition = BoundaryCondition(world.graph, settings.boundary or ())
    except (ValueError, TypeError):
        return found | {"state": "refused"}
    clashes = condition.clashes(settings.guarantee)
    if clashes:
        worst = max(clashes, key=lambda clash: clash.excess)
        numbers = {label: number for number, label in enumerate(world.graph.regions)}
        more, less = (region.name for region in worst.regions)
        answers = ", ".join(str(a) for a in worst.answers)
        found["regions"] = [numbers[region.label] for region in worst.regions]
        found["excess"] = worst.excess
        found["text"] = (
            f"{{{answers}}} on the boundary of ({more}) beside ({less}), "
            f"by {worst.excess:.3g} more than {settings.guarantee} allows"
        )
    return found


def _curves(world: World, settings: Settings, number: int) -> dict[str, Any]:
    """P(answer) by depth in the region of this number, most preferred first."""
    mechanism, graph = _made(world, settings), world.graph
    label, region = list(graph.regions.items())[number]
    curves: dict[str, Any] = {"region": number, "deepest": region.deepest}
    if region.deepest is None:
        return curves | {"depths": [], "rows": [], "turns": []}
    if mechanism.boundary is not None:
        start = mechanism.boundary.exact_rows[label]
        reach = _reach(settings.guarantee, start)
        sure = np.flatnonzero(reach[:, 0] >= _SURE)
        last = max(region.deepest, int(sure[0]) if len(sure) else _FARTHEST)
        rows = reach[: last + 1]
        if last > _FARTHEST:
            rows = settings.guarantee.rows(start, np.arange(last + 1))
        sums = np.minimum(np.cumsum([float(p) for p in start]), 1.0)[:-1]
        turns = settings.guarantee.phase_change(sums) if isinstance(settings.guarantee, DP) else []
        return curves | {
            "depths": list(range(last + 1)),
            "rows": rows.tolist(),
            "turns": [None if math.isinf(t) else int(t) for t in turns],
        }
    ordered, mine = preferred(mechanism), graph.region_numbers == number
    depths = list(range(region.deepest + 1))
    rows = np.array([_mean(world, ordered, mine & (graph.depths == depth)) for depth in depths])
    return curves | {"depths": depths, "rows": rows.tolist(), "turns": []}


@lru_cache(maxsize=_KEPT)
def _reach(guarantee: TradeOffCurve, start: tuple[Fraction, ...]) -> Floats:
    """The rows that a boundary row grows into."""
    rows = guarantee.rows(start, np.arange(_FARTHEST + 1))
    rows.setflags(write=False)
    return rows


def _mean(world: World, rows: Floats, among: NDArray[Any]) -> Floats:
    """The mean row among datasets, as they count; where none counts, as if all counted alike."""
    weights = None if world.weights is None else world.weights[among]
    counted = weights if weights is not None and weights.any() else None
    mean: Floats = np.average(rows[among], axis=0, weights=counted)
    return mean
