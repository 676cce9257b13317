"""Our releases, tested by somebody else's method: Gilbert and McMillan 2018, Algorithm 2.

It is what dp_auditorium calls its histogram tester. From draws at two neighbors it estimates the δ
that is left at an ε, and rejects if that exceeds the promised δ by more than sampling explains.
"""

from __future__ import annotations

import math
import secrets
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

import rainbowdp as rb

DRAWS = 6000
RISK = 1e-9
POLL = rb.Winner(["red", "green"])
THREE = rb.Winner(["red", "green", "blue"])


def rejected(
    here: Sequence[Any], there: Sequence[Any], epsilon: float, delta: float, answers: int
) -> bool:
    """Whether two samples refute (ε,δ), in either direction."""
    size, ratio = len(here), math.exp(epsilon)
    spread = 2 * (1 + ratio) * math.sqrt(answers / size)
    luck = 6 * (1 + ratio) * math.sqrt(math.log(4 / RISK) / (2 * size))
    for more, less in ((here, there), (there, here)):
        counts = Counter(more), Counter(less)
        left = sum(max(0.0, n - ratio * counts[1][a]) for a, n in counts[0].items()) / size
        if left - spread - luck >= delta:
            return True
    return False


def refuted(mechanism: Any, promise: rb.DP, draws: int) -> bool:
    """Whether draws at the worst pair that an exact audit knows refute the promise."""
    found = rb.audit(mechanism, records=4)
    assert isinstance(found, rb.Audit)
    assert found.verdict == "holds"
    assert found.worst is not None
    samples = []
    for dataset in found.worst.neighbors:
        draw = mechanism.ready(dataset)
        samples.append([draw() for _ in range(draws)])
    answers = len(mechanism.question.answers)
    return rejected(samples[0], samples[1], promise.epsilon, promise.delta, answers)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        (POLL, "homogeneous"),
        (THREE, "margin-table"),
        (THREE, "permute-and-flip"),
        (THREE, "exponential"),
        (rb.Quantile("1/2", [0, 1, 2, 3]), "margin-flip"),
        (rb.Threshold(2), "homogeneous"),
    ],
)
def test_no_kind_of_ours_is_rejected(question: Any, kind: str) -> None:
    promise = rb.DP(1)
    assert not refuted(rb.by_kind(question, promise, kind), promise, DRAWS)


def test_a_fault_in_the_generator_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A generator that prefers small numbers: no proof of rows sees it, and draws do."""
    promise = rb.DP(1)
    mechanism = rb.best(POLL, promise)
    assert not refuted(mechanism, promise, 30_000)
    fair = secrets.randbelow
    monkeypatch.setattr(secrets, "randbelow", lambda n: min(fair(n), fair(n)))
    assert refuted(mechanism, promise, 30_000)


def test_our_own_audit_finds_the_same_fault_with_fewer_draws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mechanism = rb.best(POLL, rb.DP(1))
    pair = [({"red": 1, "green": 0}, {"red": 0, "green": 1})]

    def verdict() -> str | None:
        found = rb.audit(mechanism, pairs=pair, draws=2000, confidence="0.999999")
        return found.verdict

    assert verdict() == "not refuted"
    fair = secrets.randbelow
    monkeypatch.setattr(secrets, "randbelow", lambda n: min(fair(n), fair(n)))
    assert verdict() == "refuted"
