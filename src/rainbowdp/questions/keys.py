"""Which keys are there, when the list itself is private?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, SupportsIndex

from rainbowdp.errors import InvalidQuestion
from rainbowdp.questions.base import checked_column, checked_counts, whole
from rainbowdp.questions.relations import Neighbors, one_of


@dataclass(frozen=True, init=False)
class Keys:
    """Which keys are there: names of products, towns or diagnoses that nobody listed beforehand.

    A key that one person alone brought must not be named, so each is named with a chance that
    grows with the number of its people. A person counts once in each key, and in no more than
    ``keys_per_person`` of them. You give the number of people of each key, and keep that limit.

    Parameters
    ----------
    column
        The column that holds the keys, for the record; None if there is none.
    keys_per_person
        L: how many keys one person counts in at most.
    neighbors
        What one change is: ``"added or removed"`` or ``"substituted"``. A person who is substituted
        leaves up to L keys and enters up to L others.
    person
        The column that says whose record it is, for the record.

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

    def __init__(
        self,
        column: str | None = None,
        *,
        keys_per_person: int = 1,
        neighbors: str = Neighbors.ADDED_OR_REMOVED,
        person: str | None = None,
    ) -> None:
        fields = {
            "column": checked_column(column, "column"),
            "keys_per_person": whole(keys_per_person, "keys_per_person", 1),
            "neighbors": one_of(Neighbors, neighbors, "neighbors"),
            "person": checked_column(person, "person"),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def changes(self) -> int:
        """How many keys one change moves by one person."""
        twice = self.neighbors == Neighbors.SUBSTITUTED
        return 2 * self.keys_per_person if twice else self.keys_per_person

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
        }
