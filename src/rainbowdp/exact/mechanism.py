"""Mechanisms in integers: rows whose privacy is proved exactly, and the draw of an answer.

A row is one non-negative integer weight for each answer; the weights sum to a fixed total, and
an answer is drawn by one uniform integer below that total. No float takes part.

**The next row.** Let T be the best real row one step from the row P under a rational curve
(theory, Theorem 1). Round each entry of T *towards* P, and make up the sum by moving entries
further towards P. Each hockey-stick sum Σ max(0, P′_v − α·P_v) with α ≥ 1 only shrinks when P′_v
moves towards P_v, and so does Σ max(0, P_v − α·P′_v). So the integer row is as close to P as T is,
exactly and in both directions, and every prefix sum is within q units of the best.
"""

from __future__ import annotations

import math
import secrets
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, combinations, product
from typing import Any, TypeAlias, TypeVar

from rainbowdp.aliases import Answer, Dataset, Label, Rainbow, Weights
from rainbowdp.display import cards
from rainbowdp.errors import InvalidBoundary, InvalidMechanism, NoPlace, UnknownDataset
from rainbowdp.exact.proof import (
    Proof,
    first_violation,
    promise_of,
    prove_flips,
    prove_ladders,
    prove_margins,
)
from rainbowdp.guarantees.dp import Guarantee
from rainbowdp.guarantees.trade_off import TradeOff
from rainbowdp.rules.margin_table.proof import prove_table
from rainbowdp.rules.margin_table.rule import MarginTable
from rainbowdp.rules.margin_table.shape import Shape
from rainbowdp.rules.ordered_bins.proof import prove_ordered
from rainbowdp.rules.ordered_bins.rule import Ordered
from rainbowdp.rules.permute_and_flip.rule import Flips

BITS = 64  # the total weight of a row is 2**BITS
Found = TypeVar("Found")

LONGEST = 1 << 15  # rows kept for a region; deeper datasets use the last, which stays private
MOST_MIXING = Fraction(1, 1 << 10)  # a boundary that needs more repair than this is refused


@dataclass(frozen=True)
class ExactRow:
    """One distribution in integers, ready to draw from."""

    answers: tuple[Answer, ...]
    weights: Weights

    @cached_property
    def _ends(self) -> tuple[list[int], int]:
        ends = list(accumulate(self.weights))
        return ends, ends[-1]

    @property
    def probabilities(self) -> dict[Answer, Fraction]:
        """The exact probability of each answer."""
        total = sum(self.weights)
        pairs = zip(self.answers, self.weights, strict=True)
        return {answer: Fraction(weight, total) for answer, weight in pairs}

    def draw(self) -> Answer:
        """One answer, from the operating system's randomness."""
        ends, total = self._ends
        return self.answers[bisect_right(ends, secrets.randbelow(total))]


@dataclass(frozen=True)
class Ladders:
    """A row for each region and depth: the rule of homogeneous mechanisms.

    ``rows[label]`` are the rows by depth in the order of the answers, the last one used for all
    that is deeper; ``certain[label]`` is the first choice where no boundary can be reached.
    """

    rows: Mapping[Label, tuple[Weights, ...]]
    certain: Mapping[Label, Answer]
    touching: tuple[tuple[Label, Label], ...]

    def weights(self, place: Any, answers: Sequence[Answer]) -> Weights:
        """The row at ``place``, a pair of region and depth; strict, for a wrong row would leak."""
        if not (isinstance(place, tuple) and len(place) == 2 and isinstance(place[0], Hashable)):
            raise NoPlace("a pair (region, depth)", place)
        label, depth = place
        if depth == math.inf and label in self.certain:
            total = sum(next(iter(self.rows.values()))[0]) if self.rows else 1 << BITS
            return tuple(total if a == self.certain[label] else 0 for a in answers)
        if label not in self.rows or type(depth) is not int or depth < 0:
            raise NoPlace("a region of the mechanism with a depth from 0", place)
        ladder = self.rows[label]
        return ladder[min(depth, len(ladder) - 1)]

    def check(self, answers: tuple[Answer, ...]) -> None:
        """Refuse rows that are not over ``answers`` and pairs that are not of the regions."""
        for label, ladder in self.rows.items():
            if not ladder or any(len(row) != len(answers) for row in ladder):
                raise InvalidMechanism(
                    f"a row must have a weight for each of the {len(answers)} answers, "
                    f"got others in region {label!r}"
                )
        if not all(label in self.rows for pair in self.touching for label in pair):
            raise InvalidMechanism("touching regions must have rows, got a pair without")
        if not all(answer in answers for answer in self.certain.values()):
            raise InvalidMechanism("a certain answer must be one of the answers, got another")


