"""From JSON back to the question: the inverse of ``describe``, for every kind that has one.

What has a default may be left out; what a kind does not have is refused, and so is a value that is
not of its type. So whatever JSON is given, there is a question or one sentence about what is wrong.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from typing import Any, TypeAlias

from rainbowdp.errors import InvalidQuestion
from rainbowdp.questions.base import CountQuestion
from rainbowdp.questions.count import Count
from rainbowdp.questions.grouped import Grouped
from rainbowdp.questions.keys import Keys
from rainbowdp.questions.proportion import ProportionTest
from rainbowdp.questions.quantile import Quantile
from rainbowdp.questions.quantiles import Quantiles
from rainbowdp.questions.ranking import Ranking
from rainbowdp.questions.share import Share
from rainbowdp.questions.threshold import Threshold
from rainbowdp.questions.weights import Weight
from rainbowdp.questions.winner import Winner

Restored: TypeAlias = CountQuestion | Count | ProportionTest | Keys | Grouped
Described: TypeAlias = Mapping[str, Any]

KINDS: dict[str, Callable[..., CountQuestion | Count | ProportionTest | Keys]] = {
    "winner": Winner,
    "ranking": Ranking,
    "share": Share,
    "threshold": Threshold,
    "quantile": Quantile,
    "quantiles": Quantiles,
    "count": Count,
    "proportion-test": ProportionTest,
    "keys": Keys,
}
_GROUPS = ("by", "groups_are_public")
_MOST_SHOWN = 60


def from_description(description: Described, defaults: Described | None = None) -> Restored:
    """The question that ``describe`` described.

    Parameters
    ----------
    description
        What ``describe`` returned; what has a default may be left out.
    defaults
        Other defaults than those of the question's class, of those that its kind has.

    Returns
    -------
    CountQuestion, Count, ProportionTest, Keys or Grouped
        The same question.

    Raises
    ------
    InvalidQuestion
        If it is of no known kind, has a key that its kind does not have, lacks one that it needs,
        or has a value that makes no sense.

    Examples
    --------
    >>> from_description({"kind": "winner", "answers": ["red", "green"], "column": "vote"}).column
    'vote'
    >>> from_description({"kind": "keys", "column": "ill"}, {"person": "patient"}).person
    'patient'

    """
    if not isinstance(description, Mapping):
        raise InvalidQuestion(f"a question must be an object with a kind, got {_kind(description)}")
    given = dict(description)
    kind = given.pop("kind", None)
    if kind == "custom":
        raise InvalidQuestion(
            f"the function of the custom question {_shown(given.get('name'))} is not in its "
            "description; make the question again with rb.Custom"
        )
    if not isinstance(kind, str) or kind not in KINDS:
        raise InvalidQuestion(f"kind must be one of {', '.join(KINDS)}, got kind={_shown(kind)}")
    groups = {key: given.pop(key) for key in _GROUPS if key in given}
    known, needed = _parameters(kind)
    for key in given:
        if key not in known:
            raise InvalidQuestion(
                f"a question of kind {kind} has no {_shown(key)}: it has {', '.join(known)}"
            )
    for key in needed:
        if key not in given:
            raise InvalidQuestion(f"a question of kind {kind} needs {key}, got none")
    others = {key: value for key, value in (defaults or {}).items() if key in known}
    values = {**others, **{key: _READ[key](value, key) for key, value in given.items()}}
    question = KINDS[kind](**values)
    return _in_groups(question, groups) if groups else question


def with_margins(description: Described) -> CountQuestion:
    """The same where it must be a question that has margins, as that of a mechanism file has.

    >>> with_margins(Winner(["red", "green"], "choice").describe()).column
    'choice'
    """
    question = from_description(description)
    if not isinstance(question, CountQuestion):
        raise InvalidQuestion(
            f"a question with listed answers is needed here, got one of kind {description['kind']}"
        )
    return question


@cache
def _parameters(kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a kind may have, and what it must have."""
    parameters = inspect.signature(KINDS[kind]).parameters.values()
    return (
        tuple(one.name for one in parameters),
        tuple(one.name for one in parameters if one.default is one.empty),
    )


