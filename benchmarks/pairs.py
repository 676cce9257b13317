"""Random pairs of files that differ in one line: by how much their counts differ.

One file is well formed, and what it holds is known; the other has one line replaced by any bytes
but a newline. Each pair is read as one of several kinds of file, by the plain reader or the
compiled one, in chunks of a random size. What is read is counted by DuckDB for JSON lines and every
twentieth other pair, and in Python for the rest, which is quicker. The reader that DuckDB brings is
tried in the same way, as a fault that must be found. Prints a Markdown table.

    python benchmarks/pairs.py --pairs 100000
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeAlias
from unittest import mock

import duckdb
import pyarrow as pa

import rainbowdp as rb
from rainbowdp.tables import files, locked
from rainbowdp.tables.arrow_stream import TextStream
from rainbowdp.tables.files import count_files
from rainbowdp.tables.locked import locked_connection
from rainbowdp.tables.text_reader import Sizes, TextReader

ANSWERS = ["red", "blue", "Köln"]
QUESTION = rb.Winner(ANSWERS, "choice")
NOTES = ["", "fine", "a, b; c", 'said "ow"']
PIECES = [
    *(b"red", b"blue", "Köln".encode(), b"K\xf6ln", b",", b",", b";", b"\t", b'"', b'"', b'""'),
    *(b'\\"', b"'", b"\\", b"\r", b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x1a", b" "),
    *(b'{"choice": "red"', b'{"choice":"blue"}', b"}", b"{", b"[", b"null", b"\\ud800", b"x" * 99),
]
Counts: TypeAlias = dict[str, int]
Make: TypeAlias = Callable[[object, str, str], bytes]
Read: TypeAlias = Callable[[Path, Sizes, bool], Counts]
Kind: TypeAlias = tuple[str, Make, Read]


def delimited(delimiter: str, encoding: str) -> Make:
    """Lines of a file with a delimiter, notes in quotes."""

    def line(number: object, choice: str, note: str) -> bytes:
        quoted = note.replace('"', '""')
        return f'{number}{delimiter}{choice}{delimiter}"{quoted}"'.encode(encoding)

    return line


def as_json(number: object, choice: str, note: str) -> bytes:
    """A line of JSON."""
    return json.dumps({"id": number, "choice": choice, "note": note}).encode()


def ours(**options: str) -> Read:
    """Our reader."""

    def read(file: Path, sizes: Sizes, complete: bool) -> Counts:
        source = rb.TextFile(file, **options)  # type: ignore[arg-type]
        if complete:
            return count_files(source, QUESTION, None, sizes)
        reader = TextReader(source, [file], QUESTION, sizes)
        with closing(TextStream(reader.columns, reader.batches)) as stream:
            found = pa.RecordBatchReader.from_stream(stream).read_all()["choice"].to_pylist()
        return {answer: found.count(answer) for answer in ANSWERS}

    return read


def fault(file: Path, _: Sizes, complete: bool) -> Counts:
    """DuckDB's reader, in which a quote may span lines."""
    table = (
        f"read_csv('{file}', auto_detect = false, header = true, delim = ',', quote = '\"', "
        "columns = {'id': 'VARCHAR', 'choice': 'VARCHAR', 'note': 'VARCHAR'}, "
        "null_padding = true, strict_mode = false, ignore_errors = true, parallel = false)"
    )
    with duckdb.connect() as connection:
        rows = connection.execute(f"SELECT choice, count(*) FROM {table} GROUP BY 1").fetchall()  # noqa: S608
    found: Counts = dict(rows)
    return {answer: found.get(answer, 0) for answer in ANSWERS}


KINDS: dict[str, Kind] = {
    "CSV": ("t.csv", delimited(",", "utf-8"), ours()),
    "CSV, gzip": ("t.csv.gz", delimited(",", "utf-8"), ours()),
    "semicolons, Latin-1": ("t.csv", delimited(";", "latin-1"), ours(encoding="latin-1")),
    "TSV": ("t.tsv", delimited("\t", "utf-8"), ours()),
    "JSON lines": ("t.jsonl", as_json, ours()),
}
PLANTED: dict[str, Kind] = {
    "the fault: DuckDB's `read_csv`": ("t.csv", delimited(",", "utf-8"), fault)
}


def apart(here: Counts, there: Counts) -> tuple[int, int]:
    """How many records must have come and gone at least."""
    changes = [there[answer] - here[answer] for answer in ANSWERS]
    return sum(c for c in changes if c > 0), -sum(c for c in changes if c < 0)


def broken(kind: Kind, folder: Path) -> Iterator[tuple[bool, bool]]:
    """For each random pair: whether it is apart by more than one line allows, or refused."""
    name, make, read = kind
    draw, file = random.Random(5), folder / name  # noqa: S311 - files, not a secret
    header = [] if make is as_json else [make("id", "choice", "note")]
    for number in itertools.count():
        rows = [(i, draw.choice(ANSWERS), draw.choice(NOTES)) for i in range(draw.randint(1, 12))]
        known = {answer: sum(row[1] == answer for row in rows) for answer in ANSWERS}
        lines = [make(*row) for row in rows]
        other = b"".join(draw.choices(PIECES, k=draw.randint(0, 8)))
        if draw.random() < 0.3:
            other += draw.randbytes(draw.randint(1, 9)).replace(b"\n", b"")
        sizes = Sizes(draw.randint(1, 90), 1 << 12, draw.choice([0, 1 << 30]))
        replaced = lines.copy()
        replaced[draw.randrange(len(lines))] = other
        complete = make is as_json or number % 20 == 0
        wrong = refused = False
        for content in [replaced, lines] if number % 10 == 0 else [replaced]:
            whole = b"\n".join(header + content) + draw.choice([b"", b"\n"])
            file.write_bytes(gzip.compress(whole) if name.endswith("gz") else whole)
            try:
                came, left = apart(known, read(file, sizes, complete))
            except (rb.RainbowError, duckdb.Error):
                refused = True
                continue
            wrong |= max(came, left) > (content is replaced)
        yield wrong, refused


@contextmanager
def one_connection(folder: Path) -> Iterator[None]:
    """Connecting takes ten times as long as counting such a file; a second thread is no help."""
    with (
        mock.patch.object(locked, "_SETTINGS", (*locked._SETTINGS, "threads = 1")),
        locked_connection(folder) as connection,
    ):

        @contextmanager
        def again(*_: object) -> Iterator[duckdb.DuckDBPyConnection]:
            yield connection

        with mock.patch.object(files, "locked_connection", again):
            yield


def main() -> None:
    parser = argparse.ArgumentParser(description="Try pairs of files that differ in one line.")
    parser.add_argument("--pairs", type=int, default=10_000)
    pairs = parser.parse_args().pairs
    print("| files | pairs | apart by more than one line | refused |")
    print("| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name, one_connection(Path(name)):
        for title, kind in {**KINDS, **PLANTED}.items():
            tried = pairs // len(KINDS) if title in KINDS else 200
            found = list(itertools.islice(broken(kind, Path(name)), tried))
            wrong, refused = map(sum, zip(*found, strict=True))
            print(f"| {title} | {tried:,} | {wrong:,} | {refused:,} |", flush=True)


if __name__ == "__main__":
    main()
