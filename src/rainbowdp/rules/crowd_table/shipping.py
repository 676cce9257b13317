"""Make ``tables.zip``, the tables that come with the package: some minutes of processor."""

from __future__ import annotations

import itertools
from pathlib import Path

from rich.progress import track

from rainbowdp.exact.keeping import ARCHIVE
from rainbowdp.guarantees.dp import DP
from rainbowdp.questions.relations import Neighbors, Ties
from rainbowdp.rules.crowd_table.build import SHELF, SHIPPED, SOLVED, fetch_table, wanted
from rainbowdp.rules.crowd_table.program import ANSWERS, size_for

KINDS = (
    (Neighbors.SUBSTITUTED, Ties.FIRST_LISTED),
    (Neighbors.SUBSTITUTED, Ties.ANY_LEADER),
    (Neighbors.ADDED_OR_REMOVED, Ties.FIRST_LISTED),
)


def ship(place: Path) -> None:
    """Write the archive at ``place``, of tables that are taken from the user's cache or made."""
    shapes = [
        (answers, epsilon, kind)
        for answers, epsilon, kind in itertools.product(ANSWERS, SHIPPED, KINDS)
        if size_for(answers, float(epsilon), *kind) is not None
    ]
    for answers, epsilon, kind in track(shapes, "Making tables"):
        solved = SOLVED.get((answers, epsilon, *kind))
        fetch_table(answers, DP(epsilon), *kind, take_shipped=False, solved=solved)
    SHELF.ship((wanted(q, DP(e), neighbors, ties) for q, e, (neighbors, ties) in shapes), place)


if __name__ == "__main__":
    ship(Path(__file__).parent / ARCHIVE)
