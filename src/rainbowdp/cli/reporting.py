"""``rainbow ledger report`` and ``rainbow ledger export``: what leaves a ledger, as files."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rainbowdp.cli.output import AsJson, print_json, working
from rainbowdp.errors import RainbowError
from rainbowdp.storage.whole_file import whole_file

_DATABASE = b"SQLite format 3\0"  # how a ledger in a file begins

Overwrite = Annotated[bool, typer.Option(help="Replace a file that is there, but never a ledger.")]


class Format(StrEnum):
    """What a ledger can be exported as."""

    CSV = "csv"
    JSON = "json"
    REGISTRY = "registry"


def report(
    place: Annotated[str, typer.Argument(help="The ledger.")] = "budget.db",
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The file: .html, or .pdf if there is a browser.")
    ] = Path("report.html"),
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Write a report for people: the budget, what was spent when and on what, and how to verify it.

    It is one HTML file that needs no network, or a PDF. Nothing is spent.

    Example: `rainbow ledger report budget.db -o report.html`
    """
    from rainbowdp.ledger import Ledger
    from rainbowdp.ledger.report import page
    from rainbowdp.ledger.report.pdf import printed

    if out.suffix.lower() not in (".html", ".htm", ".pdf"):
        raise RainbowError(f"A report is HTML or PDF: end its name in .html or .pdf, got {out}.")
    _check(out, overwrite)
    book = Ledger.open(place)
    with working(f"Writing {out}"):
        content = page(book)
        data = printed(content) if out.suffix.lower() == ".pdf" else content.encode("utf-8")
        replaced = out.exists()
        with whole_file(out, "the report") as draft:
            draft.write_bytes(data)
    _say(out, replaced, as_json)


def export(
    place: Annotated[str, typer.Argument(help="The ledger.")] = "budget.db",
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            help="csv: for a spreadsheet; json: the whole chain, to be verified; registry: YAML "
            "for OpenDP's registry of deployments.",
        ),
    ] = Format.CSV,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file; standard output if not given.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Write everything that the ledger knows for other programs. Nothing is spent.

    Example: `rainbow ledger export budget.db --format json -o ledger.json`
    """
    from rainbowdp.ledger import Ledger
    from rainbowdp.ledger.export import as_csv
    from rainbowdp.ledger.export import as_json as whole_chain
    from rainbowdp.ledger.registry import as_yaml

    if out is not None:
        _check(out, overwrite)
    book = Ledger.open(place)
    pieces: Iterable[str]
    if form == Format.CSV:
        pieces = as_csv(book)
    else:
        pieces = whole_chain(book) if form == Format.JSON else [as_yaml(book)]
    if out is None:
        for piece in pieces:
            sys.stdout.write(piece)
        return
    replaced = out.exists()
    with (
        working(f"Writing {out}"),
        whole_file(out, "the export") as draft,
        draft.open("w", encoding="utf-8", newline="") as file,
    ):
        file.writelines(pieces)
    _say(out, replaced, as_json)


def _check(out: Path, overwrite: bool) -> None:
    """Refuse a target that would take the place of something else."""
    if not out.absolute().parent.is_dir():
        raise RainbowError(
            f"There is no folder {out.absolute().parent}. Make it, or correct {out}."
        )
    if out.is_dir():
        raise RainbowError(f"{out} is a folder. Give the name of a file.")
    if not out.exists():
        return
    if not overwrite:
        raise RainbowError(
            f"{out} is there already and was left as it was. Choose another name with -o, or give "
            "--overwrite to replace it."
        )
    with out.open("rb") as file:
        if file.read(len(_DATABASE)) == _DATABASE:
            raise RainbowError(
                f"{out} is a database, perhaps a ledger, and is never replaced. Choose another "
                "name with -o."
            )


def _say(out: Path, replaced: bool, as_json: bool) -> None:
    if as_json:
        print_json({"written": str(out), "replaced": replaced})
    else:
        instead = ", in place of the file that was there" if replaced else ""
        typer.echo(f"Wrote {out}{instead}.")
