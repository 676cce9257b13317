"""``rainbow ledger``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rainbowdp.cli import choices
from rainbowdp.cli.output import AsJson, Group, print_facts, print_json
from rainbowdp.cli.project import DEFAULT, named_ledger, project
from rainbowdp.cli.remote import (
    DatasetName,
    Service,
    TokenFile,
    remote_of,
    show_remote_balance,
    show_remote_history,
)
from rainbowdp.cli.reporting import export, report
from rainbowdp.cli.telling import moment
from rainbowdp.errors import LedgerError

ledgers = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="The durable record of what privacy has been spent.\n\n"
    "Examples:\n\n"
    "* `rainbow ledger create budget.db --dataset ward-visits-2026 --epsilon 3`\n"
    "* `rainbow ledger balance budget.db`\n"
    "* `rainbow ledger history budget.db`",
)

if TYPE_CHECKING:
    from rainbowdp.ledger import Balance, Cost, Ledger, Record

_LOOKED_AT = 2000  # entries, for a name that asks


def _place(context: typer.Context, value: str) -> str:
    """The place that was given, or where the environment or the project says."""
    source = context.get_parameter_source("place")
    return (
        value
        if source is None or source.name == "COMMANDLINE"
        else (named_ledger(project()) or value)
    )


Place = Annotated[
    str,
    typer.Argument(
        callback=_place,
        help="A file (SQLite), or postgresql://user@host/database for a team. If not given, "
        "RAINBOW_LEDGER or the ledger of rainbow.toml.",
    ),
]


Epsilon = Annotated[str | None, typer.Option(help="An amount in ε, e.g. 3 or 1/2.")]
Delta = Annotated[str | None, typer.Option(help="An amount in δ, 0 if not given.")]
Mu = Annotated[str | None, typer.Option(help="An amount in μ instead.")]
Rho = Annotated[str | None, typer.Option(help="An amount in ρ instead.")]
SignedBy = Annotated[str, typer.Option(help="The person who is responsible for it.")]
Reason = Annotated[str, typer.Option(help="Why, in a sentence.")]
WitnessAt = Annotated[
    str | None,
    typer.Option("--witness", help="A text file or address that remembers every head."),
]
By = Annotated[
    str | None, typer.Option("--by", help="Who does this, if not the user of this system.")
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
    mu: Annotated[
        str | None, typer.Option(help="A Gaussian budget μ instead; it pays for ε too.")
    ] = None,
    rho: Annotated[
        str | None, typer.Option(help="A budget in ρ instead; it pays for μ and ε too.")
    ] = None,
    spend_in: Annotated[
        str | None,
        choices.chosen(
            ("rho", "mu"), "Turn ε and δ into the rho or mu that keeps them: for many answers."
        ),
    ] = None,
    delta_apart: Annotated[
        str | None,
        typer.Option(help="With --spend-in: how much of δ to keep for answers with a δ."),
    ] = None,
    neighbors: Annotated[str, choices.neighbors()] = "substituted",
    person: Annotated[
        str | None,
        typer.Option(help="Protect people, not records: the column that says whose row it is."),
    ] = None,
    rows_per_person: Annotated[
        int,
        typer.Option(
            help="Protect people without such a column: you promise that nobody has more rows "
            "than this."
        ),
    ] = 1,
    title: Annotated[str | None, typer.Option(help="What the ledger is called.")] = None,
    purpose: Annotated[str | None, typer.Option(help="What the answers are for.")] = None,
    contact: Annotated[str | None, typer.Option(help="Whom to ask about it.")] = None,
    predecessor: Annotated[
        str | None, typer.Option(help="The ledger of the previous period, linked by its head.")
    ] = None,
    witness: WitnessAt = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Create a ledger with a budget; one that exists already is left as it was.

    Example: `rainbow ledger create budget.db --dataset ward-visits-2026 --person patient
    --epsilon 3 --delta 1e-5`
    """
    from rainbowdp.ledger import Ledger

    if dataset is None:
        raise LedgerError(
            "A ledger is for one dataset, whose people its budget protects. Name it, as in "
            "--dataset ward-visits-2026."
        )
    Ledger.create(
        place,
        dataset=dataset,
        epsilon=epsilon,
        delta=delta or 0,
        mu=mu,
        rho=rho,
        spend_in=spend_in,
        delta_apart=delta_apart or 0,
        neighbors=neighbors,
        person=person,
        rows_per_person=rows_per_person,
        title=title,
        purpose=purpose,
        contact=contact,
        predecessor=None if predecessor is None else Ledger.open(predecessor),
        witness=witness,
        by=by,
    )
    balance(place, None, as_json)
    if spend_in is not None and epsilon is not None and not as_json:
        from rainbowdp.guarantees.dp import DP

        typer.echo(f"keeps      {DP(epsilon, delta or 0)} in all")


