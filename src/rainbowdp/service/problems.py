"""What is refused, in one sentence and with a code: ``application/problem+json`` (RFC 9457).

The codes are one closed list. A sentence names what is wrong and the remedy, and never shows what a
table holds, where data or ledgers are, or what a database said.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from fastapi.responses import JSONResponse

from rainbowdp.errors import (
    BudgetExceeded,
    InvalidGuarantee,
    InvalidQuestion,
    LedgerError,
    LimitExceeded,
    NameTaken,
    NoTable,
    RainbowError,
    Unavailable,
    UnreadableTable,
)
from rainbowdp.service.people.roles import Expired, Unauthenticated

MEDIA_TYPE = "application/problem+json"
_TYPE = "urn:rainbowdp:problem:"


class Code(StrEnum):
    """Why a request was refused."""

    MALFORMED = "malformed"
    INVALID_REQUEST = "invalid_request"
    INVALID_QUESTION = "invalid_question"
    INVALID_GUARANTEE = "invalid_guarantee"
    NOT_ALLOWED_KIND = "not_allowed_kind"
    NOT_ALLOWED_COLUMN = "not_allowed_column"
    NOT_ALLOWED_VALUE = "not_allowed_value"
    NOT_ALLOWED_UNIT = "not_allowed_unit"
    UNFIT = "unfit"
    UNAUTHENTICATED = "unauthenticated"
    EXPIRED = "expired"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    UNKNOWN_DATASET = "unknown_dataset"
    UNKNOWN_ANSWER = "unknown_answer"
    UNKNOWN_REQUEST = "unknown_request"
    UNKNOWN_PERSON = "unknown_person"
    UNKNOWN_TOKEN = "unknown_token"  # noqa: S105
    NO_SUCH_METHOD = "no_such_method"
    TOO_SLOW = "too_slow"
    BUDGET_EXCEEDED = "budget_exceeded"
    LIMIT_EXCEEDED = "limit_exceeded"
    NAME_TAKEN = "name_taken"
    CONFLICT = "conflict"
    LEDGER_REFUSED = "ledger_refused"
    WAITING_FOR_APPROVAL = "waiting_for_approval"
    REFUSED = "refused"
    TOO_LARGE = "too_large"
    TOO_MANY = "too_many"
    INTERNAL = "internal"
    BUSY = "busy"
    STOPPING = "stopping"
    NOT_READY = "not_ready"
    DATA_UNREADABLE = "data_unreadable"


class _Kind(NamedTuple):
    status: int
    title: str


KINDS: Mapping[Code, _Kind] = {
    Code.MALFORMED: _Kind(400, "The request cannot be read"),
    Code.INVALID_REQUEST: _Kind(422, "The request makes no sense"),
    Code.INVALID_QUESTION: _Kind(422, "The question makes no sense"),
    Code.INVALID_GUARANTEE: _Kind(422, "The guarantee cannot be used"),
    Code.NOT_ALLOWED_KIND: _Kind(403, "This kind of question may not be asked"),
    Code.NOT_ALLOWED_COLUMN: _Kind(403, "This column may not be asked about so"),
    Code.NOT_ALLOWED_VALUE: _Kind(403, "This value may not be asked about"),
    Code.NOT_ALLOWED_UNIT: _Kind(403, "The question is for another unit"),
    Code.UNFIT: _Kind(422, "The question does not fit the data"),
    Code.UNAUTHENTICATED: _Kind(401, "A token is needed"),
    Code.EXPIRED: _Kind(401, "The token has expired"),
    Code.FORBIDDEN: _Kind(403, "This needs another role"),
    Code.NOT_FOUND: _Kind(404, "There is nothing here"),
    Code.UNKNOWN_DATASET: _Kind(404, "There is no such dataset"),
    Code.UNKNOWN_ANSWER: _Kind(404, "There is no such answer"),
    Code.UNKNOWN_REQUEST: _Kind(404, "There is no such request"),
    Code.UNKNOWN_PERSON: _Kind(404, "There is no such person"),
    Code.UNKNOWN_TOKEN: _Kind(404, "There is no such token"),
    Code.NO_SUCH_METHOD: _Kind(405, "There is no such method here"),
    Code.TOO_SLOW: _Kind(408, "It took too long"),
    Code.BUDGET_EXCEEDED: _Kind(409, "The budget does not suffice"),
    Code.LIMIT_EXCEEDED: _Kind(409, "The asker's limit does not suffice"),
    Code.NAME_TAKEN: _Kind(409, "The name or key belongs to another question"),
    Code.CONFLICT: _Kind(409, "It is not so any more"),
    Code.LEDGER_REFUSED: _Kind(409, "The ledger refuses"),
    Code.WAITING_FOR_APPROVAL: _Kind(409, "The question waits for approval"),
    Code.REFUSED: _Kind(403, "The question was refused"),
    Code.TOO_LARGE: _Kind(413, "The request is too large"),
    Code.TOO_MANY: _Kind(429, "Too many requests"),
    Code.INTERNAL: _Kind(500, "Something went wrong"),
    Code.BUSY: _Kind(503, "The service is busy"),
    Code.STOPPING: _Kind(503, "The service is stopping"),
    Code.NOT_READY: _Kind(503, "The service is not ready"),
    Code.DATA_UNREADABLE: _Kind(503, "The data cannot be read now"),
}


class Problem(Exception):
    """A request that is refused.

    Attributes
    ----------
    code : Code
        Why.
    detail : str
        One sentence with the remedy.
    retry_after : int or None
        After how many seconds it may work.

    """

    def __init__(self, code: Code, detail: str, *, retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.code, self.detail, self.retry_after = code, detail, retry_after

    @property
    def status(self) -> int:
        """The status of the reply."""
        return KINDS[self.code].status

    def as_dict(self) -> dict[str, Any]:
        """The problem in JSON values."""
        kind = KINDS[self.code]
        return {
            "type": f"{_TYPE}{self.code}",
            "title": kind.title,
            "status": kind.status,
            "detail": self.detail,
            "code": str(self.code),
        }

    def response(self) -> JSONResponse:
        """The reply."""
        headers = {}
        if self.retry_after is not None:
            headers["Retry-After"] = str(self.retry_after)
        if self.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        return JSONResponse(self.as_dict(), self.status, headers, MEDIA_TYPE)


class NotDone(RainbowError):
    """Something about people, tokens or requests that cannot be done, with the code of why."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code


