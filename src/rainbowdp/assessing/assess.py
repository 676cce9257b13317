"""What is lost and what is learned, of one mechanism, in one value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Dataset, Floats
from rainbowdp.assessing.attack import Attack, attack
from rainbowdp.assessing.blocks import blocks, by_answer, on_graph, prior_of
from rainbowdp.errors import RainbowError
from rainbowdp.graphs.truth import true_answers
from rainbowdp.mechanisms.worths import AnyWeights


@dataclass(frozen=True)
class Loss:
    """How far the named site is, in the mean over datasets as they count.

    Attributes
    ----------
    truth
        The chance of the first choice.
    distance
        The expected distance to what the answer names.
    nearest
        The expected distance to the nearest: what nobody can do without.
    within
        For each distance asked for, the chance that what is named is at most that far.

    """

    truth: float
    distance: float
    nearest: float
    within: dict[float, float]

    @property
    def extra(self) -> float:
        """What the mechanism costs: distance − nearest."""
        return self.distance - self.nearest


@dataclass(frozen=True)
class Assessment:
    """What a mechanism loses, and what an attacker learns; made by ``rb.assess``.

    Attributes
    ----------
    name
        The mechanism.
    truth
        The chance of the first choice.
    loss
        How far away the named answers are; None without distances.
    attack
        What an attacker learns; None if it was not asked for.

    """

    name: str
    truth: float
    loss: Loss | None
    attack: Attack | None

    def __str__(self) -> str:
        lines = [f"{self.name}: the true answer with {100 * self.truth:.2f} % in the mean"]
        if self.loss is not None:
            lines.append(
                f"named at an expected distance of {self.loss.distance:.4g}, "
                f"{self.loss.extra:.4g} more than the nearest"
            )
            lines += [
                f"at most {x:g} away with {100 * chance:.2f} %"
                for x, chance in self.loss.within.items()
            ]
        if self.attack is not None:
            lines.append(str(self.attack))
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """The assessment, ready for JSON."""
        told: dict[str, Any] = {"mechanism": self.name, "truth": self.truth}
        if self.loss is not None:
            told |= {
                "distance": self.loss.distance,
                "extra_distance": self.loss.extra,
                "within": {f"{x:g}": chance for x, chance in self.loss.within.items()},
            }
        if self.attack is not None:
            told |= {"attack": self.attack.as_dict()}
        return told


def assess(
    mechanism: Any,
    distances: Any = None,
    *,
    prior: AnyWeights | None = None,
    within: Iterable[float] = (),
    coordinates: Any = None,
    guesses: Sequence[Dataset] | None = None,
    attacked: bool = True,
) -> Assessment:
    """What a mechanism on a map loses, and what an attacker learns from its answer.

    Parameters
    ----------
    mechanism
        A mechanism on a graph.
    distances
        By dataset and answer, the distance to what the answer names, as ``rb.site_distances`` has
        it, in steps or meters.
    prior
        What each dataset counts in the means, and how likely it is for the attacker; an array or
        {dataset: weight}, by default all alike.
    within
        Distances: for each, the chance that the named answer is at most that far away.
    coordinates, guesses
        Where an attacker may guess, as in ``rb.attack``.
    attacked
        Whether to work out the attack.

    Returns
    -------
    Assessment
        To print, or as JSON.

    Raises
    ------
    RainbowError
        If distances or prior make no sense, or the graph is too large for all guesses.

    Examples
    --------
    >>> from rainbowdp import DP, RainbowGraph, optimal, site_distances
    >>> graph = RainbowGraph([(0, 1), (1, 2)], {0: (0, 2), 1: (0, 2), 2: (2, 0)})
    >>> away = site_distances(graph, [0, 2])
    >>> print(assess(optimal(graph, DP(1)), away, within=[1], attacked=False))
    homogeneous: the true answer with 78.77 % in the mean
    named at an expected distance of 0.5786, 0.2453 more than the nearest
    at most 1 away with 87.74 %

    """
    found = on_graph(mechanism)
    graph = found.graph
    counts = prior_of(graph, prior)
    lost, truth = None, 0.0
    if distances is not None:
        lost = loss_of(found, by_answer(graph, distances), counts, within)
        truth = lost.truth
    else:
        if list(within):
            raise RainbowError("within needs distances by dataset and answer")
        right = true_answers(graph)
        for part, rows in blocks(found, np.arange(len(graph))):
            truth += float(rows[np.arange(len(rows)), right[part]] @ counts[part])
    learned = None
    if attacked:
        learned = attack(found, prior, coordinates=coordinates, guesses=guesses)
    return Assessment(getattr(mechanism, "name", found.name), truth, lost, learned)


def loss_of(
    mechanism: Any, distances: NDArray[Any], counts: Floats, within: Iterable[float] = ()
) -> Loss:
    """How far answers are, in one pass over the rows."""
    graph = mechanism.graph
    asked = [float(x) for x in within]
    right = true_answers(graph)
    truth = distance = nearest = 0.0
    near = np.zeros(len(asked))
    for part, rows in blocks(mechanism, np.arange(len(graph))):
        away, mass = distances[part], counts[part]
        beyond = np.isinf(away) & (rows == 0)
        reached = np.where(beyond, 0.0, away)
        distance += float(np.einsum("dv,dv->d", rows, reached) @ mass)
        nearest += float(away.min(axis=1) @ mass)
        truth += float(rows[np.arange(len(rows)), right[part]] @ mass)
        for number, x in enumerate(asked):
            near[number] += float((rows * (away <= x)).sum(axis=1) @ mass)
    return Loss(truth, distance, nearest, dict(zip(asked, near.tolist(), strict=True)))
