"""``rainbow plan``: many questions, planned before any is paid, and asked in one go."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rainbowdp.answering.ask import ask
from rainbowdp.cli.interrupts import check, let_go
from rainbowdp.cli.output import (
    AsJson,
    guarantee_from,
    must_be_open,
    print_facts,
    print_json,
    print_rows,
    progress_bar,
    warn,
    working,
)
from rainbowdp.cli.paying import Payment, watched
from rainbowdp.cli.plan_file import PlanFile, read_plan
from rainbowdp.cli.project import Project, named_ledger, project
from rainbowdp.cli.remote import (
    DatasetName,
    Service,
    TokenFile,
    named_service,
    refuse_local,
    remote_of,
    run_remote_plan,
    show_remote_plan,
    unit_options,
)
from rainbowdp.cli.running import Cut, stopping
from rainbowdp.cli.showing import change_in_words
from rainbowdp.cli.tables import TABLE_HELP, SqlTable, data_of
from rainbowdp.errors import RainbowError
from rainbowdp.guarantees.descriptions import describe_guarantee
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions.units import unit_of
from rainbowdp.sessions.paying import left_of
from rainbowdp.sessions.plan import Plan, PlanRelease
from rainbowdp.sessions.planning import plan as planned
from rainbowdp.sessions.ways import WAYS


def plan(
    file: Annotated[
        str, typer.Argument(metavar="PLAN", help="A TOML file with a [[question]] for each.")
    ],
    table: Annotated[
        str | None, typer.Argument(metavar="TABLE", help=f"With --run: {TABLE_HELP}")
    ] = None,
    epsilon: Annotated[str | None, typer.Option(help="The total in ε.")] = None,
    delta: Annotated[str | None, typer.Option(help="The total in δ.")] = None,
    mu: Annotated[str | None, typer.Option(help="A total in μ instead.")] = None,
    rho: Annotated[str | None, typer.Option(help="A total in ρ instead.")] = None,
    currency: Annotated[
        str | None,
        typer.Option(help=f"Use only this way to pay: {', '.join(way.name for way in WAYS)}."),
    ] = None,
    run: Annotated[
        bool, typer.Option("--run", help="Ask all questions: one scan, one payment.")
    ] = False,
    ledger: Annotated[
        str | None,
        typer.Option(
            help="The ledger that pays; what is left in it is the total if none is given. "
            "RAINBOW_LEDGER or the ledger of rainbow.toml, if not given."
        ),
    ] = None,
    no_ledger: Annotated[
        bool,
        typer.Option("--no-ledger", help="Keep no record: you have to add up what was spent."),
    ] = False,
    name: Annotated[
        str | None,
        typer.Option(help="Remember the answers: asking again under this name is free."),
    ] = None,
    declared: Annotated[
        str | None,
        typer.Option("--source", help="What to call the data in the ledger, if not by its path."),
    ] = None,
    sql_table: SqlTable = None,
    service: Service = None,
    token_file: TokenFile = None,
    dataset: DatasetName = None,
    as_json: AsJson = False,
) -> None:
    """Plan many questions before any is paid: which currency, what each gets and what it buys.

    A question with `sure` and `margin` gets what it needs; the others share the rest by `weight`.
    Without a total, and without a ledger, the plan says which total is needed.

    Example: `rainbow plan plan.toml --epsilon 3 --delta 1e-6`
    """
    settings = project()
    local = {"TABLE": table, "--ledger": ledger, "--no-ledger": no_ledger}
    local |= {"--source": declared, "--sql-table": sql_table}
    address = named_service(settings, service, local=any(local.values()))
    if address is not None:
        refuse_local(local)
        remote = remote_of(settings, address, token_file, dataset)
        unit = unit_options(remote, {})
        read = read_plan(Path(file), Project(settings.file, {**settings.said, **unit}))
        with working("Planning"):
            told = remote.plan(
                read.targets, _total(read, epsilon, delta, mu, rho), currency=currency
            )
        if run:
            run_remote_plan(remote, told, name, as_json)
        else:
            show_remote_plan(told, read.targets[0].question, as_json)
        return
    read = read_plan(Path(file), settings)
    if ledger is not None and no_ledger:
        raise RainbowError("Give either --ledger or --no-ledger, not both.")
    place = None if no_ledger else ledger or named_ledger(read.settings)
    book = _book(place)
    total = _total(read, epsilon, delta, mu, rho)
    if total is None and book is not None:
        total = left_of(book.balance())
    with working("Planning"):
        made = planned(read.targets, total, currency=currency)
        made.bought  # noqa: B018  computed while somebody is told
    if not run:
        _show(made, as_json)
        return
    if book is None and not no_ledger:
        raise RainbowError(
            "Answers must be paid for. Give --ledger PLACE, or --no-ledger to keep no record."
        )
    source = data_of(
        read.settings,
        table,
        sql_table,
        delimiter=None,
        encoding=None,
        decimal=None,
        header=None,
        trusted=False,
        format_=None,
    )
    must_be_open()
    _run(made, source, book, name, read.settings.get("source", declared), as_json)


def _book(place: str | None) -> Any:
    from rainbowdp.ledger import Ledger

    return None if place is None else watched(Ledger.open(place))


def _total(
    read: PlanFile, epsilon: str | None, delta: str | None, mu: str | None, rho: str | None
) -> Guarantee | None:
    if epsilon is delta is mu is rho is None:
        return read.total
    return guarantee_from(epsilon, delta or "0", mu, rho)


def _run(
    made: Plan, source: Any, book: Any, name: str | None, declared: str | None, as_json: bool
) -> None:
    asked, payment = made.question, None
    if book is not None:
        payment = Payment.of(book.where, book, made.guarantee, asked, name)
    try:
        with progress_bar("Reading the table") as progress:
            release = ask(made, source, ledger=book, name=name, source=declared, progress=progress)
        if book is None:
            check()
        assert isinstance(release, PlanRelease)
        _show_answers(made, release, book, as_json)
        let_go()
    except (Exception, KeyboardInterrupt) as error:
        stopped = stopping(error)
        if stopped is None:
            raise
    else:
        return
    interrupted = isinstance(stopped, KeyboardInterrupt)
    what = "Interrupted" if interrupted else "Standard output cannot be written"
    words = f"{what}; no answer was given." if payment is None else payment.in_words(what)
    raise Cut(stopped, words)


def _show(made: Plan, as_json: bool) -> None:
    """What is planned, and what the other ways to pay would have given."""
    if as_json:
        print_json(made.as_dict())
        return
    whom = unit_of(made.question).whom
    print_facts(
        {
            "total": f"{made.guarantee}, {change_in_words(made.question)}",
            "in words": made.guarantee.in_words(whom),
            "paid by": f"{made.way.name} ({made.way.in_words})",
        }
    )
    typer.echo()
    words = made.in_words()
    rows = [("question", "guarantee", "mechanism", "buys")]
    for asked in made.names:
        mechanism = made[asked]
        rows.append((asked, str(mechanism.guarantee), mechanism.name, words[asked]))
    print_rows(rows)
    others = made.comparison()
    if others:
        typer.echo("\nthe other ways to pay, and the first question in each\n")
        print_rows([("paid by", "guarantee", "buys"), *others])
    typer.echo("\nNo data was read and nothing was spent.")
    warn(made.guarantee, whom)


def _show_answers(made: Plan, release: PlanRelease, book: Any, as_json: bool) -> None:
    balance = None if book is None else book.balance()
    entry = release.entry
    if as_json:
        print_json(
            {
                "answers": release.answer,
                "guarantee": describe_guarantee(made.guarantee),
                "currency": made.way.name,
                "proof": None if release.recalled else made.proof_in_words,
                "proves": None if release.proves is None else release.proves.describe(),
                "recalled": release.recalled,
                "entry": None if entry is None else entry.number,
                "balance": None if balance is None else balance.as_dict(),
            }
        )
        return
    rows = [("question", "answer", "guarantee")]
    for asked in made.names:
        rows.append((asked, str(release[asked].answer), str(made[asked].guarantee)))
    print_rows(rows)
    typer.echo()
    facts = {}
    for asked in made.names:
        found = release[asked]
        if found.proves is not None:
            facts[f"{asked} proves"] = found.proves.in_words(found.answer)
    facts["together"] = f"{made.guarantee}, {change_in_words(made.question)}"
    if balance is None:
        facts["ledger"] = "none: these answers are not recorded anywhere"
    elif release.recalled:
        facts["ledger"] = f"{book.where}: recalled, nothing spent; left {balance.left}"
    else:
        facts["ledger"] = f"{book.where}: left {balance.left} of {balance.total}"
    print_facts(facts)
    warn(made.guarantee, unit_of(made.question).whom)
