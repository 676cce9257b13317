"""Ctrl-C and SIGTERM while the command runs.

A signal is noted and raised where the program is. A library that swallows what is raised does not
swallow the note, which ``check`` looks at before anything is paid, and one that makes another error
of it is seen through. While a module is imported nothing is raised, but afterwards: compiled ones
abort the whole process on it.
"""

from __future__ import annotations

import signal
import time
from types import FrameType

_UNWINDING = 2.0  # seconds in which what was raised should have arrived
_AGAIN = 0.02  # seconds until another look whether an import is done
_IMPORT = "<frozen importlib"
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
    if signal.getsignal(signal.SIGINT) is not _note:  # they were never ours
        return
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


def noted() -> Interrupted | None:
    """The first signal that came, whatever became of it."""
    return Interrupted(_noted[0][0]) if _noted else None


def check() -> None:
    """Raise a signal that was noted, in case a library swallowed it."""
    if (found := noted()) is not None:
        raise found


def _note(number: int, frame: FrameType | None) -> None:
    now = time.monotonic()
    _noted.append((number, now))
    # Impatient fingers must not interrupt the clearing away that the first signal began.
    if len(_noted) == 1 or now - _noted[-2][1] > _UNWINDING:
        _raise(0, frame)


def _raise(_: int, frame: FrameType | None) -> None:
    """Raise the first signal, now or when the import at hand is done."""
    if _importing(frame) and hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _raise)
        signal.setitimer(signal.ITIMER_REAL, _AGAIN)
        return
    raise Interrupted(_noted[0][0])


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith(_IMPORT):
            return True
        frame = frame.f_back
    return False
