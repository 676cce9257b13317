"""What went wrong in a database, in plain words and with a remedy."""

from __future__ import annotations

import errno
import sqlite3

from sqlalchemy.exc import DBAPIError

from rainbowdp.errors import LedgerError, Unavailable
from rainbowdp.ledger.schema import damaged

NOTHING_SPENT = "Nothing was spent."

_SQLITE = {
    "SQLITE_BUSY": "locked",
    "SQLITE_LOCKED": "locked",
    "SQLITE_READONLY": "read-only",
    "SQLITE_PERM": "read-only",
    "SQLITE_FULL": "full",
    "SQLITE_IOERR": "failing",
    "SQLITE_CANTOPEN": "closed",
    "SQLITE_CORRUPT": "damaged",
    "SQLITE_NOTADB": "foreign",
    "SQLITE_ERROR": "foreign",
}

_POSTGRESQL = {
    "55P03": "locked",
    "57014": "locked",
    "25006": "read-only",
    "42501": "read-only",
    "53100": "full",
    "XX001": "damaged",
    "XX002": "damaged",
    "42P01": "foreign",
    "42703": "foreign",
    "42P07": "taken",
    "23505": "taken",
}

_SENTENCES = {
    "locked": "{where} is locked by another process and was not free within {timeout:g} s. Try "
    "again, or allow a longer timeout.",
    "read-only": "{where} is read-only. Make it and its folder writable for this user.",
    "full": "The disk that holds {where} is full. Free some space and try again.",
    "failing": "{where} could not be read or written: {detail}. Repair its disk or server, and "
    "look at the history before you ask again.",
    "closed": "{where} cannot be opened: {detail}. Correct the path, or make the file and its "
    "folder accessible to this user.",
    "no folder": "There is no folder for {where}. Make the folder first.",
    "foreign": "{where} is not a rainbowdp ledger. Correct the path or address, or create a "
    "ledger at a new one.",
    "taken": "{where} already exists and was left as it was. Open it, or create the ledger "
    "somewhere else.",
    "unreachable": "The server of {where} cannot be reached: {detail}. Start the server, or "
    "correct the address.",
    "lost": "The connection to {where} was lost: {detail}. The question may have been paid for: "
    "look at the history before you ask again.",
    "unsettled": "{where} has taken what was to be written, and could not bring it to disk: "
    "{detail}. The question may have been paid for: look at the history before you ask again.",
    "two names": "{where} has a second name, a hard link, and a ledger under two names can be "
    "overspent. Remove the other name, or make a copy and use only that.",
    "mounted": "{where} is a file that is mounted by itself, and a ledger under two names can be "
    "overspent. Mount the folder that holds it instead.",
    "no locks": "{where} is on a file system that grants one lock to two processes, so that a "
    "ledger there can be overspent. Keep it on a local disk, or in PostgreSQL.",
    "swapped": "{where} was replaced by another file while it was in use. Find out which file is "
    "the ledger, and look at its history before you ask again.",
}
_KNOWN_OUTCOME = ("locked", "read-only", "full")  # the transaction certainly never was


def sentence(what: str, where: str, *, timeout: float = 0, detail: str = "") -> LedgerError:
    """The error for one kind of trouble at one place."""
    if what == "damaged":
        return damaged(where)
    kind = LedgerError if what in ("no folder", "taken") else Unavailable
    return kind(_SENTENCES[what].format(where=where, timeout=timeout, detail=detail))


def explain(
    error: DBAPIError | sqlite3.Error, where: str, timeout: float, otherwise: str = ""
) -> LedgerError:
    """What a database reported, in our words.

    SQLite names its errors, PostgreSQL gives them a code; an error with neither is, in SQLite,
    text that cannot be decoded and, in PostgreSQL, a server that cannot be reached. ``otherwise``
    says what became of what was to be done, where that is certain.
    """
    original, detail = _original(error), _detail(error)
    if isinstance(original, sqlite3.Error):
        name = getattr(original, "sqlite_errorname", "SQLITE_CORRUPT")
        what = _SQLITE.get("_".join(name.split("_")[:2]), "failing")
    elif isinstance(error, DBAPIError) and error.connection_invalidated:
        what = "lost"
    else:
        code = getattr(original, "sqlstate", None)
        what = _POSTGRESQL.get(code, "failing") if code else "unreachable"
    told = sentence(what, where, timeout=timeout, detail=detail)
    if otherwise and what in _KNOWN_OUTCOME:
        return Unavailable(f"{told} {otherwise}")
    return told


def unsettled(where: str, error: DBAPIError) -> LedgerError:
    """What was committed and is perhaps not on disk."""
    return sentence("unsettled", where, detail=_detail(error))


def _original(error: DBAPIError | sqlite3.Error) -> BaseException | None:
    return error.orig if isinstance(error, DBAPIError) else error


def _detail(error: DBAPIError | sqlite3.Error) -> str:
    return str(_original(error)).partition("\n")[0].rstrip(".")


def explain_file(error: OSError, where: str) -> LedgerError:
    """What the file system reported, in our words."""
    if isinstance(error, FileExistsError):
        return sentence("taken", where)
    if isinstance(error, FileNotFoundError):
        return sentence("no folder", where)
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return sentence("read-only", where)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return sentence("full", where)
    return sentence("closed", where, detail=error.strerror or str(error))