_OUT_OF_REACH = (
    "The service cannot reach its ledger now. Nothing is lost: ask again with the same "
    "Idempotency-Key in a few seconds."
)
_UNREADABLE = (
    "The data cannot be read now, and nothing was spent. Tell the curator, whose log has the "
    "reason."
)

_CODES: tuple[tuple[type[RainbowError], Code], ...] = (  # the first that fits
    (Expired, Code.EXPIRED),
    (Unauthenticated, Code.UNAUTHENTICATED),
    (LimitExceeded, Code.LIMIT_EXCEEDED),
    (BudgetExceeded, Code.BUDGET_EXCEEDED),
    (NameTaken, Code.NAME_TAKEN),
    (LedgerError, Code.LEDGER_REFUSED),
    (InvalidGuarantee, Code.INVALID_GUARANTEE),
    (InvalidQuestion, Code.INVALID_QUESTION),
    (NoTable, Code.INVALID_GUARANTEE),
)


def problem_of(error: RainbowError) -> Problem | None:
    """What an error of the library is to an analyst; ``None`` if it should not have happened."""
    if isinstance(error, Unavailable):
        return Problem(Code.NOT_READY, _OUT_OF_REACH, retry_after=5)
    if isinstance(error, UnreadableTable):
        return Problem(Code.DATA_UNREADABLE, _UNREADABLE, retry_after=60)
    if isinstance(error, NotDone):
        return Problem(error.code, str(error))
    for kind, code in _CODES:
        if isinstance(error, kind):
            return Problem(code, sentence(str(error)))
    return None


def sentence(message: str) -> str:
    """A message on one line, with a full stop.

    >>> sentence("q must lie between 0 and 1, got q=2")
    'q must lie between 0 and 1, got q=2.'
    """
    text = " ".join(message.split())
    return text if text.endswith((".", "!", "?")) else f"{text}."