def _in_groups(question: Restored, groups: Described) -> Grouped:
    """The question in each of many groups."""
    public = _truth(groups.get("groups_are_public", False), "groups_are_public")
    by = _object(groups.get("by"), "by", ("column", "groups"), ("apply",))
    names = _texts(by["groups"], "the groups of by")
    column = _text(by["column"], "the column of by")
    apply = _text(by.get("apply"), "the apply of by")
    return Grouped(question, column, names, public=public, apply=apply)


# --- Values of JSON, each of its type -------------------------------------------------------------


def _text(value: Any, what: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise _wrong(what, "a text or null", value)


def _texts(value: Any, what: str) -> list[str]:
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return list(value)
    raise _wrong(what, "a list of texts", value)


def _truth(value: Any, what: str) -> bool:
    if isinstance(value, bool):
        return value
    raise _wrong(what, "true or false", value)


def _whole(value: Any, what: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise _wrong(what, "a whole number", value)


def _number(value: Any, what: str) -> int | float | Decimal | str:
    if isinstance(value, int | float | Decimal | str) and not isinstance(value, bool):
        return value
    raise _wrong(what, "a number or a text that spells one", value)


def _numbers(value: Any, what: str) -> list[int | float | Decimal | str]:
    if isinstance(value, list | tuple):
        return [_number(one, what) for one in value]
    raise _wrong(what, "a list of numbers", value)


def _end(value: Any, what: str) -> Any:
    return None if value is None else _number(value, what)


def _matched(value: Any, what: str) -> Any:
    return value if isinstance(value, bool) else _end(value, what)


def _bins(value: Any, what: str) -> list[Any]:
    """Edges, or pairs of them."""
    if not isinstance(value, list | tuple):
        raise _wrong(what, "a list of edges or of pairs", value)
    return [
        [_end(edge, "a bin edge") for edge in one]
        if isinstance(one, list | tuple)
        else _end(one, "a bin edge")
        for one in value
    ]


def _weight(value: Any, what: str) -> Weight | None:
    if value is None:
        return None
    given = _object(value, what, ("column", "limit"), ("places",))
    places = _whole(given.get("places", 3), "the places of a weight")
    column = _text(given["column"], "the column of a weight") or ""
    return Weight(column, _number(given["limit"], "the limit of a weight"), places)


def _object(
    value: Any, what: str, needed: tuple[str, ...], optional: tuple[str, ...]
) -> dict[str, Any]:
    names = (*needed, *optional)
    if isinstance(value, Mapping) and set(needed) <= set(value) <= set(names):
        return dict(value)
    raise _wrong(what, f"an object with {', '.join(names)}", value)


_READ: dict[str, Callable[[Any, str], Any]] = {
    **dict.fromkeys(("answers", "among"), _texts),
    **dict.fromkeys(("column", "other", "missing", "person", "apply", "where"), _text),
    **dict.fromkeys(("ties", "neighbors", "person_rule"), _text),
    **dict.fromkeys(("first", "at_most", "records"), _whole),
    **dict.fromkeys(("rows_per_person", "keys_per_person"), _whole),
    **dict.fromkeys(("in_order", "closed_ends"), _truth),
    **dict.fromkeys(("at_least", "above", "alpha", "q"), _number),
    **dict.fromkeys(("minimum", "maximum"), _end),
    "equals": _matched,
    "qs": _numbers,
    "bins": _bins,
    "weight": _weight,
}


def _wrong(what: str, wanted: str, value: Any) -> InvalidQuestion:
    return InvalidQuestion(f"{what} must be {wanted}, got {_kind(value)}")


def _kind(value: Any) -> str:
    """What a value of JSON is, in a word or two."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    return _shown(value)


def _shown(value: Any) -> str:
    """A value for a message, cut short."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of more than 4300 digits, or very deep
        return "one that is too long to show"
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
