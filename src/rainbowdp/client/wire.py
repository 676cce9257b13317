"""Requests to a service over a network that may fail at any moment.

A request is sent again when no reply came, or one that says "later". That is safe for every
request of the service: those that only look change nothing, and one that asks carries an
``Idempotency-Key``, which the service makes the name of the ledger's entry. However often it
arrives, it is paid once and has one answer.
"""

from __future__ import annotations

import random
import ssl
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rainbowdp.client.problems import RETRIED, error_of
from rainbowdp.client.tokens import Token, is_loopback
from rainbowdp.errors import MissingExtra, RainbowError, ServiceError

if TYPE_CHECKING:
    import httpx

PATIENCE = 60.0  # seconds, after which nothing is tried again
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0
_CONNECT, _READ = 10.0, 120.0  # seconds; a mechanism may take a while to be made
_LARGEST = 64 << 20  # bytes of a reply


@dataclass(frozen=True, eq=False)
class Wire:
    """The way to one service: its address, the token, and how long to try."""

    address: str
    token: Token
    patience: float = PATIENCE
    transport: Any = None
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    _http: httpx.Client = field(init=False, repr=False)

    def __post_init__(self) -> None:
        try:
            import httpx
        except ImportError as error:
            raise MissingExtra("httpx", "client") from error
        host = urlsplit(self.address).hostname or ""
        made = httpx.Client(
            base_url=self.address,
            timeout=httpx.Timeout(_READ, connect=_CONNECT),
            transport=self.transport,
            follow_redirects=False,  # a token is for this address alone
            trust_env=not is_loopback(host),  # no proxy on the way to this machine
        )
        object.__setattr__(self, "_http", made)
        weakref.finalize(self, made.close)  # whoever forgets a remote leaves no connection open

    def get(self, path: str, **query: Any) -> Any:
        """What the service says at a path."""
        return self._asked("GET", path, query=query)[1]

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """What the service says of something that changes nothing."""
        return self._asked("POST", path, body=body)[1]

    def pay(self, path: str, body: Mapping[str, Any], key: str) -> tuple[int, Any]:
        """Status and reply of something that is to happen once, however often it is sent."""
        return self._asked("POST", path, body=body, key=key)

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def _asked(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> tuple[int, Any]:
        headers = {"Authorization": self.token.header(), "Accept": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        given = {name: value for name, value in (query or {}).items() if value is not None}
        until, pause = self.clock() + self.patience, _FIRST_PAUSE
        while True:
            found, wait = self._once(method, path, given, body, headers, key)
            if not isinstance(found, RainbowError):
                return found
            if wait is None:
                raise found
            # A different pause for each of many clients that were cut off at one moment.
            wait = max(wait, pause * random.uniform(0.5, 1.5))  # noqa: S311  no secret
            if self.clock() + wait > until:
                raise found
            self.sleep(wait)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _once(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any],
        body: Mapping[str, Any] | None,
        headers: Mapping[str, str],
        key: str | None,
    ) -> tuple[tuple[int, Any] | RainbowError, float | None]:
        """One try: the reply or an error, and how long to wait at least before another try.

        Errors of httpx carry the request with its headers, so none of them gets out, not even as
        the cause of another.
        """
        import httpx

        try:
            reply = self._http.request(method, path, params=query, json=body, headers=headers)
            said = _json(reply)
        except httpx.HTTPError as error:
            return self._unreachable(error, key)
        except (ValueError, RecursionError):
            words = f"{self.address} replied with something else than JSON."
            return ServiceError(words, code="unexpected", name=key), None
        if reply.is_success:
            return (reply.status_code, said), None
        if reply.is_redirect:
            words = (
                f"{self.address} sends elsewhere (status {reply.status_code}). Give the address "
                "at which the service itself is."
            )
            return ServiceError(words, code="unexpected", status=reply.status_code), None
        refused = error_of(reply.status_code, _hidden(said, self.token), self.address, key)
        return refused, _later(reply) if reply.status_code in RETRIED else None

    def _unreachable(
        self, error: httpx.HTTPError, key: str | None
    ) -> tuple[ServiceError, float | None]:
        import httpx

        if _is_about_certificates(error):
            words = (
                f"The certificate of {self.address} cannot be verified, so that nothing was sent. "
                "Ask who runs the service for its certificate authority, and name it in "
                "SSL_CERT_FILE."
            )
            return ServiceError(words), None
        late = isinstance(error, httpx.TimeoutException)
        words = f"{self.address} {'did not reply in time' if late else 'cannot be reached'}."
        if key is not None and not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            words += (
                " The question may have been paid and answered all the same: asked again by the "
                f"name {key!r}, it is paid once at most."
            )
        return ServiceError(words, name=key), 0.0


def _json(reply: httpx.Response) -> Any:
    if len(reply.content) > _LARGEST:
        raise ValueError("too large")
    if not reply.content or (not reply.is_success and "json" not in _kind(reply)):
        return None
    return reply.json()


def _kind(reply: httpx.Response) -> str:
    return str(reply.headers.get("content-type", ""))


def _later(reply: httpx.Response) -> float:
    """How many seconds the service wants us to wait."""
    said = reply.headers.get("retry-after", "")
    return float(said) if said.isdecimal() and len(said) < 8 else 0.0


def _hidden(said: Any, token: Token) -> Any:
    """A problem in whose words the token does not stand."""
    if not isinstance(said, Mapping):
        return said
    return {
        name: token.hidden_in(value) if isinstance(value, str) else value
        for name, value in said.items()
    }


def _is_about_certificates(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError) or "CERTIFICATE_VERIFY" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False
