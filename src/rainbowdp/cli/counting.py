"""``--explain`` for counts and tests: how near, and how powerful, an answer would be."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, TypeVar

import typer

from rainbowdp.answering.counting import CountMechanism
from rainbowdp.answering.testing import ProportionMechanism
from rainbowdp.display.numbers import uncertain
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated

Alone = TypeVar("Alone", CountMechanism, ProportionMechanism)
CONFIDENCES = tuple(Fraction(share, 1000) for share in (500, 800, 900, 950, 990, 999))


def half_widths(mechanism: CountMechanism) -> list[tuple[Fraction, int]]:
    """How far off the answer is at most, by confidence."""
    return [(sure, mechanism.noise.half_width(sure)) for sure in CONFIDENCES]


def textbook(mechanism: CountMechanism) -> dict[str, list[int]]:
    """The same for the noise that is in use elsewhere, by its name."""
    change = mechanism.question.rows_per_person
    spread = _spread(mechanism.guarantee)
    if spread is None:
        return {}
    name, scale = spread
    widths = _laplace if name == "discrete Laplace" else _normal
    return {name: [widths(float(sure), change * scale) for sure in CONFIDENCES]}


def _spread(guarantee: Guarantee) -> tuple[str, float] | None:
    """Textbook noise for one record: its name, and its scale or standard deviation."""
    if isinstance(guarantee, DP) and guarantee.epsilon > 0:
        return "discrete Laplace", 1 / guarantee.epsilon
    if isinstance(guarantee, GaussianDP):
        return "rounded normal", 1 / guarantee.mu
    if isinstance(guarantee, ZeroConcentrated):
        return "rounded normal", 1 / math.sqrt(2 * guarantee.rho)
    return None


def _laplace(sure: float, scale: float) -> int:
    """The least h with P(|Z| > h) = 2·a^(h + 1)/(1 + a) ≤ 1 − sure, a = e^(−1/scale)."""
    a = math.exp(-1 / scale)
    return max(0, math.ceil(-scale * math.log((1 - sure) * (1 + a) / 2) - 1e-9) - 1)


def _normal(sure: float, deviation: float) -> int:
    from scipy.special import ndtri

    return max(0, math.ceil(float(ndtri((1 + sure) / 2)) * deviation - 0.5 - 1e-9))


def explained(mechanism: CountMechanism) -> dict[str, Any]:
    """What ``--explain`` has to say, ready for JSON."""
    widths = half_widths(mechanism)
    return {
        "half_width": [{"confidence": str(sure), "within": width} for sure, width in widths],
        "half_width_of_others": textbook(mechanism),
        "never_farther": never_farther(mechanism),
    }


def never_farther(mechanism: CountMechanism) -> int | None:
    """How far off no answer is; none where any answer can come."""
    noise = mechanism.noise
    return None if noise.tail else noise.farthest


def print_half_widths(mechanism: CountMechanism) -> None:
    """The half-widths as a small table."""
    others = textbook(mechanism)
    typer.echo("\nhow many records the answer is off at most, by confidence\n")
    lines = [["confidence", mechanism.name, *others]]
    for place, (sure, width) in enumerate(half_widths(mechanism)):
        beside = (str(column[place]) for column in others.values())
        lines.append([f"{float(100 * sure):.10g} %", str(width), *beside])
    sizes = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        typer.echo("  ".join(cell.rjust(size) for cell, size in zip(line, sizes, strict=True)))
    farthest = never_farther(mechanism)
    if farthest is not None:
        typer.echo(f"\nNo answer is farther off than {farthest}.")


def answers_of(mechanism: CountMechanism | ProportionMechanism) -> str:
    """What can be answered, in words."""
    if isinstance(mechanism, CountMechanism):
        return f"whole numbers from 0 to {mechanism.question.at_most}"
    return ", ".join(mechanism.question.answers)


def explained_test(mechanism: ProportionMechanism) -> dict[str, Any]:
    """What ``--explain`` has to say of a test, ready for JSON."""
    return {"power": [{"share": str(s), "power": p} for s, p in powers(mechanism)]}


def powers(mechanism: ProportionMechanism) -> list[tuple[Fraction, float]]:
    """How likely a test is to find larger and larger shares."""
    null, steps = mechanism.question.above, 8
    shares = [null + (1 - null) * Fraction(number, steps) for number in range(steps)]
    return [(share, mechanism.power(share)) for share in shares]


def print_power(mechanism: ProportionMechanism) -> None:
    """The power as a small table."""
    typer.echo("\nhow likely 'significant' is, by the share that matches in truth\n")
    for share, power in powers(mechanism):
        typer.echo(f"{float(100 * share):8.4g} %  {uncertain(power):>9}")
