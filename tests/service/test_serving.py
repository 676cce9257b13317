"""The processes of a service: real ones, started as ``rainbow serve``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn

from postgres import fresh_schema
from rainbowdp.errors import RainbowError
from rainbowdp.ledger import Ledger
from rainbowdp.service import serving
from rainbowdp.service.app import create_app
from services import EPSILON, WINNER, InMemory, headers, make_settings, write_data

SETTINGS = """
port = 0
{more}

[dataset.visits]
data = "visits.csv"
ledger = "{ledger}"

[dataset.visits.columns.diagnosis]
answers = ["flu", "cold", "fracture"]
"""


@contextmanager
def running(
    folder: Path, ledger: str = "visits.db", more: str = ""
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A service in a process of its own, and its address."""
    write_data(folder)
    Ledger.create(ledger if "://" in ledger else folder / ledger, dataset="visits", epsilon=3)
    file = folder / "service.toml"
    file.write_text(SETTINGS.format(ledger=ledger, more=more))
    command = [str(Path(sys.executable).with_name("rainbow")), "serve", str(file)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("The service is at http"), process.communicate()[1]
        yield process, line.split()[4]
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()


def answers(address: str, path: str) -> httpx.Response:
    """What a service says once it listens."""
    for _ in range(200):
        try:
            return httpx.get(address + path, timeout=20)
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the service does not answer")


def test_a_service_starts_answers_and_stops(tmp_path: Path) -> None:
    with running(tmp_path) as (process, address):
        assert answers(address, "/ready").json() == {"status": "ready"}
        assert answers(address, "/v1/datasets").status_code == 401
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=20)
        assert process.returncode == 0
    lines = [json.loads(line) for line in told.splitlines()]  # and nothing else is said
    assert lines[-1]["event"] == "stop"
    assert [line for line in lines if line.get("route") == "/ready" and line["status"] == 200]


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    settings = make_settings(tmp_path, port=0)
    with serving._bound(settings) as taken:
        port = taken.getsockname()[1]
        taken.listen()
        with pytest.raises(RainbowError, match="Choose another port"):
            serving._bound(settings.listening_at(port))


def test_a_stop_lets_questions_finish_and_refuses_new_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    settings = make_settings(tmp_path, port=0)
    app = create_app(settings, InMemory())
    service = app.state.service
    kept = type(service.datasets["visits"]).ready

    def slowly(*given: object) -> object:
        begun.set()
        go_on.wait(20)
        return kept(*given)

    monkeypatch.setattr(type(service.datasets["visits"]), "ready", slowly)
    listening = serving._bound(settings)
    server = serving._Server(uvicorn.Config(app, log_config=None), service, None)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    address = serving._address(listening)
    assert answers(address, "/health").status_code == 200
    found: list[httpx.Response] = []
    body = {"question": WINNER, "guarantee": EPSILON}
    ask = f"{address}/v1/datasets/visits/ask"
    asking = threading.Thread(
        target=lambda: found.append(
            httpx.post(ask, json=body, headers=headers("ann", "k"), timeout=30)
        )
    )
    asking.start()
    assert begun.wait(20)
    server.handle_exit(signal.SIGTERM, None)
    refused = httpx.post(ask, json=body, headers=headers("bob"), timeout=20)
    assert (refused.status_code, refused.json()["code"]) == (503, "stopping")
    assert int(refused.headers["retry-after"]) > 0
    go_on.set()
    asking.join(20)
    thread.join(20)
    listening.close()
    assert not thread.is_alive()
    assert found[0].status_code == 200
    assert service.datasets["visits"].ledger.balance().answers == 1


@pytest.mark.slow
def test_several_processes_share_an_address_and_are_replaced(
    tmp_path: Path, postgres_url: str
) -> None:
    ledger, store = fresh_schema(postgres_url), fresh_schema(postgres_url)
    with running(tmp_path, ledger, f'workers = 2\nstore = "{store}"') as (process, address):
        assert answers(address, "/ready").json() == {"status": "ready"}
        workers = _children(process.pid)
        for victim in workers:
            os.kill(victim, signal.SIGKILL)
        for _ in range(100):
            if len(set(_children(process.pid)) - set(workers)) >= 2:
                break
            time.sleep(0.1)
        assert answers(address, "/ready").json() == {"status": "ready"}
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=40)
        assert process.returncode == 0


def _children(parent: int) -> list[int]:
    """Processes that answer; of those that a process started, the ones that listen."""
    text = Path(f"/proc/{parent}/task/{parent}/children").read_text()
    return [
        int(pid)
        for pid in text.split()
        if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
