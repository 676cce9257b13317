"""What every kind of mechanism must do, whichever it is: one suite for all families."""

from __future__ import annotations

import copy
import itertools
import json
import math
from collections import Counter
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rainbowdp as rb
import reference
from rainbowdp.answering.mechanism import QuestionMechanism
from rainbowdp.exact.rule import Family
from rainbowdp.questions.histograms import histograms, margins_of
from rainbowdp.rules import FAMILIES, family
from rainbowdp.rules.files import restore
from rainbowdp.storage.documents import checksum

QUESTIONS: list[Any] = [
    rb.Winner(["red", "green"]),
    rb.Winner(["red", "green", "blue"]),
    rb.Winner(["red", "green", "blue"], ties="any leader", neighbors="added or removed"),
    rb.Winner([f"option {number}" for number in range(8)], rows_per_person=2),
    rb.Winner([f"option {number}" for number in range(7)], ties="any leader"),
    rb.Ranking(["red", "green", "blue"], first=2),
    rb.Ranking(list("abcd"), first=2, in_order=False, neighbors="added or removed"),
    rb.Threshold(4),
    rb.Quantile("1/2", [0, 1, 2, 3]),
    rb.Quantiles(["1/4", "3/4"], [0, 1, 2, 3]),
]
GUARANTEES = [rb.DP(1), rb.DP("2.5", "1/1000"), rb.GaussianDP(1), rb.ZeroConcentrated("1/8")]


def takes_long(known: Family, question: Any) -> bool:
    """Rows of noisy counts are integrals in fractions, one for each answer."""
    return known.kind == "noisy-counts" and len(question.groups) > 3


def cases() -> list[Any]:
    """Every family with every question and guarantee that it has a mechanism for."""
    return [
        pytest.param(
            known,
            question,
            guarantee,
            id=f"{known.kind}, {number}, {guarantee}",
            marks=[pytest.mark.slow] if takes_long(known, question) else [],
        )
        for known in FAMILIES
        for number, question in enumerate(QUESTIONS)
        for guarantee in GUARANTEES
        if known.unfit(question, guarantee) is None
        and (isinstance(guarantee, rb.DP) or len(question.answers) < 4)
    ]


@cache
def made(known: Family, question: Any, guarantee: Any) -> QuestionMechanism:
    return QuestionMechanism(question, guarantee, known)


def some_counts(question: Any) -> list[dict[str, int]]:
    names = [name for name, _ in question.groups]
    rows = histograms(question, 5 if len(names) < 5 else 2)
    return [dict(zip(names, row, strict=True)) for row in rows.tolist()]


def close(p: tuple[int, ...], q: tuple[int, ...], guarantee: Any) -> bool:
    """Whether no set of answers is too likely under ``p`` beside ``q``, by the tests' reference."""
    if isinstance(guarantee, rb.GaussianDP):
        return reference.gaussian_close(p, q, guarantee.exact_mu, 30)
    if isinstance(guarantee, rb.ZeroConcentrated):
        return reference.concentrated_close(p, q, guarantee.exact_rho)
    assert guarantee.exact_epsilon is not None
    _, most = reference.exp_between(guarantee.exact_epsilon)
    excess = sum(
        (
            max(Fraction(0), Fraction(a, sum(p)) - most * Fraction(b, sum(q)))
            for a, b in zip(p, q, strict=True)
        ),
        Fraction(0),
    )
    return bool(excess <= guarantee.exact_delta)


def test_families_have_names_of_their_own() -> None:
    kinds = [known.kind for known in FAMILIES]
    assert {known.kind for known in FAMILIES} == {case.id.partition(",")[0] for case in cases()}
    assert len(set(kinds)) == len(kinds)
    for known in FAMILIES:
        assert known.rule.kind == known.kind
        assert family(known.kind) is known
        assert known.title
        assert known.summary
    with pytest.raises(rb.InvalidQuestion, match="must be one of homogeneous"):
        family("magic")


