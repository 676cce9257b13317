"""Reading mechanism files: JSON that proves itself.

A file holds the guarantee, the answers, the neighbor relation, every integer weight and a
checksum. Loading checks the sum, and then proves the guarantee from the weights again: a file
that was changed, or whose rows do not keep what they promise, is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, TypeVar

from rainbowdp.errors import InvalidFile, InvalidQuestion, RainbowError
from rainbowdp.exact.counts import FORMAT as COUNT_FORMAT
from rainbowdp.exact.counts import VERSION as COUNT_VERSION
from rainbowdp.exact.counts import ExactCount
from rainbowdp.exact.mechanism import FORMAT, VERSION, ExactMechanism, key_finder
from rainbowdp.exact.names import name_from_json
from rainbowdp.exact.noise import NoiseRow
from rainbowdp.exact.steps import MOST_MIXING
from rainbowdp.expecting import brief
from rainbowdp.guarantees.descriptions import restore_guarantee
from rainbowdp.numeric.quantity import exact
from rainbowdp.questions import Between, Count, Custom, Equals, with_margins
from rainbowdp.questions.base import CountQuestion, checked_column
from rainbowdp.questions.ends import end
from rainbowdp.rules import FAMILIES
from rainbowdp.storage.documents import parse, parse_document, read_text

_MOST_SAID = 500  # characters of a message
Found = TypeVar("Found", ExactMechanism, ExactCount)


def load(path: str | PathLike[str]) -> ExactMechanism:
    """Read a mechanism file and prove it again, from its integers alone.

    A file for a question is proved for all tables, and ``mechanism.proof.scope`` says which change
    of them: whose records, and how many of them. A custom question's file is proved for every
    function that gives such margins, as the function is not in it. A file for a graph is proved
    for the touching regions it lists: whether those are all of the graph's, only the graph can
    tell. Without the graph a dataset is a pair (region, depth).

    Parameters
    ----------
    path
        A file that ``mechanism.save`` wrote.

    Returns
    -------
    ExactMechanism
        The mechanism, ready to release.

    Raises
    ------
    InvalidFile
        If the file is damaged, or its rows do not keep what it promises, or it says anything that
        the proof did not read.

    Examples
    --------
    >>> import tempfile
    >>> from rainbowdp import DP, Winner, best
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = best(Winner(["red", "green"]), DP(1)).save(f"{folder}/poll.json")
    ...     mechanism = load(path)
    >>> mechanism.name
    'homogeneous'
    >>> mechanism.proof.scope
    'for tables of every size, one record substituted'

    """
    return from_text(read_text(path), path)


def from_text(text: str, path: str | PathLike[str]) -> ExactMechanism:
    """The mechanism that ``text``, the content of the file ``path``, holds, proved again."""
    return _proved_again(restore, parse_document(text, path, FORMAT, VERSION), path)


def load_count(path: str | PathLike[str]) -> ExactCount:
    """Read the file of a count and prove it again, from its integers alone.

    Parameters
    ----------
    path
        A file that the ``save`` of a count's mechanism wrote.

    Returns
    -------
    ExactCount
        The question, the guarantee and the noise.

    Raises
    ------
    InvalidFile
        If the file is damaged, or its noise does not keep what it promises, or it says anything
        that the proof did not read.

    Examples
    --------
    >>> import tempfile
    >>> from rainbowdp import DP, Count, best
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = load_count(best(Count(), DP(1)).save(f"{folder}/count.json"))
    >>> found.guarantee, found.proof.scope
    (DP(epsilon=1), 'for tables of every size, one record substituted')

    """
    content = parse_document(read_text(path), path, COUNT_FORMAT, COUNT_VERSION)
    return _proved_again(_count, content, path)


def load_any(path: str | PathLike[str]) -> ExactMechanism | ExactCount:
    """Read the file of a mechanism or of a count, whichever it says it is."""
    text = read_text(path)
    content = parse(text, path)
    if isinstance(content, dict) and content.get("format") == COUNT_FORMAT:
        return load_count(path)
    return from_text(text, path)


def _count(content: Mapping[str, Any]) -> ExactCount:
    """The count that ``ExactCount.describe`` described; making it proves it."""
    found = ExactCount(
        Count.restore(content["question"]),
        restore_guarantee(content["guarantee"]),
        NoiseRow.restore(content["noise"]),
    )
    _must_say_the_same(found.describe(), content)
    return found


def _proved_again(
    make: Callable[[Mapping[str, Any]], Found], content: Mapping[str, Any], path: object
) -> Found:
    """What a file's content makes; a file that does not keep its guarantee is refused."""
    try:
        return make(content)
    except RainbowError as error:
        raise InvalidFile(
            f"a mechanism file must keep its guarantee, got {path}: {_short(str(error))}"
        ) from error
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        said = _short(repr(error))
        raise InvalidFile(f"a mechanism file must be complete, got {path}: {said}") from error


