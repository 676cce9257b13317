"""A question's mechanism as an OpenDP measurement, so that it shares a budget with OpenDP's own.

OpenDP asks for a *privacy map*: from d_in, how far apart two inputs may be, to d_out, how far
apart their answers may be. Ours goes through the number of steps between neighbors:

1. Inputs at distance d_in are joined by c·d_in changes of one record, and every histogram on the
   way is a possible one. c is 1 if the metric counts what the question's neighbor relation
   counts. It is 1 too for the L1 distance of counts, and for records added or removed when the
   question is about substitutions: an added record is an uncounted one substituted. It is 2
   if records are substituted and the question is about adding and removing.
2. With k rows per person, the margins ⌈λ/k⌉ of two histograms k changes apart differ by at most 1,
   so every k-th histogram on the way is a neighbor of the one before: t = ⌈c·d_in/k⌉ steps.
3. t steps of (ε,δ) are (tε, δ·(1 + e^ε + … + e^{(t−1)ε})); t steps of μ are tμ (Dong, Roth and
   Su, *Gaussian differential privacy*, Theorem 2.14), and μ-GDP implies μ²/2-zCDP, because the
   answers are those of N(0, 1) and N(μ, 1) processed further (ibid., Theorem 2.10), which
   makes no Rényi divergence larger. t steps of ρ are t²ρ (Bun and Steinke, *Concentrated
   differential privacy*, Proposition 1.9).

Every number is computed from exact fractions and rounded up. Answers are drawn by the exact
mechanism; OpenDP adds no noise of its own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from rainbowdp.answering.mechanism import QuestionMechanism
from rainbowdp.errors import InvalidMechanism, InvalidQuestion, MissingExtra
from rainbowdp.exact.mechanism import ExactMechanism
from rainbowdp.expecting import brief
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.numeric.quantity import ball, precision
from rainbowdp.questions import Between, Equals, Question, with_margins
from rainbowdp.questions.ends import Kind, less

if TYPE_CHECKING:
    from flint import arb
    from opendp.mod import Domain, Measure, Measurement, Metric

    Space: TypeAlias = tuple[Domain, Metric]

_ADDED = ("SymmetricDistance", "InsertDeleteDistance")
_CHANGED = ("ChangeOneDistance", "HammingDistance")
_WHOLE = {"i8", "i16", "i32", "i64", "i128", "u8", "u16", "u32", "u64", "u128", "isize", "usize"}
_NUMBERS = _WHOLE | {"f32", "f64"}
_BITS = 256  # of the balls that bound ε and δ from above


__all__ = ["to_opendp"]


def to_opendp(
    mechanism: QuestionMechanism | ExactMechanism, space: Space | None = None
) -> Measurement:
    """The mechanism as an OpenDP measurement, made by ``make_user_measurement``.

    Call OpenDP's ``enable_features("contrib", "honest-but-curious")`` first. A question's
    ``person`` column is ignored: d_in says how many records a person may have. The output measure
    is pure ε, (ε,δ) or, for ``GaussianDP`` and ``ZeroConcentrated``, zero-concentrated; OpenDP has
    none for a ``TradeOff``.

    Parameters
    ----------
    mechanism
        A question's mechanism, or an exact mechanism that carries its question.
    space
        The input space, a pair of an OpenDP domain and a metric. Either counts, one whole number
        for each of the question's groups in order, with ``l1_distance`` (the default, with 64-bit
        numbers; negative counts are taken as 0); or records, a vector of texts or numbers, with
        ``symmetric_distance``, ``insert_delete_distance``, ``change_one_distance`` or
        ``hamming_distance``. Records are best for a question about substitutions: one of them is a
        distance of 1 here and of 2 in the L1 distance of counts.

    Returns
    -------
    opendp.Measurement
        A measurement with its privacy map.

    Raises
    ------
    InvalidMechanism
        If the mechanism does not answer a question.
    InvalidQuestion
        If the question has no groups, or ``space`` does not fit it.
    InvalidGuarantee
        If OpenDP has no measure for the guarantee.
    MissingExtra
        If OpenDP is not installed.

    Examples
    --------
    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib", "honest-but-curious")
    >>> from rainbowdp import DP, Winner, best
    >>> poll = best(Winner(["red", "green"], neighbors="added or removed"), DP(20))
    >>> measurement = to_opendp(poll)
    >>> measurement([1000, 7]), measurement.map(1), measurement.map(2)
    ('red', 20.0, 40.0)

    """
    try:
        import opendp.prelude as dp
    except ImportError:
        raise MissingExtra("opendp", "opendp") from None

    question, exact = _parts(mechanism)
    if space is None:
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    counted, changes = _input(space, question)
    measure, loss = _output(exact.guarantee)

    def answer(data: Sequence[Any]) -> Any:
        return exact.release(counted(data))

    def privacy_map(d_in: int) -> Any:
        if d_in < 0:
            raise InvalidQuestion(f"d_in must be a whole number from 0, got d_in={d_in}")
        return loss(-(-changes * d_in // question.rows_per_person))

    return dp.m.make_user_measurement(*space, measure, answer, privacy_map, TO="String")


def _parts(mechanism: QuestionMechanism | ExactMechanism) -> tuple[Question, ExactMechanism]:
    """The question and the exact mechanism, which must belong together."""
    if isinstance(mechanism, QuestionMechanism):
        question, exact = mechanism.question, mechanism.exact()
    elif isinstance(mechanism, ExactMechanism) and mechanism.question is not None:
        question, exact = with_margins(mechanism.question), mechanism
    else:
        raise InvalidMechanism(
            f"to_opendp needs a mechanism that answers a question, got {type(mechanism).__name__}"
        )
    if not question.groups:
        raise InvalidQuestion(
            "to_opendp needs a question with groups, which OpenDP's records can be counted into"
        )
    fits = exact.answers == question.answers and exact.neighbors == question.neighbors
    if not fits or exact.locate is None:
        raise InvalidMechanism(
            "the mechanism is not proved for the answers, borders and neighbors of its question; "
            "make it again with rb.best"
        )
    return question, exact


def _input(
    space: Space, question: Question
) -> tuple[Callable[[Sequence[Any]], dict[str, int]], int]:
    """How to count the input, and how many changes of a record one unit of d_in may be."""
    domain, metric = space
    carrier, kind = str(domain.carrier_type), str(metric.type)
    held = carrier.removeprefix("Vec<").removesuffix(">")
    if carrier == f"Vec<{held}>":
        if kind in {f"L1Distance<{whole}>" for whole in _WHOLE} and held in _WHOLE:
            return _counts_from(question), 1
        if kind in _ADDED + _CHANGED and held in _records_of(question):
            changes = 2 if kind in _CHANGED and question.neighbors == "added or removed" else 1
            return _records_from(question), changes
    wanted = "texts" if isinstance(question.groups[0][1], Equals) else "numbers"
    raise InvalidQuestion(
        "an input space must be a vector of whole counts with l1_distance, or a vector of "
        f"{wanted} with a distance between records, got {carrier} with {kind}"
    )


def _records_of(question: Question) -> tuple[str, ...]:
    """The types of records that OpenDP has and the question can count.

    It has no times, and a record is one value, of which a condition or a function says nothing.
    """
    if question.where is not None or question.apply is not None or question.weight is not None:
        return ()
    if any(not isinstance(rule, Equals | Between) for _, rule in question.groups):
        return ()
    rule = question.groups[0][1]
    if isinstance(rule, Between):
        return tuple(_NUMBERS) if rule.kind == Kind.NUMBERS else ()
    return ("String",)


def _counts_from(question: Question) -> Callable[[Sequence[int]], dict[str, int]]:
    names = [name for name, _ in question.groups]

    def counted(counts: Sequence[int]) -> dict[str, int]:
        if len(counts) != len(names):
            raise InvalidQuestion(
                f"counts must be {len(names)} numbers, one for each group, got {len(counts)}; "
                "count categories with null_category=False"
            )
        # Whole vectors, those with noise too, are in the domain; this brings none further apart.
        return {name: max(0, int(n)) for name, n in zip(names, counts, strict=True)}

    return counted


def _records_from(question: Question) -> Callable[[Sequence[Any]], dict[str, int]]:
    def counted(records: Sequence[Any]) -> dict[str, int]:
        if isinstance(question.groups[0][1], Equals):
            found = Counter(records)
            return {
                name: found[rule.value]
                for name, rule in question.groups
                if isinstance(rule, Equals)
            }
        return {
            name: sum(_holds(rule, value) for value in records)
            for name, rule in question.groups
            if isinstance(rule, Between)
        }

    return counted


def _holds(rule: Between, value: float) -> bool:
    """Whether a range contains a number; none contains NaN."""
    if value != value or (rule.low is not None and less(value, rule.low)):
        return False
    return rule.high is None or less(value, rule.high) or (rule.closed and value == rule.high)


def _output(guarantee: Guarantee) -> tuple[Measure, Callable[[int], Any]]:
    """OpenDP's measure for a guarantee, and the loss after a number of steps, rounded up."""
    import opendp.prelude as dp

    if isinstance(guarantee, GaussianDP):
        mu = guarantee.exact_mu
        return dp.zero_concentrated_divergence(), lambda steps: _up((steps * mu) ** 2 / 2)
    if isinstance(guarantee, ZeroConcentrated):
        rho = guarantee.exact_rho
        return dp.zero_concentrated_divergence(), lambda steps: _up(steps**2 * rho)
    if not isinstance(guarantee, DP):
        raise InvalidMechanism(
            "OpenDP has a measure for DP, GaussianDP and ZeroConcentrated guarantees, got "
            f"{brief(guarantee)}"
        )
    if not guarantee.exact_delta:
        return dp.max_divergence(), lambda steps: _epsilon(guarantee, steps)
    measure = dp.approximate(dp.max_divergence())
    return measure, lambda steps: (_epsilon(guarantee, steps), _delta(guarantee, steps))


