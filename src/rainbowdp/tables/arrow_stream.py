"""Columns of texts for DuckDB, made while it reads them: the Arrow C stream interface.

DuckDB asks an object for a stream and the stream for one batch after another, so that no more
than a few batches exist at a time. The interface is three C structures and five functions, fixed
for good by the Arrow project, so ``ctypes`` is all that it takes.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

ROWS = 1 << 14  # of a batch at most
BYTES = 1 << 26  # after which a batch ends; offsets have 31 bits
_NULLABLE, _UNKNOWN = 2, -1
_FAILED = 5  # EIO: why is kept in Python, since a message might show a record


@dataclass(frozen=True)
class Texts:
    """A column of UTF-8 texts: where each ends, their bytes, and a bit for each that is there."""

    offsets: NDArray[np.int32]
    data: NDArray[np.uint8]
    there: NDArray[np.uint8]

    @classmethod
    def of(cls, values: Sequence[bytes | None]) -> Texts:
        """The column of these values, ``None`` where there is none."""
        offsets = np.zeros(len(values) + 1, dtype=np.int32)
        np.cumsum([len(value or b"") for value in values], out=offsets[1:])
        known = np.array([value is not None for value in values], dtype=np.bool_)
        there = np.packbits(known, bitorder="little")
        data = np.frombuffer(b"".join(value or b"" for value in values), dtype=np.uint8)
        return cls(offsets, data, there)

    def __len__(self) -> int:
        """How many rows."""
        return len(self.offsets) - 1


def batches_of(rows: Iterable[Sequence[bytes | None]]) -> Iterator[list[Texts]]:
    """The columns of so many rows at a time that they are neither many nor long."""
    batch: list[Sequence[bytes | None]] = []
    filled = 0
    for row in rows:
        batch.append(row)
        filled += sum(len(value) for value in row if value is not None)
        if len(batch) >= ROWS or filled >= BYTES:
            yield [Texts.of(column) for column in zip(*batch, strict=True)]
            batch, filled = [], 0
    if batch:
        yield [Texts.of(column) for column in zip(*batch, strict=True)]


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_ReleaseSchema = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))
_ReleaseArray = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))
_ReleaseStream = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))
_GetSchema = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))
_GetNext = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))
_GetError = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Stream))

_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", _ReleaseSchema),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", _ReleaseArray),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", _GetSchema),
    ("get_next", _GetNext),
    ("get_last_error", _GetError),
    ("release", _ReleaseStream),
    ("private_data", ctypes.c_void_p),
]

# What C code still points to, by the number in its private_data, until it says it is done.
_lent: dict[int, Any] = {}
_numbers = itertools.count(1)


class _Releasable(Protocol):
    contents: Any


def _lend(struct: Any, *kept: Any) -> None:
    struct.private_data = next(_numbers)
    _lent[struct.private_data] = kept


def _release(pointer: _Releasable) -> None:
    """Give back a schema or an array, and its children unless they have been taken over."""
    struct = pointer.contents
    for i in range(struct.n_children):
        child = struct.children[i]
        if child.contents.release:
            child.contents.release(child)
    _lent.pop(struct.private_data, None)
    struct.release = type(struct.release)()


def _release_stream(pointer: _Releasable) -> None:
    struct = pointer.contents
    del _lent[struct.private_data]
    struct.release = _ReleaseStream()


def _fill_schema(struct: Any, format_: bytes, name: bytes, children: Sequence[Any] = ()) -> Any:
    pointers = (ctypes.POINTER(_Schema) * len(children))(*map(ctypes.pointer, children))
    ctypes.memset(ctypes.byref(struct), 0, ctypes.sizeof(struct))
    struct.format, struct.name, struct.flags = format_, name, _NULLABLE
    struct.n_children = len(children)
    struct.children = ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(_Schema)))
    struct.release = _RELEASE_SCHEMA
    _lend(struct, format_, name, pointers, children)
    return struct


def _fill_array(
    struct: Any, length: int, buffers: Sequence[NDArray[Any] | None], children: Sequence[Any] = ()
) -> Any:
    addresses = (ctypes.c_void_p * len(buffers))(
        *(None if buffer is None else buffer.ctypes.data for buffer in buffers)
    )
    pointers = (ctypes.POINTER(_Array) * len(children))(*map(ctypes.pointer, children))
    ctypes.memset(ctypes.byref(struct), 0, ctypes.sizeof(struct))
    struct.length, struct.null_count = length, 0 if buffers[0] is None else _UNKNOWN
    struct.n_buffers, struct.n_children = len(buffers), len(children)
    struct.buffers = ctypes.cast(addresses, ctypes.POINTER(ctypes.c_void_p))
    struct.children = ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(_Array)))
    struct.release = _RELEASE_ARRAY
    _lend(struct, addresses, pointers, children, buffers)
    return struct


def _get_schema(stream: _Releasable, out: _Releasable) -> int:
    source, _ = _lent[stream.contents.private_data]
    columns = [_fill_schema(_Schema(), b"u", name.encode()) for name in source.names]
    _fill_schema(out.contents, b"+s", b"", columns)
    return 0


def _get_next(stream: _Releasable, out: _Releasable) -> int:
    source, batches = _lent[stream.contents.private_data]
    try:
        batch = next(batches, None)
    except BaseException as error:  # it may not cross into C; whoever runs the query looks here
        source.failure = error
        return _FAILED
    if batch is None:
        out.contents.release = _ReleaseArray()
        return 0
    columns = [
        _fill_array(_Array(), len(texts), [texts.there, texts.offsets, texts.data])
        for texts in batch
    ]
    _fill_array(out.contents, len(batch[0]), [None], columns)
    return 0


def _get_error(stream: _Releasable) -> int:
    return ctypes.addressof(_ERROR)


_ERROR = ctypes.create_string_buffer(b"a batch could not be made")
_RELEASE_SCHEMA = _ReleaseSchema(_release)
_RELEASE_ARRAY = _ReleaseArray(_release)
_RELEASE_STREAM = _ReleaseStream(_release_stream)
_GET_SCHEMA = _GetSchema(_get_schema)
_GET_NEXT = _GetNext(_get_next)
_GET_ERROR = _GetError(_get_error)

_NAME = b"arrow_array_stream"
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class TextStream:
    """A table of texts that DuckDB can scan, as often as it likes: each time it is made anew.

    ``failure`` is what went wrong while a batch was made, if anything did. A stream that was asked
    for and not taken is given back by ``close``: a capsule cannot do that, since what Python runs
    when it goes might run while an error is on its way.
    """

    def __init__(
        self, names: Sequence[str], batches: Callable[[], Iterator[Sequence[Texts]]]
    ) -> None:
        self.names = tuple(names)
        self.failure: BaseException | None = None
        self._batches = batches
        self._made: list[_Stream] = []

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A stream of batches, in the form that Arrow has agreed on."""
        struct = _Stream(_GET_SCHEMA, _GET_NEXT, _GET_ERROR, _RELEASE_STREAM)
        _lend(struct, self, self._batches())
        self._made.append(struct)
        return _new_capsule(ctypes.addressof(struct), _NAME, None)

    def close(self) -> None:
        """Give back what was made and never taken. Capsules must not be used any more."""
        for struct in self._made:
            if struct.release:
                struct.release(ctypes.pointer(struct))
        self._made.clear()
