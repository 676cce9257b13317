"""The text of a condition, as in the WHERE of SQL, to a ``Condition`` and back.

sqlglot parses it, and then a list of what is allowed decides: columns, a few functions of one value
(``functions.py``), literals, comparisons, ``in``, ``between``, ``is null``, ``and``, ``or`` and
``not``. Everything else that SQL has is refused by name, so nothing in a condition reads a file,
calls out, aggregates or sees another record.

``canonical`` is the one text of all conditions that are the same but for spaces, comments, capitals
of keywords, parentheses, double negation, and the order and repetition of parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any as Node  # of sqlglot's tree, whose class has not one name in all versions

from rainbowdp.errors import InvalidQuestion
from rainbowdp.expecting import brief
from rainbowdp.questions.conditions import (
    All,
    Any,
    Below,
    Condition,
    Missing,
    Not,
    OneOf,
    Value,
    tests,
)
from rainbowdp.questions.ends import End, moment, shown
from rainbowdp.questions.functions import FIELDS, FUNCTIONS, LETTERS, exact_end, undone

LONGEST = 20_000  # characters
_DEEPEST, _MOST_TESTS, _MOST_VALUES = 50, 200, 1000  # what every engine takes
_MOST_DIGITS = 300
_SHOWN = 60
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MIRRORED = {"LT": "GT", "LTE": "GTE", "GT": "LT", "GTE": "LTE", "EQ": "EQ", "NEQ": "NEQ"}
_EXAMPLE = "write a condition such as age > 65 and ward = 'X'"


def canonical(where: str | None) -> str | None:
    """The canonical text of a condition, or ``None`` for none.

    >>> canonical("Ward = 'X'  AND (65 < age OR age is not null)")
    "Ward = 'X' and (age > 65 or age is not null)"
    """
    return None if where is None else _read(_checked(where))[1]


def condition_of(where: str | None) -> Condition | None:
    """The condition that a text spells, or ``None`` for none."""
    return None if where is None else _read(_checked(where))[0]


def _checked(where: object) -> str:
    if not isinstance(where, str) or not where.strip():
        raise InvalidQuestion(f"where must be a text, got where={brief(where)}: {_EXAMPLE}")
    _check_length(where)
    try:
        where.encode()
    except UnicodeEncodeError:
        where = "\0"
    if "\0" in where:
        raise InvalidQuestion("where must be valid text without NUL characters: remove them")
    return where


@lru_cache(maxsize=256)
def _read(where: str) -> tuple[Condition, str]:
    try:
        condition = _normal(_condition(_parsed(where)))
        _check_size(condition)
        for test in tests(condition):
            for _, rule in test.groups:
                undone(test.apply, rule)  # or raise
        text = _text(condition)
    except RecursionError:
        raise _too_deep() from None
    _check_length(text)  # it must be read again out of a file
    return condition, text


def _check_length(text: str) -> None:
    if len(text) > LONGEST:
        raise InvalidQuestion(
            f"where must have at most {LONGEST:,} characters, got {len(text):,}: shorten it"
        )


def _check_size(condition: Condition) -> None:
    found = list(tests(condition))
    values = sum(len(test.values) for test in found if isinstance(test, OneOf))
    if len(found) > _MOST_TESTS or values > _MOST_VALUES:
        raise InvalidQuestion(
            f"where may have {_MOST_TESTS} comparisons and {_MOST_VALUES} listed values, "
            f"got {len(found)} and {values}: shorten it"
        )
    if _depth(condition) > _DEEPEST:
        raise _too_deep()


def _too_deep() -> InvalidQuestion:
    return InvalidQuestion(f"where is nested more than {_DEEPEST} deep: simplify it")


def _depth(condition: Condition) -> int:
    if isinstance(condition, Not):
        return 1 + _depth(condition.part)
    if isinstance(condition, All | Any):
        return 1 + max(map(_depth, condition.parts))
    return 0


# --- From text ----------------------------------------------------------------------------------


def _parsed(where: str) -> Node:
    """The syntax tree of a text that is one expression."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        several = any(t.token_type.name == "SEMICOLON" for t in sqlglot.tokenize(where))
        # In parentheses, so that a column may be called like a statement; on lines of their own,
        # so that a comment ends.
        (tree,) = [None] if several else sqlglot.parse(f"(\n{where}\n)")
    except (SqlglotError, ValueError):
        raise InvalidQuestion(
            f"where cannot be read as a condition, got {_short(where)}: check quotes and "
            f"parentheses, and {_EXAMPLE}"
        ) from None
    if tree is None:
        raise InvalidQuestion(
            "where must be one condition without a semicolon, got several statements: keep the "
            "condition alone"
        )
    if type(tree).__name__ != "Paren":
        raise _refused(tree)
    return tree


