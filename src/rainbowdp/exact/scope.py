"""What a proof is about, in words: which datasets, which change, and what the reader must know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rainbowdp.questions.relations import PersonRule


def unit_in_words(question: Mapping[str, Any]) -> str:
    """Whose change the guarantee is about, from a described question.

    >>> unit_in_words({"person": None, "rows_per_person": 1})
    'one record'
    >>> unit_in_words({"person": None, "rows_per_person": 3})
    'one person with at most 3 records (as you promise)'
    >>> unit_in_words({"person": "voter", "rows_per_person": 3})
    "one person by the column 'voter', of whom a sample of at most 3 records is counted"
    >>> unit_in_words({"person": "voter", "person_rule": "one vote"})
    "one person by the column 'voter', who has one vote"
    """
    rows, person = question.get("rows_per_person", 1), question.get("person")
    records = "1 record" if rows == 1 else f"{rows} records"
    if person is not None and question.get("person_rule") == PersonRule.ONE_VOTE:
        return f"one person by the column {person!r}, who has one vote"
    if person is not None:
        counted = f"of whom a sample of at most {records} is counted"
        return f"one person by the column {person!r}, {counted}"
    return "one record" if rows == 1 else f"one person with at most {records} (as you promise)"


def change_in_words(question: Mapping[str, Any]) -> str:
    """What one change of a table is, from a described question.

    >>> change_in_words({"neighbors": "substituted", "person": None, "rows_per_person": 3})
    'one person with at most 3 records (as you promise) substituted'
    """
    return f"{unit_in_words(question)} {question['neighbors']}"


def scope_of_a_question(question: Mapping[str, Any]) -> str:
    """What rows that answer a described question are proved for.

    >>> scope_of_a_question({"kind": "winner", "neighbors": "substituted", "rows_per_person": 1})
    'for tables of every size, one record substituted'
    >>> scope_of_a_question({"kind": "winner", "neighbors": "substituted", "where": "age > 65"})
    'for tables of every size, one record substituted, counting only records where age > 65'
    """
    change = change_in_words(question)
    weight = question.get("weight")
    if weight is not None:
        change += f", by the column {weight['column']!r} of weights up to {weight['limit']}"
    if question.get("where") is not None:
        change += f", counting only records where {question['where']}"
    if question.get("kind") != "custom":
        return f"for tables of every size, {change}"
    return (
        f"for every dataset, {change}, if the function named {question.get('name')!r}, which no "
        "file holds, gives margins that are 0 at exactly the true answer and change by at most 1"
    )


def question_in_words(question: Mapping[str, Any]) -> str:
    """What is asked, on one line.

    >>> question_in_words({"kind": "winner", "answers": ["a", "b"], "ties": "any leader",
    ...     "column": "vote", "neighbors": "substituted", "person": None, "rows_per_person": 1})
    "winner: column 'vote', ties 'any leader'"
    """
    # on lines of their own
    said = {"kind", "answers", "neighbors", "person", "rows_per_person", "person_rule"}
    rest = ((key, value) for key, value in question.items() if key not in said)
    facts = sorted(f"{key} {value!r}" for key, value in rest if value is not None)
    return f"{question['kind']}: {', '.join(facts)}" if facts else str(question["kind"])
