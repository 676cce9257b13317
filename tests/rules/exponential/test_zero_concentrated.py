"""The exponential mechanism under ρ: the lemma, its rows, how tight it is, and forged files."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any, TypeAlias

import mpmath as mp
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import rainbowdp as rb
import reference
from kinds import exponential, margin_flip, permute_and_flip
from rainbowdp.aliases import Weights
from rainbowdp.answering.measure import measure
from rainbowdp.exact.mechanism import ExactMechanism
from rainbowdp.rules import FAMILIES, family
from rainbowdp.rules.exponential.proof import range_within
from rainbowdp.rules.exponential.rule import Exponential
from rainbowdp.rules.files import restore

QUESTIONS: list[Any] = [
    rb.Winner(["a", "b"]),
    rb.Winner(["a", "b", "c"], rows_per_person=2),
    rb.Winner(["a", "b", "c"], ties="any leader", neighbors="added or removed"),
    rb.Winner([str(number) for number in range(9)]),
    rb.Threshold(4),
    rb.Share("1/3"),
    rb.Quantile("1/2", range(5)),
    rb.Custom(["x", "y"], lambda n: {"x": n, "y": 1 - n}, neighbors="substituted", name="sign"),
]
Worst: TypeAlias = tuple[Fraction, tuple[Weights, Weights]]
RHOS = ["1/8", "1/50", "0.3", "2"]  # 8ρ is a square, and is not


def rule_of(exact: ExactMechanism) -> Exponential:
    assert isinstance(exact.rule, Exponential)
    return exact.rule


@given(
    st.lists(st.floats(-1, 1), min_size=2, max_size=5),
    st.lists(st.floats(0.001, 1), min_size=5, max_size=5),
    st.floats(0.01, 8),
    st.sampled_from(reference.ORDERS),
)
@settings(deadline=None, max_examples=150)
def test_a_bounded_range_is_zero_concentrated(
    places: list[float], weights: list[float], width: float, order: str
) -> None:
    """The lemma: logarithms of p/q within an interval of length η make D_α at most α·η²/8."""
    with mp.workdps(60):
        q = [mp.mpf(weight) for weight in weights[: len(places)]]
        q = [weight / mp.fsum(q) for weight in q]
        p = [
            weight * mp.e ** (mp.mpf(place) * width / 2)
            for weight, place in zip(q, places, strict=True)
        ]
        p = [weight / mp.fsum(p) for weight in p]
        logs = [mp.log(a / b) for a, b in zip(p, q, strict=True)]
        most = mp.mpf(order) * (max(logs) - min(logs)) ** 2 / 8
        assert reference.renyi(p, q, mp.mpf(order)) <= most + mp.mpf(10) ** -50
        assert reference.renyi(q, p, mp.mpf(order)) <= most + mp.mpf(10) ** -50


def test_the_lemma_is_tight_for_small_ranges() -> None:
    with mp.workdps(60):
        width = mp.mpf("0.01")
        p = 1 / (1 + mp.e ** (-width / 2))
        found = reference.renyi((p, 1 - p), (1 - p, p), mp.mpf("1.0001")) / mp.mpf("1.0001")
        assert mp.mpf("0.9999") < found / (width**2 / 8) < 1


@given(st.fractions(Fraction(1, 10**9), 450))
@settings(deadline=None)
def test_the_range_is_the_largest_to_many_places_and_never_more(rho: Fraction) -> None:
    allowed = range_within(rb.ZeroConcentrated(rho))
    with mp.workdps(120):
        wanted = mp.e ** mp.sqrt(8 * reference.number(rho))
        found = reference.number(allowed)
        assert 0 <= wanted - found <= wanted * mp.mpf(2) ** -170


@pytest.mark.parametrize("rho", ["1/8", "1/2", "9/200"])
def test_squares_have_an_exact_range(rho: str) -> None:
    """η = √(8ρ) is rational: the range is that of DP(η)."""
    eta = {"1/8": "1", "1/2": "2", "9/200": "3/5"}[rho]
    assert range_within(rb.ZeroConcentrated(rho)) == range_within(rb.DP(eta))


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: type(question).__name__)
def test_it_is_there_for_every_question_and_as_steep_as_can_be(question: Any, rho: str) -> None:
    promise = rb.ZeroConcentrated(rho)
    exact = exponential(question, promise).exact()
    rule = rule_of(exact)
    assert exact.proof.exact
    with pytest.raises(rb.InvalidMechanism, match="fall too fast"):
        replace(exact, rule=replace(rule, ratio=rule.ratio - Fraction(2, 1 << 60)))
    with pytest.raises(rb.InvalidMechanism, match="fall too fast"):
        replace(exact, guarantee=rb.ZeroConcentrated(Fraction(rho) * (1 - Fraction(1, 10**6))))


@pytest.mark.parametrize("answers", [2, 3, 4])
@pytest.mark.parametrize("rho", ["1/50", "2"])
def test_all_pairs_of_small_margins_are_close(rho: str, answers: int) -> None:
    """On the released integers: their range in fractions, and every order of some in 60 digits."""
    promise = rb.ZeroConcentrated(rho)
    exact = exponential(rb.Quantile("1/2", range(answers + 1)), promise).exact()
    with mp.workdps(60):
        most = reference.fraction(mp.e ** mp.sqrt(8 * reference.number(promise.exact_rho)))
    worst: Worst = (Fraction(0), ((), ()))
    pairs = 0
    for one, other in reference.margin_pairs(answers, 9 if answers == 2 else 3):
        p, q = (
            rule_of(exact).weights(dict(zip(exact.answers, key, strict=True)), exact.answers)
            for key in (one, other)
        )
        changes = [Fraction(a, b) for a, b in zip(p, q, strict=True)]
        span = max(changes) / min(changes)
        assert span <= most
        worst, pairs = max(worst, (span, (p, q))), pairs + 1
    assert pairs > 8
    assert reference.concentrated_close(*worst[1], promise.exact_rho)
    assert worst[0] > most * (1 - Fraction(1, 10**9))  # and one pair needs it all


@pytest.mark.parametrize("ties", ["first listed", "any leader"])
@pytest.mark.parametrize("neighbors", ["substituted", "added or removed"])
def test_all_pairs_of_small_votes_are_close(neighbors: str, ties: str) -> None:
    promise = rb.ZeroConcentrated("1/8")
    exact = exponential(rb.Winner(["a", "b", "c"], neighbors=neighbors, ties=ties), promise).exact()
    near = (
        reference.one_substituted if neighbors == "substituted" else reference.one_added_or_removed
    )
    with mp.workdps(60):
        most = reference.fraction(mp.e)
    worst: Worst = (Fraction(0), ((), ()))
    for records in range(5):
        for counts in reference.histograms(3, records):
            p = exact.at(dict(zip("abc", counts, strict=True))).weights
            for other in near(counts):
                q = exact.at(dict(zip("abc", other, strict=True))).weights
                changes = [Fraction(a, b) for a, b in zip(p, q, strict=True)]
                span = max(changes) / min(changes)
                assert span <= most
                worst = max(worst, (span, (p, q)))
    assert reference.concentrated_close(*worst[1], promise.exact_rho)
    assert worst[0] > most * (1 - Fraction(1, 10**9))


def test_a_file_of_mu_is_one_of_rho_and_not_the_other_way_round() -> None:
    """μ = 1 has the range 1.61, ρ = 1/2 the range 2."""
    question = rb.Winner(["a", "b", "c"])
    gaussian, concentrated = {"kind": "gaussian", "mu": "1"}, {"kind": "zero-concentrated"}
    concentrated["rho"] = "1/2"
    content = exponential(question, rb.GaussianDP(1)).exact().describe()
    assert restore({**content, "guarantee": concentrated}).proof.exact
    content = rb.best(question, rb.ZeroConcentrated("1/2")).exact().describe()
    assert restore(content).guarantee == rb.ZeroConcentrated("1/2")
    with pytest.raises(rb.InvalidMechanism, match="fall too fast"):
        restore({**content, "guarantee": gaussian})
    with pytest.raises(rb.InvalidMechanism, match="fall too fast"):
        restore({**content, "guarantee": {"kind": "dp", "epsilon": "1.9", "delta": "0"}})
    with pytest.raises(rb.InvalidMechanism, match="fall too fast"):
        restore({**content, "guarantee": {"kind": "zero-concentrated", "rho": "0.499999"}})


PROVED = ("exponential", "noisy-counts")  # by a range, and by μ = √(2ρ)


@pytest.mark.parametrize("question", QUESTIONS[4:], ids=lambda question: type(question).__name__)
def test_best_takes_it_for_what_is_no_vote(question: Any) -> None:
    assert rb.best(question, rb.ZeroConcentrated("1/50")).name == "exponential"


@pytest.mark.parametrize("kind", [known.kind for known in FAMILIES if known.kind not in PROVED])
def test_no_other_kind_has_a_proof_under_it(kind: str) -> None:
    """However large ρ is: a kind that is not range-bounded must not be priced as one."""
    others = {
        "ordered-bins": rb.Quantile("1/2", range(4)),
        "crowd-table": rb.Winner(list("abcdefg")),
    }
    question: Any = others.get(kind, rb.Winner(["a", "b", "c"]))
    assert family(kind).unfit(question, rb.ZeroConcentrated(450)) is not None
    with pytest.raises(rb.NotApplicable) as caught:
        rb.by_kind(question, rb.ZeroConcentrated(450), kind)
    reference.assert_one_sentence(caught.value, "450-zCDP", "use ")
    content = copy.deepcopy(rb.by_kind(question, rb.DP(1), kind).exact().describe())
    content["guarantee"] = {"kind": "zero-concentrated", "rho": "450"}
    with pytest.raises(rb.RainbowError):
        restore(content)


def test_others_are_not_bounded_by_a_range() -> None:
    """Why they refuse: coins of the same ratio break D_α ≤ α·η²/8 between real neighbors."""
    epsilon = rb.DP(2)
    flips = permute_and_flip(rb.Winner(["a", "b"]), epsilon).exact()
    margins = margin_flip(rb.Quantile("1/2", range(3)), epsilon).exact()
    names = list(margins.answers)
    rows = [
        (flips.at({"a": 1, "b": 0}).weights, flips.at({"a": 0, "b": 1}).weights),
        tuple(
            margins.rule.weights(dict(zip(names, key, strict=True)), margins.answers)
            for key in ((0, 1), (1, 0))
        ),
    ]
    assert not any(reference.concentrated_close(p, q, Fraction(1, 2)) for p, q in rows)


def test_a_rho_too_small_for_a_ratio_is_refused() -> None:
    for question in QUESTIONS:
        with pytest.raises(rb.InvalidGuarantee) as caught:
            rb.best(question, rb.ZeroConcentrated("1e-40"))
        reference.assert_one_sentence(caught.value, "1e-40-zCDP", "larger")


def test_a_larger_rho_is_never_worse_and_rho_is_better_than_its_mu() -> None:
    kind, question = family("exponential"), rb.Winner([str(number) for number in range(7)])
    errors = [
        measure(kind, question, rb.ZeroConcentrated(rho)) for rho in ("0.01", "0.02", "0.1", "0.5")
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < measure(kind, question, rb.GaussianDP(1))


def delta_of(rho: float, epsilon: float) -> float:
    """The δ of ρ at ε, by Canonne, Kamath and Steinke 2020, minimized over orders."""

    def bound(log_order: float) -> float:
        a = 1 + math.exp(log_order)
        return (a - 1) * (a * rho - epsilon) - math.log(a - 1) + a * math.log1p(-1 / a)

    return math.exp(minimize_scalar(bound, bounds=(-8, 8), method="bounded").fun)


@pytest.mark.parametrize("answers", [1, 10])
def test_many_answers_keep_what_dp_accounting_makes_of_the_sum(answers: int) -> None:
    """The composed privacy loss of the released rows is within the (ε,δ) of k·ρ."""
    rho = Fraction(1, 50)
    exact = rb.best(rb.Winner(["a", "b", "c"]), rb.ZeroConcentrated(rho)).exact()
    tables = [{"a": 3, "b": 3, "c": 3}, {"a": 4, "b": 2, "c": 3}, {"a": 4, "b": 3, "c": 2}]
    for one, other in combinations(tables, 2):
        logs = [{a: math.log(p) for a, p in exact[table].items()} for table in (one, other)]
        loss = pld.from_two_probability_mass_functions(
            *logs, value_discretization_interval=1e-4, symmetric=True
        )
        composed = loss.self_compose(answers)
        for epsilon in np.linspace(0.05, 2, 9):
            held = composed.get_delta_for_epsilon(epsilon)
            assert held <= delta_of(answers * float(rho), float(epsilon)) + 1e-9
