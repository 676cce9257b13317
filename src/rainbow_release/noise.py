"""Kinds that add noise: noisy-counts for a vote, and the file of a count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from math import isqrt

from .bounds import (
    exp_between,
    grown_between,
    log_between,
    normal_between,
    root_between,
)
from .document import fraction, keys, small, weight, weights
from .errors import Refused
from .guarantee import Guarantee
from .question import Question
from .randomness import below, bits_at_random, place_in
from .scores import must_be_that_vote

UNIFORM_BITS = 40  # with the chance 2^-40 all answers of noisy-counts are alike
_LONGEST, _LONGEST_CURVE = 1 << 18, 1 << 15
_MOST_BITS = 1 << 12
_SPARE = 96


class NoisyCounts:
    """Rounded normal noise on each count; the largest is said. The key is the counts."""

    own = ("noise",)
    by_counts = True

    def __init__(
        self,
        content: dict[str, object],
        answers: Sequence[object],
        question: Question | None,
        guarantee: Guarantee,
    ) -> None:
        if question is None or len(answers) < 2:
            raise Refused("noisy counts must have a vote with at least 2 answers")
        given = keys(content["noise"], "noise", "vote", "parts", "deviation", "bits")
        vote = keys(given["vote"], "the vote", "of", "answers", "neighbors", "ties", "rows")
        must_be_that_vote(vote, answers, question)
        self.question, self.size = question, len(answers)
        self.parts = small(given["parts"], "parts", 1)
        self.deviation = fraction(given["deviation"], "deviation")
        self.bits = small(given["bits"], "bits", 64)
        places = isqrt(int(14 * self.bits * self.deviation**2 // 10)) + 2
        if vote["of"] != "counts" or self.bits > _MOST_BITS or places > _LONGEST_CURVE:
            raise Refused("noisy counts must be of a vote, with noise that can be listed")
        if self.deviation <= 0:
            raise Refused("the deviation of noise must be above 0")
        first = question.ties == "first listed"
        self.delays = [place * self.parts // self.size * first for place in range(self.size)]
        self.half, away = self._weights()
        self._must_hold(guarantee, away)
        self.proved = f"{len(self.half)} weights beside normal noise"

    def _weights(self) -> tuple[list[int], Fraction]:
        """The weights of 0, 1, …, K, and how far all of them are from rounded normal noise at most.

        Let d_z be by how much the chances of more than z differ: 2·(|d_0| + … + |d_K|) is no less
        than the distance in total variation.
        """
        bits = self.bits + _SPARE
        above: list[int] = []
        off = 0
        while not above or above[-1]:
            x = Fraction(2 * len(above) + 1, 2) / self.deviation
            low, high = (
                (1 << bits) - end
                for end in reversed(normal_between((x.numerator << bits) // x.denominator, bits))
            )
            low -= 2  # x is short by less than a unit, and Φ is flatter than that
            above.append(max(0, low) >> _SPARE)
            off += high - (above[-1] << _SPARE)
            if len(above) > 2 * _LONGEST_CURVE:
                raise Refused("noise must be short enough to be listed")
        half = [(1 << self.bits) - 2 * above[0]]
        half += [one - two for one, two in pairwise(above)]
        return half, Fraction(2 * off, 1 << bits)

    def _must_hold(self, guarantee: Guarantee, away: Fraction) -> None:
        one = Fraction(self.parts * self.question.limit) ** 2
        if self.question.substituted:
            moved = 2 * one
        else:  # less the best whole constant for all scores
            moved = min(one, one * Fraction(self.size - 1, self.size) + Fraction(self.size, 4))
        square = moved / self.deviation**2  # μ² of the noise
        if guarantee.kind == "dp":
            _must_be_within(square, guarantee)
        elif square > guarantee.squared_mu():
            raise Refused("the noise of the counts must keep the guarantee, but does not")
        away *= self.size
        if not 0 < away < Fraction(1, 2):
            raise Refused("the noise must be nearer to normal")
        # (1 − η)·(t + φ(t)) ≤ η·(φ(u) − u) with u = 1 − 1/q: the uniform share makes up for it
        bits = self.bits + 2 * _SPARE
        mu = root_between(square, bits)
        most = Fraction(self.size - 1, self.size)
        slack = Fraction(grown_between(away, mu, bits)[1], 1 << bits) + away
        room = Fraction(grown_between(most, mu, bits)[0], 1 << bits) - most
        if ((1 << UNIFORM_BITS) - 1) * slack > room:
            raise Refused("the noise must be nearer to normal for this guarantee")

    def _scores(self, key: object) -> list[int]:
        counts = self.question.counted(key)
        return [self.parts * held - late for held, late in zip(counts, self.delays, strict=True)]

    def draw(self, key: object) -> int:
        """Noise for each; a coin says the first or the last of the largest."""
        scores = self._scores(key)
        if bits_at_random(UNIFORM_BITS) == 0:
            return below(self.size)
        noisy = [score + self._noise() for score in scores]
        most = max(noisy)
        tied = [place for place, found in enumerate(noisy) if found == most]
        return tied[-bits_at_random(1)]  # 0 is the first, −1 the last

    def _noise(self) -> int:
        drawn = place_in((self.half[0], sum(self.half[1:]), sum(self.half[1:])))
        if drawn == 0:
            return 0
        far = 1 + place_in(self.half[1:])
        return far if drawn == 1 else -far

    def row(self, key: object) -> list[int]:
        """The row at some counts: a sum over what the highest score may have."""
        scores = self._scores(key)
        far = len(self.half) - 1
        chance = {z: self.half[abs(z)] for z in range(-far, far + 1)}
        upto, held = {}, 0
        for z in range(-far, far + 1):
            held += chance[z]
            upto[z] = held

        def least(z: int) -> int:
            return 0 if z < -far else upto[min(z, far)]

        shares = [0] * self.size
        for top in range(min(scores) - far, max(scores) + far + 1):
            below_it = [least(top - 1 - score) for score in scores]
            at_most = [least(top - score) for score in scores]
            for v, score in enumerate(scores):
                own = chance.get(top - score, 0)
                if own:
                    first, last = own, own
                    for i in range(self.size):
                        if i != v:
                            first *= below_it[i] if i < v else at_most[i]
                            last *= at_most[i] if i < v else below_it[i]
                    shares[v] += first + last
        alike = 2 << self.bits * self.size
        return [((1 << UNIFORM_BITS) - 1) * self.size * share + alike for share in shares]


def _must_be_within(square: Fraction, guarantee: Guarantee) -> None:
    """μ-Gaussian privacy is (ε,δ) if Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) ≤ δ."""
    if not 0 < guarantee.delta < 1:
        raise Refused("noisy counts must have a delta between 0 and 1")
    bits = 512
    mu_low, mu = root_between(square, bits)
    if mu_low <= 0:
        raise Refused("the noise must have some effect")
    if guarantee.epsilon is not None:
        epsilon = (guarantee.epsilon.numerator << bits) // guarantee.epsilon.denominator
    else:
        epsilon = max(0, log_between(guarantee.ratio, bits)[0])
    # the left side grows with μ and falls with ε: bounds of both on the worse side
    quotient = (epsilon << bits) // mu
    more = normal_between((mu >> 1) + 1 - quotient, bits)[1]
    less = normal_between(-(mu >> 1) - 2 - quotient - 1, bits)[0]
    least = exp_between(epsilon, bits)[0]
    found = more - (least * less >> bits)
    if found * guarantee.delta.denominator > guarantee.delta.numerator << bits:
        raise Refused("the noise of the counts must keep (ε,δ), but does not")


class Count:
    """The file of a count: symmetric noise, clamped to 0 … at_most."""

    own = ("noise",)

    def __init__(self, content: Mapping[str, object], question: Question, g: Guarantee) -> None:
        given = keys(content["noise"], "noise", "half", "tail", "end", "reach")
        self.half = weights(given["half"])
        self.tail, self.end, self.reach = (weight(given[at]) for at in ("tail", "end", "reach"))
        self.most = small(question.content["at_most"], "at_most", 1)
        change, far = question.limit, len(self.half) - 1
        longest = _LONGEST if g.kind in ("dp", "trade-off") else _LONGEST_CURVE
        if not 0 <= far <= longest or not self.half[0] or self.reach < self.most:
            raise Refused("noise must have weights and reach as far as the counts")
        if change > longest or self.reach <= far + change:
            raise Refused("the reach of noise must be beyond its weights and one change")
        falling = [*self.half, self.tail]
        if any(near < beyond for near, beyond in pairwise(falling)):
            raise Refused("the weights of noise must not grow with the distance from 0")
        # Z beside Z + change, both clamped to the widest window, stand for all counts
        places = range(-far, far + change + 1)
        crowd, between = change * self.tail, (self.reach - 1 - far - change) * self.tail
        inside = [self._weight(place) for place in places]
        moved = [self._weight(place - change) for place in places]
        one = [self.end + crowd, between, *inside, between, self.end]
        other = [self.end, between, *moved, between, self.end + crowd]
        g.must_be_close(one, other, f"noise moved by {change}")
        self.proved = f"{len(one)} weights beside themselves, moved by {change}"
        self.sums = list(accumulate(self.half[1:]))
        listed = self.sums[-1] if self.sums else 0
        self.side = listed + (self.reach - len(self.half)) * self.tail + self.end

    def _weight(self, place: int) -> int:
        place = abs(place)
        if place < len(self.half):
            return self.half[place]
        return self.tail if place < self.reach else self.end if place == self.reach else 0

    def chance(self, number: int) -> tuple[int, int]:
        """The weight of a number as noise, and the total."""
        return self._weight(number), self.half[0] + 2 * self.side

    def release(self, found: int) -> int:
        """The count with noise."""
        return min(max(found + self._draw(), 0), self.most)

    def _draw(self) -> int:
        drawn = below(self.half[0] + 2 * self.side) - self.half[0]
        if drawn < 0:
            return 0
        negative, drawn = divmod(drawn, self.side)
        listed = self.sums[-1] if self.sums else 0
        if drawn < listed:
            number = 1 + next(at for at, end in enumerate(self.sums) if drawn < end)
        elif drawn - listed < (self.reach - len(self.half)) * self.tail:
            number = len(self.half) + (drawn - listed) // self.tail
        else:
            number = self.reach
        return -number if negative else number
