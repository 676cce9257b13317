from __future__ import annotations

import numpy as np
import pytest

from rainbowdp.graphs.engines.narrow import index_type, margin_type, number_type, unsigned


@pytest.mark.parametrize(
    ("largest", "index", "number", "margin"),
    [
        (0, np.uint32, np.uint8, np.uint8),
        (254, np.uint32, np.uint8, np.uint8),
        (255, np.uint32, np.uint8, np.uint16),
        (256, np.uint32, np.uint16, np.uint16),
        (65_535, np.uint32, np.uint16, np.uint32),
        (65_536, np.uint32, np.uint32, np.uint32),
        (2**32 - 1, np.uint32, np.uint32, np.uint64),
        (2**32, np.uint64, np.uint64, np.uint64),
    ],
)
def test_the_narrowest_type_that_fits(
    largest: int, index: type, number: type, margin: type
) -> None:
    assert index_type(largest) is index
    assert number_type(largest) is number
    assert margin_type(largest) is margin


def test_unsigned_is_a_view_where_it_can_be() -> None:
    for kind in (np.int32, np.int64, np.uint32):
        numbers = np.array([0, 7, 5], dtype=kind)
        assert np.shares_memory(unsigned(numbers), numbers)
        assert unsigned(numbers[::2]).tolist() == [0, 5]
    assert unsigned(np.array([3], dtype=np.int8)).dtype == np.uint32
