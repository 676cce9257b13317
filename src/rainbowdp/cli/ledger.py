"""``rainbow ledger``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rainbowdp.cli.output import AsJson, Group, print_facts, print_json

ledgers = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="The durable record of what privacy has been spent.",
)

DEFAULT = "budget.db"
Place = Annotated[
    str, typer.Argument(help="A file (SQLite), or postgresql://user@host/database for a team.")
]


@ledgers.command()
def create(
    place: Place = DEFAULT,
    epsilon: Annotated[str | None, typer.Option(help="The budget in ε, e.g. 3 or 1/2.")] = None,
    delta: Annotated[str | None, typer.Option(help="The budget in δ, 0 if not given.")] = None,
    mu: Annotated[str | None, typer.Option(help="A Gaussian budget μ instead.")] = None,
    neighbors: Annotated[
        str, typer.Option(help="What one change is: 'substituted' or 'added or removed'.")
    ] = "substituted",
    as_json: AsJson = False,
) -> None:
    """Create a ledger with a budget; a place that is taken is left as it was.

    Example: `rainbow ledger create budget.db --epsilon 3 --delta 1e-5`
    """
    from rainbowdp.ledger import Ledger

    options: dict[str, Any] = {} if delta is None else {"delta": delta}
    Ledger.create(place, epsilon=epsilon, mu=mu, neighbors=neighbors, **options)
    balance(place, as_json)


@ledgers.command()
def balance(place: Place = DEFAULT, as_json: AsJson = False) -> None:
    """Show the budget: in total, spent and left.

    Example: `rainbow ledger balance budget.db`
    """
    from rainbowdp.ledger import Ledger

    book = Ledger.open(place)
    found = book.balance()
    if as_json:
        print_json(found.as_dict())
        return
    print_facts(
        {
            "ledger": place if "://" not in place else book.where,  # never a password
            "neighbors": found.neighbors,
            "total": str(found.total),
            "spent": f"{found.spent}, in {found.entries} answers",
            "left": str(found.left),
        }
    )


@ledgers.command()
def history(place: Place = DEFAULT, as_json: AsJson = False) -> None:
    """List every question that was paid for, with its answer. Looking costs nothing.

    Example: `rainbow ledger history budget.db --json`
    """
    from rainbowdp.ledger import Ledger

    entries = Ledger.open(place).history()
    if as_json:
        print_json([entry.as_dict() for entry in entries])
        return
    if not entries:
        typer.echo("Nothing has been asked yet.")
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table("no.", box=SIMPLE_HEAD)
    table.add_column("time", no_wrap=True)
    for heading in ("name", "question", "cost", "answer"):
        table.add_column(heading, overflow="fold")
    for entry in entries:
        question = entry.question
        what = " ".join(
            str(part) for part in (question.get("kind"), "of", question.get("column")) if part
        )
        answer = entry.answer if entry.answer is not None else "(lost in a crash)"
        name, number = entry.name or "", str(entry.number)
        table.add_row(*map(escape, (number, entry.time, name, what, str(entry.cost), answer)))
    Console().print(table)
