"""Every field of a file of every family, changed: refused, or private for what it then says.

The oracle shares no code with the package: it takes the change of tables from the words that are
printed, plays it on all small histograms, and compares all sets of answers in fractions.
"""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import rainbowdp as rb
import reference
from mechanism_files import TOTAL, Content, as_texts, changed, contents, leaves, made, write
from rainbowdp.exact.mechanism import ExactMechanism
from rainbowdp.rules.files import load, restore

Counts = tuple[int, ...]

TABLES = (
    "homogeneous",
    "boundary",
    "proximity",
    "margin table",
    "margin table, any leader",
    "coins",
    "coins, any leader",
    "quantile",
    "threshold",
    "one person, many records",
)


def others_of(value: Any) -> Iterator[Any]:
    """What somebody might write in the place of a value."""
    yield from (None, True, [], {}, "", float("nan"), float("inf"))
    if type(value) is int:
        yield from (
            float(value),
            str(value),
            value + 1,
            value - 1,
            2 * value,
            -value,
            0,
            3,
            10**400,
        )
    elif isinstance(value, str):
        yield from (f"{value}1", f" {value}", value.upper(), 1, 0.5, "1/3", "2", "1e400", "-1")
        yield from ("substituted", "added or removed", "any leader", "first listed", "winner")
        if re.fullmatch(r"\d+(/\d+)?", value):
            number = Fraction(value)
            yield from (float(number), str(number / 2), str(number * 2), f"{number * 7}/7")
    elif value is None:
        yield from ("who", 0, 1, "1/2")


def mutations(content: Content) -> Iterator[tuple[str, Content]]:
    """Each leaf changed, each key dropped, doubled in spelling or added, lists cut and longer."""
    every = list(leaves(content))
    for where, value in every if len(every) < 60 else [*every[:36], *every[36 :: len(every) // 6]]:
        for other in others_of(value):
            yield f"{where} = {other!r}", changed(content, where, other)
    for key in content:
        yield f"no {key}", {k: v for k, v in content.items() if k != key}
        yield f"{key} = null", {**content, key: None}
        if isinstance(content[key], list):
            for cut in (content[key][:-1], content[key][::-1], content[key] * 2):
                yield f"{key} cut or longer", {**content, key: cut}
        if isinstance(content[key], dict):
            yield f"more in {key}", {**content, key: {**content[key], "note": 1}}
            for inner in content[key]:
                rest = {k: v for k, v in content[key].items() if k != inner}
                yield f"no {inner} in {key}", {**content, key: rest}
    yield "one key more", {**content, "note": "trust me"}
    yield "no question, words of tables", {**content, "question": None}


def small_tables(groups: int) -> list[Counts]:
    most = {1: 9, 2: 5, 3: 3}.get(groups, 2)
    return [
        counts
        for counts in itertools.product(range(most + 1), repeat=groups)
        if sum(counts) <= most or groups == 1
    ]


def one_change(one: Counts, other: Counts, rows: int, substituted: bool) -> bool:
    gained = sum(max(0, b - a) for a, b in zip(one, other, strict=True))
    lost = sum(max(0, a - b) for a, b in zip(one, other, strict=True))
    if substituted:
        return max(gained, lost) <= rows
    return max(gained, lost) <= rows and min(gained, lost) == 0


def said(mechanism: ExactMechanism) -> tuple[int, bool]:
    """How many records of one person, and whether they are replaced: from the words alone."""
    words = mechanism.proof.scope
    number = re.search(r"at most (\d+) records?\b", words)
    assert words.startswith("for tables of every size, one ")
    assert words.endswith(("substituted", "added or removed"))
    return int(number[1]) if number else 1, words.endswith("substituted")


def is_private(mechanism: ExactMechanism, question: Any) -> bool:
    """Every two small tables that one change can join, all sets of answers, both ways."""
    assert isinstance(mechanism.guarantee, rb.DP)
    rows, substituted = said(mechanism)
    names = [name for name, _ in question.groups]
    tables = small_tables(len(names))
    chances = {
        counts: [
            Fraction(weight, sum(row))
            for row in [mechanism.at(dict(zip(names, counts, strict=True))).weights]
            for weight in row
        ]
        for counts in tables
    }
    most, delta = mechanism.guarantee.exact_ratio, mechanism.guarantee.exact_delta
    if most is None:
        assert mechanism.guarantee.exact_epsilon is not None
        _, most = reference.exp_between(mechanism.guarantee.exact_epsilon)
    return all(
        sum(max(Fraction(0), a - most * b) for a, b in zip(chances[x], chances[y], strict=True))
        <= delta
        for x, y in itertools.permutations(tables, 2)
        if one_change(x, y, rows, substituted)
    )


def asked(mechanism: ExactMechanism) -> Any:
    """The question that the loaded file shows, made again from its parts."""
    shown = dict(mechanism.question or {})
    kinds: dict[str, Any] = {
        "winner": rb.Winner,
        "quantile": rb.Quantile,
        "threshold": rb.Threshold,
    }
    return kinds[shown.pop("kind")](**shown)


def rows_by_counts(mechanism: ExactMechanism) -> str:
    """All that the rows of histograms depend on: how columns and bins are called does not count."""
    shown = dict(mechanism.question or {})
    words = [shown.get(key) for key in ("kind", "q", "ties", "at_least", "rows_per_person")]
    return repr((mechanism.guarantee, mechanism.rule.describe(), mechanism.neighbors, words))


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[pytest.mark.slow] if kind != "homogeneous" else [])
        for kind in TABLES
    ],
)
def test_any_change_is_refused_or_private_for_what_is_said(kind: str, tmp_path: Path) -> None:
    content = contents(kind)
    for region in content.get("regions", ()):  # a shorter ladder is one, too
        region["rows"] = region["rows"][:9]
    if "ladder" in content:
        content["ladder"] = content["ladder"][:9]
    assert is_private(restore(as_texts(content)), asked(restore(as_texts(content))))
    kept: dict[str, ExactMechanism] = {}
    written: dict[str, str] = {}
    for name, other in mutations(content):
        try:
            mechanism = load(write(other, tmp_path / "m.json"))
        except rb.InvalidFile:
            continue
        kept[name], written[name] = mechanism, json.dumps(as_texts(other), sort_keys=True)
    distinct = {rows_by_counts(m): (name, m) for name, m in kept.items()}
    for name, mechanism in distinct.values():
        assert is_private(mechanism, asked(mechanism)), name
    for name, mechanism in kept.items():  # nothing is understood otherwise than it is written
        assert written[name] == json.dumps(mechanism.describe(), sort_keys=True)
        assert not re.search("nan|one key more|more in|no question", name)
    assert len(kept) < 100  # text can be changed in more ways; all were checked above


