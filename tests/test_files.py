"""Mechanism files: what is saved comes back, and what is not private does not."""

from __future__ import annotations

import copy
import errno
import json
import os
import stat
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import rainbowdp as rb
import reference
from rainbowdp.exact import BITS, ExactMechanism, Ladders, Margins
from rainbowdp.files import checksum, describe, load, restore, save

TOTAL = 1 << BITS
Content = dict[str, Any]
THREE = rb.Winner(["a", "b", "c"], "choice")


def chain(*labels: Any) -> rb.RainbowGraph:
    """Six datasets in a row, the first three in one region and the others in another."""
    orders = {labels[0]: ("yes", "no"), labels[1]: ("no", "yes")}
    marks = [labels[0]] * 3 + [labels[1]] * 3
    return rb.RainbowGraph([(i, i + 1) for i in range(5)], orders, ("yes", "no"), labels=marks)


def numbered() -> ExactMechanism:
    graph = rb.RainbowGraph([(0, 1), (2, 3)], [(1, 2, 3), (3, 2, 1), (2, 1, 3), (2, 1, 3)])
    return rb.optimal(graph, rb.DP("0.4")).exact()


def tabled() -> ExactMechanism:
    graph = rb.RainbowGraph([(0, 1)], [("yes", "no"), ("no", "yes")])
    return rb.Mechanism.from_table(graph, {0: (0.6, 0.4), 1: (0.3, 0.7)}, rb.DP(1)).exact()


def custom() -> ExactMechanism:
    question = rb.Custom(
        ["x", "y"],
        lambda n: {"x": max(0, n), "y": max(0, 1 - n)},
        neighbours="added or removed",
        name="sign",
    )
    return rb.best(question, rb.DP(1)).exact()


