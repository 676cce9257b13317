"""``rainbow ledger``."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from typing import Annotated, Any

import typer

from rainbowdp.cli.output import AsJson, Group, print_facts, print_json
from rainbowdp.errors import LedgerError

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
    dataset: Annotated[
        str | None,
        typer.Option(help="A name for the data that the budget protects: ward-visits-2026."),
    ] = None,
    epsilon: Annotated[str | None, typer.Option(help="The budget in ε, e.g. 3 or 1/2.")] = None,
    delta: Annotated[str | None, typer.Option(help="The budget in δ, 0 if not given.")] = None,
    mu: Annotated[str | None, typer.Option(help="A Gaussian budget μ instead.")] = None,
    rho: Annotated[
        str | None, typer.Option(help="A budget in ρ instead; it pays for μ and pure ε too.")
    ] = None,
    spend_in: Annotated[
        str | None,
        typer.Option(help="Turn ε and δ into the 'rho' or 'mu' that keeps them: for many answers."),
    ] = None,
    neighbors: Annotated[
        str, typer.Option(help="What one change is: 'substituted' or 'added or removed'.")
    ] = "substituted",
    person: Annotated[
        str | None,
        typer.Option(help="Protect persons, not records: the column that says whose row it is."),
    ] = None,
    rows_per_person: Annotated[
        int,
        typer.Option(help="Protect persons without such a column: you promise this many rows."),
    ] = 1,
    as_json: AsJson = False,
) -> None:
    """Create a ledger with a budget; a place that is taken is left as it was.

    Example: `rainbow ledger create budget.db --dataset ward-visits-2026 --person patient
    --epsilon 3 --delta 1e-5`
    """
    from rainbowdp.ledger import Ledger

    if dataset is None:
        raise LedgerError(
            "A ledger is for one dataset, whose people its budget protects. Name it, as in "
            "--dataset ward-visits-2026."
        )
    options: dict[str, Any] = {} if delta is None else {"delta": delta}
    Ledger.create(
        place,
        dataset=dataset,
        epsilon=epsilon,
        mu=mu,
        rho=rho,
        spend_in=spend_in,
        neighbors=neighbors,
        person=person,
        rows_per_person=rows_per_person,
        **options,
    )
    balance(place, as_json)
    if spend_in is not None and epsilon is not None and not as_json:
        from rainbowdp.guarantees.dp import DP

        typer.echo(f"keeps      {DP(epsilon, delta or 0)} in all")


@ledgers.command()
def balance(place: Place = DEFAULT, as_json: AsJson = False) -> None:
    """Show the budget: what it is for, in total, spent and left.

    Example: `rainbow ledger balance budget.db`
    """
    from rainbowdp.ledger import Ledger

    book = Ledger.open(place)
    found = book.balance()
    if as_json:
        print_json(found.as_dict())
        return
    answers = "answer" if found.entries == 1 else "answers"
    facts = {
        **_purpose(book),
        "total": str(found.total),
        "spent": f"{found.spent}, in {found.entries} {answers}",
        "left": str(found.left),
    }
    if found.sources:
        facts["sources"] = "; ".join(map(_named, found.sources))
    print_facts(facts)


@ledgers.command()
def history(place: Place = DEFAULT, as_json: AsJson = False) -> None:
    """List every question that was paid for, with its answer. Looking costs nothing.

    Example: `rainbow ledger history budget.db --json`
    """
    from rainbowdp.ledger import Ledger

    book = Ledger.open(place)
    entries = book.history()
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

    sources = list(dict.fromkeys(entry.source for entry in entries))
    numbered = {f"source {number}": _named(source) for number, source in enumerate(sources, 1)}
    print_facts({**_purpose(book), **numbered})
    table = Table("no.", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("time (UTC)", no_wrap=True)
    for heading in ("name", "source", "question", "cost", "answer"):
        table.add_column(heading, overflow="fold")
    for entry in entries:
        question = entry.question
        what = " ".join(
            str(part) for part in (question.get("kind"), "of", question.get("column")) if part
        )
        if question.get("by") is not None:
            what += f" by {question['by']['column']}"
        if question.get("where") is not None:
            what += f" where {question['where']}"
        answer = _answer(entry)
        name, number = entry.name or "", str(entry.number)
        source = str(sources.index(entry.source) + 1)
        when = datetime.fromisoformat(entry.time).strftime("%Y-%m-%d %H:%M")
        cells = (number, when, name, source, what, str(entry.cost), answer)
        table.add_row(*map(escape, cells))
    Console().print(table)


def _purpose(book: Any) -> dict[str, str]:
    """Which ledger it is, and what it is for."""
    return {
        "ledger": book.where,
        "dataset": book.dataset,
        "unit": str(book.unit),
        "neighbors": book.neighbors,
    }


def _answer(entry: Any) -> str:
    """The answer, or how often each was given where there are groups."""
    if entry.answer is None:
        return "(lost in a crash)"
    if entry.question.get("by") is None:
        return str(entry.answer)
    found = Counter(json.loads(entry.answer).values())
    return ", ".join(f"{answer} in {groups}" for answer, groups in found.most_common())


def _named(source: str | None) -> str:
    return "data without a declared source" if source is None else source
