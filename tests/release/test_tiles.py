"""Maps on phones: tiles and databases, released in Python, Node, Chromium and SQL."""

from __future__ import annotations

import http.server
import json
import shutil
import sqlite3
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser
from typer.testing import CliRunner

import rainbow_release
import rainbowdp as rb
from browsers import browser  # noqa: F401  a fixture
from golden_files import FOLDER
from golden_readers import PLACES, READER, check_javascript, must_fit
from rainbowdp.cli import app
from rainbowdp.deployment import Deployment
from tile_files import forged

QUERY = rainbow_release.sql()
KINDS = ("homogeneous", "proximity", "margin-flip", "exponential", "fixed-point")
SIDE = 9
DRAWS = 300


def streets(side: int) -> list[tuple[int, int]]:
    """The edges of a grid."""
    at = np.arange(side * side).reshape(side, side)
    ends = [(at[:, :-1], at[:, 1:]), (at[:-1], at[1:])]
    found = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in ends])
    return [(int(a), int(b)) for a, b in found]


def grid() -> rb.RainbowGraph:
    """A grid of 81 nodes with three sites, in tiles of 3 × 3."""
    sites = {"a": (0, 0), "b": (4, 8), "c": (8, 2)}
    orders, labels = {}, []
    for y in range(SIDE):
        for x in range(SIDE):
            away = {name: abs(a - y) + abs(b - x) for name, (a, b) in sites.items()}
            near = sorted(sites, key=lambda name: (away[name], name))
            labels.append(near[0])
            orders[near[0]] = (near[0], *(s for s in sites if s != near[0]))
    return rb.RainbowGraph(streets(SIDE), orders, ("a", "b", "c"), labels=labels)


TILES = [f"{y // 3}/{x // 3}" for y in range(SIDE) for x in range(SIDE)]


@pytest.fixture(scope="module", params=KINDS)
def deployed(request: pytest.FixtureRequest) -> Deployment:
    return rb.deploy(grid(), rb.DP(1), request.param)


@pytest.fixture
def written(deployed: Deployment, tmp_path: Path) -> Path:
    deployed.save_tiles(tmp_path / "m.json", TILES, folder=tmp_path / "tiles")
    return tmp_path


def loaded(folder: Path) -> rainbow_release.Mechanism:
    mechanism = rainbow_release.load(folder / "m.json")
    assert isinstance(mechanism, rainbow_release.Mechanism)
    return mechanism


def chances(deployed: Deployment, node: int) -> list[str]:
    row = deployed.exact().at(node).weights
    return [str(Fraction(weight, sum(row))) for weight in row]


def test_every_node_has_its_row_and_every_edge_is_checked(
    deployed: Deployment, written: Path
) -> None:
    mechanism = loaded(written)
    assert rainbow_release.check_tiles(written / "tiles", mechanism) == (9, 81, 144)
    seen = set()
    for number in range(9):
        text = (written / "tiles" / f"{number}.json").read_text()
        tile = rainbow_release.Tile(text, mechanism)
        for node in tile.names:
            assert isinstance(node, int)
            seen.add(node)
            row = mechanism.row_at(tile.key(node))
            assert [str(Fraction(w, sum(row))) for w in row] == chances(deployed, node)
            assert TILES[node] == tile.name
    assert seen == set(range(81))
    text = (written / "tiles" / "4.json").read_text()
    tile = rainbow_release.Tile(text, mechanism)
    drawn = Counter(tile.release(40) for _ in range(DRAWS))
    must_fit([drawn[answer] for answer in mechanism.answers], chances(deployed, 40))


Content = dict[str, Any]


def farther(content: Content) -> None:
    """Node 40 says that it is deep in its region, far from all others."""
    place = content["nodes"].index(40)
    key = content["keys"][place]
    content["keys"][place] = (
        [key[0], key[1] + 5] if content["by"] == "depth" else [m + 5 if m else 0 for m in key]
    )


