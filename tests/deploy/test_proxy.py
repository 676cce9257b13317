"""The example of nginx in front of a real service, on a Unix socket."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from nginx import Proxy, proxy
from rainbowdp.ledger import Ledger

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
RAINBOW = Path(sys.executable).parent / "rainbow"
ASKED = {
    "question": {"kind": "winner", "answers": ["Clinton", "Dole"], "column": "vote"},
    "guarantee": {"epsilon": "1"},
}
ASK = "/v1/datasets/election/ask"


def rainbow(*arguments: str | Path) -> str:
    done = subprocess.run([RAINBOW, *arguments], check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Proxy, str, Path]]:
    """The shipped settings with places of this machine, its service, and nginx in front."""
    folder = tmp_path_factory.mktemp("deployed")
    text = (ROOT / "deploy" / "service.toml").read_text()
    for before, after in {
        "/run/rainbow/http.sock": folder / "http.sock",
        "/var/lib/rainbow/people.db": folder / "people.db",
        "/var/lib/rainbow/election.db": folder / "election.db",
        "/srv/rainbow/election.csv": folder / "election.csv",
    }.items():
        assert text.count(before) == 1
        text = text.replace(before, str(after))
    shutil.copy(ROOT / "examples" / "data" / "election.csv", folder)
    Ledger.create(folder / "election.db", dataset="election-1996", epsilon=3)
    (folder / "service.toml").write_text(text.replace('floor = "0.5 s"', 'floor = "10 ms"'))
    told = rainbow(
        *("service", "add", "ann", "--role", "analyst", "--json"),
        *("--settings", folder / "service.toml"),
    )
    token = json.loads(told)["new_token"]["token"]
    with (folder / "log").open("wb") as log:
        service = subprocess.Popen(
            [RAINBOW, "serve", folder / "service.toml"], stdout=log, stderr=log
        )
    try:
        while not (folder / "http.sock").exists():
            assert service.poll() is None, (folder / "log").read_text()
            time.sleep(0.05)
        (folder / "proxy").mkdir()
        with proxy(f"unix:{folder / 'http.sock'}", folder / "proxy") as found:
            with httpx.Client(verify=found.trusting) as client:
                while client.get(f"{found.address}/ready").status_code != 200:
                    time.sleep(0.05)
            yield found, token, folder
    finally:
        service.send_signal(signal.SIGTERM)
        assert service.wait(60) == 0
        assert not listening_ports(service.pid)


def listening_ports(process: int) -> set[str]:
    """The ports of TCP that a process listens at."""
    try:
        files = [str(file.readlink()) for file in Path(f"/proc/{process}/fd").iterdir()]
    except FileNotFoundError:
        return set()
    ours = {name.removeprefix("socket:[").rstrip("]") for name in files if name[:7] == "socket:"}
    lines = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:]
    ]
    return {line[1] for line in lines if line[3] == "0A" and line[9] in ours}


def test_a_question_is_answered_over_tls(running: tuple[Proxy, str, Path]) -> None:
    found, token, _ = running
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "first"}
    with httpx.Client(verify=found.trusting, base_url=found.address, headers=headers) as client:
        answer = client.post(ASK, json=ASKED)
        assert answer.status_code == 200, answer.text
        assert answer.json()["answer"] in ("Clinton", "Dole")
        assert answer.headers["strict-transport-security"]
        assert client.post(ASK, json=ASKED).json()["recalled"]
    assert token not in found.log.read_text()


def test_a_certificate_that_nobody_vouches_for_is_not_taken(
    running: tuple[Proxy, str, Path],
) -> None:
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(f"{running[0].address}/health", verify=ssl.create_default_context())


def test_the_clear_is_refused(running: tuple[Proxy, str, Path]) -> None:
    found, token, _ = running
    refused = httpx.post(found.plain + ASK, headers={"Authorization": f"Bearer {token}"})
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")


def test_sizes_are_limited_by_the_service_and_before_it(running: tuple[Proxy, str, Path]) -> None:
    found, token, folder = running
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(verify=found.trusting, base_url=found.address, headers=headers) as client:
        for size in (200_000, 2_000_000):
            refused = client.post(ASK, content=b"a" * size)
            assert (refused.status_code, refused.json()["code"]) == (413, "too_large")
        refused = client.get("/health", headers={"X-Long": "a" * 40_000})
        assert (refused.status_code, refused.json()["code"]) == (400, "malformed")
    log = (folder / "log").read_text()
    assert log.count('"status": 413') == 1  # the larger one never came here


def test_the_service_listens_nowhere_else(running: tuple[Proxy, str, Path]) -> None:
    _, _, folder = running
    line = next(line for line in (folder / "log").read_text().splitlines() if '"start"' in line)
    assert not listening_ports(json.loads(line)["process"])


def test_a_client_cannot_claim_an_address_and_a_dead_service_is_told_as_ours(
    tmp_path: Path,
) -> None:
    async def echo(scope: Any, receive: Any, send: Any) -> None:
        said = json.dumps({name.decode(): value.decode() for name, value in scope["headers"]})
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": said.encode()})

    server = uvicorn.Server(
        uvicorn.Config(echo, uds=str(tmp_path / "socket"), lifespan="off", log_config=None)
    )
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()))
    thread.start()
    while not server.started:
        time.sleep(0.02)
    with (
        proxy(f"unix:{tmp_path / 'socket'}", tmp_path) as found,
        httpx.Client(verify=found.trusting, base_url=found.address) as client,
    ):
        claims = {"X-Forwarded-For": "192.0.2.66", "Forwarded": "for=192.0.2.66"}
        seen = client.get("/?name=secret", headers=claims).json()
        assert seen["x-forwarded-for"] == "127.0.0.1"
        assert "forwarded" not in seen
        server.should_exit = True
        thread.join()
        refused = client.get("/")
        assert (refused.status_code, refused.json()["code"]) == (503, "not_ready")
        assert refused.headers["retry-after"] == "5"
    assert "secret" not in found.log.read_text()
