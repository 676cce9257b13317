"""Fixtures that several modules share, and how Hypothesis runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from ledgers import place, places
from postgres import postgres_url
from spark_session import provide_java, spark
from studio_server import studio_address

__all__ = ["place", "places", "postgres_url", "spark", "studio_address"]

provide_java()

# A landing must not depend on luck: CI tries the same examples every time, people new ones.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("people", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "people")


@pytest.fixture(scope="session", autouse=True)
def _tables_are_made_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Margin tables of a run are kept in one folder for all its workers, never in the home."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # each worker has its own below the run's
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAINBOWDP_CACHE", str(folder / "margin tables"))
        yield folder
