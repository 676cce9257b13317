"""The first lines of the command ``rainbow``.

Importing the package takes a moment. Ctrl-C in that moment ends the command as it does later, with
one sentence and its exit code, and not in the middle of somebody's import.
"""

from __future__ import annotations

import os
import signal
from types import FrameType

NOTHING_SPENT = "Interrupted; nothing was spent.\n"


def main() -> None:
    """Run the command."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)
    from rainbowdp.cli import main as run

    run()


def _end(number: int, frame: FrameType | None) -> None:
    """Nothing has been opened yet, so there is nothing to clear away."""
    try:
        os.write(2, NOTHING_SPENT.encode())
    finally:
        os._exit(128 + number)
