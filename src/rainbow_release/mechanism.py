"""A mechanism file: read, proved again, and drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from os import PathLike

from . import document
from .crowd_table import CrowdTable
from .errors import Refused
from .guarantee import Guarantee
from .ladders import Ladders, OneLadder
from .margin_table import MarginTable
from .margins import MarginFlip, Proximity, margins_of
from .noise import Count, NoisyCounts
from .ordered_bins import OrderedBins
from .question import Question, is_on_a_graph
from .scores import Exponential, PermuteAndFlip

TYPE_CHECKING = False  # typing itself takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

FORMAT, COUNT_FORMAT, VERSION = "rainbowdp mechanism", "rainbowdp count", 1
_KINDS = {
    "crowd-table": CrowdTable,
    "exponential": Exponential,
    "margin-flip": MarginFlip,
    "margin-table": MarginTable,
    "noisy-counts": NoisyCounts,
    "ordered-bins": OrderedBins,
    "permute-and-flip": PermuteAndFlip,
    "proximity": Proximity,
}
_HEAD = ("format", "version", "guarantee", "neighbors", "question", "answers", "mixing", "rule")
_MOST_MIXING = Fraction(1, 1 << 10)


class Mechanism:
    """A file that was proved. Attributes: kind, answers, guarantee, neighbors, question, proved."""

    def __init__(self, content: dict[str, object]) -> None:
        self.kind = str(content.get("rule"))
        self.checksum = document.checksum(content)
        given = content.get("answers")
        if not isinstance(given, list) or not given:
            raise Refused("a mechanism file must list its answers")
        self.answers = tuple(document.name(answer) for answer in given)
        if len(set(self.answers)) != len(self.answers):
            raise Refused("answers must be different, got one twice")
        if self.kind == "homogeneous":
            made: Any = OneLadder if "ladder" in content else Ladders
        elif self.kind in _KINDS:
            made = _KINDS[self.kind]
        else:
            known = ", ".join(sorted([*_KINDS, "homogeneous"]))
            raise Refused(f"this reader proves {known}, got another rule: use rainbowdp itself")
        more = [key for key in getattr(made, "may_have", ()) if key in content]
        document.keys(content, "a mechanism file", *_HEAD, *made.own, *more)
        guarantee = Guarantee(content["guarantee"])
        self.guarantee, self.neighbors = content["guarantee"], content["neighbors"]
        self.question = content["question"]
        self._question = (
            None if content["question"] is None else Question(content["question"], self.answers)
        )
        if not (
            is_on_a_graph(self.neighbors)
            if self._question is None
            else self.neighbors == self._question.neighbors
        ):
            raise Refused("a file must have the neighbors of its question, or of a graph")
        if document.fraction(content["mixing"], "mixing") > _MOST_MIXING:
            raise Refused("mixing must be at most 1/1024")
        self._rule = made(content, self.answers, self._question, guarantee)
        self.proved = str(self._rule.proved)

    def _key(self, counts: Mapping[str, int]) -> object:
        if self._question is None:
            raise Refused("the file of a graph has no counts: give a region and depth, or margins")
        if getattr(self._rule, "by_counts", False):
            return counts
        if isinstance(self._rule, OrderedBins):
            return self._rule.leads(self._question.counted(counts))
        return self._rule.key(self._question, self._question.margins(counts))

    def row(self, counts: Mapping[str, int]) -> list[int]:
        """The exact weight of each answer at these counts."""
        return self.row_at(self._key(counts))

    def row_at(self, key: object) -> list[int]:
        """The same at a key: (region, depth), {answer: margin}, counts, or leads."""
        row: list[int] = self._rule.row(self._placed(key))
        return row

    def release(self, counts: Mapping[str, int]) -> object:
        """One answer for these counts, drawn with the operating system's randomness."""
        return self.release_at(self._key(counts))

    def release_at(self, key: object) -> object:
        """The same at a key: (region, depth), {answer: margin}, counts, or leads."""
        return self.answers[self._rule.draw(self._placed(key))]

    def _placed(self, key: object) -> object:
        """Margins of all answers are a key of ladders, too: whoever knows them knows the depth."""
        if isinstance(self._rule, Ladders | OneLadder) and isinstance(key, Mapping):
            if self._question is None:
                raise Refused("the key of a graph's ladders is a region and a depth")
            return self._rule.key(self._question, margins_of(key, self.answers))
        return key


class NoisyCount:
    """The file of a count, proved."""

    kind = "canonical-noise"

    def __init__(self, content: dict[str, object]) -> None:
        self.checksum = document.checksum(content)
        document.keys(
            content, "the file of a count", "format", "version", "guarantee", "question", "noise"
        )
        self.guarantee, self.question = content["guarantee"], content["question"]
        asked = Question(content["question"], ())
        if asked.kind != "count":
            raise Refused("the file of a count must have the question of a count")
        self._count = Count(content, asked, Guarantee(content["guarantee"]))
        self.neighbors, self.proved = asked.neighbors, self._count.proved

    def chance(self, noise: int) -> tuple[int, int]:
        """The weight of a number as noise, and the total of all."""
        return self._count.chance(noise)

    def release(self, counts: Mapping[str, int]) -> int:
        """``{"matching": n}`` with noise."""
        if not isinstance(counts, Mapping) or set(counts) != {"matching"}:
            raise Refused("the counts of a count must be of matching")
        found = counts["matching"]
        if type(found) is not int or found < 0:
            raise Refused("a count must be a whole number from 0")
        return self._count.release(min(found, self._count.most))


def load(path: str | PathLike[str]) -> Mechanism | NoisyCount:
    """Read a mechanism file and prove it again, in integers."""
    return loads(document.read(path))


def loads(text: str) -> Mechanism | NoisyCount:
    """The same from its text."""
    content = document.parse(text)
    version = content.get("version")
    if type(version) is not int or version != VERSION:
        raise Refused(f"this reader knows version {VERSION} of mechanism files, got another")
    try:
        if content.get("format") == FORMAT:
            return Mechanism(content)
        if content.get("format") == COUNT_FORMAT:
            return NoisyCount(content)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError) as error:
        raise Refused(f"a mechanism file must be complete: {error!r:.200}") from error
    raise Refused(f"a mechanism file must have the format {FORMAT!r}")
