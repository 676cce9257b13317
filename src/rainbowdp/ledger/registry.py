"""The entry of a ledger in OpenDP's registry of deployments, as YAML.

The registry (https://github.com/opendp/deployments-registry-data) takes one file for each
deployment, in the fields of its ``schemas/deployments-schema.yaml``; ours are those of autumn 2026.
What the ledger knows is filled in. What it cannot know is empty and marked ``FILL IN``; most of it
must not be empty in the registry, so a file that nobody completed is refused there. No analyst is
named, since the registry is public.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from rainbowdp.guarantees.dp import DP
from rainbowdp.ledger.balance import Balance
from rainbowdp.ledger.cost import DPCost, GaussianCost, ZeroConcentratedCost
from rainbowdp.ledger.ledger import Ledger
from rainbowdp.questions.relations import Neighbors
from rainbowdp.questions.words import change_in_words

_COMPOSITION = {
    "dp": "Basic composition: the epsilons and the deltas of all answers are added up",
    "gaussian": "Gaussian composition: the squares of the mus of all answers are added up",
    "zero-concentrated": "The rhos of all answers are added up",
}


@dataclass
class _Seen:
    """What the entries have in common."""

    first: str | None = None
    kinds: Counter[str] = field(default_factory=Counter)
    mechanisms: Counter[str] = field(default_factory=Counter)
    software: dict[str, None] = field(default_factory=dict)
    analysts: set[str] = field(default_factory=set)
    public_groups: bool = False
    extensions: int = 0

    @classmethod
    def of(cls, ledger: Ledger) -> _Seen:
        seen = cls()
        for event in ledger.events():
            entry = event.entry
            seen.extensions += event.record.kind in ("extension", "renewal")
            if entry is None:
                continue
            seen.first = seen.first or entry.time[:10]
            seen.kinds[str(entry.question.get("kind", "other"))] += 1
            seen.mechanisms[str((entry.mechanism or {}).get("kind", "not recorded"))] += 1
            seen.software[entry.software or "not recorded"] = None
            seen.analysts.add(f"{entry.by} {entry.role}")
            seen.public_groups |= entry.question.get("groups_are_public") is True
        return seen


def as_yaml(ledger: Ledger) -> str:
    """The entry, to be completed by hand where it says FILL IN."""
    balance, seen = ledger.balance(), _Seen.of(ledger)
    lines = [
        "# An entry for OpenDP's registry of deployments, made from a ledger by rainbowdp.",
        "# Lines marked FILL IN are what a ledger cannot know. Complete them, read the rest, and",
        "# propose the file at https://github.com/opendp/deployments-registry-data",
        f"url_slug: {_text(_slug(balance.title or balance.dataset))}",
        "deployment:",
        *_indented("basic", _basic(balance, seen)),
        *_indented("dp_variant", _variant(balance, seen)),
        *_indented("privacy_loss", _loss(balance, seen)),
        *_indented("deployment_model", _model(balance, seen)),
        *_indented("implementation", _implementation(balance, seen)),
        *_indented("administrative", _administrative()),
    ]
    return "\n".join(lines) + "\n"


def _basic(balance: Balance, seen: _Seen) -> Iterator[str]:
    asked = ", ".join(f"{kind} ({count:,})" for kind, count in seen.kinds.most_common())
    yield f"name: {_text(balance.title or balance.dataset)}"
    yield "data_curators:"
    yield "  -"
    yield f"    data_curator_name: {_blank('the organization that publishes')}"
    yield f"    data_curator_type: {_blank('Government, Industry or Nonprofit')}"
    answers = f"{balance.answers:,} {'answer' if balance.answers == 1 else 'answers'}"
    kinds = f", by kind of question: {asked}" if asked else ""
    yield f"description: {_text(f'{answers} about {balance.dataset}{kinds}.')}"
    if balance.purpose is None:
        yield f"intended_use: {_blank('what the answers are for')}"
    else:
        yield f"intended_use: {_text(balance.purpose)}"
    yield "data_product_type: Summary statistics"
    yield f"data_product_region: {_blank('where the people live, or whose law applies')}"
    sectors = "Technology, Healthcare, Education, Government, Energy or Finance"
    yield f"data_product_sector: {_blank(sectors)}"
    if seen.first is None:
        yield f"publication_date: {_blank('YYYY-MM-DD')}"
    else:
        yield f"publication_date: {_text(seen.first)}  # of the first answer; FILL IN if later"


def _variant(balance: Balance, seen: _Seen) -> Iterator[str]:
    total = balance.total
    if isinstance(total, DPCost):
        variant = "Approximate DP" if total.delta else "Pure DP"
    else:
        variant = "Zero-concentrated DP" if isinstance(total, ZeroConcentratedCost) else "Custom"
    yield f"variant_name: {variant}"
    yield f"data_domain: {_blank('which tables there could have been')}"
    public = []
    if balance.neighbors == Neighbors.SUBSTITUTED:
        whose = "records" if balance.unit.whom == "one record" else "people"
        public.append(f"The number of {whose} is public, as neighbors are substituted.")
    if seen.public_groups:
        public.append("For some questions, which group each of them is in is public.")
    if public:
        yield f"unprotected_quantities: {_text(' '.join(public))}"
    else:
        yield f"unprotected_quantities: {_blank('what was published without protection, if any')}"


def _loss(balance: Balance, seen: _Seen) -> Iterator[str]:
    record = balance.unit.whom == "one record"
    yield f"privacy_unit: {'Record-level' if record else 'Person-level'}"
    yield f"privacy_unit_details: {_text(change_in_words(balance.unit, balance.neighbors))}"
    yield f"# number_of_privacy_units: {_blank('how many there are, as a whole number')}"
    yield "privacy_parameters:"
    total = balance.total
    given = balance.given
    numbers: dict[str, float] = {}
    if isinstance(total, DPCost):
        numbers = {"epsilon": float(total.epsilon), "delta": float(total.delta)}
    elif not seen.extensions and "epsilon" in given:  # that mu or rho was made from
        promise = DP(given["epsilon"], given["delta"])
        numbers = {"epsilon": promise.epsilon, "delta": promise.delta}
    if isinstance(total, ZeroConcentratedCost):
        numbers["rho"] = float(total.rho)
        numbers.setdefault("delta", float(total.delta))
    for name, value in numbers.items():
        if value:
            yield f"  {name}: {_number(value)}"
    if not numbers:
        yield f"  epsilon: {_blank('what mu is worth at your delta')}"
        yield f"  delta: {_blank('that delta')}"
    details = f"The budget is {balance.total.in_symbols()}, of which {balance.spent.in_symbols()} "
    details += f"was spent by {balance.entries:,} questions."
    if isinstance(total, GaussianCost):
        details += " The guarantee is Gaussian differential privacy with this mu."
    yield f"privacy_parameters_details: {_text(details)}"


def _model(balance: Balance, seen: _Seen) -> Iterator[str]:
    yield "model_name: Central"
    yield f"trust_assumptions: {_blank('who sees the data, and who is trusted')}"
    analysts = len(seen.analysts)
    asked = f"{analysts} analysts asked" if analysts != 1 else "One analyst asked"
    yield f"actors: {_text(f'{asked}; the budget is kept by a ledger.')}"
    yield f"release_type: {'One release' if balance.entries == 1 else 'Many releases'}"
    story = ["One budget for all answers; the data is not queried any more once it is spent."]
    if seen.extensions:
        times = "once" if seen.extensions == 1 else f"{seen.extensions} times"
        story.append(f"It was extended or renewed {times}, by signed entries.")
    if balance.closed is not None:
        story.append(f"The ledger was closed on {balance.closed[:10]}.")
    yield f"release_type_details: {_text(' '.join(story))}"
    yield f"data_source_type: {_blank('Static or Dynamic')}"
    yield "access_type: Interactive"
    limits = "All analysts share the one budget, so that collusion gains nothing."
    if balance.limits:
        many = len(balance.limits)
        limits += " A limit holds within it." if many == 1 else f" {many} limits hold within it."
    yield f"access_type_details: {_text(limits)}"


def _implementation(balance: Balance, seen: _Seen) -> Iterator[str]:
    yield f"preprocessing_and_hyperparameter_tuning: {_blank('what was done to the data before')}"
    drawn = ", ".join(f"{kind} ({count:,})" for kind, count in seen.mechanisms.most_common())
    made = ", ".join(seen.software)
    mechanisms = f"Mechanisms: {drawn}. Software: {made}." if drawn else "None yet."
    yield f"mechanisms: {_text(mechanisms)}"
    rule = "a question is paid for before its answer is drawn, and refused if it does not fit"
    yield f"composition: {_text(f'{_COMPOSITION[balance.kind]}, adaptively; {rule}.')}"
    yield f"post_processing: {_blank('what was done to the answers')}"
    yield f"justification: {_blank('why this unit and this budget')}"
    yield f"utility: {_blank('how good the answers were')}"
    past = f"Ledger {balance.identity}, head {balance.head}."
    yield f"additional_information: {_text(past)}"


def _administrative() -> Iterator[str]:
    yield "status: Draft"
    yield "registry_authors:"
    yield f"  - {_blank('who completed this file')}"
    yield "tier: 2  # 3 if everything is filled in"


def _indented(name: str, lines: Iterator[str]) -> Iterator[str]:
    yield f"  {name}:"
    for line in lines:
        yield f"    {line}"


def _text(words: str) -> str:
    """A text in double quotes; what JSON escapes, YAML reads."""
    return json.dumps(words, ensure_ascii=False)


def _blank(what: str) -> str:
    return f"''  # FILL IN: {what}"


def _number(value: float) -> str:
    """A float as YAML 1.1 reads it: an exponent needs a point before it.

    >>> _number(1e-7), _number(0.5)
    ('1.0e-07', '0.5')
    """
    text = repr(value)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def _slug(name: str) -> str:
    """A name for an address.

    >>> _slug("Ward visits, 2026")
    'ward-visits-2026'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "ledger"
