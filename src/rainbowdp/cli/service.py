"""``rainbow service``: who may ask, what they may spend, and what waits for a decision.

The same functions as behind the routes, for whoever may read ``service.toml`` and its store on the
machine itself: the first curator is added here.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rainbowdp.cli.ledger import By, Delta, Epsilon, Mu, Rho, SignedBy
from rainbowdp.cli.output import AsJson, Group, print_facts, print_json
from rainbowdp.cli.telling import moment
from rainbowdp.errors import MissingExtra, RainbowError

if TYPE_CHECKING:
    from rainbowdp.ledger import Ledger
    from rainbowdp.service.approvals import Approvals, Request
    from rainbowdp.service.config import Settings
    from rainbowdp.service.people.directory import Member, NewToken, People
    from rainbowdp.service.people.roles import Role

services = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="The people of a service: tokens, limits, and questions that wait for approval.",
)

File = Annotated[
    Path, typer.Option("--settings", "-s", help="The settings of the service: service.toml.")
]
FILE = Path("service.toml")
Name = Annotated[str, typer.Argument(help="The person's name, as the ledger will have it.")]
Days = Annotated[int, typer.Option(help="For how many days the token works.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Write the token to a new file that only you may read."),
]
Number = Annotated[str, typer.Argument(help="The id of the request.")]


@services.command()
def add(
    name: Name,
    role: Annotated[
        list[str], typer.Option(help="analyst, auditor or curator; repeatable, for several.")
    ],
    days: Days = 90,
    token: Annotated[bool, typer.Option(help="Make a token, too.")] = True,
    out: Out = None,
    by: By = None,
    file: File = FILE,
    as_json: AsJson = False,
) -> None:
    """Add a person and print a token, this once; an existing person gets these roles instead.

    Example: `rainbow service add ann --role analyst --days 90`
    """
    people, who = _people(file), by or _user()
    people.check_days(days)
    _must_be_new(out)
    member = people.add(name, _roles(role), by=who)
    made = people.token(name, by=who, days=days) if token else None
    told = None if made is None else _shown(made, out)
    if as_json:
        print_json({**people.member(name).as_dict(), "new_token": told})
        return
    facts = {"person": member.name, "roles": ", ".join(sorted(member.roles))}
    print_facts(facts | ({} if told is None else _of_token(told)))


@services.command()
def token(
    name: Name,
    days: Days = 90,
    out: Out = None,
    by: By = None,
    file: File = FILE,
    as_json: AsJson = False,
) -> None:
    """Print a new token for a person, this once; older ones go on working.

    Example: `rainbow service token ann --days 30`
    """
    people = _people(file)
    _must_be_new(out)
    told = _shown(people.token(name, by=by or _user(), days=days), out)
    if as_json:
        print_json(told)
    else:
        print_facts({"person": told["person"], **_of_token(told)})


@services.command()
def revoke(
    number: Annotated[str, typer.Argument(metavar="ID", help="The id of the token.")],
    file: File = FILE,
    as_json: AsJson = False,
) -> None:
    """Revoke a token: every process refuses it from the next request on.

    Example: `rainbow service revoke 9f3a5c7e01b2d4f6`
    """
    gone = _people(file).revoke(number)
    if as_json:
        print_json(gone.as_dict())
    else:
        assert gone.revoked is not None
        typer.echo(f"The token {gone.id} was revoked on {moment(gone.revoked)}.")


@services.command()
def remove(name: Name, by: By = None, file: File = FILE, as_json: AsJson = False) -> None:
    """Remove a person: no token of this name is accepted any more, nor one of OpenID.

    Example: `rainbow service remove ann`
    """
    gone = _people(file).remove(name, by=by or _user())
    if as_json:
        print_json(gone.as_dict())
    else:
        typer.echo(f"{gone.name} was removed, and all tokens of this name are refused.")


@services.command()
def people(file: File = FILE, as_json: AsJson = False) -> None:
    """List people, their roles and their tokens.

    Example: `rainbow service people`
    """
    found = _people(file).members()
    if as_json:
        print_json([one.as_dict() for one in found])
        return
    if not found:
        typer.echo(
            "Nobody may use this service yet. Add the first curator: rainbow service add NAME "
            "--role curator"
        )
    for number, one in enumerate(found):
        typer.echo(("\n" if number else "") + "\n".join(_told(one)))


@services.command()
def limit(
    dataset: Annotated[str, typer.Argument(help="The dataset, as service.toml names it.")],
    signed_by: SignedBy,
    analyst: Annotated[
        str | None, typer.Argument(help="The person; everybody together if not given.")
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
    file: File = FILE,
    as_json: AsJson = False,
) -> None:
    """Limit what a person may spend on a dataset, or all together; without an amount, lift it.

    Example: `rainbow service limit visits ann --epsilon 1 --per week --signed-by "A. Officer"`
    """
    from rainbowdp.ledger import Event

    settings = _settings(file)
    ledger = _ledger(settings, dataset, by)
    source = settings.dataset[dataset].source or dataset
    amount: Any = {"epsilon": epsilon, "delta": delta or 0, "mu": mu, "rho": rho}
    about: Any = {"source": source, "per": per, "signed_by": signed_by}
    record = ledger.limit(analyst, **amount, **about)
    if as_json:
        print_json(record.as_dict())
        return
    event = Event.latest(record, ledger.balance())
    typer.echo(event.in_words())
    print_facts({"by": event.who, "head": record.head.short})


@services.command()
def requests(
    every: Annotated[bool, typer.Option("--all", help="Also those that were decided.")] = False,
    file: File = FILE,
    as_json: AsJson = False,
) -> None:
    """List the questions that wait for a decision: who asks what, the price and the certainty.

    Example: `rainbow service requests`
    """
    found = _approvals(file).listed(status=None if every else "waiting")
    if as_json:
        print_json([one.as_dict() for one in found])
        return
    if not found:
        typer.echo("Nothing has been asked." if every else "Nothing waits for a decision.")
    for number, one in enumerate(found):
        if number:
            typer.echo()
        print_facts(_of_request(one))


@services.command()
def approve(
    number: Number,
    reason: Annotated[str | None, typer.Option(help="Why, in a sentence.")] = None,
    by: By = None,
    file: File = FILE,
    as_json: AsJson = False,
) -> None:
    """Approve a question: its asker may ask it once, with the same key. Signed in the ledger.

    Example: `rainbow service approve 9f3a5c7e01b2d4f6 --reason "For the report of May"`
    """
    _decide(number, reason, by or _user(), file, as_json, approve=True)


@services.command()
def refuse(
    number: Number,
    reason: Annotated[str, typer.Option(help="Why, in a sentence: its asker reads it.")],
    by: By = None,
    file: File = FILE,
    as_json: AsJson = False,
) -> None:
    """Refuse a question, with a reason. Signed in the ledger.

    Example: `rainbow service refuse 9f3a5c7e01b2d4f6 --reason "Too few people live there"`
    """
    _decide(number, reason, by or _user(), file, as_json, approve=False)


def _decide(
    number: str, reason: str | None, by: str, file: Path, as_json: bool, *, approve: bool
) -> None:
    approvals = _approvals(file)
    ledger = _ledger(_settings(file), approvals.find(number).dataset, by)
    done = approvals.decide(
        number,
        approve=approve,
        by=by,
        reason=reason,
        note=lambda text: ledger.note(text, signed_by=by),
    )
    if as_json:
        print_json(done.as_dict())
    else:
        print_facts({**_of_request(done), "head": ledger.head().short})


def _settings(file: Path) -> Settings:
    try:
        from rainbowdp.service.config import read_settings
    except ImportError as error:
        raise MissingExtra("FastAPI", "service") from error
    return read_settings(file)


def _people(file: Path) -> People:
    settings = _settings(file)
    from rainbowdp.service.people.directory import People
    from rainbowdp.service.people.store import Store

    return People(Store.at(settings.placed(settings.store)))


def _approvals(file: Path) -> Approvals:
    settings = _settings(file)
    from rainbowdp.service.approvals import Approvals
    from rainbowdp.service.people.store import Store

    return Approvals(Store.at(settings.placed(settings.store)))


def _ledger(settings: Settings, dataset: str, by: str | None) -> Ledger:
    from rainbowdp.ledger import Ledger

    said = settings.dataset.get(dataset)
    if said is None:
        known = ", ".join(settings.dataset)
        raise RainbowError(f"There is no dataset {dataset} in the service. There are {known}.")
    return Ledger.open(settings.placed(said.ledger), by=by)


def _user() -> str:
    from rainbowdp.ledger.software import user

    return user()


def _roles(words: list[str]) -> list[Role]:
    from rainbowdp.service.people.roles import Role

    known = [str(role) for role in Role]
    for word in words:
        if word not in known:
            raise RainbowError(f"A role is {', '.join(known[:-1])} or {known[-1]}, got {word!r}.")
    return [Role(word) for word in words]


def _must_be_new(out: Path | None) -> None:
    if out is not None and (out.exists() or not out.absolute().parent.is_dir()):
        raise RainbowError(f"{out} is there already, or its folder is not. Choose a new file.")


def _shown(made: NewToken, out: Path | None) -> dict[str, Any]:
    """What is told of a new token: the token itself, or the file that it was written to."""
    told = made.as_dict()
    if out is None:
        typer.echo(
            "The token is shown this once. Give it to the person, and to nobody else.", err=True
        )
        return told
    with os.fdopen(os.open(out, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        file.write(f"{told.pop('token')}\n")
    return {**told, "file": str(out)}


def _of_token(told: dict[str, Any]) -> dict[str, str]:
    where: dict[str, str] = {name: told[name] for name in ("token", "file") if name in told}
    return {**where, "id": told["id"], "expires": moment(told["expires"])}


def _told(member: Member) -> list[str]:
    roles = ", ".join(sorted(member.roles)) or "no role of the store"
    gone = "" if member.removed is None else f"; removed on {moment(member.removed)}"
    lines = [f"{member.name}: {roles}{gone}"]
    for one in member.tokens:
        end = f"expires {moment(one.expires)}"
        if one.revoked is not None:
            end = f"revoked {moment(one.revoked)}"
        lines.append(f"  token {one.id}, made by {one.made_by}, {end}")
    return lines


def _of_request(request: Request) -> dict[str, str]:
    facts = {
        "request": request.id,
        "asked": f"{moment(request.asked)}, by {request.person}, of {request.dataset}",
        "question": request.words,
        "price": request.price,
    }
    if request.certainty is not None:
        facts["certainty"] = request.certainty
    facts["status"] = request.status
    if request.decided is not None:
        facts["status"] += f" by {request.decided_by}, {moment(request.decided)}"
    if request.reason is not None:
        facts["reason"] = request.reason
    return facts
