"""The columns that a question needs, out of text files, as batches for DuckDB."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import BinaryIO

from rainbowdp.errors import UnreadableTable
from rainbowdp.expecting import brief
from rainbowdp.questions.base import Counted
from rainbowdp.storage.short_lines import LongLine, short_lines
from rainbowdp.storage.sql import quoted
from rainbowdp.tables.arrow_stream import batches_of
from rainbowdp.tables.asked import Several, wanted
from rainbowdp.tables.lines import (
    CHUNK,
    COMPILED_FROM,
    LONGEST,
    UTF_8,
    Batch,
    Fields,
    chunks,
    plainly,
    quickly,
)
from rainbowdp.tables.paths import JSON_LINES, opened, unpacked_size
from rainbowdp.tables.text_files import BOM, Layout, TextFile, layout, number_text, same_layout
from rainbowdp.tables.values import check_columns

LINES = "rainbowdp_lines"  # the name under which DuckDB finds the batches
_LINE = "line"


@dataclass(frozen=True)
class Sizes:
    """How much is read at a time, how much of a line is looked at, and when Numba is loaded.

    ``longest`` must be well above ``chunk``. Neither of the other two changes a count.
    """

    chunk: int = CHUNK
    longest: int = LONGEST
    compiled_from: int = COMPILED_FROM


class TextReader:
    """Batches of the ``wanted`` columns, and the SQL ``table`` that they make in DuckDB.

    ``spelling`` turns a column of it into texts that spell numbers with a decimal point.
    """

    def __init__(
        self, source: TextFile, files: Sequence[Path], question: Counted | Several, sizes: Sizes
    ) -> None:
        self._source, self._files, self._sizes = source, files, sizes
        self._read, self._whole = 0, max(1, sum(file.stat().st_size for file in files))
        self._compiled = sum(map(unpacked_size, files)) >= sizes.compiled_from
        if source.kind == JSON_LINES:
            self.wanted, self.columns = _wanted(question), [_LINE]
            check_columns(question, self.wanted, public=False)  # a line has the names it has
            self._fields = [Fields((0,), None, source.encoding or UTF_8)] * len(files)
            self.table, self.spelling = _json_table(self.wanted), partial(number_text, decimal=".")
            return
        layouts = [self._layout(file) for file in files]
        same_layout(files, layouts)
        check_columns(question, layouts[0].names, public=False)
        self.wanted = self.columns = _wanted(question)
        places = tuple(map(layouts[0].names.index, self.wanted))
        self._fields = [Fields(places, each.delimiter, each.encoding) for each in layouts]
        self.table, self.spelling = LINES, partial(number_text, decimal=layouts[0].decimal)

    def share(self) -> float:
        """How much of the files has been read, from 0 to 1."""
        return self._read / self._whole

    def batches(self) -> Iterator[Batch]:
        """All batches of all files, each made when it is asked for."""
        before = 0
        for file, fields in zip(self._files, self._fields, strict=True):
            with opened(file) as (stream, packed):
                find = self._records if self._source.trusted else self._lines
                for batch in find(stream, fields):
                    self._read = before + packed.tell()
                    yield batch
            before += file.stat().st_size

    def _layout(self, file: Path) -> Layout:
        """How a file is read; its header is its first line, or the first record if trusted."""
        with opened(file) as (stream, _):
            first = stream.readline(self._sizes.longest + 1)
        source = replace(self._source, path=file, format=self._source.kind)
        if source.header is not True:
            return layout(source, first)
        if not first.strip() or len(first) > self._sizes.longest:
            raise UnreadableTable(
                f"{file} must begin with a line of column names, and does not; "
                "if it has none, name all its columns by header=[…] or --header"
            )
        found = layout(source, first)
        if not source.trusted:
            return found
        fields = Fields((), found.delimiter, found.encoding)
        with opened(file) as (stream, _), _csv_records(stream, fields, file) as records:
            return replace(found, names=tuple(next(records)))

    def _lines(self, stream: BinaryIO, fields: Fields) -> Iterator[Batch]:
        start = b""
        if self._source.kind != JSON_LINES and self._source.header is True:
            stream.readline()
        elif fields.encoding == UTF_8:
            start = stream.read(len(BOM)).removeprefix(BOM)
        pieces = chunks(stream, start, size=self._sizes.chunk, longest=self._sizes.longest)
        return map(partial(quickly if self._compiled else plainly, fields), pieces)

    def _records(self, stream: BinaryIO, fields: Fields) -> Iterator[Batch]:
        """The records of a trusted file, whose fields may span lines."""
        with _csv_records(stream, fields, self._source.path) as records:
            if self._source.header is True:
                next(records)
            yield from batches_of(
                [_field(record, place) for place in fields.wanted] for record in records
            )


@contextmanager
def _csv_records(
    stream: BinaryIO, fields: Fields, path: str | Path
) -> Iterator[Iterator[list[str]]]:
    """The records of a well-formed file by the standard library."""
    assert fields.delimiter is not None
    encoding = "utf-8-sig" if fields.encoding == UTF_8 else fields.encoding
    limit = csv.field_size_limit(LONGEST)
    texts = io.TextIOWrapper(stream, encoding, errors="surrogateescape", newline="")
    try:
        yield csv.reader(short_lines(texts, LONGEST), delimiter=fields.delimiter.decode())
    except LongLine as error:
        raise UnreadableTable(
            f"{path} cannot be read to its end: {error}; is it a text file of lines?"
        ) from None
    except csv.Error:
        raise UnreadableTable(
            f"{path} is not well formed, which a trusted file must be: read it without that option"
        ) from None
    finally:
        csv.field_size_limit(limit)
        texts.detach()  # whoever opened the stream closes it


def _field(record: Sequence[str], place: int) -> bytes | None:
    """A field in UTF-8, if it is there, not empty, and valid in its encoding."""
    try:
        return record[place].encode() or None
    except (IndexError, UnicodeEncodeError):
        return None


def _wanted(question: Counted | Several) -> list[str]:
    """The columns that a question needs, each once; SQL does not tell capitals apart."""
    needed = wanted(question)
    folded = [name.casefold() for name in needed]
    for name, other in zip(needed, folded, strict=True):
        first = needed[folded.index(other)]
        if first != name:
            raise UnreadableTable(
                f"the columns {brief(first)} and {brief(name)} must differ in more than capitals: "
                "rename one of them"
            )
    return needed


def _json_table(wanted: Sequence[str]) -> str:
    """The columns out of each line that is a JSON object, all as texts."""
    selected = ", ".join(
        f"nullif(json_extract_string(document, {quoted(_pointer(name), chr(39))}), '') "
        f"AS {quoted(name, chr(34))}"
        for name in wanted
    )
    documents = f"SELECT TRY_CAST({_LINE} AS JSON) AS document FROM {LINES}"  # noqa: S608
    return f"(SELECT {selected} FROM ({documents}))"  # noqa: S608  quoted


def _pointer(name: str) -> str:
    """Where a name is in a JSON object."""
    return "/" + name.replace("~", "~0").replace("/", "~1")
