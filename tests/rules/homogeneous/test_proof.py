"""The proof of ladders against every set of answers of every two rows, in fractions."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.aliases import Weights
from rainbowdp.rules.homogeneous.proof import prove_ladders

TOTAL = 12
ROWS = [row for row in itertools.product(range(TOTAL + 1), repeat=3) if sum(row) == TOTAL]


def close(p: Weights, q: Weights, ratio: Fraction, delta: Fraction) -> bool:
    """Whether no set of answers is too likely under one of the rows beside the other."""
    sets = [s for size in range(4) for s in itertools.combinations(range(3), size)]
    return all(
        Fraction(sum(more[v] for v in chosen), TOTAL)
        <= ratio * Fraction(sum(less[v] for v in chosen), TOTAL) + delta
        for more, less in ((p, q), (q, p))
        for chosen in sets
    )


@given(
    ladders=st.lists(
        st.lists(st.sampled_from(ROWS), min_size=1, max_size=3), min_size=2, max_size=4
    ),
    touching=st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=4),
    ratio=st.sampled_from(["2", "4", "12"]),
    delta=st.sampled_from(["0", "1/4", "1/2"]),
)
def test_ladders_are_proved_where_all_pairs_are_close(
    ladders: list[list[Weights]], touching: set[tuple[int, int]], ratio: str, delta: str
) -> None:
    rows = {number: tuple(ladder) for number, ladder in enumerate(ladders)}
    joined = [(a, b) for a, b in sorted(touching) if a in rows and b in rows]
    pairs = [pair for ladder in ladders for pair in itertools.pairwise(ladder)]
    pairs += [(rows[a][0], rows[b][0]) for a, b in joined]
    private = all(close(p, q, Fraction(ratio), Fraction(delta)) for p, q in pairs)
    event(f"private: {private}")
    promise = rb.DP.from_ratio(ratio, delta=delta)
    if private:
        assert prove_ladders(promise, rows, joined).pairs == len(pairs)
    else:
        with pytest.raises(rb.InvalidMechanism, match="neighboring rows must be close"):
            prove_ladders(promise, rows, joined)


def test_rows_of_one_shape_are_told_apart_by_where_they_differ() -> None:
    """The same weights in another order are another pair, and one that breaks the guarantee."""
    fine, turned = ((6, 4, 2), (6, 2, 4)), ((6, 4, 2), (2, 4, 6))
    promise = rb.DP.from_ratio(2)
    assert prove_ladders(promise, {0: fine}, [])
    with pytest.raises(rb.InvalidMechanism):
        prove_ladders(promise, {0: fine, 1: turned}, [])


FINE, FAR = (4, 4, 4), (12, 0, 0)
TWO = rb.DP.from_ratio(2)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_no_two_depths_are_left_out(place: int) -> None:
    """One row that is far from its neighbors, at the head, inside or at the end of a ladder."""
    ladder: list[Weights] = [FINE] * 3
    ladder[place] = FAR
    ladders: list[dict[int, list[Weights]]] = [
        {0: ladder},
        {0: ladder, 1: [FINE]},
        {1: [FINE], 0: ladder},
    ]
    for rows in ladders:
        with pytest.raises(rb.InvalidMechanism, match="region 0 at depths"):
            prove_ladders(TWO, rows, [])


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("pair", [("far", "a"), ("a", "far")])
def test_no_two_touching_regions_are_left_out(place: int, pair: tuple[str, str]) -> None:
    """One pair that breaks the guarantee, the first, the second or the last that is listed."""
    rows = {"far": (FAR,), "a": (FINE,), "b": (FINE,), "c": (FINE,)}
    touching = [("a", "b"), ("b", "c"), ("a", "c")]
    assert prove_ladders(TWO, rows, touching).pairs == 3
    touching[place] = pair
    with pytest.raises(rb.InvalidMechanism, match="'far'"):
        prove_ladders(TWO, rows, touching)


@pytest.mark.parametrize("bad", [(13, -1, 0), (4, 4, 5), (4.0, 4, 4)])
@pytest.mark.parametrize(("region", "depth"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_no_row_is_left_out(bad: Weights, region: int, depth: int) -> None:
    """A row that is no distribution, in the first or the last region, at either end."""
    rows: dict[int, list[Weights]] = {0: [FINE, FINE], 1: [FINE, FINE]}
    assert prove_ladders(TWO, rows, []).pairs == 2
    rows[region][depth] = bad
    with pytest.raises(rb.InvalidMechanism, match=r"integers from 0|same positive total"):
        prove_ladders(TWO, rows, [])
