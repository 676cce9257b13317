"""A real Chromium for the pages, and what no page of ours may do in it."""

from __future__ import annotations

import base64
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome")  # as tests/install_programs
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP rebound.test 127.0.0.1",
]
WAIT = 20_000  # milliseconds; what is slow is our machine, never the test
expect.set_options(timeout=WAIT)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser, started once for a module."""
    found = [path for name in BROWSERS if (path := shutil.which(name))]
    if not found:
        pytest.fail("Chromium is missing: make programs installs it")
    with (
        sync_playwright() as running,
        running.chromium.launch(executable_path=found[0], args=ARGUMENTS) as chromium,
    ):
        yield chromium


@contextmanager
def watched(tab: Page, address: str) -> Iterator[None]:
    """Afterwards nothing must have left the address, failed or broken the policy."""
    asked: list[str] = []
    complaints: list[str] = []
    listeners: dict[Any, Any] = {
        "request": lambda request: asked.append(request.url),
        "pageerror": lambda error: complaints.append(str(error)),
        "console": lambda message: complaints.append(message.text),
    }
    for event, listener in listeners.items():
        tab.on(event, listener)
    yield
    for event, listener in listeners.items():
        tab.remove_listener(event, listener)
    allowed = re.compile(f"({re.escape(address)}|(blob|data):)")
    assert asked
    assert [address for address in asked if not allowed.match(address)] == []
    refused = "Failed to load resource"  # said of every request that a test wants refused
    unexpected = [said for said in complaints if not said.startswith(refused)]
    assert not unexpected, unexpected


def link(address: str, **settings: Any) -> str:
    """The address of the designer with these settings."""
    packed = base64.urlsafe_b64encode(json.dumps(settings).encode()).decode().rstrip("=")
    return f"{address}designer#{packed}"


def accessible(tab: Page) -> None:
    """What axe finds wrong on the page once nothing is being worked out: nothing."""
    expect(tab.locator('[aria-busy="true"]')).to_have_count(0)
    found = Axe().run(tab)
    assert found.violations_count == 0, found.generate_report()
