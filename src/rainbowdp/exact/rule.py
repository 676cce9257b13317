"""What every kind of mechanism is made of: a rule, which is rows as data, and its family.

A *rule* finds the row of a dataset by its *key* (its region and depth, its margins, its counts),
proves that its rows keep a guarantee, and draws from them. A *family* knows where its rules apply
and builds them. ``rainbowdp.rules`` lists the families; nothing outside a family's own folder asks
which kind a rule is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

from rainbowdp.aliases import Answer, Dataset, Floats, Integers, Label, Rainbow, Weights
from rainbowdp.errors import InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.exact.rows import ExactRow
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions import Question

Key: TypeAlias = Any  # where a rule finds a row
Progress: TypeAlias = Callable[[str], None]  # told in words how far the work is


@dataclass(frozen=True)
class Outline:
    """A rule as lines of depths: the rainbow and the length of each region, and who touches whom.

    ``certain`` are regions that no boundary reaches, with the one answer they give.
    """

    lines: Mapping[Label, tuple[Rainbow, int]]
    touching: Sequence[tuple[Label, Label]]
    certain: Mapping[Label, Answer]


class Short(StrEnum):
    """How an answer that is not true falls short of it."""

    CHANGES = "changes"  # so many until it is true
    RECORDS = "records"  # so many behind the leader of a vote
    TOGETHER = "records together"  # so many behind the first few of a vote, in sum


class Rule(ABC):
    """Rows as data. Making one checks its form; ``prove`` checks its privacy."""

    kind: ClassVar[str]
    """The name of its family."""

    @property
    def short(self) -> Short:
        """What ``far`` counts."""
        return Short.CHANGES

    @abstractmethod
    def must_fit(
        self, answers: tuple[Answer, ...], neighbors: str, question: Mapping[str, Any] | None
    ) -> None:
        """Refuse answers, neighbors or a described question that the rows are not about."""

    @abstractmethod
    def prove(
        self, guarantee: Guarantee, answers: tuple[Answer, ...], question: Mapping[str, Any] | None
    ) -> Check:
        """Prove in integers that the rows keep ``guarantee``, or raise ``InvalidMechanism``.

        What one change is comes from the described ``question``, not from the rule itself.
        """

    def scope_on_a_graph(self) -> str:
        """What the proof is about where there is no question, and what it cannot know."""
        raise InvalidMechanism(f"{self.kind} must have its question, got none")

    @abstractmethod
    def key(self, question: Question, counted: Dataset) -> Key:
        """The key of a dataset, from its counts (a custom question's from the dataset itself)."""

    @abstractmethod
    def weights(self, key: Key, answers: Sequence[Answer]) -> Weights:
        """The exact row at ``key``, in the order of ``answers``; ``NoPlace`` if there is none."""

    def drawer(self, key: Key, answers: Sequence[Answer]) -> Callable[[], Answer]:
        """A function that draws an answer with exactly the chances of ``weights``.

        All that can fail happens here, before anything is paid; calling it only draws.
        """
        return ExactRow(tuple(answers), self.weights(key, answers)).draw

    @abstractmethod
    def rows_at(self, question: Question, counts: Integers, margins: Floats) -> Floats:
        """The rows of many histograms at once, in floats: to compare mechanisms, not to release.

        ``margins`` are those of ``counts``, row by row.
        """

    @abstractmethod
    def chances(self, question: Question, margin: int) -> tuple[float, float]:
        """The least and the most of a right answer over tables whose nearest rival is so far."""

    @abstractmethod
    def far(self, question: Question, short: int) -> float:
        """The most, over tables of every size, of the chance of an answer that is farther short.

        Farther than ``short``: a bound from the rows, which falls as ``short`` grows.
        """

    def far_alone(self, question: Question, short: int) -> float:
        """The most, over tables of every size, of the chance of one answer that is farther short.

        A bound like ``far``, which is one itself: one answer has no more than all together.
        """
        return self.far(question, short)

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """The rule, ready for JSON."""

    @classmethod
    @abstractmethod
    def restore(cls, content: Mapping[str, Any]) -> Rule:
        """The rule that ``describe`` described."""

    @property
    def single_rows(self) -> int:
        """How many regions it has, if each of them is a single row that somebody else made."""
        return 0

    def outline(self, answers: tuple[Answer, ...]) -> Outline | None:
        """The rule as lines of depths, or none where only counts find a row."""
        return None

    def key_at_depth(self, label: Label, depth: float, answers: tuple[Answer, ...]) -> Key:
        """The key of a place of the ``outline``."""
        raise NotImplementedError


@dataclass(frozen=True)
class Family(ABC):
    """A kind of mechanism: its name, where it applies, and how its rules are built.

    A family with options, such as a boundary distribution, has them as fields.
    """

    kind: ClassVar[str]
    """The one name, in files, ledgers, commands, comparisons and documentation."""

    title: ClassVar[str]
    """The name as a heading."""

    summary: ClassVar[str]
    """What it does, in a few words."""

    rule: ClassVar[type[Rule]]
    """The class of its rules."""

    costly: ClassVar[bool] = False
    """Whether building one may take seconds, so that comparisons do not try many."""

    uses_delta: ClassVar[bool] = True
    """Whether a δ makes its answers any better."""

    @abstractmethod
    def suits(self, question: Question) -> bool:
        """Whether there is such a mechanism for this question under some guarantee."""

    @abstractmethod
    def unfit(self, question: Question, guarantee: Guarantee) -> str | None:
        """Why there is no such mechanism here, in one sentence; none where there is one."""

    @abstractmethod
    def build(
        self, question: Question, guarantee: Guarantee, progress: Progress | None = None
    ) -> tuple[Rule, Fraction]:
        """The rule, and the share of the uniform or mean row that its repair mixed in."""

    def sketch(
        self, question: Question, guarantee: Guarantee, counts: Integers, margins: Floats
    ) -> Floats:
        """The rows that ``build`` would have at many histograms, in floats and at once.

        To choose a kind before one is built; ``counts`` and ``margins`` are as in ``rows_at``.
        """
        return self.build(question, guarantee)[0].rows_at(question, counts, margins)

    def variants(self, question: Question) -> tuple[Family, ...]:
        """The family with the options that are worth comparing for this question."""
        return (self,)

    def outdone(self, guarantee: Guarantee) -> bool:
        """Whether some other kind errs no more on any table, so that comparisons leave it out."""
        return False

    def claim(self, question: Question, guarantee: Guarantee) -> str | None:
        """What is known of how good it is here, in a few words."""
        return None

    def options(self) -> dict[str, Any]:
        """The options that make this mechanism another one, ready for JSON."""
        return {}
