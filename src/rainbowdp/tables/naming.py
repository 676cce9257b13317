"""Count the people of each value of a column that nobody listed.

A person counts once in each value, and in at most so many of them: those with the least keyed
hashes of that person and the value, so that the choice looks at one person's rows alone. What is
counted is the text of a value, of columns of texts, whole numbers or days.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from rainbowdp.tables.prepared import Prepared
from rainbowdp.tables.query import Write

_KEY_BITS = 63


def named_people(prepared: Prepared, most: int, key: int | None) -> dict[str, int]:
    """How many people, or records without a person column, each value has."""
    drawn = secrets.randbits(_KEY_BITS) if key is None else key % (1 << _KEY_BITS)
    rows = prepared.run(_counting(prepared, most, drawn))
    return {str(name): int(people) for name, people in rows}


def _counting(prepared: Prepared, most: int, key: int) -> Callable[[Write], str]:
    source, hashed = prepared.source, prepared.dialect.hashed

    def query(write: Write) -> str:
        columns: dict[str, Any] = {"name": source.text, "person": source.person}
        selected = ", ".join(f"{sql} AS {name}" for name, sql in columns.items() if sql is not None)
        held = f"SELECT {selected} FROM {source.kept(write)}"  # noqa: S608  quoted
        known = f"FROM ({held}) AS held WHERE name IS NOT NULL"
        if source.person is None:
            return f"SELECT name, count(*) AS people {known} GROUP BY name"
        each = f"SELECT DISTINCT name, person {known} AND person IS NOT NULL"
        order = f"{hashed(key, 'person, name')}, name"
        placed = (
            f"SELECT name, row_number() OVER (PARTITION BY person ORDER BY {order}) AS place "  # noqa: S608
            f"FROM ({each}) AS each"
        )
        return (
            f"SELECT name, count(*) AS people FROM ({placed}) AS placed "  # noqa: S608
            f"WHERE place <= {most} GROUP BY name"
        )

    return query
