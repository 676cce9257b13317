"""A row for each region and depth; for a question whose answers are alike, one ladder for all."""

from __future__ import annotations

import itertools
import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from rainbowdp.aliases import Answer, Dataset, Floats, Integers, Label, Rainbow, Weights
from rainbowdp.errors import InvalidFile, InvalidMechanism, NoPlace
from rainbowdp.exact.check import Check
from rainbowdp.exact.margins import margins_at, truth_and_depth
from rainbowdp.exact.names import name_from_json, name_to_json
from rainbowdp.exact.rule import Key, Outline, Rule
from rainbowdp.exact.steps import BITS
from rainbowdp.expecting import brief, hashable
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions import Question
from rainbowdp.rules.homogeneous.proof import prove_alike, prove_ladders
from rainbowdp.storage.integers import from_texts, to_texts

# A file may claim anything, and must not keep us busy for ever.
_MOST_COMPARED = 4_000_000  # weights of touching regions
_MORE = 16  # times the weights that there are


@dataclass(frozen=True)
class Homogeneous(Rule):
    """A row for each region and depth; the key is such a pair.

    Parameters
    ----------
    rows
        For each region its *ladder*: the rows by depth, in the order of the answers. The last one
        is used for all that is deeper.
    certain
        The first choice of a region where no boundary can be reached.
    touching
        The pairs of regions that have neighbors in each other.

    """

    kind: ClassVar[str] = "homogeneous"

    rows: Mapping[Label, tuple[Weights, ...]]
    certain: Mapping[Label, Answer]
    touching: tuple[tuple[Label, Label], ...]

    def must_fit(
        self, answers: tuple[Answer, ...], neighbors: str, question: Mapping[str, Any] | None
    ) -> None:
        """Refuse rows that are not over ``answers``, and for a question missing borders.

        The regions of a question are its answers, and any two of them may be neighbors.
        """
        weights = sum(len(ladder) for ladder in self.rows.values()) * len(answers)
        if len(self.touching) * len(answers) > max(_MOST_COMPARED, _MORE * weights):
            raise InvalidMechanism(
                f"{len(self.touching):,} pairs of touching regions are more than rows for "
                f"{len(answers):,} answers are compared for"
            )
        if len(set(self.touching)) < len(self.touching):
            raise InvalidMechanism("touching regions must be listed once, got a pair twice")
        for label, ladder in self.rows.items():
            if not ladder or any(len(row) != len(answers) for row in ladder):
                raise InvalidMechanism(
                    f"a row must have a weight for each of the {len(answers)} answers, "
                    f"got others in region {brief(label)}"
                )
        if not all(label in self.rows for pair in self.touching for label in pair):
            raise InvalidMechanism("touching regions must have rows, got a pair without")
        if not all(answer in answers for answer in self.certain.values()):
            raise InvalidMechanism("a certain answer must be one of the answers, got another")
        if question is None or len(answers) == 1:
            return
        pairs = {frozenset(pair) for pair in self.touching}
        enough = len(pairs) >= math.comb(len(answers), 2)  # all pairs may be more than fit memory
        wanted = (frozenset(pair) for pair in itertools.combinations(answers, 2))
        alike = set(self.rows) == set(answers) and not self.certain
        if not enough or not alike or not all(pair in pairs for pair in wanted):
            raise InvalidMechanism(
                "a question's mechanism must have a region for each answer, every two of them "
                f"touching, got {len(self.rows)} regions and {len(pairs)} touching pairs"
            )

    @property
    def single_rows(self) -> int:
        """All regions, if none is deeper than its boundary or certain."""
        single = not self.certain and all(len(ladder) == 1 for ladder in self.rows.values())
        return len(self.rows) if single else 0

    def scope_on_a_graph(self) -> str:
        """The rows say nothing of which regions touch; the file lists them."""
        pairs = "pair" if len(self.touching) == 1 else "pairs"
        return (
            f"for the {len(self.touching)} listed {pairs} of touching regions and for neighboring "
            "depths inside each; only the graph can tell whether these are all"
        )

    def prove(
        self, guarantee: Guarantee, answers: tuple[Answer, ...], question: Mapping[str, Any] | None
    ) -> Check:
        """Compare all rows of neighboring depths and touching regions, exactly."""
        return prove_ladders(guarantee, self.rows, self.touching)

    def key(self, question: Question, counted: Dataset) -> Key:
        """The true answer, and how deep the dataset lies among those that share it."""
        return _truth_and_depth(margins_at(question, counted), question.answers)

    def weights(self, key: Key, answers: Sequence[Answer]) -> Weights:
        """The row at ``key``, a pair of region and depth; strict, for a wrong row would leak."""
        if not (isinstance(key, tuple) and len(key) == 2 and hashable(key[0])):
            raise NoPlace("a pair (region, depth) from the file of nodes", key)
        label, depth = key
        if depth == math.inf and label in self.certain:
            total = sum(next(iter(self.rows.values()))[0]) if self.rows else 1 << BITS
            return tuple(total if a == self.certain[label] else 0 for a in answers)
        if label not in self.rows or type(depth) is not int or depth < 0:
            raise NoPlace("a region of the mechanism with a depth from 0", key)
        ladder = self.rows[label]
        return ladder[min(depth, len(ladder) - 1)]

    def rows_at(self, question: Question, counts: Integers, margins: Floats) -> Floats:
        """The rows of many histograms at once, in floats."""
        true, depths = _truths_and_depths(margins)
        found = np.empty(margins.shape)
        for index, answer in enumerate(question.answers):
            table = np.array([[w / sum(row) for w in row] for row in self.rows[answer]])
            here = true == index
            found[here] = table[np.minimum(depths[here], len(table) - 1).astype(np.int64)]
        return found

    def chances(self, question: Question, margin: int) -> tuple[float, float]:
        """All rivals alike, so the least and the most are one."""
        first = question.answers[0]
        weights = self.weights(
            (first, margin - 1 if len(question.answers) > 1 else math.inf), question.answers
        )
        chance = weights[0] / sum(weights)
        return chance, chance

    def far(self, question: Question, short: int) -> float:
        """Most where all rivals are far away, or all but the least likely one."""
        most = 0.0
        for place, truth in enumerate(question.answers):
            ladder = self.rows[truth]
            for depth, row in enumerate(ladder):
                rivals = [*row[:place], *row[place + 1 :]]
                all_far = depth >= min(short, len(ladder) - 1)
                far = sum(rivals) if all_far else sum(rivals) - min(rivals)
                most = max(most, far / sum(row))
        return most

    def describe(self) -> dict[str, Any]:
        """Regions with their rows, and the numbers of those that touch."""
        labels = [*self.rows, *(label for label in self.certain if label not in self.rows)]
        number = {label: index for index, label in enumerate(labels)}
        return {
            "regions": [
                {
                    "label": name_to_json(label),
                    "certain": name_to_json(self.certain[label]) if label in self.certain else None,
                    "rows": [to_texts(row) for row in self.rows.get(label, ())],
                }
                for label in labels
            ],
            "touching": [[number[a], number[b]] for a, b in self.touching],
        }

    @classmethod
    def restore(cls, content: Mapping[str, Any]) -> Rule:
        """The rule that a file of this kind describes: regions, or one ladder for all answers."""
        if "ladder" in content:
            return OneLadder.restore(content)
        labels = [name_from_json(region["label"]) for region in content["regions"]]
        if len(set(labels)) != len(labels):
            raise InvalidFile("regions must have different names, got one twice")
        regions = list(zip(labels, content["regions"], strict=True))
        numbers = [number for pair in content["touching"] for number in pair]
        if any(type(number) is not int or not 0 <= number < len(labels) for number in numbers):
            raise InvalidFile("touching pairs must be numbers of regions, got others")
        return cls(
            {label: tuple(map(from_texts, r["rows"])) for label, r in regions if r["rows"]},
            {
                label: name_from_json(r["certain"])
                for label, r in regions
                if r["certain"] is not None
            },
            tuple((labels[a], labels[b]) for a, b in content["touching"]),
        )

    def outline(self, answers: tuple[Answer, ...]) -> Outline:
        """Each region's ladder as a line of depths."""
        lines = {
            label: (_rainbow(label, ladder, answers), len(ladder))
            for label, ladder in self.rows.items()
        }
        return Outline(lines, self.touching, self.certain)

    def key_at_depth(self, label: Label, depth: float, answers: tuple[Answer, ...]) -> Key:
        """A region and a depth are a key as they are."""
        return label, depth


