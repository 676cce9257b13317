"""Options that are one of a few words, which a shell can complete.

The words have spaces in them, which a shell would have to quote; so on the command line hyphens do
as well: ``added-or-removed`` is 'added or removed'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import typer

from rainbowdp.questions.relations import Neighbors, PersonRule, Ties

CHANGES = "What one change is: substituted, or added-or-removed."


def chosen(words: Iterable[str], help_: str, *flags: str, hidden: bool = False) -> Any:
    """An option that is one of ``words``, given with spaces or hyphens."""
    known = tuple(words)
    return typer.Option(
        *flags,
        help=help_,
        metavar="WORD",
        hidden=hidden,
        callback=_spoken(known),
        autocompletion=lambda: [word.replace(" ", "-") for word in known],
    )


def neighbors(help_: str = CHANGES) -> Any:
    """What one change is."""
    return chosen(Neighbors, help_)


def ties() -> Any:
    """Who is right in a tie."""
    return chosen(Ties, "Who is right in a tie: the first-listed, or any-leader.")


def person_rule() -> Any:
    """Which rows of a person count."""
    return chosen(
        PersonRule, "Which of them: a random sample, which is the default, or one-vote per person."
    )


def _spoken(words: tuple[str, ...]) -> Callable[[str | None], str | None]:
    """A word with its spaces; any other text is left for the question to refuse."""

    def spoken(value: str | None) -> str | None:
        plain = None if value is None else value.replace("-", " ")
        return plain if plain in words else value

    return spoken
