"""Tables of odd values in every engine, for all who ask them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from .where_tables import Files, made_engines, made_files


@pytest.fixture(scope="module")
def files() -> Iterator[Files]:
    with made_files() as found:
        yield found


@pytest.fixture(scope="module")
def engines(files: Files) -> dict[str, Any]:
    return made_engines(files)
