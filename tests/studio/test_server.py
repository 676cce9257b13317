from __future__ import annotations

import asyncio
import json
import math
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner

import rainbowdp as rb
from rainbowdp.cli import app
from rainbowdp.display.pages import HEADERS, SHARED
from rainbowdp.errors import RainbowError
from rainbowdp.studio import server
from rainbowdp.studio.computing import Source, Studio
from rainbowdp.studio.examples import EXAMPLES
from rainbowdp.studio.loading import MOST_BYTES
from rainbowdp.studio.server import PAGES, STATIC, _listening
from studio_server import get, post, request

ONE = {"kind": "dp", "epsilon": "1", "delta": "0"}
PAPER = {"world": "paper", "mechanism": "homogeneous", "guarantee": ONE, "dataset": 0}
TOWN = b"a b\nb c\na: yes > no\nb: yes > no\nc: no > yes\n"


def test_the_page_and_all_it_loads_are_ours(studio_address: str) -> None:
    for path in ("/", *(f"/{name}" for name in PAGES)):
        _, page = request(studio_address, "GET", path)
        text = page.decode()
        assert "rainbow</title>" in text or "rainbow studio</title>" in text
        assert "http://" not in text
        assert "https://" not in text
        assert "<style" not in text
        assert " style=" not in text
    ours = {f"/static/{file.relative_to(STATIC)}": file for file in STATIC.rglob("*.*")}
    ours |= {f"/shared/{file.name}": file for file in SHARED.iterdir()}
    for path, file in ours.items():
        response, _ = request(studio_address, "GET", path)
        assert response.status == 200
        if file.suffix in (".js", ".mjs"):
            assert "javascript" in (response.getheader("content-type") or "")


def test_what_others_wrote_comes_with_its_license() -> None:
    for library in (STATIC / "vendor").iterdir():
        assert "Permission is hereby granted" in (library / "LICENSE").read_text()


def test_every_response_carries_the_headers(studio_address: str) -> None:
    for path in ("/", "/static/page.js", "/api/examples", "/nowhere", "/api/world/nowhere"):
        response, _ = request(studio_address, "GET", path)
        for name, value in HEADERS.items():
            assert response.getheader(name) == value, (path, name)
    policy = HEADERS["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1.evil:{port}",
        "",
    ],
)
def test_a_foreign_host_is_refused(studio_address: str, host: str) -> None:
    port = urlsplit(studio_address).port
    for path in ("/", "/api/examples", "/static/page.js"):
        response, body = request(studio_address, "GET", path, {"Host": host.format(port=port)})
        assert response.status == 421
        assert b"this machine" in body


def test_the_names_of_this_machine_are_answered(studio_address: str) -> None:
    port = urlsplit(studio_address).port
    for name in ("localhost", "LOCALHOST", "[::1]"):
        response, _ = request(studio_address, "GET", "/", {"Host": f"{name}:{port}"})
        assert response.status == 200


def test_two_hosts_are_refused(studio_address: str) -> None:
    place = urlsplit(studio_address)
    with socket.create_connection((str(place.hostname), place.port or 0), 10) as line:
        line.sendall(
            f"GET / HTTP/1.1\r\nHost: {place.netloc}\r\nHost: evil.example\r\n"
            "Connection: close\r\n\r\n".encode()
        )
        assert line.recv(64).split()[1] in (b"400", b"421")


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://{own}", "http://{own}.evil"]
)
def test_a_foreign_origin_is_refused(studio_address: str, origin: str) -> None:
    headers = {"Origin": origin.format(own=urlsplit(studio_address).netloc)}
    for method, path in (("GET", "/api/examples"), ("POST", "/api/answer"), ("POST", "/api/load")):
        response, body = request(studio_address, method, path, headers, b"{}")
        assert response.status == 403
        assert b"own page" in body


def test_what_computes_needs_an_origin(studio_address: str) -> None:
    response, _ = request(studio_address, "POST", "/api/answer", {}, json.dumps(PAPER))
    assert response.status == 403


