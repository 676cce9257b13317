"""How often: requests of each person, and sign-ins that fail.

Both are buckets that fill at an even rate, and that each request, or each failure, takes one out
of. The processes of one ``rainbow serve`` share them in a file that they all map into memory, so
that a limit is one limit however many processes there are. The file is locked by the operating
system, which gives the lock back when a process is killed.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import math
import mmap
import os
import secrets
import struct
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from rainbowdp.service.people.roles import Expired, Unauthenticated
from rainbowdp.service.problems import Code, Problem

_MOST_PEOPLE = 100_000
_MOST_TOKENS = 10_000
_SLOT = struct.Struct("=QQdd")  # whose it is, and what is left and when that was
_SLOTS = 16_384
_NEAR = 8  # slots in which somebody may be


class Buckets(Protocol):
    """What is left in each bucket, and when that was."""

    def take(self, whose: str, most: float, rate: float, amount: float) -> float:
        """Fill the bucket to now, take an amount out if it is there, and say what there was."""


def _filled(left: float, then: float, now: float, most: float, rate: float) -> float:
    return min(most, left + max(0.0, now - then) * rate)


class OwnBuckets:
    """The buckets of one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, whose: str, most: float, rate: float, amount: float) -> float:
        """Fill the bucket to now, take an amount out if it is there, and say what there was."""
        now = time.monotonic()
        with self._lock:
            left, then = self._left.pop(whose, (most, now))
            left = _filled(left, then, now, most, rate)
            self._left[whose] = (left - amount if left >= amount else left, now)
            if len(self._left) > _MOST_PEOPLE:
                self._left.popitem(last=False)
        return left


class SharedBuckets:
    """The buckets of all processes that were given one file; its clock is the machine's."""

    def __init__(self, file: Path) -> None:
        self._file = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        os.ftruncate(self._file, _SLOT.size * _SLOTS)
        self._slots = mmap.mmap(self._file, _SLOT.size * _SLOTS)
        self._lock = threading.Lock()  # the threads of a process have one lock of the file

    def take(self, whose: str, most: float, rate: float, amount: float) -> float:
        """Fill the bucket to now, take an amount out if it is there, and say what there was."""
        key = struct.unpack("=QQ", hashlib.sha256(whose.encode()).digest()[:16])
        with self._alone():
            now = time.monotonic()
            place, known = self._found(key)
            left, then = _SLOT.unpack_from(self._slots, place)[2:] if known else (most, now)
            left = _filled(left, then, now, most, rate)
            after = left - amount if left >= amount else left
            _SLOT.pack_into(self._slots, place, *key, after, now)
        return left

    def _found(self, key: tuple[int, int]) -> tuple[int, bool]:
        """Where somebody's slot is, and whether it is; else that of whoever asked least lately."""
        places = [(key[0] + step) % _SLOTS * _SLOT.size for step in range(_NEAR)]
        slots = [(place, _SLOT.unpack_from(self._slots, place)) for place in places]
        for place, slot in slots:
            if slot[:2] == key:
                return place, True
        return min(slots, key=lambda one: one[1][3])[0], False

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with self._lock:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(self._file, fcntl.LOCK_UN)


class Rates:
    """How often each person may ask."""

    def __init__(self, per_minute: int, buckets: Buckets | None = None) -> None:
        self._rate, self._most = per_minute / 60, max(1.0, per_minute / 6)
        self._buckets = OwnBuckets() if buckets is None else buckets

    def take(self, person: str) -> None:
        """Count a request; raise if there were too many."""
        left = self._buckets.take(f"person {person}", self._most, self._rate, 1)
        if left < 1:
            wait = math.ceil((1 - left) / self._rate)
            raise Problem(
                Code.TOO_MANY,
                f"You sent too many requests. Wait {wait} s, and send at most "
                f"{self._rate * 60:g} in a minute.",
                retry_after=wait,
            )


class SignIns:
    """How often sign-ins from one address may fail, before it is not listened to for a while.

    A secret of 256 bits is not guessed; this is so that guessing takes no time from others. Tokens
    that were accepted before, in this process, are looked up whatever else comes from the address:
    behind a proxy all of them come from there. Of these an HMAC is kept, under a key of its own.
    """

    def __init__(self, per_minute: int, buckets: Buckets | None = None) -> None:
        self._rate, self._most = per_minute / 60, max(1.0, per_minute / 6)
        self._buckets = OwnBuckets() if buckets is None else buckets
        self._key, self._lock = secrets.token_bytes(32), threading.Lock()
        self._accepted: OrderedDict[bytes, None] = OrderedDict()

    @contextmanager
    def watched(self, address: str, bearer: str) -> Iterator[None]:
        """Refuse an address of too many failures, and count one more if this fails."""
        mark = hmac.digest(self._key, bearer.encode("utf-8", "surrogateescape"), "sha256")
        whose = f"address {address}"
        with self._lock:
            known = mark in self._accepted
        left = 1.0 if known else self._buckets.take(whose, self._most, self._rate, 0)
        if left < 1:
            wait = math.ceil((1 - left) / self._rate)
            raise Problem(
                Code.TOO_MANY,
                f"Too many tokens from here were none. Wait {wait} s, and correct yours.",
                retry_after=wait,
            )
        try:
            yield
        except Expired:  # whose owner has it from us
            raise
        except Unauthenticated:
            with self._lock:
                self._accepted.pop(mark, None)
            self._buckets.take(whose, self._most, self._rate, 1)
            raise
        if not known:
            with self._lock:
                self._accepted[mark] = None
                if len(self._accepted) > _MOST_TOKENS:
                    self._accepted.popitem(last=False)
