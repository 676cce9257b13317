"""What draws prove: valid whatever is true, and strong enough to find what is planted."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import opendp.prelude as dp
import pytest
from scipy import stats

import rainbowdp as rb
from rainbowdp.auditing.sampling import Event, chance_at_least

POLL = rb.Winner(["red", "green"])
ONE = [({"red": 1, "green": 0}, {"red": 0, "green": 1})]


def coin(chances: tuple[float, float], seed: int) -> Any:
    draw = random.Random(seed)
    return lambda counts: draw.random() < chances[counts["green"]]


@pytest.mark.parametrize(("hits", "draws"), [(1, 10), (5, 10), (10, 10), (40, 10**5), (999, 1000)])
@pytest.mark.parametrize("risk", ["1/40", "1/200", "1/1000000"])
def test_the_bound_is_that_of_clopper_and_pearson(hits: int, draws: int, risk: str) -> None:
    found = chance_at_least(hits, draws, Fraction(risk))
    told = stats.binomtest(hits, draws).proportion_ci(1 - 2 * float(Fraction(risk)), "exact").low
    assert float(found) == pytest.approx(told, rel=1e-6)
    assert stats.binom.sf(hits - 1, draws, float(found)) <= float(Fraction(risk))


def test_what_is_true_is_seldom_refuted() -> None:
    """At 90 % confidence, randomized response of exactly ε is refuted in at most 10 of 100."""
    chances = (math.e / (1 + math.e), 1 / (1 + math.e))
    verdicts = [
        rb.audit(
            coin(chances, seed), POLL, rb.DP(1), pairs=ONE, draws=300, confidence="0.9"
        ).verdict
        for seed in range(25)
    ]
    refuted = verdicts.count("refuted")
    assert refuted <= stats.binom.ppf(1 - 1e-6, 25, 0.1)


def test_the_test_does_not_use_the_draws_that_chose_it() -> None:
    """A hundred answers of pure chance, one event of which looks good in any sample."""
    draw = random.Random(5)
    refuted = [
        rb.audit(
            lambda counts: draw.randrange(100),
            POLL,
            rb.DP("0.01", "0.001"),
            pairs=ONE,
            draws=400,
            confidence="0.9",
        ).verdict
        == "refuted"
        for _ in range(15)
    ]
    assert sum(refuted) <= stats.binom.ppf(1 - 1e-6, 15, 0.1)


@pytest.mark.parametrize(
    "claim", [rb.DP(1), rb.DP("0.9", "0.05"), rb.GaussianDP(1), rb.ZeroConcentrated("0.4")]
)
def test_a_broken_claim_is_refuted(claim: Any) -> None:
    found = rb.audit(coin((0.9, 0.1), 1), POLL, claim, pairs=ONE, draws=4000, confidence="0.999999")
    assert isinstance(found, rb.SampledAudit)
    assert found.verdict == "refuted"
    assert not found
    assert 1.8 < found.epsilon <= math.log(9)
    assert 2.2 < found.mu <= 2 * 1.2815515655446004
    assert 1.4 < found.rho <= math.log(9) * math.tanh(math.log(9) / 2)
    assert "refuted with confidence 99.9999 %" in str(found)
    assert "proved" not in str(found)


def test_the_other_direction_counts_too() -> None:
    """An answer that is seldom at one dataset and never at its neighbor: rare sets matter."""
    found = rb.audit(coin((0.02, 0.0001), 1), POLL, rb.DP(2), pairs=ONE, draws=20_000)
    assert found.verdict == "refuted"
    mirrored = rb.audit(coin((0.9999, 0.98), 1), POLL, rb.DP(2), pairs=ONE, draws=20_000)
    assert mirrored.verdict == "refuted"


def test_what_is_not_refuted_is_not_called_proved() -> None:
    found = rb.audit(coin((0.5, 0.5), 1), POLL, rb.DP(1), pairs=ONE, draws=500)
    assert found.verdict == "not refuted"
    assert found
    assert "not refuted" in str(found)
    assert "proves nothing" in str(found)
    assert found.as_dict()["epsilon"]["at_most"] is None


def test_numbers_are_cut_at_a_threshold() -> None:
    draw = random.Random(3)
    found = rb.audit(
        lambda counts: draw.expovariate(1) - 3 * counts["green"],
        POLL,
        rb.DP(1),
        pairs=ONE,
        draws=3000,
    )
    assert found.verdict == "refuted"
    assert isinstance(found, rb.SampledAudit)
    assert found.tested.event.answers is None
    assert found.tested.event.side in ("at most", "at least")


def test_a_constant_tells_nothing() -> None:
    found = rb.audit(lambda counts: "same", POLL, pairs=ONE, draws=100)
    assert isinstance(found, rb.SampledAudit)
    assert found.epsilon == 0.0
    assert found.verdict is None


def test_events_say_what_they_contain() -> None:
    assert 3 in Event(None, "at most", 3)
    assert 4 not in Event(None, "at most", 3)
    assert 4 in Event(None, "at least", 4)
    assert eval(Event(None, "at least", 4).as_code(), {"answer": 4})
    assert eval(Event(frozenset(["a"])).as_code(), {"answer": "a"})
    assert not eval(Event(frozenset(["a"])).as_code(), {"answer": "b"})


def test_the_snippet_draws_again(capsys: pytest.CaptureFixture[str]) -> None:
    draw = coin((0.9, 0.1), 1)
    found = rb.audit(draw, POLL, pairs=ONE, draws=300)
    exec(found.snippet(), {"draw": draw})
    assert len(capsys.readouterr().out.splitlines()) == 2


def scores(measure: Any, **metric: Any) -> Any:
    dp.enable_features("contrib", "honest-but-curious")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int, **metric)
    return dp.m.make_noisy_max(*space, measure, scale=1.0)


def test_an_opendp_measurement_is_held_against_its_own_map() -> None:
    found = rb.audit(scores(dp.max_divergence()), POLL, pairs=ONE, draws=200)
    assert found.claim == rb.DP(2)
    assert found.verdict == "not refuted"
    concentrated = rb.audit(scores(dp.zero_concentrated_divergence()), POLL, pairs=ONE, draws=50)
    assert concentrated.claim == rb.ZeroConcentrated("1/2")
    assert isinstance(concentrated, rb.SampledAudit)


def test_a_false_privacy_map_is_refuted() -> None:
    """OpenDP lets users write maps; this one claims four times too little."""
    dp.enable_features("contrib", "honest-but-curious")
    chances = random.Random(1)

    def draw(counts: Any) -> str:
        return "a" if chances.random() < (0.73 if counts[0] else 0.27) else "b"

    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    wrong = dp.m.make_user_measurement(
        *space, dp.max_divergence(), draw, lambda d_in: d_in / 8, TO="String"
    )
    found = rb.audit(wrong, POLL, pairs=ONE, draws=300)
    assert found.claim == rb.DP("0.25")  # two counts change by one
    assert found.verdict == "refuted"


def test_what_opendp_promises_nothing_about_is_refused() -> None:
    once = scores(dp.max_divergence(), monotonic=True)
    with pytest.raises(rb.InvalidMechanism, match="added or removed"):
        rb.audit(once, POLL, pairs=ONE, draws=10)
    with pytest.raises(rb.InvalidMechanism, match="draws=100_000"):
        rb.audit(once, POLL, pairs=ONE)
    added = rb.Winner(["red", "green"], neighbors="added or removed")
    assert rb.audit(once, added, records=1, draws=20).claim == rb.DP(1)
    records = dp.m.make_user_measurement(
        dp.vector_domain(dp.atom_domain(T=int)),
        dp.symmetric_distance(),
        dp.max_divergence(),
        lambda x: "a",
        lambda d: float(d),
        TO="String",
    )
    with pytest.raises(rb.InvalidMechanism, match="SymmetricDistance"):
        rb.audit(records, POLL, pairs=ONE, draws=10)
