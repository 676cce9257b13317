"""What the commands share: guarantees, errors in one line, facts for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from rainbowdp.errors import RainbowError
from rainbowdp.guarantees.dp import DP, Guarantee
from rainbowdp.guarantees.gaussian import GaussianDP

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


class Group(TyperGroup):
    """Commands whose errors are one sentence on standard error and exit code 2."""

    def get_help_option(self, ctx: Any) -> Any:
        """The flag, false unless given: for a value that is none Typer loads Pydantic first."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.default = False
        return option

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an error of ours is a message, not a traceback."""
        try:
            return super().invoke(ctx)
        except RainbowError as error:
            typer.echo(f"rainbow: {error}", err=True)
            raise typer.Exit(2) from None


def guarantee_from(epsilon: str | None, delta: str, mu: str | None) -> Guarantee:
    """The guarantee that the options ask for."""
    if epsilon is not None and mu is not None:
        raise RainbowError("a guarantee needs either --epsilon or --mu, got both")
    if epsilon is not None:
        return DP(epsilon, delta)
    if mu is None:
        raise RainbowError("a guarantee needs either --epsilon or --mu, got none")
    if delta != "0":
        raise RainbowError(f"--delta goes with --epsilon, got --mu {mu} with --delta {delta}")
    return GaussianDP(mu)


def print_json(content: Any) -> None:
    """One JSON value on standard output."""
    typer.echo(json.dumps(content, indent=2, ensure_ascii=False))


def print_facts(facts: Mapping[str, str]) -> None:
    """A line for each fact, names aligned."""
    width = max(len(name) for name in facts)
    for name, value in facts.items():
        typer.echo(f"{name:<{width}}  {value}")


@contextmanager
def working(what: str) -> Iterator[None]:
    """Say on a terminal what is being done, while it is."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[float], None] | None]:
    """A progress bar on standard error while something is read; none where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=1.0)
        yield lambda share: bar.update(task, completed=share)
