"""The lines of Python on the page run, and print what the page shows."""

from __future__ import annotations

import ast
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import rainbowdp as rb
from rainbowdp.studio.answers import answer, mechanism_file
from rainbowdp.studio.examples import EXAMPLES, example
from rainbowdp.studio.loading import open_world
from rainbowdp.studio.offers import offered
from rainbowdp.studio.recipe import spell
from rainbowdp.studio.settings import Settings
from rainbowdp.studio.worlds import World

TOWN = "a b\nb c\nc d\na: yes > no\nb: yes > no\nc: no > yes\nd: no > yes\n"


def printed(
    code: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> dict[Any, float]:
    monkeypatch.chdir(folder)
    capsys.readouterr()
    exec(compile(code, "recipe", "exec"), {})
    last = capsys.readouterr().out.strip().splitlines()[-1]
    found: dict[Any, float] = eval(last, {"Fraction": Fraction})
    return found


def same(world: World, settings: Settings, row: dict[Any, float]) -> None:
    # Integer rows of a boundary by hand grow along a polygon just inside a Gaussian curve.
    exactly = world.question is None or isinstance(settings.guarantee, rb.DP)
    position = settings.dataset or 0
    order = world.graph.rainbow(world.graph.datasets[position])
    shown = answer(world, settings)["rows"][position]
    assert [float(row[a]) for a in order] == pytest.approx(
        shown, rel=1e-9, abs=1e-14 if exactly else 1e-4
    )


@pytest.mark.parametrize(
    "guarantee",
    [
        rb.DP("1.5", "0.01"),
        pytest.param(rb.DP.from_ratio(6, delta="1/1000"), marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(
    ("name", "mechanism"), [(name, one) for name in EXAMPLES for one in offered(example(name))]
)
def test_the_lines_do_the_same(
    name: str,
    mechanism: str,
    guarantee: rb.DP,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    world = example(name)
    for position in (0, len(world.graph) // 2, len(world.graph) - 1):
        settings = Settings(mechanism, guarantee, None, position)
        code = answer(world, settings)["recipe"]
        assert len(code.splitlines()) <= 5
        same(world, settings, printed(code, tmp_path, monkeypatch, capsys))


def test_a_boundary_by_hand_and_a_gaussian_promise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("paper", "travel"):
        world = example(name)
        for guarantee in (rb.DP(2), rb.GaussianDP("0.9")):
            settings = Settings("homogeneous", guarantee, (0.5, 0.3, 0.2), 3)
            code = answer(world, settings)["recipe"]
            assert "boundary=[0.5, 0.3, 0.2]" in code
            same(world, settings, printed(code, tmp_path, monkeypatch, capsys))


@pytest.mark.slow
def test_loaded_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "town.txt").write_text(TOWN)
    for name in ("paper", "travel"):
        for mechanism in ("homogeneous", "proximity"):
            text = mechanism_file(example(name), Settings(mechanism, rb.DP("1.5")))
            (tmp_path / f"{name}-{mechanism}.json").write_text(text)
    rb.best(rb.Winner(["a", "b", "c"]), rb.DP("1.5")).save(str(tmp_path / "table.json"))
    rb.best(rb.Quantile("1/2", range(5)), rb.DP("1.5")).save(str(tmp_path / "bins.json"))
    monkeypatch.chdir(tmp_path)
    for file in sorted(tmp_path.iterdir()):
        world = open_world(file.name)
        for mechanism in offered(world):
            settings = Settings(mechanism, rb.DP("1.5", "0.01"), None, len(world.graph) - 1)
            code = answer(world, settings)["recipe"]
            assert len(code.splitlines()) <= 5
            same(world, settings, printed(code, tmp_path, monkeypatch, capsys))


@pytest.mark.slow
def test_the_lines_run_on_their_own(tmp_path: Path) -> None:
    for name in EXAMPLES:
        code = answer(example(name), Settings("homogeneous", rb.DP("1.5")))["recipe"]
        run = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert run.stdout.startswith("{")
        ast.parse(code)


@pytest.mark.parametrize(
    ("guarantee", "text"),
    [
        (rb.DP("0.75"), 'rb.DP("0.75")'),
        (rb.DP("1/3", "1e-9"), 'rb.DP("1/3", "1E-9")'),
        (rb.DP.from_ratio(6, 5), 'rb.DP.from_ratio("6/5")'),
        (rb.GaussianDP(1), 'rb.GaussianDP("1")'),
        (
            rb.TradeOff([(0, 1), ("1/3", "1/3"), (1, 0)]),
            "rb.TradeOff([('0', '1'), ('1/3', '1/3'), ('1', '0')])",
        ),
    ],
)
def test_a_guarantee_is_spelled_exactly(guarantee: Any, text: str) -> None:
    assert spell(guarantee) == text
    assert eval(text, {"rb": rb}) == guarantee
