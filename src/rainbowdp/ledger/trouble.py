"""What went wrong in a database, as one sentence with its remedy."""

from __future__ import annotations

import errno
import sqlite3

from sqlalchemy.exc import DBAPIError

from rainbowdp.errors import LedgerError
from rainbowdp.ledger.schema import damaged

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
    "locked": "a ledger must be free within {timeout:g} s, got a lock held by someone else on "
    "{where}; try again, or allow a longer timeout; nothing was spent",
    "read-only": "a ledger must be writable to be changed, got a read-only one at {where}; make "
    "it and its folder writable for this user; nothing was spent",
    "full": "a ledger needs room to write, got a full disk at {where}; free some space and try "
    "again; nothing was spent",
    "failing": "a ledger's database must take what is written, got '{detail}' at {where}; mend "
    "its disk or server and see the history before asking again",
    "closed": "a ledger must be a file this user can open in a writable folder, got '{detail}' "
    "for {where}; correct the path or its permissions",
    "foreign": "a ledger must be made by rainbowdp, got something else at {where}; correct the "
    "place, or create a ledger at a new one",
    "taken": "a ledger is created once, got a place that is taken, {where}; open it, or choose "
    "another place",
    "unreachable": "the server of a ledger must be reachable, got '{detail}' from {where}; start "
    "the server or correct the address",
    "lost": "the server of a ledger must stay reachable, got '{detail}' from {where}; see the "
    "history before asking again, the question may have been paid",
}


def sentence(what: str, where: str, *, timeout: float = 0, detail: str = "") -> LedgerError:
    """The error for one kind of trouble at one place."""
    return LedgerError(_SENTENCES[what].format(where=where, timeout=timeout, detail=detail))


def explain(error: DBAPIError, where: str, timeout: float) -> LedgerError:
    """What a database reported, in our words.

    SQLite names its errors, PostgreSQL gives them a code; an error with neither is, in SQLite,
    text that cannot be decoded and, in PostgreSQL, a server that cannot be reached.
    """
    original = error.orig
    detail = str(original).partition("\n")[0]
    if isinstance(original, sqlite3.Error):
        name = getattr(original, "sqlite_errorname", "SQLITE_CORRUPT")
        what = _SQLITE.get("_".join(name.split("_")[:2]), "failing")
    elif error.connection_invalidated:
        what = "lost"
    else:
        code = getattr(original, "sqlstate", None)
        what = _POSTGRESQL.get(code, "failing") if code else "unreachable"
    if what == "damaged":
        return damaged(where)
    return sentence(what, where, timeout=timeout, detail=detail)


def explain_file(error: OSError, where: str) -> LedgerError:
    """What the file system reported, in our words."""
    if isinstance(error, FileExistsError):
        return sentence("taken", where)
    if isinstance(error, FileNotFoundError):
        return LedgerError(f"a ledger's folder must exist, got {where}; make the folder first")
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return sentence("read-only", where)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return sentence("full", where)
    return sentence("closed", where, detail=error.strerror or str(error))
