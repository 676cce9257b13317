"""A disk that fails on purpose, under SQLite's own feet, by a seed that replays it.

A shim around SQLite's file system layer (a VFS, registered through ctypes as the default) sees
every write, sync, truncation and deletion. It keeps, besides the files, a model of what a power cut
would leave: the content at the last sync, and the writes since then, of which any may be lost, torn
at a sector, or have overtaken others. One ``Plan`` says what goes wrong, and at which operation.
"""

from __future__ import annotations

import _sqlite3
import ctypes
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_int, c_int64, c_void_p, sizeof
from dataclasses import dataclass, field
from pathlib import Path

OK, IOERR, FULL = 0, 10, 13
_READ, _WRITE, _FSYNC, _TRUNCATE, _DELETE = (IOERR | k << 8 for k in (1, 3, 4, 6, 10))
_SECTOR = 512

FAULTS = ("error", "full", "crash", "lost write", "torn write", "lost transaction")
"""What a disk does: report an error, report that it is full, lose power, lie about one write, do
half of one write, or lie about all writes to one file from some moment on until it is closed."""


@dataclass
class Plan:
    """What goes wrong: one fault, at one operation."""

    fault: str | None
    at: int
    dice: random.Random
    seen: int = 0
    done: bool = False
    off: bool = False
    """Whether the power is off: nothing works until the disk is started again."""
    action: Callable[[], object] | None = None
    """What happens besides, where the fault is a swap."""
    files: dict[str, _File] = field(default_factory=dict)
    undeleted: dict[str, bytes] = field(default_factory=dict)

    def strikes(self) -> bool:
        """Whether it is this operation's turn."""
        self.seen += 1
        return self.fault is not None and not self.done and self.seen > self.at

    def cut(self) -> None:
        """Turns the power off, and leaves on disk what a power cut may leave."""
        self.off = self.done = True
        for path, file in self.files.items():
            file.settle(Path(path), self.dice)
        for path, content in self.undeleted.items():
            if self.dice.random() < 0.5:
                Path(path).write_bytes(content)


@dataclass
class _File:
    """A file and what of it is durable; ``None`` is a file that need not be there."""

    durable: bytes | None
    since: list[tuple[int, bytes] | int] = field(default_factory=list)
    """Writes since the last sync, and sizes to which it was cut."""

    def settle(self, path: Path, dice: random.Random) -> None:
        if not self.since and self.durable is not None:
            return
        if self.durable is None and dice.random() < 0.5:
            path.unlink(missing_ok=True)
            return
        content = bytearray(self.durable or b"")
        kept = [one for one in self.since if dice.random() < 0.6]
        if dice.random() < 0.5:
            dice.shuffle(kept)
        for one in kept:
            if isinstance(one, int):
                del content[one:]
                continue
            offset, data = one
            if dice.random() < 0.2:  # torn
                data = data[: dice.randrange(0, len(data) + 1, _SECTOR)] if data else data
            if len(content) < offset:
                content.extend(bytes(offset - len(content)))
            content[offset : offset + len(data)] = data
        path.write_bytes(content)


# SQLite's structures, as far as they are needed


class _Vfs(ctypes.Structure):
    pass


_OPEN = CFUNCTYPE(c_int, POINTER(_Vfs), c_void_p, c_void_p, c_int, POINTER(c_int))
_REMOVE = CFUNCTYPE(c_int, POINTER(_Vfs), c_char_p, c_int)
_Vfs._fields_ = [
    ("iVersion", c_int),
    ("szOsFile", c_int),
    ("mxPathname", c_int),
    ("pNext", c_void_p),
    ("zName", c_char_p),
    ("pAppData", c_void_p),
    ("xOpen", _OPEN),
    ("xDelete", _REMOVE),
    *((name, c_void_p) for name in ("xAccess", "xFullPathname", "xDlOpen", "xDlError", "xDlSym")),
    *((name, c_void_p) for name in ("xDlClose", "xRandomness", "xSleep", "xCurrentTime")),
    *((name, c_void_p) for name in ("xGetLastError", "xCurrentTimeInt64", "xSetSystemCall")),
    *((name, c_void_p) for name in ("xGetSystemCall", "xNextSystemCall")),
]

_PLAIN = CFUNCTYPE(c_int, c_void_p)
_MOVE = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
_CUT = CFUNCTYPE(c_int, c_void_p, c_int64)
_NUMBER = CFUNCTYPE(c_int, c_void_p, c_int)
_LOOK = CFUNCTYPE(c_int, c_void_p, c_void_p)
_CONTROL = CFUNCTYPE(c_int, c_void_p, c_int, c_void_p)


class _Methods(ctypes.Structure):
    _fields_ = (
        ("iVersion", c_int),
        ("xClose", _PLAIN),
        ("xRead", _MOVE),
        ("xWrite", _MOVE),
        ("xTruncate", _CUT),
        ("xSync", _NUMBER),
        ("xFileSize", _LOOK),
        ("xLock", _NUMBER),
        ("xUnlock", _NUMBER),
        ("xCheckReservedLock", _LOOK),
        ("xFileControl", _CONTROL),
        ("xSectorSize", _PLAIN),
        ("xDeviceCharacteristics", _PLAIN),
    )


_OFFSET = 16  # of SQLite's own file inside of ours, behind the pointer to the methods


