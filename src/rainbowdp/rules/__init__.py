"""The kinds of mechanisms: one folder each, and this list.

``FAMILIES`` is where files, commands, comparisons, the studio and the documentation take their
lists from. Adding a kind is a folder with ``rule``, ``proof`` and ``build``, and a line here; which
kind is preferred for a question is decided in ``rainbowdp.answering.best`` alone.
"""

from __future__ import annotations

from rainbowdp.errors import InvalidQuestion
from rainbowdp.exact.rule import Family
from rainbowdp.expecting import brief
from rainbowdp.rules.crowd_table.build import CrowdTableFamily
from rainbowdp.rules.exponential.build import ExponentialFamily
from rainbowdp.rules.homogeneous.build import HomogeneousFamily
from rainbowdp.rules.margin_flip.build import MarginFlipFamily
from rainbowdp.rules.margin_table.build import MarginTableFamily
from rainbowdp.rules.noisy_counts.build import NoisyCountsFamily
from rainbowdp.rules.ordered_bins.build import OrderedBinsFamily
from rainbowdp.rules.permute_and_flip.build import PermuteAndFlipFamily
from rainbowdp.rules.proximity.build import ProximityFamily

FAMILIES: tuple[Family, ...] = (
    HomogeneousFamily(),
    ProximityFamily(),
    MarginTableFamily(),
    CrowdTableFamily(),
    OrderedBinsFamily(),
    PermuteAndFlipFamily(),
    MarginFlipFamily(),
    ExponentialFamily(),
    NoisyCountsFamily(),
)


def family(kind: str) -> Family:
    """The family called ``kind``.

    >>> family("proximity").summary
    "by each answer's own distance, so that distant rivals hardly matter"
    """
    for known in FAMILIES:
        if isinstance(kind, str) and known.kind == kind:
            return known
    kinds = ", ".join(known.kind for known in FAMILIES)
    raise InvalidQuestion(f"a kind of mechanism must be one of {kinds}, got {brief(kind)}")
