"""The mechanisms that the page offers: our kinds, what others use, and a loaded file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from rainbowdp.baselines import exponential, permute_and_flip, randomized_response
from rainbowdp.mechanisms.kinds import ON_GRAPHS
from rainbowdp.rules import FAMILIES
from rainbowdp.studio.worlds import World

BASELINES: dict[str, Callable[..., Any]] = {
    "textbook exponential": exponential,
    "textbook permute-and-flip": permute_and_flip,
    "randomized response": randomized_response,
}
BEST = "best"  # what rb.best takes
REFERENCE = "homogeneous"  # what the others are measured by


@dataclass(frozen=True)
class Offer:
    """A mechanism to choose on the page.

    ``call`` is the Python function that makes it, ``releasable`` says whether it can be proved
    exactly and written to a file, ``boundary`` whether a boundary row may be chosen for it.
    """

    name: str
    title: str
    about: str
    call: str = ""
    releasable: bool = False
    boundary: bool = False

    def as_dict(self) -> dict[str, Any]:
        """What the page needs to know."""
        return {
            "name": self.name,
            "title": self.title,
            "about": self.about,
            "releasable": self.releasable,
            "boundary": self.boundary,
            "reference": self.name == REFERENCE,
        }


CALLS = {
    "homogeneous": "rb.optimal",
    "proximity": "rb.proximity",
    "margin-flip": "rb.by_kind",
    "exponential": "rb.by_kind",
}
OFFERS = (
    Offer(
        BEST,
        "Best",
        "what rb.best takes: of all that are proved, the one that is right most often on average",
        "rb.best",
        releasable=True,
    ),
    *(
        Offer(
            family.kind,
            family.title,
            family.summary,
            CALLS.get(family.kind, "rb.by_kind"),
            releasable=True,
            boundary="boundary" in {field.name for field in fields(family)},
        )
        for family in FAMILIES
        if not family.costly
    ),
    Offer(
        "textbook exponential",
        "Textbook exponential",
        "likelier the nearer, at the usual rate",
        "rb.exponential",
    ),
    Offer(
        "textbook permute-and-flip",
        "Textbook permute-and-flip",
        "flips a coin for each answer in turn, in floats",
        "rb.permute_and_flip",
    ),
    Offer(
        "randomized response",
        "Randomized response",
        "blind to how far the border is",
        "rb.randomized_response",
    ),
    Offer(
        "printed",
        "The paper’s printed operator",
        "Theorem 4 as it stands in the paper, wrong for δ > 0",
        "rb.printed_operator",
    ),
    Offer("file", "The loaded file", "the rows of the file, as they are", releasable=True),
)


def offered(world: World) -> dict[str, Offer]:
    """The mechanisms that exist for ``world`` at all, by name."""
    return {offer.name: offer for offer in OFFERS if _exists(world, offer.name)}


def _exists(world: World, name: str) -> bool:
    if world.mechanisms is not None:
        return name in world.mechanisms
    if name == "file":
        return world.file is not None
    if name == BEST:
        return world.file is None
    if name == "printed":
        return world.question is None
    if name in ON_GRAPHS or name in BASELINES:
        return True
    return world.question is not None and any(
        family.kind == name and family.suits(world.question) for family in FAMILIES
    )
