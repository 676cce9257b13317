"""Reading mechanism files: JSON that proves itself.

A file holds the guarantee, the answers, the neighbor relation, every integer weight and a
checksum. Loading checks the sum, and then proves the guarantee from the weights again: a file
that was changed, or whose rows do not keep what they promise, is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

from rainbowdp.errors import InvalidFile, RainbowError
from rainbowdp.exact.mechanism import FORMAT, VERSION, ExactMechanism, key_finder
from rainbowdp.exact.names import name_from_json
from rainbowdp.exact.steps import MOST_MIXING
from rainbowdp.guarantees.descriptions import restore_guarantee
from rainbowdp.numeric.quantity import exact
from rainbowdp.questions import from_description
from rainbowdp.rules import FAMILIES
from rainbowdp.storage.documents import parse_document, read_text


def load(path: str | PathLike[str]) -> ExactMechanism:
    """Read a mechanism file and prove it again, from its integers alone.

    A file for a question is proved for all tables. A file for a graph is proved for the touching
    regions it lists: whether those are all of the graph's, only the graph can tell. Without the
    graph a dataset is a pair (region, depth).

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
        If the file is damaged, or its rows do not keep what it promises.

    """
    return from_text(read_text(path), path)


def from_text(text: str, path: str | PathLike[str]) -> ExactMechanism:
    """The mechanism that ``text``, the content of the file ``path``, holds, proved again."""
    content = parse_document(text, path, FORMAT, VERSION)
    try:
        return restore(content)
    except RainbowError as error:
        raise InvalidFile(
            f"a mechanism file must keep its guarantee, got {path}: {error}"
        ) from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InvalidFile(f"a mechanism file must be complete, got {path}: {error!r}") from error


def restore(content: Mapping[str, Any]) -> ExactMechanism:
    """The mechanism that ``ExactMechanism.describe`` described; making it proves it."""
    answers = tuple(name_from_json(answer) for answer in content["answers"])
    question = content["question"]
    kinds = {family.kind: family for family in FAMILIES}
    if content["rule"] not in kinds:
        raise InvalidFile(f"a rule must be one of {', '.join(kinds)}, got {content['rule']!r}")
    rule = kinds[content["rule"]].rule.restore(content)
    locate = None
    if question is not None and question["kind"] != "custom":
        asked = from_description(question)
        if asked.answers != answers:
            raise InvalidFile(f"the question has the answers {asked.answers}, the rows {answers}")
        locate = key_finder(asked, rule)
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
