"""Questions with margins that the user computes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rainbowdp.errors import InvalidQuestion
from rainbowdp.expecting import brief, whole
from rainbowdp.questions.base import (
    checked_answers,
    checked_column,
    checked_counts,
    checked_person,
    checked_where,
)
from rainbowdp.questions.ends import described, kind_of, less
from rainbowdp.questions.functions import check_applied, checked_function
from rainbowdp.questions.groups import Between, Equals, ValueGroup
from rainbowdp.questions.relations import Neighbors, PersonRule, one_of
from rainbowdp.questions.showing import Shown


@dataclass(frozen=True, init=False)
class Custom(Shown):
    """A question whose margins you compute yourself.

    ``function`` takes a dataset and returns a whole number for each answer: 0 at exactly one, the
    true answer, and positive elsewhere. A change of one record must change each number by at most
    1. The exact distance is the best choice, but privacy only needs these rules. *You must make
    sure that they hold*: a function that breaks them breaks the privacy of every answer.
    ``rb.refute`` looks for a counterexample.

    Parameters
    ----------
    answers
        At least two different texts; ties go to the first listed.
    function
        Maps a dataset to {answer: margin}.
    neighbors
        What one change of the dataset is: ``"substituted"`` or ``"added or removed"``.
    name
        Stands for the function in files and ledgers, so give different functions different names.
    column
        The column with the values, if tables are to be counted.
    groups
        Pairs of a name and an ``Equals`` or a ``Between``. With groups the dataset is a histogram,
        as for any other question; without them it is whatever ``function`` takes.
    person
        The column that says whose record it is.
    rows_per_person
        How many records of one person count.
    person_rule
        Which of them: a random ``"sample"``, or ``"one vote"`` per person.
    where
        A condition that a record must meet to be counted: ``"age > 65 and ward = 'X'"``.
    apply
        A function of the column's values to ask about: year, month, day, hour, lower, floor, round.

    Raises
    ------
    InvalidQuestion
        If the answers, the groups or the name make no sense.

    Examples
    --------
    >>> def parity(counts):
    ...     odd = counts["big"] % 2
    ...     return {"even": odd, "odd": 1 - odd}
    >>> question = Custom(["even", "odd"], parity, neighbors="added or removed", name="parity",
    ...                   groups=[("big", Between(100, None))])
    >>> question.margins({"big": 7})
    {'even': 1, 'odd': 0}

    """

    answers: tuple[str, ...]
    function: Callable[[Any], Mapping[str, int]] = field(compare=False, repr=False)
    neighbors: Neighbors
    name: str
    column: str | None
    groups: tuple[ValueGroup, ...]
    person: str | None
    rows_per_person: int
    person_rule: PersonRule
    where: str | None
    apply: str | None

    def __init__(
        self,
        answers: Iterable[str],
        function: Callable[[Any], Mapping[str, int]],
        *,
        neighbors: str,
        name: str,
        column: str | None = None,
        groups: Iterable[ValueGroup] = (),
        person: str | None = None,
        rows_per_person: int = 1,
        person_rule: str = PersonRule.SAMPLE,
        where: str | None = None,
        apply: str | None = None,
    ) -> None:
        if not callable(function):
            raise InvalidQuestion(
                f"function must be a function of a dataset, got {brief(function)}"
            )
        if not isinstance(name, str) or not name:
            raise InvalidQuestion(
                f"name must be a text that stands for the function, got name={brief(name)}"
            )
        for key, value in {
            "answers": checked_answers(answers),
            "function": function,
            "neighbors": one_of(Neighbors, neighbors, "neighbors"),
            "name": name,
            "column": checked_column(column, "column"),
            "groups": _checked_groups(groups),
            "where": checked_where(where, column),
            "apply": checked_function(apply, column),
            **checked_person(person, rows_per_person, person_rule),
        }.items():
            object.__setattr__(self, key, value)
        check_applied(self.apply, self.groups)

    @property
    def by(self) -> None:
        """All records are counted together."""
        return None

    @property
    def weight(self) -> None:
        """Each record counts as one."""
        return None

    @property
    def limit(self) -> int:
        """By how much one change may move the counts."""
        return self.rows_per_person

    def margins(self, dataset: Any, /) -> dict[str, int]:
        """The function's margins, checked, and divided by the number of records of a person.

        Parameters
        ----------
        dataset
            The counts by group, or whatever the function takes.

        Returns
        -------
        dict of str to int
            The margin of each answer.

        Raises
        ------
        InvalidQuestion
            If the function returns anything but one whole number for each answer, with a single 0.

        """
        if self.groups:
            dataset = checked_counts(dataset, [name for name, _ in self.groups])
        # The margins come from private data, so no message shows them.
        wrong = (
            f"the function of {self.name!r} must return a whole number from 0 for each answer, "
            "and returned something else"
        )
        found = self._returned(dataset)
        if not isinstance(found, Mapping) or set(found) != set(self.answers):
            raise InvalidQuestion(wrong)
        try:
            margins = {answer: whole(found[answer], "a margin", 0) for answer in self.answers}
        except InvalidQuestion:
            raise InvalidQuestion(wrong) from None
        if sum(margin == 0 for margin in margins.values()) != 1:
            raise InvalidQuestion(
                f"the function of {brief(self.name)} must return 0 for exactly one answer, the "
                "true one"
            )
        return {answer: -(-m // self.rows_per_person) for answer, m in margins.items()}

    def _returned(self, dataset: Any) -> Any:
        """What the function makes of a dataset. Its errors may show the data, so they end here."""
        try:
            return self.function(dataset)
        except Exception as error:
            kind = type(error).__name__
        raise InvalidQuestion(
            f"the function of {brief(self.name)} raised {kind}. The rest of its message is left "
            "out, "
            "because it may show private values; try it on a made-up dataset."
        )

    def describe(self) -> dict[str, Any]:
        """Everything but the function, which the name stands for; ready for JSON."""
        return {
            "kind": "custom",
            "name": self.name,
            "groups": [[name, _described(rule)] for name, rule in self.groups],
            "answers": list(self.answers),
            "column": self.column,
            "apply": self.apply,
            "where": self.where,
            "neighbors": str(self.neighbors),
            "person": self.person,
            "rows_per_person": self.rows_per_person,
            "person_rule": str(self.person_rule),
        }


def _described(rule: Equals | Between) -> dict[str, Any]:
    if isinstance(rule, Equals):
        return {"equals": rule.value}
    return {"low": described(rule.low), "high": described(rule.high), "closed": rule.closed}


def _checked_groups(groups: Iterable[ValueGroup]) -> tuple[ValueGroup, ...]:
    """Named groups of one kind, no two of which share a record."""
    try:
        listed = tuple((name, rule) for name, rule in groups)
    except (TypeError, ValueError):
        raise InvalidQuestion(
            f"groups must be pairs of a name and an Equals or a Between, got {brief(groups)}"
        ) from None
    for name, rule in listed:
        if not isinstance(name, str) or not isinstance(rule, Equals | Between):
            raise InvalidQuestion(
                f"a group must be a name and an Equals or a Between, got ({brief(name)}, "
                f"{brief(rule)})"
            )
    names = [name for name, _ in listed]
    if twice := [name for i, name in enumerate(names) if name in names[:i]]:
        raise InvalidQuestion(f"groups must have different names, got {brief(twice[0])} twice")
    if len({type(rule) for _, rule in listed}) > 1:
        raise InvalidQuestion("groups must be all Equals or all Between, got both")
    ranges = [rule for _, rule in listed if isinstance(rule, Between)]
    kind_of(*(end for rule in ranges for end in (rule.low, rule.high)))
    for i, (name, rule) in enumerate(listed):
        for other, another in listed[:i]:
            if _share(rule, another):
                raise InvalidQuestion(
                    f"the groups {brief(other)} and {brief(name)} overlap; no record may belong "
                    "to two groups"
                )
    return listed


def _share(one: Equals | Between, other: Equals | Between) -> bool:
    """Whether a value can belong to both groups."""
    if isinstance(one, Equals) or isinstance(other, Equals):
        return one == other
    return not (_ends_before(one, other) or _ends_before(other, one))


def _ends_before(one: Between, other: Between) -> bool:
    if one.high is None or other.low is None:
        return False
    return less(one.high, other.low) or (one.high == other.low and not one.closed)
