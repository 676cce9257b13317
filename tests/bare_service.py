"""What a service would be without privacy: count the rows, insert what was found, reply.

The measure that the service's own throughput is held against: FastAPI, SQLAlchemy with a pool, one
transaction a request, no tokens, no budget, no chain, no access log.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Annotated

from fastapi import FastAPI, Header
from pydantic import BaseModel
from sqlalchemy import Engine, create_engine, text

app = FastAPI()

_COUNT = text("SELECT choice, count(*) FROM votes GROUP BY choice")
_INSERT = text("INSERT INTO bare_answers (key, answer) VALUES (:key, :answer) RETURNING number")


class Asked(BaseModel):
    """What is asked, in the form of the service."""

    question: dict[str, object]
    guarantee: dict[str, str]


@cache
def _engine() -> Engine:
    return create_engine(os.environ["BARE_DATABASE"], pool_size=16, max_overflow=0)


@app.post("/ask")
def ask(asked: Asked, idempotency_key: Annotated[str, Header()]) -> dict[str, object]:
    """Count and insert."""
    with _engine().begin() as connection:
        counts = {choice: count for choice, count in connection.execute(_COUNT)}  # noqa: C416
        answer = max(counts, key=lambda choice: counts[choice])
        row = {"key": idempotency_key, "answer": answer}
        number = connection.execute(_INSERT, row).scalar_one()
    return {"answer": answer, "entry": number}


@contextmanager
def bare_service(database: str, processes: int) -> Iterator[int]:
    """The port of so many processes that count and insert in this database."""
    with create_engine(database).begin() as connection:
        connection.execute(text("CREATE TABLE bare_answers (number serial, key text, answer text)"))
        connection.execute(text("CREATE UNIQUE INDEX ON bare_answers (key)"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    options = f"--port {port} --workers {processes} --no-access-log --log-level warning"
    folder = Path(__file__).parent
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "uvicorn",
            "bare_service:app",
            "--app-dir",
            folder,
            *options.split(),
        ],
        env={**os.environ, "BARE_DATABASE": database},
    )
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                assert process.poll() is None
                time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(30)