class FaultyDisk:
    """The shim; made once in a process, and harmless while it has no plan."""

    def __init__(self) -> None:
        self.plan: Plan | None = None
        self._paths: dict[int, str] = {}
        self._lying: set[str] = set()
        self._library = ctypes.CDLL(getattr(_sqlite3, "__file__", None))
        self._library.sqlite3_vfs_find.restype = POINTER(_Vfs)
        self._real = self._library.sqlite3_vfs_find(None)
        self._vfs = _Vfs()
        ctypes.memmove(byref(self._vfs), self._real, sizeof(_Vfs))
        self._vfs.zName = b"faulty"
        self._vfs.szOsFile = self._real.contents.szOsFile + _OFFSET
        self._vfs.xOpen = _OPEN(self._open)
        self._vfs.xDelete = _REMOVE(self._delete)
        self._methods = _Methods(
            1,
            _PLAIN(self._close),
            _MOVE(self._read),
            _MOVE(self._write),
            _CUT(self._truncate),
            _NUMBER(self._sync),
            _LOOK(lambda file, out: self._of(file).xFileSize(file + _OFFSET, out)),
            _NUMBER(lambda file, level: self._of(file).xLock(file + _OFFSET, level)),
            _NUMBER(lambda file, level: self._of(file).xUnlock(file + _OFFSET, level)),
            _LOOK(lambda file, out: self._of(file).xCheckReservedLock(file + _OFFSET, out)),
            _CONTROL(lambda file, op, arg: self._of(file).xFileControl(file + _OFFSET, op, arg)),
            _PLAIN(lambda file: self._of(file).xSectorSize(file + _OFFSET)),
            _PLAIN(lambda file: self._of(file).xDeviceCharacteristics(file + _OFFSET)),
        )

    @contextmanager
    def mounted(self) -> Iterator[FaultyDisk]:
        """All connections of this process are over this disk inside the block."""
        self._library.sqlite3_vfs_register(byref(self._vfs), 1)
        try:
            yield self
        finally:
            self.plan = None
            self._library.sqlite3_vfs_unregister(byref(self._vfs))
            self._library.sqlite3_vfs_register(self._real, 1)

    def _of(self, file: int) -> _Methods:
        """The methods of SQLite's own file inside of ours."""
        return _Methods.from_address(c_void_p.from_address(file + _OFFSET).value or 0)

    def _open(self, _vfs: object, name: int, file: int, flags: int, out: object) -> int:
        path = "" if not name else (ctypes.string_at(name).decode())
        there = bool(path) and Path(path).exists()
        c_void_p.from_address(file).value = None
        plan = self.plan
        if plan is not None and plan.off:
            return IOERR
        code: int = self._real.contents.xOpen(self._real, name, file + _OFFSET, flags, out)
        if code == OK:
            c_void_p.from_address(file).value = ctypes.addressof(self._methods)
            self._paths[file] = path
            if plan is not None and path and path not in plan.files:
                plan.files[path] = _File(Path(path).read_bytes() if there else None)
        return code

    def _close(self, file: int) -> int:
        self._lying.discard(self._paths.pop(file, ""))
        return int(self._of(file).xClose(file + _OFFSET))

    def _read(self, file: int, buffer: int, size: int, offset: int) -> int:
        plan = self.plan
        if plan is not None:
            if plan.off:
                return _READ
            if plan.fault == "error" and plan.strikes():
                plan.done = True
                return _READ
        return int(self._of(file).xRead(file + _OFFSET, buffer, size, offset))

    def _write(self, file: int, buffer: int, size: int, offset: int) -> int:
        plan, path, length = self.plan, self._paths[file], size
        if plan is not None:
            if plan.off:
                return _WRITE
            if path in self._lying:
                return OK
            if plan.strikes():
                plan.done = True
                if plan.action is not None:
                    plan.action()
                elif plan.fault == "error":
                    return _WRITE
                elif plan.fault == "full":
                    return FULL
                elif plan.fault == "crash":
                    plan.cut()
                    return _WRITE
                elif plan.fault == "lost write":
                    return OK
                elif plan.fault == "lost transaction":
                    self._lying.add(path)
                    return OK
                else:
                    length = plan.dice.randrange(0, size + 1)  # torn
            if path in plan.files:
                plan.files[path].since.append((offset, ctypes.string_at(buffer, length)))
        if length == 0:
            return OK
        return int(self._of(file).xWrite(file + _OFFSET, buffer, length, offset))

    def _truncate(self, file: int, size: int) -> int:
        plan, path = self.plan, self._paths[file]
        if plan is not None:
            if plan.off:
                return _TRUNCATE
            if plan.fault == "error" and plan.strikes():
                plan.done = True
                return _TRUNCATE
            if path in plan.files:
                plan.files[path].since.append(size)
        return int(self._of(file).xTruncate(file + _OFFSET, size))

    def _sync(self, file: int, _flags: int) -> int:
        plan, path = self.plan, self._paths[file]
        if plan is None:
            return OK  # nobody pulls the plug of the machine that the tests run on
        if plan.off:
            return _FSYNC
        if plan.fault in ("error", "crash") and plan.strikes():
            plan.done = True
            if plan.fault == "crash":
                plan.cut()
            return _FSYNC
        if path:
            plan.files[path] = _File(Path(path).read_bytes())
        return OK

    def _delete(self, _vfs: object, name: bytes, sync: int) -> int:
        plan, path = self.plan, name.decode()
        if plan is not None:
            if plan.off:
                return _DELETE
            if plan.fault in ("error", "crash") and plan.strikes():
                plan.done = True
                if plan.fault == "crash":
                    plan.cut()
                return _DELETE
            gone = plan.files.pop(path, None)
            if not sync and gone is not None and gone.durable is not None:
                plan.undeleted[path] = gone.durable
        return int(self._real.contents.xDelete(self._real, name, sync))
