"""What neighbors give away: the worst pair, a dataset's worst neighbor, an attacker's view."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from rainbowdp.aliases import Floats
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.guarantees.dp import DP
from rainbowdp.mechanisms.mechanism import Mechanism


def worst_of_all(mechanism: Mechanism, guarantee: TradeOffCurve) -> dict[str, Any] | None:
    """Of all neighbors, the two at which most of what is allowed is used."""
    ends = mechanism.graph.edge_positions()
    if not len(ends):
        return None
    rows = mechanism.index[ends]
    _, first = np.unique(rows, axis=0, return_index=True)
    worst: dict[str, Any] | None = None
    for a, b in ends[first].tolist():
        for more, less in ((a, b), (b, a)):
            own, other = (mechanism.table[mechanism.index[place]] for place in (more, less))
            found = _tightest(guarantee, own, other)
            if worst is None or found["use"] > worst["use"] * (1 + 1e-12):
                answers = [str(mechanism.graph.answers[a]) for a in found["set"]]
                worst = found | {"more": more, "less": less, "answers": answers}
    return worst


def inspect(mechanism: Mechanism, guarantee: TradeOffCurve, position: int) -> dict[str, Any]:
    """The dataset's worst neighbor: the set of answers that comes nearest to what is allowed.

    Over all neighbors, both directions and all sets S, the largest P(S)/φ(Q(S)); where the
    guarantee is (ε,δ) also the ratio (P(S) − δ)/Q(S), which e^ε bounds.
    """
    graph = mechanism.graph
    here = mechanism.table[mechanism.index[position]]
    worst: dict[str, Any] | None = None
    for neighbor in graph.neighbors(graph.datasets[position]):
        other = graph.position(neighbor)
        there = mechanism.table[mechanism.index[other]]
        for more, less, own in ((here, there, True), (there, here, False)):
            found = _tightest(guarantee, more, less)
            if worst is None or found["use"] > worst["use"]:
                answers = [str(graph.answers[a]) for a in found.pop("set")]
                worst = found | {"neighbor": other, "here": own, "answers": answers}
    attack = None if worst is None else _attack(mechanism, position, worst["neighbor"])
    return {"position": position, "worst": worst, "attack": attack}


def _attack(mechanism: Mechanism, here: int, there: int) -> dict[str, Any]:
    """Two neighbors in the eyes of somebody who holds both for equally likely before the answer.

    ``belief`` is how sure of the first they are after each answer, ``guess`` how often they guess
    right.
    """
    own, other = (mechanism.table[mechanism.index[place]] for place in (here, there))
    both = own + other
    belief = np.divide(own, both, out=np.full(len(own), 0.5), where=both > 0)
    names = [str(a) for a in mechanism.graph.answers]
    columns = zip(names, own.tolist(), other.tolist(), belief.tolist(), strict=True)
    return {
        "neighbor": there,
        "guess": float(0.5 + np.abs(own - other).sum() / 4),
        "answers": [
            {"answer": a, "here": p, "there": q, "belief": b} for a, p, q, b in columns if p + q > 0
        ],
    }


def _tightest(guarantee: TradeOffCurve, more: Floats, less: Floats) -> dict[str, Any]:
    sets = _sets(len(more))
    p, q = sets @ more, np.minimum(sets @ less, 1.0)
    allowed = guarantee.step(q)
    use = np.divide(p, allowed, out=np.where(p > 0, np.inf, 0.0), where=allowed > 0)
    place = int(use.argmax())
    found = {
        "set": np.flatnonzero(sets[place]).tolist(),
        "use": min(float(use[place]), 1e9),
        "likely": float(p[place]),
        "beside": float(q[place]),
        "allowed": float(allowed[place]),
    }
    if isinstance(guarantee, DP):
        above = np.maximum(p - guarantee.delta, 0.0)
        ratio = np.divide(above, q, out=np.where(above > 0, np.inf, 0.0), where=q > 0)
        best = int(ratio.argmax())
        found |= {"set": np.flatnonzero(sets[best]).tolist(), "likely": float(p[best])}
        found |= {"beside": float(q[best]), "allowed": float(allowed[best])}
        largest = float(ratio[best])
        found |= {"ratio": largest if math.isfinite(largest) else None, "most": guarantee.ratio}
        found["use"] = min(largest / guarantee.ratio, 1e9)
    return found


def _sets(answers: int) -> Floats:
    """Every set of answers but the empty and the whole one, a row each."""
    rows = list(itertools.product((0.0, 1.0), repeat=answers))[1:-1]
    return np.array(rows or [(1.0,) * answers])
