"""What the commands share: guarantees, facts for people, JSON for programs, progress."""

from __future__ import annotations

import errno
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from rainbowdp.cli.running import Group
from rainbowdp.errors import RainbowError
from rainbowdp.guarantees.descriptions import warning_about
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated

__all__ = [
    "AsJson",
    "Group",
    "guarantee_from",
    "must_be_open",
    "print_facts",
    "print_json",
    "print_rows",
    "progress_bar",
    "warn",
    "working",
]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def guarantee_from(
    epsilon: str | None, delta: str, mu: str | None, rho: str | None = None
) -> Guarantee:
    """The guarantee that the options ask for."""
    options = {"--epsilon": epsilon, "--mu": mu, "--rho": rho}
    given = [name for name, number in options.items() if number is not None]
    if len(given) > 1:
        raise RainbowError(f"A guarantee is either {' or '.join(given)}. Leave out all but one.")
    if epsilon is not None:
        return DP(epsilon, delta)
    if delta != "0" and (mu is not None or rho is not None):
        raise RainbowError("--delta belongs to --epsilon. Leave it out, or give --epsilon.")
    if mu is not None:
        return GaussianDP(mu)
    if rho is not None:
        return ZeroConcentrated(rho)
    raise RainbowError("A guarantee is missing. Give one, such as --epsilon 1.")


def must_be_open() -> None:
    """Raise where there is no standard output, before anything is paid for it."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed")


def warn(guarantee: Guarantee, about: str) -> None:
    """Say on standard error where a guarantee protects little."""
    warning = warning_about(guarantee, about)
    if warning is not None:
        typer.echo(f"Warning: {warning}", err=True)


def print_json(content: Any) -> None:
    """One JSON value on standard output."""
    typer.echo(json.dumps(content, indent=2, ensure_ascii=False))


def print_facts(facts: Mapping[str, str | Callable[[], str]]) -> None:
    """A line for each fact, names aligned; a function is asked when its line is due."""
    width = max(len(name) for name in facts)
    for name, value in facts.items():
        typer.echo(f"{name:<{width}}  {value if isinstance(value, str) else value()}")


def print_rows(rows: Sequence[Sequence[str]]) -> None:
    """A line for each row, its columns aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        typer.echo("  ".join(cells).rstrip())


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
def progress_bar(what: str) -> Iterator[Callable[[float], None]]:
    """A function to say how much is done: a bar on standard error, from its first call on.

    Where nobody looks it does nothing, but is there: what reports progress can be interrupted.
    """
    if not sys.stderr.isatty():
        yield lambda share: None
        return
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    task = bar.add_task(what, total=1.0)

    def show(share: float) -> None:
        if not bar.live.is_started:
            bar.start()
        bar.update(task, completed=share)

    try:
        yield show
    finally:
        bar.stop()
