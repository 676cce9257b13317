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
from rainbowdp.expecting import brief, whole
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.guarantees.curve import curve_of
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.moves import of_one_move
from rainbowdp.mechanisms.best_on_graphs import Choice, best_on_graph
from rainbowdp.mechanisms.kinds import ON_GRAPHS
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.mechanisms.worths import AnyUtility, AnyWeights, Forbidden
from rainbowdp.numeric.quantity import exact, exact_distribution
from rainbowdp.questions import Count, Grouped, Keys, ProportionTest, Question, Winner
from rainbowdp.questions.relations import Neighbors, Ties
from rainbowdp.rules import FAMILIES, family
from rainbowdp.rules.crowd_table.build import solved_below
from rainbowdp.rules.margin_table.build import MarginTableFamily
from rainbowdp.rules.margin_table.program import EPSILONS, MOST_ANSWERS

# Above ε = 4 no margin table is made. At ε = 4 it errs at least so many times as often as the best
# other kind, so that the table for ε = 4 is kept until another kind is that much better than there.
_SHARE_OF_A_TABLE = {Ties.FIRST_LISTED: 0.95, Ties.ANY_LEADER: 0.75}
_SHARE_WITH_DELTA = 0.1  # where any leader is right and δ is more than a few errors in a hundred
_LARGE_DELTA = Fraction(1, 100)
_MOST_RECORDS = 10**15  # which floats still count one by one
# From here on a margin table, which uses a δ, may err less often than a crowd table, and noisy
# counts less often than both. Six answers have few knots from some ε on, and need a larger δ.
_NOTABLE_DELTA = Fraction(1, 1000)
_WIDE, _NOTABLE_OF_WIDE = Fraction(1, 2), Fraction(1, 200)
# A crowd table takes seconds to make, and errs at least so many times as often as permute-and-flip.
_MUCH_LESS = 0.5
_HELD = 3  # answers up to which a table is a matter of moments, so that it is built to be compared
# Where records come and go and ties go to the first listed, a margin table of so many answers has
# nothing to gain on permute-and-flip below this ε, unless there is a δ, which only the table uses.
_NO_GAIN = {4: Fraction("0.7"), 5: Fraction("0.5"), 6: Fraction("0.6")}


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
    forbid: Forbidden = (),
) -> Choice: ...


