"""``rainbow studio``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def studio(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="A mechanism file or a list of edges to show first."),
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="The port on this machine; 8765 if it is free.")
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address only.")
    ] = False,
) -> None:
    """See and tune mechanisms on a page in your browser.

    Pick an example or open a file; move ε, δ or μ and the boundary; click a dataset. The page
    is served to this machine only, works without a network, and writes nothing to disk.

    A list of edges is text: "a b" joins two datasets, "a: red > green" says what one prefers.

    Example: `rainbow studio poll.json`
    """
    import webbrowser

    from rainbowdp.studio.loading import open_world
    from rainbowdp.studio.server import Source, serve

    opened = None
    if file is not None:
        open_world(file)  # refused here, in the terminal, if it is not what we open
        opened = Source(str(file), file.read_bytes())

    def ready(address: str) -> None:
        typer.echo(f"The studio is at {address} until you press Ctrl-C.")
        if not no_browser:
            webbrowser.open(address)

    serve(port, opened, ready)