def _condition(node: Node) -> Condition:
    kind = type(node).__name__
    if kind == "Paren":
        return _condition(_only(node, "this"))
    if kind == "Not":
        return Not(_condition(_only(node, "this")))
    if kind in ("And", "Or"):
        _only(node, "this", "expression")
        parts = tuple(_condition(part) for part in node.flatten())
        return All(parts) if kind == "And" else Any(parts)
    if kind in _MIRRORED:
        return _comparison(node, kind)
    if kind == "In":
        return _in(node)
    if kind == "Between":
        _only(node, "this", "low", "high")
        low, high = node.args["low"], node.args["high"]
        column, apply = _term(node.this)
        return All((_ordered(column, apply, "GTE", low), _ordered(column, apply, "LTE", high)))
    if kind == "Is":
        return _is(node)
    if kind == "Column":
        column, _ = _term(node)
        raise InvalidQuestion(
            f"where must compare the column {brief(column)} with something: write "
            f"{_name(column)} = true"
        )
    if kind in ("Literal", "Boolean"):
        raise InvalidQuestion(f"where must compare a column, got {_sql(node)} alone: {_EXAMPLE}")
    raise _refused(node)


def _comparison(node: Node, kind: str) -> Condition:
    _only(node, "this", "expression")
    one, other = node.this, node.args["expression"]
    if _is_literal(one) and not _is_literal(other):
        one, other, kind = other, one, _MIRRORED[kind]
    if type(one).__name__ in _MIRRORED:
        raise InvalidQuestion(
            f"where cannot compare a comparison, got {_sql(node)}: join two by and, or use between"
        )
    column, apply = _term(one)
    if kind in ("EQ", "NEQ"):
        equal = OneOf(column, apply, (_value(apply, other),))
        return equal if kind == "EQ" else Not(equal)
    return _ordered(column, apply, kind, other)


def _ordered(column: str, apply: str | None, kind: str, node: Node) -> Condition:
    """A comparison by order; one with the column above is the opposite of one below."""
    value = _value(apply, node)
    end: End
    if isinstance(value, bool):
        raise InvalidQuestion(f"where cannot order truth values, got {_sql(node)}: compare with =")
    if isinstance(value, str):
        time = None if apply in LETTERS else moment(value.strip())
        if time is None:
            raise InvalidQuestion(
                f"where orders numbers, dates and times, got the text {_sql(node)}: compare texts "
                "with =, <> or in, and write dates as '2024-12-31'"
            )
        end = time
    else:
        end = value
    below = Below(column, apply, end, kind in ("LTE", "GT"))
    return below if kind in ("LT", "LTE") else Not(below)


def _in(node: Node) -> Condition:
    for name, found in node.args.items():
        if name not in ("this", "expressions") and found:
            raise _refused(found)
    column, apply = _term(node.this)
    listed = [_value(apply, each) for each in node.expressions]
    if not listed:
        raise InvalidQuestion(
            f"where must list a value in the parentheses after {brief(column)} in, got none"
        )
    sorts = {bool if isinstance(v, bool) else str if isinstance(v, str) else int for v in listed}
    if len(sorts) > 1:
        raise InvalidQuestion(
            f"where compares {brief(column)} with values of several types in one list: list "
            "texts in "
            "quotes, or numbers without"
        )
    return OneOf(column, apply, tuple(listed))


