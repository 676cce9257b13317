"""Tokens of an OpenID Connect issuer, such as the one that an office already has.

A token counts if it is signed by a key that the issuer publishes, with an asymmetric algorithm of a
fixed list, is for this service (``aud``), by this issuer (``iss``), about somebody (``sub``), and
its time has begun and is not over. What its header says chooses among the issuer's keys, and
nothing else. PyJWT does the cryptography.

Keys are fetched from the address in the issuer's discovery document, kept, and fetched again after
ten minutes, or when a token names a key that is not known, at most once a minute. An issuer that
cannot be reached is believed for a day by the keys that it last published.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import Any
from urllib.error import URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import jwt
from pydantic import BaseModel, ConfigDict, Field, field_validator

from rainbowdp.service.people.roles import Expired, Person, Role, Unauthenticated

ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
_LONGEST = 16_384  # characters of a token
_LARGEST = 1_000_000  # bytes of a document of the issuer
_MOST_KEYS = 100
_LEEWAY = 30  # seconds that two clocks may differ
_FRESH = 600.0  # seconds for which keys are not asked for again
_PAUSE = 60.0  # seconds between two tries
_STALE = 86_400.0  # seconds for which keys are believed if the issuer cannot be reached
_WAIT = 5.0  # seconds for the issuer
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_SMALLEST_RSA = 2048  # bits
_TYPES = (None, "jwt", "at+jwt", "application/at+jwt")  # not a token for logging out, say
_NOT_OURS = (
    "This OpenID token is not valid here: it must be signed by the issuer, for this service, and "
    "its time must have begun. Sign in again."
)


class OpenIdSettings(BaseModel):
    """What ``service.toml`` says of an issuer.

    Attributes
    ----------
    issuer
        Its address, exactly as it stands in ``iss``; with https, unless it is this machine.
    audience
        What ``aud`` must hold: the name of this service at the issuer.
    roles
        The role of each value of the claim: ``{"statisticians" = "analyst"}``.
    roles_claim
        Where roles or groups are, with dots for what is inside: ``realm_access.roles``.
    name_claim
        What names a person. Nothing but ``sub`` is sure never to be given to somebody else.
    algorithms
        Which signatures count.

    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    issuer: str
    audience: str = Field(min_length=1)
    roles: dict[str, Role] = Field(min_length=1)
    roles_claim: str = "roles"
    name_claim: str = "sub"
    algorithms: tuple[str, ...] = ALGORITHMS

    @field_validator("issuer")
    @classmethod
    def _is_safe(cls, value: str) -> str:
        if not _safe(value):
            raise ValueError("must be an address that begins with https://")
        return value

    @field_validator("algorithms")
    @classmethod
    def _are_asymmetric(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value or not set(value) <= set(ALGORITHMS):
            raise ValueError(f"must be of {', '.join(ALGORITHMS)}")
        return value


class _NoRedirects(HTTPRedirectHandler):
    """The issuer's documents are where it says; nobody sends us elsewhere."""

    def redirect_request(self, *args: Any) -> None:
        """No other request."""


@dataclass
class Keys:
    """The keys that an issuer publishes, by their names."""

    issuer: str
    clock: Callable[[], float] = time.monotonic
    _keys: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    _fetched: float | None = None
    _tried: float | None = None
    _lock: Lock = field(default_factory=Lock)

    def named(self, name: str) -> Mapping[str, Any] | None:
        """The key of a name; it may be fetched now."""
        now = self.clock()
        old = self._fetched is None or now - self._fetched >= _FRESH
        wanted = old or name not in self._keys
        if wanted and (self._tried is None or now - self._tried >= _PAUSE):
            self._fetch(wait=name not in self._keys)
        if self._fetched is None or self.clock() - self._fetched >= _STALE:
            return None
        return self._keys.get(name)

    def _fetch(self, *, wait: bool) -> None:
        """Ask the issuer once, whoever else wants to; who has a key does not wait for it."""
        before = self._tried
        if not self._lock.acquire(blocking=wait):
            return
        try:
            if self._tried != before:  # another thread did while this one waited
                return
            self._tried = self.clock()
            found = _published(self.issuer)
            if found is not None:
                self._keys, self._fetched = found, self.clock()
        finally:
            self._lock.release()


@dataclass(frozen=True)
class OpenId:
    """Knows people by the tokens of one issuer."""

    settings: OpenIdSettings
    keys: Keys

    @classmethod
    def of(cls, settings: OpenIdSettings) -> OpenId:
        """With the keys of the issuer, which are fetched when the first token comes."""
        return cls(settings, Keys(settings.issuer))

    def person(self, bearer: str) -> Person:
        """Whose token it is.

        Raises
        ------
        Unauthenticated
            If the token is not valid here, or its owner has no role.
        Expired
            If its time is over.

        """
        if len(bearer) > _LONGEST:
            raise Unauthenticated(_NOT_OURS)
        try:
            claims = self._claims(bearer)
        except jwt.ExpiredSignatureError:
            raise Expired("This OpenID token has expired. Sign in again.") from None
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
            raise Unauthenticated(_NOT_OURS) from None
        name = claims.get(self.settings.name_claim)
        if not (isinstance(name, str) and 0 < len(name) <= 255):
            raise Unauthenticated(_NOT_OURS)
        roles = self._roles(claims)
        if not roles:
            raise Unauthenticated(
                "You are signed in, but have no role here. Ask the curator for one."
            )
        host = urlsplit(self.settings.issuer).hostname
        try:
            expires = datetime.fromtimestamp(int(claims["exp"]), UTC)
        except (ValueError, OverflowError, OSError):
            raise Unauthenticated(_NOT_OURS) from None
        return Person(f"{quote(name, safe='@|:+')}@{host}", roles, expires, None)

    def _claims(self, bearer: str) -> dict[str, Any]:
        header = jwt.get_unverified_header(bearer)
        algorithm, name, kind = header.get("alg"), header.get("kid"), header.get("typ")
        if algorithm not in self.settings.algorithms or not isinstance(name, str):
            raise jwt.InvalidAlgorithmError
        if "crit" in header or (kind.lower() if isinstance(kind, str) else kind) not in _TYPES:
            raise jwt.InvalidTokenError
        found = self.keys.named(name)
        if found is None or found.get("alg", algorithm) != algorithm:
            raise jwt.InvalidKeyError
        key = jwt.PyJWK(dict(found), algorithm=algorithm)
        if getattr(key.key, "key_size", _SMALLEST_RSA) < _SMALLEST_RSA and found["kty"] == "RSA":
            raise jwt.InvalidKeyError
        claims: dict[str, Any] = jwt.decode(
            bearer,
            key,
            algorithms=[algorithm],
            audience=self.settings.audience,
            issuer=self.settings.issuer,
            leeway=_LEEWAY,
            options={"require": ["iss", "aud", "exp", "sub"]},
        )
        return claims

    def _roles(self, claims: Mapping[str, Any]) -> frozenset[Role]:
        found: Any = claims.get(self.settings.roles_claim)
        if found is None:
            found = claims
            for part in self.settings.roles_claim.split("."):
                found = found.get(part) if isinstance(found, Mapping) else None
        values = [found] if isinstance(found, str) else found if isinstance(found, list) else []
        known = self.settings.roles
        return frozenset(known[one] for one in values if isinstance(one, str) and one in known)


def _published(issuer: str) -> Mapping[str, Mapping[str, Any]] | None:
    """The issuer's public keys by name, or nothing if it cannot be asked or makes no sense."""
    try:
        about = _document(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        if about.get("issuer") != issuer or not _safe(str(about.get("jwks_uri"))):
            return None
        listed = _document(str(about["jwks_uri"])).get("keys")
    except (URLError, OSError, ValueError, RecursionError):
        return None
    if not isinstance(listed, list):
        return None
    return {
        key["kid"]: key
        for key in listed[:_MOST_KEYS]
        if isinstance(key, dict)
        and isinstance(key.get("kid"), str)
        and key.get("kty") in ("RSA", "EC", "OKP")
        and key.get("use", "sig") == "sig"
        and "d" not in key
    }


def _document(address: str) -> dict[str, Any]:
    request = Request(address, headers={"Accept": "application/json"})  # noqa: S310 # see _safe
    with build_opener(_NoRedirects).open(request, timeout=_WAIT) as reply:
        text = reply.read(_LARGEST + 1)
    if len(text) > _LARGEST:
        raise ValueError("too large")
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("no object")
    return found


def _safe(address: str) -> bool:
    """Whether nobody on the way can change what is fetched from there."""
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        return False
    if parts.fragment or parts.username or not host:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)
