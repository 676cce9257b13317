"""Fixtures that several modules share, and how Hypothesis runs."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from dice import dice
from ledgers import place, places
from mariadb import mariadb_url
from postgres import postgres_url
from spark_session import provide_java, spark
from studio_server import studio_address

__all__ = ["dice", "mariadb_url", "place", "places", "postgres_url", "spark", "studio_address"]

provide_java()
gc.disable()  # until all tests are collected: they are kept anyway

# A landing must not depend on luck: CI tries the same examples every time, people new ones.
# People's are so few that the run stays under five minutes on two cores; their runs add up.
settings.register_profile("ci", derandomize=True, deadline=None, max_examples=20)
settings.register_profile("people", deadline=None, max_examples=20)
settings.load_profile("ci" if os.environ.get("CI") else "people")


STUDIO = tuple(
    f"tests/studio/test_{name}.py"
    for name in ("browser", "server", "story_page", "question_page", "designer_page")
)
TOGETHER = (  # each has a server, a browser or compiled kernels of its own
    "tests/cli/test_remote.py",
    "tests/client/test_remote.py",
    "tests/deploy/test_proxy.py",
    "tests/graphs/engines/test_compiled.py",
    "tests/release/test_tiles.py",
    "tests/service/test_page.py",
    "tests/service/test_roles.py",
)
APART = (  # too long for one worker, so that only what is tested of one thing stays together
    "tests/rules/test_contract.py",
    "tests/tables/test_people.py",
    "tests/tables/test_tables.py",
)


class OneStart(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """The tests of a file go to one worker, which has started and made what they share.

    A slow one goes to whichever worker is free, as it takes longer than that.
    (With pytest 9.2, marks of xdist 3.8 make no groups.)
    """

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        if nodeid.startswith(STUDIO):
            return "studio"
        if "spark" in nodeid and "spark_submit" not in nodeid:
            return "spark"
        if "mariadb" in nodeid:
            return "mariadb"
        if file in APART:
            return file + test.partition("[")[2]
        slow = self.config.option.markexpr == "slow" and file not in TOGETHER
        return nodeid if slow else file


LONGEST = ("tests/test_publishing.py", "tests/test_proofs.py", "tests/deploy/test_container.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first, so that no worker is left alone with it at the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


def pytest_collection_finish() -> None:
    """Collect garbage again, but do not look through ten thousand tests each time."""
    gc.freeze()
    gc.enable()


def pytest_sessionfinish() -> None:
    """Let everything be cleared away at the end; DuckDB prints what is not."""
    gc.unfreeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than there are cores, as some wait for a browser, Spark or a database."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneStart:
    """Hand out the tests in this way."""
    return OneStart(config, log)


@pytest.fixture(scope="session", autouse=True)
def _tables_are_made_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Margin tables of a run are kept in one folder for all its workers, never in the home."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # each worker has its own below the run's
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAINBOWDP_CACHE", str(folder / "margin tables"))
        yield folder
