"""The commands, each loaded when it is called: ``rainbow --help`` waits for none of them.

A function here stands for its command in the list of commands, with the first sentence of the
command's own help, and returns the command itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import typer
from typer.main import get_command, get_group

from rainbowdp.cli.arranging import arranged, without_types
from rainbowdp.cli.running import Group

Command: TypeAlias = typer.Typer | Callable[..., None]


def ask() -> Command:
    """Ask a table one question and get one private answer, paid for in a ledger."""
    from rainbowdp.cli.ask import asking

    return asking


def plan() -> Command:
    """Plan many questions before any is paid: which currency, what each gets and what it buys."""
    from rainbowdp.cli.plan import plan

    return plan


def ledger() -> Command:
    """The durable record of what privacy has been spent."""
    from rainbowdp.cli.ledger import ledgers

    return ledgers


def look() -> Command:
    """Look at a table before you pay: exact and private, for the curator's eyes only."""
    from rainbowdp.cli.look import look

    return look


def check() -> Command:
    """Prove a mechanism file again, from its integers alone."""
    from rainbowdp.cli.check import check

    return check


def audit() -> Command:
    """Find out what any finite mechanism really keeps, over all neighbors."""
    from rainbowdp.cli.audit import audit

    return audit


def compare() -> Command:
    """Compare our mechanisms with what others use, before any data is seen."""
    from rainbowdp.cli.compare import compare

    return compare


def design() -> Command:
    """Design a private mechanism for a graph, and prove it."""
    from rainbowdp.cli.design import design

    return design


def reproduce() -> Command:
    """Print every number in the paper next to ours, and draw its figures."""
    from rainbowdp.cli.reproduce import reproduce

    return reproduce


def studio() -> Command:
    """Understand, try and tune private answers in your browser."""
    from rainbowdp.cli.studio import studio

    return studio


def serve() -> Command:
    """Answer questions over HTTP, for people who never hold the data."""
    from rainbowdp.cli.serve import serve

    return serve


def schema() -> Command:
    """Print the JSON Schema of questions, guarantees, answers and mechanism files."""
    from rainbowdp.cli.schema import schema

    return schema


def service() -> Command:
    """The people of a service: tokens, limits, and questions that wait for approval."""
    from rainbowdp.cli.service import services

    return services


COMMANDS: dict[str, Callable[[], Command]] = {
    command.__name__: command
    for command in (
        ask,
        ledger,
        look,
        plan,
        compare,
        design,
        check,
        audit,
        studio,
        reproduce,
        serve,
        service,
        schema,
    )
}
PANELS = {
    "Ask a table": ("ask", "ledger", "look", "plan"),
    "Let others ask": ("serve", "service", "schema"),
}
OTHERS = "Make, see and judge mechanisms"  # the panel of all other commands


def panel_of(name: str) -> str:
    """Under which heading ``rainbow --help`` lists a command."""
    return next((panel for panel, names in PANELS.items() if name in names), OTHERS)


class Commands(Group):
    """The group of all commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options of ``rainbow`` itself."""
        params = without_types(super().get_params(ctx))
        for param in params:  # for a value that is none Typer loads Pydantic first
            if param.default is None and getattr(param, "is_flag", False):
                param.default = False
        return params

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that was called, loaded now, and the words after it."""
        name, found, rest = super().resolve_command(ctx, args)
        return name, found if name is None else loaded(name, self.rich_markup_mode), rest


@cache
def loaded(name: str, markup: Any) -> Any:
    """A command as it is run, made once in a process that calls many."""
    command = COMMANDS[name]()
    if isinstance(command, typer.Typer):
        return arranged(get_group(command), name)
    alone = typer.Typer(add_completion=False, rich_markup_mode=markup)
    alone.command()(command)
    return arranged(get_command(alone), name)
