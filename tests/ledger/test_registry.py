"""The entry of the registry of deployments, word for word."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

import rainbowdp as rb
from ledgers import new_ledger, spend
from officers import eventful
from rainbowdp.ledger import Charge, Ledger, book
from rainbowdp.ledger.registry import _number, _slug, as_yaml
from rainbowdp.questions import Unit

EXPECTED = Path(__file__).parent / "registry"
SIGNED: dict[str, Any] = {"signed_by": "A. Officer", "reason": "more"}


def expected(name: str, ledger: Ledger) -> str:
    """A stored entry, with what is of this run."""
    text = (EXPECTED / f"{name}.yaml").read_text(encoding="utf-8")
    values = {
        "identity": ledger.identity,
        "head": str(ledger.head()),
        "version": rb.__version__,
        "first": next((entry.time[:10] for entry in ledger.entries()), ""),
        "closed": (ledger.balance().closed or "")[:10],
    }
    for what, value in values.items():
        text = text.replace(f"<{what}>", value)
    return text


class Clock:
    """Each look at it is a day later."""

    def __init__(self) -> None:
        self.day = 1

    def __call__(self) -> datetime:
        self.day += 1
        return datetime(2026, 11, min(self.day, 28), tzinfo=UTC)


@pytest.fixture
def _days(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book, "_clock", Clock())


@pytest.mark.usefixtures("_days")
def test_an_entry_of_a_long_story(tmp_path: Path) -> None:
    ledger = eventful(tmp_path)
    assert as_yaml(ledger) == expected("town-poll", ledger)


def test_an_entry_of_a_ledger_that_nobody_asked(tmp_path: Path) -> None:
    ledger = new_ledger(
        tmp_path / "budget.db", mu=2, neighbors="added or removed", person="patient"
    )
    assert as_yaml(ledger) == expected("unasked", ledger)


def deployment(ledger: Ledger) -> Any:
    return yaml.safe_load(as_yaml(ledger))["deployment"]


def test_one_of_everything_and_two(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=3, by="ann")
    ledger.record(spend(ledger, rb.DP("0.1")), "red")
    ledger.extend(epsilon=1, **SIGNED)
    ledger.limit("ann", epsilon=1, signed_by="A. Officer")
    found = deployment(ledger)
    model = found["deployment_model"]
    assert (
        found["basic"]["description"] == "1 answer about town-2026, by kind of question: other (1)."
    )
    assert model["actors"] == "One analyst asked; the budget is kept by a ledger."
    assert model["release_type"] == "One release"
    assert model["release_type_details"].endswith(
        "It was extended or renewed once, by signed entries."
    )
    assert model["access_type_details"].endswith("gains nothing. A limit holds within it.")
    ledger.limit("ben", epsilon=1, signed_by="A. Officer")
    spend(Ledger.open(ledger.where, by="ben"), rb.DP("0.1"))
    model = deployment(ledger)["deployment_model"]
    assert model["actors"] == "2 analysts asked; the budget is kept by a ledger."
    assert model["release_type"] == "Many releases"
    assert model["access_type_details"].endswith("gains nothing. 2 limits hold within it.")


def test_a_converted_budget_is_what_was_promised_until_it_is_extended(tmp_path: Path) -> None:
    ledger = new_ledger(
        tmp_path / "budget.db", epsilon=3, delta="1e-6", delta_apart="5e-7", spend_in="rho"
    )
    rho = float(ledger.balance().total.parts[0])
    numbers = deployment(ledger)["privacy_loss"]["privacy_parameters"]
    assert numbers == {"epsilon": 3.0, "delta": 1e-6, "rho": rho}
    ledger.extend(rho="1/2", **SIGNED)
    numbers = deployment(ledger)["privacy_loss"]["privacy_parameters"]
    assert numbers == {"rho": pytest.approx(rho + 0.5), "delta": 5e-7}
    plain = new_ledger(tmp_path / "plain.db", rho=2)
    assert deployment(plain)["privacy_loss"]["privacy_parameters"] == {"rho": 2.0}
    plain.extend(rho=1, **SIGNED)
    assert deployment(plain)["privacy_loss"]["privacy_parameters"] == {"rho": 3.0}


@pytest.mark.parametrize(("public", "said"), [(True, True), (False, False), ("yes", False)])
def test_public_groups_are_told(tmp_path: Path, public: object, said: bool) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=3, person="voter")
    for question in ({"kind": "winner", "groups_are_public": public}, {"kind": "winner"}):
        ledger.spend_all([Charge(rb.DP("0.1"), question, Unit(person="voter"), "substituted")])
    told = "The number of people is public, as neighbors are substituted."
    if said:
        told += " For some questions, which group each of them is in is public."
    assert deployment(ledger)["dp_variant"]["unprotected_quantities"] == told


def test_what_an_old_ledger_did_not_record_is_told_as_such(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    database = sqlite3.connect(place)
    database.executescript((Path(__file__).parent / "old/version-2-dp.sql").read_text())
    database.close()
    ledger = Ledger.migrate(place)
    said = deployment(ledger)["implementation"]["mechanisms"]
    assert said.endswith(" Software: not recorded.")


@pytest.mark.parametrize(
    ("value", "text"), [(1e-7, "1.0e-07"), (1.5e-7, "1.5e-07"), (0.5, "0.5"), (1e22, "1.0e+22")]
)
def test_numbers_are_floats_in_every_version_of_yaml(value: float, text: str) -> None:
    assert _number(value) == text
    assert yaml.safe_load(text) == value


def test_a_name_for_an_address() -> None:
    assert _slug("Ward visits, 2026!") == "ward-visits-2026"
    assert _slug("日本") == "ledger"