@pytest.mark.parametrize("kind", ["homogeneous", "coins", "one person, many records"])
def test_what_one_person_may_have_is_in_the_words(kind: str, tmp_path: Path) -> None:
    content = contents(kind)
    rows = content["question"]["rows_per_person"]
    for person in (None, "who"):
        content["question"] |= {"person": person}
        words = load(write(content, tmp_path / "m.json")).proof.scope
        assert ("as you promise" in words) == (person is None and rows > 1)
        assert ("'who'" in words) == (person is not None)
        assert (f"at most {rows} record" in words) == (rows > 1 or person is not None)
    content["question"]["rows_per_person"] = rows + 2
    try:
        words = load(write(content, tmp_path / "m.json")).proof.scope
    except rb.InvalidFile:
        assert kind == "coins"
    else:
        assert f"at most {rows + 2} records" in words


@pytest.mark.parametrize(
    ("kind", "where", "other"),
    [
        ("homogeneous", ("note",), "trust me"),
        ("homogeneous", ("mixing",), 0),
        ("homogeneous", ("mixing",), 0.0),
        ("homogeneous", ("mixing",), "0/1"),
        ("homogeneous", ("guarantee", "epsilon"), 0.5),
        ("homogeneous", ("guarantee", "epsilon"), "2/4"),
        ("homogeneous", ("guarantee", "delta"), 0),
        ("homogeneous", ("ladder", 0, 0), 1.0),
        ("boundary", ("regions", 0, "note"), 1),
        ("coins", ("coins", "note"), 1),
        ("coins", ("question", "note"), 1),
        ("quantile", ("question", "q"), 0.9),
        ("quantile", ("question", "q"), "0.9"),
        ("quantile", ("question", "bins", 0, 0), "0"),
        ("quantile", ("question", "bins", 0, 0), 0.0),
        ("threshold", ("question", "minimum"), "65"),
        ("threshold", ("question", "minimum"), 65.0),
        ("threshold", ("question", "at_least"), 5.0),
        ("threshold", ("question", "at_least"), True),
    ],
)
def test_what_is_spelled_otherwise_is_refused(
    kind: str, where: tuple[Any, ...], other: Any, tmp_path: Path
) -> None:
    content = contents(kind)
    assert load(write(content, tmp_path / "m.json"))
    with pytest.raises(rb.InvalidFile):
        load(write(changed(content, where, other), tmp_path / "m.json"))


