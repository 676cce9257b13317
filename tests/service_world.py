"""A real service: several processes on one socket, over PostgreSQL, that may be killed.

Run as a program it is one of these processes. A process that was killed is started again on the
same socket, as a service manager would.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from postgres import connect
from rainbowdp.errors import RainbowError
from rainbowdp.ledger import Ledger
from rainbowdp.service.config import settings_of
from rainbowdp.service.people.directory import people_of
from rainbowdp.service.people.roles import Role
from service_load import posted

CHOICES = ("red", "green", "blue")
CANARY = "canary-7f3e9a"
"""Stands in private values, and in the names of folders and databases, and nowhere else."""
QUESTION = {"kind": "winner", "answers": list(CHOICES), "column": "choice"}
DATASET = "votes"
PEOPLE = {"ann": Role.ANALYST, "carl": Role.CURATOR, "dora": Role.AUDITOR}


@dataclass
class World:
    """A service that runs."""

    folder: Path
    settings: Path
    place: str
    """Of the ledger."""
    listening: socket.socket
    tokens: dict[str, str]
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def port(self) -> int:
        """Where it listens."""
        found: int = self.listening.getsockname()[1]
        return found

    @property
    def log(self) -> str:
        """All that the processes wrote."""
        return (self.folder / "log").read_text(errors="replace")

    def started(self) -> subprocess.Popen[bytes]:
        """One more process."""
        number = self.listening.fileno()
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, __file__, str(self.settings), str(number)],
                pass_fds=[number],
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )

    def kill(self, dice: random.Random) -> None:
        """Kill a process that has begun to answer, and start another in its place."""
        while not (able := [n for n, one in enumerate(self.processes) if one.pid in self.begun()]):
            time.sleep(0.02)
        number = dice.choice(able)
        self.processes[number].kill()
        self.processes[number].wait()
        self.processes[number] = self.started()

    def begun(self) -> set[int]:
        """The processes that have said that they begin."""
        return {int(number) for number in re.findall(r'"start", "process": (\d+)', self.log)}

    def ask(self, key: str, person: str = "ann", epsilon: str = "0.0001") -> bytes:
        """A question under a key."""
        headers = {"Authorization": f"Bearer {self.tokens[person]}", "Idempotency-Key": key}
        body = {"question": QUESTION, "guarantee": {"epsilon": epsilon}}
        return posted(f"/v1/datasets/{DATASET}/ask", body, headers)

    def ready(self, processes: int) -> None:
        """Wait until so many processes have said that they begin."""
        while len(self.begun()) < processes:
            for process in self.processes:
                assert process.poll() is None, self.log[-3000:]
            time.sleep(0.05)


@contextmanager
def world(
    folder: Path, database: str, processes: int, rows: int = 1000, **options: Any
) -> Iterator[World]:
    """A service over a table of so many votes in a database, which also holds its ledger.

    ``options`` are the ledger's budget, and what the settings say besides.
    """
    budget = options.pop("budget", {"epsilon": "1000"})
    with connect(database) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS votes (choice text, note text)")
        if connection.execute("SELECT count(*) FROM votes").fetchone() == (0,):
            connection.execute(
                "INSERT INTO votes SELECT (ARRAY['red', 'green', 'blue'])[1 + i %% 7 %% 3], "
                "%s || i FROM generate_series(1, %s) AS i",
                (CANARY, rows),
            )
    place = database.replace("+psycopg", "")
    Ledger.create(place, dataset=DATASET, by="carl", **budget)
    said = {
        "store": place,
        "requests_per_minute": 10_000_000,
        "threads": 16,
        "waiting": 1000,
        "dataset": {
            DATASET: {
                "data": place,
                "table": "votes",
                "ledger": place,
                "columns": {"choice": {"answers": list(CHOICES), "filter": "listed"}},
            }
        },
        **options,
    }
    settings = folder / "settings.json"
    settings.write_text(json.dumps(said))
    listening = socket.create_server(("127.0.0.1", 0), backlog=512)
    found = World(folder, settings, place, listening, _people(settings))
    found.processes += [found.started() for _ in range(processes)]
    try:
        found.ready(processes)
        yield found
    finally:
        for process in found.processes:
            process.send_signal(signal.SIGTERM)
        for process in found.processes:
            process.wait(60)
        listening.close()


def _people(settings: Path) -> dict[str, str]:
    """A token for somebody of each role."""
    people = people_of(settings_of(json.loads(settings.read_text()), settings))
    for name, role in PEOPLE.items():
        people.add(name, [role], by="carl")
    tokens = {name: people.token(name, by="carl", days=1).token for name in PEOPLE}
    people.store.close()
    return tokens


def _serve(settings: Path, number: int) -> None:
    """One process of the service, on a socket that was handed over."""
    import uvicorn

    from rainbowdp.service.app import create_app
    from rainbowdp.service.logs import log_to_standard_error, tell
    from rainbowdp.service.serving import server_config

    log_to_standard_error()
    app = None
    while app is None:  # as a service manager would, while the database is gone
        try:
            app = create_app(settings_of(json.loads(settings.read_text()), settings))
        except RainbowError as error:
            tell("lost", message=str(error))
            time.sleep(0.2)
    config = server_config(app, 30)
    tell("start", process=os.getpid())
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=number)])


if __name__ == "__main__":
    _serve(Path(sys.argv[1]), int(sys.argv[2]))
