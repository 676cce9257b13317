"""A question of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rainbowdp.errors import InvalidQuestion
from rainbowdp.questions.base import (
    Between,
    Equals,
    Group,
    checked_answers,
    checked_column,
    checked_counts,
    whole,
)
from rainbowdp.questions.relations import Neighbors, one_of


@dataclass(frozen=True, init=False)
class Custom:
    """A question whose margins the user computes.

    ``function`` takes a dataset and gives a whole number for each answer: 0 at exactly one,
    the true answer, positive elsewhere, and changed by at most 1 by a change of one record (the
    exact distance is the best choice; privacy needs no more than this). *The caller must make
    sure of it*: a function that breaks it breaks the privacy of every answer. ``refute`` tries
    to find a counterexample.

    With ``groups`` (name and ``Equals`` or ``Between``) the dataset is a histogram like that of
    any other question; without, it is whatever ``function`` takes. ``name`` stands for the function
    in files and ledgers, so give another function another name.

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
    groups: tuple[Group, ...]
    person: str | None
    rows_per_person: int

    def __init__(
        self,
        answers: Iterable[str],
        function: Callable[[Any], Mapping[str, int]],
        *,
        neighbors: str,
        name: str,
        column: str | None = None,
        groups: Iterable[Group] = (),
        person: str | None = None,
        rows_per_person: int = 1,
    ) -> None:
        if not callable(function):
            raise InvalidQuestion(f"margins must come from a function, got {function!r}")
        if not isinstance(name, str) or not name:
            raise InvalidQuestion(f"a custom question needs a name, got name={name!r}")
        for key, value in {
            "answers": checked_answers(answers),
            "function": function,
            "neighbors": one_of(Neighbors, neighbors, "neighbors"),
            "name": name,
            "column": checked_column(column, "column"),
            "groups": _checked_groups(groups),
            "person": checked_column(person, "person"),
            "rows_per_person": whole(rows_per_person, "rows_per_person", 1),
        }.items():
            object.__setattr__(self, key, value)

    def margins(self, dataset: Any, /) -> dict[str, int]:
        """The function's margins, checked for shape and divided among a person's records."""
        if self.groups:
            dataset = checked_counts(dataset, [name for name, _ in self.groups])
        # The margins come from private data, so no message shows them.
        rule = f"the margins of {self.name!r} must be whole numbers from 0, one for each answer"
        found = self._returned(dataset)
        if not isinstance(found, Mapping) or set(found) != set(self.answers):
            raise InvalidQuestion(f"{rule}: its function returns something else")
        try:
            margins = {answer: whole(found[answer], "a margin", 0) for answer in self.answers}
        except InvalidQuestion:
            raise InvalidQuestion(f"{rule}: its function returns something else") from None
        if sum(margin == 0 for margin in margins.values()) != 1:
            raise InvalidQuestion(
                f"the margins of {self.name!r} must be 0 at exactly one answer, the true one"
            )
        return {answer: -(-m // self.rows_per_person) for answer, m in margins.items()}

    def _returned(self, dataset: Any) -> Any:
        """What the function makes of a dataset. Its errors may show the data, so they end here."""
        try:
            return self.function(dataset)
        except Exception as error:
            kind = type(error).__name__
        raise InvalidQuestion(
            f"the function of {self.name!r} raised {kind}. The rest of its message is left out, "
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
            "neighbors": str(self.neighbors),
            "person": self.person,
            "rows_per_person": self.rows_per_person,
        }


def _described(rule: Equals | Between) -> dict[str, Any]:
    if isinstance(rule, Equals):
        return {"equals": rule.value}
    return {"low": rule.low, "high": rule.high, "closed": rule.closed}


def _checked_groups(groups: Iterable[Group]) -> tuple[Group, ...]:
    """Named groups of one kind that share no record."""
    try:
        listed = tuple((name, rule) for name, rule in groups)
    except (TypeError, ValueError):
        raise InvalidQuestion(
            f"groups must be pairs of a name and a rule, got {groups!r}"
        ) from None
    for name, rule in listed:
        if not isinstance(name, str) or not isinstance(rule, Equals | Between):
            raise InvalidQuestion(
                f"a group must be a name and an Equals or a Between, got ({name!r}, {rule!r})"
            )
    names = [name for name, _ in listed]
    if twice := [name for i, name in enumerate(names) if name in names[:i]]:
        raise InvalidQuestion(f"groups must have different names, got {twice[0]!r} twice")
    if len({type(rule) for _, rule in listed}) > 1:
        raise InvalidQuestion("groups must be all Equals or all Between, got both")
    for i, (name, rule) in enumerate(listed):
        for other, another in listed[:i]:
            if _share(rule, another):
                raise InvalidQuestion(f"groups must share no record, got {other!r} and {name!r}")
    return listed


def _share(one: Equals | Between, other: Equals | Between) -> bool:
    """Whether a value can belong to both groups."""
    if isinstance(one, Equals) or isinstance(other, Equals):
        return one == other
    return not (_ends_before(one, other) or _ends_before(other, one))


def _ends_before(one: Between, other: Between) -> bool:
    if one.high is None or other.low is None:
        return False
    return one.high < other.low or (one.high == other.low and not one.closed)
