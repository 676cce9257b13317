"""The groups that one question is asked in: the districts of a country, the wards of a hospital."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from rainbowdp.errors import InvalidQuestion
from rainbowdp.expecting import brief
from rainbowdp.questions.functions import ROUNDED, check_applied, checked_function
from rainbowdp.questions.groups import Equals, ValueGroup

MOST = 10_000  # groups of one question


@dataclass(frozen=True, init=False)
class By:
    """A column, perhaps a function of it, and the listed values that make a group each.

    >>> By("district", ["north", "south"]).groups
    (('north', Equals(value='north')), ('south', Equals(value='south')))
    """

    column: str | None
    names: tuple[str, ...]
    apply: str | None

    def __init__(self, column: str | None, groups: Iterable[str], apply: str | None = None) -> None:
        if column is not None and (not isinstance(column, str) or not column):
            raise InvalidQuestion(f"by must be the name of a column, got by={brief(column)}")
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "names", _checked(groups))
        object.__setattr__(self, "apply", checked_function(apply, column))
        if self.apply in ROUNDED:
            raise InvalidQuestion(
                f"groups are told by year, month, day, hour or lower of a column, got {self.apply}:"
                " make a column of the rounded numbers"
            )
        check_applied(self.apply, self.groups)

    @cached_property
    def groups(self) -> tuple[ValueGroup, ...]:
        """One for each name: the records whose value is that name."""
        return tuple((name, Equals(name)) for name in self.names)


def _checked(groups: Iterable[str]) -> tuple[str, ...]:
    """The names of the groups: different texts, none of them empty."""
    rule = "groups must be a list of different texts"
    if isinstance(groups, str) or not isinstance(groups, Iterable):
        raise InvalidQuestion(f"{rule}, got {brief(groups)}")
    listed = tuple(groups)
    if not listed:
        raise InvalidQuestion(f"{rule}, got none: list the groups to be asked about")
    if len(listed) > MOST:
        raise InvalidQuestion(
            f"a question is asked in at most {MOST:,} groups, got {len(listed):,}: ask for fewer"
        )
    seen: set[str] = set()
    for name in listed:
        if not isinstance(name, str) or not name:
            raise InvalidQuestion(f"{rule}, got {brief(name)} among them")
        if name in seen:
            raise InvalidQuestion(f"{rule}, got {brief(name)} twice: list it once")
        seen.add(name)
    return listed
