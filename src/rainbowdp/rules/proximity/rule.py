"""A weight for each margin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from rainbowdp.aliases import Answer, Dataset, Floats, Integers, Label, Weights
from rainbowdp.errors import InvalidMechanism, NoPlace
from rainbowdp.exact.check import Check
from rainbowdp.exact.margins import (
    ON_A_GRAPH,
    margins_at,
    margins_at_depth,
    margins_of,
    outline_by_margins,
)
from rainbowdp.exact.rule import Key, Outline, Rule
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions import Question
from rainbowdp.rules.proximity.proof import MOST_STEPS, prove_margins
from rainbowdp.storage.integers import from_text, from_texts, to_text, to_texts

_FAR = 10**30  # a margin beyond every weight


@dataclass(frozen=True)
class Proximity(Rule):
    """A weight for each margin; the key is the margins of all answers.

    Parameters
    ----------
    total
        The sum of a row.
    steps
        An answer that is t changes away from being true has weight ``steps[t − 1]``, the last one
        for all larger t; the true answer has the rest.
    most
        What all others together have at most, if the rule is for such margins alone; margins that
        give them more have no row.

    """

    kind: ClassVar[str] = "proximity"

    total: int
    steps: tuple[int, ...]
    most: int | None = None

    def must_fit(
        self, answers: tuple[Answer, ...], neighbors: str, question: Mapping[str, Any] | None
    ) -> None:
        """Every question has margins, and every graph; only a graph can keep within ``most``."""
        if self.most is not None and question is not None:
            raise InvalidMechanism("weights that bound what others have are for graphs alone")

    def scope_on_a_graph(self) -> str:
        """The margins are the graph's."""
        if self.most is None:
            return ON_A_GRAPH
        return f"{ON_A_GRAPH}, and margins that give the others more have no row here"

    def prove(
        self, guarantee: Guarantee, answers: tuple[Answer, ...], question: Mapping[str, Any] | None
    ) -> Check:
        """Check the inequalities that are enough for any margins whatever, or for those allowed."""
        return prove_margins(guarantee, len(answers), self.total, self.steps, self.most)

    def key(self, question: Question, counted: Dataset) -> Key:
        """The margins."""
        return margins_at(question, counted)

    def weights(self, key: Key, answers: Sequence[Answer]) -> Weights:
        """The row where the answers have the margins ``key``, exactly one of them 0."""
        margins = margins_of(key, answers)
        true, steps, last = margins.index(0), self._steps, len(self.steps)
        row = [steps[margin] if margin < last else steps[last] for margin in margins]
        others = sum(row)
        if self.most is not None and others > self.most:
            raise NoPlace(f"margins that give the others at most {self.most}", key)
        row[true] = self.total - others
        return tuple(row)

    @cached_property
    def _steps(self) -> tuple[int, ...]:
        """The weights by margin."""
        return (0, *self.steps)

    def rows_at(self, question: Question, counts: Integers, margins: Floats) -> Floats:
        """The rows of many histograms at once, in floats."""
        return self.rows_of(margins)

    @property
    def last_margin(self) -> int:
        """A margin from which on there is no difference."""
        return len(self.steps)

    def rows_of(self, margins: Floats) -> Floats:
        """The rows of many margins at once, in floats."""
        steps = np.array(self.steps, dtype=np.float64) / self.total
        index = np.clip(margins - 1, 0, len(steps) - 1).astype(np.int64)
        rows: Floats = np.where(margins > 0, steps[index], 0.0)
        rows[np.arange(len(rows)), margins.argmin(axis=1)] = 1 - rows.sum(axis=1)
        return rows

    def chances(self, question: Question, margin: int) -> tuple[float, float]:
        """Least where all rivals are that near, most where the others are far away."""
        first, nearest, *others = question.answers
        least, most = (
            self.weights(
                {first: 0, nearest: margin, **dict.fromkeys(others, rest)}, question.answers
            )
            for rest in (margin, _FAR)
        )
        return least[0] / sum(least), most[0] / sum(most)

    def far(self, question: Question, short: int) -> float:
        """Most where all rivals are just so far away: each has its weight, whatever others have."""
        return (len(question.answers) - 1) * self.far_alone(question, short)

    def far_alone(self, question: Question, short: int) -> float:
        """The weight of a rival that is just so far away."""
        return max(self.steps[short:], default=self.steps[-1]) / self.total

    def describe(self) -> dict[str, Any]:
        """The weights, their total, and what others have at most where that is bounded."""
        bounded = {} if self.most is None else {"most": to_text(self.most)}
        return {"total": to_text(self.total), "steps": to_texts(self.steps), **bounded}

    @classmethod
    def restore(cls, content: Mapping[str, Any]) -> Self:
        """The rule that ``describe`` described."""
        most = from_text(content["most"]) if "most" in content else None
        return cls(from_text(content["total"]), from_texts(content["steps"], MOST_STEPS), most)

    def outline(self, answers: tuple[Answer, ...]) -> Outline:
        """A line for each answer, on which all rivals are equally near."""
        return outline_by_margins(answers, len(self.steps))

    def key_at_depth(self, label: Label, depth: float, answers: tuple[Answer, ...]) -> Key:
        """At depth t every rival has the margin t + 1."""
        return margins_at_depth(label, depth, answers)
