"""Margin tables that come with the package, for the ε that most people ask for.

They are in ``tables.zip``, in the form of those that are kept on disk, and like these proved again
when they are taken. ``python -m rainbowdp.rules.margin_table.shipping`` makes the archive.
"""

from __future__ import annotations

import zipfile
from importlib.resources import files

ARCHIVE = "tables.zip"
ANSWERS = (3, 4, 5, 6)
EPSILONS = ("0.1", "0.2", "0.5", "1", "2")


def shipped(name: str) -> str | None:
    """The text of the table of this name, or none if it is not among them."""
    with (
        (files("rainbowdp.rules.margin_table") / ARCHIVE).open("rb") as file,
        zipfile.ZipFile(file) as archive,
    ):
        return archive.read(name).decode() if name in archive.namelist() else None
