"""Audit other libraries, and write the table of `docs/audit.md`: `python docs/audits.py`.

What is said here of a library is what its installed version does: a claim is asked of the library
itself, a law is computed by its own code where that is finite, and draws are its own draws.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import diffprivlib.mechanisms as ibm
import diffprivlib.tools as ibm_tools
import numpy as np
import opendp.prelude as dp
from dp_accounting.pld import privacy_loss_distribution as pld

import rainbowdp as rb

PAGE = Path(__file__).parent / "audit.md"
START, END = "<!-- made by docs/audits.py: findings -->", "<!-- end of findings -->"
SURE = "0.999999"  # of what is drawn
DRAWS = 2000
UNIT = 1 << 53  # a uniform float is a whole number of 53 bits over this
VOTES = rb.Winner(["a", "b", "c"])
PAIR = [({"a": 1, "b": 1}, {"a": 2, "b": 0})]  # one vote changes sides
TWO = rb.Winner(["a", "b"])


class Finding(NamedTuple):
    """A line of the table."""

    library: str
    mechanism: str
    claimed: str
    found: str
    how: str
    verdict: str


def of(library: str) -> str:
    """A library and its installed version."""
    return f"{library} {version(library.lower())}"


def exact(library: str, mechanism: str, found: rb.Audit | rb.SampledAudit, how: str) -> Finding:
    assert isinstance(found, rb.Audit)
    number = f"ρ = {found.rho}" if "zCDP" in str(found.claim) else f"ε = {found.epsilon}"
    if math.isinf(float(found.epsilon)) and isinstance(found.claim, rb.DP):
        number += f", and δ = {float(found.delta(found.claim.epsilon)):.2g} at the claimed ε"
    return Finding(of(library), mechanism, str(found.claim), number, how, str(found.verdict))


def drawn(library: str, mechanism: str, found: rb.Audit | rb.SampledAudit) -> Finding:
    assert isinstance(found, rb.SampledAudit)
    how = f"{DRAWS:,} draws, confidence {100 * float(SURE):.4f} %"
    return Finding(of(library), mechanism, str(found.claim), "–", how, str(found.verdict))


def noisy_max(measure: Any, **metric: Any) -> Any:
    """OpenDP's noisy max of whole scores, scale 1."""
    dp.enable_features("contrib", "honest-but-curious")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int, **metric)
    return dp.m.make_noisy_max(*space, measure, scale=1.0)


def flip(counts: dict[str, int]) -> dict[str, float]:
    """The law of permute-and-flip at scale 1, over all orders of the answers."""
    best = max(counts.values())
    keep = {a: math.exp(n - best) for a, n in counts.items()}
    row = dict.fromkeys(counts, 0.0)
    orders = list(itertools.permutations(counts))
    for order in orders:
        left = 1.0
        for answer in order:
            row[answer] += left * keep[answer] / len(orders)
            left *= 1 - keep[answer]
    return row


def gumbel(counts: dict[str, int]) -> dict[str, float]:
    """The law of the exponential mechanism at scale 1."""
    best = max(counts.values())
    weights = {a: math.exp(n - best) for a, n in counts.items()}
    return {a: w / sum(weights.values()) for a, w in weights.items()}


def by_bits(outcome: Callable[[float], Any], *cuts: int) -> dict[Any, Fraction]:
    """The exact law of a function of one 53-bit uniform float that is monotone between cuts."""
    row: dict[Any, Fraction] = {}
    for start, end in itertools.pairwise([0, *cuts, UNIT]):
        while start < end:
            value, low, high = outcome(start / UNIT), start, end
            while high - low > 1:  # outcome(low) is this value, outcome(high) is another
                middle = (low + high) // 2
                same = outcome(middle / UNIT) == value
                low, high = (middle, high) if same else (low, middle)
            row[value] = row.get(value, Fraction(0)) + Fraction(high - start, UNIT)
            start = high
    return row


class Given:
    """A source of randomness that says one number."""

    def __init__(self, number: float) -> None:
        self.number = number

    def random(self) -> float:
        """That number."""
        return self.number


