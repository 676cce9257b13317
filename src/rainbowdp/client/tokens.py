"""Where a service is, and the token that it knows its caller by."""

from __future__ import annotations

import re
from ipaddress import ip_address
from os import PathLike
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from rainbowdp.errors import ServiceError

_BEARER = re.compile(r"[A-Za-z0-9._~+/=-]{1,8192}")  # what may follow "Bearer" (RFC 6750)


class Token:
    """A secret that no representation, message or copy by pickle shows."""

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        if not isinstance(secret, str) or not _BEARER.fullmatch(secret):
            raise ServiceError(
                "A token is one word of letters, digits and . _ ~ + / = -, and this is none. Copy "
                "it again as the service showed it.",
                code="unauthenticated",
            )
        self._secret = secret

    def __repr__(self) -> str:
        return "Token(…)"

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("a token is not pickled: connect again where it is needed")

    def header(self) -> str:
        """The value of the Authorization header."""
        return f"Bearer {self._secret}"

    def hidden_in(self, text: str) -> str:
        """The text without the secret, should somebody have put it there."""
        return text.replace(self._secret, "…")


def token_of(token: str | None, file: str | PathLike[str] | None) -> Token:
    """The token that was given, or that a file holds."""
    if (token is None) == (file is None):
        raise ServiceError(
            "A service needs one token: give token= or token_file=, not both.",
            code="unauthenticated",
        )
    if token is not None:
        return Token(token)
    assert file is not None
    try:
        text = Path(file).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        text = ""
    if not text.strip():
        raise ServiceError(
            f"The token file {str(file)!r} cannot be read or is empty. Write the token into it, "
            "alone on a line, for your eyes only (chmod 600).",
            code="unauthenticated",
        )
    return Token(text.strip())


def address_of(url: str) -> str:
    """The service's address without a slash at its end; HTTPS, unless it is on this machine."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  raises where it is no number
    except (ValueError, TypeError, AttributeError):
        parts = SplitResult("", "", "", "", "")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ServiceError(
            "A service has an address such as https://answers.example.org, got "
            f"{_without_secrets(parts) or 'none'!r}."
        )
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ServiceError(
            f"The address of a service is a place alone. Write {_without_secrets(parts)}, and give "
            "the token by token= or token_file=."
        )
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise ServiceError(
            f"{_without_secrets(parts)} would send your token and the answers in the open. Write "
            "https://, which only a service on this machine does without."
        )
    return _without_secrets(parts).rstrip("/")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _without_secrets(parts: SplitResult) -> str:
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}" if host else ""
