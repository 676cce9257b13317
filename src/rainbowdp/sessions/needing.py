"""The least that makes an answer as sure as is wanted, found before any data is seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from rainbowdp.answering.askable import Askable
from rainbowdp.answering.best import by_kind
from rainbowdp.answering.coverage import percent
from rainbowdp.errors import InvalidGuarantee, InvalidQuestion, NotApplicable
from rainbowdp.expecting import brief
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.numeric.quantity import Number, exact
from rainbowdp.questions import Grouped, Keys, ProportionTest, Question
from rainbowdp.rules import family
from rainbowdp.sessions.buying import chance_of, is_quick, mechanism_for, quick_mechanism, reached
from rainbowdp.sessions.targets import Asked, Target, Wish
from rainbowdp.sessions.ways import Way, rounded

CURRENCIES = ("epsilon", "mu", "rho")

_HALVINGS = 12  # of a search for what a target needs
_MORE = Fraction(102, 100)  # by which it is raised until the chosen mechanism reaches the target
_LESS = Fraction(99_999, 100_000)  # rounded down, that is one less in the fourth digit
_SMALLEST = Fraction(1, 10**12)
_LARGEST = Fraction(400)  # in ε, ρ and μ² there is nothing beyond
_TABLES = 5  # that are made to come nearer to the least amount
_NEAR = 0.97  # of an amount: nearer to the least one is not worth a table
_FLIP = "permute-and-flip"

Promises = Callable[[Fraction], Sequence[Guarantee]]


def guarantee_for(
    question: Asked,
    *,
    sure: Number,
    margin: int | None = None,
    shares: Mapping[str, Number] | None = None,
    people: int | None = None,
    currency: str = "epsilon",
    delta: Number = 0,
    kind: str | None = None,
) -> Guarantee:
    """The smallest guarantee with which ``best`` is as sure as you want, found without any data.

    "I want to be 99 % sure if five people decide it" becomes an ε, to give to ``best``. The chance
    is read off the mechanism's own exact rows: the worst case over all tables with that margin. The
    number has four digits, rounded up; where a margin table or a crowd table answers, it may be a
    few percent more than the least. ``best`` chooses by the mean over many tables, so for three and
    more answers another ``kind`` may be as sure in the worst case with a little less.

    Parameters
    ----------
    question
        What is asked, in groups or not; in groups, each answer is that sure.
    sure
        How sure the answer has to be: ``"0.99"``. For a count, how sure it has to be within the
        margin; for a test, its power; for keys, the chance that a key is named.
    margin
        How narrow the decision may be: how many people, or records, would have to change before
        another answer is the true one. For a count, how far off it may be; for keys, how many
        people have the key. It must not come from the data.
    shares, people
        Instead of a margin: the shares that you expect, and about how many records there are, as
        for ``Target``. A test needs ``shares={"matching": "0.65"}``.
    currency
        ``"epsilon"``, ``"mu"`` (Gaussian privacy) or ``"rho"`` (zero-concentrated privacy).
    delta
        The δ that comes with ε. Keys need one.
    kind
        A kind of mechanism as for ``by_kind``, if not the one that ``best`` takes.

    Returns
    -------
    DP, GaussianDP or ZeroConcentrated
        The guarantee.

    Raises
    ------
    InvalidQuestion
        If the wishes are incomplete or do not fit the question.
    NotApplicable
        If no guarantee makes the answer that sure.

    Examples
    --------
    >>> from rainbowdp import Winner, best
    >>> vote = Winner(["red", "green"], "vote")
    >>> enough = guarantee_for(vote, sure="0.99", margin=5)
    >>> print(enough, [round(least, 4) for _, least, _ in best(vote, enough).by_margin([4, 5])])
    0.8499-DP [0.9766, 0.99]

    """
    target = Target(question, "the answer", sure=sure, margin=margin, shares=shares, people=people)
    if not target.demanding:
        raise InvalidQuestion(
            "a test needs the share at which you want its power: shares={'matching': 0.65}"
            if isinstance(question, ProportionTest)
            else "say how sure the answer has to be and at which margin: sure='0.99', margin=5"
        )
    if currency not in CURRENCIES:
        raise InvalidGuarantee(
            f"currency must be {', '.join(CURRENCIES[:-1])} or {CURRENCIES[-1]}, "
            f"got {brief(currency)}"
        )
    apart = exact(delta, "delta", InvalidGuarantee)
    if apart and currency != "epsilon":
        raise InvalidGuarantee(
            f"delta belongs to epsilon, got currency={brief(currency)}: leave it out"
        )
    if isinstance(question, Keys) and not apart:
        raise InvalidGuarantee("keys need a delta above 0, such as 1e-6: give one")
    return _guarantee_for(Wish(target), currency, apart, kind)


@lru_cache(maxsize=512)
def _guarantee_for(wish: Wish, currency: str, delta: Fraction, kind: str | None) -> Guarantee:
    def promised(amount: Fraction) -> Guarantee:
        if currency == "epsilon":
            return DP(amount, delta)
        return GaussianDP(amount) if currency == "mu" else ZeroConcentrated(amount)

    return promised(_least(wish.target, lambda amount: [promised(amount)], kind))


def need(way: Way, target: Target, shared: Fraction) -> Fraction:
    """The least amount, to four digits, with which a target has what it wants.

    Where a table would have to be made for every amount that is tried, permute-and-flip stands in
    for it, which the table is not below; then a few tables are made to come nearer.
    """
    return _need(way, Wish(target), shared)


@lru_cache(maxsize=512)
def _need(way: Way, wish: Wish, shared: Fraction) -> Fraction:
    target = wish.target
    return _least(target, lambda amount: way.promises(amount, target, shared), way.kind)


def _least(target: Target, promises: Promises, kind: str | None) -> Fraction:
    """The least amount whose promises reach a target."""
    _must_say_something(target)
    applies, refused = False, None

    def enough(amount: Fraction, make: Callable[..., Askable] = _quickly) -> bool:
        nonlocal applies, refused
        for promise in promises(amount):
            try:
                if reached(target, make(target, promise, kind)):
                    return True
                applies = True
            except InvalidGuarantee as error:
                refused = refused or error
        return False

    high = Fraction(1)
    while not enough(high):
        high *= 2
        if high > _LARGEST:
            raise _out_of_reach(target) if applies or refused is None else refused
    while high > _SMALLEST and enough(high / 2):
        high /= 2
    low = high / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    found = rounded(high, math.ceil)
    while not enough(found, mechanism_for):
        found = rounded(found * _MORE, math.ceil)
        if found > _LARGEST:
            raise _out_of_reach(target)
    if any(not _is_quick(target, promise, kind) for promise in promises(found)):
        return _nearer(target, promises, kind, found)
    while (less := rounded(found * _LESS, math.floor)) > low and enough(less):
        found = less
    return found


def _nearer(target: Target, promises: Promises, kind: str | None, high: Fraction) -> Fraction:
    """An amount that is enough and less, by a few tables: log-odds are nearly linear in ε."""

    def chance(amount: Fraction) -> float:
        """The chance of the true answer; 0 where there is no mechanism."""
        found = 0.0
        for promise in promises(amount):
            try:
                found = max(found, chance_of(target, mechanism_for(target, promise, kind)) or 0.0)
            except InvalidGuarantee:
                continue
        return found

    wanted = _log_odds(float(target.certainty))
    low, below = 0.0, _log_odds(1 / len(_asked(target).answers)) - wanted
    above = _log_odds(chance(high)) - wanted
    for _ in range(_TABLES):
        least = low + (float(high) - low) * below / (below - above)
        if max(low, least) > _NEAR * float(high):
            break
        middle = rounded(Fraction(least), math.ceil)
        there = chance(middle)
        if there >= target.certainty:
            high, above = middle, _log_odds(there) - wanted
        else:
            low, below = float(middle), _log_odds(there) - wanted
    return high


def _log_odds(chance: float) -> float:
    return math.log(max(chance, 1e-300) / max(1 - chance, 1e-16))


def _asked(target: Target) -> Question:
    """What is asked, or asked in each group; only of kinds that tables are made for."""
    question = target.question
    inner = question.question if isinstance(question, Grouped) else question
    assert isinstance(inner, Question)
    return inner


def _must_say_something(target: Target) -> None:
    """Refuse a certainty that needs no data at all."""
    question = target.question
    inner = question.question if isinstance(question, Grouped) else question
    if isinstance(inner, Question) and target.certainty * len(inner.answers) <= 1:
        raise InvalidQuestion(
            f"sure must be above {percent(Fraction(1, len(inner.answers)))}, got "
            f"{percent(target.certainty)}: one of {len(inner.answers)} answers drawn blindly is "
            "right as often"
        )


def _out_of_reach(target: Target) -> NotApplicable:
    where = f"at a margin of {target.margin:,}" if target.margin else "at the expected shares"
    return NotApplicable(
        f"No guarantee makes {target.name} {percent(target.certainty)} sure {where}. "
        "Ask for less certainty, or for a wider margin."
    )


def _is_quick(target: Target, promise: Guarantee, kind: str | None) -> bool:
    """Whether no table has to be made for an answer, in groups or not."""
    question = target.question
    inner = question.question if isinstance(question, Grouped) else question
    if not isinstance(inner, Question):
        return True
    if kind is not None:
        return not family(kind).costly
    return is_quick(Target(inner), promise)


def _quickly(target: Target, promise: Guarantee, kind: str | None) -> Askable:
    """What is to be asked, or permute-and-flip where that may be a table."""
    if _is_quick(target, promise, kind):
        return mechanism_for(target, promise, kind)
    question = target.question
    assert isinstance(question, Question | Grouped)
    try:
        return by_kind(question, promise, _FLIP)
    except NotApplicable:
        return quick_mechanism(target, promise)
