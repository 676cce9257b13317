"""From a file with lengths to a mechanism file, every edge compared by code that shares none."""

from __future__ import annotations

import json
import re
from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import pairwise
from math import cos, floor, radians
from pathlib import Path
from typing import Any

import duckdb
import networkx as nx
import numpy as np
import pytest
from scipy.stats import norm
from typer.testing import CliRunner

import rainbowdp as rb
from rainbowdp.cli import app

RUN = CliRunner()
SIDE = 9
SITES = "west=1,south=41,east=81"


def roads() -> list[tuple[int, int, str]]:
    """A bent grid: nodes from 1, lengths in meters as they are spelled in a file."""
    rng = np.random.default_rng(7)
    number = np.arange(1, SIDE * SIDE + 1).reshape(SIDE, SIDE)
    pairs = [(a, b) for row in (*number, *number.T) for a, b in pairwise(row)]
    return [(int(a), int(b), f"{rng.uniform(3, 260):.1f}") for a, b in pairs]


def design(*arguments: object) -> dict[str, Any]:
    result = RUN.invoke(app, ["design", *map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.output)
    return found


def refused(*arguments: object) -> str:
    result = RUN.invoke(app, ["design", *map(str, arguments)])
    assert result.exit_code != 0
    return f"{result.output}{result.exception}"


def rows_of(out: Path) -> dict[Any, dict[Any, Fraction]]:
    """The exact row of each node, from the two files alone."""
    mechanism = rb.load(out)
    found = {}
    for node, region, *key in duckdb.execute(f"FROM '{out.with_suffix('.parquet')}'").fetchall():
        depth = (region, key[0]) if mechanism.name == "homogeneous" else None
        place = depth or dict(zip(mechanism.answers, key, strict=True))
        found[node] = mechanism.at(place).probabilities
    return found


def steps_of(length: str, unit: int) -> int:
    return floor(Fraction(length) / unit)


@pytest.mark.parametrize("kind", ["best", "homogeneous", "margin-flip", "exponential"])
def test_every_edge_of_the_file_keeps_its_length(tmp_path: Path, kind: str) -> None:
    path, out = tmp_path / "roads.csv", tmp_path / "map.json"
    path.write_text("from,to,meters\n" + "".join(f"{a},{b},{m}\n" for a, b, m in roads()))
    given = (path, "--weight", "meters", "--sites", SITES, "--epsilon-per-km", "3", "--unit", "5m")
    said = design(*given, "--mechanism", kind, "-o", out)
    assert said["neighbors"] == "at a distance of 5 m"
    assert said["lengths"]["unit"] == "5 m"
    assert 0.95 < said["lengths"]["kept"] < 1
    getcontext().prec = 60
    rows, factor = rows_of(out), Fraction((Decimal(3) / 200).exp())
    assert len(rows) == SIDE * SIDE
    longest = 0
    for a, b, meters in roads():
        steps = steps_of(meters, 5)
        longest = max(longest, steps)
        for one, other in ((rows[a], rows[b]), (rows[b], rows[a])):
            for answer, chance in one.items():
                assert chance <= factor**steps * other[answer] * (1 + Fraction(1, 10**50))
    assert longest > 40
    # by length, not by edge: some edge changes a row by more than one step's factor
    assert kind not in ("margin-flip", "exponential") or any(
        chance > Fraction(11, 10) * factor * rows[b][answer]
        for a, b, _ in roads()
        for answer, chance in rows[a].items()
    )


def test_gaussian_privacy_by_length(tmp_path: Path) -> None:
    path, out = tmp_path / "roads.gr", tmp_path / "map.json"
    whole = [(a, b, str(round(float(m)) + 1)) for a, b, m in roads()]
    lines = "".join(f"a {a} {b} {m}\na {b} {a} {m}\n" for a, b, m in whole)
    path.write_text(f"c lengths in feet\np sp 81 {2 * len(whole)}\n{lines}")
    given = (path, "--sites", SITES, "--mu-per-km", "2", "--lengths-in", "ft", "--unit", "3ft")
    said = design(*given, "-o", out)
    assert said["lengths"]["unit"] == "0.9144 m"
    rows = rows_of(out)
    for a, b, feet in whole:
        far = steps_of(feet, 3) * 0.9144 / 1000 * 2
        for one, other in ((rows[a], rows[b]), (rows[b], rows[a])):
            for answer, chance in one.items():
                assert float(chance) <= norm.cdf(norm.ppf(float(other[answer])) + far) + 1e-12


def test_lengths_by_coordinates(tmp_path: Path) -> None:
    graph, places, out = tmp_path / "city.gr", tmp_path / "city.co", tmp_path / "map.json"
    pairs = [(a, b) for a, b, _ in roads()]
    graph.write_text(f"p tw 81 {len(pairs)}\n" + "".join(f"{a} {b}\n" for a, b in pairs))
    degree = 111_195.08  # meters of a great circle
    where = {
        n: (round(2e6 + (n - 1) % SIDE * 1500), round(48e6 + (n - 1) // SIDE * 1200))
        for n in range(1, SIDE * SIDE + 1)
    }
    lines = "".join(f"v {n} {x} {y}\n" for n, (x, y) in where.items())
    places.write_text(f"c invented\np aux sp co 81\n{lines}")
    given = (graph, "--sites", SITES, "--epsilon-per-km", "4", "--coordinates", places)
    said = design(*given, "--unit", "10m", "-o", out)
    assert "as the crow flies" in said["lengths"]["source"]
    getcontext().prec = 60
    rows, factor = rows_of(out), Fraction((Decimal(4) / 100).exp())
    for a, b in pairs:
        (x, y), (u, v) = where[a], where[b]
        flat = np.hypot((x - u) * cos(radians((y + v) / 2e6)), y - v) / 1e6 * degree
        steps = floor(flat / 10 + 1e-6)
        for one, other in ((rows[a], rows[b]), (rows[b], rows[a])):
            assert all(
                p <= factor**steps * other[v] * (1 + Fraction(1, 10**50)) for v, p in one.items()
            )


def test_a_unit_is_chosen_and_said(tmp_path: Path) -> None:
    path = tmp_path / "roads.txt"
    path.write_text("# from to meters\n" + "".join(f"{a} {b} {m}\n" for a, b, m in roads()))
    given = ("design", path, "--weight", "3", "--sites", SITES, "--epsilon-per-km", "2")
    result = RUN.invoke(app, [*map(str, given), "-o", str(tmp_path / "map.json")])
    assert result.exit_code == 0, result.output
    assert "promise      1 km apart: any answer at most e^2 times as likely" in result.output
    assert re.search(r"in steps of 10 m: 9[5-9]\.\d% of them count", result.output)
    assert "neighbors at a distance of 10 m" in result.output
    assert "steps of 10 m deep" in result.output


def test_graphml_with_lengths(tmp_path: Path) -> None:
    graph, path = nx.Graph(), tmp_path / "roads.graphml"
    graph.add_weighted_edges_from([("a", "b", 120.5), ("b", "c", 80.0)], weight="length")
    nx.write_graphml(graph, path)
    given = (path, "--weight", "length", "--sites", "a,c", "--epsilon-per-km", "5")
    said = design(*given, "--unit", "10m", "-o", tmp_path / "map.json")
    assert said["deepest"] == 13  # a to b are 12 steps, the border 5 from b, and c 8 beyond


CSV = ("roads.csv", "from,to,m\n1,2,30\n2,3,{}\n")
GR = ("roads.gr", "p sp 3 2\na 1 2 30\na 2 3 {}\n")
BAD: list[tuple[tuple[str, str], str, list[str], str]] = [
    (CSV, "-5", ["--weight", "m"], "number from 0, got -5 in {path}, line 3"),
    (CSV, "", ["--weight", "m"], "number from 0, got nothing in {path}, line 3"),
    (CSV, "nan", ["--weight", "m"], "number from 0, got nan in {path}, line 3"),
    (CSV, "1e400", ["--weight", "m"], "number from 0, got 1e400 in {path}, line 3"),
    (CSV, "1e30", ["--weight", "m"], "at most 2,000,000,000 units"),
    (CSV, "4", ["--weight", "m"], "of two regions"),
    (CSV, "40", [], "name the two with the ends of each edge by columns and that with its length"),
    (GR, "-5", [], "in {path}, line 3"),
    (GR, "99999999999999999999", [], "in {path}, line 3"),
    (("roads.gr", "p tw 3 2\n1 2\n2 3\n"), "", [], "has no lengths"),
]


@pytest.mark.parametrize(("file", "length", "more", "message"), BAD)
def test_bad_lengths_are_one_sentence_with_the_line(
    tmp_path: Path, file: tuple[str, str], length: str, more: list[str], message: str
) -> None:
    name, content = file
    path = tmp_path / name
    path.write_text(content.format(length))
    if message == "of two regions":  # merged places have one site, so nothing is refused
        said = design(path, *more, "--sites", "1,3", "--epsilon-per-km", "2", "--unit", "10m",
                      "-o", tmp_path / "map.json")  # fmt: skip
        assert said["lengths"]["joined"] == 1
        return
    given = (path, *more, "--sites", "1,3", "--epsilon-per-km", "2", "--unit", "10m")
    assert message.format(path=path) in refused(*given, "-o", tmp_path / "map.json")
    assert not (tmp_path / "map.json").exists()


OPTIONS: list[tuple[list[str], str]] = [
    (["--epsilon", "1"], "has lengths, and --epsilon and --mu count edges"),
    (["--epsilon", "1", "--unit", "10m"], "--unit is for a promise by length"),
    (["--epsilon-per-km", "1", "--mu-per-km", "1"], "either --epsilon-per-km or --mu-per-km"),
    (["--epsilon-per-km", "1", "--epsilon", "1"], "A promise by length stands alone"),
    (["--epsilon-per-km", "1", "--unit", "10 parsecs"], "--unit must be a length such as 100m"),
    (["--epsilon-per-km", "1", "--unit", "0m"], "--unit must be a length above 0"),
    (["--epsilon-per-km", "-1"], "epsilon must be in"),
]


@pytest.mark.parametrize(("options", "message"), OPTIONS)
def test_options_that_do_not_go_together(tmp_path: Path, options: list[str], message: str) -> None:
    path = tmp_path / "roads.gr"
    path.write_text(GR[1].format(70))
    assert message in refused(path, "--sites", "1,3", *options, "-o", tmp_path / "map.json")


def test_edges_are_counted_where_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "roads.gr"
    path.write_text(GR[1].format(70))
    for option, deepest in (("--hops", 1), ("--weighted", 1)):
        said = design(path, "--sites", "1,3", "--epsilon", "1", option, "-o", tmp_path / "m.json")
        assert (said["deepest"], said["neighbors"]) == (deepest, "joined by an edge")
        assert said["lengths"] is None


CO: list[tuple[str, str]] = [
    ("p aux sp co 3\nv 1 0 0\nv 2 0 x\nv 3 0 9\n", "line 3"),
    ("p aux sp co 3\nv 1 0 0\nv 2 0 91000000\nv 3 0 9\n", "line 3"),
    ("p aux sp co 3\nv 1 0 0\nv 2 0 5\nv 2 0 9\n", "has the node 2 twice, line 4"),
    ("p aux sp co 2\nv 1 0 0\nv 2 0 5\n", "does not say where node 3 is"),
    ("p aux sp co 9\nv 1 0 0\nv 2 0 5\nv 3 0 9\n", "is the file complete?"),
    ("v 1 0 0\nv 2 0 5\nv 3 0 9\n", "has no line 'p aux sp co NODES'"),
]


@pytest.mark.parametrize(("content", "message"), CO)
def test_bad_coordinates_are_refused(tmp_path: Path, content: str, message: str) -> None:
    path, places = tmp_path / "roads.gr", tmp_path / "roads.co"
    path.write_text("p tw 3 2\n1 2\n2 3\n")
    places.write_text(content)
    given = (path, "--sites", "1,3", "--epsilon-per-km", "1", "--coordinates", places)
    told = refused(*given, "-o", tmp_path / "map.json")
    assert message in told
    assert "roads.co" in told
