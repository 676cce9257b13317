"""Requests that nobody should send, drawn at random, and what must be true of every reply.

What is sent is bytes, so that it may be what no library would send: JSON of a thousand levels,
numbers of a hundred thousand digits, lone surrogates, NaN, bytes that are no text, names given
twice, other content types, long headers and tricks with paths.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from service_load import Connection, Reply
from service_world import CANARY, DATASET, QUESTION, World

TRACES = (
    b"Traceback",
    b'File "',
    b"site-packages",
    b"rainbowdp.service",
    b"sqlalchemy",
    b"psycopg",
)
"""What betrays the inside of the service, in a reply."""

QUESTIONS: tuple[dict[str, Any], ...] = (
    QUESTION,
    {"kind": "share", "at_least": "1/2", "column": "choice", "equals": "red"},
    {"kind": "threshold", "at_least": 500, "column": "choice", "equals": "red"},
    {"kind": "count", "column": "choice", "equals": "red"},
    {**QUESTION, "where": "choice = 'red'"},
    {"kind": "ranking", "k": 2, "among": ["red", "green", "blue"], "column": "choice"},
)

_METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "FOO")
_TYPES = (
    *("application/json", "application/json; charset=utf-16", "text/plain", "text/json", ""),
    *("application/xml", "multipart/form-data", "application/x-www-form-urlencoded", "\xff"),
    "application/problem+json",
)
_TEXTS = (
    *("", " ", "red", "votes", "choice", "null", "0", "-1", "1e999999", "0x10", "१", "½", "ε"),
    *(
        "\x00",
        "\n",
        "\r\nX: y",
        "\ud800",
        "\udfff\ud800",
        "\u202e",
        "\ufeff",
        "💥" * 50,
        "%s%n",
        "{}",
    ),
    *("'; DROP TABLE votes; --", "1 = 1 or 1 = 1", "../../../etc/passwd", "<script>", "${jndi:x}"),
    *("a" * 5000, "é" * 3000, "[" * 2000, "(" * 2000, "not " * 1000 + "choice = 'red'"),
)
_NUMBERS = (
    *("0", "-0", "1", "-1", "0.5", "1e-6", "1e308", "1e309", "-1e400", "1E+4000", "1e-4000"),
    *("9" * 25, "9" * 5000, "0." + "3" * 5000, "1e99999999", "NaN", "Infinity", "-Infinity", "01"),
    *("18446744073709551616", "-9223372036854775809", "3.0000000000000000000000001"),
)


@dataclass(frozen=True)
class Fuzzer:
    """Draws requests against a service.

    Attributes
    ----------
    dataset : str
        A dataset that may be asked.
    tokens : sequence of str
        Tokens that are accepted, of all roles.
    questions : sequence of dict
        Questions that may be asked, to be spoilt.

    """

    dataset: str
    tokens: Sequence[str]
    questions: Sequence[dict[str, Any]]

    def request(self, dice: random.Random) -> bytes:
        """One request."""
        method, path = self._place(dice)
        body = b"" if method in ("GET", "HEAD") and dice.random() < 0.9 else self._body(dice, path)
        headers = self._headers(dice)
        lines = [f"{method} {path} HTTP/1.1".encode("latin-1", "replace"), b"Host: 127.0.0.1"]
        lines += [name + b": " + value for name, value in headers]
        lines.append(f"Content-Length: {len(body)}".encode())
        return b"\r\n".join(lines) + b"\r\n\r\n" + body

    def _place(self, dice: random.Random) -> tuple[str, str]:
        dataset = self.dataset if dice.random() < 0.85 else _quoted(dice, dice.choice(_TEXTS))
        named = _quoted(dice, dice.choice(_TEXTS))[:3000]
        routes = [
            *(("GET", path) for path in ("/health", "/ready", "/metrics", "/", "/v1/schema")),
            *(("GET", path) for path in ("/v1/me", "/v1/datasets", "/v1/requests", "/v1/people")),
            ("GET", "/openapi.json"),
            ("GET", f"/v1/datasets/{dataset}"),
            *(("GET", f"/v1/datasets/{dataset}/{what}") for what in ("balance", "head")),
            ("GET", f"/v1/datasets/{dataset}/history?last={_quoted(dice, dice.choice(_NUMBERS))}"),
            ("GET", f"/v1/datasets/{dataset}/answers/{named}"),
            ("POST", f"/v1/requests/{named}/{dice.choice(('approve', 'refuse'))}"),
            ("POST", "/v1/people"),
            ("POST", f"/v1/people/{named}/tokens"),
            ("DELETE", f"/v1/tokens/{named}"),
        ]
        asks = [
            ("POST", f"/v1/datasets/{dataset}/{what}")
            for what in ("ask", "price", "explain", "plan")
        ]
        method, path = dice.choice(asks if dice.random() < 0.6 else routes)
        if dice.random() < 0.04:
            method = dice.choice(_METHODS)
        if dice.random() < 0.04:
            path = dice.choice(
                [
                    *(path + "/", "/" + path, path + "/../..", path + "%00", path + "%2e%2e%2f"),
                    *(
                        path + "?" + "a=b&" * 500,
                        path + "#x",
                        path + "%",
                        path + "%ff%fe",
                        "//",
                        "*",
                    ),
                    *(path.replace("/", "\\"), path.replace("/", "%2f"), path + ";x", path.upper()),
                    "/static/../../../../etc/passwd",
                    "/%2e%2e/%2e%2e/etc/passwd",
                ]
            )
        return method, path

    def _headers(self, dice: random.Random) -> list[tuple[bytes, bytes]]:
        found = []
        if dice.random() < 0.93:
            token = dice.choice(self.tokens)
            if dice.random() < 0.05:
                token = dice.choice((token[:-1], token + "x", token.upper(), "", "a" * 3000, "ÿ"))
            scheme = "Bearer" if dice.random() < 0.98 else dice.choice(("Basic", "bearer", ""))
            found.append((b"Authorization", f"{scheme} {token}".encode("latin-1", "replace")))
        kind = "application/json" if dice.random() < 0.93 else dice.choice(_TYPES)
        found.append((b"Content-Type", kind.encode("latin-1")))
        if dice.random() < 0.7:
            key = f"fuzz-{dice.randrange(10**9)}"
            if dice.random() < 0.1:
                key = dice.choice(
                    ("", "a" * 4000, "key one", "\xff\xfe", "a/b", "é", "key-1", "{}")
                )
            found.append((b"Idempotency-Key", key.encode("latin-1")))
            if dice.random() < 0.02:
                found.append((b"Idempotency-Key", b"another"))
        if dice.random() < 0.01:
            found.append((b"X-Long", b"a" * dice.choice((1000, 20_000, 60_000))))
        if dice.random() < 0.01:
            found += [(f"X-{number}".encode(), b"y") for number in range(200)]
        if dice.random() < 0.02:
            found.append((b"Accept", dice.choice((b"text/html", b"*/*;q=9", b"\xff"))))
        return found

    def _body(self, dice: random.Random, path: str) -> bytes:
        if dice.random() < 0.06:
            return dice.choice(_WHOLE)(dice)
        asked: Any = {
            "question": dict(dice.choice(self.questions)),
            "guarantee": dice.choice(
                ({"epsilon": "0.001"}, {"mu": "0.01"}, {"rho": "0.00001"}, {"epsilon": 0.001})
            ),
        }
        if path.endswith("/plan"):
            asked = {"questions": {"one": asked}, "total": "1", "delta": "1e-9"}
        elif path.endswith("/people"):
            asked = {"name": "ann", "roles": ["analyst"], "days": 3}
        for _ in range(dice.choice((0, 1, 1, 1, 2, 4))):
            asked = _spoilt(dice, asked)
        # Values that JSON has no word for are written as they are.
        text = json.dumps(asked)
        for mark, number in _MARKS.items():
            text = text.replace(f'"{mark}"', number)
        return text.encode("utf-8", "surrogatepass")


_MARKS = {f"@number{place}": number for place, number in enumerate(_NUMBERS)}


def _quoted(dice: random.Random, text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe=dice.choice(("", "/", "/:;,")))


def _value(dice: random.Random) -> Any:
    kind = dice.randrange(8)
    if kind == 0:
        return dice.choice((None, True, False, [], {}, [[]], {"": ""}))
    if kind in (1, 2):
        return dice.choice(list(_MARKS))
    if kind == 3:
        return dice.choice(_NUMBERS)
    if kind == 4:
        return [dice.choice(_TEXTS) for _ in range(dice.choice((1, 2, 11, 300)))]
    if kind == 5:
        return {dice.choice(_TEXTS): dice.choice(_TEXTS) for _ in range(3)}
    return dice.choice(_TEXTS)


def _spoilt(dice: random.Random, value: Any) -> Any:
    """The same with one thing changed, somewhere inside."""
    if isinstance(value, dict) and value and dice.random() < 0.9:
        key = dice.choice(list(value))
        what = dice.random()
        if what < 0.65:
            return {**value, key: _spoilt(dice, value[key])}
        if what < 0.75:
            return {other: one for other, one in value.items() if other != key}
        if what < 0.85:
            return {**value, dice.choice(_FIELDS): _value(dice)}
        return {**value, key: _value(dice)}
    if isinstance(value, list) and value and dice.random() < 0.7:
        place = dice.randrange(len(value))
        return [*value[:place], _spoilt(dice, value[place]), *value[place + 1 :]]
    return _value(dice)


_FIELDS = (
    *("kind", "column", "among", "where", "by", "groups", "weight", "person", "rows_per_person"),
    *("neighbors", "ties", "other", "missing", "quantile", "bins", "threshold", "equals", "apply"),
    *("question", "guarantee", "name", "epsilon", "delta", "mu", "rho", "total", "__class__", ""),
)


def _deep(dice: random.Random) -> bytes:
    levels = dice.choice((100, 999, 5000, 100_000))
    open_, close = dice.choice(((b"[", b"]"), (b'{"question":', b"}")))
    return open_ * levels + b"1" + close * dice.choice((levels, 0))


_WHOLE: tuple[Callable[[random.Random], bytes], ...] = (
    _deep,
    lambda dice: dice.randbytes(dice.choice((1, 30, 3000))),
    lambda dice: b"",
    lambda dice: dice.choice((b"null", b"[]", b"1", b'"', b"{", b"{}", b"\xef\xbb\xbf{}", b"NaN")),
    lambda dice: b"{" + b",".join(b'"%d":1' % n for n in range(20_000)) + b"}",
    lambda dice: b'{"question":{"kind":"winner","kind":"share"},"question":1}',
    lambda dice: b'{"question":' + b"1" * 100_000 + b"}",
    lambda dice: b'{"question":"' + b"a" * dice.choice((70_000, 1_200_000)) + b'"}',
    lambda dice: b'{"question":"\\ud800"}',
    lambda dice: '{"question":{"kind":"winner"}}'.encode("utf-16"),
)


def wrong(request: bytes, reply: Reply, secrets: Sequence[bytes]) -> str | None:
    """What is wrong with a reply, or nothing."""
    if reply.status >= 500:
        return f"status {reply.status}"
    for trace in TRACES:
        if trace in reply.body:
            return f"a trace of the inside: {trace!r}"
    shown = reply.body + repr(reply.headers).encode()
    for secret in secrets:
        if secret in shown and secret not in request:
            return f"a private value: {secret!r}"
    if reply.status >= 400 and reply.headers.get("content-type", "").startswith("application/"):
        said = reply.said if reply.body else {}
        if not request.startswith(b"HEAD ") and not {"title", "status", "code"} <= set(said):
            return "no problem details"
    return None


@dataclass
class Fuzzed:
    """What became of the requests."""

    requests: int = 0
    cut: int = 0
    """Requests that were no HTTP, after which the connection was closed without a reply."""
    statuses: dict[int, int] = field(default_factory=dict)
    wrong: list[tuple[str, bytes]] = field(default_factory=list)


def fuzzed(service: World, requests: int, clients: int, seed: int) -> Fuzzed:
    """Send so many requests, and look at every reply."""
    found, left = Fuzzed(), iter(range(requests))
    fuzzer = Fuzzer(DATASET, list(service.tokens.values()), QUESTIONS)
    secrets = [CANARY.encode()]

    async def client(number: int) -> None:
        dice, connection = random.Random(f"{seed}/{number}"), Connection(service.port)
        for _ in left:
            request = fuzzer.request(dice)
            found.requests += 1
            try:
                reply = await asyncio.wait_for(connection.send(request), 60)
            except TimeoutError:
                found.wrong.append(("no reply within 60 s", request))
            except (OSError, EOFError, ValueError):
                found.cut += 1
                connection.close()
            else:
                found.statuses[reply.status] = found.statuses.get(reply.status, 0) + 1
                what = wrong(request, reply, secrets)
                if what is not None:
                    found.wrong.append((f"{what}: {reply.body[:300]!r}", request))
        connection.close()

    async def all_of_them() -> None:
        await asyncio.gather(*map(client, range(clients)))

    asyncio.run(all_of_them())
    return found


def private_in(log: str, service: World) -> list[str]:
    """Lines of a log that show a private value, a token or the inside of the service."""
    secrets = [CANARY + "1", "Traceback", *service.tokens.values()]
    return [line for line in log.splitlines() if any(secret in line for secret in secrets)]
