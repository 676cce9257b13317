"""Which kind of mechanism answers a question: the one place where a preference stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, overload

from rainbowdp.answering.counting import CountMechanism
from rainbowdp.answering.coverage import CONFIDENCE
from rainbowdp.answering.grouped import GroupedMechanism
from rainbowdp.answering.measure import fixed_histograms, measure, measure_of_rows, shape_of
from rainbowdp.answering.mechanism import (
    QuestionMechanism,
    check_guarantee,
    check_says_something,
)
from rainbowdp.answering.naming import KeysMechanism
from rainbowdp.answering.testing import ProportionMechanism
from rainbowdp.display.progress import say_once
from rainbowdp.errors import (
    InvalidGuarantee,
    InvalidQuestion,
    NoTable,
    NotApplicable,
    RainbowError,
)
from rainbowdp.exact.rule import Family
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.guarantees.curve import curve_of
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.moves import of_one_move
from rainbowdp.mechanisms.best_on_graphs import Choice, best_on_graph
from rainbowdp.mechanisms.kinds import ON_GRAPHS
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.mechanisms.worths import AnyUtility, AnyWeights
from rainbowdp.numeric.quantity import exact, exact_distribution
from rainbowdp.questions import Count, Grouped, Keys, ProportionTest, Question, Winner
from rainbowdp.questions.base import whole
from rainbowdp.questions.relations import Ties
from rainbowdp.rules import FAMILIES, family
from rainbowdp.rules.margin_table.build import MarginTableFamily
from rainbowdp.rules.margin_table.program import EPSILONS

# Above ε = 4 no margin table is made. At ε = 4 it errs at least so many times as often as the best
# other kind, so that the table for ε = 4 is kept until another kind is that much better than there.
_SHARE_OF_A_TABLE = {Ties.FIRST_LISTED: 0.95, Ties.ANY_LEADER: 0.75}
_SHARE_WITH_DELTA = 0.1  # where any leader is right and δ is more than a few errors in a hundred
_LARGE_DELTA = Fraction(1, 100)
# A crowd table takes seconds to make, and errs at least so many times as often as permute-and-flip.
_MUCH_LESS = 0.5
_HELD = 3  # answers up to which a table is a matter of moments, so that it is built to be compared


@overload
def best(
    question: Count, guarantee: Guarantee, *, records: int | None = None
) -> CountMechanism: ...


@overload
def best(
    question: ProportionTest, guarantee: Guarantee, *, records: int | None = None
) -> ProportionMechanism: ...


@overload
def best(question: Keys, guarantee: Guarantee, *, records: int | None = None) -> KeysMechanism: ...


@overload
def best(
    question: Question, guarantee: Guarantee, *, records: int | None = None
) -> QuestionMechanism: ...


@overload
def best(
    question: Grouped, guarantee: Guarantee, *, records: int | None = None
) -> GroupedMechanism: ...


@overload
def best(
    question: RainbowGraph,
    guarantee: Guarantee,
    *,
    utility: AnyUtility | None = None,
    weights: AnyWeights | None = None,
) -> Choice: ...


def best(
    question: Question | Count | ProportionTest | Keys | Grouped | RainbowGraph,
    guarantee: Guarantee,
    *,
    records: int | None = None,
    utility: AnyUtility | None = None,
    weights: AnyWeights | None = None,
) -> (
    QuestionMechanism
    | CountMechanism
    | ProportionMechanism
    | KeysMechanism
    | GroupedMechanism
    | Choice
):
    """The best certified mechanism for saying the true answer, chosen before any data is seen.

    * A count: canonical noise. A test of a share: the most powerful one.
    * Zero-concentrated privacy: the exponential mechanism.
    * Two answers: homogeneous, which is optimal there.
    * A vote over three to six answers, ε from 0.01 to 4 and one record a person: a margin table.
      Over seven to ten: a crowd table, unless another kind has a lower measure.
    * Otherwise the kind with the least measure: for a quantile of three and more bins, or several,
      the expected distance in records from the truth, for any other question the chance of a wrong
      answer. It is the mean over a fixed list of histograms, which depends on the shape of the
      question and not on data or the guarantee. The kinds under (ε,δ) are homogeneous, proximity
      where q − 1 ≤ e^ε, permute-and-flip for a vote or its first few as a set, ordered bins for a
      quantile where they are proved, and a margin flip; under Gaussian privacy homogeneous and the
      exponential mechanism. So a larger ε, δ, μ or ρ never buys a worse answer by that measure, or
      on tables of ``records`` records where you give them. A kind that leaves δ unused says so in
      ``claim``.
    * A graph: the kind with the most expected worth in the mean over datasets, among homogeneous
      (with a designed boundary), proximity, margin flip, exponential, lifted, fixed point and, on
      small graphs, a linear program. The result lists all of them.

    Parameters
    ----------
    question
        Any of the questions, such as ``Winner`` or ``Quantiles``, in groups or not; or a graph.
    guarantee
        What is promised between neighboring tables or datasets.
    records
        About how many records the table has, or each group, if you know it without looking: the
        choice is then made for tables of that size, not for sizes from 16 to a million alike. It
        must not come from private data.
    utility
        Graphs only: what an answer is worth, larger is better. A ``Utility``, a mapping {first
        choice: {answer: worth}}, or an array by first choice or dataset, and answer, such as minus
        the distance. By default the first choice is worth 1 and every other answer 0.
    weights
        Graphs only: what each dataset counts in the mean, an array or {dataset: weight}.

    Returns
    -------
    QuestionMechanism, CountMechanism, ProportionMechanism, KeysMechanism, GroupedMechanism, Choice
        The mechanism; its ``name`` says which kind it is.

    Raises
    ------
    InvalidQuestion
        If ``question`` is not a question.
    InvalidGuarantee
        If the guarantee lets no answer depend on the data.

    Examples
    --------
    >>> from rainbowdp import DP, Winner
    >>> best(Winner(["red", "green"]), DP(1)).name
    'homogeneous'

    """
    if isinstance(question, RainbowGraph):
        if records is not None:
            raise InvalidQuestion("records are for questions about tables, got a graph")
        return best_on_graph(question, guarantee, utility, weights)
    if utility is not None or weights is not None:
        raise InvalidQuestion("utility and weights are for graphs, got a question about tables")
    if isinstance(question, Grouped):
        made = _in_ways(
            question, guarantee, lambda asked, share: best(asked, share, records=records)
        )
        return _best_of(made, records)
    if isinstance(question, Count):
        return CountMechanism(question, guarantee)
    if isinstance(question, ProportionTest):
        return ProportionMechanism(question, guarantee)
    if isinstance(question, Keys):
        return KeysMechanism(question, guarantee)
    if not isinstance(question, Question):
        raise InvalidQuestion(
            "best needs a question such as Winner([...]) or a RainbowGraph, got "
            f"{type(question).__name__}"
        )
    check_guarantee(guarantee)
    check_says_something(guarantee)
    size = None if records is None else whole(records, "records", 1)
    return QuestionMechanism(question, guarantee, _preferred(question, guarantee, size))


@overload
def by_kind(
    question: Question, guarantee: Guarantee, kind: str, **options: Any
) -> QuestionMechanism: ...


@overload
def by_kind(
    question: Grouped, guarantee: Guarantee, kind: str, **options: Any
) -> GroupedMechanism: ...


@overload
def by_kind(
    question: RainbowGraph, guarantee: Guarantee, kind: str, **options: Any
) -> Mechanism: ...


def by_kind(
    question: Question | Grouped | RainbowGraph, guarantee: Guarantee, kind: str, **options: Any
) -> QuestionMechanism | GroupedMechanism | Mechanism:
    """A mechanism of the kind you name.

    Parameters
    ----------
    question
        Any of the questions, such as ``Winner`` or ``Quantiles``, in groups or not; or a graph,
        which has homogeneous, proximity, margin flip and exponential.
    guarantee
        What is promised between neighboring tables.
    kind
        ``"homogeneous"``, ``"proximity"``, ``"margin-table"``, ``"crowd-table"``,
        ``"ordered-bins"``, ``"permute-and-flip"``, ``"margin-flip"`` or ``"exponential"``.
    **options
        What the kind can be told: ``boundary``, a row with the true answer first, for homogeneous;
        ``epsilon``, the ε it is made for, for a margin table.

    Returns
    -------
    QuestionMechanism, GroupedMechanism or Mechanism
        The mechanism.

    Raises
    ------
    NotApplicable
        If there is no such mechanism for this question and guarantee.
    InvalidQuestion
        If there is no such kind, or it has no such option.

    Examples
    --------
    >>> from rainbowdp import DP, Winner
    >>> by_kind(Winner(["red", "green", "blue"]), DP(1), "proximity").name
    'proximity'

    """
    if isinstance(question, RainbowGraph):
        if kind not in ON_GRAPHS:
            raise InvalidQuestion(f"a graph has {', '.join(ON_GRAPHS)}, got {kind!r}")
        return ON_GRAPHS[kind](question, curve_of(guarantee, "a mechanism on a graph"), **options)
    if isinstance(question, Grouped):
        made = _in_ways(
            question, guarantee, lambda asked, share: by_kind(asked, share, kind, **options)
        )
        return _best_of(made, None)
    if not isinstance(question, Question):
        raise InvalidQuestion(
            "by_kind needs a question such as Winner([...]) or a RainbowGraph, got "
            f"{type(question).__name__}"
        )
    chosen = family(kind)
    if options.get("epsilon") is not None:
        options["epsilon"] = exact(options["epsilon"], "epsilon", InvalidGuarantee)
    if options.get("boundary") is not None:
        options["boundary"] = exact_distribution(list(options["boundary"]), len(question.answers))
    try:
        chosen = replace(chosen, **options)
    except TypeError:
        raise InvalidQuestion(f"{kind} has no option {', '.join(options)}; leave it out") from None
    check_guarantee(guarantee)
    check_says_something(guarantee)
    reason = chosen.unfit(question, guarantee)
    if reason is not None:
        raise NotApplicable(f"{reason}; use {_preferred(question, guarantee, None).kind}")
    return QuestionMechanism(question, guarantee, chosen)


def _in_ways(
    question: Grouped,
    guarantee: Guarantee,
    make: Callable[[Any, Guarantee], QuestionMechanism | CountMechanism],
) -> list[GroupedMechanism]:
    """The mechanisms that answer in groups, one for each way there is one for; or why none."""
    check_guarantee(guarantee)
    found, refused = [], None
    for way in question.ways:
        try:
            inner = make(way.question, of_one_move(guarantee, way.moves))
            found.append(GroupedMechanism(question, guarantee, inner))
        except RainbowError as error:
            refused = refused or error
    if refused is not None and not found:
        raise refused
    return found


def _best_of(made: Sequence[GroupedMechanism], records: int | None) -> GroupedMechanism:
    """The one that is wrong least often in one group."""
    if len(made) == 1:
        return made[0]

    def error(each: GroupedMechanism) -> float:
        inner = each.inner
        if isinstance(inner, CountMechanism):
            return float(inner.noise.half_width(CONFIDENCE))
        return measure(inner.family, inner.question, inner.guarantee, records)

    return min(made, key=error)


def _preferred(question: Question, guarantee: Guarantee, records: int | None) -> Family:
    plain = family("homogeneous")
    shared = isinstance(question, Winner) and question.ties == Ties.ANY_LEADER
    table = family("margin-table")
    if len(question.answers) <= 2 and not shared and plain.unfit(question, guarantee) is None:
        return plain
    if table.unfit(question, guarantee) is None:
        if len(question.answers) > _HELD:
            return table
        chosen, error = _least(question, guarantee, records)
        return table if _of_a_table(table, question, guarantee, records) <= error else chosen
    chosen, error = _least(question, guarantee, records)
    crowds = family("crowd-table")
    if crowds.unfit(question, guarantee) is None:
        flips = measure(family("permute-and-flip"), question, guarantee, records)
        if error < _MUCH_LESS * flips:
            return chosen
        try:
            least = _of_a_table(crowds, question, guarantee, records)
        except NoTable as refused:
            say_once(f"{chosen.title} answers, as there is no crowd table: {refused}.")
            return chosen
        return crowds if least <= error else chosen
    lower = MarginTableFamily(epsilon=Fraction(EPSILONS[1]))
    above = isinstance(guarantee, DP) and guarantee.epsilon > EPSILONS[1]
    if above and lower.unfit(question, guarantee) is None:
        if len(question.answers) <= _HELD:
            kept = _of_a_table(lower, question, guarantee, records)
            return lower if kept <= error else chosen
        assert isinstance(guarantee, DP)
        assert isinstance(question, Winner)
        share = _SHARE_OF_A_TABLE[question.ties]
        if shared and guarantee.exact_delta > _LARGE_DELTA:
            share = _SHARE_WITH_DELTA
        less = DP(Fraction(EPSILONS[1]), guarantee.exact_delta)
        _, there = _least(question, less, records)
        if error > share * there:
            return lower
    return chosen


def _of_a_table(
    table: Family, question: Question, guarantee: Guarantee, records: int | None
) -> float:
    """The measure of a table, which is built for it."""
    counts, margins = fixed_histograms(shape_of(question), records)
    rule, _ = table.build(question, guarantee)
    return measure_of_rows(question, rule.rows_at(question, counts, margins), counts, margins)


def _least(question: Question, guarantee: Guarantee, records: int | None) -> tuple[Family, float]:
    """The kind with the least measure, of those that are cheap to build, and that measure."""
    kinds = [kind for kind in FAMILIES if not kind.costly and not kind.outdone(guarantee)]
    fitting = [kind for kind in kinds if kind.unfit(question, guarantee) is None]
    if not fitting:
        raise InvalidGuarantee(
            f"{guarantee} is too little for an answer that depends on the data; use a larger one"
        )
    if len(fitting) == 1:
        return fitting[0], 1.0
    errors = [measure(kind, question, guarantee, records) for kind in fitting]
    least = min(errors)
    return fitting[errors.index(least)], least
