from __future__ import annotations

import dataclasses
import json

import pytest
from typer.testing import CliRunner

import rainbowdp as rb
from rainbowdp import reproduce
from rainbowdp.cli import app


def test_version() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert result.output == f"rainbow {rb.__version__}\n"


def test_reproduce_prints_every_claim() -> None:
    result = CliRunner().invoke(app, ["reproduce"])
    assert result.exit_code == 0
    assert "38, 22, 7, 1," in result.output
    assert "37 of 37 as due" in result.output


def test_reproduce_as_json() -> None:
    result = CliRunner().invoke(app, ["reproduce", "--json"])
    claims = json.loads(result.output)
    assert len(claims) == 37
    assert all(claim["holds"] for claim in claims)


def test_reproduce_fails_when_a_number_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    first, *rest = reproduce.reproduce()
    changed = (dataclasses.replace(first, ours="17, 31"), *rest)
    monkeypatch.setattr(reproduce, "reproduce", lambda: changed)
    result = CliRunner().invoke(app, ["reproduce"])
    assert result.exit_code == 1
    assert "CHANGED" in result.output


def test_help_names_every_command() -> None:
    result = CliRunner().invoke(app, ["--help"])
    assert "reproduce" in result.output
