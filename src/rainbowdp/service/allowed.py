"""What a curator lets analysts ask: kinds, columns, and the values that questions may name.

Everything that a question can look at or name goes through here: its column and what it lists or
matches, its condition, its groups, its weight and the functions it applies. What is not listed is
refused with a sentence that says what is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rainbowdp.errors import InvalidQuestion
from rainbowdp.questions import Grouped, Restored
from rainbowdp.questions.conditions import Missing, OneOf, tests
from rainbowdp.questions.ends import described, end
from rainbowdp.questions.where import condition_of
from rainbowdp.service.config import ANY, Column, DatasetSettings, Listed
from rainbowdp.service.problems import Code, Problem

_MOST_LISTED = 20


def must_be_allowed(question: Restored, settings: DatasetSettings) -> None:
    """Raise unless the curator lists all that a question looks at."""
    asked = question.describe()
    kind = asked["kind"]
    if settings.kinds is not None and kind not in settings.kinds:
        raise Problem(
            Code.NOT_ALLOWED_KIND,
            f"Questions of kind {kind} may not be asked here. These may: "
            f"{_listed(settings.kinds)}.",
        )
    if question.column is None:
        raise Problem(
            Code.NOT_ALLOWED_COLUMN,
            f"A question must name a column. There are {_listed(settings.columns)}.",
        )
    column = _column(asked["column"], settings)
    _check_function(asked.get("apply"), column, asked["column"])
    _check_values(asked, column)
    if asked.get("weight") is not None:
        _check_weight(asked["weight"], settings)
    if isinstance(question, Grouped):
        _check_groups(question, settings)
    _check_condition(asked.get("where"), settings)


def _column(name: str, settings: DatasetSettings) -> Column:
    found = settings.columns.get(name)
    if found is None:
        raise Problem(
            Code.NOT_ALLOWED_COLUMN,
            f"There is no column {name!r} to ask about. There are {_listed(settings.columns)}.",
        )
    return found


def _check_function(function: str | None, column: Column, name: str) -> None:
    if function is not None and function not in column.apply:
        allowed = f"these may: {_listed(column.apply)}" if column.apply else "none may"
        raise Problem(
            Code.NOT_ALLOWED_COLUMN,
            f"{function} may not be applied to column {name!r}; {allowed}.",
        )


def _check_values(asked: dict[str, Any], column: Column) -> None:
    """The values that a question lists, matches or counts between."""
    name, kind = asked["column"], asked["kind"]
    if kind == "keys":
        if not column.keys:
            raise Problem(
                Code.NOT_ALLOWED_COLUMN,
                f"The values of column {name!r} may not be asked for. {_uses(column)}",
            )
        return
    named = asked.get("answers") if kind == "winner" else asked.get("among")
    if kind in ("winner", "ranking"):
        rest = {what: asked[what] for what in ("other", "missing") if asked[what] is not None}
        for what in rest:
            if not getattr(column, what):
                raise Problem(
                    Code.NOT_ALLOWED_COLUMN,
                    f"{what} may not be an answer of column {name!r}. Leave it out.",
                )
        _check_listed(
            [one for one in named or () if one not in rest.values()],
            column.answers,
            name,
            "answers",
        )
    elif kind in ("quantile", "quantiles"):
        edges = [edge for pair in asked["bins"] for edge in pair if edge is not None]
        _check_edges(edges, column.bins, name)
    elif asked["equals"] is not None:
        _check_listed([asked["equals"]], column.answers, name, "answers")
    else:
        ends = [one for one in (asked["minimum"], asked["maximum"]) if one is not None]
        _check_edges(ends, column.bins, name)


def _check_groups(question: Grouped, settings: DatasetSettings) -> None:
    name = question.by.column or ""
    column = _column(name, settings)
    _check_function(question.by.apply, column, name)
    _check_listed(question.by.names, column.groups, name, "groups")
    if question.public and not column.groups_are_public:
        raise Problem(
            Code.NOT_ALLOWED_COLUMN,
            f"The groups of column {name!r} are not public. Leave out groups_are_public.",
        )


def _check_weight(weight: dict[str, Any], settings: DatasetSettings) -> None:
    from fractions import Fraction

    name = weight["column"]
    column = _column(name, settings)
    if column.weight is None or Fraction(weight["limit"]) > Fraction(column.weight):
        allowed = "" if column.weight is None else f" with a limit above {column.weight}"
        raise Problem(
            Code.NOT_ALLOWED_COLUMN, f"Rows may not be weighed by column {name!r}{allowed}."
        )


def _check_condition(where: str | None, settings: DatasetSettings) -> None:
    condition = condition_of(where)
    if condition is None:
        return
    for test in tests(condition):
        column = _column(test.column, settings)
        if column.filter == "no":
            usable = [name for name, one in settings.columns.items() if one.filter != "no"]
            raise Problem(
                Code.NOT_ALLOWED_COLUMN,
                f"Conditions may not look at column {test.column!r}. They may look at "
                f"{_listed(usable) or 'none'}.",
            )
        _check_function(test.apply, column, test.column)
        if column.filter == "any" or isinstance(test, Missing):
            continue
        if isinstance(test, OneOf):
            values = [str(v).lower() if isinstance(v, bool) else v for v in test.values]
            texts = [v for v in values if isinstance(v, str)]
            _check_listed(texts, _together(column.answers, column.groups), test.column, "answers")
            numbers = [v for v in values if not isinstance(v, str)]
            known = _together(column.bins, column.answers)
            _check_edges(numbers, known, test.column)
        else:
            _check_edges([described(test.end)], column.bins, test.column)


def _together(one: Listed, other: Listed) -> Listed:
    return ANY if ANY in (one, other) else (*one, *other)


def _check_listed(values: Iterable[str], allowed: Listed, name: str, what: str) -> None:
    if allowed == ANY:
        return
    for value in values:
        if value not in allowed:
            known = f"These are: {_listed(allowed)}" if allowed else "It has none"
            raise Problem(
                Code.NOT_ALLOWED_VALUE,
                f"{_shown(value)} is not among the {what} of column {name!r} that may be asked "
                f"about. {known}.",
            )


def _check_edges(edges: Iterable[Any], allowed: Listed, name: str) -> None:
    if allowed == ANY:
        return
    known = {_edge(one) for one in allowed}
    for edge in edges:
        if _edge(edge) not in known:
            told = f"These are: {_listed(allowed)}" if allowed else "It has none"
            raise Problem(
                Code.NOT_ALLOWED_VALUE,
                f"{_shown(edge)} is not among the edges of column {name!r} that may be asked "
                f"about. {told}.",
            )


def _edge(given: Any) -> Any:
    """An edge as questions hold it, so that 10 and 10.0 are one; a text that is none as it is."""
    try:
        return end(given, "an edge")
    except InvalidQuestion:
        return given


def _uses(column: Column) -> str:
    """What a column may be used for."""
    uses = [
        what
        for what, able in (
            ("its listed answers", bool(column.answers)),
            ("its bins", bool(column.bins)),
            ("groups", bool(column.groups)),
            ("conditions", column.filter != "no"),
        )
        if able
    ]
    return f"It may be asked about by {_listed(uses)}." if uses else "It may not be asked about."


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    shown = ", ".join(map(_shown, every[:_MOST_LISTED]))
    more = len(every) - _MOST_LISTED
    return shown if more <= 0 else f"{shown} and {more:,} more"


def _shown(value: object) -> str:
    text = str(value)
    text = text if len(text) <= 60 else f"{text[:59]}…"
    return text if text.isprintable() and text.strip() == text and text else repr(text)
