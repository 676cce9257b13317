"""What the page asked for, checked: every value that arrives is somebody else's until here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rainbowdp.errors import InvalidBoundary, InvalidGuarantee, InvalidQuestion, RainbowError
from rainbowdp.guarantees.curve import TradeOffCurve, curve_of
from rainbowdp.guarantees.descriptions import restore_guarantee
from rainbowdp.studio.offers import REFERENCE, offered
from rainbowdp.studio.worlds import World

_LONGEST = 64  # characters of a number


class Wrong(InvalidQuestion):
    """What is wrong with one field of a page, which shows it there."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field

    def __reduce__(self) -> tuple[type[Wrong], tuple[str, str]]:
        return Wrong, (self.field, str(self))  # it comes from another process


@dataclass(frozen=True)
class Settings:
    """A mechanism, its guarantee, a boundary row (none: the best) and a dataset to look at."""

    mechanism: str
    guarantee: TradeOffCurve
    boundary: tuple[float, ...] | None = None
    dataset: int | None = None


def read_settings(world: World, content: Mapping[str, Any]) -> Settings:
    """The settings in ``content`` for ``world``, or the one rule that they break."""
    mechanism = content.get("mechanism", REFERENCE)
    if not isinstance(mechanism, str) or mechanism not in offered(world):
        raise RainbowError(
            f"a mechanism must be one of {', '.join(offered(world))}, got {shown(mechanism)}"
        )
    dataset = content.get("dataset")
    if dataset is not None and (type(dataset) is not int or not 0 <= dataset < len(world.graph)):
        raise RainbowError(
            f"a dataset must be a number from 0 to {len(world.graph) - 1}, got {shown(dataset)}"
        )
    boundary = _boundary(content.get("boundary"), len(world.graph.answers))
    return Settings(mechanism, _guarantee(content.get("guarantee")), boundary, dataset)


def _guarantee(content: Any) -> TradeOffCurve:
    if not isinstance(content, Mapping):
        raise InvalidGuarantee("the settings have no guarantee")
    numbers = [value for key, value in content.items() if key != "knots"]
    if not all(isinstance(value, str) and len(value) <= _LONGEST for value in numbers):
        raise InvalidGuarantee("the numbers of a guarantee must be short texts, got something else")
    try:
        return curve_of(restore_guarantee(content), "the studio")
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, RainbowError):
            raise
        raise InvalidGuarantee("a guarantee must be of a known kind, got another") from None


def _boundary(content: Any, answers: int) -> tuple[float, ...] | None:
    if content is None:
        return None
    fine = isinstance(content, list) and len(content) == answers
    if not fine or not all(type(p) in (int, float) and 0 <= p <= 1 for p in content):
        raise InvalidBoundary(
            f"a boundary must be a row of {answers} numbers from 0 to 1, got {shown(content)}"
        )
    return tuple(float(p) for p in content)


def shown(content: Any) -> str:
    """What was sent, for a message: not more of it than people read."""
    words = repr(content)
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"
