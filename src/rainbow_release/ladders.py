"""homogeneous: a row for each region and depth, or one ladder for all answers of a question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from .document import keys, name, small, weights
from .errors import Refused
from .guarantee import Guarantee
from .question import Question
from .randomness import place_in

_MOST_COMPARED = 4_000_000
_REMEMBERED = 1 << 14  # pairs of rows that are not compared twice


class OneLadder:
    """By depth the weight of the true answer and that of every other one; any two answers touch."""

    own = ("ladder",)

    def __init__(
        self,
        content: dict[str, object],
        answers: Sequence[object],
        question: Question | None,
        guarantee: Guarantee,
    ) -> None:
        ladder = content["ladder"]
        if question is None or len(answers) < 2 or not isinstance(ladder, list) or not ladder:
            raise Refused("one ladder for all answers must have a question with at least two")
        self.answers = answers
        self.ladder = [weights(pair) for pair in ladder]
        others = len(answers) - 1
        total = sum(self.ladder[0]) + (others - 1) * self.ladder[0][-1] if self.ladder[0] else 0
        for pair in self.ladder:
            if len(pair) != 2 or pair[0] + others * pair[1] != total or total <= 0:
                raise Refused("the pairs of a ladder must make rows of one positive total")
        for depth in range(len(self.ladder) - 1):  # answers with equal weights count as one
            (a, b), (c, d) = self.ladder[depth], self.ladder[depth + 1]
            where = f"the ladder at depths {depth} and {depth + 1}"
            guarantee.must_be_close((a, others * b), (c, others * d), where)
        first, other = self.ladder[0]
        rest = (others - 1) * other
        guarantee.must_be_close((first, other, rest), (other, first, rest), "two regions")
        self.proved = f"{len(self.ladder)} depths and every two answers"

    def key(self, question: Question, margins: Sequence[int]) -> tuple[object, int]:
        """The true answer and the depth."""
        return truth_and_depth(self.answers, margins)

    def row(self, key: object) -> list[int]:
        """The row of an answer and a depth."""
        label, depth = _pair(key)
        if label not in self.answers or depth is None:
            raise Refused("a key must be an answer and a depth from 0")
        first, other = self.ladder[min(depth, len(self.ladder) - 1)]
        return [first if answer == label else other for answer in self.answers]

    def draw(self, key: object) -> int:
        """The place of an answer."""
        return place_in(self.row(key))


class Ladders:
    """A ladder of rows for each region, and which regions touch."""

    own = ("regions", "touching")

    def __init__(
        self,
        content: dict[str, object],
        answers: Sequence[object],
        question: Question | None,
        guarantee: Guarantee,
    ) -> None:
        self.answers = answers
        self.rows: dict[object, list[list[int]]] = {}
        self.certain: dict[object, object] = {}
        regions, touching = content["regions"], content["touching"]
        if not isinstance(regions, list) or not isinstance(touching, list):
            raise Refused("regions and touching pairs must stand in lists")
        labels = []
        for region in regions:
            given = keys(region, "a region", "label", "certain", "rows")
            label, rows = name(given["label"]), given["rows"]
            labels.append(label)
            if not isinstance(rows, list):
                raise Refused("the rows of a region must stand in a list")
            if rows:
                self.rows[label] = [weights(row) for row in rows]
            if given["certain"] is not None:
                self.certain[label] = name(given["certain"])
        if len(set(labels)) != len(labels):
            raise Refused("regions must have different names, got one twice")
        if any(answer not in answers for answer in self.certain.values()):
            raise Refused("a certain answer must be one of the answers")
        pairs = _touching(touching, labels, self.rows)
        self.touching = set(map(frozenset, pairs))
        self._must_be_rows(len(pairs))
        if question is not None:
            self._must_be_all(pairs)
        seen: set[tuple[tuple[int, int], ...]] = set()
        compared = 0
        for one, other, where in self._neighbors(pairs):
            compared += 1
            if len(seen) < _REMEMBERED:  # which answer is which does not matter
                shape = tuple(sorted(zip(one, other, strict=True)))
                if shape in seen:
                    continue
                seen.add(shape)
            guarantee.must_be_close(one, other, where)
        self.proved = f"{compared} pairs of rows, {len(pairs)} of them of touching regions"

    def _must_be_rows(self, pairs: int) -> None:
        ladders = self.rows.values()
        totals = {sum(row) for ladder in ladders for row in ladder}
        sizes = {len(row) for ladder in ladders for row in ladder}
        if sizes - {len(self.answers)} or len(totals) > 1 or 0 in totals:
            raise Refused("rows must have a weight for each answer and one positive total")
        many = sum(map(len, ladders)) * len(self.answers)
        if pairs * len(self.answers) > max(_MOST_COMPARED, 16 * many):
            raise Refused("there are more touching regions than rows are compared for")
        self.total = totals.pop() if totals else 1 << 64

    def _must_be_all(self, pairs: list[tuple[object, object]]) -> None:
        """The regions of a question are its answers, and any two of them may be neighbors."""
        size = len(self.answers)
        known = {frozenset(pair) for pair in pairs}
        whole = len(known) >= size * (size - 1) // 2 and not self.certain
        if not whole or set(self.rows) != set(self.answers):
            raise Refused("a question must have a region for each answer, every two touching")

    def _neighbors(
        self, pairs: list[tuple[object, object]]
    ) -> Iterator[tuple[list[int], list[int], str]]:
        for label, ladder in self.rows.items():
            for depth in range(len(ladder) - 1):
                where = f"region {label!r} at depths {depth} and {depth + 1}"
                yield ladder[depth], ladder[depth + 1], where
        for one, other in pairs:
            yield self.rows[one][0], self.rows[other][0], f"regions {one!r} and {other!r}"

    def key(self, question: Question, margins: Sequence[int]) -> tuple[object, int]:
        """The true answer and the depth."""
        return truth_and_depth(self.answers, margins)

    def row(self, key: object) -> list[int]:
        """The row of a region and a depth; ``None`` is the depth that no boundary reaches."""
        label, depth = _pair(key)
        if depth is None and label in self.certain:
            return [self.total if answer == self.certain[label] else 0 for answer in self.answers]
        if depth is None or label not in self.rows:
            raise Refused("a key must be a region of the mechanism and a depth from 0")
        ladder = self.rows[label]
        return ladder[min(depth, len(ladder) - 1)]

    def draw(self, key: object) -> int:
        """The place of an answer."""
        return place_in(self.row(key))

    def are_within(
        self, one: tuple[object, int | None], other: tuple[object, int | None], steps: int
    ) -> bool:
        """Whether at most so many pairs of rows that were compared lead from one key to another."""
        (label, depth), (beside, deeper) = one, other
        if depth is None or deeper is None:
            return depth is deeper and label == beside
        if label == beside:
            return abs(depth - deeper) <= steps
        return self._heads_are_within(label, beside, steps - depth - deeper)

    def _heads_are_within(self, label: object, beside: object, steps: int) -> bool:
        """The same for the rows at depth 0 of two regions."""
        if steps < 1 or frozenset((label, beside)) in self.touching:
            return steps >= 1
        seen = front = {label}
        for _ in range(steps):
            front = {near for far in front for near in self._beside.get(far, ())} - seen
            if beside in front or not front:
                return beside in front
            seen = seen | front
        return False

    @cached_property
    def _beside(self) -> dict[object, list[object]]:
        """The regions that touch each."""
        found: dict[object, list[object]] = {}
        for one, other in map(tuple, self.touching):
            found.setdefault(one, []).append(other)
            found.setdefault(other, []).append(one)
        return found


def _touching(
    touching: list[object], labels: list[object], rows: Mapping[object, object]
) -> list[tuple[object, object]]:
    pairs = []
    for pair in touching:
        if not isinstance(pair, list) or len(pair) != 2:
            raise Refused("a touching pair must be two numbers of regions")
        one, other = (small(number, "the number of a region") for number in pair)
        if max(one, other) >= len(labels) or one == other:
            raise Refused("a touching pair must be two different regions")
        if labels[one] not in rows or labels[other] not in rows:
            raise Refused("touching regions must have rows")
        pairs.append((labels[one], labels[other]))
    if len(set(map(frozenset, pairs))) < len(pairs):
        raise Refused("touching regions must be listed once")
    return pairs


def _pair(key: object) -> tuple[object, int | None]:
    if not isinstance(key, tuple | list) or len(key) != 2:
        raise Refused("a key must be a pair of a region and a depth")
    label, depth = key
    label = name(list(label)) if isinstance(label, tuple) else name(label)
    if depth is not None and (type(depth) is not int or depth < 0):
        raise Refused("a depth must be a whole number from 0, or None where no boundary is reached")
    return label, depth


def truth_and_depth(answers: Sequence[object], margins: Sequence[int]) -> tuple[object, int]:
    """The true answer, and how far within its region."""
    true = list(margins).index(0)
    return answers[true], min(m for place, m in enumerate(margins) if place != true) - 1