@dataclass(frozen=True)
class OneLadder(Rule):
    """One ladder for all answers of a question, every two of which touch; the others are alike.

    The key is a pair of the true answer and the depth, as for ``Homogeneous``, but it takes no more
    room and no longer proof for ten thousand answers than for two.

    Parameters
    ----------
    ladder
        By depth the weight of the true answer, and that of every other. The last pair is used for
        all that is deeper.

    """

    kind: ClassVar[str] = "homogeneous"

    ladder: tuple[tuple[int, int], ...]

    def must_fit(
        self, answers: tuple[Answer, ...], neighbors: str, question: Mapping[str, Any] | None
    ) -> None:
        """Refuse all but a question with rivals: on a graph regions may lie in other ways."""
        if question is None or len(answers) < 2:
            raise InvalidMechanism(
                "one ladder for all answers must have a question with at least two, got none such"
            )
        if not self.ladder or any(len(pair) != 2 for pair in self.ladder):
            raise InvalidMechanism(
                "a ladder must have two weights at each depth, the true answer's and the others', "
                "got something else"
            )

    def prove(
        self, guarantee: Guarantee, answers: tuple[Answer, ...], question: Mapping[str, Any] | None
    ) -> Check:
        """Compare all rows of neighboring depths and of two true answers, exactly."""
        return prove_alike(guarantee, len(answers), self.ladder)

    def key(self, question: Question, counted: Dataset) -> Key:
        """The true answer, and how deep the dataset lies among those that share it."""
        return _truth_and_depth(margins_at(question, counted), question.answers)

    def weights(self, key: Key, answers: Sequence[Answer]) -> Weights:
        """The row at ``key``, a pair of answer and depth."""
        first, other = self._pair(key, answers)
        truth = key[0]
        return tuple(first if answer == truth else other for answer in answers)

    def _pair(self, key: Key, answers: Sequence[Answer]) -> tuple[int, int]:
        """The two weights at ``key``; strict, for a wrong row would leak."""
        if not (isinstance(key, tuple) and len(key) == 2 and key[0] in answers):
            raise NoPlace("a pair (true answer, depth)", key)
        depth = key[1]
        if type(depth) is not int or depth < 0:
            raise NoPlace("a depth from 0", key)
        return self.ladder[min(depth, len(self.ladder) - 1)]

    def drawer(self, key: Key, answers: Sequence[Answer]) -> Callable[[], Answer]:
        """A uniform number below the total tells the true answer or which of the others."""
        first, other = self._pair(key, answers)
        truth, place = key[0], answers.index(key[0])
        total = first + (len(answers) - 1) * other

        def draw() -> Answer:
            drawn = secrets.randbelow(total) - first
            if drawn < 0:
                return truth
            rival = drawn // other
            return answers[rival + (rival >= place)]

        return draw

    def rows_at(self, question: Question, counts: Integers, margins: Floats) -> Floats:
        """The rows of many histograms at once, in floats."""
        true, depths = _truths_and_depths(margins)
        first, other = self.ladder[0]
        total = first + (margins.shape[1] - 1) * other
        table = np.array([[a / total, b / total] for a, b in self.ladder])
        pairs = table[np.minimum(depths, len(table) - 1).astype(np.int64)]
        found = np.repeat(pairs[:, 1:], margins.shape[1], axis=1)
        found[np.arange(len(margins)), true] = pairs[:, 0]
        return found

    def chances(self, question: Question, margin: int) -> tuple[float, float]:
        """All rivals alike, so the least and the most are one."""
        weights = self.weights((question.answers[0], margin - 1), question.answers)
        chance = weights[0] / sum(weights)
        return chance, chance

    def far(self, question: Question, short: int) -> float:
        """Most where all rivals are far away, or all but one."""
        rivals = len(question.answers) - 1
        first, other = self.ladder[0]
        deep = max((b for _, b in self.ladder[short:]), default=self.ladder[-1][1])
        near = max((b for _, b in self.ladder[:short]), default=0)
        return max(rivals * deep, (rivals - 1) * near) / (first + rivals * other)

    def far_alone(self, question: Question, short: int) -> float:
        """Of several rivals one may be far while another is near, so the most at any depth."""
        first, other = self.ladder[0]
        rivals = len(question.answers) - 1
        alone = max(b for _, b in self.ladder) / (first + rivals * other)
        return min(alone, self.far(question, short))

    def describe(self) -> dict[str, Any]:
        """The two weights at each depth."""
        return {"ladder": [to_texts(pair) for pair in self.ladder]}

    @classmethod
    def restore(cls, content: Mapping[str, Any]) -> Self:
        """The rule that ``describe`` described."""
        pairs = map(from_texts, content["ladder"])
        return cls(tuple((first, other) for first, other in pairs))

    def outline(self, answers: tuple[Answer, ...]) -> Outline:
        """The ladder as a line of depths for each answer, all of which touch."""
        lines = {answer: (_rainbow(answer, (), answers), len(self.ladder)) for answer in answers}
        return Outline(lines, tuple(itertools.combinations(answers, 2)), {})

    def key_at_depth(self, label: Label, depth: float, answers: tuple[Answer, ...]) -> Key:
        """An answer and a depth are a key as they are."""
        return label, depth


