"""A studio that runs, and talking to it without a browser."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from typing import Any
from urllib.parse import urlsplit

import pytest


@pytest.fixture(scope="session")
def studio_address() -> Iterator[str]:
    """The address of ``rainbow studio``, started as people start it."""
    command = [sys.executable, "-c", "from rainbowdp.cli import main; main()"]
    process = subprocess.Popen(
        [*command, "studio", "--no-browser", "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    said = process.stdout.readline()
    assert said.startswith("The studio is at http://127.0.0.1:"), said
    yield said.split()[4]
    process.terminate()
    assert process.wait(timeout=20) == 143  # as SIGTERM asks
    process.stdout.close()


def request(
    address: str, method: str, path: str, headers: dict[str, str] | None = None, body: Any = None
) -> tuple[HTTPResponse, bytes]:
    """One request with exactly these headers (Host included by default) and its answer."""
    place = urlsplit(address)
    assert place.hostname is not None
    connection = HTTPConnection(place.hostname, place.port, timeout=30)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


def post(address: str, path: str, content: Any) -> tuple[int, Any]:
    """What the page's own request gets: status and JSON."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    response, found = request(address, "POST", path, {"Origin": address.rstrip("/")}, body)
    return response.status, json.loads(found)


def get(address: str, path: str) -> tuple[int, Any]:
    """The same for what is only read."""
    response, found = request(address, "GET", path)
    return response.status, json.loads(found)