@ledgers.command("show", hidden=True)  # what people try first
@ledgers.command()
def balance(
    place: Place = DEFAULT,
    at: Annotated[
        str | None,
        typer.Option(
            help="Say how many answers are left at this price: 0.1, or 'mu 0.1' in another "
            "currency. The last price, if not given."
        ),
    ] = None,
    as_json: AsJson = False,
    service: Service = None,
    token_file: TokenFile = None,
    dataset: DatasetName = None,
) -> None:
    """Show the budget: what it is for, in total, spent and left.

    Example: `rainbow ledger balance budget.db --at 0.1`
    """
    if service is not None:
        show_remote_balance(remote_of(project(), service, token_file, dataset), as_json)
        return
    from rainbowdp.ledger import Ledger

    book = Ledger.open(place)
    found = book.balance()
    cost = _price(book, found, at)
    remaining = None if cost is None else _remaining(found, cost)
    if as_json:
        print_json({**found.as_dict(), "answers_left": remaining})
        return
    answers = "answer" if found.entries == 1 else "answers"
    facts = {
        **_purpose(book, found),
        "total": str(found.total),
        "spent": f"{found.spent}, in {found.entries} {answers}",
        "left": str(found.left),
    }
    if remaining is not None:
        facts["left at"] = f"{remaining['price']}: {remaining['in_words']}"
    if found.sources:
        others = "; and others" if found.other_sources else ""
        facts["sources"] = "; ".join(map(_named, found.sources)) + others
    for limit in found.limits:
        facts[f"limit of {limit.whose}"] = limit.in_words(cost)
    if found.closed is not None:
        facts["closed"] = moment(found.closed)
    print_facts(facts)


def _price(book: Ledger, found: Balance, at: str | None) -> Cost | None:
    """The price that was named, or the last one that was paid."""
    from rainbowdp.ledger.cost import price
    from rainbowdp.ledger.remaining import price_in_words

    if at is not None:
        return price(price_in_words(at, book.kind), book.kind, book.where)
    return book.history(1)[-1].cost if found.entries else None


def _remaining(found: Balance, cost: Cost) -> dict[str, Any]:
    """How many answers are left at a price."""
    from rainbowdp.ledger.remaining import in_words

    many = found.answers_left(cost)
    return {
        "price": str(cost),
        "cost": cost.as_dict(),
        "answers": many,
        "in_words": in_words(many),
    }


@ledgers.command()
def head(place: Place = DEFAULT, as_json: AsJson = False) -> None:
    """Print the head of the chain: it stands for everything that was ever written.

    Keep it elsewhere. Whoever has it can tell later whether the past is still what it was.

    Example: `rainbow ledger head budget.db`
    """
    from rainbowdp.ledger import Ledger

    found = Ledger.open(place).head()
    if as_json:
        print_json({"number": found.number, "seal": found.seal, "head": str(found)})
    else:
        typer.echo(str(found))


