"""What a mechanism really keeps, over all neighbors or by draws."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from rainbowdp.aliases import Dataset
from rainbowdp.auditing.curve import Curve
from rainbowdp.auditing.given import World
from rainbowdp.auditing.neighborhood import Neighborhood, around
from rainbowdp.auditing.renyi import Divergences, Found
from rainbowdp.auditing.reproduction import Reproduction
from rainbowdp.auditing.result import Audit, SampledAudit
from rainbowdp.auditing.rows import Rows
from rainbowdp.auditing.sampling import Tested, tested
from rainbowdp.auditing.subjects import Subject, subject_of
from rainbowdp.errors import InvalidGuarantee, InvalidQuestion, RainbowError
from rainbowdp.expecting import brief, whole
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.trade_off import TradeOff
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.numeric.quantity import Number, exact
from rainbowdp.questions import Count, Question, in_words

ORDERS = (1, 2, 4, 8, 16, 32)
ROUNDING = Fraction(1, 10**9)  # of a claim, where rows are floats


def audit(
    mechanism: Any,
    world: Question | Count | RainbowGraph | None = None,
    claim: Guarantee | None = None,
    *,
    records: int | None = None,
    tries: int | None = None,
    pairs: Iterable[tuple[Dataset, Dataset]] | None = None,
    draws: int | None = None,
    confidence: Number = "0.99",
    orders: Sequence[Number] = ORDERS,
    rounding: Number | None = None,
    seed: int | None = None,
) -> Audit | SampledAudit:
    """What a mechanism really keeps: its curve over all neighbors, with the pair that proves it.

    Rows are taken exactly, as fractions, and compared on every pair of neighbors, all sets of
    answers, both directions; ε, μ, ρ and Rényi divergences are given between two floats. With
    ``draws`` the mechanism is drawn from instead: a set of answers is chosen by some draws and
    tested by others, and what comes out is a lower bound with confidence, never a proof. Cost: a
    row for each dataset and some 0.1 ms for each distinct pair of rows.

    Parameters
    ----------
    mechanism
        A mechanism of this package or its file; rows as a mapping, a frame, a CSV or a JSON file; a
        function from a dataset to {answer: probability}; with ``draws`` a function from a dataset
        to one answer, or an OpenDP measurement over the counts.
    world
        The question or the graph that says which datasets are neighbors, unless the mechanism does.
        A dataset of a question is its counts, ``{"red": 10, "green": 7}``.
    claim
        The guarantee to test; by default the one that the mechanism promises.
    records
        For a question: compare all histograms of at most this many records. By default as many as
        make a few thousand histograms, twelve at most.
    tries
        Compare this many pairs of neighbors drawn at random, up to about ``records`` records.
    pairs
        Compare these pairs of neighboring datasets.
    draws
        How many draws to test with, at each of two datasets; about as many are made before, to
        choose the set of answers.
    confidence
        How sure a statement from draws has to be.
    orders
        Rényi orders from 1 on to report.
    rounding
        By what relative amount rows may exceed the claim: 1e-9 if they are floats, otherwise 0.
    seed
        Makes random pairs repeatable.

    Returns
    -------
    Audit or SampledAudit
        What was found; a ``SampledAudit`` where the mechanism was drawn from.

    Raises
    ------
    RainbowError
        If it is not clear what to compare, or a row is not a distribution.

    Examples
    --------
    >>> from rainbowdp import DP, Winner
    >>> def wrong(counts):
    ...     return {"red": "3/4", "green": "1/4"} if counts["red"] > counts["green"] else {
    ...         "red": "1/5", "green": "4/5"}
    >>> found = audit(wrong, Winner(["red", "green"]), DP.from_ratio(3), records=6)
    >>> found.verdict, found.curve.ratio
    ('broken', Fraction(15, 4))
    >>> print(found.worst)
    {red} has probability 0.75 at {'red': 1, 'green': 0} and 0.2 at its neighbor {'red': 1, \
'green': 1}

    """
    if world is not None and not isinstance(world, Question | Count | RainbowGraph):
        raise InvalidQuestion(
            f"an audit is over a question or a rainbow graph, got {type(world).__name__}"
        )
    if claim is not None and not isinstance(claim, DP | GaussianDP | TradeOff | ZeroConcentrated):
        raise InvalidGuarantee(
            "a claim must be a DP, GaussianDP, TradeOff or ZeroConcentrated, got "
            f"{type(claim).__name__}"
        )
    subject = subject_of(mechanism, world, draws)
    near = around(
        subject.world,
        records=records,
        tries=tries,
        pairs=pairs if pairs is not None else subject.pairs,
        only=subject.only,
        seed=seed,
    )
    if not near.pairs:
        raise RainbowError(
            "there are no two neighbors to compare; give a larger number of records or a graph "
            "with edges"
        )
    if subject.claims_at is not None and claim is None:
        claim = subject.claims_at((near.datasets[a], near.datasets[b]) for a, b in near.pairs)
    claim = subject.claim if claim is None else claim
    if subject.draws:
        return _sampled(subject, near, claim, whole(draws, "draws", 1), confidence)
    if draws is not None:
        raise RainbowError("rows are compared exactly, so draws has no use here; leave it out")
    return _exact(subject, near, claim, orders, rounding)


def _exact(
    subject: Subject,
    near: Neighborhood,
    claim: Guarantee | None,
    orders: Sequence[Number],
    rounding: Number | None,
) -> Audit:
    numbers = tuple(exact(order, "an order", InvalidGuarantee) for order in orders)
    if any(order < 1 for order in numbers):
        raise InvalidGuarantee("orders must be from 1 on, got a smaller one")
    rows = Rows.of(subject.call, near.datasets)
    if rounding is None:
        spare = ROUNDING if rows.rounded else Fraction(0)
    else:
        spare = exact(rounding, "rounding", RainbowError)
        if not 0 <= spare < 1:
            raise RainbowError(f"rounding must be in [0, 1), got rounding={brief(rounding)}")
    found = rows.pairs(near.pairs)
    curve = Curve.over(rows.distinct, found)
    divergences = Divergences(rows.distinct, list(found))
    rho = divergences.rho()
    verdict = _verdict(claim, curve, divergences, spare)
    return Audit(
        what=subject.name,
        world=_asked(subject.world),
        change=near.change,
        scope=near.scope,
        exhaustive=near.exhaustive,
        pairs=len(near.pairs),
        datasets=len(near.datasets),
        claim=claim,
        verdict=verdict,
        rounding=float(spare),
        curve=curve,
        rho=rho.bounds,
        renyi={float(order): divergences.of_order(order).bounds for order in numbers},
        worst=_worst(near, rows, found, curve, claim, rho),
    )


def _verdict(
    claim: Guarantee | None, curve: Curve, divergences: Divergences, spare: Fraction
) -> str | None:
    kept: bool | None
    if claim is None:
        return None
    if isinstance(claim, ZeroConcentrated):
        limit = claim.exact_rho * (1 + spare)
        bounds = divergences.rho(against=limit).bounds
        kept = True if bounds.high <= limit else False if bounds.low > limit else None
    else:
        assert isinstance(claim, DP | GaussianDP | TradeOff)
        kept = curve.keeps(claim, spare)
    return "undecided" if kept is None else "holds" if kept else "broken"


def _worst(
    near: Neighborhood,
    rows: Rows,
    found: dict[tuple[int, int], tuple[int, int]],
    curve: Curve,
    claim: Guarantee | None,
    rho: Found,
) -> Reproduction | None:
    """The pair that tells most against the claim, or of ε."""
    if not found:  # one row throughout
        return None
    order = None
    if isinstance(claim, ZeroConcentrated) and rho.rows is not None:
        ends = rho.rows
        order = None if math.isinf(rho.order) else Fraction(rho.order)
        here, there = rows.distinct[ends[0]], rows.distinct[ends[1]]
        answers = tuple(v for v in range(len(here)) if here[v] > there[v])
    else:
        assert claim is None or isinstance(claim, DP | GaussianDP | TradeOff | ZeroConcentrated)
        corner = curve.worst(None if isinstance(claim, ZeroConcentrated) else claim)
        if not corner.answers:
            corner = curve.worst()
        ends, answers = corner.rows, corner.answers
        here, there = rows.distinct[ends[0]], rows.distinct[ends[1]]
    places = found[ends] if ends in found else found[ends[::-1]][::-1]
    return Reproduction(
        (near.datasets[places[0]], near.datasets[places[1]]),
        tuple(rows.answers[v] for v in answers),
        (
            sum((here[v] for v in answers), Fraction(0)),
            sum((there[v] for v in answers), Fraction(0)),
        ),
        (
            dict(zip(rows.answers, here, strict=True)),
            dict(zip(rows.answers, there, strict=True)),
        ),
        order,
    )


def _sampled(
    subject: Subject,
    near: Neighborhood,
    claim: Guarantee | None,
    draws: int,
    confidence: Number,
) -> SampledAudit:
    sure = exact(confidence, "confidence", RainbowError)
    if not 0 < sure < 1:
        raise RainbowError(
            f"confidence must be between 0 and 1, got confidence={brief(confidence)}"
        )
    found = tested(subject.call, near, claim, draws, sure)
    return SampledAudit(
        what=subject.name,
        world=_asked(subject.world),
        change=near.change,
        scope=near.scope,
        exhaustive=near.exhaustive,
        pairs=len(near.pairs),
        datasets=len(near.datasets),
        claim=claim,
        verdict=_refuted(claim, found),
        confidence=sure,
        tested=found,
        delta=claim.exact_delta if isinstance(claim, DP) else Fraction(0),
    )


def _refuted(claim: Guarantee | None, found: Tested) -> str | None:
    if claim is None:
        return None
    if isinstance(claim, ZeroConcentrated):
        broken = found.rho() > claim.exact_rho
    else:
        assert isinstance(claim, DP | GaussianDP | TradeOff)
        broken = found.curve.keeps(claim, Fraction(0)) is False
    return "refuted" if broken else "not refuted"


def _asked(world: World) -> str:
    if isinstance(world, RainbowGraph):
        return f"{world!r}"
    return "given datasets" if world is None else in_words(world.describe())
