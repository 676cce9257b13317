"""Help that fits a screen: options that few people need are named, and explained if asked for."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any

import typer

EVERY = "--help-all"


def fold(command: Any, rare: Iterable[str]) -> None:
    """Leave the options called ``rare`` out of the help of ``command``; ``--help-all`` has them."""
    names = set(rare)
    folded = [param for param in command.params if param.name in names and not param.hidden]
    told = command.get_help_option(typer.Context(command))
    if not folded or told is None:
        return
    in_full, epilog = command.format_help, command.epilog

    def in_brief(context: Any, formatter: Any) -> None:
        flags = ", ".join(f"`{max(param.opts, key=len)}`" for param in folded)
        hint = f"For more: `{context.command_path} {EVERY}` explains {flags}, too."
        command.epilog = f"{epilog}\n\n{hint}" if epilog else hint
        for param in folded:
            param.hidden = True
        try:
            in_full(context, formatter)
        finally:
            command.epilog = epilog
            for param in folded:
                param.hidden = False

    def explain(context: Any, param: Any, wanted: bool) -> None:
        if wanted and not context.resilient_parsing:
            formatter = context.make_formatter()
            in_full(context, formatter)  # which prints, or writes into the formatter
            typer.echo(formatter.getvalue().rstrip("\n"), color=context.color)
            context.exit()

    option = copy(told)
    option.name, option.opts, option.callback = "help_all", [EVERY], explain
    option.help = "Show this message with all options."
    command.params.append(option)
    command.format_help = in_brief
