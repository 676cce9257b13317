"""The command ``rainbow``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

app = typer.Typer(
    name="rainbow",
    help="The provably best private answer from a finite set: rainbow differential privacy.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    add_completion=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        from rainbowdp import __version__

        typer.echo(f"rainbow {__version__}")
        raise typer.Exit


@app.callback()
def rainbow(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """The provably best private answer from a finite set: rainbow differential privacy."""


@app.command()
def reproduce(
    as_json: Annotated[bool, typer.Option("--json", help="Print the claims as JSON.")] = False,
) -> None:
    """Print every number the paper states beside ours.

    Covers *Generalized Rainbow Differential Privacy* (arXiv:2309.05871): its first figure and
    the boundary graph, Example 1, the numerical figures, the special cases of the earlier
    papers, and the errors we found. Exits with 1 when one of our numbers is not the one due.

    Example: `rainbow reproduce --json > claims.json`
    """
    from rainbowdp.reproduce import reproduce as claims

    found = claims()
    if as_json:
        typer.echo(json.dumps([claim.as_dict() for claim in found], indent=2, ensure_ascii=False))
    else:
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table

        table = Table(title="Generalized Rainbow Differential Privacy", box=SIMPLE_HEAD)
        for heading, width in (("place", 9), ("statement", 60), ("paper", 14), ("ours", 14)):
            table.add_column(heading, max_width=width)
        table.add_column()
        for claim in found:
            mark = "[red]CHANGED[/]" if not claim.holds else "erratum" if claim.erratum else "✓"
            style = "yellow" if claim.erratum else None
            note = f" ({claim.note})" if claim.note else ""
            table.add_row(
                claim.place, claim.statement + note, claim.paper, claim.ours, mark, style=style
            )
        console = Console()
        console.print(table)
        errata, due = sum(claim.erratum for claim in found), sum(claim.holds for claim in found)
        console.print(f"{due} of {len(found)} as due; {errata} of them are errata of the paper.")
    if not all(claim.holds for claim in found):
        raise typer.Exit(1)


def main() -> None:
    """Run the command."""
    app()
