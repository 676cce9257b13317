"""Make ``tables.zip``, the tables that come with the package: some twenty minutes of processor."""

from __future__ import annotations

import itertools
import zipfile
from pathlib import Path

from rich.progress import track

from rainbowdp.guarantees.dp import DP
from rainbowdp.questions.relations import Neighbors, Ties
from rainbowdp.rules.margin_table.cache import fetch_table, kept_at
from rainbowdp.rules.margin_table.shipped import ANSWERS, ARCHIVE, EPSILONS

_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # so that the same tables make the same archive


def ship(place: Path) -> None:
    """Write the archive at ``place``, of tables that are taken from the user's cache or made."""
    shapes = list(itertools.product(ANSWERS, EPSILONS, Neighbors, Ties))
    paths = []
    for answers, epsilon, neighbors, ties in track(shapes, "Making tables"):
        fetch_table(answers, DP(epsilon), neighbors, ties, take_shipped=False)
        paths.append(kept_at(answers, DP(epsilon), neighbors, ties))
    with zipfile.ZipFile(place, "w") as archive:
        for path in sorted(paths):
            entry = zipfile.ZipInfo(path.name, _LONG_AGO)
            archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED, 9)


if __name__ == "__main__":
    ship(Path(__file__).parent / ARCHIVE)
