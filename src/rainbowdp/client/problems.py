"""A service's problem as the library's own error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rainbowdp.errors import (
    BudgetExceeded,
    InvalidGuarantee,
    InvalidQuestion,
    LedgerError,
    LimitExceeded,
    NameTaken,
    RainbowError,
    ServiceError,
)

# What the library would have raised had it been asked on the spot.
_OWN: dict[str, type[RainbowError]] = {
    "budget_exceeded": BudgetExceeded,
    "limit_exceeded": LimitExceeded,
    "invalid_question": InvalidQuestion,
    "not_allowed_kind": InvalidQuestion,
    "not_allowed_column": InvalidQuestion,
    "not_allowed_value": InvalidQuestion,
    "not_allowed_unit": InvalidQuestion,
    "unfit": InvalidQuestion,
    "invalid_guarantee": InvalidGuarantee,
    "name_taken": NameTaken,
    "ledger_refused": LedgerError,
}
RETRIED = (408, 425, 429, 502, 503, 504)


def error_of(status: int, said: Any, where: str, name: str | None = None) -> RainbowError:
    """The error that a problem document (RFC 9457) says, or that a status alone does."""
    if not isinstance(said, Mapping) or not isinstance(said.get("detail"), str):
        return ServiceError(
            f"{where} replied with status {status} and without a reason. Is it the address of a "
            "rainbow service?",
            code="unexpected",
            status=status,
            name=name,
        )
    code, words = str(said.get("code", "unexpected")), str(said["detail"])
    if code in _OWN:
        return _OWN[code](words)
    return ServiceError(words, code=code, status=status, name=name)
