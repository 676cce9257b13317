"""Histograms by simulation, and a device that repeats itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rainbowdp as rb
from reference import assert_one_sentence

LINE = [(n, n + 1) for n in range(11)]
LABELS = ["a"] * 4 + ["b"] * 5 + ["c"] * 3
RAINBOWS = {"a": tuple("abc"), "b": tuple("bac"), "c": tuple("cba")}
GRAPH = rb.RainbowGraph(LINE, RAINBOWS, labels=LABELS)
MADE = rb.best(GRAPH, rb.DP("0.8"))
SPREAD = {n: float(1 + n % 3) for n in range(12)}
TRUE = {"a": 700, "b": 250, "c": 50}


def simulated(runs: int, seed: int) -> list[dict[str, int]]:
    """Reports of people in fixed regions, each at a place drawn by ``SPREAD``: by plain sums."""
    random = np.random.default_rng(seed)
    rows = {n: np.array([MADE[n][v] for v in "abc"]) for n in range(12)}
    found = []
    for _ in range(runs):
        counts = np.zeros(3, dtype=np.int64)
        for region, people in TRUE.items():
            places = [n for n in range(12) if LABELS[n] == region]
            weights = np.array([SPREAD[n] for n in places])
            where = random.multinomial(people, weights / weights.sum())
            for place, number in zip(places, where, strict=True):
                counts += random.multinomial(number, rows[place] / rows[place].sum())
        found.append(dict(zip("abc", counts.tolist(), strict=True)))
    return found


def test_the_channel_is_the_mean_of_rows() -> None:
    names, rows = rb.channel(MADE, SPREAD)
    assert names == ("a", "b", "c")
    for name, row in zip(names, rows, strict=True):
        places = [n for n in range(12) if LABELS[n] == name]
        total = sum(SPREAD[n] for n in places)
        expected = [sum(SPREAD[n] * MADE[n][v] for n in places) / total for v in "abc"]
        assert row.tolist() == pytest.approx(expected)


def test_the_inversion_is_unbiased_and_covers() -> None:
    runs = 300
    found = [rb.collect(MADE, reports, SPREAD) for reports in simulated(runs, 1)]
    for name, people in TRUE.items():
        counts = np.array([each[name].count for each in found])
        error = counts.std() / np.sqrt(runs)
        assert abs(counts.mean() - people) < 4 * error
        covered = np.mean([each[name].low <= people <= each[name].high for each in found])
        assert covered > 0.95 - 4 * np.sqrt(0.05 * 0.95 / runs)
        widths = np.array([each[name].high - each[name].low for each in found])
        assert np.median(widths) < 2 * 1.96 * counts.std() * 1.1  # and not by being wide
    together = [rb.collect(MADE, reports, SPREAD, together=True) for reports in simulated(100, 2)]
    all_right = np.mean(
        [all(h[n].low <= t <= h[n].high for n, t in TRUE.items()) for h in together]
    )
    assert all_right > 0.95 - 4 * np.sqrt(0.05 * 0.95 / 100)


def test_iterative_bayes_is_never_negative_and_covers() -> None:
    runs = 40
    found = [
        rb.collect(MADE, reports, SPREAD, method="bayes", seed=at)
        for at, reports in enumerate(simulated(runs, 3))
    ]
    for name, people in TRUE.items():
        assert all(each[name].low >= 0 for each in found)
        covered = np.mean([each[name].low <= people <= each[name].high for each in found])
        assert covered > 0.95 - 4 * np.sqrt(0.05 * 0.95 / runs)
    assert sum(each.count for each in found[0].estimates.values()) == pytest.approx(1000)
    few = rb.collect(MADE, {"a": 900, "b": 100}, SPREAD, method="bayes", seed=1)
    raw = rb.collect(MADE, {"a": 900, "b": 100}, SPREAD)
    assert min(each.count for each in few.estimates.values()) >= 0
    assert min(each.count for each in raw.estimates.values()) < 0  # unbiased, so it must be


def test_a_population_is_less_certain_than_its_sample() -> None:
    reports = simulated(1, 5)[0]
    people, population = (
        rb.collect(MADE, reports, SPREAD, population=flag) for flag in (False, True)
    )
    for name in TRUE:
        assert people[name].count == population[name].count
        assert people[name].high - people[name].low < population[name].high - population[name].low


def test_what_the_spread_is_worth() -> None:
    found = rb.collect(MADE, {"a": 10, "b": 5, "c": 5}, SPREAD)
    names, rows = rb.channel(MADE, SPREAD)
    inverse = np.linalg.inv(rows)
    for column, name in enumerate(names):
        worst = max(
            abs(np.array([MADE[n][v] for v in "abc"]) @ inverse[:, column] - 1)
            for n in range(12)
            if LABELS[n] == name
        )
        assert found.misplaced[name] == pytest.approx(worst)
    assert "20 reports" in str(found)
    assert found.as_dict()["estimates"]["a"]["count"] == found["a"].count


def test_listed_reports_are_counted() -> None:
    assert (
        rb.collect(MADE, list("aabc")).estimates
        == rb.collect(MADE, {"a": 2, "b": 1, "c": 1}).estimates
    )


ALIKE = rb.Mechanism.from_table(GRAPH, dict.fromkeys(range(12), (0.5, 0.25, 0.25)), rb.DP(1))
BAD: list[tuple[Any, str]] = [
    (lambda: rb.collect(MADE, {}), "at least one report"),
    (lambda: rb.collect(MADE, {"x": 1}), "got 'x'"),
    (lambda: rb.collect(MADE, {"a": -1}), "whole numbers from 0"),
    (lambda: rb.collect(MADE, {"a": 1}, confidence=1), "between 0 and 1"),
    (lambda: rb.collect(MADE, {"a": 1}, method="magic"), "got 'magic'"),  # type: ignore[arg-type]
    (lambda: rb.collect(ALIKE, {"a": 1}), "cannot be told apart"),
    (lambda: rb.collect(MADE, {"a": 1}, {n: float(n < 9) for n in range(12)}), "'c' has none"),
    (lambda: rb.collect(MADE, {"a": 1})["x"], "got 'x'"),
    (lambda: rb.Memory(MADE).report(object()), "must be a number"),
]


@pytest.mark.parametrize(("ask", "said"), BAD)
def test_what_makes_no_sense_is_one_sentence(ask: Any, said: str) -> None:
    with pytest.raises(rb.RainbowError) as refused:
        ask()
    assert_one_sentence(refused.value, said)


def test_a_device_remembers_across_restarts(tmp_path: Path) -> None:
    file = tmp_path / "memory.json"
    mechanism = rb.by_kind(GRAPH, rb.DP("0.3"), "margin-flip")
    mechanism.save(tmp_path / "map.json")
    phone = rb.load(tmp_path / "map.json")
    keys = [mechanism.key(n) for n in range(12)]  # type: ignore[attr-defined]
    said = [rb.Memory(phone, file).report(key) for key in keys]
    for _ in range(3):
        again = rb.Memory(phone, file)
        assert [again.report(dict(reversed(key.items()))) for key in keys] == said
    assert again.places == len({str(key) for key in keys})
    assert (file.stat().st_mode & 0o777) == 0o600
    assert f"{again.places} places remembered cost {0.3 * again.places:g}-DP" in again.cost
    assert "12 fresh reports would cost 3.6-DP" in again.cost
    for other, text in ((rb.optimal(GRAPH, rb.DP(1)), "another mechanism"),):
        with pytest.raises(rb.InvalidFile, match=text):
            rb.Memory(other, file)
    for text in ("{", "[]", file.read_text().replace('": 0', '": 7').replace('": 1', '": 7')):
        file.write_text(text)
        with pytest.raises(rb.InvalidFile):
            rb.Memory(phone, file)


def test_answers_are_drawn_as_the_mechanism_says() -> None:
    mechanism = rb.optimal(GRAPH, rb.DP("0.3"))
    firsts = [rb.Memory(mechanism).report(0) for _ in range(800)]
    chance = mechanism[0]["a"]
    assert abs(firsts.count("a") / 800 - chance) < 5 * np.sqrt(chance * (1 - chance) / 800)
    assert "1.41421-Gaussian" in _cost(rb.GaussianDP(1))


def _cost(guarantee: Any) -> str:
    memory = rb.Memory(rb.optimal(GRAPH, guarantee))
    for place in (0, 5, 0):
        memory.report(place)
    return memory.cost
