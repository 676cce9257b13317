"""The mechanisms that a command of ``rainbow ask`` may choose among."""

from __future__ import annotations

from typing import Any

import typer

from rainbowdp.questions import Quantile, Quantiles, Question, Ranking, Share, Threshold, Winner
from rainbowdp.rules import FAMILIES

KINDS = ("best", *(family.kind for family in FAMILIES))
_EXAMPLES: dict[str, tuple[Question, ...]] = {  # by which the kinds are told that may apply
    "winner": (Winner(list("abc")), Winner(list("abcdefgh"))),
    "ranking": (Ranking(list("abc"), first=2), Ranking(list("abc"), first=2, in_order=False)),
    "share": (Share("1/2"),),
    "threshold": (Threshold(1),),
    "quantile": (Quantile("1/2", [0, 1, 2, 3]),),
    "quantiles": (Quantiles(["1/4", "3/4"], [0, 1, 2, 3]),),
}


def _kinds(command: str) -> tuple[str, ...]:
    """The kinds of mechanisms that may answer such a question; best is one of them."""
    examples = _EXAMPLES.get(command, ())
    fit = [family.kind for family in FAMILIES if any(map(family.suits, examples))]
    return ("best", *fit)


def _known_kind(value: str) -> str:
    if value not in KINDS:
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(KINDS)}.")
    return value


def kind_option(command: str) -> Any:
    """``--mechanism`` of a command: it lists those that may apply, and hides where one is all."""
    kinds = _kinds(command)
    return typer.Option(
        "--mechanism",
        callback=_known_kind,
        autocompletion=lambda: list(kinds),
        metavar="KIND",
        help=f"Choose the mechanism yourself: {', '.join(kinds)}.",
        hidden=command not in _EXAMPLES,
    )


def records_option(command: str) -> Any:
    """``--records`` of a command, which hides where there is nothing to choose."""
    return typer.Option(
        help="About how many rows there are, if that is public: the mechanism is chosen for that "
        "size.",
        hidden=command not in _EXAMPLES,
    )
