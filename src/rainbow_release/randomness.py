"""Uniform integers from the operating system."""

from __future__ import annotations

from collections.abc import Sequence


def below(total: int) -> int:
    """A uniform integer from 0 to total − 1."""
    import secrets

    return secrets.randbelow(total)


def bits_at_random(bits: int) -> int:
    """A uniform integer of so many bits."""
    import secrets

    return secrets.randbits(bits)


def place_in(weights: Sequence[int]) -> int:
    """A place, with the chance that its weight has of all."""
    drawn = below(sum(weights))
    for place, weight in enumerate(weights):
        drawn -= weight
        if drawn < 0:
            return place
    raise AssertionError("weights sum to their sum")
