"""The command ``rainbow``."""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
from io import TextIOWrapper
from typing import Annotated

import typer

from rainbowdp.cli import interrupts
from rainbowdp.cli.commands import COMMANDS, Commands, panel_of
from rainbowdp.cli.running import CODES, EXIT_CODES, ending_of, tell

app = typer.Typer(
    name="rainbow",
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    epilog=EXIT_CODES,
)
for name, command in COMMANDS.items():
    app.command(rich_help_panel=panel_of(name))(command)


def _version(wanted: bool) -> None:
    if wanted:
        from rainbowdp import __version__

        typer.echo(f"rainbow {__version__}")
        raise typer.Exit


@app.callback()
def rainbow(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Ask private data a question and publish one answer, under differential privacy.

    Begin with a budget, see how sure an answer would be, then ask:

    * `rainbow ledger create budget.db --dataset my-survey --epsilon 3`
    * `rainbow ask winner votes.csv --column choice --among red,green,blue --epsilon 1 --explain`
    * `rainbow ask winner votes.csv --column choice --among red,green,blue --epsilon 1
      --ledger budget.db`

    Every command has examples of its own: `rainbow ask quantile --help`.
    """


def main() -> None:
    """Run the command."""
    interrupts.watch()
    _no_tracebacks()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # ε on a terminal that cannot show it
            stream.reconfigure(errors="replace")
    code: int | str | None = 0
    try:
        app(prog_name="rainbow")
    except SystemExit as ended:
        code = ended.code
    except KeyboardInterrupt as error:  # before or after the command itself
        ending = ending_of(error)
        code = ending.code
        tell(ending, "--json" in sys.argv)
    interrupts.let_go()
    if isinstance(code, int) and code in (CODES["interrupted"], CODES["terminated"]):
        atexit._run_exitfuncs()
        os._exit(code)  # a solver may still be busy, and would crash on the way out
    sys.exit(code)


def _no_tracebacks() -> None:
    """Python prints some errors that nobody can catch, and log lines that nobody asked for."""
    logging.lastResort = None
    sys.unraisablehook = lambda _: None
    threading.excepthook = lambda _: None