@ledgers.command()
def verify(
    place: Place = DEFAULT,
    heads: Annotated[
        list[str] | None,
        typer.Option("--head", help="A head that was kept, in full or in short; repeatable."),
    ] = None,
    witness: WitnessAt = None,
    as_json: AsJson = False,
) -> None:
    """Check every record, every sum, and that the heads given are in the past of this ledger.

    Example: `rainbow ledger verify budget.db --head 42:9f3a5c7e01b2d4f6`
    """
    from rainbowdp.ledger import Ledger

    found = Ledger.open(place, witness=witness).verify(*(heads or []))
    if as_json:
        print_json({"whole": True, "records": found.number, "head": str(found)})
    else:
        records = "record" if found.number == 1 else "records"
        typer.echo(f"{place} is whole: {found.number} {records}, head {found}")


@ledgers.command()
def migrate(
    place: Place = DEFAULT,
    dataset: Annotated[
        str | None, typer.Option(help="Of a ledger of version 1: whose data it is about.")
    ] = None,
    person: Annotated[
        str | None, typer.Option(help="Of a ledger of version 1: the column of the person.")
    ] = None,
    rows_per_person: Annotated[
        int | None, typer.Option(help="For a ledger of version 1: how many rows were promised.")
    ] = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Upgrade a ledger of an older version, all at once or not at all.

    Example: `rainbow ledger migrate budget.db`
    """
    from rainbowdp.ledger import Ledger

    Ledger.migrate(place, dataset=dataset, person=person, rows_per_person=rows_per_person, by=by)
    balance(place, None, as_json)


@ledgers.command()
def note(
    place: Annotated[str, typer.Argument(help="The ledger.")],
    text: Annotated[str, typer.Argument(help="What is to be said.")],
    entry: Annotated[int | None, typer.Option(help="The entry that it is about.")] = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Add a note, about the ledger or about one entry.

    Example: `rainbow ledger note budget.db "Published in the report of May." --entry 7`
    """
    from rainbowdp.ledger import Ledger

    book = Ledger.open(place, by=by)
    _added(book, book.note(text, about=entry), as_json)


@ledgers.command()
def extend(
    signed_by: SignedBy,
    reason: Reason,
    place: Place = DEFAULT,
    epsilon: Epsilon = None,
    delta: Delta = None,
    mu: Mu = None,
    rho: Rho = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Add budget, signed off by a named person.

    Example: `rainbow ledger extend budget.db --epsilon 1 --signed-by "A. Officer" --reason "The
    second wave of the survey"`
    """
    from rainbowdp.ledger import Ledger

    amount: Any = {"epsilon": epsilon, "delta": delta or 0, "mu": mu, "rho": rho}
    book = Ledger.open(place, by=by)
    _added(book, book.extend(**amount, signed_by=signed_by, reason=reason), as_json)


@ledgers.command()
def renew(
    signed_by: SignedBy,
    reason: Reason,
    place: Place = DEFAULT,
    epsilon: Epsilon = None,
    delta: Delta = None,
    mu: Mu = None,
    rho: Rho = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Set what is left to an amount, signed off by a named person; what was spent stays.

    Example: `rainbow ledger renew budget.db --epsilon 3 --signed-by "A. Officer" --reason "The
    data of 2027"`
    """
    from rainbowdp.ledger import Ledger

    amount: Any = {"epsilon": epsilon, "delta": delta or 0, "mu": mu, "rho": rho}
    book = Ledger.open(place, by=by)
    _added(book, book.renew(**amount, signed_by=signed_by, reason=reason), as_json)


@ledgers.command()
def limit(
    place: Annotated[str, typer.Argument(help="The ledger.")],
    signed_by: SignedBy,
    analyst: Annotated[
        str | None,
        typer.Argument(help="Who, as written in the entries; everybody together if not given."),
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Of which data, as written in the entries.")
    ] = None,
    per: Annotated[
        str | None,
        typer.Option(help="For each hour, day, week or month, or '12 hours' (UTC)."),
    ] = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    mu: Mu = None,
    rho: Rho = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Limit what an analyst may spend, or all of them; without an amount, lift the limit.

    Example: `rainbow ledger limit budget.db ann --epsilon 1 --per week --signed-by "A. Officer"`
    """
    from rainbowdp.ledger import Ledger

    amount: Any = {"epsilon": epsilon, "delta": delta or 0, "mu": mu, "rho": rho}
    book = Ledger.open(place, by=by)
    about: Any = {"source": source, "per": per, "signed_by": signed_by}
    _added(book, book.limit(analyst, **amount, **about), as_json)
    if analyst is not None and not as_json:
        _warn_of_a_stranger(book, analyst)


@ledgers.command()
def close(
    signed_by: SignedBy,
    reason: Reason,
    place: Place = DEFAULT,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Close the ledger: nothing more can be spent; answers are recalled as before.

    Example: `rainbow ledger close budget.db --signed-by "A. Officer" --reason "The survey is over"`
    """
    from rainbowdp.ledger import Ledger

    book = Ledger.open(place, by=by)
    _added(book, book.close(signed_by=signed_by, reason=reason), as_json)


@ledgers.command()
def link(
    place: Annotated[str, typer.Argument(help="The ledger.")],
    predecessor: Annotated[str, typer.Argument(help="The ledger of the previous period.")],
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Link the ledger of the previous period, by its identity and head.

    Example: `rainbow ledger link budget-2027.db budget-2026.db`
    """
    from rainbowdp.ledger import Ledger

    book = Ledger.open(place, by=by)
    _added(book, book.link(Ledger.open(predecessor)), as_json)


def _added(book: Ledger, record: Record, as_json: bool) -> None:
    """Says what was added to the chain, and what it comes to."""
    if as_json:
        print_json(record.as_dict())
        return
    from rainbowdp.ledger import Event

    now = book.balance()
    event = Event.latest(record, now)
    typer.echo(event.in_words())
    facts = {"by": event.who}
    if event.reason is not None:
        facts["reason"] = event.reason
    if record.kind in ("extension", "renewal", "closing"):
        facts |= {"total": str(now.total), "spent": str(now.spent), "left": str(now.left)}
    print_facts({**facts, "head": record.head.short})


def _warn_of_a_stranger(book: Ledger, analyst: str) -> None:
    """Says so where nobody asks by the name that is limited: it may be misspelled."""
    latest = book.history(last=_LOOKED_AT)
    if not any(analyst in (entry.by, entry.role) for entry in latest):
        asked = ", ".join(sorted({str(entry.by) for entry in latest})) or "nobody"
        typer.echo(
            f"Note: {analyst} has not asked anything yet (who has: {asked}). The limit holds for "
            "exactly this name.",
            err=True,
        )


@ledgers.command()
def history(
    place: Place = DEFAULT,
    last: Annotated[int | None, typer.Option(min=0, help="Only this many, the latest.")] = None,
    as_json: AsJson = False,
    service: Service = None,
    token_file: TokenFile = None,
    dataset: DatasetName = None,
) -> None:
    """Tell what happened: who asked what, the answer, what it cost and what was left. It is free.

    Example: `rainbow ledger history budget.db --last 20`
    """
    if service is not None:
        show_remote_history(remote_of(project(), service, token_file, dataset), last, as_json)
        return
    from rainbowdp.cli.telling import told
    from rainbowdp.ledger import Ledger

    book = Ledger.open(place)
    if as_json:
        print_json([event.as_dict() for event in book.events(last) if event.entry is not None])
        return
    found = book.balance()
    sources = [_named(source) for source in found.sources]
    facts = _purpose(book, found)
    if len(sources) > 1:
        facts |= {f"source {number}": name for number, name in enumerate(sources, 1)}
    elif sources:
        facts["source"] = sources[0]
    print_facts(facts)
    if not found.entries:
        typer.echo("Nothing has been asked yet.")
    for event in book.events(last):
        typer.echo("\n" + told(event, found.sources))


def _purpose(book: Ledger, found: Balance) -> dict[str, str]:
    """Which ledger it is, and what it is for."""
    said = {"title": found.title, "purpose": found.purpose, "contact": found.contact}
    return {
        "ledger": book.where,
        **{name: text for name, text in said.items() if text is not None},
        "dataset": book.dataset,
        "unit": str(book.unit),
        "neighbors": book.neighbors,
    }


def _named(source: str | None) -> str:
    return "data without a declared source" if source is None else source


ledgers.command()(report)
ledgers.command()(export)
