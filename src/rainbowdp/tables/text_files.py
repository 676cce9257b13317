"""Text files and what is said about them, or told from their header line.

Nothing is guessed from a record, since a guess that one record can change would change how all
others are read.
"""

from __future__ import annotations

import codecs
import importlib
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path

from rainbowdp.errors import UnreadableTable
from rainbowdp.expecting import brief
from rainbowdp.tables.lines import UTF_8, split
from rainbowdp.tables.paths import CSV, FORMATS, JSON_LINES, PARQUET, TSV, format_of

BOM = codecs.BOM_UTF8
_TEXT_FORMATS = tuple(format_ for format_ in FORMATS if format_ != PARQUET)
_DELIMITERS = (b",", b";", b"\t", b"|")
_WESTERN = "cp1252"  # what a header is taken for that is not UTF-8
_POINT, _COMMA, _EITHER = ".", ",", ".,"


@dataclass(frozen=True)
class TextFile:
    """A file of lines, CSV, TSV or JSON lines, plain or ``.gz``, and how to read it.

    A record is one line, and each line is read alone: whatever one of them holds, every other is
    counted as it would be without it. Double quotes work within a line; a field that is empty,
    missing, or not valid in the encoding has no value.

    Parameters
    ----------
    path : str or Path
        A file, a glob of several with one header each, or ``"-"`` for standard input.
    delimiter : str, optional
        One ASCII character between fields. Otherwise a tab in a ``.tsv`` file, or whichever of
        ``,`` ``;`` tab and ``|`` is most frequent in the header line outside quotes.
    encoding : str, optional
        UTF-8, or any single-byte encoding that Python knows, such as ``"latin-1"``. Otherwise
        UTF-8 if the header line is valid UTF-8, and Windows-1252 if it is not.
    decimal : str, optional
        The decimal sign of numbers in ranges, ``"."`` or ``","``. Otherwise a point; in files with
        semicolons between fields, either one.
    header : True or sequence of str, optional
        The names of the columns, for a file that does not begin with them. Nothing is then guessed
        from the first line.
    trusted : bool, optional
        That the file is well formed and fields in quotes may span lines. One broken quote in such a
        file changes how the records after it are read, so this is your promise, and part of the
        privacy guarantee.
    format : str, optional
        ``"csv"``, ``"tsv"`` or ``"jsonl"``. Otherwise what the name of the file says, or CSV.

    Raises
    ------
    UnreadableTable
        If an option is not one of these, or two of them do not go together.

    Examples
    --------
    >>> TextFile("wards.txt", delimiter=";", encoding="latin-1").delimiter
    ';'

    """

    path: str | Path
    _: KW_ONLY
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    header: bool | Sequence[str] = True
    trusted: bool = False
    format: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | Path):
            raise UnreadableTable(f"path must be a text or a Path, got {brief(self.path)}")
        self._check_format()
        if self.delimiter is not None:
            _check_delimiter(self.delimiter)
        if self.encoding is not None:
            object.__setattr__(self, "encoding", known_encoding(self.encoding))
        if self.decimal is not None and (
            not isinstance(self.decimal, str) or self.decimal not in (_POINT, _COMMA)
        ):
            raise UnreadableTable(f"decimal must be '.' or ',', got {brief(self.decimal)}")
        if self.decimal == self.delimiter == _COMMA:
            raise UnreadableTable(
                "a comma cannot be both the delimiter and the decimal sign: change one of them"
            )
        if self.header is not True:
            object.__setattr__(self, "header", _checked_names(self.header))

    def _check_format(self) -> None:
        if self.format is not None and (
            not isinstance(self.format, str) or self.format not in _TEXT_FORMATS
        ):
            raise UnreadableTable(
                f"format must be one of {', '.join(_TEXT_FORMATS)}, got {brief(self.format)}"
            )
        if self.format is None and format_of(self.path) == PARQUET:
            raise UnreadableTable(
                f"{self.path} is a Parquet file by its name, and such a file needs no options: "
                "give the path alone"
            )
        if self.kind == TSV and self.delimiter not in (None, "\t"):
            raise UnreadableTable(
                f"a TSV file has tabs between its fields, got delimiter {brief(self.delimiter)}: "
                "use format 'csv'"
            )
        if self.kind == JSON_LINES:
            for option in ("delimiter", "decimal", "trusted"):
                if getattr(self, option):
                    raise UnreadableTable(f"JSON lines have no {option}: leave that option out")
            if self.header is not True:
                raise UnreadableTable("JSON lines have no header: leave that option out")

    @property
    def kind(self) -> str:
        """What the file is: as given, or as its name tells, or CSV."""
        return self.format or format_of(self.path) or CSV


