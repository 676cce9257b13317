"""Which kind of mechanism answers a question: the one place where a preference stands."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from rainbowdp.answering.mechanism import QuestionMechanism
from rainbowdp.errors import InvalidQuestion
from rainbowdp.guarantees.dp import DP, Guarantee
from rainbowdp.numeric.quantity import exact_distribution
from rainbowdp.questions import Question, Winner
from rainbowdp.questions.relations import Ties
from rainbowdp.rules import family

_SMALL_DELTA = Fraction(1, 1000)  # ordered bins leave δ unused; up to here they still do best
_SMALL_PART = Fraction(1, 100)  # of ε: so does permute-and-flip


def best(question: Question, guarantee: Guarantee) -> QuestionMechanism:
    """The best certified mechanism for saying the true answer, chosen before any data is seen.

    * Two answers: homogeneous, which is optimal there.
    * A vote over three to six answers, ε from 0.01 to 4 and one record a person: a margin table.
    * A quantile over three or more bins, one record substituted, one record a person and
      δ ≤ 0.001: ordered bins, from ε = 0.24 for three bins to 0.64 for six.
    * Otherwise proximity where it holds, then permute-and-flip for a vote with δ ≤ ε/100, and
      homogeneous where neither does.

    Parameters
    ----------
    question
        A ``Winner``, ``Threshold``, ``Quantile`` or ``Custom`` question.
    guarantee
        What is promised between neighboring tables.

    Returns
    -------
    QuestionMechanism
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
    if not isinstance(question, Question):
        raise InvalidQuestion(
            f"best needs a question such as Winner([...]), got {type(question).__name__}"
        )
    return QuestionMechanism(question, guarantee, family(_preferred(question, guarantee)))


def by_kind(
    question: Question, guarantee: Guarantee, kind: str, **options: Any
) -> QuestionMechanism:
    """A mechanism of the kind you name.

    Parameters
    ----------
    question
        A ``Winner``, ``Threshold``, ``Quantile`` or ``Custom`` question.
    guarantee
        What is promised between neighboring tables.
    kind
        ``"homogeneous"``, ``"proximity"``, ``"margin-table"``, ``"ordered-bins"`` or
        ``"permute-and-flip"``.
    **options
        What the kind can be told; ``boundary``, a row with the true answer first, for homogeneous.

    Returns
    -------
    QuestionMechanism
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
    if not isinstance(question, Question):
        raise InvalidQuestion(
            f"by_kind needs a question such as Winner([...]), got {type(question).__name__}"
        )
    chosen = family(kind)
    if options.get("boundary") is not None:
        options["boundary"] = exact_distribution(list(options["boundary"]), len(question.answers))
    try:
        chosen = replace(chosen, **options)
    except TypeError:
        raise InvalidQuestion(f"{kind} has no option {', '.join(options)}; leave it out") from None
    return QuestionMechanism(question, guarantee, chosen)


def _preferred(question: Question, guarantee: Guarantee) -> str:
    answers = len(question.answers)

    def fits(kind: str) -> bool:
        return family(kind).unfit(question, guarantee) is None

    shared = isinstance(question, Winner) and question.ties == Ties.ANY_LEADER
    if (answers > 2 or shared) and fits("margin-table"):
        return "margin-table"
    if answers <= 2:
        return "homogeneous"
    delta = guarantee.exact_delta if isinstance(guarantee, DP) else None
    if delta is not None and delta <= _SMALL_DELTA and fits("ordered-bins"):
        return "ordered-bins"
    if fits("proximity"):
        return "proximity"
    if fits("permute-and-flip"):
        assert isinstance(guarantee, DP)
        if guarantee.exact_delta <= _SMALL_PART * Fraction(guarantee.epsilon):
            return "permute-and-flip"
    return "homogeneous"