@pytest.mark.parametrize("kind", ["homogeneous", "margin table", "coins", "quantile"])
def test_no_graph_can_bring_the_rows_of_a_table_question(kind: str) -> None:
    """Neither by a file nor by a mechanism that is made with keys of its own."""
    mine = made(kind)
    for locate in (None, lambda dataset: dataset):
        with pytest.raises(rb.InvalidMechanism):
            ExactMechanism(mine.guarantee, mine.answers, mine.rule, locate=locate)


def no_pairs(content: Content) -> Content:
    """Rows that say the truth for certain, and no region beside another."""
    forged = copy.deepcopy(content)
    for number, region in enumerate(forged["regions"]):
        width = len(region["rows"][0])
        region["rows"] = [[TOTAL if v == number else 0 for v in range(width)]]
    forged |= {"touching": [], "question": None}
    forged["guarantee"] = {"kind": "dp", "epsilon": "1/1000", "delta": "0"}
    return forged


@pytest.mark.parametrize("word", ["substituted", "added or removed", "one record apart", "", None])
def test_a_promise_about_tables_needs_a_question(word: Any, tmp_path: Path) -> None:
    forged = no_pairs(contents("boundary")) | {"neighbors": word}
    with pytest.raises(rb.InvalidFile):
        load(write(forged, tmp_path / "m.json"))


def test_the_file_of_a_graph_says_that_it_proves_its_listed_pairs_only(tmp_path: Path) -> None:
    forged = no_pairs(contents("boundary")) | {"neighbors": "joined by an edge"}
    proof = load(write(forged, tmp_path / "m.json")).proof
    assert proof.pairs == 0
    assert "the 0 listed pairs of touching regions" in str(proof)
    assert "only the graph can tell whether these are all" in str(proof)


@pytest.mark.parametrize("kind", ["homogeneous", "proximity", "margin table", "coins", "quantile"])
def test_rows_of_a_question_are_nothing_without_it(kind: str, tmp_path: Path) -> None:
    for word in ("substituted", "added or removed", "joined by an edge"):
        forged = contents(kind) | {"question": None, "neighbors": word}
        if (kind, word) == ("proximity", "joined by an edge"):
            assert "only the graph" in load(write(forged, tmp_path / "m.json")).proof.scope
        else:
            with pytest.raises(rb.InvalidFile):
                load(write(forged, tmp_path / "m.json"))


@pytest.mark.parametrize(
    "change",
    [
        {"answers": ["x", "z"]},
        {"answers": ["y", "x"]},
        {"name": ""},
        {"name": 3},
        {"groups": None},
        {"groups": [["all", {"equals": 3}]]},
        {"groups": [["all", {"low": 0}]]},
        {"rows_per_person": 1.0},
        {"rows_per_person": 0},
        {"person": 3},
        {"neighbors": "substituted"},
        {"proved": "for every table"},
    ],
)
def test_a_custom_question_is_read_as_strictly(change: Content, tmp_path: Path) -> None:
    content = contents("custom")
    assert load(write(content, tmp_path / "m.json"))
    content["question"] |= change
    with pytest.raises(rb.InvalidFile):
        load(write(content, tmp_path / "m.json"))


def test_a_custom_question_is_proved_for_functions_that_keep_the_rule(tmp_path: Path) -> None:
    words = load(made("custom").save(tmp_path / "m.json")).proof.scope
    assert "if the function named 'sign', which no file holds" in words
    assert "change by at most 1" in words


@pytest.mark.parametrize("kind", ["proximity", "margin table", "quantile"])
@pytest.mark.parametrize(
    "other", [float, "0{}".format, bool, lambda total: [total], lambda total: None]
)
def test_a_total_that_is_no_integer_is_refused(kind: str, other: Any, tmp_path: Path) -> None:
    content = contents(kind)
    content["total"] = other(content["total"])
    with pytest.raises(rb.InvalidFile):
        load(write(content, tmp_path / "m.json"))
