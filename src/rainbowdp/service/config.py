"""What ``service.toml`` says: where the service listens, its limits, and its datasets."""

from __future__ import annotations

import os
import re
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
)

from rainbowdp.errors import InvalidFile
from rainbowdp.questions.functions import FUNCTIONS
from rainbowdp.service.people.openid import OpenIdSettings

_SPAN = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(ms|s|min|h)")
_UNITS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}
_SIZE = re.compile(r"([0-9]+)\s*(B|kB|MB)")
_SIZES = {"B": 1, "kB": 1000, "MB": 1_000_000}
_FROM_ENVIRONMENT = "env:"
ANY = "any"


def _seconds(value: object) -> float:
    found = _SPAN.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise ValueError('must be a time such as "0.5 s", "200 ms" or "2 min"')
    return float(found[1]) * _UNITS[found[2]]


def _bytes(value: object) -> int:
    found = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise ValueError('must be a size such as "64 kB" or "1 MB"')
    return int(found[1]) * _SIZES[found[2]]


def _from_environment(value: str) -> str:
    """``env:NAME`` stands for what that variable of the environment holds."""
    if not value.startswith(_FROM_ENVIRONMENT):
        return value
    name = value.removeprefix(_FROM_ENVIRONMENT)
    found = os.environ.get(name)
    if not found:
        raise ValueError(f"takes its value from the environment, where {name} is not set")
    return found


def _function(value: str) -> str:
    if value not in FUNCTIONS:
        raise ValueError(f"must be of {', '.join(FUNCTIONS)}")
    return value


def _spelled(value: object) -> object:
    """A value of TOML as a question would write it."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) or hasattr(value, "isoformat") else value


def _positive(value: str) -> str:
    try:
        wrong = Fraction(value) <= 0
    except (ValueError, ZeroDivisionError):
        wrong = True
    if wrong:
        raise ValueError("must be a number above 0")
    return value


Seconds = Annotated[float, BeforeValidator(_seconds)]
Size = Annotated[int, BeforeValidator(_bytes)]
Place = Annotated[str, Field(min_length=1), AfterValidator(_from_environment)]
Spelled = Annotated[str, BeforeValidator(_spelled), Field(min_length=1)]
Number = Annotated[str, BeforeValidator(_spelled), AfterValidator(_positive)]
Listed = Literal["any"] | tuple[Spelled, ...]
Function = Annotated[str, AfterValidator(_function)]


class _Said(BaseModel):
    """A table of the file: no other key than these, each of its type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Column(_Said):
    """What may be asked about one column.

    Attributes
    ----------
    title
        What the column holds, for analysts.
    answers
        The values that questions may list or match: a list, or ``"any"``.
    other, missing
        Whether all other values, and rows without one, may be an answer of their own.
    bins
        The edges of bins and ranges that may be asked for: a list, or ``"any"``.
    groups
        The values by which rows may be grouped: a list, or ``"any"``.
    groups_are_public
        Whether everybody knows which group each row is in, so that analysts may say so.
    filter
        Whether conditions may look at it: ``"any"``, or ``"listed"`` if they may compare it with
        its listed answers, bins and groups alone.
    apply
        The functions of its values that may be asked about.
    keys
        Whether its values may be asked for, where nobody lists them.
    weight
        The largest limit of a weight, if rows may be weighed by it.

    """

    title: str | None = None
    answers: Listed = ()
    other: bool = False
    missing: bool = False
    bins: Listed = ()
    groups: Listed = ()
    groups_are_public: bool = False
    filter: Literal["no", "listed", "any"] = "no"
    apply: tuple[Function, ...] = ()
    keys: bool = False
    weight: Number | None = None


class DatasetSettings(_Said):
    """One dataset: where it is, its ledger, and what may be asked of it.

    Attributes
    ----------
    title, description
        For analysts.
    data
        A path or a glob of files, or the address of a database.
    table, schema_
        The table in the database, and its schema.
    delimiter, encoding, decimal, header, trusted, format
        How a text file is read, as for ``TextFile``.
    ledger
        The path or address of the ledger that pays; it says whose data one change is.
    source
        What the data is called in the ledger; the dataset's name, if left out.
    approval
        Whether a curator must approve each question.
    kinds
        The kinds of questions that may be asked; all of them, if left out.
    columns
        What may be asked about each column; other columns do not exist for analysts.

    """

    title: str | None = None
    description: str | None = None
    data: Place
    table: str | None = None
    schema_: str | None = Field(default=None, alias="schema")
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    header: tuple[str, ...] | None = None
    trusted: bool = False
    format: str | None = None
    ledger: Place
    source: str | None = None
    approval: bool = False
    kinds: tuple[str, ...] | None = None
    columns: dict[str, Column]


