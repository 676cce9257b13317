"""Which files a path or a glob names, and what they are by their names."""

from __future__ import annotations

import glob
import gzip
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast
from zlib import error as _ZlibError  # noqa: N812

from rainbowdp.errors import UnreadableTable

STANDARD_INPUT = "-"
CSV, TSV, JSON_LINES, PARQUET = "csv", "tsv", "jsonl", "parquet"
FORMATS = (CSV, TSV, JSON_LINES, PARQUET)
_COMPRESSED = ".gz"
_LONGEST = 4_000  # characters of a path
_FORMATS = {
    ".csv": CSV,
    ".tsv": TSV,
    ".jsonl": JSON_LINES,
    ".ndjson": JSON_LINES,
    ".parquet": PARQUET,
}


def named_files(path: str | Path) -> list[Path]:
    """The files that a path or a glob stands for, each one there and readable."""
    name = str(path)
    if len(name) > _LONGEST or any(len(part) > 255 for part in Path(name).parts):
        raise UnreadableTable(f"there is no file {name[:60]}…: its name is too long")
    if Path(name).is_dir():
        raise UnreadableTable(f"{name} is a folder: name its files, such as {name}/*.parquet")
    found = [name] if Path(name).exists() else sorted(glob.glob(name, recursive=True))  # noqa: PTH207
    files = [Path(file) for file in found if not Path(file).is_dir()]
    if not files:
        raise UnreadableTable(f"there is no file {name}")
    for file in files:
        if not os.access(file, os.R_OK):
            raise UnreadableTable(f"{file} cannot be read: you have no permission to read it")
    return files


def format_of(path: str | Path) -> str | None:
    """What a file is by its name; ``None`` if its name does not tell."""
    name = str(path).lower()
    plain = name.removesuffix(_COMPRESSED)
    for suffix, format_ in _FORMATS.items():
        if plain.endswith(suffix) and (format_ != PARQUET or plain == name):
            return format_
    return None


def one_format(files: Sequence[Path]) -> str:
    """What all the files of a table are by their names."""
    formats = {format_of(file): file for file in files}
    if None in formats:
        raise UnreadableTable(
            f"the name of {formats[None]} does not tell what it is; for a text file use "
            "rb.TextFile(path) or --format csv, tsv or jsonl, or let the name end in "
            f"{', '.join(_FORMATS)} (text files also with .gz)"
        )
    if len(formats) > 1:
        one, other, *_ = formats.values()
        raise UnreadableTable(f"the files of a table must be of one kind, got {one} and {other}")
    return cast(str, next(iter(formats)))


@contextmanager
def opened(file: Path) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The bytes of a file, unpacked if its name says so, and the file itself to tell how far.

    What goes wrong while it is read is an ``UnreadableTable``.
    """
    try:
        with file.open("rb") as packed:
            if file.name.lower().endswith(_COMPRESSED):
                with gzip.open(packed) as unpacked:
                    yield cast(BinaryIO, unpacked), packed
            else:
                yield packed, packed
    except (EOFError, gzip.BadGzipFile, _ZlibError):
        raise UnreadableTable(
            f"{file} is damaged: its compressed data ends early or does not unpack; "
            "compress the file again"
        ) from None
    except OSError as error:
        raise UnreadableTable(f"{file} cannot be read: {error.strerror}") from None


def unpacked_size(file: Path) -> int:
    """About how many bytes a file has when it is unpacked."""
    size = file.stat().st_size
    return 4 * size if file.name.lower().endswith(_COMPRESSED) else size
