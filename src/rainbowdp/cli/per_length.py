"""Promises by length on the command line: ε per kilometer, steps of a unit, lengths of roads."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rainbowdp.errors import InvalidGuarantee, RainbowError
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.numeric.quantity import exact

if TYPE_CHECKING:
    from rainbowdp.aliases import Floats
    from rainbowdp.graphs.disk_loading import DiskLengths
    from rainbowdp.graphs.edges import Edges

METERS = {
    "mm": Fraction(1, 1000),
    "cm": Fraction(1, 100),
    "dm": Fraction(1, 10),
    "m": Fraction(1),
    "km": Fraction(1000),
    "ft": Fraction("0.3048"),
    "yd": Fraction("0.9144"),
    "mi": Fraction("1609.344"),
}
_LENGTH = re.compile(r"\s*([0-9./]*)\s*([a-z]*)\s*")
_ENOUGH = 0.95  # of all length must count in a unit that is chosen unasked
_SAMPLE = 1 << 20


@dataclass(frozen=True)
class PerLength:
    """What is promised by length, and how lengths are measured.

    Attributes
    ----------
    kilometer
        The guarantee of two places one kilometer apart.
    unit
        The length of one step in meters; none to choose it by the lengths.
    scale
        How many meters a length of 1 is.
    coordinates
        A file from which lengths are measured instead of being read.

    """

    kilometer: DP | GaussianDP
    unit: Fraction | None
    scale: Fraction
    coordinates: Path | None

    @classmethod
    def asked(
        cls,
        epsilon: str | None,
        mu: str | None,
        unit: str | None,
        scale: str | None,
        coordinates: Path | None,
    ) -> PerLength | None:
        """What the options ask for, none if they ask for a promise by edge."""
        if epsilon is None and mu is None:
            options = {"--unit": unit, "--lengths-in": scale, "--coordinates": coordinates}
            stray = next((name for name, given in options.items() if given is not None), None)
            if stray is not None:
                raise RainbowError(
                    f"{stray} is for a promise by length. Give --epsilon-per-km or --mu-per-km."
                )
            return None
        if epsilon is not None and mu is not None:
            raise RainbowError(
                "A guarantee is either --epsilon-per-km or --mu-per-km. Leave out one."
            )
        if coordinates is not None and scale is not None:
            raise RainbowError("Coordinates give lengths in meters. Leave out --lengths-in.")
        return cls(
            DP(epsilon) if epsilon is not None else GaussianDP(mu if mu is not None else 0),
            None if unit is None else _meters(unit, "--unit"),
            Fraction(1) if scale is None else _meters(scale, "--lengths-in"),
            coordinates,
        )

    def measured(self, loaded: Edges, path: Path) -> tuple[Edges, Measured]:
        """The edges with whole steps, and what is to be said of them."""
        from rainbowdp.graphs.lengths import with_lengths
        from rainbowdp.graphs.readers.coordinates import lengths_by_coordinates, read_coordinates

        source = f"lengths in {path}"
        if self.coordinates is not None:
            unused = " instead of the lengths in the file" if loaded.weights is not None else ""
            source = f"as the crow flies, by {self.coordinates}{unused}"
            loaded = lengths_by_coordinates(loaded, read_coordinates(self.coordinates, loaded))
        if loaded.weights is None:
            raise RainbowError(
                f"{path} has no lengths. Name their column or attribute by --weight, or give "
                "--coordinates."
            )
        unit = self.unit
        if unit is None:
            sample = loaded.weights[:: max(1, len(loaded.weights) // _SAMPLE)]
            unit = fitting_unit(sample.astype("float64") * float(self.scale))
        found = with_lengths(loaded, unit=unit / self.scale)
        assert found.steps is not None
        whole = float(found.steps.sum(dtype="int64")) * float(unit / self.scale)
        every = float(loaded.weights.sum())
        kept = whole / every if every else 1.0
        merged = int((found.steps == 0).sum())
        told = Measured(unit, self._step(unit), self.kilometer, source, kept, merged)
        return replace(found, unit=unit, measure="m"), told

    def on_disk(self, lengths: DiskLengths, path: Path) -> Measured:
        """What is to be said of the steps of a graph on disk, which are of a unit in meters."""
        source, step = f"lengths in {path}", self._step(lengths.unit)
        return Measured(lengths.unit, step, self.kilometer, source, lengths.kept, lengths.joined)

    def _step(self, unit: Fraction) -> Guarantee:
        """The guarantee of one step: so much of a kilometer's as it is long."""
        share = unit / 1000
        if isinstance(self.kilometer, GaussianDP):
            return GaussianDP(self.kilometer.exact_mu * share)
        assert self.kilometer.exact_epsilon is not None
        return DP(self.kilometer.exact_epsilon * share)


@dataclass(frozen=True, eq=False)
class Measured:
    """The unit of whole steps, the guarantee of one, and what to say of both."""

    unit: Fraction
    step: Guarantee
    kilometer: DP | GaussianDP
    source: str
    kept: float
    merged: int

    @property
    def unit_in_words(self) -> str:
        """The unit with its measure."""
        from rainbowdp.graphs.edges import length_in_words

        return length_in_words(self.unit, "m")

    @property
    def promise(self) -> str:
        """What is promised a kilometer apart, in words."""
        words = self.kilometer.in_words("which of two places 1 km apart by these lengths")
        if isinstance(self.kilometer, DP):
            most = f"any answer at most e^{self.kilometer.epsilon:g} times as likely"
            return f"1 km apart: {most}; {words}"
        return f"1 km apart: {self.kilometer}; {words}"

    @property
    def lengths(self) -> str:
        """How lengths were measured, in words."""
        said = f"{self.source}, in steps of {self.unit_in_words}: {self.kept:.1%} of them count"
        if self.merged:
            said += f"; {self.merged:,} shorter edges join their ends into one place"
        return said

    def facts(self) -> dict[str, str]:
        """What a person is told."""
        return {"promise": self.promise, "lengths": self.lengths}

    def as_dict(self) -> dict[str, Any]:
        """What a program is told."""
        from rainbowdp.guarantees.descriptions import describe_guarantee

        return {
            "unit": self.unit_in_words,
            "per_km": describe_guarantee(self.kilometer),
            "promise": self.promise,
            "source": self.source,
            "kept": self.kept,
            "joined": self.merged,
        }


def _meters(text: str, option: str) -> Fraction:
    """A length such as ``100m``, ``0.1 km`` or ``mi``; a bare number is in meters."""
    match = _LENGTH.fullmatch(text.lower())
    number, measure = match.groups() if match else ("", "?")
    if (measure or "m") not in METERS or not (number or measure):
        raise RainbowError(
            f"{option} must be a length such as 100m, 0.1km or 300ft, got {text!r}. "
            f"Measures are {', '.join(METERS)}."
        )
    value = exact(number or "1", option, RainbowError) * METERS[measure or "m"]
    if value <= 0:
        raise RainbowError(f"{option} must be a length above 0, got {text!r}")
    return value


def fitting_unit(sample: Floats) -> Fraction:
    """The longest round unit in which nearly all of some lengths in meters counts."""
    import numpy as np

    every = sample.sum()
    rounded = [
        Fraction(digit) * Fraction(10) ** power for power in range(3, -4, -1) for digit in (5, 2, 1)
    ]
    for unit in rounded:
        if (
            not np.isfinite(every)
            or np.floor(sample / float(unit)).sum() * float(unit) >= _ENOUGH * every
        ):
            return unit
    raise InvalidGuarantee("the lengths are too short for a unit. Give --lengths-in or --unit.")