def _epsilon(guarantee: DP, steps: int) -> float:
    """t·ε, rounded up."""
    if guarantee.exact_epsilon is not None:
        return _up(steps * guarantee.exact_epsilon)
    if steps == 0:
        return 0.0
    with precision(_BITS):
        return _above(_log_ratio(guarantee) * steps)


def _delta(guarantee: DP, steps: int) -> float:
    """δ·(1 + e^ε + … + e^{(t−1)ε}), rounded up, and at most 1."""
    if steps <= 1 or guarantee.exact_epsilon == 0:
        return _up(min(Fraction(1), steps * guarantee.exact_delta))
    with precision(_BITS):
        epsilon = _log_ratio(guarantee)
        grown = (epsilon * steps).expm1() / epsilon.expm1() * ball(guarantee.exact_delta)
        return min(1.0, _above(grown)) if grown < 1 else 1.0  # a ball too wide to tell is 1


def _log_ratio(guarantee: DP) -> arb:
    """ε as a ball of the current precision."""
    if guarantee.exact_epsilon is not None:
        return ball(guarantee.exact_epsilon)
    assert guarantee.exact_ratio is not None
    return ball(guarantee.exact_ratio - 1).log1p()


def _up(value: Fraction) -> float:
    """The least float that is at least ``value``."""
    nearest = float(value)
    return nearest if nearest >= value else math.nextafter(nearest, math.inf)


def _above(value: arb) -> float:
    """A float above all of a ball: the one after the nearest to its upper end."""
    return math.nextafter(float(value.upper()), math.inf)
