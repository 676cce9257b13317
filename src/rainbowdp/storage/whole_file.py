"""Write a file whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rainbowdp.errors import RainbowError


@contextmanager
def whole_file(
    target: Path, what: str, refused: type[RainbowError] = RainbowError
) -> Iterator[Path]:
    """A draft to write to: it becomes ``target`` once everything is on disk, or disappears.

    ``what`` names the file in the error message if it cannot be written.
    """
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        yield draft
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        draft.replace(target)
        sync_folder(target.parent)
    except OSError as error:
        raise refused(f"cannot write {what} {target}: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make a new name in ``folder`` as durable as its file, on systems that can sync folders."""
    if os.name == "posix":
        place = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)
