"""``rainbow serve``."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from rainbowdp.errors import MissingExtra


def serve(
    file: Annotated[
        Path, typer.Argument(metavar="[FILE]", help="The settings of the service: service.toml.")
    ] = Path("service.toml"),
    port: Annotated[
        int | None, typer.Option(help="Listen on this port instead of the one in the file.")
    ] = None,
) -> None:
    """Answer questions over HTTP, for people who never hold the data.

    The file lists datasets with what may be asked of each, their ledgers, and who may ask. One
    process holds the data and the ledger; analysts send questions and get private answers.

    Example: `rainbow serve service.toml`
    """
    if not (find_spec("fastapi") and find_spec("uvicorn")):
        raise MissingExtra("FastAPI", "service")
    from rainbowdp.service.config import read_settings
    from rainbowdp.service.serving import serve as run

    settings = read_settings(file)
    if port is not None:
        settings = settings.listening_at(port)
    run(
        settings, lambda address: typer.echo(f"The service is at {address} until you press Ctrl-C.")
    )
