"""What somebody might put into a mechanism file with a checksum that fits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rainbowdp as rb
from mechanism_files import (
    TOTAL,
    Content,
    contents,
    write,
)
from rainbowdp.rules.files import load
from rainbowdp.rules.proximity.rule import Proximity

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


def one_unit_from_each_rival(content: Content) -> None:
    first, other = content["ladder"][0]
    content["ladder"][0] = [first + 2, other - 1]


def sure_at_once(content: Content) -> None:
    content["ladder"] = [[TOTAL, 0]]


def sure_from_the_second_depth_on(content: Content) -> None:
    content["ladder"][1:] = [[TOTAL, 0]]


def a_depth_left_out(content: Content) -> None:
    del content["ladder"][1]


def depths_upside_down(content: Content) -> None:
    content["ladder"] = content["ladder"][:2] + content["ladder"][5:1:-1]


def rivals_that_say_nothing(content: Content) -> None:
    """Rows of one total only if a rival counts once."""
    content["ladder"] = [[TOTAL - other, other] for _, other in content["ladder"]]


def another_total_below(content: Content) -> None:
    content["ladder"] = [*content["ladder"][:3], *([2 * a, 2 * b] for a, b in content["ladder"])]


def less_than_nothing(content: Content) -> None:
    content["ladder"] = [[3 * TOTAL, -TOTAL]]


def weights_that_are_true(content: Content) -> None:
    content["ladder"] = [[True, True]]


def a_rival_that_is_true(content: Content) -> None:
    content["ladder"] = [[1, True]]


def weights_that_are_floats(content: Content) -> None:
    content["ladder"] = [[1.0, 1.0]]


def no_weight_at_all(content: Content) -> None:
    content["ladder"] = [[0, 0]]


def no_depth(content: Content) -> None:
    content["ladder"] = []


def three_weights(content: Content) -> None:
    content["ladder"] = [[*pair, 0] for pair in content["ladder"]]


def a_ladder_and_regions(content: Content) -> None:
    content |= {"regions": [], "touching": []}


def other_neighbors(content: Content) -> None:
    content["neighbors"] = "added or removed"


def neighbors_of_the_question(content: Content) -> None:
    content["question"]["neighbors"] = "added or removed"


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
    other_neighbors,
    neighbors_of_the_question,
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


ON_ONE_LADDER = [
    one_unit_from_each_rival,
    sure_at_once,
    sure_from_the_second_depth_on,
    a_depth_left_out,
    depths_upside_down,
    rivals_that_say_nothing,
    another_total_below,
    less_than_nothing,
    weights_that_are_true,
    a_rival_that_is_true,
    weights_that_are_floats,
    no_weight_at_all,
    no_depth,
    three_weights,
    a_ladder_and_regions,
]


@pytest.mark.parametrize(
    ("kind", "attack"),
    [
        *(("homogeneous", attack) for attack in [*ON_ONE_LADDER, *ON_BOTH]),
        *(("boundary", attack) for attack in [*ON_LADDERS, *ON_BOTH]),
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
    question = rb.Custom(["x", "y", "z"], lambda d: d, neighbors="substituted", name="by hand")
    rb.best(question, rb.DP(1)).exact().save(tmp_path / "m.json")
    back = load(tmp_path / "m.json")
    assert isinstance(back.rule, Proximity)
    assert sum(back.at({"x": 0, "y": 1, "z": 2}).weights) == TOTAL
    for margins in ({"x": 0, "y": 0, "z": 1}, {"x": 1, "y": 1, "z": 1}, {"x": 0, "y": -1, "z": 1}):
        with pytest.raises(rb.UnknownDataset):
            back.release(margins)


@pytest.mark.parametrize("kind", ["margin-flip", "exponential"])
def test_margins_need_two_answers(kind: str, tmp_path: Path) -> None:
    """On a graph, where no question says how many answers there are."""
    question = rb.Custom(["x", "y"], lambda d: d, neighbors="substituted", name="by hand")
    content = rb.by_kind(question, rb.DP(1), kind).exact().describe()
    content |= {"question": None, "neighbors": "joined by an edge"}
    assert rb.load(write(content, tmp_path / "m.json"))
    with pytest.raises(rb.InvalidFile, match="at least 2 answers, got 1"):
        rb.load(write(content | {"answers": ["x"]}, tmp_path / "m.json"))


def test_a_key_twice_is_refused(tmp_path: Path) -> None:
    """The reader of the file and the program must not see two different guarantees."""
    path = write(contents("proximity"), tmp_path / "m.json")
    text = path.read_text()
    first = '"guarantee": {"kind": "dp", "epsilon": "1/100", "delta": "0"}, '
    path.write_text("{" + first + text[1:])
    with pytest.raises(rb.InvalidFile):
        load(path)
