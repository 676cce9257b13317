"""One line of JSON for each request, with nothing in it that was asked, answered or secret."""

from __future__ import annotations

import json
import logging
import secrets
import sys
import time
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rainbowdp.errors import RainbowError
from rainbowdp.service.problems import Code, Problem

LOGGER = logging.getLogger("rainbowdp.service")
_KEPT_NOWHERE = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
_PACKAGE = Path(__file__).parents[1]


class _Lines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        told = getattr(record, "told", None) or {"event": record.getMessage()}
        return json.dumps({"time": moment, "level": record.levelname.lower(), **told})


def log_to_standard_error() -> None:
    """Write the lines where a service manager collects them."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    LOGGER.handlers[:] = [handler]
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False


def tell(event: str, level: int = logging.INFO, **facts: Any) -> None:
    """Write one line."""
    if LOGGER.isEnabledFor(level):  # made here: where in the code it was told concerns nobody
        told = {"told": {"event": event, **facts}}
        LOGGER.handle(
            LOGGER.makeRecord(LOGGER.name, level, "", 0, "%s %s", (event, facts), None, extra=told)
        )


class Observed:
    """Gives every request an id and a line in the log, and hides what should not have happened."""

    def __init__(self, app: Any, metrics: Any) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, number = time.perf_counter(), secrets.token_hex(8)
        state = scope.setdefault("state", {})
        status = 0

        async def seen(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                named = (b"x-request-id", number.encode())
                given = {name.lower() for name, _ in message["headers"]}
                kept = [pair for pair in _KEPT_NOWHERE if pair[0] not in given]  # a page has them
                message["headers"] = [*message["headers"], *kept, named]
            await send(message)

        try:
            await self.app(scope, receive, seen)
        except Exception as error:
            tell("failure", logging.ERROR, id=number, **where(error))
            if status == 0:
                state["code"] = str(Code.INTERNAL)
                detail = (
                    f"Something went wrong here, not with your request. It is logged as {number}."
                )
                await Problem(Code.INTERNAL, detail).response()(scope, receive, seen)
        passed = time.perf_counter() - begun
        route = getattr(scope.get("route"), "path", None)
        self.metrics.seen(scope["method"], route, status, passed)
        tell(
            "request",
            id=number,
            person=state.get("person"),
            method=scope["method"] if scope["method"].isalpha() else "?",
            route=route,
            status=status,
            ms=round(1000 * passed, 1),
            code=state.get("code"),
        )


def where(error: BaseException) -> dict[str, Any]:
    """Where something went wrong; the message only of our own errors, which show no values."""
    frames = [
        f"{Path(frame.filename).relative_to(_PACKAGE)}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if _PACKAGE in Path(frame.filename).parents
    ]
    message = str(error) if isinstance(error, RainbowError) else None
    return {"error": type(error).__name__, "at": frames[-3:], "message": message}
