"""Questions over tables: rules that give margins from counts, whatever the size of the table.

================  ======================================================
`Winner`          which listed answer has the most records
`Ranking`         which listed answers have the most records
`Threshold`       are there at least so many matching records
`Count`           how many matching records are there, with noise
`Share`           is at least such a share of the records matching ones
`ProportionTest`  do records match more often than p, beyond chance
`Keys`            which keys are there, when the list itself is private
`Quantile`        which listed bin holds the quantile
`Quantiles`       which listed bins hold several quantiles
`Custom`          a user's own margins, which `refute` tries to refute
`Grouped`         any of these in each of many groups of records
================  ======================================================
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from rainbowdp.questions.base import CountQuestion, Question
from rainbowdp.questions.count import Count
from rainbowdp.questions.custom import Custom
from rainbowdp.questions.grouped import Grouped
from rainbowdp.questions.groups import Between, Equals, Group
from rainbowdp.questions.keys import Keys
from rainbowdp.questions.proportion import ProportionTest
from rainbowdp.questions.quantile import Quantile
from rainbowdp.questions.quantiles import Quantiles
from rainbowdp.questions.ranking import Ranking
from rainbowdp.questions.refutation import Refutation, refute
from rainbowdp.questions.relations import Neighbors, PersonRule, one_of
from rainbowdp.questions.restoring import Restored, from_description, with_margins
from rainbowdp.questions.share import Share
from rainbowdp.questions.threshold import Threshold
from rainbowdp.questions.units import Unit, unit_of
from rainbowdp.questions.weights import Weight
from rainbowdp.questions.winner import Winner
from rainbowdp.questions.words import change_in_words, in_words

__all__ = [
    "Between",
    "Count",
    "Custom",
    "Equals",
    "Group",
    "Grouped",
    "Keys",
    "Neighbors",
    "PersonRule",
    "ProportionTest",
    "Quantile",
    "Quantiles",
    "Question",
    "Ranking",
    "Refutation",
    "Restored",
    "Share",
    "Threshold",
    "Unit",
    "Weight",
    "Winner",
    "change_in_words",
    "from_description",
    "in_words",
    "limited",
    "refute",
    "unit_of",
    "with_margins",
]

_Limited = TypeVar("_Limited", bound=CountQuestion | Custom)


def limited(
    question: _Limited,
    rows_per_person: int,
    person: str | None = None,
    person_rule: str = PersonRule.SAMPLE,
) -> _Limited:
    """The same question where one person may have several records: margins become ⌈λ/k⌉.

    With a ``person`` column, a random sample of so many records of each person is counted; without
    one the caller promises that nobody has more.

    >>> limited(Winner(["red", "green"]), 3).margins({"red": 20, "green": 5})
    {'red': 0, 'green': 3}
    """
    rule = one_of(PersonRule, person_rule, "person_rule")
    return replace(question, rows_per_person=rows_per_person, person=person, person_rule=rule)