def test_another_site_may_not_even_ask(studio_address: str) -> None:
    for site in ("cross-site", "same-site"):
        response, _ = request(studio_address, "GET", "/api/examples", {"Sec-Fetch-Site": site})
        assert response.status == 403
    for path in ("/", *(f"/{name}" for name in PAGES)):
        response, _ = request(studio_address, "GET", path, {"Sec-Fetch-Site": "cross-site"})
        assert response.status == 200  # a link to a page is fine


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods_are_refused(studio_address: str, method: str) -> None:
    response, _ = request(studio_address, method, "/api/answer", {"Origin": studio_address[:-1]})
    assert response.status == 405


def test_too_much_is_refused_before_it_is_read(studio_address: str) -> None:
    own = {"Origin": studio_address[:-1], "Content-Length": str(MOST_BYTES + 1)}
    response, body = request(studio_address, "POST", "/api/load?name=big", own)
    assert response.status == 413
    assert b"bytes" in body


def test_too_much_is_refused_when_its_length_is_not_told(studio_address: str) -> None:
    place = urlsplit(studio_address)
    head = (
        f"POST /api/load?name=big HTTP/1.1\r\nHost: {place.netloc}\r\nOrigin: http://{place.netloc}\r\n"
        "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    )
    chunk = b"10000\r\n" + b"#" * 0x10000 + b"\r\n"
    with socket.create_connection((str(place.hostname), place.port or 0), 10) as line:
        line.sendall(head.encode() + chunk * (MOST_BYTES // 0x10000) + b"1\r\n#\r\n")
        assert line.recv(64).split()[1] == b"413"


def test_nothing_outside_the_static_folder_is_served(studio_address: str) -> None:
    for path in (
        "/static/../server.py",
        "/static/%2e%2e/server.py",
        "/static//etc/passwd",
        "/static/",
    ):
        response, _ = request(studio_address, "GET", path)
        assert response.status == 404


def test_the_socket_is_on_loopback_only() -> None:
    with _listening(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"
        port = listener.getsockname()[1]
        with pytest.raises(RainbowError, match=f"--port {port}: it is taken"):
            _listening(port)
        with _listening(None) as other:  # the usual one, or any
            assert other.getsockname()[0] == "127.0.0.1"
    with pytest.raises(RainbowError, match="--port 70000"):
        _listening(70000)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_there(studio_address: str, name: str) -> None:
    _, listed = get(studio_address, "/api/examples")
    assert name in [example["name"] for example in listed["examples"]]
    status, world = get(studio_address, f"/api/world/{name}")
    assert status == 200
    content = {"world": name, "mechanism": "homogeneous", **world["start"]}
    status, found = post(studio_address, "/api/answer", content)
    assert status == 200
    assert found["verdict"]["state"] == "checked"
    assert len(found["rows"]) == len(world["datasets"])
    status, proof = post(studio_address, "/api/proof", content)
    assert (status, proof["state"]) == (200, "proved")
    status, costs = post(studio_address, "/api/costs", content)
    assert costs["costs"][0]["name"] == "homogeneous"


def test_the_server_says_what_the_library_says(studio_address: str) -> None:
    _, found = post(studio_address, "/api/answer", PAPER)
    from rainbowdp.paper.objects import figure_one

    mechanism = rb.optimal(figure_one(), rb.DP("1"))
    assert found["rows"] == [list(row.values()) for row in mechanism.values()]
    _, looked = post(studio_address, "/api/inspect", PAPER)
    assert looked == found["dataset"]
    _, matches = post(studio_address, "/api/match", PAPER)
    assert matches["textbook exponential"] > matches["homogeneous"] == 1


def test_a_loaded_file_is_kept_in_memory(studio_address: str) -> None:
    status, world = post(studio_address, "/api/load?name=town.txt", TOWN)
    assert status == 200
    assert world["title"] == "town.txt"
    again = get(studio_address, f"/api/world/{world['name']}")
    assert again == (200, world)
    content = {**PAPER, "world": world["name"]}
    response, text = request(
        studio_address, "POST", "/api/file", {"Origin": studio_address[:-1]}, json.dumps(content)
    )
    assert response.status == 200
    status, file = post(studio_address, "/api/load?name=town.json", text)
    assert (status, file["kind"], file["start"]["mechanism"]) == (200, "file", "file")


@pytest.mark.parametrize(
    ("content", "status", "message"),
    [
        (b"not json", 422, "a request must be JSON"),
        (b"[1]", 422, "a request must be a JSON object"),
        (b"[" * 100_000, 422, "a request must be JSON"),
        ({**PAPER, "world": "nowhere"}, 404, "no such example or loaded file"),
        ({**PAPER, "world": ["paper"]}, 404, "no such example"),
        ({**PAPER, "mechanism": "magic"}, 422, "a mechanism must be one of best, homogeneous"),
        ({**PAPER, "mechanism": "file"}, 422, "a mechanism must be one of best, homogeneous"),
        ({**PAPER, "dataset": 18}, 422, "a dataset must be a number from 0 to 17"),
        ({**PAPER, "dataset": True}, 422, "a dataset must be a number"),
        ({**PAPER, "dataset": 10**400}, 422, "a dataset must be a number from 0 to 17"),
        ({**PAPER, "boundary": [10**400, 0, 0]}, 422, "a boundary must be a row of 3 numbers"),
        ({**PAPER, "boundary": [-(10**400), 1, 0]}, 422, "a boundary must be a row of 3 numbers"),
        ({**PAPER, "boundary": [math.nan, 1, 0]}, 422, "a boundary must be a row of 3 numbers"),
        ({**PAPER, "boundary": [0.5, 0.5]}, 422, "a boundary must be a row of 3 numbers"),
        ({**PAPER, "boundary": "best"}, 422, "a boundary must be a row of 3 numbers"),
        ({**PAPER, "guarantee": None}, 422, "the settings have no guarantee"),
        (
            {**PAPER, "guarantee": {"kind": "dp"}},
            422,
            "a description of a guarantee must be of kind",
        ),
        ({**PAPER, "guarantee": {**ONE, "epsilon": "-1"}}, 422, "epsilon must be in"),
        ({**PAPER, "guarantee": {**ONE, "epsilon": "one"}}, 422, "epsilon must be a finite"),
        ({**PAPER, "guarantee": {**ONE, "epsilon": "1" * 65}}, 422, "must be short texts"),
        ({**PAPER, "guarantee": {**ONE, "delta": 0}}, 422, "must be short texts"),
        ({**PAPER, "guarantee": {"kind": "trade-off", "knots": [[1]]}}, 422, "a guarantee must be"),
    ],
)
def test_bad_requests_get_one_sentence(
    studio_address: str, content: object, status: int, message: str
) -> None:
    for path in ("/api/answer", "/api/costs", "/api/proof"):
        found, body = post(studio_address, path, content)
        assert found == status
        assert message in body["error"]
        assert "Traceback" not in body["error"]


def test_a_baseline_is_never_written_to_a_file(studio_address: str) -> None:
    status, body = post(studio_address, "/api/file", {**PAPER, "mechanism": "textbook exponential"})
    assert status == 422
    assert "has no exact proof, so it cannot be saved to a file" in body["error"]


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost:",
        b"POST /api/answer HTTP/1.1\r\nHost: {own}\r\nOrigin: http://{own}\r\n"
        b"Content-Length: 9\r\n\r\n{",
    ],
    ids=["nothing", "half a head", "half a body"],
)
def test_connections_that_wait_keep_nobody_out(studio_address: str, sent: bytes) -> None:
    place = urlsplit(studio_address)
    idle = []
    try:
        for _ in range(150):
            line = socket.create_connection((str(place.hostname), place.port or 0), 10)
            idle.append(line)
            line.sendall(sent.replace(b"{own}", place.netloc.encode()))
        for _ in range(3):
            status, body = get(studio_address, "/api/examples")
            assert status == 200
            assert body["examples"]
    finally:
        for line in idle:
            line.close()


@pytest.mark.slow
def test_nothing_is_written_to_disk(tmp_path: Path) -> None:
    # A folder that nobody may write to would be no test for root; an empty one that stays so is.
    script = (
        "import threading, sys\n"
        "from rainbowdp.studio.server import application, Source\n"
        "application(Source('town.txt', b'a b\\na: x > y\\nb: y > x\\n'))\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    assert list(tmp_path.iterdir()) == []


def test_help_reads_like_the_others() -> None:
    shown = CliRunner().invoke(app, ["studio", "--help"]).output
    for words in ("--port", "--no-browser", "[FILE]", "Example:", "this machine only"):
        assert words in shown


@pytest.mark.parametrize(
    ("content", "message", "code"),
    [
        (
            b"a b c\n",
            "a line must be an edge 'a b', a rainbow 'a: red > green', a weight 'a = 120' or",
            2,
        ),
        (b"{}", "is not a mechanism file", 3),
    ],
)
def test_a_bad_file_is_refused_in_the_terminal(
    tmp_path: Path, content: bytes, message: str, code: int
) -> None:
    file = tmp_path / "bad.txt"
    file.write_bytes(content)
    result = CliRunner().invoke(app, ["studio", "--no-browser", str(file)])
    assert result.exit_code == code
    assert message in result.output
    assert str(file) in result.output


def test_without_the_extra_the_install_line_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    result = CliRunner().invoke(app, ["studio", "--no-browser"])
    assert result.exit_code == 1
    assert "pip install 'rainbowdp[studio]'" in result.output


@pytest.mark.slow
def test_a_proof_that_was_killed_can_be_asked_for_again(studio_address: str) -> None:
    studio = Studio()

    async def ask() -> object:
        return await studio.compute_apart("proof", Source("paper"), PAPER)

    try:
        assert asyncio.run(ask()) == post(studio_address, "/api/proof", PAPER)[1]
        for process in list(studio.worker._processes.values()):
            process.kill()
        with pytest.raises(RainbowError, match="the process for proofs ended; ask again"):
            asyncio.run(ask())
        assert asyncio.run(ask()) == post(studio_address, "/api/proof", PAPER)[1]
    finally:
        studio.close()


def test_the_command_opens_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "town.txt"
    file.write_bytes(TOWN)
    opened: list[str] = []
    served: list[object] = []
    monkeypatch.setattr("webbrowser.open", opened.append)

    def serve(port: int | None, source: object, ready: object) -> None:
        served.extend([port, source])
        assert callable(ready)
        ready("http://127.0.0.1:1234/")

    monkeypatch.setattr("rainbowdp.studio.server.serve", serve)
    result = CliRunner().invoke(app, ["studio", str(file), "--port", "1234"])
    assert result.output == "The studio is at http://127.0.0.1:1234/ until you press Ctrl-C.\n"
    assert opened == ["http://127.0.0.1:1234/"]
    assert served == [1234, (str(file), TOWN)]


def test_costs_that_nobody_waits_for_are_not_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    priced: list[str] = []
    monkeypatch.setattr(server, "cost", lambda world, settings, name: priced.append(name))
    body = json.dumps(PAPER).encode()
    arriving = [{"type": "http.request", "body": body}, {"type": "http.disconnect"}]
    sent: list[Any] = []

    async def receive() -> Any:
        return arriving.pop(0) if len(arriving) > 1 else arriving[0]

    async def send(message: Any) -> None:
        sent.append(message)

    own = b"127.0.0.1:8765"
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/costs",
        "query_string": b"",
        "server": ("127.0.0.1", 8765),
        "headers": [(b"host", own), (b"origin", b"http://" + own)],
    }
    asyncio.run(server.application()(scope, receive, send))
    assert sent[0]["status"] == 409
    assert priced == []
