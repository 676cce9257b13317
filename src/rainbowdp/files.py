"""Mechanism files: readable JSON that proves itself.

A file holds the guarantee, the answers, the neighbour relation, every integer weight and a
checksum. Loading checks the sum, and then proves the guarantee from the weights again: a file
that was changed, or whose rows do not keep what they promise, is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from rainbowdp.errors import InvalidFile, RainbowError
from rainbowdp.exact import ExactMechanism, Ladders, Margins
from rainbowdp.gaussian import GaussianDP
from rainbowdp.guarantee import DP, Guarantee
from rainbowdp.trade_off import TradeOff

FORMAT = "rainbowdp mechanism"
VERSION = 1


def save(mechanism: ExactMechanism, path: str | os.PathLike[str]) -> Path:
    """Write ``mechanism`` to ``path``, whole or not at all."""
    target = Path(path)
    content = describe(mechanism)
    content["checksum"] = checksum(content)
    text = json.dumps(content, indent=1, ensure_ascii=False)
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=target.parent, prefix=f".{target.name}.", delete=False
        ) as draft:
            draft.write(text + "\n")
            draft.flush()
            os.fsync(draft.fileno())
        Path(draft.name).replace(target)
    except OSError as error:
        raise InvalidFile(
            f"a mechanism file must be writable, got {target}: {error.strerror}"
        ) from error
    return target


def load(path: str | os.PathLike[str]) -> ExactMechanism:
    """Read a mechanism file and prove it again, from its integers alone.

    Without the graph it was made for, a dataset is a pair (region, depth).
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidFile(
            f"a mechanism file must be readable, got {path}: {error.strerror}"
        ) from error
    except ValueError as error:
        raise InvalidFile(f"a mechanism file must be JSON, got {path}: {error}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidFile(f"a mechanism file must say it is a {FORMAT!r}, got {path}")
    if content.get("version") != VERSION:
        raise InvalidFile(
            f"a mechanism file must be of version {VERSION}, "
            f"got {content.get('version')!r} in {path}"
        )
    claimed = content.pop("checksum", None)
    if claimed != checksum(content):
        raise InvalidFile(
            f"a mechanism file must match its checksum, got {path}, which was changed"
        )
    try:
        return restore(content)
    except RainbowError as error:
        raise InvalidFile(
            f"a mechanism file must keep its guarantee, got {path}: {error}"
        ) from error
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidFile(f"a mechanism file must be complete, got {path}: {error!r}") from error


def checksum(content: Mapping[str, Any]) -> str:
    """SHA-256 of the content in one canonical spelling."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def describe(mechanism: ExactMechanism) -> dict[str, Any]:
    """All of a mechanism that its file holds."""
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "guarantee": describe_guarantee(mechanism.guarantee),
        "neighbours": mechanism.neighbours,
        "question": mechanism.question,
        "answers": [_plain(answer) for answer in mechanism.answers],
        "mixing": str(mechanism.mixing),
    }
    rule = mechanism.rule
    if isinstance(rule, Margins):
        content |= {"rule": "margins", "total": rule.total, "steps": list(rule.steps)}
        return content
    labels = [*rule.rows, *(label for label in rule.certain if label not in rule.rows)]
    number = {label: place for place, label in enumerate(labels)}
    content |= {
        "rule": "ladders",
        "regions": [
            {
                "label": _plain(label),
                "certain": _plain(rule.certain[label]) if label in rule.certain else None,
                "rows": [list(row) for row in rule.rows.get(label, ())],
            }
            for label in labels
        ],
        "touching": [[number[a], number[b]] for a, b in rule.touching],
    }
    return content


def restore(content: Mapping[str, Any]) -> ExactMechanism:
    """The mechanism that ``describe`` described; making it proves it."""
    from rainbowdp.questions import from_description

    rule: Ladders | Margins
    if content["rule"] == "margins":
        rule = Margins(content["total"], tuple(content["steps"]))
    else:
        labels = [_hashable(region["label"]) for region in content["regions"]]
        regions = list(zip(labels, content["regions"], strict=True))
        rule = Ladders(
            {label: tuple(tuple(row) for row in r["rows"]) for label, r in regions if r["rows"]},
            {label: _hashable(r["certain"]) for label, r in regions if r["certain"] is not None},
            tuple((labels[a], labels[b]) for a, b in content["touching"]),
        )
    question = content["question"]
    locate = None
    if question is not None and question["kind"] != "custom":
        from rainbowdp.answering import place_finder

        locate = place_finder(from_description(question), rule)
    return ExactMechanism(
        restore_guarantee(content["guarantee"]),
        tuple(_hashable(answer) for answer in content["answers"]),
        rule,
        neighbours=content["neighbours"],
        question=question,
        mixing=Fraction(content["mixing"]),
        locate=locate,
    )


def describe_guarantee(guarantee: Guarantee) -> dict[str, Any]:
    """A guarantee with its exact numbers as text."""
    if isinstance(guarantee, DP):
        delta = str(guarantee.exact_delta)
        if guarantee.exact_epsilon is not None:
            return {"kind": "dp", "epsilon": str(guarantee.exact_epsilon), "delta": delta}
        return {"kind": "dp", "ratio": str(guarantee.exact_ratio), "delta": delta}
    if isinstance(guarantee, GaussianDP):
        return {"kind": "gaussian", "mu": str(guarantee.exact_mu)}
    if isinstance(guarantee, TradeOff):
        return {"kind": "trade-off", "knots": [[str(x), str(y)] for x, y in guarantee.knots]}
    raise InvalidFile(f"a file can hold DP, GaussianDP or TradeOff, got {guarantee!r}")


def restore_guarantee(content: Mapping[str, Any]) -> Guarantee:
    """The guarantee that ``describe_guarantee`` described."""
    if content["kind"] == "gaussian":
        return GaussianDP(content["mu"])
    if content["kind"] == "trade-off":
        return TradeOff([(x, y) for x, y in content["knots"]])
    if "ratio" in content:
        return DP.from_ratio(content["ratio"], delta=content["delta"])
    return DP(content["epsilon"], content["delta"])


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidFile(
            f"a file can name answers and regions by text or whole numbers, got {value!r}"
        )
    return value


def _hashable(value: Any) -> Any:
    return tuple(_hashable(part) for part in value) if isinstance(value, list) else value
