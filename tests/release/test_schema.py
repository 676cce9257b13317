"""The published schema of files: complete for every kind, and as strict as a schema can be."""

from __future__ import annotations

import copy
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

import rainbowdp as rb
from golden_files import FOLDER, FORGED, MAKERS
from mechanism_files import KINDS, leaves, made
from rainbowdp.rules import FAMILIES

SCHEMA = json.loads((files("rainbow_release") / "files.schema.json").read_text("utf-8"))
VALID = jsonschema_rs.validator_for(SCHEMA)
DEFINITIONS = SCHEMA["$defs"]


def test_every_kind_has_a_definition_of_its_own() -> None:
    listed = [
        DEFINITIONS[ref["$ref"].rpartition("/")[2]] for ref in DEFINITIONS["MechanismFile"]["oneOf"]
    ]
    assert {one["properties"]["rule"]["const"] for one in listed} == {f.kind for f in FAMILIES}


@pytest.mark.parametrize("name", MAKERS)
def test_golden_files_are_valid(name: str) -> None:
    VALID.validate(json.loads((FOLDER / f"{name}.json").read_text("utf-8")))


@pytest.mark.parametrize("kind", KINDS)
def test_files_of_the_package_are_valid(kind: str) -> None:
    VALID.validate(json.loads(made(kind).as_text()))


def test_tiles_are_valid(tmp_path: Path) -> None:
    graph = rb.RainbowGraph([(0, 1), (1, 2)], [("a", "b"), ("a", "b"), ("b", "a")])
    for kind in ("homogeneous", "proximity"):
        folder = tmp_path / kind
        rb.deploy(graph, rb.DP(1), kind).save_tiles(tmp_path / "m.json", [0, 0, 1], folder=folder)
        for path in folder.iterdir():
            VALID.validate(json.loads(path.read_text("utf-8")))
    for path in (FOLDER / "tiles-by-length" / "tiles").iterdir():
        VALID.validate(json.loads(path.read_text("utf-8")))


def test_a_schema_does_not_prove() -> None:
    """Forgeries are as valid as files: only a proof tells them apart."""
    assert all(VALID.is_valid(json.loads(path.read_text("utf-8"))) for path in FORGED.iterdir())


@pytest.mark.parametrize("name", MAKERS)
def test_other_types_and_more_or_less_keys_are_not_valid(name: str) -> None:
    content = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    for key in content:
        assert not VALID.is_valid({k: v for k, v in content.items() if k != key}) or key == "most"
    assert not VALID.is_valid({**content, "note": 1})
    for where, value in list(leaves(content))[::7]:
        changed: Any = copy.deepcopy(content)
        place = changed
        for step in where[:-1]:
            place = place[step]
        place[where[-1]] = {"float": 0.5}
        assert not VALID.is_valid(changed), where
        if where[0] in ("rows", "ladder", "total", "steps"):
            place[where[-1]] = int(value)
            assert not VALID.is_valid(changed), where


def test_the_command_prints_it() -> None:
    from rainbowdp.service.published import json_schema

    assert json_schema()["$defs"]["MechanismFile"] == DEFINITIONS["MechanismFile"]
    jsonschema_rs.validator_for({**json_schema(), "$ref": "#/$defs/Question"})
