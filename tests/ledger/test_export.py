"""Exports: a table that adds up, a chain that anybody can verify, an entry for a registry."""

from __future__ import annotations

import csv
import decimal
import io
import json
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
from officers import EVIL, eventful
from rainbowdp.ledger import Ledger
from rainbowdp.ledger.export import as_csv, as_json, decimal_text
from rainbowdp.ledger.registry import as_yaml

BUDGETS: list[dict[str, Any]] = [
    {"epsilon": "6.9", "delta": "1e-6"},
    {"rho": 2},
    {"mu": 2},
    {"epsilon": 3, "delta": "1e-6", "spend_in": "rho"},
    {"epsilon": 3, "delta": "1e-6", "spend_in": "mu"},
]


# as a table


def rows(ledger: Ledger) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(as_csv(ledger)), newline="")))


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_a_table_adds_up(tmp_path: Path, budget: dict[str, Any]) -> None:
    ledger = eventful(tmp_path, **budget)
    part = next(iter(ledger.balance().total.names()))
    left = Decimal(rows(ledger)[0][f"left_{part}"])
    for row in rows(ledger):
        left += Decimal(row[f"added_{part}"] or 0) - Decimal(row[f"cost_{part}"] or 0)
        assert float(left) == pytest.approx(float(row[f"left_{part}"]), abs=1e-12)


def test_a_table_has_what_a_person_asks_for(tmp_path: Path) -> None:
    found = rows(eventful(tmp_path))
    assert [row["entry"] for row in found if row["entry"]] == ["1", "2", "3", "4"]
    first = found[2]
    assert (first["by"], first["name"], first["answer"]) == ("ann", "busiest", "red")
    assert first["cost_epsilon"] == "0.1"
    assert first["left_epsilon"] == "6.8"
    assert first["left_delta"] == "0.000001"
    assert first["notes"] == f"'{EVIL} | Published in May."
    assert [row["kind"] for row in found][-3:] == ["note", "renewal", "closing"]
    assert found[3]["notes"] == found[5]["mechanism"].removeprefix("laplace") == ""
    assert found[4]["reason"] == "The second wave of the survey"
    assert found[4]["signed_by"] == "A. Officer"


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    ledger = eventful(tmp_path)
    ledger = Ledger.create(tmp_path / "second.db", dataset="d", epsilon=1, by="@evil")
    ledger.note("=HYPERLINK(0)")
    for row in [*rows(ledger), *rows(Ledger.open(tmp_path / "budget.db"))]:
        for name, cell in row.items():
            if not name.startswith(("added_", "left_", "cost_")):
                assert not cell.startswith(("=", "+", "-", "@"))
    assert rows(ledger)[0]["by"] == "'@evil"


@given(st.fractions())
def test_amounts_are_decimals_to_seventeen_digits(value: Fraction) -> None:
    found = Fraction(decimal_text(value))
    assert abs(found - value) <= abs(value) / 10**16


@given(st.integers(-(10**9), 10**9), st.integers(0, 20))
def test_short_decimals_are_exact(digits: int, places: int) -> None:
    value = Fraction(digits, 10**places)
    assert Fraction(decimal_text(value)) == value


def test_a_number_is_exact_to_thirty_digits_or_rounded_to_seventeen() -> None:
    long = "0.12345678901234567890123456789"
    assert decimal_text(Fraction(long)) == long
    assert decimal_text(Fraction(2, 3)) == "0.66666666666666667"
    with decimal.localcontext(prec=3):  # which a program has set for its own decimals
        assert decimal_text(Fraction(long)) == long


# as a chain

PAGE = Path(__file__).parents[2] / "docs/how-to/officer.md"
VERIFIER = files("rainbowdp.ledger.report").joinpath("verify.txt").read_text("utf-8")


