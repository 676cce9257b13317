"""Rows in integers: the best next one, whole ladders of them, and the repair of given ones.

**The next row.** Let T be the best real row one step from the row P under a rational curve
(theory, Theorem 1). Round each entry of T *towards* P, and make up the sum by moving entries
further towards P. Each hockey-stick sum Σ max(0, P′_v − α·P_v) with α ≥ 1 only shrinks when P′_v
moves towards P_v, and so does Σ max(0, P_v − α·P′_v). So the integer row is as close to P as T is,
exactly and in both directions, and every prefix sum is within q units of the best.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from math import lcm
from typing import Any

from rainbowdp.aliases import Answer, Label, Rainbow, Weights
from rainbowdp.errors import InvalidBoundary, InvalidMechanism
from rainbowdp.guarantees.closeness import first_violation, promise_of
from rainbowdp.guarantees.gaussian import GaussianDP, allowed_weight
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.polygons import safe_curve
from rainbowdp.guarantees.trade_off import TradeOff

BITS = 64  # the total weight of a row is 2**BITS
LONGEST = 1 << 15  # rows kept for a region; deeper datasets use the last, which stays private
MOST_MIXING = Fraction(1, 1 << 10)  # a boundary that needs more repair than this is refused


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


def symmetric_pair(guarantee: Guarantee, answers: int, total: int = 1 << BITS) -> tuple[int, int]:
    """The row (a, b, …, b) with the largest a such that two of them may stand on neighbors.

    One answer then has a beside b, another b beside a, and all others have b beside b.
    """
    reach, others = reach_of(guarantee, total), answers - 1
    low, share = 0, total // answers
    while low < share:
        middle = (low + share) // 2
        if total - others * middle <= reach(middle):
            share = middle
        else:
            low = middle + 1
    return total - others * share, share


def alike_ladder(
    guarantee: Guarantee, answers: int, total: int = 1 << BITS
) -> tuple[tuple[int, int], ...]:
    """The rows (a, b, …, b) from the symmetric one inwards, as pairs: the largest a at each depth.

    Two such rows are as close as two answers with a and 1 − a, since all others have one ratio.
    """
    reach, others = reach_of(guarantee, total), answers - 1
    pairs = [symmetric_pair(guarantee, answers, total)]
    while len(pairs) < LONGEST:
        first, other = pairs[-1]
        share = -((reach(first) - total) // others)
        if share == other:
            break
        pairs.append((total - others * share, share))
    return tuple(pairs)


def reach_of(guarantee: Guarantee, total: int) -> Callable[[int], int]:
    """The largest weight that the guarantee allows one answer beside a given one."""
    if isinstance(guarantee, GaussianDP):
        return lambda weight: allowed_weight(guarantee.exact_mu, weight, total)
    curve = safe_curve(guarantee)

    def reach(weight: int) -> int:
        mass, unit = _allowed(curve, weight, total)
        return mass // unit

    return reach


def on_grid(row: Sequence[Fraction], total: int = 1 << BITS) -> Weights:
    """Probabilities as weights: rounded down, the units left over to the largest remainders."""
    return _rounded(*_over_one(row), total)


def _over_one(row: Sequence[Fraction]) -> tuple[list[int], int]:
    """Fractions over one denominator: the numerators, and it."""
    unit = lcm(*(p.denominator for p in row))
    return [p.numerator * (unit // p.denominator) for p in row], unit


def _rounded(shares: Sequence[int], unit: int, total: int) -> Weights:
    """``on_grid`` of numerators over one denominator; reducing fractions takes far longer."""
    weights, rests = zip(*(divmod(share * total, unit) for share in shares), strict=True)
    order = sorted(range(len(shares)), key=lambda place: -rests[place])
    more = set(order[: total - sum(weights)])
    return tuple(weight + (place in more) for place, weight in enumerate(weights))


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
    answers = len(uniform)
    for partner in (_average(list(rows.values()), total), uniform):
        together = {label: _over_one([*row, *partner]) for label, row in rows.items()}
        for mixing in _mixings():
            share, whole = mixing.as_integer_ratio()
            mixed = {
                label: _rounded(
                    [
                        (whole - share) * own + share * other
                        for own, other in zip(both[:answers], both[answers:], strict=True)
                    ],
                    whole * unit,
                    total,
                )
                for label, (both, unit) in together.items()
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
