"""Golden files: what the package writes, and what the two small readers make of it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import rainbow_release
import rainbowdp as rb
from golden_files import FOLDER, FORGED, FORGERIES, MAKERS, expected
from golden_readers import PLACES, READER, check_javascript, must_fit
from rainbowdp.rules.files import load_any

DRAWS = 400


def dataset(given: Any) -> Any:
    """Counts, margins or a region and depth as Python has them."""
    if isinstance(given, list):
        return tuple(given)
    return {name: int(number) for name, number in given.items()}


def shares(row: list[int]) -> list[str]:
    return [str(Fraction(weight, sum(row))) for weight in row]


def test_every_kind_has_a_golden_file() -> None:
    from rainbowdp.rules import FAMILIES

    kinds = {json.loads(path.read_text()).get("rule") for path in FOLDER.glob("*-*.json")}
    kinds |= {json.loads((FOLDER / "ordered-bins.json").read_text())["rule"]}
    assert {family.kind for family in FAMILIES} <= kinds
    assert {path.stem for path in FOLDER.glob("*.json")} == {*MAKERS, "expected"}
    assert len(list(FORGED.iterdir())) == sum(map(len, FORGERIES.values()))


@pytest.mark.parametrize("name", MAKERS)
def test_what_is_made_now_is_the_golden_file(name: str, tmp_path: Path) -> None:
    made = MAKERS[name]()
    golden = FOLDER / f"{name}.json"
    assert made.save(tmp_path / "now.json").read_bytes() == golden.read_bytes()
    assert load_any(golden).describe() == made.describe()
    assert list(expected(name, made)) == [place for place in PLACES if place["file"] == name]


@pytest.mark.parametrize("path", sorted(FORGED.iterdir()), ids=lambda path: path.stem)
def test_forgeries_are_refused(path: Path) -> None:
    with pytest.raises(rb.InvalidFile):
        load_any(path)
    with pytest.raises(rainbow_release.Refused) as caught:
        rainbow_release.load(path)
    assert "use rainbowdp itself" not in str(caught.value)
    assert "checksum" not in str(caught.value)
    assert "complete" not in str(caught.value)


@pytest.mark.parametrize("name", MAKERS)
def test_the_plain_reader_has_the_same_rows(name: str) -> None:
    mechanism = rainbow_release.load(FOLDER / f"{name}.json")
    places = [place for place in PLACES if place["file"] == name]
    assert places
    for place in places:
        if isinstance(mechanism, rainbow_release.NoisyCount):
            assert str(Fraction(*mechanism.chance(place["noise"]))) == place["chances"][0]
            continue
        given = dataset(place["counts"] if "counts" in place else place["key"])
        row = mechanism.row if "counts" in place else mechanism.row_at
        draw = mechanism.release if "counts" in place else mechanism.release_at
        assert shares(row(given)) == place["chances"]
        drawn = Counter(draw(given) for _ in range(DRAWS))
        must_fit([drawn[answer] for answer in mechanism.answers], place["chances"])


def test_a_count_is_drawn_with_its_chances() -> None:
    for name, drawn_from in (("count", 100), ("count-gaussian", 2)):
        mechanism = rainbow_release.load(FOLDER / f"{name}.json")
        assert isinstance(mechanism, rainbow_release.NoisyCount)
        drawn = Counter(mechanism.release({"matching": drawn_from}) for _ in range(2000))
        numbers = range(max(1, drawn_from - 6), drawn_from + 7)
        chances = [Fraction(*mechanism.chance(n - drawn_from)) for n in numbers]
        rest = 1 - sum(chances)
        counted = [drawn[number] for number in numbers]
        must_fit([*counted, 2000 - sum(counted)], [*map(str, chances), str(rest)])


@cache
def node_says(draws: int) -> dict[str, Any]:
    node = shutil.which("node")
    assert node, "Node is missing: make programs installs it"
    script = Path(__file__).with_name("golden.mjs")
    told = subprocess.run(
        [node, str(script), READER.as_uri(), str(FOLDER), str(draws)],
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, Any] = json.loads(told.stdout)
    return found


def test_the_javascript_reader_in_node() -> None:
    check_javascript(node_says(DRAWS))
