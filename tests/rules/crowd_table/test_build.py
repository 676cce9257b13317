"""Making crowd tables: which there are, by which means, and where a program begins and ends."""

from __future__ import annotations

import itertools
import zipfile
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rainbowdp as rb
from rainbowdp.display.progress import say_once
from rainbowdp.errors import NoTable
from rainbowdp.exact.keeping import ARCHIVE, Shelf
from rainbowdp.rules.crowd_table.build import (
    SHELF,
    SOLVED,
    CrowdTableFamily,
    _near,
    fetch_table,
    solved_below,
    wanted,
)
from rainbowdp.rules.crowd_table.iteration import Needs, iterated, with_needs
from rainbowdp.rules.crowd_table.problem import Problem
from rainbowdp.rules.crowd_table.program import (
    _SHARED,
    Plan,
    _solve,
    make_table,
    plans_for,
    shape_for,
)
from rainbowdp.rules.crowd_table.rule import CrowdTable
from rainbowdp.rules.crowd_table.shape import CrowdShape
from rainbowdp.rules.crowd_table.shipping import shapes

RELATIONS = ("substituted", "added or removed")
TIES = ("first listed", "any leader")
KINDS = list(itertools.product(RELATIONS, TIES))


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["2.1", "5"])
def test_above_two_it_is_the_table_for_two(epsilon: str) -> None:
    question = rb.Winner(list("abcdefgh"))
    made = rb.by_kind(question, rb.DP(epsilon), "crowd-table")
    assert made.exact().rule == rb.by_kind(question, rb.DP(2), "crowd-table").exact().rule
    assert made.claim == "made for ε = 2, so ask for that and pay less"


@pytest.mark.parametrize(
    ("question", "guarantee"),
    [
        (rb.Winner(list("abcd")), rb.DP(1)),
        (rb.Winner(list("abcde")), rb.DP("0.19")),
        (rb.Winner(list("abcdef")), rb.DP("0.09")),
        (rb.Winner(list("abcdef"), ties="any leader"), rb.DP(1)),
        (rb.Winner(list("abcdef"), neighbors="added or removed"), rb.DP(1)),
        (rb.Winner(list("abcdefghijk")), rb.DP(1)),
        (rb.Winner(list("abcdefgh"), rows_per_person=2), rb.DP(1)),
        (rb.Winner(list("abcdefgh"), ties="any leader", neighbors="added or removed"), rb.DP(1)),
        (rb.Winner(list("abcdefgh")), rb.DP("0.001")),
        (rb.Winner(list("abcdefgh")), rb.GaussianDP(1)),
        (rb.Quantile("1/2", range(9)), rb.DP(1)),
    ],
)
def test_where_there_is_none_it_says_what_to_use(question: Any, guarantee: Any) -> None:
    with pytest.raises(rb.NotApplicable, match=r"a crowd table is for a Winner .*; use [a-z-]+$"):
        rb.by_kind(question, guarantee, "crowd-table")


