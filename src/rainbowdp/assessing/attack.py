"""What an attacker learns who knows the mechanism and how likely each place is.

The attacker has a *prior*, a chance for each dataset, sees one answer v, and by Bayes' rule holds
the posterior π(d)·p_v(d)/Σ. Two attacks are worked out:

* *Which region?* The best guess is the likeliest one, right with the chance Σ_v max_w P(w, v).
* *Where?* The best guess is the place with the least expected distance. It is found among all
  datasets by their distances on the graph, among the ``guesses`` you allow, or, with coordinates,
  among all points of the plane, which is the most that any attacker has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Dataset, Floats
from rainbowdp.assessing.blocks import blocks, on_graph, prior_of
from rainbowdp.errors import RainbowError
from rainbowdp.expecting import brief
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.truth import true_answers
from rainbowdp.mechanisms.worths import AnyWeights

MOST_GUESSES = 10_000  # datasets among which all are tried: some ten seconds
_MOST_CELLS = 1 << 27  # datasets times answers whose chances are kept, 4 bytes each
_CELLS = 1 << 23  # of distances that are held at a time
_ROUNDS, _NEAR = 200, 1e-6


@dataclass(frozen=True)
class Attack:
    """What an attacker can conclude from one answer; made by ``rb.attack``.

    Attributes
    ----------
    region_before, region_after
        The chance of guessing the first choice right, without and with the answer.
    error_before, error_after
        The expected distance of the best guess, without and with the answer; None if no distance
        was given.
    guesses
        The best guess for each answer that occurs: a dataset, or a point in the plane.
    likely
        The likeliest first choice for each answer that occurs, and its chance.
    unit
        What the errors are measured in.

    """

    region_before: float
    region_after: float
    error_before: float | None
    error_after: float | None
    guesses: dict[Answer, Any]
    likely: dict[Answer, tuple[Answer, float]]
    unit: str

    def __str__(self) -> str:
        said = (
            f"the region is guessed right with {100 * self.region_after:.2f} % instead of "
            f"{100 * self.region_before:.2f} %"
        )
        if self.error_after is None or self.error_before is None:
            return said
        return (
            f"{said}; the place is missed by {self.error_after:.4g} {self.unit} instead of "
            f"{self.error_before:.4g}"
        )

    def as_dict(self) -> dict[str, Any]:
        """The attack, ready for JSON."""
        return {
            "region_guessed_before": self.region_before,
            "region_guessed_after": self.region_after,
            "error_before": self.error_before,
            "error_after": self.error_after,
            "unit": self.unit,
        }


def posterior(mechanism: Any, answer: Answer, prior: AnyWeights | None = None) -> Floats:
    """How likely each dataset is once ``answer`` is out: a map to draw.

    Parameters
    ----------
    mechanism
        A mechanism on a graph.
    answer
        The answer that was seen.
    prior
        How likely each dataset was before, an array or {dataset: weight}; by default all alike.

    Returns
    -------
    array of float
        A chance for each dataset, in the order of ``graph.datasets``.

    Raises
    ------
    RainbowError
        If the answer is not one of the graph's, or is never given.

    Examples
    --------
    >>> from rainbowdp import DP, optimal
    >>> graph = RainbowGraph([(0, 1), (1, 2)], [("a", "b"), ("a", "b"), ("b", "a")])
    >>> posterior(optimal(graph, DP(1)), "b").round(3).tolist()
    [0.09, 0.245, 0.665]

    """
    found = on_graph(mechanism)
    graph = found.graph
    if answer not in graph.answers:
        raise RainbowError(f"the graph must have the answer, got {brief(answer)}")
    column = graph.answers.index(answer)
    chances = prior_of(graph, prior)
    for part, rows in blocks(found, np.arange(len(graph))):
        chances[part] *= rows[:, column]
    if chances.sum() <= 0:
        raise RainbowError(f"{brief(answer)} is never given where the prior has a chance")
    known: Floats = chances / chances.sum()
    return known


def attack(
    mechanism: Any,
    prior: AnyWeights | None = None,
    *,
    coordinates: Any = None,
    guesses: Sequence[Dataset] | None = None,
    where: bool = True,
) -> Attack:
    """What an attacker with a prior learns from one answer.

    Cost: the rows once, 4 bytes for each dataset and answer; then one search of the graph for each
    guess, or with coordinates some passes over all datasets for each answer.

    Parameters
    ----------
    mechanism
        A mechanism on a graph.
    prior
        How likely each dataset is before the answer, an array or {dataset: weight}; by default all
        alike.
    coordinates
        A point of the plane for each dataset. Errors are then straight distances, and a guess may
        be any point.
    guesses
        The datasets that may be guessed; by default all, on graphs of up to 10,000. A better guess
        may then exist, so that the errors are upper bounds.
    where
        Whether to guess places, and not only regions.

    Returns
    -------
    Attack
        The chances and errors of the best guesses, without and with the answer.

    Raises
    ------
    RainbowError
        If the graph is too large to try all guesses and nothing else was given.

    Examples
    --------
    >>> from rainbowdp import DP, optimal
    >>> graph = RainbowGraph([(0, 1), (1, 2)], [("a", "b"), ("a", "b"), ("b", "a")])
    >>> found = attack(optimal(graph, DP(1)))
    >>> [round(error, 4) for error in (found.error_before, found.error_after)]
    [0.6667, 0.5456]

    """
    found = on_graph(mechanism)
    graph = found.graph
    size, answers = len(graph), len(graph.answers)
    if size * answers > _MOST_CELLS:
        raise RainbowError(
            f"an attack keeps a chance for each dataset and answer, {size * answers:,} here, more "
            f"than the limit of {_MOST_CELLS:,}; use fewer answers or an extract"
        )
    chances = prior_of(graph, prior)
    joint = np.empty((size, answers), dtype=np.float32)
    together = np.zeros((answers, answers))
    truth = true_answers(graph)
    for part, rows in blocks(found, np.arange(size)):
        weighed = chances[part, None] * rows
        joint[part] = weighed
        for column in range(answers):
            together[:, column] += np.bincount(truth[part], weighed[:, column], answers)
    before, after = together.sum(axis=1).max(), together.max(axis=0).sum()
    said = [place for place in range(answers) if together[:, place].sum() > 0]
    likely = {}
    for place in said:
        shares = together[:, place] / together[:, place].sum()
        guess = int(shares.argmax())
        likely[graph.answers[place]] = graph.answers[guess], float(shares[guess])
    if not where:
        return Attack(float(before), float(after), None, None, {}, likely, "steps")
    if coordinates is not None:
        points = _points(graph, coordinates)
        missed, best = _in_the_plane(points, chances, joint)
        names: list[Any] = [tuple(float(x) for x in point) for point in best[1:]]
        unit = "units of the coordinates"
    else:
        tried = _tried(graph, guesses)
        missed, places = _on_the_graph(graph, tried, chances, joint)
        names = list(graph.names(places[1:]))
        unit = "steps"
    told = {graph.answers[place]: names[place] for place in said}
    error = float(missed[1:].sum())
    return Attack(float(before), float(after), float(missed[0]), error, told, likely, unit)


def _tried(graph: RainbowGraph, guesses: Sequence[Dataset] | None) -> NDArray[np.int64]:
    if guesses is not None:
        tried = np.array([graph.position(guess) for guess in guesses], dtype=np.int64)
        if not len(tried):
            raise RainbowError("an attacker needs at least one guess, got none")
        return tried
    if len(graph) > MOST_GUESSES:
        raise RainbowError(
            f"trying all {len(graph):,} datasets as guesses would take long; give coordinates, or "
            "guesses, or where=False"
        )
    return np.arange(len(graph))


def _on_the_graph(
    graph: RainbowGraph, tried: NDArray[np.int64], prior: Floats, joint: NDArray[np.float32]
) -> tuple[Floats, NDArray[np.int64]]:
    """The least expected distance for the prior and for each answer, and where it is attained."""
    from scipy import sparse
    from scipy.sparse.csgraph import dijkstra

    offsets, targets = graph.compressed
    steps = sparse.csr_array(
        (np.ones(len(targets)), targets.astype(np.int32), offsets.astype(np.int64)),
        shape=(len(graph), len(graph)),
    )
    masses = np.concatenate([prior[:, None].astype(np.float32), joint], axis=1)
    least = np.full(masses.shape[1], np.inf)
    best = np.zeros(masses.shape[1], dtype=np.int64)
    width = max(1, _CELLS // len(graph))
    for start in range(0, len(tried), width):
        block = tried[start : start + width]
        away = dijkstra(steps, indices=block, unweighted=True)
        beyond = np.isinf(away)
        if beyond.any():  # another component: as far as anything in reach
            away[beyond] = away[~beyond].max()
        errors = away @ masses
        place = errors.argmin(axis=0)
        better = errors[place, np.arange(len(place))] < least
        least[better] = errors[place, np.arange(len(place))][better]
        best[better] = block[place[better]]
    return least, best


def _points(graph: RainbowGraph, coordinates: Any) -> Floats:
    points: Floats = np.asarray(coordinates, dtype=np.float64)
    if points.shape != (len(graph), 2) or not np.isfinite(points).all():
        raise RainbowError(
            f"coordinates must be two finite numbers for each of the {len(graph):,} datasets, got "
            f"the shape {points.shape}"
        )
    return points


def _in_the_plane(
    points: Floats, prior: Floats, joint: NDArray[np.float32]
) -> tuple[Floats, Floats]:
    """The same among all points: geometric medians, by Weiszfeld's iteration."""
    least = np.zeros(joint.shape[1] + 1)
    best = np.zeros((joint.shape[1] + 1, 2))
    for number in range(joint.shape[1] + 1):
        mass = prior if number == 0 else joint[:, number - 1].astype(np.float64)
        heavy = mass > mass.sum() * 1e-12 / len(mass)
        if heavy.any():
            best[number] = geometric_median(points[heavy], mass[heavy])
            least[number] = np.hypot(*(points - best[number]).T) @ mass
    return least, best


def geometric_median(points: Floats, mass: Floats) -> Floats:
    """The point with the least weighted sum of distances to ``points``."""
    here: Floats = mass @ points / mass.sum()
    spread = float(np.abs(points - here).max()) or 1.0
    for _ in range(_ROUNDS):
        away = np.maximum(np.hypot(*(points - here).T), spread * 1e-9)
        pull = mass / away
        there: Floats = pull @ points / pull.sum()
        moved = float(np.abs(there - here).max())
        here = there
        if moved <= _NEAR * spread:
            break
    return here
