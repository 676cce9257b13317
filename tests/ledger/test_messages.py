"""Statements that are sent at once."""

from __future__ import annotations

from typing import Any

import rainbowdp as rb
from ledgers import QUESTION, new_ledger
from postgres import fresh_schema
from rainbowdp.ledger import Charge, Ledger
from rainbowdp.ledger.messages import sent
from rainbowdp.questions import Unit


def test_each_statement_has_its_rows(postgres_url: str) -> None:
    ledger = new_ledger(fresh_schema(postgres_url), epsilon=1)
    with ledger._store.read() as connection:
        assert sent(connection, ["SELECT 1 AS a, 2 AS b", "SELECT 3 AS a WHERE false"]) == [
            [{"a": 1, "b": 2}],
            [],
        ]
        assert sent(connection, ["SELECT '%s' AS c UNION ALL SELECT '%'", "SELECT 4 AS a"]) == [
            [{"c": "%s"}, {"c": "%"}],
            [{"a": 4}],
        ]


def test_signs_that_mean_something_to_a_driver_are_kept_as_they_are(postgres_url: str) -> None:
    place = fresh_schema(postgres_url)
    ledger = new_ledger(place, epsilon=1)
    words = "100% of 'red'; -- \\ %s %(name)s :name $1 \" ü"
    asked: dict[str, Any] = {"unit": Unit(), "neighbors": "substituted", "source": words}
    charge = Charge(rb.DP("0.1"), {**QUESTION, "where": words}, name=words, **asked)
    assert ledger.draw(charge, lambda: words).entry.answer == words
    service = Ledger.open(place, connections=1)
    assert service.draw(charge, lambda: "never").recalled
    assert service.answered([words, "%"]) == {words}
    [entry] = ledger.history()
    assert (entry.name, entry.source, entry.answer) == (words, words, words)
    service.disconnect()
