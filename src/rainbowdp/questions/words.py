"""A question as a person would ask it.

It is made from the question's description, which is what a ledger keeps, so that old entries and
new ones read the same: "Which of red, green and blue is most frequent in column choice, where
age > 65?". Everything that changes the answer is said, in sentences after the question where it
does not fit into it; long lists are cut short, because the description has all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from rainbowdp.questions.quantile import ranges_of
from rainbowdp.questions.relations import Neighbors, PersonRule
from rainbowdp.questions.units import Unit

_MOST_LISTED = 8
_LONGEST = 60  # characters of one name
_MOST_COUNT = 10**9  # of a count that is not cut off
_FUNCTIONS = {
    "lower": "{} in lower case",
    "floor": "{} rounded down",
    "round": "{} rounded",
}
Description = Mapping[str, Any]


def in_words(description: Description) -> str:
    """The question that ``describe`` described, in plain English.

    A description of another kind, which somebody else's mechanism paid for, is read out.

    Parameters
    ----------
    description
        What ``describe`` returned, or what a ledger's entry has as its question.

    Returns
    -------
    str
        One question, and what else has to be said in sentences after it.

    Examples
    --------
    >>> from rainbowdp.questions import Quantile, Winner
    >>> in_words(Winner(["red", "green"], "choice", where="age > 65").describe())
    'Which of red and green is most frequent in column choice, where age > 65?'
    >>> in_words(Quantile("0.9", [0, 10, 20, 30], "wait").describe())
    'Which bin holds the 90th percentile of column wait: < 10, [10, 20) or ≥ 20?'

    """
    asked = _KINDS.get(str(description.get("kind")))
    try:
        if asked is None:
            raise KeyError
        first, *then = asked(description)
        question = f"{first}{_where(description)}{_by(description)}{_bins(description)}?"
        return " ".join([question, *then, *_weight(description), *_people(description)])
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return _read_out(description)


def change_in_words(unit: Unit, neighbors: str) -> str:
    """What one change of a table is, which a guarantee hides, in a sentence.

    Parameters
    ----------
    unit
        Whose data it is.
    neighbors
        ``"substituted"`` or ``"added or removed"``.

    Returns
    -------
    str
        Which tables are neighbors.

    Examples
    --------
    >>> change_in_words(Unit(person="patient"), "added or removed")
    'Neighboring tables differ in all rows of one person (column patient), who is added or removed.'

    """
    if unit.person is not None:
        rows, which = f"all rows of one person (column {_name(unit.person)})", "who"
    elif unit.rows_per_person > 1:
        most = f"at most {unit.rows_per_person} as the owner promises"
        rows, which = f"the rows of one person, {most}", "who"
    else:
        rows, which = "one row", "which"
    change = "replaced by another" if neighbors == Neighbors.SUBSTITUTED else "added or removed"
    return f"Neighboring tables differ in {rows}, {which} is {change}."


def _listed(words: Iterable[str], last: str = "and", most: int = _MOST_LISTED) -> str:
    """A list in a sentence, cut short where it is long.

    >>> _listed(["red", "green", "blue"]), _listed("abcdefghijk", most=3)
    ('red, green and blue', 'a, b, c and 8 more')
    """
    every = list(words)
    if len(every) > most:
        every = [*every[:most], f"{len(every) - most:,} more"]
        last = "and"
    return every[0] if len(every) == 1 else f"{', '.join(every[:-1])} {last} {every[-1]}"


def _name(given: object) -> str:
    """A name as it stands in a sentence: in quotes where it would be misread.

    >>> _name("age in years"), _name("green, dark")
    ('age in years', "'green, dark'")
    """
    text = str(given)
    if len(text) > _LONGEST:
        text = text[: _LONGEST - 1] + "…"
    plain = text.isprintable() and text == text.strip() and text != ""
    return text if plain and not set(text) & set("'\"?;") and ", " not in text else repr(text)


# --- What is asked ------------------------------------------------------------------------------


def _winner(asked: Description) -> list[str]:
    return [f"Which of {_answers(asked, 'answers')} is most frequent in {_data(asked)}"]


def _ranking(asked: Description) -> list[str]:
    first = asked["first"]
    names = _answers(asked, "among")
    if first == 1:
        return [f"Which of {names} is most frequent in {_data(asked)}"]
    order = "in order" if asked["in_order"] else "in any order"
    return [f"Which are the {first} most frequent of {names} in {_data(asked)}, {order}"]


def _threshold(asked: Description) -> list[str]:
    least = _number(asked["at_least"])
    if asked["column"] is None:
        return [f"Is the given count at least {least}", *_named_answers(asked)]
    if asked.get("weight") is not None:
        what = f"Do records with {_matching(asked)} weigh at least {least} in total"
    else:
        some = "1 record" if least == "1" else f"{least} records"
        verb = "Does" if least == "1" else "Do"
        what = f"{verb} at least {some} have {_matching(asked)}"
    return [what, *_named_answers(asked)]


def _count(asked: Description) -> list[str]:
    most = asked["at_most"]
    rest = [] if most >= _MOST_COUNT else [f"More than {most:,} are answered as {most:,}."]
    if asked["column"] is None:
        return ["How large is the given count", *rest]
    return [f"How many records have {_matching(asked)}", *rest]


def _share(asked: Description) -> list[str]:
    share = _percent(asked["at_least"])
    if asked["column"] is None:
        return [f"Are at least {share} of the given counts matching ones", *_named_answers(asked)]
    if asked.get("weight") is not None:
        what = f"Do records with {_matching(asked)} have at least {share} of the weight"
    else:
        what = f"Do at least {share} of records have {_matching(asked)}"
    return [what, *_named_answers(asked)]


def _test(asked: Description) -> list[str]:
    what = "match" if asked["column"] is None else f"have {_matching(asked)}"
    share, level = _percent(asked["above"]), _percent(asked["alpha"])
    records = f"{asked['records']:,} records"
    return [f"Do significantly more than {share} of {records} {what}, at the {level} level"]


def _keys(asked: Description) -> list[str]:
    given = asked["column"] is None
    what = "of the given keys are there" if given else f"values does {_data(asked)} have"
    limit, person = asked["keys_per_person"], asked["person"]
    values = "one value" if limit == 1 else f"{limit} values"
    rules = ["Those that enough people have are named."]
    if person is not None:
        rules.append(f"At most {values} of each person (column {_name(person)}) count.")
    elif limit > 1:
        rules.append(f"Each person has at most {values}, as was promised.")
    return [f"Which {what}", *rules]


def _quantile(asked: Description) -> list[str]:
    return [f"Which bin holds {_quantile_name([asked['q']])} of {_data(asked)}"]


def _quantiles(asked: Description) -> list[str]:
    return [f"Which bins hold {_quantile_name(asked['qs'])} of {_data(asked)}"]


def _plan(asked: Description) -> list[str]:
    """All questions of a plan, by name; they are asked at once."""
    each = [f"{_name(one['name'])}: {in_words(one['question'])}" for one in asked["questions"]]
    return [f"What are the answers to a plan of {len(each)} questions", *each]


def _custom(asked: Description) -> list[str]:
    about = "" if asked["column"] is None else f" of {_data(asked)}"
    answers = _listed(map(_name, asked["answers"]), "or")
    rule = "A function of the user's own decides."
    return [f"What is {_name(asked['name'])}{about}: {answers}", rule]


_KINDS: dict[str, Callable[[Description], list[str]]] = {
    "winner": _winner,
    "ranking": _ranking,
    "threshold": _threshold,
    "count": _count,
    "share": _share,
    "proportion-test": _test,
    "keys": _keys,
    "quantile": _quantile,
    "quantiles": _quantiles,
    "custom": _custom,
    "plan": _plan,
}


# --- Of what ------------------------------------------------------------------------------------


def _data(asked: Description) -> str:
    """The column, or a function of it, or the counts that were given."""
    if asked["column"] is None:
        return "the given counts"
    return _column(asked["column"], asked.get("apply"))


def _column(name: str, apply: str | None) -> str:
    column = f"column {_name(name)}"
    return column if apply is None else _FUNCTIONS.get(apply, f"the {apply} of {{}}").format(column)


def _answers(asked: Description, key: str) -> str:
    """Listed answers; the names for all other values, and for none, say what they stand for."""
    rest = {asked["other"]: "any other value", asked["missing"]: "no value"}
    return _listed(_name(a) + (f" ({rest[a]})" if a in rest else "") for a in asked[key])


def _matching(asked: Description) -> str:
    """What a matching record has."""
    column = _column(asked["column"], asked.get("apply"))
    low, high = asked["minimum"], asked["maximum"]
    if asked["equals"] is not None:
        return f"{_name(asked['equals'])} in {column}"
    later, earlier = ("later", "earlier") if isinstance(low or high, str) else ("more", "less")
    if low is None:
        return f"{high} or {earlier} in {column}"
    if high is None:
        return f"{low} or {later} in {column}"
    return f"{low} to {high} in {column}"


def _named_answers(asked: Description) -> list[str]:
    yes, no = asked["answers"]
    if (yes, no) == ("yes", "no"):
        return []
    return [f"The answer is {_name(yes)} if so and {_name(no)} if not."]


def _quantile_name(qs: Sequence[str]) -> str:
    """The median, a percentile or a quantile, or several of them."""
    shares = [Fraction(q) for q in qs]
    if shares == [Fraction(1, 2)]:
        return "the median"
    if all((100 * share).denominator == 1 for share in shares):
        names = [_ordinal(int(100 * share)) for share in shares]
        kind = "percentile"
    else:
        names, kind = [_number(q) for q in qs], "quantile"
    return f"the {_listed(names, most=9)} {kind}{'s' if len(names) > 1 else ''}"


def _bins(asked: Description) -> str:
    bins = asked.get("bins")
    if bins is None:
        return ""
    return ": " + _listed(map(str, ranges_of([(low, high) for low, high in bins])), "or")


# --- Which records, and whose -------------------------------------------------------------------


def _where(asked: Description) -> str:
    where = asked.get("where")
    if where is None:
        return ""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in where)
    return f", where {shown}"


def _by(asked: Description) -> str:
    by = asked.get("by")
    if by is None:
        return ""
    groups = by["groups"]
    each = f"each of {_listed(map(_name, groups))}" if len(groups) > 1 else _name(groups[0])
    where = "" if by["column"] is None else f" in {_column(by['column'], by['apply'])}"
    return f", for {each}{where}"


def _weight(asked: Description) -> list[str]:
    weight = asked.get("weight")
    if weight is None:
        return []
    most = _number(weight["limit"])
    return [f"Records weigh what column {_name(weight['column'])} says, at most {most}."]


def _people(asked: Description) -> list[str]:
    """Which records of a person count."""
    if asked["kind"] in ("keys", "plan"):
        return []
    person, rows = asked["person"], asked["rows_per_person"]
    if person is None:
        return [] if rows == 1 else [f"Each person has at most {rows} records, as was promised."]
    if asked["person_rule"] == PersonRule.ONE_VOTE:
        return [f"Each person (column {_name(person)}) has one vote."]
    some = "One random record" if rows == 1 else f"At most {rows} random records"
    verb = "counts" if rows == 1 else "count"
    return [f"{some} of each person (column {_name(person)}) {verb}."]


# --- Numbers ------------------------------------------------------------------------------------


def _number(given: object) -> str:
    """A number for people: with commas, as a decimal where that is exact, else as a fraction.

    >>> _number("5/2"), _number("1/3"), _number(1200)
    ('2.5', '1/3', '1,200')
    """
    value = Fraction(str(given))
    if value.denominator == 1:
        return f"{value.numerator:,}"
    if _places(value) is None:
        return str(value)
    return f"{Decimal(value.numerator) / value.denominator:f}"


def _places(value: Fraction) -> int | None:
    """How many decimal places a fraction has, up to nine; none if it is no decimal."""
    return next((n for n in range(10) if (value * 10**n).denominator == 1), None)


def _percent(given: object) -> str:
    """A share as a percentage where that is exact, else as a fraction.

    >>> _percent("3/5"), _percent("1/20"), _percent("2/3")
    ('60 %', '5 %', '2/3')
    """
    share = 100 * Fraction(str(given))
    return str(Fraction(str(given))) if _places(share) is None else f"{_number(share)} %"


def _ordinal(number: int) -> str:
    """A number in a row.

    >>> _ordinal(1), _ordinal(12), _ordinal(93)
    ('1st', '12th', '93rd')
    """
    ends = {1: "st", 2: "nd", 3: "rd"}
    teen = 10 < number % 100 < 14
    return f"{number}{'th' if teen else ends.get(number % 10, 'th')}"


# --- What nobody here knows ---------------------------------------------------------------------


def _read_out(description: Description) -> str:
    """What a description says, item by item.

    >>> _read_out({"kind": "mean", "column": "age", "bounds": [0, 100]})
    'mean: column age, bounds 0 and 100'
    """
    kind = description.get("kind")
    parts = [
        f"{_name(key)} {_value(value)}"
        for key, value in description.items()
        if key != "kind" and value is not None
    ]
    said = ", ".join(parts[:_MOST_LISTED])
    said += f" and {len(parts) - _MOST_LISTED} more" if len(parts) > _MOST_LISTED else ""
    if kind is None:
        return said or "a question without a description"
    return f"{_name(kind)}: {said}" if said else _name(kind)


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return f"({_read_out(value)})"
    if isinstance(value, list | tuple):
        return _listed(map(_value, value)) if value else "none"
    return _name(value)
