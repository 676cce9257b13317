"""Type aliases that every room uses."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Answer: TypeAlias = Any  # one possible output: anything hashable
Dataset: TypeAlias = Any  # a node of a graph, a table or its counts
Rainbow: TypeAlias = tuple[Answer, ...]  # all answers, most preferred first
Label: TypeAlias = Any  # the name of a region: anything hashable
Weights: TypeAlias = tuple[int, ...]  # a row in integers, one for each answer

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