@dataclass(frozen=True)
class Margins:
    """A weight for each margin: the rule of proximity mechanisms.

    An answer that is t changes away from being true has weight ``steps[t − 1]`` (the last one for
    all larger t); the true answer has the rest.
    """

    total: int
    steps: tuple[int, ...]

    def weights(self, place: Any, answers: Sequence[Answer]) -> Weights:
        """The row where the answers have the margins ``place``, exactly one of them 0."""
        if not isinstance(place, Mapping) or set(place) != set(answers):
            raise NoPlace("margins of all answers", place)
        if any(type(m) is not int or m < 0 for m in place.values()):
            raise NoPlace("margins that are whole numbers from 0", place)
        if list(place.values()).count(0) != 1:
            raise NoPlace("margins with exactly one 0, at the true answer", place)
        last = len(self.steps) - 1
        losers = [self.steps[min(place[a] - 1, last)] if place[a] else 0 for a in answers]
        rest = self.total - sum(losers)
        return tuple(
            weight if place[a] else rest for a, weight in zip(answers, losers, strict=True)
        )


Rule: TypeAlias = Flips | Ladders | Margins | MarginTable | Ordered


@dataclass(frozen=True)
class ExactMechanism:
    """A mechanism in integers with the proof that it keeps its guarantee.

    Made by ``mechanism.exact()`` or ``rb.load``; made means proved: a rule that does not keep
    the guarantee cannot be constructed. ``locate`` finds the place of a dataset; without it a
    dataset is its place: a pair (region, depth), margins, counts, or the leads of ordered bins.
    """

    guarantee: Guarantee
    answers: tuple[Answer, ...]
    rule: Rule
    neighbors: str = "joined by an edge"
    question: Mapping[str, Any] | None = None
    mixing: Fraction = Fraction(0)
    locate: Callable[[Dataset], Any] | None = field(default=None, repr=False, compare=False)
    proof: Proof = field(init=False, compare=False)

    def __post_init__(self) -> None:
        if len(set(self.answers)) != len(self.answers) or not self.answers:
            raise InvalidMechanism(f"answers must be different, got {self.answers!r}")
        if self.question is not None:
            self._must_answer(self.question)
        if isinstance(self.rule, Ladders):
            self.rule.check(self.answers)
            proof = prove_ladders(self.guarantee, self.rule.rows, self.rule.touching)
        elif isinstance(self.rule, MarginTable):
            self._must_be_for_such_votes(self.rule.shape)
            proof = prove_table(self.guarantee, self.rule)
        elif isinstance(self.rule, Flips):
            self._must_be_for_such_votes(self.rule)
            proof = prove_flips(self.guarantee, self.rule.ratio, self.rule.moves)
        elif isinstance(self.rule, Ordered):
            proof = prove_ordered(
                self.guarantee, len(self.answers), self.rule.total, self.rule.steps
            )
        else:
            proof = prove_margins(
                self.guarantee, len(self.answers), self.rule.total, self.rule.steps
            )
        object.__setattr__(self, "proof", proof)

    def _repr_html_(self) -> str:
        named = {
            "answers": ", ".join(map(str, self.answers)),
            "neighbors": self.neighbors,
            **({"mixed with the mean row": f"{float(self.mixing):.2g}"} if self.mixing else {}),
        }
        verdict = cards.badge(True, self.proof)
        return cards.card("Exact mechanism", verdict, cards.facts(named))

    def _must_answer(self, question: Mapping[str, Any]) -> None:
        """A question's answers are its regions, and any two of them may be neighbors."""
        if question.get("neighbors") != self.neighbors:
            raise InvalidMechanism(
                f"a mechanism must have the neighbors of its question, got {self.neighbors!r}"
            )
        if isinstance(self.rule, MarginTable):
            self._must_be_that_vote(question, self.rule.shape, 1)
        if isinstance(self.rule, Flips):
            self._must_be_that_vote(question, self.rule, self.rule.rows)
        if isinstance(self.rule, Ordered):
            self._must_be_a_quantile(question)
        if not isinstance(self.rule, Ladders) or len(self.answers) == 1:
            return
        pairs = {frozenset(pair) for pair in self.rule.touching}
        wanted = {frozenset(pair) for pair in combinations(self.answers, 2)}
        if set(self.rule.rows) != set(self.answers) or self.rule.certain or not wanted <= pairs:
            raise InvalidMechanism(
                "a question's mechanism must have a region for each answer, every two of them "
                f"touching, got {len(self.rule.rows)} regions and {len(pairs)} touching pairs"
            )

    def _must_be_for_such_votes(self, rule: Shape | Flips) -> None:
        if (rule.answers, rule.neighbors) != (len(self.answers), self.neighbors):
            raise InvalidMechanism(
                f"a rule for votes must be for {len(self.answers)} answers and neighbors "
                f"{self.neighbors!r}, got {rule.answers} and {rule.neighbors!r}"
            )

    def _must_be_that_vote(
        self, question: Mapping[str, Any], rule: Shape | Flips, rows: int
    ) -> None:
        """A rule for votes is for one relation, one way to see ties, and so many rows a person."""
        asked = (question.get("kind"), question.get("ties"), question.get("rows_per_person"))
        if asked != ("winner", rule.ties, rows):
            raise InvalidMechanism(
                f"a rule for a vote with ties {rule.ties!r} and at most {rows} records a person "
                f"must have such a question, got {asked}"
            )

    def _must_be_a_quantile(self, question: Mapping[str, Any]) -> None:
        """Only a quantile with one record a person has leads that move together by one."""
        asked = (question.get("kind"), question.get("rows_per_person"))
        if asked != ("quantile", 1):
            raise InvalidMechanism(
                f"ordered bins must be of a quantile with one record a person, got {dict(question)}"
            )

    def at(self, dataset: Dataset) -> ExactRow:
        """The row of ``dataset``; keep it to draw more than once without looking it up."""
        return ExactRow(self.answers, self._found(self.rule.weights, dataset))

    def release(self, dataset: Dataset) -> Answer:
        """One answer for ``dataset``, drawn from its exact row. This is what goes out."""
        if isinstance(self.rule, MarginTable | Flips):
            return self._found(self.rule.draw, dataset)
        return self.at(dataset).draw()

    def _found(self, find: Callable[[Any, tuple[Answer, ...]], Found], dataset: Dataset) -> Found:
        """What ``find`` has at the place of ``dataset``."""
        if self.locate is None:
            return find(dataset, self.answers)
        try:
            return find(self.locate(dataset), self.answers)
        except NoPlace as error:  # the place depends on the data, so it is not shown
            raise UnknownDataset(f"a dataset must have {error.wanted} here, got none") from None

    def __getitem__(self, dataset: Dataset) -> dict[Answer, Fraction]:
        """The exact probabilities at ``dataset``, likeliest answer first."""
        found = self.at(dataset).probabilities
        return dict(sorted(found.items(), key=lambda item: -item[1]))