def _is(node: Node) -> Condition:
    _only(node, "this", "expression")
    if type(node.args["expression"]).__name__ != "Null":
        raise InvalidQuestion(
            f"where knows is null and is not null, got {_sql(node)}: use = for anything else"
        )
    return Missing(*_term(node.this))


def _term(node: Node) -> tuple[str, str | None]:
    """A column, or a function of one, as its name and that of the function."""
    kind = type(node).__name__
    if kind == "Paren":
        return _term(_only(node, "this"))
    if kind == "Column":
        if any(node.args.get(part) for part in ("table", "db", "catalog")):
            raise InvalidQuestion(
                f"where names columns of one table, got {_sql(node)}: leave out what is before "
                f'the dot, or write a name with a dot in double quotes, "{node.sql()}"'
            )
        _only(node, "this")
        if type(node.this).__name__ == "Identifier" and node.name:
            return node.name, None
    if kind.lower() in FUNCTIONS:
        function = kind.lower()
        if set(_given(node)) != {"this"} or type(node.this).__name__ != "Column":
            raise InvalidQuestion(
                f"where applies {function} to one column alone, got {_sql(node)}: "
                f"write {function}(column)"
            )
        return _term(node.this)[0], function
    if _is_literal(node):
        raise InvalidQuestion(
            f"where must compare a column, got {_sql(node)} on the left and no column on the right"
        )
    raise _refused(node)


def _is_literal(node: Node) -> bool:
    kind = type(node).__name__
    return kind in ("Literal", "Boolean", "Null") or (kind == "Neg" and _is_literal(node.this))


def _value(apply: str | None, node: Node) -> Value:
    """A literal that the function, or any column, can be compared with."""
    value = _literal(node)
    text, number = isinstance(value, str), not isinstance(value, str | bool)
    if apply is not None and not (text if apply in LETTERS else number):
        gives = "texts" if apply in LETTERS else "numbers"
        raise InvalidQuestion(
            f"where compares {apply}(…), which gives {gives}, with {_sql(node)}: compare it with "
            + ("a text in quotes" if gives == "texts" else "a number without quotes")
        )
    if apply in FIELDS and not isinstance(value, int):
        raise InvalidQuestion(
            f"where compares {apply}(…), a whole number, with {_sql(node)}: use a whole number"
        )
    return value


def _literal(node: Node) -> Value:
    kind = type(node).__name__
    if kind == "Boolean":
        return bool(_only(node, "this"))
    if kind == "Literal" and node.args.get("is_string"):
        return str(node.this)
    if kind == "Literal":
        return _number(str(node.this), node)
    if kind == "Neg" and type(node.this).__name__ == "Literal" and not node.this.is_string:
        return -_number(str(node.this.this), node)
    if kind == "Null":
        raise InvalidQuestion("where cannot compare with null: write is null or is not null")
    if kind == "Column":
        raise InvalidQuestion(
            f"where compares a column with a value, got another column, {_sql(node)}: "
            "write a text in single quotes"
        )
    if kind.lower() in FUNCTIONS:
        raise InvalidQuestion(
            f"where compares a column with a value, got {_sql(node)}: write the value itself"
        )
    raise _refused(node)


def _number(text: str, node: Node) -> int | float:
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise _refused(node) from None
    if abs(number.adjusted()) > _MOST_DIGITS or len(text) > _MOST_DIGITS + 2:
        raise InvalidQuestion(
            f"a number in where must have at most {_MOST_DIGITS} digits, got {_sql(node)}"
        )
    return exact_end(number, "a number in where")


def _given(node: Node) -> Iterable[str]:
    """The names of what a node has."""
    return [name for name, value in node.args.items() if value is not None and value != []]


def _only(node: Node, *names: str) -> Node:
    """The first part of a node that has these parts and no others."""
    if any(name not in names and node.args[name] for name in _given(node)):
        raise _refused(node)
    first: Node = node.args[names[0]]
    return first


