"""Connections that nothing is done for: the oldest makes room for a new one.

A browser keeps a few connections open; whoever opens very many and sends nothing, or half a
request, must not keep others out.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST = 64  # connections that are open at a time, those apart that an answer is being made for


class MakingRoom(H11Protocol):
    """HTTP that closes the connection that has waited longest when there are too many."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.waits_since = time.monotonic()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """One more: too many, and another one has to go."""
        super().connection_made(transport)
        others = (c for c in self.connections if isinstance(c, MakingRoom) and c is not self)
        waiting = [other for other in others if other.is_waiting]
        if len(waiting) >= MOST:
            oldest = min(waiting, key=lambda other: other.waits_since)
            self.connections.discard(oldest)  # at once; the loop comes to it later
            oldest.transport.abort()

    def on_response_complete(self) -> None:
        """An answer was sent: from now on the connection waits."""
        self.waits_since = time.monotonic()
        super().on_response_complete()

    @property
    def is_waiting(self) -> bool:
        """Whether there is no whole request that an answer is being made for."""
        cycle = self.cycle
        return cycle is None or cycle.response_complete or cycle.more_body