def exact_step(curve: TradeOff, row: Weights) -> Weights:
    """The best integer row next to ``row`` (both in preference order) under a rational curve."""
    total = sum(row)
    ends = [(0, 1), *(_allowed(curve, end, total) for end in accumulate(row))]
    moved = [_towards(weight, *ends) for weight, *ends in zip(row, ends, ends[1:], strict=False)]
    missing = total - sum(moved)
    places = range(len(row)) if missing > 0 else reversed(range(len(row)))
    for place in places:
        # Only entries on the far side of the old row are moved, back towards it.
        room = row[place] - moved[place]
        change = min(max(room, 0), missing) if missing > 0 else max(min(room, 0), missing)
        moved[place] += change
        missing -= change
    return tuple(moved)


def _towards(weight: int, start: tuple[int, int], end: tuple[int, int]) -> int:
    """The mass from ``start`` to ``end`` (numerators, denominators), rounded towards ``weight``."""
    mass, unit = end[0] * start[1] - start[0] * end[1], start[1] * end[1]
    whole, rest = divmod(mass, unit)
    return whole if whole >= weight or not rest else whole + 1


def allowed(curve: TradeOff, weight: int, total: int) -> Fraction:
    """φ at weight/total, times total, exactly."""
    return Fraction(*_allowed(curve, weight, total))


