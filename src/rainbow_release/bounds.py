"""Bounds of e^x and of the normal distribution, in integers alone.

A number x stands as the integer x·2^bits, rounded to a known side. Every function returns a pair
that is not above and not below the true value. Floats only guess where to begin to look.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

_FINE = 192  # binary places of a lower bound of e^ε


def exp_below(x: Fraction, bits: int = _FINE) -> Fraction:
    """A rational not above e^x, x ≥ 0: a power series, squared, every rounding down."""
    halvings = (x.numerator // x.denominator).bit_length() + 8
    scale = 1 << bits + 2 * halvings
    top, bottom = x.numerator, x.denominator << halvings
    term = total = scale
    place = 0
    while term:
        place += 1
        term = term * top // (bottom * place)
        total += term
    for _ in range(halvings):
        total = total * total // scale
    return Fraction(total, scale)


def exp_between(x: int, bits: int) -> tuple[int, int]:
    """Bounds of e^x for x ≥ 0."""
    halvings = (x >> bits).bit_length() + 8
    fine = bits + 2 * halvings + 2 * (x >> bits)
    small = x << fine - bits - halvings
    term = total = 1 << fine
    place = 0
    while term:
        place += 1
        term = (term * small >> fine) // place
        total += term
    low, high = total, total + 2 * place + 8  # each term is short by less than 2, and so the rest
    for _ in range(halvings):
        low, high = low * low >> fine, (high * high >> fine) + 1
    return low >> fine - bits, (high >> fine - bits) + 1


def log_between(ratio: Fraction, bits: int) -> tuple[int, int]:
    """Bounds of log(ratio) for ratio ≥ 1, by bisection."""
    aim = ratio * (1 << bits)
    low, high = 0, ratio.numerator.bit_length() - ratio.denominator.bit_length() + 2 << bits
    while high - low > 1:
        middle = (low + high) // 2
        least, most = exp_between(middle, bits)
        if most <= aim:
            low = middle
        elif least >= aim:
            high = middle
        else:
            return middle - 4, middle + 4
    return low, high


def root_between(x: Fraction, bits: int) -> tuple[int, int]:
    """Bounds of √x."""
    low = isqrt((x.numerator << 2 * bits) // x.denominator)
    return low, low + 1


_circle: dict[int, tuple[int, int]] = {}


def _root_of_circle(bits: int) -> tuple[int, int]:
    """Bounds of √(2π): π = 16·arctan(1/5) − 4·arctan(1/239), the terms in falling order."""
    if bits not in _circle:
        fine = bits + 32
        pi = 0
        for factor, inverse in ((16, 5), (-4, 239)):
            power, place, sign = (1 << fine) // inverse, 1, 1
            while power:
                pi += factor * sign * (power // place)
                power, place, sign = power // inverse**2, place + 2, -sign
        off = 64 * fine  # units: fewer terms than bits, each short by less than 2, times 16
        low, high = isqrt(pi - off << fine + 1), isqrt(pi + off << fine + 1) + 1
        _circle[bits] = low >> 32, (high >> 32) + 1
    return _circle[bits]


def normal_between(x: int, bits: int) -> tuple[int, int]:
    """Bounds of Φ(x) = ½ + φ(x)·(x + x³/3 + x⁵/15 + …)."""
    if x < 0:
        low, high = normal_between(-x, bits)
        return (1 << bits) - high, (1 << bits) - low
    square = x * x >> bits
    low = high = term_low = term_high = x
    odd = 1
    while term_high > 2 or odd * (1 << bits) < 4 * square:
        odd += 2
        term_low = (term_low * square >> bits) // odd
        term_high = (term_high * (square + 1) >> bits) // odd + 1
        low, high = low + term_low, high + term_high
    high += 8  # the terms that are left halve at least, up to their rounding
    least, most = exp_between(square >> 1, bits)
    most = exp_between((square >> 1) + 1, bits)[1]
    root_low, root_high = _root_of_circle(bits)
    half, scale = 1 << bits - 1, 2 * bits
    return half + (low << scale) // (most * root_high), half + (high << scale) // (
        least * root_low
    ) + 1


def quantile_between(level: Fraction, bits: int) -> tuple[int, int]:
    """Bounds of Φ⁻¹(level), 0 < level < 1: Newton's method proposes, ``normal_between`` decides."""
    aim = (level.numerator << bits) // level.denominator
    guess = _guess(level) << bits - 40
    root = _root_of_circle(bits)[0]
    for _ in range(4):
        here = sum(normal_between(guess, bits)) >> 1
        density = exp_between(guess * guess >> bits + 1, bits)[0]  # of e^(x²/2)
        guess -= ((here - aim) * density >> bits) * root >> bits
    low = high = None
    step = 16
    while low is None or high is None:
        if low is None and normal_between(guess - step, bits)[1] * level.denominator <= (
            level.numerator << bits
        ):
            low = guess - step
        if high is None and normal_between(guess + step, bits)[0] * level.denominator >= (
            level.numerator << bits
        ):
            high = guess + step
        step *= 16
        if step >> bits + 8:  # too few places for this level: true, and of no use
            return -(step << 8), step << 8
    return low, high


def _guess(level: Fraction) -> int:
    """About Φ⁻¹(level)·2^40, by bisection in few places."""
    near = min(level, 1 - level)
    places = 64 + near.denominator.bit_length() - near.numerator.bit_length()
    low, high = -64 << 40, 64 << 40
    while high - low > 1 << 16:
        middle = (low + high) // 2
        least, _ = normal_between(middle << places - 40, places)
        if least * level.denominator < level.numerator << places:
            low = middle
        else:
            high = middle
    return (low + high) // 2


def grown_between(level: Fraction, mu: tuple[int, int], bits: int) -> tuple[int, int]:
    """Bounds of Φ(Φ⁻¹(level) + μ), from bounds of μ."""
    low, high = quantile_between(level, bits)
    return normal_between(low + mu[0], bits)[0], normal_between(high + mu[1], bits)[1]


def power_between(base: Fraction, exponent: int, places: int) -> tuple[int, int]:
    """Bounds of base^exponent for 0 < base < 1, times 2^places."""
    low = (base.numerator << places) // base.denominator
    high = low + 1
    least = most = 1 << places
    while exponent:
        if exponent & 1:
            least, most = least * low >> places, (most * high >> places) + 1
        low, high, exponent = low * low >> places, (high * high >> places) + 1, exponent >> 1
    return least, most
