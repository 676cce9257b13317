"""``rainbow look``: what a curator sees before anything is paid."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rainbowdp.cli.given import edges, listed
from rainbowdp.cli.output import AsJson, print_facts, print_json, progress_bar
from rainbowdp.cli.tables import (
    TABLE_HELP,
    Apply,
    Decimal,
    Delimiter,
    Encoding,
    Format,
    Header,
    SqlTable,
    Trusted,
    Where,
    table_from,
)
from rainbowdp.errors import RainbowError
from rainbowdp.questions import Quantile, Question, Threshold, Winner
from rainbowdp.tables import Look
from rainbowdp.tables import look as look_at

PRIVATE = "For the curator's eyes only: exact private counts, not covered by any guarantee."


def look(
    table: Annotated[str, typer.Argument(metavar="TABLE", help=TABLE_HELP)],
    column: Annotated[str, typer.Option(help="The column that holds the values.")],
    among: Annotated[
        str | None, typer.Option(help="The answers you want to list: red,green,blue.")
    ] = None,
    bins: Annotated[
        str | None, typer.Option(help="The edges of the bins you want: 0,10000,20000,50000.")
    ] = None,
    closed_ends: Annotated[
        bool,
        typer.Option("--closed-ends", help="Leave out rows beyond the first and the last edge."),
    ] = False,
    minimum: Annotated[
        str | None, typer.Option(help="Rows from this number, date or time up match.")
    ] = None,
    maximum: Annotated[
        str | None, typer.Option(help="Rows up to this number, date or time match.")
    ] = None,
    person: Annotated[
        str | None, typer.Option(help="The column that says whose row it is.")
    ] = None,
    rows_per_person: Annotated[
        int, typer.Option(help="How many rows of one person you want to count.")
    ] = 1,
    where: Where = None,
    apply: Apply = None,
    sql_table: SqlTable = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    header: Header = None,
    trusted: Trusted = False,
    format_: Format = None,
    as_json: AsJson = False,
) -> None:
    """Look at a table before you pay: exact and private, for the curator's eyes only.

    Shows how many rows match each answer or bin, how many match none and why, and how many rows
    people have. It spends nothing and guarantees nothing: do not pass on what it prints.

    Example: `rainbow look votes.csv --column choice --among red,green,blue`
    """
    shared = {
        "person": person,
        "rows_per_person": rows_per_person,
        "where": where,
        "apply": apply,
    }
    question = _question(column, among, bins, closed_ends, minimum, maximum, shared)
    source = table_from(
        table,
        sql_table,
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
        header=header,
        trusted=trusted,
        format_=format_,
    )
    with progress_bar("Reading the table") as progress:
        found = look_at(source, question, progress=progress)
    if as_json:
        print_json(found.as_dict())
        return
    typer.echo(PRIVATE + "\n")
    print_facts(_facts(found, question))


def _question(
    column: str,
    among: str | None,
    bins: str | None,
    closed_ends: bool,
    minimum: str | None,
    maximum: str | None,
    shared: dict[str, Any],
) -> Question:
    """The question whose answers are to be looked for."""
    given = [among is not None, bins is not None, minimum is not None or maximum is not None]
    if sum(given) != 1:
        raise RainbowError(
            "Say what to look for: --among, --bins, or a range by --minimum and --maximum, "
            "and only one of these."
        )
    if among is not None:
        answers = listed(among)
        if len(answers) == 1:
            return Threshold(1, column, equals=answers[0], **shared)
        return Winner(answers, column, **shared)
    if bins is not None:
        return Quantile("1/2", edges(bins), column, closed_ends=closed_ends, **shared)
    return Threshold(1, column, minimum=minimum, maximum=maximum, **shared)


def _facts(found: Look, question: Question) -> dict[str, str]:
    filtered = {"  left out": f"{found.left_out:,} by where"} if question.where else {}
    facts = {
        "column": f"{found.column} ({found.declared})",
        "rows": f"{found.rows:,}",
        **filtered,
        **{f"  {name}": f"{rows:,}" for name, rows in found.matched.items()},
        "no value": f"{found.missing:,}",
        "no match": f"{sum(found.unmatched.values()):,}",
        **{f"  {why}": f"{rows:,}" for why, rows in found.unmatched.items()},
    }
    if found.examples:
        shown = (f"{text!r} ({rows:,})" for text, rows in found.examples)
        facts["such as"] = ", ".join(shown)
    people, limit = found.people, question.rows_per_person
    if people is not None:
        facts["people"] = (
            f"{people.people:,} with matching rows, {people.fewest:,} to {people.most:,} each, "
            f"median {people.median:,}; {people.over_limit:,} have more than the limit of {limit}"
        )
    return facts