def all_farther(content: Content) -> None:
    """All nodes of the tile say so, so that inside it everything fits."""
    content["keys"] = [
        [key[0], key[1] + 5] if content["by"] == "depth" else [m + 5 if m else 0 for m in key]
        for key in content["keys"]
    ]


def a_border_left_out(content: Content) -> None:
    content["across"].pop()


def an_edge_left_out(content: Content) -> None:
    content["across"][0]["edges"].pop()


def another_belief(content: Content) -> None:
    """What the neighbor's key is said to be here is one off, which would still be close."""
    edge = content["across"][0]["edges"][0]
    key = edge[2]
    edge[2] = [key[0], max(0, key[1] - 1)] if isinstance(key[0], str) else key[::-1]


def an_edge_inside_left_out(content: Content) -> None:
    content["inside"].pop()


@pytest.mark.parametrize(
    ("name", "forge", "said"),
    [
        ("4.json", farther, "are not those of neighbors"),
        ("4.edges.json", a_border_left_out, "does not fit its neighbor"),
        ("4.edges.json", an_edge_left_out, "does not fit its neighbor"),
        ("8.edges.json", a_border_left_out, "does not fit its neighbor"),
        ("4.edges.json", an_edge_inside_left_out, "as many nodes and edges"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_tile_that_does_not_fit_is_refused(
    name: str, forge: Callable[[Content], Any], said: str, written: Path
) -> None:
    forged(written / "tiles", name, forge)
    with pytest.raises(rainbow_release.Refused, match=said):
        rainbow_release.check_tiles(written / "tiles", loaded(written))


def test_a_tile_that_fits_inside_but_not_across_is_refused(written: Path) -> None:
    """Its edges are rewritten to fit its own keys, too; the neighbors know better."""
    folder = written / "tiles"
    forged(folder, "0.json", all_farther)
    with pytest.raises(rainbow_release.Refused, match=r"are not those of neighbors|does not fit"):
        rainbow_release.check_tiles(folder, loaded(written))


def test_a_belief_about_the_neighbor_must_be_its_key(written: Path) -> None:
    forged(written / "tiles", "4.edges.json", another_belief)
    with pytest.raises(rainbow_release.Refused, match=r"does not fit|neighbors|true answer|no row"):
        rainbow_release.check_tiles(written / "tiles", loaded(written))


def test_a_changed_byte_and_another_mechanism_are_refused(written: Path) -> None:
    path = written / "tiles" / "3.json"
    good = path.read_text()
    path.write_text(good.replace('"1/0"', '"9/9"'))
    mechanism = loaded(written)
    with pytest.raises(rainbow_release.Refused, match="checksum"):
        rainbow_release.check_tiles(written / "tiles", mechanism)
    path.write_text(good)
    other = rb.deploy(grid(), rb.DP(2), "homogeneous").save(written / "other.json")
    stranger = rainbow_release.load(other)
    assert isinstance(stranger, rainbow_release.Mechanism)
    with pytest.raises(rainbow_release.Refused, match="of another"):
        rainbow_release.check_tiles(written / "tiles", stranger)


def test_a_database_draws_in_sql(deployed: Deployment, tmp_path: Path) -> None:
    """Cumulative weights as text of one width; every row is exactly the node's."""
    path = deployed.save_sqlite(tmp_path / "phone.db", TILES)
    with sqlite3.connect(path) as connection:
        (size,) = connection.execute("SELECT bytes FROM about").fetchone()
        for node in (0, 38, 40, 80):
            rows = connection.execute(
                "SELECT answer, upto, total FROM node JOIN place USING (place) "
                "JOIN weight USING (place) WHERE node = ? ORDER BY upto",
                (node,),
            ).fetchall()
            before, found = 0, dict.fromkeys("abc", Fraction(0))
            for answer, upto, total in rows:
                assert len(upto) == len(total) == 2 * size + 1
                found[answer] = Fraction(int(upto, 16) - before, int(total, 16))
                before = int(upto, 16)
            assert [str(share) for share in found.values()] == chances(deployed, node)
            assert 256 * int(rows[0][2], 16) >= 255 << 8 * size  # few draws are drawn again
        drawn = Counter(connection.execute(QUERY, {"node": 40}).fetchone()[0] for _ in range(DRAWS))
        assert connection.execute(QUERY, {"node": 999}).fetchone() is None
    must_fit([drawn[answer] for answer in "abc"], chances(deployed, 40))


def test_rows_that_are_too_long_for_a_table_are_refused(tmp_path: Path) -> None:
    names = [str(number) for number in range(12)]
    orders = {name: (name, *(other for other in names if other != name)) for name in names}
    edges = [(number, number + 1) for number in range(11)]
    graph = rb.RainbowGraph(edges, orders, tuple(names), labels=names)
    with pytest.raises(rb.InvalidMechanism, match="300 digits"):
        rb.deploy(graph, rb.DP(1), "margin-flip").save_sqlite(tmp_path / "phone.db")


def test_regions_in_a_database_may_be_tuples_of_tuples(tmp_path: Path) -> None:
    regions = (("a", 1), 2), (("b", 1), 2)
    rainbows = dict(zip(regions, (("x", "y"), ("y", "x")), strict=True))
    labels = [regions[0], regions[0], regions[1], regions[1]]
    graph = rb.RainbowGraph([(0, 1), (1, 2), (2, 3)], rainbows, labels=labels)
    path = rb.deploy(graph, rb.DP(1)).save_sqlite(tmp_path / "phone.db")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM node").fetchone() == (4,)


IN_NODE = """
import { readFileSync } from "node:fs";
const { load, Tile, Refused } = await import(process.argv[2]);
const [folder, draws] = [process.argv[3], Number(process.argv[4])];
const read = (name) => readFileSync(`${folder}/${name}`, "utf8");
const mechanism = load(read("m.json"));
const tile = new Tile(read("tiles/4.json"), mechanism);
const counts = Object.fromEntries(mechanism.answers.map((answer) => [answer, 0]));
for (let i = 0; i < draws; i++) counts[tile.release(40)] += 1;
const rows = tile.nodes.map((node) => [node, mechanism.rowAt(tile.key(node)).map(String)]);
let refused = 0;
for (const wrong of [() => tile.key(0), () => new Tile(read("tiles/0.json"), { checksum: "x" })])
  try { wrong(); } catch (error) { refused += error instanceof Refused; }
console.log(JSON.stringify({ drawn: Object.values(counts), rows, refused }));
"""


def test_a_tile_in_node(deployed: Deployment, written: Path) -> None:
    node = shutil.which("node")
    assert node, "Node is missing: make programs installs it"
    command = [node, "--input-type=module", "--eval", IN_NODE, "-", READER.as_uri()]
    told = subprocess.run(
        [*command, str(written), str(DRAWS)], capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout)
    assert found["refused"] == 2
    must_fit(found["drawn"], chances(deployed, 40))
    assert len(found["rows"]) == 9
    for name, row in found["rows"]:
        weights = [int(weight) for weight in row]
        shares = [str(Fraction(weight, sum(weights))) for weight in weights]
        assert shares == chances(deployed, name)


# Chromium


class Quiet(http.server.SimpleHTTPRequestHandler):
    def guess_type(self, path: Any) -> str:
        return "text/javascript" if str(path).endswith(".js") else "text/html"

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def page_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("page")
    shutil.copy(READER, folder / "rainbow-release.js")
    shutil.copytree(FOLDER, folder / "golden")
    (folder / "index.html").write_text("<!doctype html><title>phone</title>")
    deployed = rb.deploy(grid(), rb.DP(1), "homogeneous")
    deployed.save_tiles(folder / "m.json", TILES, folder=folder / "tiles")

    def handler(*args: Any) -> Quiet:
        return Quiet(*args, directory=str(folder))

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", folder
    server.shutdown()
    server.server_close()


IN_A_PAGE = """
async ([files, forged, places, draws]) => {
  const { load, Tile, Refused } = await import("./rainbow-release.js");
  const text = async (name) => (await fetch(name)).text();
  const gcd = (a, b) => (b ? gcd(b, a % b) : a);
  const lowest = (top, bottom) => {
    const common = gcd(top, bottom);
    return bottom === common ? `${top / common}` : `${top / common}/${bottom / common}`;
  };
  const numbers = (given) => Array.isArray(given) ? given : Object.fromEntries(
    Object.entries(given).map(([k, v]) => [k, typeof v === "string" ? BigInt(v) : v]));
  const found = { rows: [], refused: {}, draws: {} };
  const made = {};
  for (const name of [...files, ...forged])
    try {
      made[name.slice(0, -5)] = load(await text(`golden/${name}`));
      if (name.includes("/")) found.refused[name] = null;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      found.refused[name] = error.message;
    }
  places.forEach((place, number) => {
    const mechanism = made[place.file];
    if (!mechanism) return;
    if ("noise" in place) {
      found.rows[number] = [lowest(...mechanism.chance(BigInt(place.noise)))];
      return;
    }
    const given = numbers(place.counts ?? place.key);
    const row = place.counts ? mechanism.row(given) : mechanism.rowAt(given);
    const total = row.reduce((a, b) => a + b);
    found.rows[number] = row.map((weight) => lowest(weight, total));
    const counts = {};
    for (let i = 0; i < draws; i++) {
      const answer = place.counts ? mechanism.release(given) : mechanism.releaseAt(given);
      counts[answer] = (counts[answer] ?? 0) + 1;
    }
    found.draws[number] = mechanism.answers.map((answer) => counts[answer] ?? 0);
  });
  const mechanism = load(await text("m.json"));
  const tile = new Tile(await text("tiles/4.json"), mechanism);
  found.tile = mechanism.answers.map(() => 0);
  for (let i = 0; i < draws; i++) found.tile[mechanism.answers.indexOf(tile.release(40))] += 1;
  return found;
}
"""


@pytest.mark.slow
def test_the_javascript_reader_in_chromium(
    browser: Browser,  # noqa: F811
    page_folder: tuple[str, Path],
) -> None:
    address, folder = page_folder
    golden = folder / "golden"
    files = [path.name for path in sorted(golden.glob("*.json")) if path.stem != "expected"]
    forged = [f"forged/{path.name}" for path in sorted((golden / "forged").iterdir())]
    page = browser.new_page()
    page.goto(f"{address}/index.html")
    told = page.evaluate(IN_A_PAGE, [files, forged, PLACES, DRAWS])
    page.close()
    check_javascript(told)
    deployed = rb.deploy(grid(), rb.DP(1), "homogeneous")
    must_fit(told["tile"], chances(deployed, 40))


# The commands


def test_design_writes_for_phones_and_check_proves_every_edge(tmp_path: Path) -> None:
    (tmp_path / "roads.csv").write_text("".join(f"{a},{b}\n" for a, b in streets(6)))
    lines = "".join(f"{node},{node % 6 // 3}\n" for node in range(36))
    (tmp_path / "tiles.csv").write_text(f"node,tile\n{lines}")
    out = tmp_path / "hospitals.json"
    options = ["--sites", "0,20,35", "--epsilon", "1", "-o", str(out)]
    phones = ["--tiles", str(tmp_path / "tiles.csv"), "--sqlite"]
    told = CliRunner().invoke(app, ["design", str(tmp_path / "roads.csv"), *options, *phones])
    assert told.exit_code == 0, told.output
    folder = tmp_path / "hospitals.tiles"
    assert sorted(path.name for path in folder.iterdir()) == [
        *("0.edges.json", "0.json", "1.edges.json", "1.json", "index.json")
    ]
    checked = CliRunner().invoke(app, ["check", str(out), "--tiles", str(folder)])
    assert checked.exit_code == 0, checked.output
    said = " ".join(checked.output.split())
    assert "all 60 that the 2 tiles list, between 36 nodes, checked exactly" in said
    for alone in (folder, folder / "index.json"):
        refused = CliRunner().invoke(app, ["check", str(alone)])
        assert refused.exit_code == 3
        assert f"use rainbow check {out} --tiles {folder}" in " ".join(refused.output.split())
    assert "not proved" not in said  # the edges have told
    with sqlite3.connect(tmp_path / "hospitals.db") as connection:
        assert connection.execute(QUERY, {"node": 20}).fetchone()[0] in (0, 20, 35)
    (folder / "1.json").unlink()
    gone = CliRunner().invoke(app, ["check", str(out), "--tiles", str(folder)])
    assert gone.exit_code == 3
    assert "tile 1" in gone.output


def test_tiles_by_length_are_checked_by_their_steps(tmp_path: Path) -> None:
    (tmp_path / "roads.csv").write_text("a,b,m\n" + "".join(f"{n},{n + 1},70\n" for n in range(9)))
    (tmp_path / "tiles.csv").write_text(
        "node,tile\n" + "".join(f"{n},{n // 5}\n" for n in range(10))
    )
    out = str(tmp_path / "out.json")
    asked = ["--columns", "a,b", "--weight", "m", "--epsilon-per-km", "9", "--sites", "0,9"]
    tiles = ["--mechanism", "exponential", "--tiles", str(tmp_path / "tiles.csv"), "-o", out]
    told = CliRunner().invoke(app, ["design", str(tmp_path / "roads.csv"), *asked, *tiles])
    assert told.exit_code == 0, told.output
    checked = CliRunner().invoke(app, ["check", out, "--tiles", str(tmp_path / "out.tiles")])
    said = " ".join(checked.output.split())
    assert "all 9 that the 2 tiles list, between 10 nodes, checked exactly" in said
    assert "only the graph can tell whether it has more, and how long they are" in said


def test_tiles_that_cannot_be_written_are_refused_before_anything_is(tmp_path: Path) -> None:
    roads, some = tmp_path / "roads.csv", tmp_path / "some.csv"
    roads.write_text("a,b,m\n" + "".join(f"{a},{b},100\n" for a, b in streets(3)))
    some.write_text("node,tile\n0,x\n")
    (tmp_path / "whole.csv").write_text("node,tile\n" + "".join(f"{n},x\n" for n in range(9)))
    usual = [*("design", str(roads), "--columns", "a,b", "--sites", "0,8")]

    def refused(tiles: str, *options: str) -> str:
        before = set(tmp_path.iterdir())
        out = ["--tiles", str(tmp_path / tiles), "-o", str(tmp_path / "out.json")]
        told = CliRunner().invoke(app, [*usual, *options, *out])
        assert told.exit_code == 2
        assert set(tmp_path.iterdir()) == before
        return " ".join(told.output.split())

    assert "has no label for node 1 and 7 more" in refused("some.csv", "--epsilon", "1")
    (tmp_path / "out.tiles").mkdir()
    assert "the folder of the tiles must be new" in refused("whole.csv", "--epsilon", "1")


@pytest.mark.slow
def test_the_page_of_the_example(
    browser: Browser,  # noqa: F811
    page_folder: tuple[str, Path],
) -> None:
    address, folder = page_folder
    example = Path(__file__).parents[2] / "examples" / "phone" / "index.html"
    shutil.copy(example, folder / "phone.html")
    shutil.copy(folder / "m.json", folder / "hospitals.json")
    shutil.copytree(folder / "tiles", folder / "hospitals.tiles")
    page = browser.new_page()
    page.goto(f"{address}/phone.html")
    page.wait_for_selector("body[data-ready=yes]")
    for tile, node, said in (
        ("4", "40", {"a", "b", "c"}),
        ("4", "0", {"a node must be one of the tile"}),
    ):
        page.fill("#tile", tile)
        page.fill("#node", node)
        page.click("#say")
        page.wait_for_function("document.querySelector('#answer').value !== ''")
        assert page.evaluate("document.querySelector('#answer').value") in said
        page.evaluate("document.querySelector('#answer').value = ''")
    page.close()
