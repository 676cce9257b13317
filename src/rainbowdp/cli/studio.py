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
    """Understand, try and tune private answers in your browser.

    Five screens say what rainbow privacy is. Then try a question of your own on made-up counts, or
    design mechanisms on a graph: move ε, δ or μ and the boundary, click a dataset. The pages are
    served to this machine only, work without a network, and write nothing to disk.

    A list of edges is text: "a b" joins two datasets, "a: red > green" says what one prefers.

    Example: `rainbow studio poll.json`
    """
    import webbrowser

    from rainbowdp.studio.computing import Source
    from rainbowdp.studio.loading import open_world
    from rainbowdp.studio.server import serve

    opened = None
    if file is not None:
        open_world(file)  # refused here, in the terminal, if it is not what we open
        opened = Source(str(file), file.read_bytes())

    def ready(address: str) -> None:
        typer.echo(f"The studio is at {address} until you press Ctrl-C.")
        if not no_browser:
            webbrowser.open(address)

    serve(port, opened, ready)
