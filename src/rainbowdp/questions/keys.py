"""Which keys are there, when the list itself is private?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, SupportsIndex

from rainbowdp.errors import InvalidQuestion
from rainbowdp.expecting import whole
from rainbowdp.questions.base import checked_column, checked_counts, checked_where
from rainbowdp.questions.functions import ROUNDED, checked_function
from rainbowdp.questions.groups import Group, OtherValue
from rainbowdp.questions.relations import Neighbors, PersonRule, one_of
from rainbowdp.questions.showing import Shown


@dataclass(frozen=True, init=False)
class Keys(Shown):
    """Which keys are there? Names of products, towns or diagnoses that nobody listed beforehand.

    A key that only one person has must not give that person away, so the chance that a key is
    named grows with the number of people who have it. A person counts once for each key, and for
    at most ``keys_per_person`` keys. Without a column you give the number of people for each key,
    ``{"flu": 1000, "rare": 1}``, and must keep that limit yourself.

    Parameters
    ----------
    column
        The column that holds the keys (texts, whole numbers or dates); None if you give the numbers
        of people.
    keys_per_person
        L: for how many keys one person counts at most, chosen at random from that person's. Without
        a ``person`` column you promise that nobody has more rows.
    neighbors
        What one change is: ``"added or removed"`` or ``"substituted"``. A person who is substituted
        leaves up to L keys and enters up to L others.
    person
        The column that says whose record it is.
    where
        A condition that a record must meet to be counted: ``"age > 65 and ward = 'X'"``.
    apply
        A function of the column's values that makes the key: year, month, day, hour, lower.

    Raises
    ------
    InvalidQuestion
        If a number makes no sense.

    Examples
    --------
    >>> Keys("diagnosis", keys_per_person=2).changes, Keys(neighbors="substituted").changes
    (2, 2)

    """

    column: str | None
    keys_per_person: int
    neighbors: Neighbors
    person: str | None
    where: str | None
    apply: str | None

    def __init__(
        self,
        column: str | None = None,
        *,
        keys_per_person: int = 1,
        neighbors: str = Neighbors.ADDED_OR_REMOVED,
        person: str | None = None,
        where: str | None = None,
        apply: str | None = None,
    ) -> None:
        function = checked_function(apply, column)
        if function in ROUNDED:
            raise InvalidQuestion(
                f"keys are told by year, month, day, hour or lower of a column, got {function}: "
                "make a column of the rounded numbers"
            )
        fields = {
            "column": checked_column(column, "column"),
            "keys_per_person": whole(keys_per_person, "keys_per_person", 1),
            "neighbors": one_of(Neighbors, neighbors, "neighbors"),
            "person": checked_column(person, "person"),
            "where": checked_where(where, column),
            "apply": function,
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def changes(self) -> int:
        """How many keys one change moves by one person."""
        twice = self.neighbors == Neighbors.SUBSTITUTED
        return 2 * self.keys_per_person if twice else self.keys_per_person

    @property
    def groups(self) -> tuple[Group, ...]:
        """One group: the records that have a key."""
        return (("keys", OtherValue()),)

    @property
    def by(self) -> None:
        """All records are counted together."""
        return None

    @property
    def weight(self) -> None:
        """Each person counts as one."""
        return None

    @property
    def rows_per_person(self) -> int:
        """How many records one person may have, as you promise; with a column any number."""
        return self.keys_per_person if self.person is None else 1

    @property
    def person_rule(self) -> PersonRule:
        """A random choice of each person's keys."""
        return PersonRule.SAMPLE

    def found(self, people: Mapping[str, SupportsIndex], /) -> dict[str, int]:
        """The number of people of each key, checked.

        Parameters
        ----------
        people
            Key by key, a whole number.

        Returns
        -------
        dict of str to int
            The same numbers.

        Raises
        ------
        InvalidQuestion
            If it is no such mapping; the message shows no key.

        """
        if not isinstance(people, Mapping) or not all(isinstance(key, str) for key in people):
            raise InvalidQuestion(
                "keys must be texts, each with its number of people: give {'red': 10, 'green': 7}"
            )
        try:
            return checked_counts(people, list(people))
        except InvalidQuestion:
            pass
        raise InvalidQuestion(
            "the people of a key must be a whole number of at least 0, got something else"
        )

    def describe(self) -> dict[str, Any]:
        """Everything that makes the question, ready for JSON; the same for equal questions.

        Returns
        -------
        dict
            The question's kind and parameters.

        """
        return {
            "kind": "keys",
            "column": self.column,
            "keys_per_person": self.keys_per_person,
            "neighbors": str(self.neighbors),
            "person": self.person,
            "where": self.where,
            "apply": self.apply,
        }
