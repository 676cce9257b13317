"""Ctrl-C and SIGTERM while the command runs.

A signal is noted and raised where the program is. A library that swallows what is raised does not
swallow the note, which ``check`` looks at before anything is paid.
"""

from __future__ import annotations

import signal
import time
from types import FrameType

_UNWINDING = 2.0  # seconds in which what was raised should have arrived
_noted: list[tuple[int, float]] = []


class Interrupted(KeyboardInterrupt):
    """A signal that asks the command to end."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def watch() -> None:
    """Take the signals from here on."""
    _noted.clear()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _note)


def let_go() -> None:
    """Take no more signals: all is done, and said."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def check() -> None:
    """Raise a signal that was noted, in case a library swallowed it."""
    if _noted:
        raise Interrupted(_noted[0][0])


def _note(number: int, frame: FrameType | None) -> None:
    now = time.monotonic()
    _noted.append((number, now))
    # Impatient fingers must not interrupt the clearing away that the first signal began.
    if len(_noted) == 1 or now - _noted[-2][1] > _UNWINDING:
        raise Interrupted(number)
