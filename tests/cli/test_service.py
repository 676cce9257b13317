"""``rainbow service``: people, tokens, limits and decisions on the machine itself."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from rainbowdp.cli import app
from rainbowdp.ledger import Ledger
from rainbowdp.service.approvals import Approvals
from rainbowdp.service.config import read_settings
from rainbowdp.service.people.directory import People, people_of
from rainbowdp.service.people.roles import Role, Unauthenticated

FILE = """
store = "people.db"

[dataset.visits]
data = "visits.csv"
ledger = "visits-ledger.db"
source = "visits, frozen"
approval = true

[dataset.visits.columns.diagnosis]
answers = ["flu", "cold"]
"""


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["service", *map(str, arguments)])


def told(*arguments: object) -> Any:
    result = CliRunner().invoke(app, ["service", *map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refused(*arguments: object, code: int = 2) -> str:
    result = run(*arguments)
    assert result.exit_code == code, result.output
    (line,) = result.output.splitlines()
    return line.removeprefix("rainbow: ")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tomllib.loads(FILE)
    (tmp_path / "service.toml").write_text(FILE)
    Ledger.create(tmp_path / "visits-ledger.db", dataset="visits", epsilon=10, by="root")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def known() -> People:
    return people_of(read_settings(Path("service.toml")))


def waiting(person: str = "ann", key: str = "k1") -> str:
    def describe() -> tuple[str, str, str | None]:
        return "Which of flu and cold is most frequent?", "ε 0.5", "95 % sure from 8 on"

    approvals = Approvals(known().store)
    body = {"question": {"kind": "winner"}, "guarantee": {"epsilon": "1/2"}}
    about: Any = {"dataset": "visits", "person": person, "key": key}
    return approvals.submit(**about, body=body, describe=describe).id


def test_the_first_curator_is_added_on_the_machine() -> None:
    assert "Add the first curator: rainbow service add NAME" in run("people").output
    result = run("add", "cora", "--role", "curator", "--by", "root")
    assert result.exit_code == 0, result.output
    assert "shown this once" in result.stderr
    facts = dict(line.split(None, 1) for line in result.stdout.splitlines())
    assert facts["roles"] == "curator"
    assert known().person(facts["token"]).roles == {Role.CURATOR}
    listed = run("people").output
    assert listed.startswith("cora: curator\n  token ")
    assert facts["token"] not in listed


def test_a_token_may_go_to_a_file_alone(folder: Path) -> None:
    made = told("add", "ann", "--role", "analyst", "--role", "auditor", "--out", "ann.token")
    assert made["roles"] == ["analyst", "auditor"]
    assert "token" not in made["new_token"]
    file = folder / "ann.token"
    assert file.stat().st_mode & 0o777 == 0o600
    assert known().person(file.read_text().strip()).name == "ann"
    before = file.read_text()
    assert "ann.token is there already" in refused("token", "ann", "--out", "ann.token", code=2)
    assert file.read_text() == before
    assert len(told("people")[0]["tokens"]) == 1
    shown = run("token", "ann", "--out", "other.token").output
    assert "rb_" not in shown


def test_tokens_are_revoked_and_people_removed() -> None:
    first = told("add", "ann", "--role", "analyst")["new_token"]
    second = told("token", "ann", "--days", "3")
    running = known()
    running.person(first["token"])
    assert "was revoked on" in run("revoke", first["id"]).output
    with pytest.raises(Unauthenticated):
        running.person(first["token"])
    running.person(second["token"])
    assert run("remove", "ann").output.startswith("ann was removed")
    with pytest.raises(Unauthenticated):
        running.person(second["token"])
    assert "; removed on" in run("people").output
    assert told("add", "ann", "--role", "auditor", "--no-token")["new_token"] is None


def test_limits_are_for_the_data_of_a_dataset() -> None:
    signed = ["--signed-by", "A. Officer", "--by", "dpo"]
    shown = run("limit", "visits", "ann", "--epsilon", "1", "--per", "week", *signed).output
    assert shown.startswith(
        "Limited ann on visits, frozen to ε 1 per week, from this moment on.\n"
        "by    A. Officer, entered by dpo\n"
    )
    told("limit", "visits", "--epsilon", "2", "--per", "12 hours", *signed)
    limits = Ledger.open("visits-ledger.db").balance().limits
    assert [limit.key for limit in limits] == [
        ("ann", "visits, frozen", "week"),
        (None, "visits, frozen", "12 hours"),
    ]
    assert run("limit", "visits", "ann", "--per", "week", *signed).output.startswith("Lifted the")
    assert "There is no dataset wards in the service. There are visits." in refused(
        "limit", "wards", "--epsilon", "1", *signed
    )


def test_requests_are_seen_and_decided() -> None:
    assert run("requests").output == "Nothing waits for a decision.\n"
    first, second = waiting(), waiting("ben")
    shown = run("requests").output
    for word in (first, second, "by ben, of visits", "95 % sure from 8 on", "ε 0.5", "flu and"):
        assert word in shown
    done = told("approve", first, "--reason", "For May", "--by", "cora")
    assert (done["status"], done["decided_by"]) == ("approved", "cora")
    assert "head" in run("refuse", second, "--reason", "Too narrow", "--by", "cora").output
    notes = [
        record for record in Ledger.open("visits-ledger.db").records() if record.kind == "note"
    ]
    assert [note.content["signed_by"] for note in notes] == ["cora", "cora"]
    assert "refused by cora, " in run("requests", "--all").output
    assert "was approved by cora already" in refused("approve", first)
    third = waiting("cora")
    assert "Nobody decides on a question of their own" in refused("approve", third, "--by", "cora")
    assert "There is no request of this id" in refused("approve", "0" * 16)


def test_what_is_wrong_is_said() -> None:
    assert "A role is curator, analyst or auditor, got 'root'." in refused(
        "add", "ann", "--role", "root"
    )
    assert "There is nobody of the name 'ann'" in refused("token", "ann")
    assert "A token works for 1 to 366 days" in refused(
        "add", "a", "--role", "analyst", "--days", 0
    )
    assert told("people") == []
    assert "none.toml cannot be read: No such file" in refused(
        "people", "--settings", "none.toml", code=3
    )
