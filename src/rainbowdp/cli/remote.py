"""The same questions to a service, which holds the data and the ledger."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

from rainbowdp.cli.interrupts import let_go
from rainbowdp.cli.output import must_be_open, print_facts, print_json, print_rows, warn, working
from rainbowdp.cli.project import Project
from rainbowdp.cli.running import Cut, stopping
from rainbowdp.cli.showing import answer_in_words, change_in_words, proved
from rainbowdp.cli.telling import moment
from rainbowdp.cli.wanting import Promised
from rainbowdp.errors import RainbowError
from rainbowdp.guarantees.descriptions import describe_guarantee, restore_guarantee, warning_about
from rainbowdp.questions.posed import Posed
from rainbowdp.questions.units import unit_of

if TYPE_CHECKING:
    from rainbowdp.client.remote import Remote
    from rainbowdp.client.told import RemotePlan

SERVICE, TOKEN_FILE = "RAINBOW_SERVICE", "RAINBOW_TOKEN_FILE"

Service = Annotated[
    str | None,
    typer.Option(
        "--service",
        metavar="URL",
        help=f"Ask a service, which holds the data and the ledger. {SERVICE} or the service of "
        "rainbow.toml, if neither data nor a ledger is given.",
    ),
]
TokenFile = Annotated[
    str | None,
    typer.Option(
        "--token-file",
        metavar="FILE",
        help=f"With a service: the file that holds your token. {TOKEN_FILE} or the token_file of "
        "rainbow.toml, if not given.",
    ),
]
DatasetName = Annotated[
    str | None,
    typer.Option("--dataset", metavar="NAME", help="With a service: which of its datasets to ask."),
]


def named_service(settings: Project, service: str | None, *, local: bool) -> str | None:
    """The service to ask; none where the command says where data or ledger are."""
    if service is not None or local:
        return service
    both = [key for key in ("service", "data", "ledger") if key in settings.said]
    if both[:1] == ["service"] and len(both) > 1:
        raise RainbowError(
            f"{settings.file} names both a service and {both[1]}. Leave out one of them."
        )
    found: str | None = os.environ.get(SERVICE) or settings.get("service")
    return found


def remote_of(
    settings: Project, service: str, token_file: str | None, dataset: str | None
) -> Remote:
    """The dataset of a service, as options, environment and project say."""
    from rainbowdp.client.remote import connect

    file = token_file or os.environ.get(TOKEN_FILE) or settings.get("token_file")
    if file is None:
        raise RainbowError(
            f"A service knows you by a token. Give --token-file FILE, or set {TOKEN_FILE}."
        )
    chosen = settings.get("dataset", dataset)
    if chosen is None:
        names = ", ".join(connect(service, token_file=file).datasets)
        raise RainbowError(f"Which dataset? Give --dataset NAME. There are {names or 'none'}.")
    return connect(service, token_file=file, dataset=chosen)


def refuse_local(given: Mapping[str, Any]) -> None:
    """Refuse options for data and ledgers that are on this machine."""
    for option, value in given.items():
        if value not in (None, False):
            raise RainbowError(f"A service has the data and the ledger. Leave out {option}.")


def unit_options(remote: Remote, given: Mapping[str, Any]) -> dict[str, Any]:
    """Whose data one change is: as the dataset has it, which what was given must agree with."""
    asked = remote.questions
    unit = {
        "neighbors": asked.neighbors,
        "person": asked.person,
        "rows_per_person": asked.rows_per_person,
        "person_rule": asked.person_rule,
    }
    for name in ("neighbors", "person"):
        if given.get(name) not in (None, unit[name]):
            raise RainbowError(
                f"{remote.dataset} is for --{name} {unit[name] or 'of none'}. Leave out --{name}."
            )
    return {**unit, **{name: value for name, value in given.items() if value is not None}}


def explain_remote(remote: Remote, question: Any, promised: Promised, as_json: bool) -> None:
    """Show what the service would do, and what it would cost."""
    promise = promised.guarantee
    told = remote.explain(question, guarantee=promise)
    if as_json:
        print_json({**told.said, **promised.as_json()})
        return
    print_facts({**promised.facts(), **told.facts()})
    typer.echo("\nNo data was read and nothing was spent.")
    warn(promise, unit_of(question).whom)


def ask_remote(
    remote: Remote, question: Any, promised: Promised, name: str | None, as_json: bool
) -> None:
    """Have the service answer a question, and show the answer."""

    def answer(key: str) -> None:
        with promised.paid(), working("Asking the service"):
            reply = remote.ask_json(question, guarantee=promised.guarantee, name=key)
        _show(remote, question, promised, reply, as_json)

    _once(name, answer)


def _once(name: str | None, act: Callable[[str], None]) -> None:
    """Pay by a key that is told where nobody knows what became of the question."""
    must_be_open()
    key = name or str(uuid4())
    try:
        act(key)
        let_go()
    except (Exception, KeyboardInterrupt) as error:
        stopped = stopping(error)
        if stopped is None:
            raise
    else:
        return
    interrupted = isinstance(stopped, KeyboardInterrupt)
    what = "Interrupted" if interrupted else "Standard output cannot be written"
    raise Cut(
        stopped,
        f"{what}; the question may have been paid. Ask it again with --name {key}: then it is paid "
        "once at most.",
    )


def _show(
    remote: Remote, question: Posed, promised: Promised, reply: Mapping[str, Any], as_json: bool
) -> None:
    from rainbowdp.client.answers import release_of

    promise, release = promised.guarantee, release_of(reply)
    entry, whom = release.entry, unit_of(question).whom
    assert entry is not None
    in_groups = release.answer if isinstance(release.answer, dict) else None
    about = release.answer if in_groups is None else None
    kind = (entry.mechanism or {}).get("kind")
    if as_json:
        print_json(
            {
                "answer": release.answer,
                "question": question.describe(),
                "unit": unit_of(question).describe(),
                "guarantee": describe_guarantee(promise),
                **promised.as_json(),
                "in_words": promise.in_words(whom),
                "best_guess": promise.best_guess(),
                "warning": warning_about(promise, whom),
                "mechanism": kind,
                "proof": reply["proof"],
                "proves": proved(release.proves, about),
                "recalled": release.recalled,
                "name": entry.name,
                "drawn": entry.time,
                "entry": entry.number,
                "head": str(entry.head),
                "service": remote.wire.address,
                "dataset": remote.dataset,
                "balance": remote.balance().as_dict(),
            }
        )
        return
    if in_groups is not None:
        print_facts({"group": "answer", **{name: str(a) for name, a in in_groups.items()}})
        typer.echo()
    facts: dict[str, str | Callable[[], str]] = {
        **({"answer": answer_in_words(release.answer)} if in_groups is None else {}),
        **promised.facts(),
        "guarantee": f"{promise}, {change_in_words(question)}",
        "in words": promise.in_words(whom),
        "mechanism": f"{kind}, proved exactly",
    }
    if release.proves is not None:
        each = "" if in_groups is None else "for each group, "
        facts["proves"] = f"{each}{release.proves.in_words(about)}"
    facts["head"] = entry.head.short
    recalled = f"recalled, drawn {moment(entry.time)}, nothing spent; " if release.recalled else ""
    facts["service"] = lambda: f"{_place(remote)}: {recalled}{_left(remote)}"
    print_facts(facts)
    warn(promise, whom)


def _place(remote: Remote) -> str:
    return f"{remote.wire.address}, {remote.dataset}"


def _left(remote: Remote) -> str:
    """What is left, read once the answer is out: trouble must not hide that."""
    try:
        balance = remote.balance()
    except RainbowError as error:
        return f"what is left is unknown now: {error}"
    return balance.left.out_of(balance.total)


def show_remote_plan(plan: RemotePlan, question: Posed, as_json: bool) -> None:
    """What the service plans."""
    if as_json:
        print_json(plan.as_dict())
        return
    whom, words = unit_of(question).whom, plan.in_words()
    print_facts(
        {
            "total": f"{plan.guarantee}, {change_in_words(question)}",
            "in words": plan.guarantee.in_words(whom),
            "paid by": str(plan.said["currency"]),
        }
    )
    typer.echo()
    rows = [("question", "guarantee", "mechanism", "buys")]
    for asked in plan.said["questions"]:
        promise = restore_guarantee(asked["guarantee"])
        rows.append((asked["name"], str(promise), asked["mechanism"], words[asked["name"]]))
    print_rows(rows)
    typer.echo("\nNo data was read and nothing was spent.")
    warn(plan.guarantee, whom)


def run_remote_plan(remote: Remote, plan: RemotePlan, name: str | None, as_json: bool) -> None:
    """Have the service answer all questions of a plan, and show the answers."""

    def answer(key: str) -> None:
        with working("Asking the service"):
            release = remote.run(plan, name=key)
        entry = release.entry
        assert entry is not None
        if as_json:
            print_json(
                {
                    "answers": release.answer,
                    "guarantee": describe_guarantee(plan.guarantee),
                    "currency": plan.said["currency"],
                    "proves": None if release.proves is None else release.proves.describe(),
                    "recalled": release.recalled,
                    "name": entry.name,
                    "entry": entry.number,
                    "head": str(entry.head),
                    "balance": remote.balance().as_dict(),
                }
            )
            return
        rows = [("question", "answer")]
        rows += [(asked, answer_in_words(release[asked].answer)) for asked in plan.names]
        print_rows(rows)
        typer.echo()
        facts: dict[str, str | Callable[[], str]] = {
            f"{asked} proves": found.proves.in_words(found.answer)
            for asked, found in (release.releases or {}).items()
            if found.proves is not None
        }
        facts["together"] = str(plan.guarantee)
        facts["service"] = lambda: f"{_place(remote)}: {_left(remote)}"
        print_facts(facts)

    _once(name, answer)


def show_remote_balance(remote: Remote, as_json: bool) -> None:
    """The budget of a dataset, and what the asker may spend of it."""
    found = remote.balance()
    if as_json:
        print_json(found.as_dict())
        return
    answers = "answer" if found.entries == 1 else "answers"
    facts = {
        "service": _place(remote),
        "total": str(found.total),
        "spent": f"{found.spent}, in {found.entries} {answers}",
        "left": str(found.left),
    }
    for number, limit in enumerate(found.yours, 1):
        name = "your limit" if len(found.yours) == 1 else f"your limit {number}"
        facts[name] = str(limit)
    if found.closed is not None:
        facts["closed"] = moment(found.closed)
    print_facts(facts)


def show_remote_history(remote: Remote, last: int | None, as_json: bool) -> None:
    """What was asked: by the asker, or by all for an auditor or a curator."""
    entries = remote.history(last)
    if as_json:
        print_json([entry.as_dict() for entry in entries])
        return
    print_facts({"service": _place(remote)})
    if not entries:
        typer.echo("Nothing has been asked yet.")
    for entry in entries:
        typer.echo(f"\n{entry.number:>4}  {moment(entry.time)}, by {entry.by}")
        typer.echo(f"      {entry.in_words}")
        print_facts({"      answer": str(entry.answer), "      cost": entry.cost.in_symbols()})
