"""Plans: what each question gets, that all keep the total, and that no other way is better."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from dp_accounting import dp_event
from dp_accounting.pld import pld_privacy_accountant as accounting
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from ledgers import new_ledger
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.sessions.buying import loss, mechanism_for
from rainbowdp.sessions.together import Added, keeps, range_of
from rainbowdp.sessions.ways import COMPOSED, EPSILON, MU, RANGES, RHO, WAYS

TOTAL = rb.DP(3, "1e-6")
YES = rb.Threshold(100, "ward", equals="x")
SEVEN = rb.Winner([str(number) for number in range(7)], "vote")


def wards(many: int, **wishes: Any) -> dict[str, rb.Target]:
    return {
        f"ward {n}": rb.Target(rb.Threshold(100, "ward", equals=str(n)), **wishes)
        for n in range(many)
    }


def delta_of(parts: list[Guarantee], epsilon: float) -> float:
    """The δ that answers under these guarantees leave at ε, by dp-accounting, never too small.

    Of a ρ, the δ of the normal distributions that have it.
    """
    (part,) = set(parts)
    if isinstance(part, rb.DP):
        noise = 2 / (math.exp(part.epsilon) + 1)
        one: Any = pld.from_randomized_response(noise, 2, value_discretization_interval=1e-5)
    else:
        square = part.mu**2 if isinstance(part, rb.GaussianDP) else 2 * _rho(part)
        one = pld.from_gaussian_mechanism(square**-0.5, value_discretization_interval=1e-4)
    return float(one.self_compose(len(parts)).get_delta_for_epsilon(epsilon))


def _rho(part: Guarantee) -> float:
    assert isinstance(part, rb.ZeroConcentrated)
    return part.rho


@pytest.mark.parametrize("total", [TOTAL, rb.DP("0.5", "1e-9"), rb.DP(1, "1e-3")])
@pytest.mark.parametrize("many", [pytest.param(1, marks=pytest.mark.slow), 4, 20])
@pytest.mark.parametrize("way", [EPSILON, COMPOSED, RHO, MU])
def test_a_total_is_what_dp_accounting_finds(total: rb.DP, many: int, way: Any) -> None:
    made = rb.plan(wards(many), total, currency=way.name)
    parts = [each.guarantee for each in made.mechanisms]
    assert isinstance(made.guarantee, rb.DP)
    assert made.guarantee.epsilon <= total.epsilon
    if way is EPSILON or (way is COMPOSED and many == 1):
        sums = sum(part.epsilon for part in parts)  # type: ignore[attr-defined]
        assert sums == pytest.approx(total.epsilon, rel=0.01)
        return
    assert delta_of(parts, total.epsilon) <= total.delta * 1.03 + 1e-12


@pytest.mark.parametrize("many", [2, pytest.param(30, marks=pytest.mark.slow)])
def test_gaussian_plans_are_gaussian_events(many: int) -> None:
    made = rb.plan(wards(many), TOTAL, currency="mu")
    accountant = accounting.PLDAccountant()
    for each in made.mechanisms:
        assert isinstance(each.guarantee, rb.GaussianDP)
        accountant.compose(dp_event.GaussianDpEvent(1 / each.guarantee.mu))
    assert accountant.get_epsilon(1e-6) == pytest.approx(3, rel=1e-3)


@given(
    st.lists(
        st.fractions(min_value="1/10", max_value=10, max_denominator=10), min_size=1, max_size=4
    ),
    st.sampled_from(WAYS),
    st.sampled_from(
        [rb.DP(2), TOTAL, rb.DP("1/3", "1e-5"), rb.GaussianDP(1), rb.ZeroConcentrated("1/2")]
    ),
)
@settings(deadline=None, max_examples=25)
def test_every_plan_keeps_its_total(weights: list[Fraction], way: Any, total: Guarantee) -> None:
    targets = {str(n): rb.Target(YES, weight=weight) for n, weight in enumerate(weights)}
    if way.unfit([rb.Target(YES, weight=weight) for weight in weights], total) is not None:
        with pytest.raises(rb.RainbowError):
            rb.plan(targets, total, currency=way.name)
        return
    made = rb.plan(targets, total, currency=way.name)
    parts = [each.guarantee for each in made.mechanisms]
    assert keeps(parts, way.added, made.guarantee)
    more = [_larger(part) for part in parts]
    assert not keeps(more, way.added, made.guarantee)  # nearly all is used


def _larger(part: Guarantee) -> Guarantee:
    if isinstance(part, rb.DP):
        return rb.DP(part.exact_epsilon * Fraction(11, 10), part.exact_delta)  # type: ignore[operator]
    if isinstance(part, rb.GaussianDP):
        return rb.GaussianDP(part.exact_mu * Fraction(11, 10))
    assert isinstance(part, rb.ZeroConcentrated)
    return rb.ZeroConcentrated(part.exact_rho * Fraction(12, 10))


def test_a_plan_that_exceeds_its_total_cannot_be_made() -> None:
    made = rb.plan(wards(3), TOTAL, currency="rho")
    for total in (rb.DP("2.9", "1e-6"), rb.DP(3, "1e-7"), rb.ZeroConcentrated("0.1")):
        with pytest.raises(rb.InvalidMechanism, match="must keep"):
            rb.Plan(made.targets, made.mechanisms, total, made.way)
    with pytest.raises(rb.InvalidMechanism, match="must keep"):
        rb.Plan(made.targets, made.mechanisms, TOTAL, EPSILON)


def test_ranges_are_for_exponential_mechanisms_alone() -> None:
    parts = [rb.ZeroConcentrated("1/100")] * 2
    count = rb.best(rb.Count("ward", equals="x"), parts[0])
    vote = rb.best(SEVEN, parts[1])
    targets = (rb.Target(count.question, "a"), rb.Target(SEVEN, "b"))
    assert keeps(parts, Added.RANGES, TOTAL)
    with pytest.raises(rb.InvalidMechanism, match="exponential"):
        rb.Plan(targets, (count, vote), TOTAL, RANGES)
    assert RANGES.unfit(targets, TOTAL) is not None
    assert range_of(Fraction(1, 8)) == 1
    assert range_of(Fraction(1, 3)) ** 2 > Fraction(8, 3)


def test_composed_ranges_keep_the_exponential_mechanism_where_best_has_another() -> None:
    """Noisy counts have no range, and are better than it for many answers under ρ."""
    asked = {name: rb.Winner([str(number) for number in range(40)], column=name) for name in "ab"}
    made = rb.plan(asked, TOTAL, currency="composed ranges")
    promise = made["a"].guarantee
    assert [made[name].name for name in "ab"] == ["exponential"] * 2
    assert rb.best(asked["a"], promise).name == "noisy-counts"
    with pytest.raises(rb.InvalidMechanism, match="composed ranges are for exponential"):
        replace(made, mechanisms=(rb.best(asked["a"], promise), made["b"]))


def test_the_best_way_to_pay_is_taken() -> None:
    few, many = rb.plan(wards(2), TOTAL), rb.plan(wards(30), TOTAL)
    assert few.way is EPSILON
    assert few.guarantee == rb.DP(3)  # the δ is not spent
    assert many.way is RANGES
    assert many.bought["ward 3"].sure_from == 20
    alone = rb.plan(wards(30), TOTAL, currency="epsilon")
    assert alone.bought["ward 3"].sure_from == 40  # the same certainty needs twice the margin
    for made in (few, many):
        target = made.targets[0]
        losses = [loss(target, mechanism_for(target, offer.promises[0])) for offer in made.offers]
        assert losses[0] <= min(losses) * 1.001


def test_a_demanding_question_gets_what_it_needs_and_the_others_the_rest() -> None:
    made = rb.plan(
        {"sure": rb.Target(YES, sure="0.95", margin=20), "rest": rb.Target(YES)}, rb.DP(1)
    )
    part = made["sure"].guarantee
    assert isinstance(part, rb.DP)
    assert 0.115 < part.epsilon < 0.13
    chance = made.bought["sure"].chance
    assert chance is not None
    assert 0.95 <= chance < 0.952
    assert made["rest"].guarantee == rb.DP(1 - Fraction(part.exact_epsilon or 0))
    less = rb.best(YES, rb.DP(part.epsilon * 0.99)).by_margin([20])[0][1]
    assert less < 0.95  # and no more than it needs


@pytest.mark.slow
@pytest.mark.parametrize("way", [EPSILON, COMPOSED, RHO, MU, RANGES])
def test_without_a_total_a_plan_says_which_is_needed(way: Any) -> None:
    made = rb.plan(wards(6, sure="0.9", margin=15), currency=way.name)
    assert isinstance(made.guarantee, rb.DP)
    parts = [each.guarantee for each in made.mechanisms]
    assert keeps(parts, way.added, made.guarantee)
    smaller = rb.DP(Fraction(made.guarantee.exact_epsilon or 0) * Fraction(99, 100), "1e-6")
    assert not keeps(parts, way.added, smaller)
    assert all(found.chance >= 0.9 for found in made.bought.values())  # type: ignore[operator]


def test_shares_say_how_many_people_are_needed() -> None:
    poll = rb.Winner(["red", "green"], "vote")
    expected = {"red": "0.55", "green": "0.45"}
    made = rb.plan({"poll": rb.Target(poll, sure="0.99", shares=expected)}, rb.DP("0.1"))
    people = made.bought["poll"].people
    assert people is not None
    mechanism = rb.best(poll, rb.DP("0.1"))
    assert mechanism[{"red": int(people * 0.55), "green": int(people * 0.45)}]["red"] >= 0.99
    assert mechanism[{"red": int(people * 0.53), "green": int(people * 0.46)}]["red"] < 0.99
    back = rb.plan(
        {"poll": rb.Target(poll, sure="0.99", shares=expected, people=people)}, currency="epsilon"
    )
    assert back.guarantee.epsilon == pytest.approx(0.1, rel=0.01)  # type: ignore[attr-defined]


@pytest.mark.slow
def test_counts_keys_and_tests_can_be_planned_too() -> None:
    asked: dict[str, Any] = {
        "count": rb.Target(rb.Count("age", minimum=65), sure="0.95", margin=30),
        "keys": rb.Target(rb.Keys("ill", neighbors="substituted"), sure="0.9", margin=60),
        "test": rb.Target(
            rb.ProportionTest("0.5", "ill", equals="flu", records=80),
            sure="0.8",
            shares={"matching": "0.7"},
        ),
        "vote": SEVEN,
    }
    made = rb.plan(asked, rb.DP(3, "1e-5"), currency="composed epsilon")
    assert made["count"].noise.half_width(Fraction(95, 100)) <= 30  # type: ignore[attr-defined]
    assert made["keys"].people_for("0.9") <= 60  # type: ignore[attr-defined]
    assert made["test"].power("0.7") >= 0.8  # type: ignore[attr-defined]
    assert all(made.in_words().values())


def test_groups_can_be_planned() -> None:
    polls = rb.Grouped(
        rb.Winner(["red", "green"], "vote", neighbors="added or removed"), "ward", ["n", "s"]
    )
    made = rb.plan({"polls": polls, "more": polls}, TOTAL)
    assert set(made.bought) == {"polls", "more"}
    votes = {"n": {"red": 90}, "s": {"green": 90}}
    answers = rb.ask(made, {"polls": votes, "more": votes}, ledger=None).answer
    assert set(answers["polls"]) == {"n", "s"}


# what does not fit


def test_a_plan_that_does_not_fit_says_by_how_much_and_what_would() -> None:
    with pytest.raises(rb.BudgetExceeded) as caught:
        rb.plan(wards(30, sure="0.95", margin=10), TOTAL, currency="composed ranges")
    said = str(caught.value)
    assert re.match(r"This plan needs \(3\.\d+, 1e-06\)-DP at least, by composed ranges, but", said)
    assert "It fits with every margin 1.25 times as large" in said
    rb.plan(wards(30, sure="0.95", margin=13), TOTAL, currency="composed ranges")


def test_needs_that_leave_nothing_for_the_others() -> None:
    asked: dict[str, Any] = {**wards(3, sure="0.99", margin=1), "other": YES}
    with pytest.raises(rb.BudgetExceeded, match="leaves nothing"):
        rb.plan(asked, rb.DP(1))


def test_a_target_that_no_guarantee_reaches() -> None:
    keys = rb.Target(rb.Keys("ill"), sure="0.9", margin=1)  # one person alone
    test = rb.ProportionTest("0.5", "ill", equals="flu", records=20)
    at_the_limit = rb.Target(test, sure="0.9", shares={"matching": "0.5"})
    for wanted, way in ((keys, "epsilon and delta"), (at_the_limit, "epsilon")):
        with pytest.raises(rb.InvalidGuarantee, match="No guarantee makes it 90 % sure"):
            rb.plan({"it": wanted}, rb.DP(3, "1e-6"), currency=way)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ([], "at least one question"),
        ("winner", "list of questions"),
        ({"a": YES, "b": rb.Threshold(3, person="who")}, "same unit"),
        ([rb.Target(YES, "a"), rb.Target(YES, "a")], "differ"),
        ([3], "questions such as"),
        ({"": YES}, "must be a text"),
    ],
)
def test_questions_that_make_no_plan(asked: Any, message: str) -> None:
    with pytest.raises(rb.InvalidQuestion, match=message):
        rb.plan(asked, TOTAL)


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"sure": 1}, "between 0 and 0.999999999"),
        ({"sure": "0.9999999999"}, "between 0 and 0.999999999"),
        ({"weight": 0}, "greater than 0"),
        ({"margin": 0}, "at least 1"),
        ({"margin": 3, "shares": {"matching": "0.1"}}, "either a margin or shares"),
        ({"shares": {"nobody": "0.1"}}, "leave it out"),
        ({"shares": {"matching": "1.1"}}, "at most 1"),
        ({"shares": 3}, "must map"),
    ],
)
def test_wishes_that_make_no_sense(wishes: dict[str, Any], message: str) -> None:
    with pytest.raises(rb.InvalidQuestion, match=message):
        rb.Target(YES, **wishes)


def test_other_bad_input() -> None:
    with pytest.raises(rb.InvalidGuarantee, match="currency must be one of"):
        rb.plan([YES], TOTAL, currency="dollars")
    with pytest.raises(rb.InvalidGuarantee, match="a total must be"):
        rb.plan([YES], 3)  # type: ignore[arg-type]
    with pytest.raises(rb.InvalidQuestion, match="without a total"):
        rb.plan([YES])
    with pytest.raises(rb.InvalidGuarantee, match="needs a delta"):
        rb.plan([YES], rb.DP(1), currency="rho")
    with pytest.raises(rb.RainbowError, match="got 'other'"):
        rb.plan({"a": YES}, TOTAL)["other"]


# asking


def test_a_plan_is_one_entry_and_recalled_as_a_whole(tmp_path: Path) -> None:
    book = new_ledger(tmp_path / "budget.db", epsilon=4, delta="1e-5")
    asked: dict[str, Any] = {"a": YES, "b": rb.Count("age", minimum=65)}
    made = rb.plan(asked, TOTAL)
    table = {"a": {"matching": 900}, "b": {"matching": 41}}
    first = rb.ask(made, table, ledger=book, name="all", source="visits")
    again = rb.ask(made, table, ledger=book, name="all", source="visits")
    assert again.recalled
    assert again.answer == first.answer
    assert isinstance(again.answer["b"], int)
    assert again["b"].proves == first["b"].proves  # type: ignore[index]
    (entry,) = book.history()
    assert entry.guarantee == made.guarantee
    assert entry.question["kind"] == "plan"
    assert [one["name"] for one in entry.question["questions"]] == ["a", "b"]
    with pytest.raises(rb.RainbowError, match="answers named"):
        first["c"]  # type: ignore[index]


def test_a_plan_that_is_not_paid_for_reads_nothing(tmp_path: Path) -> None:
    book = new_ledger(tmp_path / "budget.db", epsilon=1)
    made = rb.plan({"a": YES, "b": YES}, rb.DP(2))
    with pytest.raises(rb.BudgetExceeded):
        rb.ask(made, tmp_path / "missing.csv", ledger=book)
    assert book.balance().entries == 0


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "csv.gz"])
def test_a_file_is_read_once(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import gzip
    import json

    import polars as pl

    from rainbowdp.tables import files, text_reader

    rows = [
        {"vote": ["red", "green", None][n % 3], "age": str(n), "who": n // 2} for n in range(300)
    ]
    path = tmp_path / f"votes.{suffix}"
    frame = pl.DataFrame(rows)
    if suffix == "parquet":
        frame.with_columns(age=pl.col("age").cast(pl.Int64)).write_parquet(path)
    elif suffix == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        text = frame.write_csv()
        path.write_bytes(gzip.compress(text.encode()) if suffix.endswith("gz") else text.encode())
    opened: list[str] = []
    true_batches = text_reader.TextReader.batches
    true_copied = files._copied

    def batches(self: Any) -> Any:
        opened.append("text")  # once it is read from
        yield from true_batches(self)

    def copied(*given: Any) -> str:
        opened.append("copy")
        return true_copied(*given)

    monkeypatch.setattr(text_reader.TextReader, "batches", batches)
    monkeypatch.setattr(files, "_copied", copied)
    options: dict[str, Any] = {"person": "who", "rows_per_person": 2}
    asked: dict[str, Any] = {
        "vote": rb.Winner(["red", "green"], "vote", **options),
        "others": rb.Winner(["red", "green"], "vote", missing="none", **options),
        "old": rb.Count("age", minimum=200, **options),
        "half": rb.Quantile("1/2", [0, 100, 200, 300], "age", where="vote = 'red'", **options),
        "keys": rb.Keys("vote", person="who", neighbors="substituted"),
        "by": rb.Grouped(rb.Count("age", maximum=99, **options), "vote", ["red", "green"]),
    }
    made = rb.plan(asked, rb.DP(500, "1e-2"), currency="epsilon and delta")
    told: list[float] = []
    release = rb.ask(made, path, ledger=None, progress=told.append)
    assert opened.count("copy") == 1
    assert opened.count("text") <= 1
    assert release.answer["vote"] == "red"
    assert abs(release.answer["old"] - 100) <= 3
    assert release.answer["half"] == "[100, 200)"
    assert release.answer["keys"] == ("green", "red") or set(release.answer["keys"]) == {
        "green",
        "red",
    }
    assert abs(release.answer["by"]["red"] - 34) <= 3
    assert told
    assert told[-1] == 1.0


def test_a_file_without_a_column_is_refused_before_it_is_paid(tmp_path: Path) -> None:
    book = new_ledger(tmp_path / "budget.db", epsilon=3)
    (tmp_path / "votes.csv").write_text("vote\nred\n")
    asked: dict[str, Any] = {
        "a": rb.Winner(["red", "green"], "vote"),
        "b": rb.Count("age", minimum=1),
    }
    made = rb.plan(asked, rb.DP(2))
    with pytest.raises(rb.UnreadableTable, match="no column 'age'"):
        rb.ask(made, tmp_path / "votes.csv", ledger=book)
    assert book.balance().entries == 0


def test_counts_for_a_plan_must_be_of_its_questions() -> None:
    made = rb.plan({"a": YES}, TOTAL)
    with pytest.raises(rb.InvalidQuestion, match="each of a"):
        rb.ask(made, {"b": {"matching": 3}}, ledger=None)


def test_a_plan_shows_itself() -> None:
    made = rb.plan(wards(3), TOTAL)
    assert "Nothing was read" in made._repr_html_()
    told = made.as_dict()
    assert told["currency"] == made.way.name
    assert len(told["questions"]) == 3
    assert told["questions"][0]["bought"]["in_words"] == made.in_words()["ward 0"]
    assert len(made.comparison()) == len(made.offers) - 1
    release = rb.ask(made, {name: {"matching": 500} for name in made.names}, ledger=None)
    assert "3 answers" in release._repr_html_()
    assert made.proof.holds
    assert made.proof.pairs > 0
