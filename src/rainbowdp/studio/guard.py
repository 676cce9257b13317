"""Who may talk to the studio, and how much they may send.

The server listens on this machine alone, but a browser on it also shows pages of strangers. So
that none of these can use the studio:

* the Host must be a name of this machine with the studio's port: a stranger's name that was made
  to point here (DNS rebinding) is refused;
* an Origin, where the browser gives one, must be the studio's own, and what changes or computes
  anything must come with one;
* no page may put the studio into a frame, and the page loads nothing but its own files.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rainbowdp.display.pages import HEADERS

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

NAMES = ("127.0.0.1", "localhost", "[::1]")


class Guard:
    """Refuses strangers and too much, and puts the headers on every response."""

    def __init__(self, app: ASGIApp, most_bytes: int, pages: Iterable[str] = ("/",)) -> None:
        self.app, self.most_bytes = app, most_bytes
        self.pages = frozenset(pages)  # to which a link may lead from anywhere
        self.too_much = f"this is more than the {most_bytes:,} bytes that the studio takes"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or say why not."""
        from starlette.requests import ClientDisconnect
        from starlette.responses import JSONResponse

        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no websockets here
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                kept = [
                    pair for pair in message.get("headers", []) if pair[0].decode() not in HEADERS
                ]
                message = {**message, "headers": kept + own}
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            status, why = refusal
            await JSONResponse({"error": why}, status)(scope, receive, guarded)
            return
        try:
            await self.app(scope, _counted(receive, self.most_bytes), guarded)
        except ClientDisconnect:
            return  # nobody waits for an answer
        except _TooMuch:
            await JSONResponse({"error": self.too_much}, 413)(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = scope["headers"]
        hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
        port = (scope.get("server") or ("", None))[1]
        allowed = {f"{name}:{port}" for name in NAMES} | (set(NAMES) if port == 80 else set())
        if len(hosts) != 1 or hosts[0].lower() not in allowed:
            return 421, "the studio answers to the names of this machine only"
        origins = [value.decode("latin-1") for name, value in headers if name == b"origin"]
        own = f"http://{hosts[0].lower()}"
        if any(origin.lower() != own for origin in origins):
            return 403, "the studio answers to its own page only"
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "the studio knows GET and POST only"
        length = dict(headers).get(b"content-length", b"0")
        if not length.isdigit() or int(length[:18]) > self.most_bytes:
            return 413, self.too_much
        if scope["method"] == "POST" and len(origins) != 1:
            return 403, "the studio answers to its own page only"
        fetch_site = dict(headers).get(b"sec-fetch-site", b"none")
        if fetch_site not in (b"same-origin", b"none") and scope["path"] not in self.pages:
            return 403, "the studio answers to its own page only"
        return None


class _TooMuch(Exception):
    """More bytes than are taken."""


def _counted(receive: Receive, most: int) -> Receive:
    taken = 0

    async def count() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > most:
            raise _TooMuch
        return message

    return count
