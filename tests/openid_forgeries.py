"""Tokens of an issuer that must not be accepted."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from openid_issuer import Issuer


def forgeries(running: Issuer) -> list[str]:
    """Tokens that nobody of the issuer has signed as they are."""
    claims = running.claims()
    stranger = rsa.generate_private_key(65537, 2048)
    public = running.keys["first"].public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    published = running.published()["keys"][0]
    honest = running.token()
    head, body, signature = honest.split(".")
    curator = part({**claims, "roles": ["office"]})
    made = [
        jwt.encode(claims, "", "none", headers={"kid": "first"}),
        f"{part({'alg': 'none', 'kid': 'first'})}.{body}.",
        f"{part({'alg': 'None', 'kid': 'first'})}.{body}.",
        f"{part({'alg': '', 'kid': 'first'})}.{body}.{signature}",
        f"{part({'kid': 'first'})}.{body}.{signature}",
        by_secret(claims, pem, "first"),
        by_secret(claims, pem.strip(), "first"),
        by_secret(claims, json.dumps(published).encode(), "first"),
        by_secret(claims, b"", "first"),
        jwt.encode(claims, stranger, "RS256", headers={"kid": "first"}),
        jwt.encode(claims, stranger, "RS256", headers={"kid": "second"}),
        jwt.encode(claims, stranger, "RS256"),
        jwt.encode(claims, stranger, "RS256", headers={"kid": "first", "jwk": published}),
        jwt.encode(
            claims, stranger, "RS256", headers={"kid": "first", "jku": "http://127.0.0.1:1/keys"}
        ),
        jwt.encode(claims, running.keys["first"], "PS256", headers={"kid": "first"}),
        jwt.encode(claims, running.keys["first"], "RS512", headers={"kid": "first"}),
        jwt.encode(claims, running.keys["first"], "RS256"),
        jwt.encode(claims, running.keys["first"], "RS256", headers={"kid": "curve"}),
        raw(running, claims, kid=["first"]),
        raw(running, claims, kid=None),
        raw(running, claims, alg=["RS256"]),
        raw(running, claims, typ="logout+jwt"),
        raw(running, claims, typ=7),
        raw(running, claims, crit=["exp"]),
        f"{head}.{curator}.{signature}",
        f"{head}.{body}.",
        f"{head}.{body}",
        f"{head}..{signature}",
        f"{head}.{body}.{signature}.{signature}",
        f"{head}.{body}.{signature[:-4]}",
        f"{part({'alg': 'RS256', 'kid': 'first', 'typ': 'JWT'})}.{body}.{signature}x",
        honest.upper(),
        "",
        ".",
        "..",
        "a.b.c",
        "\x00",
        "é" * 50,
        "x" * 20_000,
        honest + "." * 20_000,
        "[" * 9_000,
    ]
    return made + [honest[:cut] for cut in range(0, len(honest) - 3, 7)]


def raw(running: Issuer, claims: dict[str, Any], **header: Any) -> str:
    """A token that is signed rightly, also where PyJWT would refuse to make it."""
    about = {"alg": "RS256", "kid": "first", "typ": "JWT", **header}
    signed = f"{part(about)}.{part(claims)}"
    signature = running.keys["first"].sign(signed.encode(), PKCS1v15(), SHA256())
    return f"{signed}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def part(said: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(said).encode()).rstrip(b"=").decode()


def by_secret(claims: dict[str, Any], secret: bytes, kid: str) -> str:
    """A token whose secret is what everybody knows; PyJWT would refuse to make it."""
    signed = f"{part({'alg': 'HS256', 'typ': 'JWT', 'kid': kid})}.{part(claims)}"
    mark = hmac.digest(secret, signed.encode(), hashlib.sha256)
    return f"{signed}.{base64.urlsafe_b64encode(mark).rstrip(b'=').decode()}"
