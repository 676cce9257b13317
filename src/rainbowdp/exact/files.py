"""Mechanism files: readable JSON that proves itself.

A file holds the guarantee, the answers, the neighbor relation, every integer weight and a
checksum. Loading checks the sum, and then proves the guarantee from the weights again: a file
that was changed, or whose rows do not keep what they promise, is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rainbowdp.answering.mechanism import place_finder
from rainbowdp.errors import InvalidFile, RainbowError
from rainbowdp.exact.mechanism import MOST_MIXING, ExactMechanism, Ladders, Margins, Rule
from rainbowdp.guarantees.dp import DP, Guarantee
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.trade_off import TradeOff
from rainbowdp.numeric.quantity import exact
from rainbowdp.questions import from_description
from rainbowdp.rules.margin_table.rule import MarginTable
from rainbowdp.rules.margin_table.shape import Shape
from rainbowdp.rules.ordered_bins.rule import Ordered
from rainbowdp.rules.permute_and_flip.rule import Flips
from rainbowdp.storage.whole_file import whole_file

FORMAT = "rainbowdp mechanism"
VERSION = 1


def save(mechanism: ExactMechanism, path: str | os.PathLike[str]) -> Path:
    """Write ``mechanism`` to ``path``, whole or not at all."""
    return write(describe(mechanism), path)


def as_text(mechanism: ExactMechanism) -> str:
    """What a file of ``mechanism`` holds."""
    return _with_checksum(describe(mechanism))


def _with_checksum(content: dict[str, Any]) -> str:
    whole = {**content, "checksum": checksum(content)}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def load(path: str | os.PathLike[str]) -> ExactMechanism:
    """Read a mechanism file and prove it again, from its integers alone.

    A file for a question is proved for all tables. A file for a graph is proved for the touching
    regions it lists: whether those are all of the graph's, only the graph can tell. Without the
    graph a dataset is a pair (region, depth).
    """
    return from_text(_text(path), path)


def from_text(text: str, path: str | os.PathLike[str]) -> ExactMechanism:
    """The mechanism that ``text``, the content of the file ``path``, holds, proved again."""
    content = _parsed(text, path, FORMAT, VERSION)
    try:
        return restore(content)
    except RainbowError as error:
        raise InvalidFile(
            f"a mechanism file must keep its guarantee, got {path}: {error}"
        ) from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InvalidFile(f"a mechanism file must be complete, got {path}: {error!r}") from error


def read(path: str | os.PathLike[str], wanted: str, version: int) -> dict[str, Any]:
    """What stands in a file of the format ``wanted``, once its version and checksum are right."""
    return _parsed(_text(path), path, wanted, version)


def write(content: dict[str, Any], path: str | os.PathLike[str]) -> Path:
    """Write ``content`` with its checksum, whole or not at all."""
    target = Path(path)
    with whole_file(target, "a mechanism file", InvalidFile) as draft:
        draft.write_text(_with_checksum(content), encoding="utf-8")
    return target


def _text(path: str | os.PathLike[str]) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        why = error.strerror
        raise InvalidFile(f"a mechanism file must be readable, got {path}: {why}") from error
    except ValueError as error:
        raise InvalidFile(f"a mechanism file must be JSON, got {path}: {error}") from error


def _parsed(text: str, path: str | os.PathLike[str], wanted: str, version: int) -> dict[str, Any]:
    try:
        content = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise InvalidFile(f"a mechanism file must be JSON, got {path}: {error}") from error
    if not isinstance(content, dict) or content.get("format") != wanted:
        raise InvalidFile(f"a mechanism file must say it is a {wanted!r}, got {path}")
    found = content.get("version")
    if type(found) is not int or found != version:
        raise InvalidFile(f"a mechanism file must be of version {version}, got {found!r} in {path}")
    claimed = content.pop("checksum", None)
    if claimed != checksum(content):
        raise InvalidFile(f"a mechanism file must match its checksum, got a changed one: {path}")
    return content


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


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
        "neighbors": mechanism.neighbors,
        "question": mechanism.question,
        "answers": [_plain(answer) for answer in mechanism.answers],
        "mixing": str(mechanism.mixing),
    }
    rule = mechanism.rule
    if isinstance(rule, MarginTable):
        return content | {"rule": "table"} | describe_table(rule)
    if isinstance(rule, Flips):
        return content | {"rule": "flips"} | _describe_flips(rule)
    if isinstance(rule, Margins | Ordered):
        name = "margins" if isinstance(rule, Margins) else "ordered"
        content |= {"rule": name, "total": rule.total, "steps": list(rule.steps)}
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
    answers = tuple(_name(answer) for answer in content["answers"])
    question = content["question"]
    locate = None
    rule = _rule(content)
    if question is not None and question["kind"] != "custom":
        asked = from_description(question)
        if asked.answers != answers:
            raise InvalidFile(f"the question has the answers {asked.answers}, the rows {answers}")
        locate = place_finder(asked, rule)
    mixing = exact(content["mixing"], "mixing", InvalidFile)
    if not 0 <= mixing <= MOST_MIXING:
        raise InvalidFile(f"mixing must be at most {MOST_MIXING}, got {mixing}")
    return ExactMechanism(
        restore_guarantee(content["guarantee"]),
        answers,
        rule,
        neighbors=content["neighbors"],
        question=question,
        mixing=mixing,
        locate=locate,
    )


def _rule(content: Mapping[str, Any]) -> Rule:
    if content["rule"] == "margins":
        return Margins(content["total"], tuple(content["steps"]))
    if content["rule"] == "ordered":
        return Ordered(content["total"], tuple(content["steps"]))
    if content["rule"] == "table":
        return restore_table(content)
    if content["rule"] == "flips":
        given = dict(content["coins"])
        return Flips(**given | {"ratio": exact(given["ratio"], "ratio", InvalidFile)})
    if content["rule"] != "ladders":
        raise InvalidFile(
            "a rule is 'flips', 'ladders', 'margins', 'ordered' or 'table', "
            f"got {content['rule']!r}"
        )
    labels = [_name(region["label"]) for region in content["regions"]]
    if len(set(labels)) != len(labels):
        raise InvalidFile("regions must have different names, got one twice")
    regions = list(zip(labels, content["regions"], strict=True))
    places = [place for pair in content["touching"] for place in pair]
    if any(type(place) is not int or not 0 <= place < len(labels) for place in places):
        raise InvalidFile("touching pairs must be numbers of regions, got others")
    return Ladders(
        {label: tuple(tuple(row) for row in r["rows"]) for label, r in regions if r["rows"]},
        {label: _name(r["certain"]) for label, r in regions if r["certain"] is not None},
        tuple((labels[a], labels[b]) for a, b in content["touching"]),
    )


def _describe_flips(rule: Flips) -> dict[str, Any]:
    return {
        "coins": {
            "answers": rule.answers,
            "neighbors": rule.neighbors,
            "ties": rule.ties,
            "rows": rule.rows,
            "ratio": str(rule.ratio),
        }
    }


def describe_table(table: MarginTable) -> dict[str, Any]:
    """A margin table, ready for JSON."""
    shape = table.shape
    return {
        "shape": {
            "answers": shape.answers,
            "neighbors": shape.neighbors,
            "ties": shape.ties,
            "knots": list(shape.knots),
            "farthest": shape.farthest,
            "ratio": str(shape.ratio),
            "labeled": shape.labeled,
        },
        "total": table.total,
        "rows": [list(row) for row in table.rows],
    }


def restore_table(content: Mapping[str, Any]) -> MarginTable:
    """The margin table that ``describe_table`` described."""
    shape = dict(content["shape"])
    whole = [shape["answers"], shape["farthest"], shape["labeled"], *shape["knots"]]
    if any(type(number) is not int for number in whole):
        raise InvalidFile(f"gaps of a margin table must be whole numbers, got {shape}")
    shape["knots"] = tuple(shape["knots"])
    shape["ratio"] = exact(shape["ratio"], "ratio", InvalidFile)
    rows = tuple(tuple(row) for row in content["rows"])
    return MarginTable(Shape(**shape), content["total"], rows)


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
    given = dict(content)
    kind, keys = given.pop("kind"), set(given) - {"kind"}
    if kind == "gaussian" and keys == {"mu"}:
        return GaussianDP(given["mu"])
    if kind == "trade-off" and keys == {"knots"}:
        return TradeOff([(x, y) for x, y in given["knots"]])
    if kind == "dp" and keys == {"ratio", "delta"}:
        return DP.from_ratio(given["ratio"], delta=given["delta"])
    if kind == "dp" and keys == {"epsilon", "delta"}:
        return DP(given["epsilon"], given["delta"])
    raise InvalidFile(f"a guarantee must be of a known kind, got {content}")


def _plain(value: Any) -> Any:
    """A name in JSON: text, a whole number, or a list of such for a tuple."""
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if type(value) is int or (type(value) is str and _is_text(value)):
        return value
    raise InvalidFile(
        f"a file can name answers and regions by text or whole numbers, got {value!r}"
    )


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def _name(value: Any) -> Any:
    """The name that ``_plain`` wrote."""
    if isinstance(value, list):
        return tuple(_name(part) for part in value)
    return _plain(value)
