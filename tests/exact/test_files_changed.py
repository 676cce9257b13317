"""Mechanism files that were changed or cut off: noticed, or proved again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rainbowdp as rb
import reference
from mechanism_files import (
    THREE,
    TOTAL,
    Content,
    as_texts,
    changed,
    contents,
    leaves,
    made,
    write,
)
from rainbowdp.rules.files import load, restore
from rainbowdp.storage.documents import checksum


@pytest.mark.parametrize("kind", ["graph", "polygon", "proximity", "boundary"])
def test_a_change_of_any_single_value_is_noticed(kind: str, tmp_path: Path) -> None:
    content = as_texts(contents(kind))
    content["checksum"] = checksum(content)
    path = tmp_path / "m.json"
    write(content, path, sealed=False)
    assert load(path) == restore(content)
    every = list(leaves(content))
    for where, value in every if len(every) < 80 else [*every[:40], *every[40::9]]:
        other = value + 1 if type(value) is int else f"{value}1"
        write(changed(content, where, other), path, sealed=False)
        with pytest.raises(rb.InvalidFile):
            load(path)
    for key in content:
        write({k: v for k, v in content.items() if k != key}, path, sealed=False)
        with pytest.raises(rb.InvalidFile):
            load(path)


@pytest.mark.parametrize("kind", ["graph", "graph, numbers", "polygon", "gaussian"])
def test_a_changed_row_is_proved_again(kind: str, tmp_path: Path) -> None:
    """With a checksum that fits: weight moved within a first row, and weights that are none."""
    content = contents(kind)
    path = tmp_path / "m.json"
    row = content["regions"][0]["rows"][0]
    for far in (TOTAL // 10, TOTAL // 3):
        moved = [row[0] + min(far, row[1]), row[1] - min(far, row[1]), *row[2:]]
        with pytest.raises(rb.InvalidFile) as caught:
            load(write(changed(content, ("regions", 0, "rows", 0), moved), path))
        assert "must be close" in str(caught.value)
    for weight in (row[0] + 1, row[0] - 1, -row[0], float(row[0]), True, f"0{row[0]}", None, [1]):
        with pytest.raises(rb.InvalidFile):
            load(write(changed(content, ("regions", 0, "rows", 0, 0), weight), path))


def test_the_best_row_with_one_unit_moved_is_refused(tmp_path: Path) -> None:
    content = contents("homogeneous")
    content["ladder"] = content["ladder"][:1]
    assert load(write(content, tmp_path / "m.json")).proof.pairs == 3
    first, other = content["ladder"][0]
    content["ladder"] = [[first + 2, other - 1]]
    with pytest.raises(rb.InvalidFile):
        load(write(content, tmp_path / "m.json"))


@pytest.mark.parametrize("kind", ["graph", "homogeneous", "proximity"])
def test_a_stricter_guarantee_is_proved_again(kind: str, tmp_path: Path) -> None:
    content = contents(kind)
    for guarantee in (
        {"kind": "dp", "epsilon": "1/10", "delta": "0"},
        {"kind": "dp", "ratio": "11/10", "delta": "0"},
        {"kind": "gaussian", "mu": "1/10"},
        {"kind": "trade-off", "knots": [["0", "1"], ["1", "0"]]},
    ):
        with pytest.raises(rb.InvalidFile):
            load(write({**content, "guarantee": guarantee}, tmp_path / "m.json"))


@pytest.mark.parametrize(
    "steps",
    [
        lambda s: [s[0] - 1, *s[1:]],
        lambda s: [s[0], s[1] - 2, *s[2:]],
        lambda s: [s[1], s[0], *s[2:]],
        lambda s: [s[0], s[1], 0],
        lambda s: [*s, -1],
        lambda s: [*s, True],
        lambda s: [float(s[0]), *s[1:]],
        lambda s: [float("nan"), *s[1:]],
        lambda s: [*s, None],
        lambda s: [f"0{s[0]}", *s[1:]],
        lambda s: [],
        lambda s: None,
        lambda s: "12",
    ],
)
def test_weights_by_margin_are_proved_again(
    steps: Callable[[list[int]], Any], tmp_path: Path
) -> None:
    content = contents("proximity") | {"guarantee": {"kind": "dp", "ratio": "3", "delta": "0"}}
    content |= {"steps": list(rb.proximity(THREE, rb.DP.from_ratio(3)).exact().rule.steps)}  # type: ignore[attr-defined]
    assert load(write(content, tmp_path / "m.json")).proof
    with pytest.raises(rb.InvalidFile):
        load(write({**content, "steps": steps(content["steps"])}, tmp_path / "m.json"))


@pytest.mark.parametrize(
    "total", [0, -1, True, 1.0, float("inf"), float("nan"), "01", None, 1 << 63]
)
@pytest.mark.parametrize("delta", ["0", "1/2", "1"])
def test_a_total_that_is_none_is_refused(total: Any, delta: str, tmp_path: Path) -> None:
    content = contents("proximity")
    content["guarantee"]["delta"] = delta
    content["total"] = total
    if not isinstance(total, int) or total < 2 or delta == "0":
        with pytest.raises(rb.InvalidFile):
            load(write(content, tmp_path / "m.json"))
    content["steps"] = [0]
    if type(total) is not int or total <= 0 or delta != "1":
        with pytest.raises(rb.InvalidFile):
            load(write(content, tmp_path / "m.json"))


def with_row(number: int, change: Callable[[list[int]], Any]) -> Callable[[Content], Any]:
    return lambda c: c["rows"].__setitem__(number, change(c["rows"][number]))


@pytest.mark.parametrize(
    "change",
    [
        with_row(0, lambda row: [row[0] + row[1], 0, row[2]]),
        with_row(0, lambda row: [row[0] + row[0] // 10**6, row[1] - row[0] // 10**6, row[2]]),
        with_row(0, lambda row: [row[0] + 1, *row[1:]]),
        with_row(0, lambda row: [float(row[0]), *row[1:]]),
        with_row(0, lambda row: row[:-1]),
        with_row(-1, lambda row: None),
        lambda c: c["rows"].pop(),
        lambda c: c["rows"].append(c["rows"][0]),
        lambda c: c.update(total=2 * c["total"]),
        lambda c: c["shape"].update(answers=4),
        lambda c: c["shape"].update(neighbors="added or removed"),
        lambda c: c["shape"].update(ties="any leader", labeled=0),
        lambda c: c["shape"].update(ratio="1/100"),
        lambda c: c["shape"].update(ratio="2"),
        lambda c: c["shape"].update(farthest=True),
        lambda c: c["shape"].update(knots=[0, 1]),
        lambda c: c["shape"].update(labeled=0),
        lambda c: c["shape"].update(color="red"),
        lambda c: c["shape"].pop("ratio"),
        lambda c: c["question"].update(ties="any leader"),
        lambda c: c["question"].update(rows_per_person=2),
        lambda c: c["question"].update(neighbors="added or removed"),
        lambda c: c.update(guarantee={"kind": "dp", "epsilon": "0.99", "delta": "0"}),
    ],
)
def test_a_margin_table_is_proved_again(change: Callable[[Content], Any], tmp_path: Path) -> None:
    content = contents("margin table")
    assert load(write(content, tmp_path / "m.json")).proof
    change(content)
    with pytest.raises(rb.InvalidFile) as caught:
        load(write(content, tmp_path / "m.json"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        "3",
        '"rainbowdp mechanism"',
        "not json",
        "{}",
        '{"format": "rainbowdp mechanism"}',
        '{"format": "rainbowdp mechanism", "version": 1}',
        "\ufeff{}",
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"format": "rainbowdp mechanism", "version": ' + "9" * 5000 + "}",
    ],
    ids=range(14),
)
def test_what_is_no_mechanism_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(rb.InvalidFile) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_a_file_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    path = made("graph").save(tmp_path / "m.json")
    whole = path.read_bytes()
    for end in [*range(0, len(whole) - 2, 41), len(whole) - 2]:
        path.write_bytes(whole[:end])
        with pytest.raises(rb.InvalidFile):
            load(path)
    path.write_bytes(whole.replace(b"left", b"l\xfft", 1))
    with pytest.raises(rb.InvalidFile):
        load(path)


def test_a_path_without_a_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.json", tmp_path / "none" / "m.json"):
        with pytest.raises(rb.InvalidFile) as caught:
            load(path)
        reference.assert_one_sentence(caught.value, path)
