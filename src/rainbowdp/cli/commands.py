"""The commands, each loaded when it is called: ``rainbow --help`` waits for none of them.

A function here stands for its command in the list of commands, with the first sentence of the
command's own help, and returns the command itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import typer
from typer.main import get_command, get_group

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


def compare() -> Command:
    """Compare our mechanisms with what others use, before any data is seen."""
    from rainbowdp.cli.compare import compare

    return compare


def design() -> Command:
    """Design a private mechanism for a graph, and prove it."""
    from rainbowdp.cli.design import design

    return design


def reproduce() -> Command:
    """Print every number the paper states beside ours, and draw its figures."""
    from rainbowdp.cli.reproduce import reproduce

    return reproduce


def studio() -> Command:
    """See and tune mechanisms on a page in your browser."""
    from rainbowdp.cli.studio import studio

    return studio


COMMANDS: dict[str, Callable[[], Command]] = {
    command.__name__: command
    for command in (ask, plan, ledger, look, check, compare, design, reproduce, studio)
}


class Commands(Group):
    """The group of all commands."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that was called, loaded now, and the words after it."""
        name, found, rest = super().resolve_command(ctx, args)
        return name, found if name is None else self._loaded(name), rest

    def _loaded(self, name: str) -> Any:
        command = COMMANDS[name]()
        if isinstance(command, typer.Typer):
            return get_group(command)
        alone = typer.Typer(add_completion=False, rich_markup_mode=self.rich_markup_mode)
        alone.command()(command)
        return get_command(alone)
