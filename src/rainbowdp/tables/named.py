"""The name of a table in a database, and what is said when it cannot be counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from rainbowdp.errors import UnreadableTable
from rainbowdp.storage.sql import quoted

_Found = TypeVar("_Found")


@dataclass(frozen=True)
class NamedTable:
    """A table or view, perhaps in a schema.

    >>> NamedTable("votes", "town").quoted()
    '"town"."votes"'
    >>> NamedTable("votes")
    'votes'
    """

    table: str
    schema: str | None = None

    def __repr__(self) -> str:
        return repr(".".join(part for part in (self.schema, self.table) if part is not None))

    def quoted(self) -> str:
        """The name in SQL."""
        parts = (part for part in (self.schema, self.table) if part is not None)
        return ".".join(quoted(part, '"') for part in parts)


def shielded(
    work: Callable[[], _Found],
    errors: type[Exception] | tuple[type[Exception], ...],
    refusal: Callable[[Exception], UnreadableTable],
) -> _Found:
    """Do the work; where it fails, raise another error that does not remember the first.

    An engine's own error may show rows, statements and passwords, so not even the context of ours
    may hold it.
    """
    try:
        return work()
    except errors as error:
        instead = refusal(error)
    raise instead
