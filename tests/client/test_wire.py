"""Requests over a network that fails: tried again, paid once, and without a trace of the token."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from typing import Any

import httpx
import pytest

import rainbowdp as rb
from rainbowdp.client.problems import error_of
from rainbowdp.client.tokens import Token
from rainbowdp.client.wire import Wire
from rainbowdp.errors import NameTaken

SECRET = "rb_7_c0ffee-secret"
Script = list[Callable[[httpx.Request], httpx.Response] | httpx.Response | Exception]


class Scripted:
    """A network that does one thing after another, and a clock that its pauses move."""

    def __init__(self, *script: httpx.Response | Exception, patience: float = 60) -> None:
        self.script, self.seen, self.pauses = list(script), list[httpx.Request](), list[float]()
        self.now = 0.0
        self.wire = Wire(
            "https://answers.example.org/rainbow",
            Token(SECRET),
            patience,
            transport=httpx.MockTransport(self._reply),
            sleep=self._sleep,
            clock=lambda: self.now,
        )

    def _reply(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        found = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(found, Exception):
            raise found
        return found

    def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


def problem(status: int, code: str, detail: str = "No.", **headers: str) -> httpx.Response:
    said = {"type": "about:blank", "title": code, "status": status, "detail": detail, "code": code}
    kind = {"content-type": "application/problem+json"}
    return httpx.Response(status, json=said, headers={**headers, **kind})


LOST = httpx.ReadError("connection reset")
FINE = httpx.Response(200, json={"fine": True})


def test_a_request_goes_to_the_service_with_the_token() -> None:
    network = Scripted(FINE)
    assert network.wire.get("/v1/me", last=None) == {"fine": True}
    (request,) = network.seen
    assert str(request.url) == "https://answers.example.org/rainbow/v1/me"
    assert request.headers["authorization"] == f"Bearer {SECRET}"
    assert "idempotency-key" not in request.headers


@pytest.mark.parametrize(
    "trouble",
    [
        LOST,
        httpx.ConnectError("refused"),
        httpx.ConnectTimeout("late"),
        httpx.ReadTimeout("late"),
        httpx.RemoteProtocolError("cut off"),
        *(problem(status, "later") for status in (408, 429, 503)),
        *(httpx.Response(status, text="<html>proxy</html>") for status in (502, 503, 504)),
    ],
)
def test_what_may_pass_is_tried_again_with_the_same_key(trouble: Any) -> None:
    network = Scripted(trouble, trouble, trouble, FINE)
    assert network.wire.pay("/v1/datasets/d/ask", {"question": 1}, "key-1") == (200, {"fine": True})
    assert len(network.seen) == 4
    assert {request.headers["idempotency-key"] for request in network.seen} == {"key-1"}
    assert {request.content for request in network.seen} == {b'{"question":1}'}
    assert len(network.pauses) == 3
    assert all(0.1 <= pause <= 1.5 * 0.2 * 4 for pause in network.pauses)


def test_patience_has_an_end_and_the_error_says_how_to_go_on() -> None:
    network = Scripted(LOST, patience=20)
    with pytest.raises(rb.ServiceError, match="by the name 'key-1'") as refused:
        network.wire.pay("/v1/datasets/d/ask", {}, "key-1")
    assert refused.value.code == "unreachable"
    assert refused.value.name == "key-1"
    assert network.now <= 20
    assert len(network.seen) > 5
    nothing = Scripted(httpx.ConnectError("refused"), patience=1)
    with pytest.raises(rb.ServiceError, match="cannot be reached") as refused:
        nothing.wire.pay("/v1/datasets/d/ask", {}, "key-1")
    assert "may have been paid" not in str(refused.value)


def test_a_service_says_how_long_to_wait() -> None:
    busy = problem(429, "too_many", "Too many requests.", **{"retry-after": "7"})
    network = Scripted(busy, busy, FINE)
    network.wire.get("/v1/me")
    assert all(pause >= 7 for pause in network.pauses)
    impatient = Scripted(busy, patience=5)
    with pytest.raises(rb.ServiceError, match="Too many requests") as refused:
        impatient.wire.get("/v1/me")
    assert refused.value.code == "too_many"
    assert impatient.pauses == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 422, 500])
def test_what_will_not_pass_is_not_tried_again(status: int) -> None:
    network = Scripted(problem(status, "forbidden", "You may not."))
    with pytest.raises(rb.ServiceError, match=r"^You may not\.$") as refused:
        network.wire.get("/v1/me")
    assert (refused.value.status, refused.value.code) == (status, "forbidden")
    assert len(network.seen) == 1


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("budget_exceeded", rb.BudgetExceeded),
        ("limit_exceeded", rb.LimitExceeded),
        ("invalid_question", rb.InvalidQuestion),
        ("not_allowed_column", rb.InvalidQuestion),
        ("invalid_guarantee", rb.InvalidGuarantee),
        ("name_taken", NameTaken),
        ("forbidden", rb.ServiceError),
        ("something new", rb.ServiceError),
    ],
)
def test_a_problem_is_the_librarys_own_error(code: str, kind: type[Exception]) -> None:
    error = error_of(422, {"detail": "So it is.", "code": code}, "https://x")
    assert type(error) is kind
    assert str(error) == "So it is."


@pytest.mark.parametrize("said", [None, [], "no", {}, {"detail": 3}, {"error": "x"}])
def test_a_problem_without_a_reason_is_still_one_sentence(said: Any) -> None:
    assert "status 404" in str(error_of(404, said, "https://x"))


@pytest.mark.parametrize(
    "reply",
    [
        httpx.Response(200, text="<html>hello</html>"),
        httpx.Response(200, content=b"[" * 100_000),
        httpx.Response(200, content=b"\xff\xfe"),
        httpx.Response(307, headers={"location": "https://elsewhere.example.org/"}),
    ],
)
def test_a_stranger_is_no_service_and_gets_no_token(reply: httpx.Response) -> None:
    network = Scripted(reply)
    with pytest.raises(rb.ServiceError) as refused:
        network.wire.get("/v1/me")
    assert refused.value.code == "unexpected"
    assert {request.url.host for request in network.seen} == {"answers.example.org"}


def test_a_certificate_that_is_not_trusted_ends_it_at_once() -> None:
    network = Scripted(httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed"))
    with pytest.raises(rb.ServiceError, match="certificate"):
        network.wire.get("/v1/me")
    assert len(network.seen) == 1


@pytest.mark.parametrize(
    "trouble",
    [
        LOST,
        httpx.ConnectError("refused"),
        problem(401, "unauthenticated", f"There is no token {SECRET}."),
        problem(429, "too_many", f"{SECRET} asks too often."),
        httpx.Response(500, text=SECRET),
        httpx.Response(200, text=SECRET),
        httpx.Response(302, headers={"location": f"https://x/{SECRET}"}),
    ],
)
def test_the_token_is_in_no_message_log_or_traceback(
    trouble: Any, caplog: pytest.LogCaptureFixture
) -> None:
    network = Scripted(trouble, patience=1)
    with caplog.at_level(logging.DEBUG), pytest.raises(rb.ServiceError) as refused:
        network.wire.pay("/v1/datasets/d/ask", {}, "key-1")
    error: BaseException | None = refused.value
    assert refused.value.__cause__ is None
    assert refused.value.__context__ is None
    assert SECRET not in "".join(traceback.format_exception(error))
    assert SECRET not in caplog.text
    assert SECRET not in repr(network.wire)
    assert SECRET not in repr(vars(refused.value))