@pytest.mark.parametrize(("known", "question", "guarantee"), cases())
class TestEveryFamily:
    def test_a_file_keeps_it(
        self, known: Family, question: Any, guarantee: Any, tmp_path: Path
    ) -> None:
        exact = made(known, question, guarantee).exact()
        back = rb.load(exact.save(tmp_path / "m.json"))
        assert back == exact
        assert back.name == known.kind
        assert json.loads((tmp_path / "m.json").read_text())["rule"] == known.kind
        for counts in some_counts(question):
            assert back.at(counts) == exact.at(counts)

    def test_no_table_says_what_is_far_from_true_more_often_than_it_says(
        self, known: Family, question: Any, guarantee: Any
    ) -> None:
        """Over all small histograms, from the exact rows; and it is not much more than needed."""
        exact = made(known, question, guarantee).exact()
        records = 9 if len(question.groups) < 5 else 3
        names = [name for name, _ in question.groups]
        most, alone = np.zeros(records + 2), np.zeros(records + 2)
        for row in histograms(question, records).tolist():
            counts = dict(zip(names, row, strict=True))
            short = question.margins(counts)
            if exact.rule.short == "records":
                short = {name: max(row) - count for name, count in counts.items()}
            if exact.rule.short == "records together":
                sums = {v: sum(counts[name] for name in v.split(", ")) for v in short}
                short = {v: max(sums.values()) - held for v, held in sums.items()}
            said = exact[counts]
            for t in range(records + 2):
                far = [float(p) for v, p in said.items() if short[v] > t]
                most[t] = max(most[t], sum(far))
                alone[t] = max(alone[t], *far, 0.0)
        bounds = [exact.rule.far(question, t) for t in range(records + 2)]
        one = [exact.rule.far_alone(question, t) for t in range(records + 2)]
        for found, bound in ((most, bounds), (alone, one)):
            assert (np.diff(bound) <= 1e-12).all()
            assert (found <= np.array(bound) + 1e-12).all()
        assert (np.array(one) <= np.array(bounds) + 1e-12).all()
        if len(question.answers) == 2:
            assert bounds[0] <= 1.2 * most[0] + 1e-9

    def test_no_right_answer_is_less_or_more_likely_than_its_margin_says(
        self, known: Family, question: Any, guarantee: Any
    ) -> None:
        """Over all small histograms; of leaders that share a kind may count the first alone."""
        rule = made(known, question, guarantee).exact().rule
        counts = histograms(question, 9 if len(question.groups) < 5 else 3)
        margins = margins_of(question, counts)
        found = rule.rows_at(question, counts, margins)
        first = right = margins == 0
        if isinstance(question, rb.Winner) and question.ties == "any leader":
            right = counts == counts.max(axis=1, keepdims=True)
        alone, together = ((found * some).sum(axis=1) for some in (first, right))
        nearest = np.sort(margins, axis=1)[:, 1]
        for margin in np.unique(nearest).tolist():
            least, most = rule.chances(question, int(margin))
            assert least - 1e-9 <= together[nearest == margin].min()
            assert alone[nearest == margin].max() <= most + 1e-9

    @pytest.mark.usefixtures("dice")
    def test_drawers_have_the_law_of_the_weights(
        self, known: Family, question: Any, guarantee: Any
    ) -> None:
        """Eight thousand draws, each share within five standard deviations."""
        exact = made(known, question, guarantee).exact()
        counts = max(some_counts(question), key=lambda row: len(set(row.values())))
        draw, size = exact.ready(counts), 8_000
        seen = Counter(draw() for _ in range(size))
        for answer, share in exact.at(counts).probabilities.items():
            p = float(share)
            assert abs(seen[answer] - size * p) <= 5 * math.sqrt(size * p * (1 - p)) + 1

    def test_floats_agree_with_integers(self, known: Family, question: Any, guarantee: Any) -> None:
        exact = made(known, question, guarantee).exact()
        rows = some_counts(question)
        counts = np.array([list(row.values()) for row in rows])
        found = exact.rule.rows_at(question, counts, margins_of(question, counts))
        for row, dataset in zip(found.tolist(), rows, strict=True):
            shares = exact.at(dataset).probabilities
            assert row == pytest.approx([float(shares[a]) for a in exact.answers], abs=1e-12)

    def test_a_sketch_is_what_is_built(self, known: Family, question: Any, guarantee: Any) -> None:
        rows = histograms(question, 5 if len(question.groups) < 5 else 2)
        margins = margins_of(question, rows)
        found = known.sketch(question, guarantee, rows, margins)
        built = made(known, question, guarantee).exact().rule.rows_at(question, rows, margins)
        assert found == pytest.approx(built, abs=1e-9)

    def test_neighboring_tables_are_exactly_close(
        self, known: Family, question: Any, guarantee: Any
    ) -> None:
        """All sets of answers, in fractions, by the tests' own reference."""
        exact = made(known, question, guarantee).exact()
        rows = [(counts, exact.at(counts).weights) for counts in some_counts(question)[:30]]
        limit = question.rows_per_person
        checked = 0
        for (one, p), (other, q) in itertools.combinations(rows, 2):
            gained = sum(max(0, other[name] - one[name]) for name in one)
            lost = sum(max(0, one[name] - other[name]) for name in one)
            near = max(gained, lost) <= limit
            if question.neighbors == "added or removed":
                near = near and min(gained, lost) == 0
            if near and checked < (200 if isinstance(guarantee, rb.DP) else 8):
                assert close(p, q, guarantee)
                assert close(q, p, guarantee)
                checked += 1
        assert checked >= 5 or question.neighbors == "added or removed"

    def test_chances_by_margin_bound_what_tables_have(
        self, known: Family, question: Any, guarantee: Any
    ) -> None:
        mechanism = made(known, question, guarantee)
        by_counts = mechanism.exact().rule.outline(question.answers) is None
        for counts in some_counts(question):
            margins = question.margins(counts)
            nearest = min(margin for margin in margins.values() if margin)
            ((_, least, most),) = mechanism.by_margin([nearest])
            row = mechanism[counts]
            top = max(counts.values())
            shared = by_counts and getattr(question, "ties", "") == "any leader"
            right = [a for a in row if (counts[a] == top if shared else margins[a] == 0)]
            assert least - 1e-8 <= sum(row[a] for a in right) <= most + 1e-8  # a program's rest

    def test_a_stricter_promise_than_it_keeps_is_refused(
        self, known: Family, question: Any, guarantee: Any
    ) -> None:
        content = made(known, question, guarantee).exact().describe()
        forged = copy.deepcopy(content)
        forged["guarantee"] = {"kind": "dp", "epsilon": "1/100", "delta": "0"}
        with pytest.raises(rb.RainbowError):
            restore(forged)

    def test_a_file_for_another_question_is_refused_or_proved_for_it(
        self, known: Family, question: Any, guarantee: Any
    ) -> None:
        content = made(known, question, guarantee).exact().describe()
        forged = copy.deepcopy(content)
        forged["question"]["rows_per_person"] += 1
        try:
            other = restore(forged)
        except rb.RainbowError:
            return
        assert other.question is not None
        asked = other.question["rows_per_person"]  # its keys are then those of the new question
        assert asked == question.rows_per_person + 1
        assert other.rule == made(known, question, guarantee).exact().rule
        assert other.rule.outline(other.answers) is not None  # its keys are margins, which follow


def test_a_checksum_covers_the_rule() -> None:
    content = made(FAMILIES[0], QUESTIONS[0], GUARANTEES[0]).exact().describe()
    other = copy.deepcopy(content)
    other["ladder"][0][0] += "0"
    assert checksum(content) != checksum(other)
