"""Many clients of one service at a time, over connections that they keep.

Written on bare streams: on shared cores a client that costs as much as the service would measure
itself.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_PATIENCE = 120  # seconds


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def said(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass
class Load:
    """What a load came to."""

    seconds: float = 0
    """How long it took."""
    latencies: list[float] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)
    cut: int = 0
    """Requests whose connection ended before a reply."""

    def add(self, other: Load) -> None:
        """Take another round into account."""
        self.seconds += other.seconds
        self.latencies += other.latencies
        self.cut += other.cut
        for status, many in other.statuses.items():
            self.statuses[status] = self.statuses.get(status, 0) + many

    @property
    def throughput(self) -> float:
        """Replies a second."""
        return len(self.latencies) / self.seconds

    def quantile(self, share: float) -> float:
        """The seconds within which this share of the replies came."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    @property
    def failures(self) -> int:
        """Replies that blame the service."""
        return sum(many for status, many in self.statuses.items() if status >= 500)


class Connection:
    """One connection, opened anew when it was cut."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, request: bytes) -> Reply:
        """The reply to a request in HTTP/1.1; OSError or EOFError if the connection was cut."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.port, limit=2**20)
        reader, writer = self._streams
        try:
            writer.write(request)
            await writer.drain()
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.split("\r\n")[:-2]
            headers = {
                name.lower(): value.strip()
                for name, _, value in (line.partition(":") for line in lines)
            }
            if headers.get("transfer-encoding") == "chunked":
                body = await _chunks(reader)
            elif request.startswith(b"HEAD "):
                body = b""
            else:
                body = await reader.readexactly(int(headers.get("content-length", "0")))
        except BaseException:
            self.close()
            raise
        if headers.get("connection") == "close":
            self.close()
        return Reply(int(first.split()[1]), headers, body)

    def close(self) -> None:
        """End it."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readuntil(b"\r\n")
    return body


def posted(path: str, body: object, headers: Mapping[str, str]) -> bytes:
    """A POST request in HTTP/1.1."""
    content = json.dumps(body).encode()
    lines = [
        f"POST {path} HTTP/1.1",
        "Host: 127.0.0.1",
        "Content-Type: application/json",
        f"Content-Length: {len(content)}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def load(
    port: int,
    clients: int,
    seconds: float,
    request: Callable[[str], bytes],
    seen: Callable[[str, Reply], None] = lambda key, reply: None,
    *,
    patient: bool = False,
    over: Callable[[], bool] = lambda: False,
) -> Load:
    """So many clients that ask again and again until the time is over.

    Parameters
    ----------
    port
        Where on the loopback address.
    clients, seconds
        How many, and for how long.
    request
        The request for a key.
    seen
        Is told each key and its reply.
    patient
        Whether a client whose connection was cut, or who was told 503 or 429, asks again with its
        key until it has another reply.
    over
        Says when it is over before its time.

    """
    found = Load()
    keys = _keys()

    async def client(end: float) -> None:
        connection = Connection(port)
        while time.monotonic() < end and not over():
            key = next(keys)
            start = time.monotonic()
            reply = await answered(connection, key)
            if reply is not None:
                seen(key, reply)
                now = time.monotonic()
                if now <= end:  # else it counts for no second
                    found.latencies.append(now - start)
        connection.close()

    async def answered(connection: Connection, key: str) -> Reply | None:
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                reply = await connection.send(request(key))
            except (OSError, EOFError):
                found.cut += 1
                if not patient or time.monotonic() > end:
                    return None
                await asyncio.sleep(0.05)
                continue
            found.statuses[reply.status] = found.statuses.get(reply.status, 0) + 1
            if not patient or reply.status not in (429, 503) or time.monotonic() > end:
                return reply
            await asyncio.sleep(0.05)

    async def all_of_them() -> None:
        start = time.monotonic()
        await asyncio.gather(*(client(start + seconds) for _ in range(clients)))
        found.seconds = min(seconds, time.monotonic() - start)

    asyncio.run(all_of_them())
    return found


def _keys() -> Iterator[str]:
    number = 0
    while True:
        number += 1
        yield f"key-{number}"
