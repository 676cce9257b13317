"""The measure that chooses a kind: what it is, and that paying more never answers worse by it."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import rainbowdp as rb
from rainbowdp.answering.best import _least, _of_a_table
from rainbowdp.answering.measure import fixed_histograms, measure, shape_of
from rainbowdp.errors import NoTable
from rainbowdp.rules import FAMILIES, family
from rainbowdp.rules.margin_table.build import MarginTableFamily

EPSILONS = [
    "0.001",
    "0.01",
    "0.1",
    "0.3",
    "0.5",
    "0.69",
    "0.7",
    "1",
    "1.09",
    "1.1",
    "1.4",
    "1.6",
    "1.79",
    "1.8",
    "1.94",
    "1.95",
    "2.2",
    "2.5",
    "3",
    "4",
    "4.2",
    "6",
    "20",
]
DELTAS = ("0", "1e-9", "1e-4", "0.001", "0.0011", "0.01", "0.0101", "0.05", "0.2", "0.5", "0.9")


def named(count: int) -> list[str]:
    return [f"option {number}" for number in range(count)]


VOTES = [
    rb.Winner(named(7)),
    rb.Winner(named(12), neighbors="added or removed"),
    rb.Winner(named(7), ties="any leader"),
    rb.Winner(named(3), rows_per_person=3),
    rb.Winner(named(5), rows_per_person=2, neighbors="added or removed", ties="any leader"),
]
QUANTILES = [
    rb.Quantile("1/2", range(4)),
    rb.Quantile("1/2", range(5)),
    rb.Quantile("0.9", range(9)),
    rb.Quantile("1/2", range(9), rows_per_person=3),
    rb.Quantile("1/4", range(6), neighbors="added or removed"),
    rb.Quantile("1/2", range(7), neighbors="added or removed", rows_per_person=2),
]
OWN = rb.Custom(named(4), lambda d: d, neighbors="substituted", name="own")


def chosen(question: Any, epsilon: str, delta: str) -> float:
    guarantee = rb.DP(epsilon, delta)
    return measure(rb.best(question, guarantee).family, question, guarantee)


@pytest.mark.parametrize(
    "question",
    [
        pytest.param(question, id=str(number), marks=[] if number == 9 else [pytest.mark.slow])
        for number, question in enumerate([*VOTES, *QUANTILES, OWN])
    ],
)
def test_a_larger_epsilon_or_delta_never_answers_worse(question: Any) -> None:
    epsilons = EPSILONS[:: 3 if question in (VOTES[0], VOTES[2]) else 1]  # a table is made for each
    for delta in DELTAS[::5]:
        errors = [chosen(question, epsilon, delta) for epsilon in epsilons]
        assert (np.diff(errors) <= 1e-12).all()
        assert delta != "0" or errors[0] > errors[-1] + 0.1
    for epsilon in epsilons[2::5]:
        errors = [chosen(question, epsilon, delta) for delta in DELTAS]
        assert (np.diff(errors) <= 1e-12).all()


@pytest.mark.slow
@pytest.mark.parametrize("question", [*VOTES, *QUANTILES], ids=range(11))
def test_no_other_kind_that_applies_has_a_smaller_measure(question: Any) -> None:
    for epsilon, delta in itertools.product(EPSILONS[::4], DELTAS[::3]):
        guarantee = rb.DP(epsilon, delta)
        least = chosen(question, epsilon, delta)
        for kind in FAMILIES:
            if not kind.costly and kind.unfit(question, guarantee) is None:
                assert least <= measure(kind, question, guarantee)


@pytest.mark.parametrize(
    ("question", "less", "more", "records"),
    [
        (rb.Quantile("1/2", range(5)), rb.DP(1, "0.001"), rb.DP(1, "0.0011"), 12),
        (rb.Winner(named(7)), rb.DP(1, "0.01"), rb.DP(1, "0.0101"), 8),
        (rb.Quantile("1/2", range(9), rows_per_person=3), rb.DP("1.94"), rb.DP("1.95"), 12),
    ],
    ids=["ordered bins", "coins", "proximity"],
)
@pytest.mark.slow
def test_the_steps_at_which_it_once_became_worse(
    question: Any, less: rb.DP, more: rb.DP, records: int
) -> None:
    errors = [
        rb.compare(question, promise, records=records, mechanisms={"best": rb.best})["best"]
        for promise in (less, more)
    ]
    assert errors[1].mean_error <= errors[0].mean_error


@pytest.mark.parametrize("records", [4, 8, 12, 40])
def test_told_the_size_it_is_the_least_there_and_a_larger_epsilon_never_answers_worse(
    records: int,
) -> None:
    question = rb.Quantile("1/2", range(9), rows_per_person=3)
    errors = []
    for epsilon in ("1.5", "1.94", "1.95", "2.2", "3", "3.8"):
        guarantee = rb.DP(epsilon)
        kinds = [k for k in FAMILIES if not k.costly and k.unfit(question, guarantee) is None]
        chosen = rb.best(question, guarantee, records=records).family
        errors.append(measure(chosen, question, guarantee, records))
        assert errors[-1] == min(measure(kind, question, guarantee, records) for kind in kinds)
    assert (np.diff(errors) <= 1e-12).all()


def test_told_the_size_it_may_choose_another_kind() -> None:
    question, guarantee = rb.Quantile("1/2", range(9), rows_per_person=3), rb.DP("1.95")
    assert rb.best(question, guarantee).name == "proximity"
    assert rb.best(question, guarantee, records=8).name == "homogeneous"


@pytest.mark.parametrize("records", [0, -1, 2.5, True, "8"])
def test_a_size_that_is_none(records: Any) -> None:
    with pytest.raises(rb.InvalidQuestion, match="records must be a whole number of at least 1"):
        rb.best(QUANTILES[0], rb.DP(1), records=records)


@pytest.mark.parametrize("question", [VOTES[1], VOTES[2], QUANTILES[1]], ids=range(3))
def test_the_measure_is_the_mean_over_its_histograms_of_what_is_released(question: Any) -> None:
    """From the exact rows, one histogram at a time; a wrong answer is one that does not lead."""
    guarantee = rb.DP(2, "0.001")
    counts, _ = fixed_histograms(shape_of(question), None)
    some = counts[:: len(counts) // 40]
    kinds = [k for k in FAMILIES if not k.costly and k.unfit(question, guarantee) is None]
    assert len(kinds) >= 2
    for kind in kinds:
        mechanism = rb.by_kind(question, guarantee, kind.kind)
        errors = []
        for row in some.tolist():
            table = dict(zip([name for name, _ in question.groups], row, strict=True))
            truth = {a for a, margin in question.margins(table).items() if margin == 0}
            if getattr(question, "ties", "") == "any leader":
                truth = {a for a, n in table.items() if n == max(row)}
            chances = mechanism.exact().at(table).probabilities
            errors.append(float(1 - sum(chances[a] for a in truth)))
        rows = kind.sketch(question, guarantee, some, _margins(question, some))
        right = _right(question, some)
        assert 1 - (rows * right).sum(axis=1) == pytest.approx(errors, abs=1e-9)


def _margins(question: Any, rows: Any) -> Any:
    names = [name for name, _ in question.groups]
    found = [question.margins(dict(zip(names, row, strict=True))) for row in rows.tolist()]
    return np.array([list(margins.values()) for margins in found], dtype=float)


def _right(question: Any, rows: Any) -> Any:
    if getattr(question, "ties", "") == "any leader":
        return rows == rows.max(axis=1, keepdims=True)
    return _margins(question, rows) == 0


def test_the_histograms_are_what_they_are_said_to_be() -> None:
    for question in (*VOTES, *QUANTILES):
        counts, margins = fixed_histograms(shape_of(question), None)
        sizes = counts.sum(axis=1).reshape(9, -1)
        due = question.rows_per_person * 4 ** np.arange(2, 11)[:, None]
        turned = len(counts[0]) if isinstance(question, rb.Winner) else 0  # moves a record or so
        assert (abs(sizes - due) <= 1 + turned).all()
        assert set((sizes - due).ravel().tolist()) >= {0, 1}
        assert (counts >= 0).all()
        assert ((margins == 0).sum(axis=1) == 1).all()
        winners = np.bincount(counts[sizes.size // 2 :].argmax(axis=1), minlength=counts.shape[1])
        assert winners.min() > 0  # spread over all answers
    assert shape_of(OWN) == rb.Winner([str(number) for number in range(4)])


def test_names_and_columns_do_not_count() -> None:
    one = rb.Winner(["x", "y", "z"], "vote", person="who", rows_per_person=2)
    other = rb.Winner(["a", "b", "c"], rows_per_person=2)
    kind = family("permute-and-flip")
    assert measure(kind, one, rb.DP(1)) == measure(kind, other, rb.DP(1))


@pytest.mark.slow
def test_what_leaves_delta_unused_says_so() -> None:
    vote = rb.best(rb.Winner(named(7)), rb.DP(1, "0.001"))
    assert (vote.name, vote.delta_unused) == ("crowd-table", True)
    assert vote.claim == "errs less often than permute-and-flip, δ is not used"
    bins = rb.best(rb.Quantile("1/2", range(5)), rb.DP(1, "0.001"))
    assert (bins.name, bins.claim) == ("ordered-bins", "δ is not used")
    for mechanism in (
        rb.best(rb.Winner(named(7)), rb.DP(1)),
        rb.best(rb.Winner(named(7)), rb.DP("0.1", "0.1")),
        rb.best(rb.Winner(named(7)), rb.GaussianDP(1)),
        rb.best(rb.Winner(named(2)), rb.DP(1, "0.1")),
    ):
        assert not mechanism.delta_unused
        assert "δ" not in (mechanism.claim or "")


def test_above_the_last_table_that_one_is_kept_until_another_kind_is_better() -> None:
    question = rb.Winner(named(3))
    counts, margins = fixed_histograms(shape_of(question), None)
    errors = []
    for epsilon in ("3.9", "4", "4.005", "4.02", "4.1", "4.5", "5"):
        mechanism = rb.best(question, rb.DP(epsilon))
        rows = mechanism.exact().rule.rows_at(shape_of(question), counts, margins)
        errors.append(1 - (rows * (margins == 0)).sum(axis=1).mean())
        assert mechanism.exact().guarantee == rb.DP(epsilon)
    assert (np.diff(errors) <= 1e-9).all()
    near = rb.best(question, rb.DP("4.02"))
    assert near.name == "proximity"  # of three answers tables are built and compared
    four = rb.best(rb.Winner(named(4)), rb.DP("4.02"))
    assert four.family == MarginTableFamily(epsilon=Fraction(4))
    assert four.claim == "made for ε = 4, so ask for that and pay less"
    assert rb.best(question, rb.DP("4.5")).name == "proximity"
    assert rb.by_kind(question, rb.DP(1), "margin-table", epsilon=2).exact().rule == (
        rb.best(question, rb.DP(1)).exact().rule
    )


def test_at_the_last_table_it_is_as_good_as_is_said() -> None:
    """Measured for three answers; docs/which-mechanism.md has the others."""
    for ties, share in (("first listed", 0.95), ("any leader", 0.75)):
        question = rb.Winner(named(3), ties=ties)
        counts, margins = fixed_histograms(shape_of(question), None)
        rule = rb.best(question, rb.DP(4)).exact().rule
        right = _right(question, counts)
        table = 1 - (rule.rows_at(shape_of(question), counts, margins) * right).sum(axis=1).mean()
        _, other = _least(question, rb.DP(4), None)
        assert share * other <= table <= 1.02 * other


def test_where_no_crowd_table_can_be_proved_another_kind_answers_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none(*_: Any) -> float:
        raise NoTable("a crowd table must be found within 40 rounds, got none")

    monkeypatch.setattr("rainbowdp.answering.best._of_a_table", none)
    assert rb.best(rb.Winner(named(9)), rb.DP("0.3")).name == "permute-and-flip"
    said = capsys.readouterr().err
    assert said.startswith("Permute-and-flip answers, as there is no crowd table: a crowd table")
    few = rb.Winner(named(5))
    assert rb.best(few, rb.DP("0.93")).name == "margin-table"
    assert capsys.readouterr().err.startswith("Margin table answers, as there is no crowd table: ")


@pytest.mark.slow
def test_just_above_a_larger_crowd_table_that_table_is_kept_until_another_is_better() -> None:
    """Six gaps come with the package for ε = 0.5; five are made for any other ε near it."""
    question = rb.Winner(named(10), ties="any leader")
    counts, margins = fixed_histograms(shape_of(question), None)
    errors, made_for = [], []
    for epsilon in ("0.5", "0.505", "0.53"):
        mechanism = rb.best(question, rb.DP(epsilon))
        rows = mechanism.exact().rule.rows_at(shape_of(question), counts, margins)
        errors.append(1 - (rows * _right(question, counts)).sum(axis=1).mean())
        made_for.append(mechanism.options().get("epsilon"))
        assert mechanism.exact().guarantee == rb.DP(epsilon)
    assert (np.diff(errors) <= 1e-9).all()
    assert made_for == [None, "1/2", None]


@pytest.mark.slow
def test_five_and_six_answers_take_the_crowd_table_where_it_errs_less() -> None:
    for answers, epsilon in itertools.product((5, 6), ("1", "2")):
        question, guarantee = rb.Winner(named(answers)), rb.DP(epsilon)
        chosen = rb.best(question, guarantee)
        assert chosen.name == "crowd-table"
        own, other = (
            _of_a_table(family(kind), question, guarantee, None)
            for kind in ("crowd-table", "margin-table")
        )
        assert own < other
        with_delta = rb.best(question, rb.DP(epsilon, "1e-6"))
        assert (with_delta.name, with_delta.delta_unused) == ("crowd-table", True)
    for other_vote in (
        rb.Winner(named(5), ties="any leader"),
        rb.Winner(named(6), neighbors="added or removed"),
    ):
        assert rb.best(other_vote, rb.DP(1)).name == "margin-table"
    assert rb.best(rb.Winner(named(6)), rb.DP("0.5")).name == "crowd-table"
    assert rb.best(rb.Winner(named(6)), rb.DP("0.15")).name == "margin-table"


def test_two_answers_with_several_records_a_person_go_by_the_measure() -> None:
    """Found by benchmarks/standings.py: noise by records is finer than steps of a person."""
    question = rb.Winner(named(2), neighbors="added or removed", rows_per_person=2)
    guarantee = rb.GaussianDP("0.491")
    errors = {
        kind: measure(family(kind), question, guarantee)
        for kind in ("homogeneous", "noisy-counts", "exponential")
    }
    assert errors["noisy-counts"] < 0.99 * errors["homogeneous"]
    assert rb.best(question, guarantee).name == min(errors, key=lambda kind: errors[kind])
    assert rb.best(rb.Winner(named(2)), guarantee).name == "homogeneous"