def test_tables_for_common_guarantees_come_with_the_package() -> None:
    """All that are made for shipping, of the shape that is made or solved for, and no others."""
    names = set()
    for answers, epsilon, neighbors, ties in shapes():
        kind = neighbors, ties
        asked = wanted(answers, rb.DP(epsilon), *kind)
        content = SHELF.shipped(asked)
        assert content is not None
        larger = SOLVED.get((answers, epsilon, *kind))
        size = larger or plans_for(answers, float(epsilon), *kind)[0].size
        shape = shape_for(answers, float(epsilon), *kind, size)
        assert CrowdTable.restore(content).shape == shape
        names.add(SHELF.place(asked).name)
    with zipfile.ZipFile(str(files("rainbowdp.rules.crowd_table") / ARCHIVE)) as archive:
        assert set(archive.namelist()) == names


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "records", "epsilon", "least", "above"),
    [
        (5, 12, "0.3", 0.5622, 1.02),
        (6, 10, "0.3", 0.6526, 1.02),
        (7, 4, "0.2", 0.7655, 1.06),
        (8, 5, "0.5", 0.7242, 1.03),
        (9, 4, "1", 0.6213, 1.05),
        (5, 12, "1", 0.2423, 1.01),
        (5, 12, "2", 0.0839, 1.01),
        (6, 10, "1", 0.3304, 1.02),
        (6, 8, "2", 0.1471, 1.01),
        (7, 7, "1", 0.4535, 1.05),
        (7, 5, "2", 0.2420, 1.02),
        (8, 5, "1", 0.5598, 1.04),
        (8, 5, "2", 0.2730, 1.03),
    ],
)
def test_the_order_of_the_nearest_makes_it_near_the_least_error(
    answers: int, records: int, epsilon: str, least: float, above: float
) -> None:
    """All votes of so many records alike; the least of any mechanism by benchmarks/near.py."""
    question = rb.Winner([str(number) for number in range(answers)])
    places = records + answers - 1
    bars = np.array(list(itertools.combinations(range(places), answers - 1)))
    ends = np.pad(bars, ((0, 0), (0, 1)), constant_values=places)
    votes = np.diff(ends, axis=1, prepend=-1) - 1
    made = rb.by_kind(question, rb.DP(epsilon), "crowd-table").exact().rule
    assert isinstance(made, CrowdTable)
    assert made.shape.ordered >= 2
    rows = made.rows_at(question, votes, votes.astype(float))
    wrong = 1 - rows[np.arange(len(votes)), votes.argmax(axis=1)].mean()
    assert 0.9999 * least < wrong < above * least


@pytest.mark.slow
def test_where_rows_in_order_cannot_be_proved_there_are_fewer_or_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAINBOWDP_CACHE", str(tmp_path))
    asked: list[tuple[int, bool]] = []

    def make(shape: CrowdShape, guarantee: rb.DP, tell: Any, *, near: Any, iterate: bool) -> Any:
        asked.append((shape.ordered, iterate))
        if shape.ordered:
            raise NoTable("not proved")
        return make_table(shape, guarantee, tell, near=near)

    monkeypatch.setattr("rainbowdp.rules.crowd_table.build.make_table", make)
    guarantee, words = rb.DP.from_ratio(4), ("substituted", "first listed")  # ε of about 1.39
    table, _ = fetch_table(7, guarantee, *words)
    assert (asked, table.shape.ordered) == ([(3, True), (2, False), (0, False)], 0)
    assert "errs somewhat more often" in capsys.readouterr().err
    SHELF._held.clear()  # so that it is read and proved again
    say_once.cache_clear()
    assert fetch_table(7, guarantee, *words)[0] == table
    assert "keep more of the order" in capsys.readouterr().err
    fetch_table(7, rb.DP(1), *words)
    assert "more often" not in capsys.readouterr().err
    assert len(asked) == 3
    asked.clear()
    with pytest.raises(NoTable, match="not proved"):
        fetch_table(5, guarantee, *words)
    assert asked == [(5, True), (3, False)]


def test_a_kept_table_has_the_gaps_of_one_that_is_made_or_was_solved_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAINBOWDP_CACHE", str(tmp_path))
    kind, guarantee = KINDS[1], rb.DP("1.9")

    def gaps(made: int, *, solve: bool = False) -> int:
        """Of the table that is fetched where so many are made."""
        SHELF._held.clear()
        monkeypatch.setitem(_SHARED, 7, (made, 0))
        return fetch_table(7, guarantee, *kind, solve=solve)[0].shape.knots

    assert gaps(3) == 3
    solved: Any = SOLVED
    monkeypatch.setitem(solved, (7, "1.9", *kind), (4, 0))
    assert gaps(3) == 3
    assert gaps(3, solve=True) == 4
    assert capsys.readouterr().err.count("got others") == 1
    assert gaps(3) == 4
    assert not capsys.readouterr().err
    monkeypatch.delitem(solved, (7, "1.9", *kind))
    assert gaps(5) == 5
    assert "got others" in capsys.readouterr().err


