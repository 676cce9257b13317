"""How help is laid out: options in panels, examples first, flags without a type, rare ones folded.

A command says what its options do; here is where each of them is shown. So one list has the panels
of all commands, and what is not in it stays in Typer's own panel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import typer

from rainbowdp.cli.folding import fold

QUESTION, PRIVACY, BUDGET = "Question", "Privacy", "Budget"
MECHANISM, SERVICE, OUTPUT = "Mechanism", "Asking a service instead", "Output"
ABOUT, GRAPH, GOAL = "About the ledger", "Graph", "Goal"

_PRIVACY = ("epsilon", "delta", "mu", "rho", "neighbors")
_WANTED = ("sure", "margin", "currency")
_PERSON = ("person", "rows_per_person", "person_rule")
_SERVICE = ("service", "token_file", "dataset")
_PAYING = ("ledger", "no_ledger", "name", "declared")
_ASKED = ("where", "by", "groups", "groups_are_public", "weight", "weight_limit", "weight_places")
_OWN = (
    "column", "among", "other", "missing", "ties", "first", "as_set", "at_least", "equals",
    "minimum", "maximum", "at_most", "above", "sample_size", "alpha", "keys_per_person", "bins",
    "q", "closed_ends", "answers",
)  # fmt: skip

PANELS: Mapping[str, Mapping[str, Iterable[str]]] = {
    "ask": {
        QUESTION: (*_OWN, *_ASKED, "sql_table"),
        PRIVACY: (*_PRIVACY, *_WANTED, *_PERSON),
        BUDGET: _PAYING,
        MECHANISM: ("kind", "records"),
        SERVICE: _SERVICE,
        OUTPUT: ("explain",),
    },
    "ledger": {
        BUDGET: ("epsilon", "delta", "mu", "rho", "spend_in", "delta_apart"),
        PRIVACY: ("dataset", "neighbors", "person", "rows_per_person"),
        ABOUT: ("title", "purpose", "contact", "predecessor", "witness", "by"),
    },
    "plan": {
        PRIVACY: _PRIVACY,
        BUDGET: (*_PAYING, "currency"),
        SERVICE: _SERVICE,
        OUTPUT: ("run",),
        QUESTION: ("sql_table",),
    },
    "look": {QUESTION: (*_OWN, *_PERSON, "where", "sql_table")},
    "compare": {
        QUESTION: (*_OWN, "records", "rows_per_person"),
        PRIVACY: _PRIVACY,
    },
    "design": {
        GRAPH: (
            *("sites", "labels", "rainbows", "columns", "weight", "weighted", "hops"),
            *("unit", "lengths_in", "coordinates"),
        ),
        PRIVACY: ("epsilon", "delta", "mu", "epsilon_per_km", "mu_per_km"),
        GOAL: ("loss", "weights", "forbid", "ties"),
        MECHANISM: ("kind", "boundary"),
        OUTPUT: ("out", "tiles", "sqlite"),
    },
}
# What few people need: named at the end of the help, and explained by --help-all.
RARE: Mapping[str, Iterable[str]] = {
    "ask": (
        *("other", "missing", "by", "groups", "groups_are_public", "sql_table"),
        *("weight", "weight_limit", "weight_places", "mu", "rho", "currency", "person_rule"),
        *("declared", "kind", "records", *_SERVICE),
        *("delimiter", "encoding", "decimal", "header", "trusted", "format_"),
    ),
}
_ORDER = (
    QUESTION,
    GRAPH,
    PRIVACY,
    GOAL,
    BUDGET,
    MECHANISM,
    ABOUT,
    SERVICE,
)  # then others, and output last


def arranged(command: Any, top: str) -> Any:
    """The same command, its help laid out, and that of all commands below it.

    ``top`` names the command in the list of all.
    """
    panels = {name: panel for panel, names in PANELS.get(top, {}).items() for name in names}
    panels |= {"as_json": OUTPUT, "help": OUTPUT}
    for each in [command, *getattr(command, "commands", {}).values()]:
        _arrange(each, panels)
        fold(each, RARE.get(top, ()))
    return command


def without_types(params: Iterable[Any]) -> list[Any]:
    """The same options and arguments, flags without a type: they take no value."""
    listed = list(params)
    for param in listed:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return listed


def _arrange(command: Any, panels: Mapping[str, str]) -> None:
    command.help = _examples_first(command.help)
    options = [param for param in command.params if param.param_type_name == "option"]
    told = command.get_help_option(typer.Context(command))  # the command keeps it
    if len(options) > 1:  # one alone needs no panel, nor does the help beside it
        for option in filter(None, [*options, told]):
            option.rich_help_panel = getattr(option, "rich_help_panel", None) or panels.get(
                option.name
            )
        command.params.sort(key=_place)
    without_types(filter(None, [*options, told]))


def _place(param: Any) -> int:
    """Arguments, then panels in their order; options keep theirs within a panel."""
    panel = getattr(param, "rich_help_panel", None)
    if param.param_type_name == "argument":
        return -1
    if panel == OUTPUT:
        return len(_ORDER) + 1
    return _ORDER.index(panel) if panel in _ORDER else len(_ORDER)


def _examples_first(text: str | None) -> str | None:
    """The examples directly below the first paragraph, as most people read no further."""
    if text is None:
        return None
    first, *rest = text.strip().split("\n\n")
    examples = [part for part in rest if part.lstrip().startswith("Example")]
    return "\n\n".join([first, *examples, *(part for part in rest if part not in examples)])