class Settings(_Said):
    """All that ``service.toml`` says.

    Attributes
    ----------
    title
        What the service is called.
    host, port
        Where it listens. TLS is for a reverse proxy in front.
    socket
        A Unix socket to listen at instead, which no network reaches. Who may enter its folder may
        send requests.
    store
        People, tokens and requests for approval: a path, or the address of a PostgreSQL database.
    workers
        How many processes answer; more than one needs PostgreSQL for the ledgers and the store.
    threads
        How many questions one process works on at once.
    waiting
        How many more may wait for that before others are turned away.
    time_limit
        How long an analyst waits for an answer at most.
    floor
        Every answer, also that something is refused, takes at least so long or a multiple of it.
    largest_body
        How large a request may be.
    requests_per_minute
        How many requests each person may send.
    failed_sign_ins_per_minute
        How many tokens that are none may come from one address.
    open_metrics
        Whether ``/metrics`` needs no token.
    grace
        How long running questions may take to finish when the service stops.
    openid
        The issuer of OpenID Connect tokens, if there is one.
    dataset
        The datasets by name.

    """

    title: str = "rainbow"
    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)
    socket: str | None = Field(default=None, min_length=1)
    store: Place = "people.db"
    workers: int = Field(default=1, ge=1, le=64)
    threads: int = Field(default=4, ge=1, le=64)
    waiting: int = Field(default=64, ge=0, le=10_000)
    time_limit: Seconds = 30.0
    floor: Seconds = 0.0
    largest_body: Size = 100_000
    requests_per_minute: int = Field(default=600, ge=1)
    failed_sign_ins_per_minute: int = Field(default=60, ge=1)
    open_metrics: bool = False
    grace: Seconds = 30.0
    openid: OpenIdSettings | None = None
    dataset: dict[str, DatasetSettings] = Field(min_length=1)

    _file: Path = PrivateAttr(default=Path("service.toml"))

    def listening_at(self, port: int) -> Settings:
        """The same settings with another port."""
        changed = self.model_copy(update={"port": port, "socket": None})
        changed._file = self._file
        return changed

    def placed(self, place: str) -> str:
        """A path from the folder of the file; an address as it is."""
        return place if "://" in place else str(self._file.parent / place)


def read_settings(file: Path) -> Settings:
    """What a file says, checked; the error names the key and what it must be."""
    return settings_of(_read(file), file)


def settings_of(said: dict[str, Any], file: Path) -> Settings:
    """The same from what was read; paths are from the folder of the file."""
    try:
        settings = Settings.model_validate(_tuples(said))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    else:
        settings._file = file
        _check(settings, file)
        return settings
    where = ".".join(str(part) for part in first["loc"] if not isinstance(part, int))
    raise InvalidFile(f"{file}: {where}: {_sentence(first)}.")


def _sentence(error: Any) -> str:
    """What pydantic found, without the value, which may be a password."""
    if error["type"] == "extra_forbidden":
        return "there is no such key; see the reference of service.toml"
    if error["type"] == "missing":
        return "this key is missing"
    message = str(error["msg"]).removeprefix("Value error, ")
    return message[0].lower() + message[1:].rstrip(".")


def _tuples(said: Any) -> Any:
    """Lists as tuples, which frozen settings hold."""
    if isinstance(said, dict):
        return {key: _tuples(value) for key, value in said.items()}
    return tuple(map(_tuples, said)) if isinstance(said, list) else said


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"), parse_float=str)
    except OSError as error:
        wrong = error.strerror or "it cannot be opened"
        raise InvalidFile(
            f"The settings {file} cannot be read: {wrong}. Name the service.toml of the service."
        ) from None
    except UnicodeDecodeError:
        wrong = "it is not a text file in UTF-8"
    except tomllib.TOMLDecodeError as error:
        wrong = " ".join(str(error).split())
    raise InvalidFile(f"{file} cannot be read as TOML: {wrong}.")


def is_postgres(place: str) -> bool:
    """Whether a place is a PostgreSQL database."""
    return place.partition("://")[0] in ("postgresql", "postgres", "postgresql+psycopg")


def _check(settings: Settings, file: Path) -> None:
    """What no key says alone."""
    for name in settings.dataset:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
            raise InvalidFile(
                f"{file}: dataset.{name}: a dataset's name has letters, digits, '.', '_' and '-' "
                "alone, since it is part of addresses."
            )
    if settings.workers == 1:
        return
    places = {"store": settings.store}
    places |= {f"dataset.{name}.ledger": one.ledger for name, one in settings.dataset.items()}
    for key, place in places.items():
        if not is_postgres(place):
            raise InvalidFile(
                f"{file}: workers: {settings.workers} processes need PostgreSQL for {key}. Give an "
                "address such as postgresql://user@host/database there, or leave out workers."
            )
