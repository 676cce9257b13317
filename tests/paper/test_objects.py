from __future__ import annotations

from fractions import Fraction

import rainbowdp as rb
from rainbowdp import paper


def test_the_join_of_example_one_breaks_privacy_on_the_edge_between() -> None:
    one, two, join = paper.example_one_mechanisms()
    assert one.check()
    assert two.check()
    broken = join.check()
    assert set(broken.neighbors or ()) == {"d2", "d3"}
    assert broken.answers == (2,)
    assert broken.excess == 0.2 - 2 * 0.05


def test_the_boundary_vector_is_the_printed_one_but_for_a_digit() -> None:
    assert sum(paper.BOUNDARY) == 1
    assert sum(paper.PRINTED_BOUNDARY) == Fraction(9999, 10000)
    differ = [(a, b) for a, b in zip(paper.BOUNDARY, paper.PRINTED_BOUNDARY, strict=True) if a != b]
    assert differ == [(Fraction(82, 10000), Fraction(81, 10000))]


def test_the_printed_operator_is_right_without_delta_and_wrong_with_it() -> None:
    half, two = Fraction(1, 2), Fraction(2)
    assert float(paper.printed_step(half, two, Fraction(0))) == rb.DP.from_ratio(2).step(0.5)
    wrong = float(paper.printed_step(half, two, Fraction(1, 10)))
    assert rb.DP.from_ratio(2, delta="0.1").excess((0.5, 0.5), (wrong, 1 - wrong)) > 0
    assert rb.DP.from_ratio(2, delta="0.2").excess((0.5, 0.5), (wrong, 1 - wrong)) == 0.0
