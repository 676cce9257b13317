"""``rainbow reproduce``."""

from __future__ import annotations

import typer

from rainbowdp.cli.output import AsJson, print_json


def reproduce(as_json: AsJson = False) -> None:
    """Print every number the paper states beside ours.

    Covers *Generalized Rainbow Differential Privacy* (arXiv:2309.05871): its first figure and
    the boundary graph, Example 1, the numerical figures, the special cases of the earlier
    papers, and the errors we found. Exits with 1 when one of our numbers is not the one due.

    Example: `rainbow reproduce --json > claims.json`
    """
    from rainbowdp import reproduce as paper

    found = paper.reproduce()
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
            mark = "[red]CHANGED[/]" if not claim.holds else "erratum" if claim.erratum else "✓"
            style = "yellow" if claim.erratum else None
            note = f" ({claim.note})" if claim.note else ""
            what = claim.statement + note
            table.add_row(claim.place, what, claim.paper, claim.ours, mark, style=style)
        console = Console()
        console.print(table)
        errata, due = sum(claim.erratum for claim in found), sum(claim.holds for claim in found)
        console.print(f"{due} of {len(found)} as due; {errata} of them are errata of the paper.")
    if not all(claim.holds for claim in found):
        raise typer.Exit(1)
