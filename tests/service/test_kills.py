"""Processes of a service and its database are killed while many ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from postgres import fresh_schema, killable_server
from service_checks import check, killed_while_asked
from service_world import world


@pytest.mark.slow
def test_every_answer_that_was_shown_is_in_the_ledger(tmp_path: Path) -> None:
    with (
        killable_server() as server,
        world(tmp_path, fresh_schema(server.url), 2, threads=4) as service,
    ):
        found, seen = killed_while_asked(service, server, kills=12, of_the_server=3, clients=8)
        after = check(service, seen)
    assert seen.answers
    assert not seen.refused
    assert after.unanswered == 0  # payment and answer are one transaction
    assert set(found.statuses) <= {200, 503}
    assert "Traceback" not in service.log
