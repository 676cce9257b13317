"""Tokens: 256 random bits that are shown once, and of which only a hash is kept.

A token is ``rb_<id>_<secret>``. The id finds its row; the secret is compared by argon2id
(RFC 9106), with the memory and time that OWASP recommends, in constant time. That takes some twenty
milliseconds, so a process remembers which tokens it has verified: not the token, but an HMAC of it
and of the stored hash, under a key of its own that never leaves its memory. Whether the token is
revoked or expired is asked of the store each time.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from threading import BoundedSemaphore, Lock

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

PREFIX = "rb_"
_TOKEN = re.compile(r"rb_([0-9a-f]{16})_([0-9a-f]{64})", re.ASCII)
_HASHER = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1, type=Type.ID)
_AT_ONCE = BoundedSemaphore(2)  # hashes: each takes 19 MiB, and forgers must not take it all
_MOST_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Token:
    """A new token: ``text`` is for its owner, and is shown once."""

    id: str
    text: str = field(repr=False)

    @classmethod
    def new(cls) -> Token:
        """A token that nobody else has."""
        number = secrets.token_hex(8)
        return cls(number, f"{PREFIX}{number}_{secrets.token_hex(32)}")

    def hashed(self) -> str:
        """What is kept of it."""
        with _AT_ONCE:
            return _HASHER.hash(self.text)


def id_of(bearer: str) -> str | None:
    """The public part of what looks like a token.

    >>> id_of("rb_0123456789abcdef_" + 64 * "0"), id_of("rb_0123456789abcdef_"), id_of("rb_")
    ('0123456789abcdef', None, None)
    """
    found = _TOKEN.fullmatch(bearer)
    return None if found is None else found[1]


class Verifier:
    """Compares tokens with what is kept of them, and remembers which were right."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._known: OrderedDict[str, bytes] = OrderedDict()
        self._lock = Lock()

    def matches(self, bearer: str, hashed: str) -> bool:
        """Whether the token is the one that was hashed."""
        number = id_of(bearer)
        if number is None:
            return False
        mark = hmac.digest(self._key, f"{hashed}\0{bearer}".encode(), hashlib.sha256)
        if self._knows(number, mark):
            return True
        with _AT_ONCE:
            if self._knows(number, mark):  # of many first requests at once, one or two compare
                return True
            if not _compared(bearer, hashed):
                return False
            with self._lock:
                self._known[number] = mark
                self._known.move_to_end(number)
                if len(self._known) > _MOST_REMEMBERED:
                    self._known.popitem(last=False)
        return True

    def _knows(self, number: str, mark: bytes) -> bool:
        with self._lock:
            known = self._known.get(number)
        return known is not None and hmac.compare_digest(known, mark)


def _compared(bearer: str, hashed: str) -> bool:
    if not hashed.startswith("$argon2id$"):
        return False
    try:
        return _HASHER.verify(hashed, bearer)
    except (VerificationError, InvalidHashError):
        return False
