"""A service of several processes over PostgreSQL, killed under load: processes and the database.

Run it as ``python benchmarks/service_kills.py``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from postgres import fresh_schema, killable_server
from service_checks import check, killed_while_asked
from service_world import world


def main() -> None:
    """Prints a table in Markdown; a broken promise is an error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--of-the-database", type=int, default=20)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--answers-between", type=int, default=25)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        killable_server("fsync=off", "max_connections=400") as server,
        world(Path(folder), fresh_schema(server.url), options.processes) as service,
    ):
        load, seen = killed_while_asked(
            *(service, server, options.kills, options.of_the_database, options.clients),
            between=options.answers_between,
        )
        found = check(service, seen)
        assert "Traceback" not in service.log
    print(
        "| kills of processes | of the database | requests cut off | told to come back | answers "
        "shown | entries | shown and not in the ledger | paid twice | paid and not answered |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    cells = (
        *(options.kills, options.of_the_database, load.cut, load.statuses.get(503, 0)),
        *(found.shown, found.entries, 0, 0, found.unanswered),
    )
    print(f"| {' | '.join(map(str, cells))} |")
    others = {status: many for status, many in load.statuses.items() if status not in (200, 503)}
    assert not others, others
    assert not seen.refused, seen.refused


if __name__ == "__main__":
    main()
