"""Mechanisms for questions over tables.

A question gives margins: how many records must change before each answer is the true one. That is
all a mechanism needs. Two rules turn margins into rows:

* **homogeneous**: regions are the true answers, and the depth of a table is the smallest margin of
  another answer less one. With two answers and the symmetric boundary no mechanism has a better
  worst case at any margin (theory, Two answers).
* **proximity**: each answer has its own weight by its own margin; private where q − 1 ≤ e^ε.

For a vote there are two more. **table**: rows by how far each answer is behind the leader, the best
that a linear program finds (``margin_table``). **flip**: permute-and-flip, for any number of
answers and any ε (``flips``). For a quantile there is **ordered**, which is
proximity that minds how many bins are near; private from a smaller ε (``ordered``).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypeGuard, overload

import numpy as np

from rainbowdp.aliases import Answer, Dataset
from rainbowdp.display import cards
from rainbowdp.errors import InvalidGuarantee, InvalidQuestion, NoPlace
from rainbowdp.exact.mechanism import (
    ExactMechanism,
    Ladders,
    Margins,
    Rule,
    in_answer_order,
    ladder,
    repaired,
    symmetric_row,
)
from rainbowdp.exact.proof import Proof
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.guarantees.dp import DP, Guarantee
from rainbowdp.guarantees.polygons import safe_curve
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.mechanisms.proximity import proximity_on_graph
from rainbowdp.numeric.quantity import exact_distribution
from rainbowdp.questions import Quantile, Question, Winner
from rainbowdp.rules.margin_table.rule import MarginTable, has_table
from rainbowdp.rules.margin_table.shape import Shape
from rainbowdp.rules.ordered_bins.rule import Ordered, ordered_holds, ordered_weights
from rainbowdp.rules.permute_and_flip.rule import Flips, flips_for
from rainbowdp.rules.proximity.build import proximity_holds, proximity_weights

_SMALL_DELTA = Fraction(1, 1000)  # ordered bins leave δ unused; up to here they still do best
_SMALL_PART = Fraction(1, 100)  # of ε: so does permute-and-flip

RuleName: TypeAlias = Literal["flip", "homogeneous", "ordered", "proximity", "table"]


@dataclass(frozen=True)
class QuestionMechanism:
    """A private answer to a question, for any table whatever.

    Made by ``rb.best``, ``rb.optimal`` or ``rb.proximity``. A dataset is a table or its counts.

    >>> from rainbowdp import DP, Winner, best
    >>> mechanism = best(Winner(["red", "green"]), DP(1))
    >>> {answer: round(p, 4) for answer, p in mechanism[{"red": 10, "green": 7}].items()}
    {'red': 0.9011, 'green': 0.0989}
    """

    question: Question
    guarantee: Guarantee
    rule: RuleName
    boundary: tuple[Fraction, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.question, Question):
            raise InvalidQuestion(
                f"a question must be Winner, Threshold, Quantile or alike, got {self.question!r}"
            )
        if not isinstance(self.guarantee, Guarantee):
            raise InvalidGuarantee(f"a guarantee must be such as DP(1), got {self.guarantee!r}")
        promise = self.guarantee
        if isinstance(promise, DP) and promise.exact_ratio == 1 and promise.exact_delta == 0:
            raise InvalidGuarantee(
                "a question needs epsilon > 0 or delta > 0, got epsilon=0: then no answer may "
                "depend on the data"
            )

    @property
    def name(self) -> str:
        """What the mechanism is called in output and ledgers."""
        if len(self.question.answers) == 2 and self.rule == "homogeneous" and self.boundary is None:
            return "optimal"
        return "permute-and-flip" if self.rule == "flip" else self.rule

    @cached_property
    def exact_once(self) -> ExactMechanism:
        """``exact()``, made at the first use and kept."""
        return self.exact()

    def counts(self, table: Dataset, progress: Callable[[float], None] | None = None) -> Dataset:
        """What the question needs of ``table``: its counts, or itself for a custom question."""
        from rainbowdp.tables import count

        return count(table, self.question, progress=progress) if self.question.groups else table

    def exact(self, progress: Callable[[int], None] | None = None) -> ExactMechanism:
        """The mechanism in integers, with its proof; ``release`` draws from this."""
        answers = self.question.answers
        mixing = Fraction(0)
        rule: Rule
        if self.rule == "proximity":
            rule = proximity_weights(len(answers), self.guarantee)
        elif self.rule == "ordered":
            rule = ordered_weights(len(answers), self.guarantee)
        elif self.rule == "flip":
            rule = self._flips()
        elif self.rule == "table":
            rule, mixing = self._table()
        else:
            rule, mixing = _ladders(answers, self.guarantee, self.boundary, progress)
        return ExactMechanism(
            self.guarantee,
            answers,
            rule,
            neighbors=self.question.neighbors,
            question=self.question.describe(),
            mixing=mixing,
            locate=place_finder(self.question, rule),
        )

    def _flips(self) -> Flips:
        question = self.question
        assert isinstance(question, Winner)
        return flips_for(
            len(question.answers),
            self.guarantee,
            question.neighbors,
            question.ties,
            question.rows_per_person,
        )

    def _table(self) -> tuple[MarginTable, Fraction]:
        from rainbowdp.rules.margin_table.cache import fetch_table

        question, guarantee = self.question, self.guarantee
        if not (_has_table(question, guarantee) and isinstance(guarantee, DP)):
            raise InvalidGuarantee(_no_table(question, guarantee))
        return fetch_table(len(question.answers), guarantee, question.neighbors, question.ties)

    def _repr_html_(self) -> str:
        named = {
            "question": self.question.describe().get("kind", "question"),
            "answers": ", ".join(map(str, self.question.answers)),
            "guarantee": f"{self.guarantee}, one record {self.question.neighbors}",
        }
        return cards.card(f"Mechanism: {self.name}", cards.facts(named))

    @property
    def proof(self) -> Proof:
        """The exact proof of the guarantee."""
        return self.exact_once.proof

    def check(self) -> Proof:
        """The exact proof of the guarantee; a mechanism that has none cannot be made."""
        return self.proof

    def __getitem__(self, dataset: Dataset) -> dict[Answer, float]:
        """{answer: probability} for a table or its counts, likeliest first."""
        return {answer: float(p) for answer, p in self.exact_once[dataset].items()}

    def release(self, dataset: Dataset) -> Answer:
        """One answer, drawn from exact integers. This is what goes out."""
        return self.exact_once.release(dataset)

    def sample(self, dataset: Dataset, size: int, seed: int | None = None) -> list[Answer]:
        """Simulated answers, for experiments: fast, repeatable, and **not** a private release."""
        row = self[dataset]
        answers = list(row)
        chosen = np.random.default_rng(seed).choice(len(answers), size, p=list(row.values()))
        return [answers[number] for number in chosen]

    def save(self, path: str) -> Any:
        """Write the exact mechanism as a file that proves itself."""
        from rainbowdp.exact.files import save

        return save(self.exact_once, path)

    def by_margin(self, margins: Sequence[int]) -> list[tuple[int, float, float]]:
        """(margin, least, most) probability of the true answer when the nearest rival is so far.

        Least where all rivals are that near, most where the others are far away.
        """
        rule = self.exact_once.rule
        if isinstance(rule, MarginTable):
            return [(margin, *_vote_at(rule, rule.shape, 1, margin)) for margin in margins]
        if isinstance(rule, Flips):
            return [(margin, *_vote_at(rule, rule, rule.rows, margin)) for margin in margins]
        if isinstance(rule, Ordered):
            edges = len(self.question.answers) - 1
            return [(margin, *_ordered_at(rule, edges, margin)) for margin in margins]
        first, *others = self.question.answers
        rows = []
        for margin in margins:
            ends = []
            for rest in (margin, 10**30):
                margins_of = {first: 0, **dict.fromkeys(others, rest)}
                if others:
                    margins_of[others[0]] = margin
                place: Any = margins_of
                if self.rule == "homogeneous":
                    place = (first, margin - 1 if others else math.inf)
                weights = rule.weights(place, self.question.answers)
                ends.append(weights[0] / sum(weights))
            rows.append((margin, ends[0], ends[1]))
        return rows


def _vote_at(
    rule: MarginTable | Flips, votes: Shape | Flips, rows: int, margin: int
) -> tuple[float, float]:
    """The least and the most of a right answer where the nearest rival has this margin.

    A rival overtakes after ``margin`` changes from a gap of margin − 1 where one record is added or
    removed, and from 2·margin − 2 or 2·margin − 1 where one is substituted; where a person has more
    rows, from as many times that. Where leaders share, rivals listed before the leader are seen one
    record farther behind. Of the gaps between, the first two and the last tell: with more than one
    row a person the rule is permute-and-flip, which errs the less, the farther ahead the leader is
    (in a tie that it shares there are more right answers).
    """
    if type(margin) is not int or margin < 1:
        raise NoPlace("a margin that is a whole number from 1", margin)
    step = rows * (2 if votes.neighbors == "substituted" else 1)
    first, last = step * (margin - 1), step * margin - (votes.ties == "first listed")
    rivals = range(votes.answers - 1)
    some = rivals if isinstance(rule, MarginTable) else {0, rivals[-1]}  # who is listed later gains
    found = [
        rule.right_at([gap if rival == nearest else rest for rival in rivals])
        for gap in {first, min(first + 1, last), last}
        for rest in (gap, votes.farthest)
        for nearest in some
    ]
    return min(found), max(found)


def _ordered_at(rule: Ordered, edges: int, margin: int) -> tuple[float, float]:
    """The least and the most of the true bin where each other bin is this near or far away."""
    far = len(rule.steps) + margin
    near = -margin, margin - 1
    places = [
        leads
        for leads in itertools.combinations_with_replacement((-1 - far, *near, far), edges)
        if set(leads) & set(near)
    ]
    rows = rule.rows_at(np.array(places))
    true = rows[np.arange(len(rows)), (np.array(places) < 0).sum(axis=1)]
    return float(true.min()), float(true.max())


def best(question: Question, guarantee: Guarantee) -> QuestionMechanism:
    """The best certified mechanism for saying the true answer, chosen before any data is seen.

    Two answers: the optimum. A vote over three to six answers, ε from 0.01 to 4 and one record a
    person: a margin table. A quantile over three or more bins, one record substituted, one record
    a person and δ ≤ 0.001: ordered bins, from ε = 0.24 for three bins to 0.64 for six. Else
    proximity where it holds; else permute-and-flip for a vote with δ ≤ ε/100; else the homogeneous
    optimum.
    """
    if not isinstance(question, Question):
        raise InvalidQuestion(f"best needs a question such as Winner([...]), got {question!r}")
    answers = len(question.answers)
    if _has_table(question, guarantee) and (answers > 2 or question.ties == "any leader"):
        return QuestionMechanism(question, guarantee, "table")
    small = isinstance(guarantee, DP) and guarantee.exact_delta <= _SMALL_DELTA
    if answers > 2 and small and _has_order(question) and ordered_holds(answers, guarantee):
        return QuestionMechanism(question, guarantee, "ordered")
    if answers > 2 and proximity_holds(answers, guarantee):
        return QuestionMechanism(question, guarantee, "proximity")
    if answers > 2 and _has_flips(question, guarantee):
        return QuestionMechanism(question, guarantee, "flip")
    return QuestionMechanism(question, guarantee, "homogeneous")


def table(question: Question, guarantee: Guarantee) -> QuestionMechanism:
    """The margin table of a vote: near the least mean error that is possible, for every ε.

    For ``Winner`` with 2 to 6 answers, (ε,δ) with ε from 0.01 to 4, one record a person. Making one
    takes from a blink to a minute; it is kept on disk for the next time.
    """
    if not _has_table(question, guarantee):
        raise InvalidGuarantee(_no_table(question, guarantee))
    return QuestionMechanism(question, guarantee, "table")


def flip(question: Question, guarantee: Guarantee) -> QuestionMechanism:
    """Permute-and-flip for a vote: any number of answers, rows a person and ε. δ is not used."""
    if not isinstance(question, Winner):
        raise InvalidQuestion(
            f"permute-and-flip is for a Winner, got {type(question).__name__}; best chooses what "
            "there is"
        )
    made = QuestionMechanism(question, guarantee, "flip")
    made._flips()  # refuses a guarantee that has none
    return made


def _has_flips(question: Question, guarantee: Guarantee) -> TypeGuard[Winner]:
    """Whether permute-and-flip can be made, and gains more than the δ that it leaves unused."""
    if not (isinstance(question, Winner) and isinstance(guarantee, DP)):
        return False
    with suppress(InvalidGuarantee):
        flip(question, guarantee)
        return guarantee.exact_delta <= _SMALL_PART * Fraction(guarantee.epsilon)
    return False


def _no_table(question: Question, guarantee: Guarantee) -> str:
    return (
        "a margin table is for a Winner with 2 to 6 answers and one record a person under (ε,δ) "
        f"with epsilon from 0.01 to 4, got {type(question).__name__} and {guarantee}; "
        "use rb.best, which chooses what there is"
    )


def _has_table(question: Question, guarantee: Guarantee) -> TypeGuard[Winner]:
    return (
        isinstance(question, Winner)
        and question.rows_per_person == 1
        and has_table(len(question.answers), guarantee)
    )


def ordered(question: Question, guarantee: Guarantee) -> QuestionMechanism:
    """Ordered bins for a quantile: never less often right than proximity, from a smaller ε on.

    For one record substituted and one record a person. A δ is kept but not used.
    """
    if not _has_order(question):
        raise InvalidQuestion(
            "ordered bins are for a Quantile with one record a person substituted, got "
            f"{question!r}; use rb.best, which chooses what there is"
        )
    ordered_weights(len(question.answers), guarantee)
    return QuestionMechanism(question, guarantee, "ordered")


def _has_order(question: Question) -> TypeGuard[Quantile]:
    return (
        isinstance(question, Quantile)
        and question.neighbors == "substituted"
        and question.rows_per_person == 1
    )


def homogeneous(
    question: Question, guarantee: Guarantee, boundary: Sequence[Any] | None = None
) -> QuestionMechanism:
    """The optimum for one boundary row: the true answer first, the others as they are listed."""
    row = None
    if boundary is not None:
        row = exact_distribution(list(boundary), len(question.answers))
    return QuestionMechanism(question, guarantee, "homogeneous", row)


@overload
def proximity(world: RainbowGraph, guarantee: Guarantee) -> Mechanism: ...
@overload
def proximity(world: Question, guarantee: Guarantee) -> QuestionMechanism: ...
def proximity(
    world: RainbowGraph | Question, guarantee: Guarantee
) -> Mechanism | QuestionMechanism:
    """The closed form with a weight for each margin; refuses where it is not private.

    On a graph the margin of an answer is the distance to the nearest dataset that prefers it.
    """
    if isinstance(world, RainbowGraph):
        return proximity_on_graph(world, guarantee)
    proximity_weights(len(world.answers), guarantee)
    return QuestionMechanism(world, guarantee, "proximity")


def place_finder(question: Question, rule: Rule) -> Callable[[Dataset], Any]:
    """The function from a table or counts to its place under ``rule``."""
    from rainbowdp.tables import count

    def place(dataset: Dataset) -> Any:
        counted = count(dataset, question) if question.groups else dataset
        if isinstance(rule, MarginTable | Flips):
            return {answer: int(counted.get(answer, 0)) for answer in question.answers}
        if isinstance(rule, Ordered):
            assert isinstance(question, Quantile)
            return question.leads(counted)
        margins = question.margins(counted)
        if isinstance(rule, Margins):
            return margins
        truth = next(answer for answer, margin in margins.items() if margin == 0)
        rivals = [margin for answer, margin in margins.items() if answer != truth]
        return truth, min(rivals) - 1 if rivals else math.inf

    return place


def _ladders(
    answers: tuple[Answer, ...],
    guarantee: Guarantee,
    boundary: tuple[Fraction, ...] | None,
    progress: Callable[[int], None] | None,
) -> tuple[Ladders, Fraction]:
    curve = safe_curve(guarantee)
    orders = {a: (a, *(b for b in answers if b != a)) for a in answers}
    if len(answers) == 1:
        return Ladders({}, {answers[0]: answers[0]}, ()), Fraction(0)
    touching = tuple(itertools.combinations(answers, 2))
    mixing = Fraction(0)
    if boundary is None:
        row = symmetric_row(curve, len(answers))
        rows = ladder(curve, row, progress=progress)
        found = {
            a: tuple(in_answer_order(row, orders[a], answers) for row in rows) for a in answers
        }
    else:
        heads = {a: in_answer_order(boundary, orders[a], answers) for a in answers}
        fixed, mixing = repaired(guarantee, heads, touching)
        found = {}
        for a in answers:
            start = in_answer_order(fixed[a], answers, orders[a])
            found[a] = tuple(
                in_answer_order(row, orders[a], answers)
                for row in ladder(curve, start, progress=progress)
            )
    return Ladders(found, {}, touching), mixing