POLYGON = rb.TradeOff([(0, 1), ("1/10", "6/10"), ("1/3", "1/3"), ("6/10", "1/10"), (1, 0)])
KINDS: dict[str, Callable[[], ExactMechanism]] = {
    "graph": lambda: rb.optimal(chain("left", "right"), rb.DP(1, "1e-6")).exact(),
    "graph, tuples": lambda: rb.optimal(chain(("l", 1), ("r", ("x", 2))), rb.DP(1)).exact(),
    "graph, numbers": lambda: rb.optimal(chain(10, 20), rb.DP.from_ratio(3, 2)).exact(),
    "graph, rainbows and a lonely part": numbered,
    "table": tabled,
    "gaussian": lambda: rb.optimal(chain("left", "right"), rb.GaussianDP("0.8")).exact(),
    "polygon": lambda: rb.optimal(chain("left", "right"), POLYGON).exact(),
    "homogeneous": lambda: rb.optimal(THREE, rb.DP("0.5")).exact(),
    "boundary": lambda: rb.optimal(THREE, rb.DP(1), ["0.4", "0.3", "0.3"]).exact(),
    "proximity": lambda: rb.proximity(THREE, rb.DP.from_ratio(3, delta="1/1000")).exact(),
    "margin table": lambda: rb.best(THREE, rb.DP(1)).exact(),
    "margin table, any leader": lambda: rb.best(
        rb.Winner(["a", "b"], ties="any leader", neighbours="added or removed"), rb.DP(1, "1e-3")
    ).exact(),
    "threshold": lambda: rb.best(rb.Threshold(5, "age", minimum=65), rb.DP(1)).exact(),
    "quantile": lambda: rb.best(rb.Quantile("0.9", [0, 0.5, 2, 3.25]), rb.DP(2)).exact(),
    "unicode": lambda: rb.best(rb.Winner(["grün", "赤", 'a "b" \\']), rb.DP(1)).exact(),
    "custom": custom,
    "one person, many records": lambda: rb.best(
        rb.Winner(["a", "b"], "c", person="who", rows_per_person=3), rb.DP(1)
    ).exact(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_saved_comes_back(kind: str, tmp_path: Path) -> None:
    made = KINDS[kind]()
    path = tmp_path / "mechanism.json"
    assert save(made, path) == path
    back = load(path)
    assert back == made
    assert back.proof == made.proof
    assert back.rule == made.rule
    assert type(back.rule) is type(made.rule)
    assert (back.answers, back.neighbours) == (made.answers, made.neighbours)
    assert describe(back) == describe(made)
    save(back, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.json", "mechanism.json"]


def test_a_question_is_asked_out_of_its_file(tmp_path: Path) -> None:
    for guarantee in (rb.DP("0.5"), rb.DP(1)):
        mechanism = rb.best(THREE, guarantee)
        mechanism.save(str(tmp_path / "m.json"))
        back = load(tmp_path / "m.json")
        for counts in reference.histograms(3, 6):
            table = dict(zip("abc", counts, strict=True))
            assert back.at(table) == mechanism.exact_once.at(table)


def test_a_graph_is_asked_by_region_and_depth(tmp_path: Path) -> None:
    graph = chain("left", ("right", 1))
    mechanism = rb.optimal(graph, rb.DP(1))
    mechanism.save(str(tmp_path / "m.json"))
    back = load(tmp_path / "m.json")
    for d in graph.datasets:
        assert back.at((graph.region[d], graph.depth[d])) == mechanism.exact().at(d)


def test_a_file_is_readable_json_with_a_checksum(tmp_path: Path) -> None:
    save(KINDS["proximity"](), tmp_path / "m.json")
    text = (tmp_path / "m.json").read_text(encoding="utf-8")
    content = json.loads(text)
    assert text.endswith("}\n")
    assert content["format"] == "rainbowdp mechanism"
    assert content["version"] == 1
    assert content["guarantee"] == {"kind": "dp", "ratio": "3", "delta": "1/1000"}
    assert content["neighbours"] == "substituted"
    assert all(type(weight) is int for weight in content["steps"])
    claimed = content.pop("checksum")
    assert checksum(content) == claimed
    assert checksum(dict(reversed(content.items()))) == claimed


# what was changed


def contents(kind: str) -> Content:
    return copy.deepcopy(describe(KINDS[kind]()))


def write(content: Content, path: Path, *, sealed: bool = True) -> Path:
    """The content as a file, with a checksum that fits unless told otherwise."""
    content = dict(content)
    if sealed:
        content.pop("checksum", None)
        content["checksum"] = checksum(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, (*path, key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from leaves(part, (*path, number))
    else:
        yield path, value


def changed(content: Content, path: tuple[Any, ...], value: Any) -> Content:
    content = copy.deepcopy(content)
    place: Any = content
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return content


@pytest.mark.parametrize("kind", ["graph", "polygon", "proximity", "boundary"])
def test_a_change_of_any_single_value_is_noticed(kind: str, tmp_path: Path) -> None:
    content = contents(kind)
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
    for weight in (row[0] + 1, row[0] - 1, -row[0], float(row[0]), True, str(row[0]), None, [1]):
        with pytest.raises(rb.InvalidFile):
            load(write(changed(content, ("regions", 0, "rows", 0, 0), weight), path))


def test_the_best_row_with_one_unit_moved_is_refused(tmp_path: Path) -> None:
    content = contents("homogeneous")
    for region in content["regions"]:
        region["rows"] = region["rows"][:1]
    assert load(write(content, tmp_path / "m.json")).proof.pairs == 3
    for number, region in enumerate(content["regions"]):
        region["rows"][0] = [
            w + 2 if v == number else w - 1 for v, w in enumerate(region["rows"][0])
        ]
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
        lambda s: [str(s[0]), *s[1:]],
        lambda s: [],
        lambda s: None,
        lambda s: "12",
    ],
)
def test_weights_by_margin_are_proved_again(
    steps: Callable[[list[int]], Any], tmp_path: Path
) -> None:
    content = contents("proximity") | {"guarantee": {"kind": "dp", "ratio": "3", "delta": "0"}}
    content |= {"steps": list(rb.proximity(THREE, rb.DP.from_ratio(3)).exact().rule.steps)}  # type: ignore[union-attr]
    assert load(write(content, tmp_path / "m.json")).proof
    with pytest.raises(rb.InvalidFile):
        load(write({**content, "steps": steps(content["steps"])}, tmp_path / "m.json"))


@pytest.mark.parametrize(
    "total", [0, -1, True, 1.0, float("inf"), float("nan"), "1", None, 1 << 63]
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
        lambda c: c["shape"].update(neighbours="added or removed"),
        lambda c: c["shape"].update(ties="any leader", labelled=0),
        lambda c: c["shape"].update(ratio="1/100"),
        lambda c: c["shape"].update(ratio="2"),
        lambda c: c["shape"].update(farthest=True),
        lambda c: c["shape"].update(knots=[0, 1]),
        lambda c: c["shape"].update(labelled=0),
        lambda c: c["shape"].update(colour="red"),
        lambda c: c["shape"].pop("ratio"),
        lambda c: c["question"].update(ties="any leader"),
        lambda c: c["question"].update(rows_per_person=2),
        lambda c: c["question"].update(neighbours="added or removed"),
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


# what somebody might put into a file with a checksum that fits


Attack = Callable[[Content], Any]


def sure(content: Content) -> None:
    """Each region answers for certain."""
    for number, region in enumerate(content["regions"]):
        width = len(region["rows"][0])
        region["rows"] = [[TOTAL if v == number else 0 for v in range(width)]]


def no_touching(content: Content) -> None:
    sure(content)
    content["touching"] = []


def one_pair_missing(content: Content) -> None:
    content["touching"].pop()


def touching_itself(content: Content) -> None:
    sure(content)
    content["touching"] = [[0, 0], [1, 1], [2, 2]]


def a_region_missing(content: Content) -> None:
    content["regions"].pop()
    content["touching"] = [[0, 1]]


def a_region_without_rows(content: Content) -> None:
    content["regions"][2] |= {"rows": [], "certain": "c"}
    content["touching"] = [[0, 1]]


def two_regions_of_one_name(content: Content) -> None:
    content["regions"][0]["label"] = "b"


def foreign_regions(content: Content) -> None:
    for number, region in enumerate(content["regions"]):
        region["label"] = number


def a_pair_out_of_reach(content: Content) -> None:
    content["touching"][0] = [0, 7]


def a_pair_from_behind(content: Content) -> None:
    content["touching"][0] = [0, -1]


def a_pair_of_truths(content: Content) -> None:
    content["touching"][0] = [False, True]


def a_triple(content: Content) -> None:
    content["touching"][0] = [0, 1, 2]


def other_neighbours(content: Content) -> None:
    content["neighbours"] = "added or removed"


def neighbours_of_the_question(content: Content) -> None:
    content["question"]["neighbours"] = "added or removed"


def fewer_answers(content: Content) -> None:
    content["answers"].pop()


def more_answers(content: Content) -> None:
    content["answers"].append("d")


def an_answer_twice(content: Content) -> None:
    content["answers"] = ["a", "a", "b"]


def answers_of_no_kind(content: Content) -> None:
    content["answers"] = [None, 1.5, {"a": 1}]


def answers_in_another_order(content: Content) -> None:
    content["answers"].reverse()


def longer_rows(content: Content) -> None:
    for region in content["regions"]:
        region["rows"] = [[*row, 0] for row in region["rows"]]


def one_longer_row(content: Content) -> None:
    content["regions"][0]["rows"][0].append(0)


def certainty_for_a_question(content: Content) -> None:
    content["regions"][0]["certain"] = "a"


def an_answer_that_is_none(content: Content) -> None:
    content["regions"][0]["certain"] = "nobody"


def another_question(content: Content) -> None:
    content["question"] = rb.Quantile("1/2", [0, 1, 2, 3]).describe()


def a_question_with_more_answers(content: Content) -> None:
    content["question"]["answers"].append("d")


def a_question_in_part(content: Content) -> None:
    content["question"] = {"kind": "winner"}


def a_question_of_no_kind(content: Content) -> None:
    content["question"]["kind"] = "election"


def a_question_in_a_word(content: Content) -> None:
    content["question"] = "winner"


def a_question_with_extras(content: Content) -> None:
    content["question"]["weights"] = 3


def an_unknown_rule(content: Content) -> None:
    content["rule"] = "stairs"


def an_unknown_guarantee(content: Content) -> None:
    content["guarantee"]["kind"] = "zcdp"


def two_guarantees(content: Content) -> None:
    content["guarantee"] |= {"epsilon": "1/100", "ratio": "1000"}


def a_guarantee_in_a_list(content: Content) -> None:
    content["guarantee"] = ["dp"]


def a_guarantee_that_is_nan(content: Content) -> None:
    content["guarantee"] = {"kind": "dp", "epsilon": float("nan"), "delta": "0"}


def mixing_by_zero(content: Content) -> None:
    content["mixing"] = "1/0"


def endless_mixing(content: Content) -> None:
    content["mixing"] = float("inf")


def mixing_in_words(content: Content) -> None:
    content["mixing"] = "a little"


def negative_mixing(content: Content) -> None:
    content["mixing"] = "-1/2"


def another_version(content: Content) -> None:
    content["version"] = 2


def a_version_that_is_true(content: Content) -> None:
    content["version"] = True


def another_format(content: Content) -> None:
    content["format"] = "rainbowdp ledger"


ON_BOTH = [
    other_neighbours,
    neighbours_of_the_question,
    fewer_answers,
    more_answers,
    an_answer_twice,
    answers_of_no_kind,
    another_question,
    a_question_with_more_answers,
    a_question_in_part,
    a_question_of_no_kind,
    a_question_in_a_word,
    a_question_with_extras,
    an_unknown_rule,
    an_unknown_guarantee,
    two_guarantees,
    a_guarantee_in_a_list,
    a_guarantee_that_is_nan,
    mixing_by_zero,
    endless_mixing,
    mixing_in_words,
    negative_mixing,
    another_version,
    a_version_that_is_true,
    another_format,
]
ON_LADDERS = [
    no_touching,
    one_pair_missing,
    touching_itself,
    a_region_missing,
    a_region_without_rows,
    two_regions_of_one_name,
    foreign_regions,
    a_pair_out_of_reach,
    a_pair_from_behind,
    a_pair_of_truths,
    a_triple,
    longer_rows,
    one_longer_row,
    certainty_for_a_question,
    an_answer_that_is_none,
]


@pytest.mark.parametrize(
    ("kind", "attack"),
    [
        *(("homogeneous", attack) for attack in [*ON_LADDERS, *ON_BOTH]),
        *(("proximity", attack) for attack in ON_BOTH),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_a_question_is_proved_for_all_its_tables(kind: str, attack: Attack, tmp_path: Path) -> None:
    content = contents(kind)
    assert load(write(content, tmp_path / "m.json"))
    attack(content)
    with pytest.raises(rb.InvalidFile):
        load(write(content, tmp_path / "m.json"))


@pytest.mark.parametrize(
    "attack",
    [
        two_regions_of_one_name,
        a_pair_out_of_reach,
        a_pair_from_behind,
        a_triple,
        fewer_answers,
        more_answers,
        answers_of_no_kind,
        longer_rows,
        one_longer_row,
        an_answer_that_is_none,
        an_unknown_rule,
        an_unknown_guarantee,
        mixing_by_zero,
        endless_mixing,
    ],
    ids=lambda value: value.__name__,
)
def test_a_graph_that_does_not_fit_together_is_refused(attack: Attack, tmp_path: Path) -> None:
    content = contents("graph")
    content["regions"][1]["label"] = "b"
    assert load(write(content, tmp_path / "m.json"))
    attack(content)
    with pytest.raises(rb.InvalidFile):
        load(write(content, tmp_path / "m.json"))


def test_margins_without_a_table_are_checked_too(tmp_path: Path) -> None:
    """The function of a custom question is not in its file, so margins are given by hand."""
    question = rb.Custom(["x", "y", "z"], lambda d: d, neighbours="substituted", name="by hand")
    save(rb.best(question, rb.DP(1)).exact(), tmp_path / "m.json")
    back = load(tmp_path / "m.json")
    assert isinstance(back.rule, Margins)
    assert sum(back.at({"x": 0, "y": 1, "z": 2}).weights) == TOTAL
    for margins in ({"x": 0, "y": 0, "z": 1}, {"x": 1, "y": 1, "z": 1}, {"x": 0, "y": -1, "z": 1}):
        with pytest.raises(rb.UnknownDataset):
            back.release(margins)


def test_a_key_twice_is_refused(tmp_path: Path) -> None:
    """The reader of the file and the program must not see two different guarantees."""
    path = write(contents("proximity"), tmp_path / "m.json")
    text = path.read_text()
    first = '"guarantee": {"kind": "dp", "epsilon": "1/100", "delta": "0"}, '
    path.write_text("{" + first + text[1:])
    with pytest.raises(rb.InvalidFile):
        load(path)


# what is no file


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
    path = save(KINDS["graph"](), tmp_path / "m.json")
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


# saving


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(rb.InvalidFile) as caught:
        save(KINDS["graph"](), tmp_path / "none" / "m.json")
    reference.assert_one_sentence(caught.value, "none", "No such file")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "m.json").mkdir()
    with pytest.raises(rb.InvalidFile):
        save(KINDS["graph"](), tmp_path / "m.json")
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]


STOPS = [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), MemoryError()]


@pytest.mark.parametrize("error", STOPS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_save_that_is_cut_off_leaves_all_as_it_was(
    error: BaseException, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(KINDS["graph"](), tmp_path / "m.json")
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise error

    if step == "fsync":
        monkeypatch.setattr(os, "fsync", fail)
    else:
        monkeypatch.setattr(Path, "replace", fail)
        monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(rb.InvalidFile if isinstance(error, OSError) else type(error)):
        save(KINDS["proximity"](), path)
    with pytest.raises(rb.InvalidFile if isinstance(error, OSError) else type(error)):
        save(KINDS["proximity"](), tmp_path / "new.json")
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]


def test_a_full_disk_leaves_all_as_it_was(tmp_path: Path) -> None:
    """A limit on the size of files stands for a full disk: the write itself fails."""
    import resource
    import signal

    path = save(KINDS["table"](), tmp_path / "m.json")
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    made = KINDS["homogeneous"]()
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(rb.InvalidFile):
            save(made, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]


def test_a_saved_file_replaces_the_old_one_whole(tmp_path: Path) -> None:
    path = save(KINDS["homogeneous"](), tmp_path / "m.json")
    save(KINDS["table"](), path)
    assert load(path) == KINDS["table"]()


def test_a_file_is_as_readable_as_any_other(tmp_path: Path) -> None:
    """Not only for its maker: a mechanism file is there to be read."""
    plain = tmp_path / "plain"
    plain.write_text("")
    path = save(KINDS["table"](), tmp_path / "m.json")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


@pytest.mark.parametrize("label", [None, 1.5, True, frozenset({1}), ("a", None), b"a", "\ud800"])
def test_a_name_that_a_file_cannot_hold_is_refused(label: Any, tmp_path: Path) -> None:
    rule = Ladders({label: ((1, 1),)}, {}, ())
    with pytest.raises(rb.InvalidFile):
        save(ExactMechanism(rb.DP(1), ("yes", "no"), rule), tmp_path / "m.json")
    named = ExactMechanism(rb.DP(1), (label, "no"), Ladders({"r": ((1, 1),)}, {}, ()))
    with pytest.raises(rb.InvalidFile):
        save(named, tmp_path / "m.json")
    assert list(tmp_path.iterdir()) == []


def test_mixing_is_kept(tmp_path: Path) -> None:
    made = KINDS["table"]()
    mixed = ExactMechanism(made.guarantee, made.answers, made.rule, mixing=Fraction(1, 1 << 52))
    assert load(save(mixed, tmp_path / "m.json")).mixing == Fraction(1, 1 << 52)