def _refused(node: Node) -> InvalidQuestion:
    """The error that names what is not allowed, and why."""
    from sqlglot import exp

    remedy = f"use comparisons, in, between, is null, and, or, not, and {', '.join(FUNCTIONS)}"
    inner = node.find(exp.Query, exp.Subquery, exp.Exists)
    if inner is not None:
        what = "a subquery, which sees other records"
    elif node.find(exp.Window) is not None:
        what = "a window function, which sees other records"
    elif (found := node.find(exp.AggFunc)) is not None:
        what = f"the aggregate {_function(found)}, which sees other records"
    elif isinstance(node, exp.Cast):
        what, remedy = (
            f"the cast {_sql(node)}",
            "write dates and times as '2024-12-31', and no casts",
        )
    elif isinstance(node, exp.Func) and not isinstance(node, exp.Case | exp.If):
        what = f"the function {_function(node)}, which it does not know"
    elif isinstance(node, exp.Placeholder | exp.Parameter):
        what = f"the placeholder {_sql(node)}, and there is nothing to fill it with"
    else:
        what = f"{_sql(node)}, which it does not know"
    return InvalidQuestion(f"where looks at one record at a time, got {what}: {remedy}")


def _function(node: Node) -> str:
    name = node.name if type(node).__name__ == "Anonymous" else node.key
    return str(name).lower()


def _sql(node: Node) -> str:
    return _short(node.sql(comments=False))


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN else f"{flat[:_SHOWN]}…"


# --- One of all that are the same ---------------------------------------------------------------


def _normal(condition: Condition) -> Condition:
    """The condition without double negation and repetition, its parts ordered by their text."""
    if isinstance(condition, Not):
        part = _normal(condition.part)
        return part.part if isinstance(part, Not) else Not(part)
    if isinstance(condition, All | Any):
        same = type(condition)
        parts: list[Condition] = []
        for part in map(_normal, condition.parts):
            parts += part.parts if isinstance(part, same) else [part]
        ordered = sorted(set(parts), key=_text)
        return ordered[0] if len(ordered) == 1 else same(tuple(ordered))
    if isinstance(condition, OneOf):
        values = sorted(set(condition.values), key=lambda value: (str(value), value))
        return OneOf(condition.column, condition.apply, tuple(values))
    return condition


def _text(condition: Condition) -> str:
    if isinstance(condition, Not):
        return _opposite(condition.part)
    if isinstance(condition, All):
        parts = (f"({_text(p)})" if isinstance(p, Any) else _text(p) for p in condition.parts)
        return " and ".join(parts)
    if isinstance(condition, Any):
        return " or ".join(map(_text, condition.parts))
    return _test(condition, "=", "in", "<=", "<", "is null")


def _opposite(part: Condition) -> str:
    if isinstance(part, OneOf | Below | Missing):
        return _test(part, "<>", "not in", ">", ">=", "is not null")
    return f"not ({_text(part)})"


def _test(
    test: OneOf | Below | Missing, equal: str, listed: str, included: str, below: str, null: str
) -> str:
    name = _name(test.column)
    term = name if test.apply is None else f"{test.apply}({name})"
    if isinstance(test, Missing):
        return f"{term} {null}"
    if isinstance(test, Below):
        end = test.end
        value = _spelled(end if isinstance(end, int | float) else shown(end))
        return f"{term} {included if test.included else below} {value}"
    values = ", ".join(map(_spelled, test.values))
    return f"{term} {equal} {values}" if len(test.values) == 1 else f"{term} {listed} ({values})"


def _spelled(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


def _name(column: str) -> str:
    """A column as the parser reads it again: in double quotes unless it is a plain word."""
    import sqlglot

    if _PLAIN.fullmatch(column):
        (token,) = sqlglot.tokenize(column)
        if token.token_type.name == "VAR":
            return column
    return '"' + column.replace('"', '""') + '"'
