"""Questions of every kind, in groups or not."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.questions import Grouped, Restored
from rainbowdp.questions.restoring import KINDS

NAMES = st.sampled_from(["vote", "age", "a column", "straße", "x, y"])
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=8)
ANSWERS = st.lists(TEXTS, min_size=2, max_size=5, unique=True)
SHARES = st.fractions("1/100", "99/100", max_denominator=100).map(str)
ENDS = st.one_of(
    st.lists(st.integers(-99, 99), min_size=3, max_size=6, unique=True).map(sorted),
    st.lists(st.integers(-99, 99).map(lambda n: n / 8), min_size=3, max_size=6, unique=True).map(
        sorted
    ),
    st.lists(
        st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
        min_size=3,
        max_size=5,
        unique=True,
    ).map(sorted),
)


@st.composite
def shared(draw: st.DrawFn, *, weights: bool = True) -> dict[str, Any]:
    """What every question may have."""
    rule = draw(st.sampled_from(["sample", "one vote"]))
    vote = rule == "one vote"
    weight = (
        None if vote or not weights else draw(st.sampled_from([None, rb.Weight("dose", "2.5", 2)]))
    )
    return {
        "column": draw(NAMES),
        "neighbors": draw(st.sampled_from(["substituted", "added or removed"])),
        "person": "who" if vote else draw(st.sampled_from([None, "who"])),
        "rows_per_person": 1 if vote else draw(st.integers(1, 4)),
        "person_rule": rule,
        "where": draw(st.sampled_from([None, "age > 65 and ward = 'X'", "x is null"])),
        **({} if weight is None else {"weight": weight}),
    }


@st.composite
def matching(draw: st.DrawFn) -> dict[str, Any]:
    """Which records match."""
    if draw(st.booleans()):
        return {"equals": draw(TEXTS)}
    low, *_, high = draw(ENDS)
    return draw(
        st.sampled_from([{"minimum": low}, {"maximum": high}, {"minimum": low, "maximum": high}])
    )


@st.composite
def plain_questions(draw: st.DrawFn, kinds: tuple[str, ...] = tuple(KINDS)) -> Any:
    """Questions of every kind."""
    kind = draw(st.sampled_from(kinds))
    options = draw(shared(weights=kind not in ("count", "proportion-test", "keys")))
    if kind in ("winner", "ranking"):
        answers = draw(ANSWERS)
        rest: dict[str, Any] = {"other": "else", "missing": None} if draw(st.booleans()) else {}
        answers = [answer for answer in answers if answer != "else"] or ["red"]
        if not rest and len(answers) < 2:
            answers = [*answers, "…"]
        if kind == "winner":
            ties = draw(st.sampled_from(["first listed", "any leader"]))
            return rb.Winner(answers, ties=ties, **rest, **options)
        return rb.Ranking(answers, first=1, in_order=draw(st.booleans()), **rest, **options)
    if kind in ("quantile", "quantiles"):
        bins, closed = draw(ENDS), draw(st.booleans())
        if kind == "quantile":
            return rb.Quantile(draw(SHARES), bins, closed_ends=closed, **options)
        return rb.Quantiles(["1/4", "3/4"], bins, closed_ends=closed, **options)
    if kind == "keys":
        kept = {key: options[key] for key in ("column", "neighbors", "person", "where")}
        return rb.Keys(keys_per_person=draw(st.integers(1, 3)), **kept)
    options |= draw(matching())
    if kind == "share":
        return rb.Share(draw(SHARES), **options)
    if kind == "threshold":
        return rb.Threshold(draw(st.integers(1, 10**6)), **options)
    if kind == "count":
        return rb.Count(at_most=draw(st.integers(1, 10**9)), **options)
    options |= {"neighbors": "substituted", "rows_per_person": 1}
    return rb.ProportionTest(draw(SHARES), records=draw(st.integers(1, 10**6)), **options)


@st.composite
def questions(draw: st.DrawFn) -> Restored:
    """Questions of every kind, in groups or not."""
    if not draw(st.booleans()):
        found: Restored = draw(plain_questions())
        return found
    kinds = tuple(kind for kind in KINDS if kind not in ("proportion-test", "keys"))
    inner = draw(
        plain_questions(kinds).filter(
            lambda one: (
                not (isinstance(one, rb.Quantile | rb.Quantiles) and one.person_rule == "one vote")
            )
        )
    )
    apply = draw(st.sampled_from([None, "lower"]))
    groups = ["north", "south"]
    return Grouped(inner, "district", groups, public=draw(st.booleans()), apply=apply)
