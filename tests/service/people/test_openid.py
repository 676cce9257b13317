"""Tokens of an issuer: all that is not exactly right is refused, whatever it says of itself."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import jwt
import pytest
from pydantic import ValidationError

from openid_forgeries import forgeries, raw
from openid_issuer import AUDIENCE, Issuer, issuer
from rainbowdp.service.people.openid import ALGORITHMS, Keys, OpenId, OpenIdSettings
from rainbowdp.service.people.roles import Expired, Role, Unauthenticated


@pytest.fixture(scope="module")
def running() -> Iterator[Issuer]:
    with issuer() as found:
        found.new_key("curve", "ES256")
        found.new_key("edwards", "EdDSA")
        found.new_key("padded", "PS256")
        yield found


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def settings(found: Issuer, **changed: Any) -> OpenIdSettings:
    said: dict[str, Any] = {
        "issuer": found.address,
        "audience": AUDIENCE,
        "roles": {"statisticians": "analyst", "office": "curator"},
    }
    return OpenIdSettings(**(said | changed))


@pytest.fixture
def known(running: Issuer) -> OpenId:
    return OpenId.of(settings(running))


@pytest.mark.parametrize("key", ["first", "curve", "edwards", "padded"])
def test_an_honest_token_says_who_it_is(running: Issuer, known: OpenId, key: str) -> None:
    person = known.person(running.token(key))
    assert person.name == "ann@127.0.0.1"
    assert person.roles == {Role.ANALYST}
    assert person.expires is not None
    assert abs(person.expires.timestamp() - time.time() - 300) < 60


@pytest.mark.parametrize("kind", ["JWT", "at+jwt", "application/at+jwt"])
def test_access_and_id_tokens_count(running: Issuer, known: OpenId, kind: str) -> None:
    assert known.person(running.token(headers={"typ": kind})).name == "ann@127.0.0.1"


def test_claims_are_mapped_to_roles(running: Issuer) -> None:
    both = running.token(roles=["office", "statisticians", "others", 7])
    assert OpenId.of(settings(running)).person(both).roles == {Role.ANALYST, Role.CURATOR}
    nested = OpenId.of(settings(running, roles_claim="realm_access.roles"))
    inside = running.token(roles=None, realm_access={"roles": ["office"]})
    assert nested.person(inside).roles == {Role.CURATOR}
    dotted = OpenId.of(settings(running, roles_claim="https://example.org/roles"))
    named = running.token(**{"https://example.org/roles": "office"})
    assert dotted.person(named).roles == {Role.CURATOR}


@pytest.mark.parametrize("roles", [None, [], ["others"], "others", {"office": 1}, 5, [["office"]]])
def test_nobody_is_let_in_without_a_role(running: Issuer, known: OpenId, roles: Any) -> None:
    with pytest.raises(Unauthenticated, match="have no role here"):
        known.person(running.token(roles=roles))


def test_names_are_told_apart_and_fit_into_addresses(running: Issuer, known: OpenId) -> None:
    subjects = ["ann", "a/nn", "a%2Fnn", "ann@corp.example", "auth0|7", "ä", "a b", "A", "a\n"]
    names = [known.person(running.token(sub=one)).name for one in subjects]
    assert len(set(names)) == len(subjects)
    assert all(name.isprintable() and name.isascii() and "/" not in name for name in names)
    other = OpenId.of(settings(running, name_claim="email"))
    assert other.person(running.token(email="ann@corp.example")).name.startswith(
        "ann@corp.example@"
    )
    with pytest.raises(Unauthenticated):
        other.person(running.token())
    with pytest.raises(Unauthenticated):
        other.person(running.token(email="ann@corp.example", sub=None))


def changed_claims() -> list[dict[str, Any]]:
    now = int(time.time())
    return [
        {"iss": "http://127.0.0.1:1"},
        {"iss": None},
        {"iss": ["http://127.0.0.1"]},
        {"aud": "another"},
        {"aud": None},
        {"aud": ["one", "two"]},
        {"sub": None},
        {"sub": 7},
        {"sub": ""},
        {"sub": "x" * 256},
        {"exp": None},
        {"exp": "soon"},
        {"exp": 10**30},
        {"exp": [now + 300]},
        {"nbf": now + 10_000},
        {"nbf": "later"},
        {"iat": now + 10_000},
    ]


@pytest.mark.parametrize("changed", changed_claims(), ids=lambda changed: next(iter(changed)))
def test_wrong_claims_are_refused(running: Issuer, known: OpenId, changed: dict[str, Any]) -> None:
    with pytest.raises(Unauthenticated):
        known.person(raw(running, running.claims(**changed)))


def test_expired_tokens_are_refused_after_the_leeway(running: Issuer, known: OpenId) -> None:
    now = int(time.time())
    known.person(running.token(exp=now - 10))
    for exp in (now - 60, 0, -5):
        with pytest.raises(Expired, match="Sign in again"):
            known.person(running.token(exp=exp))


def test_what_the_tests_sign_themselves_is_right(running: Issuer, known: OpenId) -> None:
    assert known.person(raw(running, running.claims())).name == "ann@127.0.0.1"


def test_forged_tokens_are_refused(running: Issuer, known: OpenId) -> None:
    accepted = []
    for forged in forgeries(running):
        with suppress(Unauthenticated):
            accepted.append((forged, known.person(forged)))
    assert accepted == []
    known.person(running.token())


def test_only_listed_and_asymmetric_algorithms_count(running: Issuer) -> None:
    alone = OpenId.of(settings(running, algorithms=("ES256",)))
    alone.person(running.token("curve"))
    with pytest.raises(Unauthenticated):
        alone.person(running.token("first"))
    for wrong in (("HS256",), ("none",), (), ("RS256", "HS512")):
        with pytest.raises(ValidationError, match="must be of RS256"):
            settings(running, algorithms=wrong)
    assert not [name for name in ALGORITHMS if name.startswith("HS") or name == "none"]


@pytest.mark.parametrize(
    "address",
    ["http://login.example.org", "ftp://login.example.org", "file:///etc", "x", "https://"],
)
def test_an_issuer_has_an_address_that_nobody_can_change(running: Issuer, address: str) -> None:
    with pytest.raises(ValidationError, match="begins with https"):
        settings(running, issuer=address)


def test_small_keys_do_not_count() -> None:
    with issuer() as small:
        small.new_key("small", bits=1024)
        with pytest.warns(jwt.warnings.InsecureKeyLengthWarning):
            token = small.token("small")
        with pytest.raises(Unauthenticated):
            OpenId.of(settings(small)).person(token)


def test_keys_are_fetched_once_and_again_when_they_are_old() -> None:
    with issuer() as found:
        clock = Clock()
        known = OpenId(settings(found), Keys(found.address, clock))
        for _ in range(5):
            known.person(found.token())
        assert found.fetched["/keys"] == 1
        clock.now = 601
        known.person(found.token())
        assert found.fetched["/keys"] == 2


def test_an_unknown_key_is_asked_for_at_most_once_a_minute() -> None:
    with issuer() as found:
        clock = Clock()
        known = OpenId(settings(found), Keys(found.address, clock))
        known.person(found.token())
        found.new_key("second")
        for clock.now in (1, 30, 59):
            for _ in range(20):
                with pytest.raises(Unauthenticated):
                    known.person(found.token("second"))
        assert found.fetched["/keys"] == 1
        clock.now = 60
        known.person(found.token("second"))
        assert found.fetched["/keys"] == 2
        found.keys.pop("first")
        clock.now = 700
        known.person(found.token("second"))
        assert known.keys.named("first") is None  # what an issuer withdraws is forgotten


def test_an_issuer_out_of_reach_is_believed_for_a_day() -> None:
    with issuer() as found:
        clock = Clock()
        known = OpenId(settings(found), Keys(found.address, clock))
        known.person(found.token())
        found.down = True
        clock.now = 80_000
        known.person(found.token())
        clock.now = 86_401
        with pytest.raises(Unauthenticated):
            known.person(found.token())
        found.down = False
        clock.now += 60
        known.person(found.token())


def test_nobody_is_let_in_while_no_key_is_known() -> None:
    with issuer() as found:
        found.down = True
        clock = Clock()
        known = OpenId(settings(found), Keys(found.address, clock))
        with pytest.raises(Unauthenticated):
            known.person(found.token())


def documents(address: str) -> list[dict[str, Any]]:
    about = "/.well-known/openid-configuration"

    def said(document: Any) -> bytes:
        return json.dumps(document).encode()

    return [
        {about: b"no JSON"},
        {about: said([])},
        {about: said({"issuer": "https://other.example", "jwks_uri": f"{address}/keys"})},
        {about: said({"issuer": address, "jwks_uri": "http://login.example.org/keys"})},
        {about: said({"issuer": address, "jwks_uri": "file:///etc/passwd"})},
        {about: said({"issuer": address})},
        {"/keys": said({"keys": {}})},
        {"/keys": said({"keys": [1, {}, {"kid": "first", "kty": "oct", "k": "AAAA"}]})},
        {"/keys": b"[" * 100_000},
        {"/keys": b" " * 1_000_001},
    ]


@pytest.mark.parametrize("number", range(10))
def test_documents_that_make_no_sense_give_no_keys(number: int) -> None:
    with issuer() as found:
        found.documents = documents(found.address)[number]
        known = OpenId.of(settings(found))
        with pytest.raises(Unauthenticated):
            known.person(found.token())
        assert known.keys.named("first") is None