def ibm_exponential(counts: dict[str, int]) -> dict[Any, Fraction]:
    """What diffprivlib's own code makes of every 53-bit number."""
    made = ibm.Exponential(
        epsilon=1, sensitivity=1, utility=list(counts.values()), candidates=list(counts)
    )

    def outcome(number: float) -> Any:
        made._rng = Given(number)
        return made.randomise()

    return by_bits(outcome)


def ibm_binary(value: str) -> dict[Any, Fraction]:
    made = ibm.Binary(epsilon=1, value0="no", value1="yes")

    def outcome(number: float) -> Any:
        made._rng = Given(number)
        return made.randomise(value)

    return by_bits(outcome)


def ibm_geometric(counts: dict[str, int]) -> dict[Any, Fraction]:
    made = ibm.GeometricTruncated(epsilon=1, lower=0, upper=8)

    def outcome(number: float) -> Any:
        made._rng = Given(number)
        with np.errstate(divide="ignore"):
            try:
                return made.randomise(counts["matching"])
            except OverflowError:
                return "an error"

    return by_bits(outcome, UNIT // 2, UNIT // 2 + 1)  # noise downward, at zero, upward


def laws() -> Iterator[Finding]:
    """What is found exactly."""
    dp.enable_features("contrib", "honest-but-curious")
    coin: Any = dp.m.make_randomized_response_bool(prob=0.75)
    yield exact(
        "OpenDP",
        "`make_randomized_response_bool`, 3/4",
        rb.audit(
            {True: {True: "3/4", False: "1/4"}, False: {True: "1/4", False: "3/4"}},
            claim=rb.DP(coin.map(1)),
            pairs=[(True, False)],
        ),
        "law",
    )
    pure, concentrated = dp.max_divergence(), dp.zero_concentrated_divergence()
    upto: dict[str, Any] = {"records": 8}
    yield exact(
        "OpenDP",
        "`make_noisy_max`, scale 1",
        rb.audit(flip, VOTES, rb.DP(noisy_max(pure).map(1)), **upto),
        "law of permute-and-flip, tables to 8 votes",
    )
    rho = rb.ZeroConcentrated(noisy_max(concentrated).map(1))
    yield exact(
        "OpenDP",
        "`make_noisy_max` for ρ, scale 1",
        rb.audit(gumbel, VOTES, rho, **upto),
        "law of the exponential mechanism, tables to 8 votes",
    )
    reported = exact(
        "OpenDP",
        "permute-and-flip at OpenDP's ρ for `make_noisy_max` (issue 2911; see below)",
        rb.audit(flip, VOTES, rho, **upto),
        "law of permute-and-flip, tables to 8 votes",
    )
    yield reported._replace(library="–")
    yield exact(
        "diffprivlib",
        "`Binary`, ε = 1",
        rb.audit(ibm_binary, claim=rb.DP(1), pairs=[("yes", "no")], rounding="1e-9"),
        "its code on all 2^53 numbers",
    )
    yield exact(
        "diffprivlib",
        "`GeometricTruncated`, ε = 1, counts to 8",
        rb.audit(ibm_geometric, rb.Threshold(4), rb.DP(1), records=8, rounding="1e-9"),
        "its code on all 2^53 numbers",
    )
    yield exact(
        "diffprivlib",
        "`Exponential`, ε = 1",
        rb.audit(ibm_exponential, VOTES, rb.DP(1), records=5, rounding="1e-9"),
        "its code on all 2^53 numbers, tables to 5 votes",
    )
    far = [({"a": 80, "b": n, "c": 0}, {"a": 80, "b": n + 1, "c": 0}) for n in range(2, 9)]
    yield exact(
        "diffprivlib",
        "`Exponential`, ε = 1, a lead of 71 to 78 votes",
        rb.audit(ibm_exponential, VOTES, rb.DP(1), pairs=far, rounding="1e-9"),
        "its code on all 2^53 numbers",
    )
    yield from accounting()


def accounting() -> Iterator[Finding]:
    """Two rows of different spread, by default in one direction and as they are."""
    rows = {"x": {0: "99/100", 1: "1/100"}, "y": {0: "1/2", 1: "1/2"}}
    logs = [{a: math.log(Fraction(p)) for a, p in row.items()} for row in rows.values()]
    truth = rb.audit(rows, pairs=[("x", "y")])
    assert isinstance(truth, rb.Audit)
    least = truth.delta(1).low
    for name, options in (("", {}), (", `symmetric=False`", {"symmetric": False})):
        for first, second in (logs, logs[::-1]):
            made = pld.from_two_probability_mass_functions(first, second, **options)
            told = made.get_delta_for_epsilon(1.0)
            order = "wide row first" if first is logs[1] else "narrow row first"
            yield Finding(
                of("dp-accounting"),
                f"`from_two_probability_mass_functions`{name}, {order}",
                f"δ = {told:.4g} at ε = 1",
                f"δ = {truth.delta(1)} at ε = 1",
                "both rows, both directions",
                "broken" if told < least * (1 - 1e-6) else "holds",
            )


def draws() -> Iterator[Finding]:
    """What is drawn from the libraries themselves."""
    dp.enable_features("contrib", "honest-but-curious")
    options: dict[str, Any] = {"draws": DRAWS, "confidence": SURE}
    for name, measure in (
        ("`make_noisy_max`, scale 1", dp.max_divergence()),
        ("`make_noisy_max` for ρ, scale 1", dp.zero_concentrated_divergence()),
    ):
        yield drawn("OpenDP", name, rb.audit(noisy_max(measure), TWO, pairs=PAIR, **options))
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
    top = dp.m.make_noisy_top_k(*space, dp.max_divergence(), k=2, scale=2.0)
    three = [({"a": 1, "b": 1, "c": 1}, {"a": 2, "b": 1, "c": 0})]
    yield drawn("OpenDP", "`make_noisy_top_k`, k = 2", rb.audit(top, VOTES, pairs=three, **options))
    one = [({"matching": 3}, {"matching": 4})]
    whole = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=1.0)
    yield drawn(
        "OpenDP",
        "`make_laplace` of whole numbers, scale 1",
        rb.audit(whole, rb.Threshold(4), pairs=one, **options),
    )
    values = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    middle: Any = dp.m.make_private_quantile(
        *values, dp.max_divergence(), candidates=[0, 2, 4, 6, 8], alpha=0.5, scale=1.0
    )
    yield drawn(
        "OpenDP",
        "`make_private_quantile`, the median",
        rb.audit(
            lambda records: middle(list(records)),
            claim=rb.DP(middle.map(1)),
            pairs=[((1, 3, 5, 5), (1, 3, 5))],
            **options,
        ),
    )

    def ibm_flip(counts: dict[str, int]) -> Any:
        scores = list(counts.values())
        return ibm.PermuteAndFlip(epsilon=2, sensitivity=1, utility=scores).randomise()

    yield drawn(
        "diffprivlib",
        "`PermuteAndFlip`, ε = 2",
        rb.audit(ibm_flip, TWO, rb.DP(2), pairs=PAIR, **options),
    )

    def ibm_median(records: tuple[float, ...]) -> Any:
        return float(ibm_tools.median(np.array(records), epsilon=1, bounds=(0, 8)))

    yield drawn(
        "diffprivlib",
        "`tools.median`, ε = 1",
        rb.audit(
            ibm_median,
            claim=rb.DP(1),
            pairs=[((1.0, 3.0, 5.0, 5.0), (1.0, 3.0, 5.0, 1.0))],
            **options,
        ),
    )


def table(findings: list[Finding]) -> str:
    """The lines in Markdown."""
    head = ("library", "what was audited", "it claims", "found", "how", "verdict")
    lines = [head, ("---",) * len(head)]
    for finding in findings:
        wrong = finding.verdict in ("broken", "refuted")
        lines.append((*finding[:5], f"**{finding.verdict}**" if wrong else finding.verdict))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def written(page: str, findings: list[Finding]) -> str:
    """The page with its table made anew."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n\n{table(findings)}\n\n{END}{after}"


def main(page: Path) -> None:
    findings = [*laws(), *draws()]
    page.write_text(written(page.read_text(encoding="utf-8"), findings), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE)
