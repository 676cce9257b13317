"""Where a vote stands: how far every answer is behind the leader.

The *gap* of an answer is how many records it is behind. Where ties go to the first listed, the
answers are seen from the leader, counted on around the list: *position* j is the answer j places
after it. The gap of an answer listed before the leader is one less, as a tie is enough for it to
lead; so the leader changes when a gap falls below 0, whoever it is. Where any leader is right,
positions are the order of the list without the leader.
"""

from __future__ import annotations

from collections.abc import Sequence

from rainbowdp.questions.relations import Ties


def standing(counts: Sequence[int], ties: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The answers by position, the leader first, and the gaps of the others.

    >>> standing([4, 7, 5], Ties.FIRST_LISTED)
    ((1, 2, 0), (2, 2))
    >>> standing([4, 7, 5], Ties.ANY_LEADER)
    ((1, 0, 2), (3, 2))
    """
    most = max(counts)
    leader = counts.index(most)
    indices = range(len(counts))
    if ties == Ties.ANY_LEADER:
        order = (leader, *(v for v in indices if v != leader))
        return order, tuple(most - counts[v] for v in order[1:])
    order = (*indices[leader:], *indices[:leader])
    return order, tuple(most - counts[v] - (v < leader) for v in order[1:])