def best(
    question: Question | Count | ProportionTest | Keys | Grouped | RainbowGraph,
    guarantee: Guarantee,
    *,
    records: int | None = None,
    utility: AnyUtility | None = None,
    weights: AnyWeights | None = None,
    forbid: Forbidden = (),
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
    * Zero-concentrated privacy: the exponential mechanism, or for a vote noisy counts.
    * Two answers: homogeneous, which is optimal there. (A vote under Gaussian privacy in which a
      person may have several records: the least measure, as below.)
    * A vote over three to six answers, ε from 0.01 to 4 and one record a person: a margin table,
      unless permute-and-flip is as good (records added or removed, ties to the first listed, a
      small ε). Over seven to ten, and over five and six where ties go to the first listed, one
      record is substituted and ε is 0.1 or at least 0.2: a crowd table, unless another kind has a
      lower measure. It is made for this ε, or is a larger one that was made for an ε just below.
      With δ > 0.001 noisy counts are compared.
    * Otherwise the kind with the lowest measure: for a quantile of three or more bins, or several,
      the expected distance from the truth in records; for any other question the chance of a wrong
      answer. It is the mean over a fixed list of histograms, which depends on the shape of the
      question and not on data or the guarantee. The kinds under (ε,δ) are homogeneous, proximity
      where q − 1 ≤ e^ε, permute-and-flip for a vote or its first few as a set, ordered bins for a
      quantile where they are proved, and a margin flip; under Gaussian privacy homogeneous and the
      exponential mechanism; and for a vote under μ or with a δ noisy counts. So a larger ε, δ, μ or
      ρ never buys a worse answer by that measure (of noisy counts up to rounding), or on tables of
      ``records`` records where you give them. A kind that leaves δ unused says so in ``claim``.
    * A graph: the kind with the largest expected worth in the mean over datasets, among homogeneous
      (with a designed boundary), proximity, margin flip, exponential, lifted, fixed point and, on
      small graphs, a linear program. The result lists all of them.

    Parameters
    ----------
    question
        Any of the questions, such as ``Winner`` or ``Quantiles``, in groups or not; or a graph.
    guarantee
        What is promised between neighboring tables or datasets.
    records
        About how many records the table (or each group) has, if you know it without looking: the
        choice is then made for tables of that size, instead of for all sizes from 16 to a million.
        It must not come from private data.
    utility
        Graphs only: what an answer is worth, larger is better. A ``Utility``, a mapping {first
        choice: {answer: worth}} or by region, or an array by first choice or dataset, and answer,
        such as minus the distance. By default the first choice is worth 1 and every other answer 0.
    weights
        Graphs only: what each dataset counts in the mean, an array or {dataset: weight}.
    forbid
        Graphs only: answers that are never given. A region whose first choice is one of them wants
        its next one, unless ``utility`` says what its answers are worth.

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
        return best_on_graph(question, guarantee, utility, weights, forbid=forbid)
    if utility is not None or weights is not None or forbid != ():
        raise InvalidQuestion(
            "utility, weights and forbid are for graphs, got a question about tables"
        )
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
    size = None if records is None else whole(records, "records", 1, _MOST_RECORDS)
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
        ``"ordered-bins"``, ``"permute-and-flip"``, ``"margin-flip"``, ``"exponential"`` or
        ``"noisy-counts"``.
    **options
        What the kind can be told: ``boundary``, a row with the true answer first, for homogeneous;
        ``epsilon``, the ε it is made for, for a margin or crowd table; ``by_margins=True`` for the
        exponential mechanism of a vote or of sets, which otherwise goes by counts.

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
        if not isinstance(kind, str) or kind not in ON_GRAPHS:
            raise InvalidQuestion(f"a graph has {', '.join(ON_GRAPHS)}, got {brief(kind)}")
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
        options["boundary"] = exact_distribution(options["boundary"], len(question.answers))
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
        if isinstance(question, Winner) and question.limit > 1 and not isinstance(guarantee, DP):
            # Steps of a person with several records are coarser than noise by records.
            return _least(question, guarantee, records)[0]
        return plain
    crowds = family("crowd-table")
    few = len(question.answers) <= MOST_ANSWERS
    if few and crowds.unfit(question, guarantee) is None:
        chosen, error = _least(question, guarantee, records)
        instead = table if table.unfit(question, guarantee) is None else chosen
        crowd = _crowd_table(question, guarantee, records, instead)
        if crowd is not None:
            notable = _notable_beside_crowds(question, guarantee)
            if _has_more(guarantee, notable) and table.unfit(question, guarantee) is None:
                least = _of_a_table(table, question, guarantee, records)
                chosen, error = (table, least) if least < error else (chosen, error)
            return crowd[0] if crowd[1] <= error else chosen
    if table.unfit(question, guarantee) is None:
        close = _is_close(question, guarantee)
        settled = len(question.answers) > _HELD and not _has_more(guarantee, _NOTABLE_DELTA)
        if settled and not close and solved_below(question, guarantee) is None:
            return table
        chosen, error = _least(question, guarantee, records)
        if close and isinstance(guarantee, DP) and not guarantee.exact_delta:
            return chosen
        found = table, _of_a_table(table, question, guarantee, records)
        crowd = _one_below(question, guarantee, records, table)
        better = found if crowd is None or found[1] <= crowd[1] else crowd
        return better[0] if better[1] <= error else chosen
    chosen, error = _least(question, guarantee, records)
    if not few and crowds.unfit(question, guarantee) is None:
        flips = measure(family("permute-and-flip"), question, guarantee, records)
        if error < _MUCH_LESS * flips:
            return chosen
        crowd = _crowd_table(question, guarantee, records, chosen)
        return crowd[0] if crowd is not None and crowd[1] <= error else chosen
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


def _crowd_table(
    question: Question, guarantee: Guarantee, records: int | None, instead: Family
) -> tuple[Family, float] | None:
    """The better crowd table and its measure; None if there is none, which is said.

    It is the one that is made for this ε, or a larger one that was solved for an ε just below, so
    that a larger ε is not answered worse.
    """
    own = _measured(family("crowd-table"), question, guarantee, records, instead)
    below = None if own is None else _one_below(question, guarantee, records, instead)
    return below if own and below and below[1] < own[1] else own


def _one_below(
    question: Question, guarantee: Guarantee, records: int | None, instead: Family
) -> tuple[Family, float] | None:
    """The crowd table that was solved for an ε just below, if any, and its measure."""
    below = solved_below(question, guarantee)
    return None if below is None else _measured(below, question, guarantee, records, instead)


def _measured(
    kind: Family, question: Question, guarantee: Guarantee, records: int | None, instead: Family
) -> tuple[Family, float] | None:
    """A kind and its measure; None if there is no such table, which is said."""
    try:
        return kind, _of_a_table(kind, question, guarantee, records)
    except NoTable as refused:
        say_once(f"{instead.title} answers, as there is no crowd table: {refused}.")
        return None


def _notable_beside_crowds(question: Question, guarantee: Guarantee) -> Fraction:
    """The δ from which a margin table may err less often than a crowd table, which has none."""
    assert isinstance(guarantee, DP)
    wide = len(question.answers) == MOST_ANSWERS and guarantee.epsilon >= _WIDE
    return _NOTABLE_OF_WIDE if wide else _NOTABLE_DELTA


def _has_more(guarantee: Guarantee, delta: Fraction) -> bool:
    """Whether there is a larger δ."""
    return isinstance(guarantee, DP) and guarantee.exact_delta > delta


def _is_close(question: Question, guarantee: Guarantee) -> bool:
    """Whether a margin table may be worse than permute-and-flip in the mean."""
    assert isinstance(guarantee, DP)
    assert isinstance(question, Winner)
    ordered = question.ties == Ties.FIRST_LISTED
    coming = question.neighbors == Neighbors.ADDED_OR_REMOVED
    limit = _NO_GAIN.get(len(question.answers), Fraction(0))
    return ordered and coming and guarantee.epsilon < limit


def _of_a_table(
    table: Family, question: Question, guarantee: Guarantee, records: int | None
) -> float:
    """The measure of a table, which is built for it."""
    counts, margins = fixed_histograms(shape_of(question), records)
    rule, _ = table.build(question, guarantee)
    return measure_of_rows(question, rule.rows_at(question, counts, margins), counts, margins)


def _least(question: Question, guarantee: Guarantee, records: int | None) -> tuple[Family, float]:
    """The kind with the least measure, of those that are cheap to build, and that measure."""
    kinds = [
        variant
        for kind in FAMILIES
        if not kind.costly and not kind.outdone(guarantee)
        for variant in kind.variants(question)
    ]
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
