"""How far answers are from the truth: how often wrong, and for ordered answers how far off.

An answer that is not the true one is as many *records* off as must change before it is: its margin
(with several rows a person, so many people). A quantile's answer is also some *bins* off; of
several quantiles the one that is farthest off counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement

import numpy as np

from rainbowdp.aliases import Floats, Integers
from rainbowdp.questions import Quantile, Quantiles, Question, Winner
from rainbowdp.questions.relations import Ties


@dataclass(frozen=True)
class Off:
    """How far off the rows of some datasets are, one number for each dataset.

    Parameters
    ----------
    wrong
        The chance of a wrong answer.
    records
        The expected distance in records: the margin of what is answered.
    bins
        The expected distance in bins; none where answers are not bins.
    beyond
        The chance of being more than one bin off; none where answers are not bins.

    """

    wrong: Floats
    records: Floats
    bins: Floats | None
    beyond: Floats | None


@dataclass(frozen=True)
class MeanOff:
    """The means of ``Off`` over some datasets."""

    wrong: float
    records: float
    bins: float | None
    beyond: float | None

    @classmethod
    def over(cls, off: Off) -> MeanOff:
        """Every dataset counted once."""
        bins = None if off.bins is None else float(off.bins.mean())
        beyond = None if off.beyond is None else float(off.beyond.mean())
        return cls(float(off.wrong.mean()), float(off.records.mean()), bins, beyond)


def is_ordered(question: Question) -> bool:
    """Whether the answers are bins in order, three or more: near misses are better than far ones.

    >>> is_ordered(Quantile("1/2", [0, 10, 20, 50])), is_ordered(Quantile("1/2", [0, 10, 20]))
    (True, False)
    """
    return isinstance(question, Quantile | Quantiles) and len(question.bins) > 2


def off_by(question: Question, rows: Floats, counts: Integers, margins: Floats) -> Off:
    """How far off the ``rows`` are on the datasets of these counts and margins, row by row."""
    if isinstance(question, Winner) and question.ties == Ties.ANY_LEADER:
        right = counts == counts.max(axis=1, keepdims=True)
    else:
        right = margins == 0
    wrong = 1.0 - (rows * right).sum(axis=1)
    records: Floats = np.where(right, 0.0, rows * margins).sum(axis=1)
    if not is_ordered(question):
        return Off(wrong, records, None, None)
    away = _bins_away(question, margins.argmin(axis=1))
    return Off(wrong, records, (rows * away).sum(axis=1), (rows * (away > 1)).sum(axis=1))


def _bins_away(question: Question, true: Integers) -> Integers:
    """By how many bins each answer is off, where the answer at ``true`` is the true one."""
    assert isinstance(question, Quantile | Quantiles)
    quantiles = len(question.qs) if isinstance(question, Quantiles) else 1
    away = np.zeros((len(true), len(question.answers)), dtype=np.int64)
    for places in _places(len(question.bins), quantiles):
        np.maximum(away, np.abs(places - places[true][:, None]), out=away)
    return away


@lru_cache(maxsize=16)
def _places(bins: int, quantiles: int) -> Integers:
    """For each quantile the bin that an answer has for it, by the answers' own order."""
    every = combinations_with_replacement(range(bins), quantiles)
    return np.array(list(every), dtype=np.int64).T
