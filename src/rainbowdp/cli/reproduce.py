"""``rainbow reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rainbowdp.cli.output import AsJson, print_json


def reproduce(
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Draw every figure of the paper into this folder."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print every number in the paper next to ours, and draw its figures.

    Covers *Generalized Rainbow Differential Privacy* (arXiv:2309.05871): its first figure and
    the boundary graph, Example 1, the numerical figures, the special cases of the earlier
    papers, and the errors we found. Exits with 1 when one of our numbers is not as expected.

    With `--out` the figures are written as SVG beside their numbers (`index.html`); where δ > 0
    the printed curves, which are wrong, are drawn together with the right ones.

    Examples: `rainbow reproduce --json > claims.json`, `rainbow reproduce --out paper`
    """
    from rainbowdp.paper import reproduce as paper

    found = paper.reproduce()
    drawn = paper.draw(out, found) if out is not None else ()
    if as_json:
        print_json([claim.as_dict() for claim in found])
    else:
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table

        table = Table(title="Generalized Rainbow Differential Privacy", box=SIMPLE_HEAD)
        for heading, width in (("place", 9), ("statement", 60), ("paper", 14), ("ours", 14)):
            table.add_column(heading, max_width=width)
        table.add_column()
        for claim in found:
            mark = claim.verdict if claim.holds else f"[red]{claim.verdict}[/]"
            style = "yellow" if claim.erratum else None
            note = f" ({claim.note})" if claim.note else ""
            what = claim.statement + note
            table.add_row(claim.place, what, claim.paper, claim.ours, mark, style=style)
        console = Console()
        console.print(table)
        errata, due = sum(claim.erratum for claim in found), sum(claim.holds for claim in found)
        console.print(f"{due} of {len(found)} as due; {errata} of them are errata of the paper.")
        if drawn:
            typer.echo(f"figures: {drawn[-1]}")
    if not all(claim.holds for claim in found):
        raise typer.Exit(1)
