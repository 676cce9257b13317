"""Make ``tables.zip``, the tables that come with the package: some twenty minutes of processor."""

from __future__ import annotations

import itertools
from pathlib import Path

from rich.progress import track

from rainbowdp.exact.keeping import ARCHIVE
from rainbowdp.guarantees.dp import DP
from rainbowdp.questions.relations import Neighbors, Ties
from rainbowdp.rules.margin_table.build import SHELF, SHIPPED, fetch_table, wanted

SHAPES = tuple(itertools.product((3, 4, 5, 6), SHIPPED, Neighbors, Ties))


def ship(place: Path) -> None:
    """Write the archive at ``place``, of tables that are taken from the user's cache or made."""
    for answers, epsilon, neighbors, ties in track(SHAPES, "Making tables"):
        fetch_table(answers, DP(epsilon), neighbors, ties, take_shipped=False)
    SHELF.ship((wanted(q, DP(e), neighbors, ties) for q, e, neighbors, ties in SHAPES), place)


if __name__ == "__main__":
    ship(Path(__file__).parent / ARCHIVE)