def _short(said: str) -> str:
    """A message that quotes a file, at a length that can be read."""
    return said if len(said) <= _MOST_SAID else f"{said[:_MOST_SAID]}…"


def restore(content: Mapping[str, Any]) -> ExactMechanism:
    """The mechanism that ``ExactMechanism.describe`` described; making it proves it."""
    given = {key: value for key, value in content.items() if key != "checksum"}
    answers = tuple(name_from_json(answer) for answer in content["answers"])
    question = content["question"]
    kinds = {family.kind: family for family in FAMILIES}
    if content["rule"] not in kinds:
        raise InvalidFile(f"a rule must be one of {', '.join(kinds)}, got {brief(content['rule'])}")
    rule = kinds[content["rule"]].rule.restore(content)
    asked = None if question is None else _asked(question)
    if asked is not None and asked.answers != answers:
        raise InvalidFile(f"the question has the answers {asked.answers}, the rows {answers}")
    mixing = exact(content["mixing"], "mixing", InvalidFile)
    if not 0 <= mixing <= MOST_MIXING:
        raise InvalidFile(f"mixing must be at most {MOST_MIXING}, got {mixing}")
    found = ExactMechanism(
        restore_guarantee(content["guarantee"]),
        answers,
        rule,
        neighbors=content["neighbors"],
        question=question,
        mixing=mixing,
        locate=key_finder(asked, rule) if isinstance(asked, CountQuestion) else None,
    )
    _must_say_the_same(found.describe(), given)
    return found


def _asked(described: Mapping[str, Any]) -> CountQuestion | Custom:
    """The described question; of a custom one all but its function, which no file holds."""
    if described["kind"] != "custom":
        asked: CountQuestion | Custom = with_margins(described)
    else:
        parts = {key: value for key, value in described.items() if key not in ("kind", "groups")}
        groups = [(name, _group(rule)) for name, rule in described["groups"]]
        asked = Custom(function=_no_function, groups=groups, **parts)
    _must_say_the_same(asked.describe(), described)
    return asked


def _group(rule: Mapping[str, Any]) -> Equals | Between:
    if "equals" in rule:
        return Equals(checked_column(rule["equals"], "equals") or "")
    low, high = (None if rule[side] is None else end(rule[side], side) for side in ("low", "high"))
    return Between(low, high, closed=rule["closed"] is True)


def _no_function(dataset: Any) -> dict[str, int]:
    raise InvalidQuestion("the function of a custom question is not in its file: make it again")


def _must_say_the_same(found: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Refuse a file that says more, less or something else than what was understood.

    So there is nothing in it that a reader could see and the proof did not: no unknown key, no
    float, truth value or text where an integer is meant.
    """
    for key in [*given, *(key for key in found if key not in given)]:
        if key not in found:
            raise InvalidFile(f"a mechanism file has no key {brief(key)}: leave it out")
        if key not in given or not _same(found[key], given[key]):
            raise InvalidFile(
                f"a mechanism file must be as it was written, got another {brief(key)}"
            )


def _same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