@dataclass(frozen=True)
class Layout:
    """How a CSV or TSV file is read, and the names of its columns."""

    names: tuple[str, ...]
    delimiter: bytes
    encoding: str
    decimal: str


def layout(file: TextFile, first: bytes) -> Layout:
    """What is said about a file, the rest told from its first line, if that is a header."""
    given = None if file.delimiter is None else file.delimiter.encode()
    if file.kind == TSV:
        given = b"\t"
    if file.header is not True:
        assert not isinstance(file.header, bool)
        delimiter, encoding = given or b",", file.encoding or UTF_8
        return Layout(tuple(file.header), delimiter, encoding, _decimal(file, delimiter))
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in first:
        raise UnreadableTable(
            f"{file.path} does not begin with a line of column names in UTF-8 or a single-byte "
            "encoding; if it is in UTF-16, convert it to UTF-8"
        )
    line = first.removesuffix(b"\n").removesuffix(b"\r")
    encoding = file.encoding or (UTF_8 if _is_utf8(line) else _WESTERN)
    if encoding == UTF_8:
        line = line.removeprefix(BOM)
    delimiter = given or _delimiter(line)
    names = split(line, delimiter, len(line) + 1)
    decoded = tuple(name.decode(encoding, errors="replace") for name in names)
    return Layout(decoded, delimiter, encoding, _decimal(file, delimiter))


def number_text(column: str, decimal: str) -> str:
    """SQL that turns a column's texts into ones with a decimal point."""
    if decimal == _EITHER:
        return f"replace({column}, ',', '.')"
    return column if decimal == _POINT else f"translate({column}, ',.', '.,')"


def known_encoding(name: str) -> str:
    """Python's name of UTF-8 or of a single-byte encoding in which ASCII is ASCII."""
    try:
        known = codecs.lookup(name).name
    except (LookupError, TypeError, ValueError):
        raise UnreadableTable(
            f"there is no encoding {brief(name)}; examples are utf-8, latin-1 and cp1252"
        ) from None
    if known.startswith(UTF_8):
        return UTF_8
    if known == "ascii":
        return known
    module = importlib.import_module(f"encodings.{known.replace('-', '_')}")
    table: str = getattr(module, "decoding_table", "")
    if not table.startswith("".join(map(chr, range(128)))):
        raise UnreadableTable(
            f"encoding must be UTF-8 or a single-byte one that contains ASCII, got {brief(name)}: "
            "convert the file to UTF-8"
        )
    return known


def same_layout(files: Sequence[Path], layouts: Sequence[Layout]) -> None:
    """Raise unless the files of one table have the same columns and decimal sign."""
    for file, other in zip(files, layouts, strict=True):
        if replace(other, encoding=UTF_8, delimiter=b",") != replace(
            layouts[0], encoding=UTF_8, delimiter=b","
        ):
            raise UnreadableTable(
                "the files of a table must have one header and one decimal sign, got others in "
                f"{file} than in {files[0]}"
            )


def _check_delimiter(delimiter: str) -> None:
    if (
        not isinstance(delimiter, str)
        or len(delimiter) != 1
        or not delimiter.isascii()
        or delimiter in '"\r\n\0'
    ):
        raise UnreadableTable(
            "delimiter must be one ASCII character that is no quote and ends no line, "
            f"got {brief(delimiter)}"
        )


def _checked_names(header: bool | Sequence[str]) -> tuple[str, ...]:
    names = tuple(header) if isinstance(header, list | tuple) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise UnreadableTable(
            f"header must be True or a list of all the columns' names, got {brief(header)}"
        )
    return names


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _delimiter(line: bytes) -> bytes:
    """The most frequent of the usual delimiters outside quotes, the comma if there is none."""
    outside = b"".join(line.split(b'"')[::2])
    return max(_DELIMITERS, key=outside.count)


def _decimal(file: TextFile, delimiter: bytes) -> str:
    return file.decimal or (_EITHER if delimiter == b";" else _POINT)
