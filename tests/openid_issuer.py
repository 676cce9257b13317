"""An OpenID Connect issuer on this machine: a discovery document, its keys, and signed tokens."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

AUDIENCE = "rainbow"


@dataclass
class Issuer:
    """A running issuer; what it publishes may be changed at any time."""

    address: str = ""
    keys: dict[str, Any] = field(default_factory=dict)
    algorithms: dict[str, str] = field(default_factory=dict)
    fetched: Counter[str] = field(default_factory=Counter)
    documents: dict[str, bytes] = field(default_factory=dict)
    """What is served instead, by path."""
    down: bool = False

    def new_key(self, name: str, algorithm: str = "RS256", bits: int = 2048) -> Any:
        """A key that is published from now on."""
        if algorithm.startswith(("RS", "PS")):
            key: Any = rsa.generate_private_key(65537, bits)
        elif algorithm.startswith("ES"):
            key = ec.generate_private_key(ec.SECP256R1())
        else:
            key = ed25519.Ed25519PrivateKey.generate()
        self.keys[name], self.algorithms[name] = key, algorithm
        return key

    def published(self) -> dict[str, Any]:
        """The keys as the issuer shows them."""
        return {"keys": [self._published(name) for name in self.keys]}

    def _published(self, name: str) -> dict[str, Any]:
        public, algorithm = self.keys[name].public_key(), self.algorithms[name]
        kind: Any = OKPAlgorithm
        if algorithm.startswith(("RS", "PS")):
            kind = RSAAlgorithm
        elif algorithm.startswith("ES"):
            kind = ECAlgorithm
        described = json.loads(kind.to_jwk(public))
        described.pop("key_ops", None)
        return {**described, "kid": name, "use": "sig", "alg": algorithm}

    def claims(self, **changed: Any) -> dict[str, Any]:
        """What an honest token says; ``None`` leaves a claim out."""
        now = int(time.time())
        said: dict[str, Any] = {
            "iss": self.address,
            "aud": AUDIENCE,
            "sub": "ann",
            "iat": now,
            "nbf": now,
            "exp": now + 300,
            "roles": ["statisticians"],
        } | changed
        return {name: value for name, value in said.items() if value is not None}

    def token(self, key: str = "first", headers: Any = None, **changed: Any) -> str:
        """A token that the issuer signs."""
        return self.signed(self.claims(**changed), key, headers)

    def signed(self, claims: dict[str, Any], key: str = "first", headers: Any = None) -> str:
        """Any claims, signed by a key of the issuer."""
        about = {"kid": key, **(headers or {})}
        return jwt.encode(claims, self.keys[key], self.algorithms[key], headers=about)


@contextmanager
def issuer() -> Iterator[Issuer]:
    """An issuer that runs until the block ends, with one key of the name ``first``."""
    found = Issuer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.fetched[self.path] += 1
            pages = {
                "/.well-known/openid-configuration": {
                    "issuer": found.address,
                    "jwks_uri": f"{found.address}/keys",
                },
                "/keys": found.published(),
            }
            body = found.documents.get(self.path)
            if body is None and self.path in pages:
                body = json.dumps(pages[self.path]).encode()
            if body is None or found.down:
                self.send_error(503)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        found.address = f"http://127.0.0.1:{server.server_port}"
        found.new_key("first")
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
