"""Whether a file is one file: under one name, the same as before, and with locks that work.

SQLite finds the journal of a file by its name. Under a second name, a hard link or a bind mount of
the file itself, a process does not see the journal that another one left when it was killed, and
pays twice with the same budget. On a file system whose locks are granted to everybody, two
processes pay at the same time. Both are refused.
"""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path

from rainbowdp.ledger.trouble import sentence

_DRAFTS = ".rainbow-*/ledger"


def seen(path: Path, where: str) -> tuple[int, int] | None:
    """Which file is at this path, by device and number; refuses one that has two names."""
    try:
        found = path.stat()
    except OSError:
        return None  # SQLite says what is wrong
    if found.st_nlink > 1 and path.is_file():
        finish_creation(path)
        if path.stat().st_nlink > 1:
            raise sentence("two names", where)
    return found.st_dev, found.st_ino


def same_file(path: Path, opened: tuple[int, int] | None) -> bool:
    """Whether the file at this path is still the one that was opened."""
    try:
        found = path.stat()
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == opened


def finish_creation(path: Path) -> None:
    """Removes the draft of a ledger whose creation was killed after it had its name."""
    with suppress(OSError):
        if path.stat().st_nlink == 2:
            for draft in path.parent.glob(_DRAFTS):
                if draft.samefile(path):
                    draft.unlink()
                    draft.parent.rmdir()


def check_place(path: Path, where: str) -> None:
    """Refuses a file that is mounted by itself, and a folder whose locks do not work."""
    if str(path.resolve()) in _mounts():
        raise sentence("mounted", where)
    if not locks_work(path.parent):
        raise sentence("no locks", where)


def _mounts() -> set[str]:
    """Where something is mounted, on Linux."""
    try:
        lines = Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return set()
    places = (line.split(" ")[4] for line in lines)  # with blanks as \\040
    return {re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), place) for place in places}


def locks_work(folder: Path) -> bool:
    """Whether a lock on a file in this folder keeps others out.

    Locks that belong to an open file, not to a process, go the same way through the file system,
    and can be tried within one process. Where there are none, nothing is tried.
    """
    try:
        import fcntl

        command = fcntl.F_OFD_SETLK
    except (ImportError, AttributeError):
        return True
    import struct

    wanted = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0)
    try:
        probe, name = tempfile.mkstemp(dir=folder, prefix=".rainbow-lock-")
    except OSError:
        return True  # nobody can pay here, and SQLite says why
    other = None
    try:
        other = os.open(name, os.O_RDWR)
        fcntl.fcntl(probe, command, wanted)
        try:
            fcntl.fcntl(other, command, wanted)
        except OSError:
            return True
        return False
    except OSError:
        return False
    finally:
        for file in (probe, other):
            if file is not None:
                os.close(file)
        Path(name).unlink(missing_ok=True)
