"""How much and how fast: 413, 408 and the floor on response time."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Any

from rainbowdp.service.problems import Code, Problem


class Bounded:
    """Refuses a request whose body is too large or comes too slowly, before it is read."""

    def __init__(self, app: Any, largest: int, seconds: float) -> None:
        self.app, self.largest, self.seconds = app, largest, seconds

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            body = await self._body(scope, receive)
        except Problem as problem:
            await problem.response()(scope, receive, send)
            return
        parts = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Any:
            return parts.pop() if parts else await receive()

        await self.app(scope, replay, send)

    async def _body(self, scope: Any, receive: Any) -> bytes:
        for name, value in scope["headers"]:
            if name == b"content-length" and value.isdigit() and len(value) < 19:
                self._check(int(value))
        try:
            async with asyncio.timeout(self.seconds):
                found, size = [], 0
                while True:
                    message = await receive()
                    if message["type"] != "http.request":
                        return b""
                    found.append(message.get("body", b""))
                    size += len(found[-1])
                    self._check(size)
                    if not message.get("more_body"):
                        return b"".join(found)
        except TimeoutError:
            pass
        raise Problem(Code.TOO_SLOW, "The request came too slowly. Send it again.", retry_after=1)

    def _check(self, size: int) -> None:
        if size > self.largest:
            raise Problem(
                Code.TOO_LARGE,
                f"A request may have {self.largest:,} bytes at most. Ask about less at once.",
            )


class Floored:
    """Lets every reply to a question take the floor, or a multiple of it.

    How long counting takes depends on the data; rounded up, it tells less of it.
    """

    def __init__(self, app: Any, floor: float) -> None:
        self.app, self.floor = app, floor

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """One request."""
        if scope["type"] != "http" or not self.floor or not scope["path"].endswith("/ask"):
            await self.app(scope, receive, send)
            return
        begun = time.monotonic()

        async def later(message: Any) -> None:
            if message["type"] == "http.response.start":
                passed = time.monotonic() - begun
                await asyncio.sleep(math.ceil(passed / self.floor) * self.floor - passed)
            await send(message)

        await self.app(scope, receive, later)