def test_one_that_takes_minutes_and_is_not_there_is_not_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Then the margin table answers, and that is said."""
    monkeypatch.setenv("RAINBOWDP_CACHE", str(tmp_path))
    question, guarantee = rb.Winner(list("abcde")), rb.DP("0.1")
    assert rb.best(question, guarantee).name == "crowd-table"
    SHELF._held.clear()
    say_once.cache_clear()
    monkeypatch.setitem(vars(SHELF), "package", "rainbowdp.rules.proximity")
    with pytest.raises(NoTable, match="minutes to make and is not there; install the package"):
        fetch_table(5, guarantee, *KINDS[0])
    assert rb.best(question, guarantee).name == "margin-table"
    assert capsys.readouterr().err.count("Margin table answers, as there is no crowd table") == 1


@pytest.mark.parametrize("epsilon", ["0.1", "0.2"])
def test_one_of_five_answers_errs_less_than_the_margin_table_that_it_replaces(epsilon: str) -> None:
    question = rb.Winner(list("abcde"))
    rules = [
        rb.by_kind(question, rb.DP(epsilon), kind).exact().rule
        for kind in ("crowd-table", "margin-table")
    ]
    for records in (8, 12, 40, 160):
        rng = np.random.default_rng(records)
        bars = np.sort([rng.choice(records + 4, 4, replace=False) for _ in range(2_000)], axis=1)
        ends = np.pad(bars, ((0, 0), (0, 1)), constant_values=records + 4)
        votes = np.diff(ends, axis=1, prepend=-1) - 1
        crowd, margin = (
            rule.rows_at(question, votes, votes.astype(float))[
                np.arange(len(votes)), votes.argmax(axis=1)
            ].mean()
            for rule in rules
        )
        assert crowd > margin


def test_for_an_epsilon_just_above_there_is_the_larger_table_that_was_solved_for() -> None:
    question = rb.Winner([str(number) for number in range(9)], ties="any leader")
    below = solved_below(question, rb.DP("0.51"))
    assert below == CrowdTableFamily(epsilon=Fraction(1, 2))
    assert below.options() == {"epsilon": "1/2"}
    assert solved_below(question, rb.DP("0.8")) == CrowdTableFamily(epsilon=Fraction(7, 10))
    five = rb.Winner(list("abcde"))
    assert solved_below(five, rb.DP("0.35")) == CrowdTableFamily(epsilon=Fraction(3, 10))
    for other in (rb.DP("0.5"), rb.DP("0.7"), rb.DP(1), rb.DP("1.3"), rb.GaussianDP(1)):
        assert solved_below(question, other) is None
    made = rb.by_kind(question, rb.DP("0.51"), "crowd-table", epsilon="1/2")
    assert made.exact().rule == rb.by_kind(question, rb.DP("0.5"), "crowd-table").exact().rule
    assert made.claim == "made for ε = 0.5, so ask for that and pay less"


def test_damaged_tables_tell_nobody_where_to_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = "substituted", "any leader"
    assert list(_near(7, rb.DP("0.4"), *kind)) == [0.3, 0.5]
    monkeypatch.setattr(Shelf, "_shipped_text", lambda *_: "{}")
    assert _near(7, rb.DP("0.4"), *kind) == {}


def test_how_a_table_is_made_where_somebody_waits() -> None:
    first, shared = ("substituted", "first listed"), ("substituted", "any leader")
    assert plans_for(7, 0.1, *first) == (Plan((5, 0)),)
    assert plans_for(7, 0.6, *first) == (Plan((5, 2)), Plan((5, 0)))
    assert plans_for(7, 1.0, *first) == (Plan((6, 3), True), Plan((5, 2)), Plan((5, 0)))
    assert plans_for(5, 4.0, *first) == (Plan((7, 5), True),)
    assert plans_for(7, 1.0, "added or removed", "first listed") == (Plan((5, 0)),)
    assert plans_for(7, 1.0, *shared) == (Plan((7, 0)),)
    for none in ((5, 0.15, *first), (5, 1.0, *shared), (7, 2.1, *shared), (7, 0.001, *first)):
        assert plans_for(*none) == ()
    assert plans_for(7, 1.0, "added or removed", "any leader") == ()


@pytest.mark.parametrize(
    ("neighbors", "ties", "ordered"),
    [(RELATIONS[0], TIES[0], 2), (RELATIONS[1], TIES[0], 1), (RELATIONS[0], TIES[1], 0)],
)
def test_the_iteration_keeps_all_conditions_and_is_near_the_linear_program(
    neighbors: str, ties: str, ordered: int
) -> None:
    shape = shape_for(4, 1.5, neighbors, ties, (5, ordered))
    problem = Problem(shape, rb.DP("1.5").ratio)
    values = iterated(problem)
    assert float((problem.conditions @ values).max()) < 1e-3  # in units of what is compared
    assert problem.sums @ values == pytest.approx(np.ones(shape.crowds.size), abs=1e-3)
    assert Needs(problem).left(values) < 1e-3
    flipped, best = problem.flipped(), _solve(problem, None)
    wrong, most, least = (1 - float(problem.gain @ one) for one in (values, flipped, best))
    assert least * 0.999 < wrong < least * 1.01 < most


def test_a_table_that_needs_too_much_mixing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    shape, promise = shape_for(4, 0.2, *KINDS[0], (4, 2)), rb.DP("0.2")
    assert make_table(shape, promise)[0].keeps(promise).exact
    monkeypatch.setattr("rainbowdp.rules.crowd_table.program._MOST_MIXING", 0)
    with pytest.raises(NoTable, match=r"4 answers under 0\.2-DP needs more than a mixing"):
        make_table(shape, promise)


@pytest.mark.parametrize(("ties", "ordered"), [("first listed", 2), ("any leader", 0)])
def test_where_a_program_begins_does_not_matter(ties: str, ordered: int) -> None:
    """Values between two tables are nearly the best, and the best are found from anywhere."""
    shape = shape_for(4, 0.8, "substituted", ties, (5, ordered))
    problem = Problem(shape, rb.DP("0.8").ratio)
    near = {
        float(epsilon): make_table(
            shape_for(4, float(epsilon), "substituted", ties, (gaps, ordered)), rb.DP(epsilon)
        )[0]
        for epsilon, gaps in (("0.6", 4), ("1", 6))
    }
    begin, flipped = problem.between(near, 0.8), problem.flipped()
    assert problem.sums @ begin == pytest.approx(np.ones(shape.crowds.size))
    found = [_solve(problem, None, start) for start in (None, begin)]
    wrong, *least = (1 - float(problem.gain @ one) for one in (begin, *found))
    assert least[0] == pytest.approx(least[1], rel=1e-4)
    assert wrong == pytest.approx(least[0], rel=0.08)
    assert 1 - float(problem.gain @ flipped) > 1.05 * wrong


@pytest.mark.parametrize(("ties", "ordered"), [("first listed", 2), ("any leader", 0)])
def test_rivals_with_too_little_get_what_they_need(ties: str, ordered: int) -> None:
    shape = shape_for(4, 1.5, "substituted", ties, (5, ordered))
    problem = Problem(shape, rb.DP("1.5").ratio)
    best = _solve(problem, None)
    leaders = np.isin(np.arange(problem.width), problem.leaders)
    less = np.where(leaders | (np.arange(problem.width) % 5 > 0), best, 0.999 * best)
    assert (problem.conditions @ less).max() > 1e-3
    mended = with_needs(problem, less)
    assert (problem.conditions @ mended).max() < 1e-8
    assert problem.sums @ mended == pytest.approx(np.ones(shape.crowds.size))
    assert (mended[~leaders] >= less[~leaders]).all()
    assert problem.gain @ mended == pytest.approx(problem.gain @ best, abs=2e-6)
    far = np.where(leaders, best, 1e-200)  # settles nowhere
    assert np.isfinite(with_needs(problem, far)).all()