def verified(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """What the documented verifier says, in a Python without any package."""
    (folder / "ledger.json").write_text(text, encoding="utf-8")
    command = [sys.executable, "-I", "-S", "-c", VERIFIER]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_verifier_is_the_one_of_the_page() -> None:
    assert f"```python\n{VERIFIER}```" in PAGE.read_text(encoding="utf-8")
    assert len(VERIFIER.splitlines()) <= 22


@pytest.mark.parametrize("budget", BUDGETS[:3], ids=str)
def test_a_chain_is_verified_without_this_package(tmp_path: Path, budget: dict[str, Any]) -> None:
    ledger = eventful(tmp_path, **budget)
    said = verified(tmp_path, "".join(as_json(ledger)))
    assert said.stderr == ""
    left = ledger.balance().left.as_dict()
    assert said.stdout.startswith(f"{ledger.head().number} records are whole, and they leave ")
    assert all(f"{part} {amount}" in said.stdout for part, amount in left.items())


def test_an_export_is_laid_out_for_people_who_read_it(tmp_path: Path) -> None:
    ledger = eventful(tmp_path)
    text = "".join(as_json(ledger))
    assert text.startswith('{\n  "format": "rainbowdp ledger",\n  "version": 1,\n  "seals": "')
    first, *_, last = text.partition('  "records": [\n')[2].splitlines()
    assert first.startswith('    {"number": 1, "time": "')
    assert last == "}"
    assert EVIL in text
    assert json.loads(text)["head"] == str(ledger.head())


def _set(record: dict[str, Any], name: str, value: Any) -> None:
    record[name] = value


def changes(whole: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The export with one thing changed, and what should be said of it."""
    found = []

    def changed(what: str, change: Any) -> None:
        copy = json.loads(json.dumps(whole))
        change(copy)
        found.append((what, copy))

    for place in range(len(whole["records"])):
        is_other = f"Record {place + 1} is not"
        changed(is_other, lambda export, at=place: _set(export["records"][at], "time", "2000"))
        changed(is_other, lambda export, at=place: export["records"][at]["content"].update(by="x"))
    changed("Record 3 is not", lambda export: export["records"].pop(2))
    changed("The head is another", lambda export: export["records"].pop())
    return found


@pytest.mark.slow
def test_a_change_anywhere_is_noticed_by_the_verifier(tmp_path: Path) -> None:
    whole = json.loads("".join(as_json(eventful(tmp_path))))
    for what, export in changes(whole)[:: 1 if sys.platform == "linux" else 5]:
        said = verified(tmp_path, json.dumps(export))
        assert said.returncode != 0
        assert said.stderr.startswith(what)


def test_an_overspent_chain_is_noticed_even_if_its_seals_are_right(tmp_path: Path) -> None:
    """Somebody who forges the whole chain has to overspend in it."""
    from rainbowdp.ledger.chain import Draft, sealed

    export = json.loads("".join(as_json(eventful(tmp_path))))
    head, made = None, []
    for record in export["records"]:
        content = dict(record["content"])
        if record["kind"] == "payment":
            content["cost"] = {"epsilon": "5", "delta": "0"}
        draft = Draft(record["kind"], content, record["name"], record["subject"], record["time"])
        again = sealed(draft, head, record["time"])
        head = again.head
        made.append(again.as_dict())
    export |= {"records": made, "head": str(head)}
    assert "spends more than there was" in verified(tmp_path, json.dumps(export)).stderr


def test_half_a_character_is_exported_too(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "budget.db", dataset="d", epsilon=3)
    question = {"kind": "other", "column": "a\udc80", "letter": "ü"}
    ledger.spend(rb.DP(1), question=question, unit=ledger.unit, neighbors=ledger.neighbors)
    text = "".join(as_json(ledger))
    text.encode()
    assert verified(tmp_path, text).returncode == 0
    "".join(as_csv(ledger)).encode()


# as an entry of the registry of deployments

FIELDS = {
    "basic": {
        *("name", "data_curators", "description", "intended_use", "data_product_type"),
        *("data_product_region", "data_product_sector", "publication_date"),
    },
    "dp_variant": {"variant_name", "data_domain", "unprotected_quantities"},
    "privacy_loss": {
        *("privacy_unit", "privacy_unit_details", "privacy_parameters"),
        "privacy_parameters_details",
    },
    "deployment_model": {
        *("model_name", "trust_assumptions", "actors", "release_type", "release_type_details"),
        *("data_source_type", "access_type", "access_type_details"),
    },
    "implementation": {
        *("preprocessing_and_hyperparameter_tuning", "mechanisms", "composition"),
        *("post_processing", "justification", "utility", "additional_information"),
    },
    "administrative": {"status", "registry_authors", "tier"},
}
VARIANTS = ["Approximate DP", "Zero-concentrated DP", "Custom", "Zero-concentrated DP", "Custom"]


@pytest.mark.parametrize(
    ("budget", "variant"), list(zip(BUDGETS, VARIANTS, strict=True)), ids=lambda value: str(value)
)
def test_an_entry_has_the_fields_of_the_registry(
    tmp_path: Path, budget: dict[str, Any], variant: str
) -> None:
    text = as_yaml(eventful(tmp_path, **budget))
    entry = yaml.safe_load(text)
    assert set(entry) == {"url_slug", "deployment"}
    deployment = entry["deployment"]
    assert {name: set(part) for name, part in deployment.items()} == FIELDS
    assert deployment["dp_variant"]["variant_name"] == variant
    assert deployment["basic"]["name"] == "Town poll"
    assert deployment["basic"]["intended_use"] == EVIL
    assert deployment["deployment_model"]["release_type"] == "Many releases"
    assert deployment["administrative"]["status"] == "Draft"
    blanks = [line for line in text.splitlines() if "''" in line]
    assert len(blanks) >= 10
    assert all("''  # FILL IN: " in line for line in blanks)
    for analyst in ("ann", "ben", "dpo", "A. Officer"):  # the registry is public
        assert f" {analyst} " not in text


def test_the_numbers_of_an_entry_are_the_budget(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "one.db", dataset="d", epsilon="0.7", delta="1e-7")
    found = yaml.safe_load(as_yaml(ledger))["deployment"]["privacy_loss"]["privacy_parameters"]
    assert found == {"epsilon": 0.7, "delta": 1e-7}
    given: dict[str, Any] = {"epsilon": 3, "delta": "1e-6", "spend_in": "rho"}
    ledger = Ledger.create(tmp_path / "two.db", dataset="d", **given)
    found = yaml.safe_load(as_yaml(ledger))["deployment"]["privacy_loss"]["privacy_parameters"]
    rho = float(ledger.balance().total.parts[0])
    assert found == {"epsilon": 3.0, "delta": 1e-6, "rho": rho}
    ledger = Ledger.create(tmp_path / "three.db", dataset="d", epsilon=1)
    entry = yaml.safe_load(as_yaml(ledger))["deployment"]
    assert entry["dp_variant"]["variant_name"] == "Pure DP"
    assert entry["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0}
    assert entry["basic"]["publication_date"] == ""
