"""Reading a mechanism file strictly: what any two readers of JSON could see differently is refused.

No key twice, no number that a double rounds, no text that is not Unicode, no deep nesting; and the
checksum must fit. It protects from damage, not from forgery: that is what the proofs are for.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from os import PathLike

from .errors import Refused

MOST_BYTES = 1 << 29
MOST_DEPTH = 24
LARGEST_NUMBER = (1 << 53) - 1
_MOST_DIGITS = 310  # of a weight
_MOST_SPELLED = 1200  # of the numerator or denominator of a fraction


def read(path: str | PathLike[str]) -> str:
    """The text of a file."""
    try:
        parts: list[bytes] = []
        size = 0
        with open(path, "rb") as file:
            while part := file.read(1 << 20):
                parts.append(part)
                size += len(part)
                if size > MOST_BYTES:
                    raise Refused(f"the mechanism file {path} is larger than {MOST_BYTES >> 20} MB")
    except OSError as error:
        raise Refused(f"cannot read the mechanism file {path}: {error.strerror}") from None
    try:
        return b"".join(parts).decode()
    except UnicodeDecodeError:
        raise Refused(f"the mechanism file {path} is not text in UTF-8") from None


def parse(text: str) -> dict[str, object]:
    """What the text of a file says, without its checksum, which fits."""
    import json

    try:
        content = json.loads(
            text,
            object_pairs_hook=_once,
            parse_int=_number,
            parse_float=_no_float,
            parse_constant=_no_float,
        )
        level = [content] if isinstance(content, dict | list) else []
        for _ in range(MOST_DEPTH):
            level = [
                part
                for whole in level
                for part in (whole.values() if isinstance(whole, dict) else whole)
                if isinstance(part, dict | list)
            ]
        if level:
            raise Refused("a mechanism file must not be nested so deeply")
        if not isinstance(content, dict):
            raise Refused("a mechanism file must be a JSON object, got something else")
        claimed = content.pop("checksum", None)
        found = checksum(content)
    except RecursionError:
        raise Refused("a mechanism file must not be nested so deeply") from None
    except UnicodeEncodeError:
        raise Refused("a mechanism file must be Unicode, got half of a surrogate pair") from None
    except Refused:
        raise
    except ValueError as error:
        raise Refused(f"a mechanism file must be JSON: {error}") from None
    if claimed != found:
        raise Refused("the mechanism file does not match its checksum: it was changed or damaged")
    return content


def checksum(content: dict[str, object]) -> str:
    """The SHA-256 of a document in its canonical form: sorted keys, no spaces, UTF-8."""
    import hashlib
    import json

    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Refused("a mechanism file must not have a key twice, but has")
    return found


def _number(digits: str) -> int:
    if len(digits) > 17 or abs(int(digits)) > LARGEST_NUMBER:
        raise Refused("a number above 2^53 must stand as text in a mechanism file")
    return int(digits)


def _no_float(digits: str) -> float:
    raise Refused(f"a number in a mechanism file must be whole, got {digits[:20]}")


def keys(content: object, what: str, *wanted: str) -> dict[str, object]:
    """An object that has exactly these keys."""
    if not isinstance(content, dict) or set(content) != set(wanted):
        raise Refused(f"{what} must have the keys {', '.join(wanted)}, got others")
    return content


def weight(value: object) -> int:
    """A whole number from 0 that stands as decimal text, in the one way to spell it."""
    if isinstance(value, str) and len(value) <= _MOST_DIGITS and _digits(value):
        return int(value)
    raise Refused("a weight must be the decimal digits of a whole number from 0, as text")


def weights(value: object, most: int = 1 << 18) -> list[int]:
    """A list of them, not longer than any of ours."""
    if not isinstance(value, list):
        raise Refused("weights must stand in a list")
    if len(value) > most + 1:
        raise Refused(f"weights must be at most {most:,} here, got {len(value):,}")
    return [weight(one) for one in value]


def small(value: object, what: str, least: int = 0) -> int:
    """A JSON number from ``least``."""
    if type(value) is not int or value < least:
        raise Refused(f"{what} must be a whole number from {least}, got something else")
    return value


def fraction(value: object, what: str) -> Fraction:
    """A fraction from 0, spelled in lowest terms: ``3`` or ``1/3``."""
    parts = value.split("/") if isinstance(value, str) and len(value) <= 2 * _MOST_SPELLED else []
    if len(parts) in (1, 2) and all(_digits(part) for part in parts):
        top, bottom = int(parts[0]), int(parts[1]) if len(parts) == 2 else 1
        if gcd(top, bottom) == 1 and (len(parts) == 1 or bottom > 1):
            return Fraction(top, bottom)
    raise Refused(f"{what} must be a number from 0 as text, in lowest terms, such as 1/3")


def _digits(part: str) -> bool:
    plain = part.isascii() and part.isdigit() and len(part) <= _MOST_SPELLED
    return plain and (part[0] != "0" or part == "0")


def name(value: object) -> object:
    """The name of an answer or region: text, a whole number, or a tuple of such for a list."""
    if isinstance(value, list):
        return tuple([name(part) for part in value])
    if type(value) is int or type(value) is str:
        return value
    raise Refused("answers and regions must be named by text, whole numbers or lists of these")
