"""Make ``tables.zip``, the tables that come with the package: an hour of processor."""

from __future__ import annotations

import itertools
from pathlib import Path

from rich.progress import track

from rainbowdp.exact.keeping import ARCHIVE
from rainbowdp.guarantees.dp import DP
from rainbowdp.questions.relations import Neighbors, Ties
from rainbowdp.rules.crowd_table.build import SHELF, SHIPPED, SOLVED, fetch_table, wanted
from rainbowdp.rules.crowd_table.program import ANSWERS, plans_for

KINDS = (
    (Neighbors.SUBSTITUTED, Ties.FIRST_LISTED),
    (Neighbors.SUBSTITUTED, Ties.ANY_LEADER),
    (Neighbors.ADDED_OR_REMOVED, Ties.FIRST_LISTED),
)


def shapes() -> tuple[tuple[int, str, Neighbors, Ties], ...]:
    """What comes with the package: answers, ε, neighbors and ties."""
    made = {
        (answers, epsilon, *kind)
        for answers, epsilon, kind in itertools.product(ANSWERS, SHIPPED, KINDS)
        if plans_for(answers, float(epsilon), *kind)
    }
    return tuple(sorted(made.union(SOLVED)))


def ship(place: Path) -> None:
    """Write the archive at ``place``, of tables that are taken from the user's cache or made."""
    for shape in track(shapes(), "Making tables"):
        answers, epsilon, neighbors, ties = shape
        solve = shape in SOLVED
        fetch_table(answers, DP(epsilon), neighbors, ties, take_shipped=False, solve=solve)
    SHELF.ship((wanted(q, DP(e), neighbors, ties) for q, e, neighbors, ties in shapes()), place)


if __name__ == "__main__":
    ship(Path(__file__).parent / ARCHIVE)