def _allowed(curve: TradeOff, weight: int, total: int) -> tuple[int, int]:
    """``allowed`` as numerator and denominator; to reduce them costs more than all the rest."""
    chords = curve.chords
    place = bisect_left(chords, weight, key=lambda c: c[3].numerator * total // c[3].denominator)
    slope, rise, unit, _ = chords[min(place, len(chords) - 1)]
    return slope * weight + rise * total, unit


def ladder(
    curve: TradeOff,
    row: Weights,
    deepest: int = LONGEST - 1,
    progress: Callable[[int], None] | None = None,
) -> tuple[Weights, ...]:
    """The rows from ``row`` inwards, to ``deepest`` or until a step changes nothing."""
    rows = [row]
    while len(rows) <= min(deepest, LONGEST - 1):
        following = exact_step(curve, rows[-1])
        if following == rows[-1]:
            break
        rows.append(following)
        if progress is not None:
            progress(len(rows))
    return tuple(rows)


def symmetric_row(curve: TradeOff, answers: int, total: int = 1 << BITS) -> Weights:
    """The row (a, b, …, b) with the largest a such that two of them may stand on neighbors."""
    others = answers - 1
    if others == 0:
        return (total,)
    share = 0
    for (x0, y0), (x1, y1) in zip(curve.knots, curve.knots[1:], strict=False):
        slope = (y0 - y1) / (x1 - x0)
        rise = 1 - y0 - slope * x0
        least = total * (1 - rise) / (slope + others)
        share = max(share, -(-least.numerator // least.denominator))
    share = min(share, total // answers)
    return (total - others * share, *[share] * others)


def on_grid(row: Sequence[Fraction], total: int = 1 << BITS) -> Weights:
    """Probabilities as weights: rounded down, the units left over to the largest remainders."""
    scaled = [p * total for p in row]
    weights = [s.numerator // s.denominator for s in scaled]
    order = sorted(range(len(row)), key=lambda place: weights[place] - scaled[place])
    for place in order[: total - sum(weights)]:
        weights[place] += 1
    return tuple(weights)


def repaired(
    guarantee: Guarantee,
    rows: Mapping[Label, Sequence[Fraction]],
    touching: Sequence[tuple[Label, Label]],
    total: int = 1 << BITS,
) -> tuple[dict[Label, Weights], Fraction]:
    """Rows on the grid that are exactly valid, and how much mixing that took.

    All rows are mixed with their average, at the smallest weight 2^-k that makes every touching
    pair exactly close; where none up to 2^-10 does, because an answer has only a few units or
    none in some rows, with the uniform row; more is refused. Rows are in one common order of
    answers.
    """
    uniform = [Fraction(1, len(next(iter(rows.values()))))] * len(next(iter(rows.values())))
    promise = promise_of(guarantee, total)
    for partner, mixing in product((_average(list(rows.values()), total), uniform), _mixings()):
        mixed = {
            label: on_grid(
                [(1 - mixing) * p + mixing * a for p, a in zip(row, partner, strict=True)], total
            )
            for label, row in rows.items()
        }
        if all(first_violation(promise, mixed[a], mixed[b]) is None for a, b in touching):
            return mixed, mixing
    raise InvalidBoundary(
        f"a boundary condition must be exactly {guarantee} after a mixing of at most 2^-10, "
        "got one that needs more; give it a little slack"
    )


def _average(rows: Sequence[Sequence[Fraction]], total: int) -> list[Fraction]:
    """The mean row; of many rows, that of their weights, since fractions of floats add slowly."""
    if len(rows) <= 64:
        return [sum(column, Fraction(0)) / len(rows) for column in zip(*rows, strict=True)]
    columns = zip(*(on_grid(row, total) for row in rows), strict=True)
    return [Fraction(sum(column), len(rows) * total) for column in columns]


def _mixings() -> Iterator[Fraction]:
    yield Fraction(0)
    share = Fraction(1, 1 << (BITS - 2))
    while share <= MOST_MIXING:
        yield share
        share *= 2


def in_answer_order(row: Sequence[Any], rainbow: Rainbow, answers: Sequence[Answer]) -> Any:
    """A row written in a rainbow's order, in the order of ``answers``."""
    if set(rainbow) != set(answers):
        raise InvalidMechanism(f"a row must be over the answers {answers}, got {rainbow}")
    place = {answer: number for number, answer in enumerate(rainbow)}
    return tuple(row[place[answer]] for answer in answers)