def _truth_and_depth(
    margins: Mapping[Answer, int] | Integers, answers: Sequence[Answer]
) -> tuple[Answer, float]:
    at = truth_and_depth(margins, answers)
    if at is not None:
        return answers[at[0]], at[1]
    assert isinstance(margins, Mapping)
    found = list(margins.values())
    place = found.index(0)
    truth = next(itertools.islice(margins, place, None))
    rivals = [*found[:place], *found[place + 1 :]]
    return truth, min(rivals) - 1 if rivals else math.inf


def _truths_and_depths(margins: Floats) -> tuple[Integers, Floats]:
    """The same for many rows of margins, the true answers as places."""
    true = margins.argmin(axis=1)
    rivals = margins.copy()
    rivals[np.arange(len(margins)), true] = math.inf
    return true, rivals.min(axis=1) - 1


def _rainbow(label: Label, ladder: Sequence[Weights], answers: tuple[Answer, ...]) -> Rainbow:
    """The order of a region: its label if that is one, else the likeliest answer first."""
    if isinstance(label, tuple) and set(label) == set(answers) and len(label) == len(answers):
        return label
    if label in answers:
        return (label, *(other for other in answers if other != label))
    deep, head = ladder[-1], ladder[0]
    order = sorted(range(len(answers)), key=lambda index: (-deep[index], -head[index]))
    return tuple(answers[index] for index in order)
