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
    pairs = np.stack([ends[first], ends[first][:, ::-1]], axis=1).reshape(-1, 2)
    more, less = mechanism.table[mechanism.index[pairs.T]]
    place = _worst(guarantee, more, less)
    found = _tightest(guarantee, more[place], less[place])
    answers = [str(mechanism.graph.answers[a]) for a in found["set"]]
    a, b = pairs[place].tolist()
    return found | {"more": a, "less": b, "answers": answers}


def inspect(mechanism: Mechanism, guarantee: TradeOffCurve, position: int) -> dict[str, Any]:
    """The dataset's worst neighbor: the set of answers that comes nearest to what is allowed.

    Over all neighbors, both directions and all sets S, the largest P(S)/φ(Q(S)); where the
    guarantee is (ε,δ) also the ratio (P(S) − δ)/Q(S), which e^ε bounds.
    """
    graph = mechanism.graph
    others = [graph.position(near) for near in graph.neighbors(graph.datasets[position])]
    if not others:
        return {"position": position, "worst": None, "attack": None}
    there = mechanism.rows_at(np.repeat(others, 2))
    here = mechanism.rows_at(np.full(len(there), position))
    outward = np.arange(len(there)) % 2 == 0  # each neighbor in both directions
    more = np.where(outward[:, None], here, there)
    less = np.where(outward[:, None], there, here)
    place = _worst(guarantee, more, less)
    found = _tightest(guarantee, more[place], less[place])
    answers = [str(graph.answers[a]) for a in found.pop("set")]
    other = others[place // 2]
    worst = found | {"neighbor": other, "here": place % 2 == 0, "answers": answers}
    return {"position": position, "worst": worst, "attack": _attack(mechanism, position, other)}


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


def _worst(guarantee: TradeOffCurve, more: Floats, less: Floats) -> int:
    """The first pair of rows that uses as much as any, up to rounding."""
    use = _uses(guarantee, more, less)
    return int(np.argmax(use >= use.max() * (1 - 1e-12)))


def _uses(guarantee: TradeOffCurve, more: Floats, less: Floats) -> Floats:
    """How much of what is allowed each pair of rows uses, for all sets of answers at once."""
    sets = _sets(more.shape[1])
    p, q = more @ sets.T, np.minimum(less @ sets.T, 1.0)
    if isinstance(guarantee, DP):
        p, allowed, scale = np.maximum(p - guarantee.delta, 0.0), q, guarantee.ratio
    else:
        allowed, scale = np.asarray(guarantee.step(q)), 1.0
    use = np.divide(p, allowed, out=np.where(p > 0, np.inf, 0.0), where=allowed > 0)
    most: Floats = np.minimum(use.max(axis=1) / scale, 1e9)
    return most


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
