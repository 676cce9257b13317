"""Requests and replies, as OpenAPI and the published JSON Schema say them.

A question is what ``question.describe()`` returns, in which all that has a default may be left out.
Numbers that must be exact are taken as they are written: a decimal, a fraction as text, or a number
of JSON, whose digits are read and not rounded.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    WithJsonSchema,
)

_SPELLED = {"anyOf": [{"type": "string", "maxLength": 100}, {"type": "number"}]}
_MOST_TEXT = 1000
_MOST_LISTED = 20_000


def _exact(value: object) -> object:
    """A number of JSON as the text that it was written as."""
    if isinstance(value, bool):
        return value
    return str(value) if isinstance(value, int | float | Decimal) else value


def _integer(value: object) -> object:
    """3.0 is a whole number of JSON, too."""
    if isinstance(value, Decimal) and value == value.to_integral_value() and abs(value) < 10**18:
        return int(value)
    return value


Exact = Annotated[
    str, BeforeValidator(_exact), Field(min_length=1, max_length=100), WithJsonSchema(_SPELLED)
]
End: TypeAlias = Exact | None
Text = Annotated[str, Field(min_length=1, max_length=_MOST_TEXT)]
_Integer = Annotated[int, BeforeValidator(_integer), Field(strict=True)]
Whole = Annotated[_Integer, Field(ge=1, le=10**9)]
Texts = Annotated[list[Text], Field(min_length=1, max_length=_MOST_LISTED)]
Truth = Annotated[bool, Field(strict=True)]
Neighbors: TypeAlias = Literal["substituted", "added or removed"]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Weight(_Request):
    """What a record weighs, if not one."""

    column: Text
    limit: Exact
    places: Annotated[_Integer, Field(ge=0, le=6)] = 3


class By(_Request):
    """The groups that a question is asked in, each."""

    column: Text
    groups: Texts
    apply: Text | None = None


class _Question(_Request):
    column: Text | None = None
    apply: Text | None = None
    where: Annotated[str, Field(min_length=1, max_length=10_000)] | None = None
    neighbors: Neighbors | None = None
    person: Text | None = None


class _Counted(_Question):
    rows_per_person: Whole | None = None
    person_rule: Literal["sample", "one vote"] = "sample"
    by: By | None = None
    groups_are_public: Truth = False


class _Weighed(_Counted):
    weight: Weight | None = None


class _Vote(_Weighed):
    other: Text | None = None
    missing: Text | None = None


class _Matching(_Counted):
    equals: Exact | None = None
    minimum: End = None
    maximum: End = None


class Winner(_Vote):
    """Which of the listed answers has the most records."""

    kind: Literal["winner"]
    answers: Texts
    ties: Literal["first listed", "any leader"] = "first listed"


class Ranking(_Vote):
    """Which of the listed answers have the most records."""

    kind: Literal["ranking"]
    among: Texts
    first: Whole
    in_order: Truth = True


class Share(_Matching):
    """Whether at least such a share of the records match."""

    kind: Literal["share"]
    at_least: Exact
    answers: Annotated[list[Text], Field(min_length=2, max_length=2)] = ["yes", "no"]
    weight: Weight | None = None


class Threshold(_Matching):
    """Whether there are at least so many matching records."""

    kind: Literal["threshold"]
    at_least: Exact
    answers: Annotated[list[Text], Field(min_length=2, max_length=2)] = ["yes", "no"]
    weight: Weight | None = None


class Count(_Matching):
    """How many records match, with noise."""

    kind: Literal["count"]
    at_most: Whole = 10**9


class ProportionTest(_Question):
    """Whether records match more often than a share, beyond chance."""

    kind: Literal["proportion-test"]
    above: Exact
    records: Annotated[_Integer, Field(ge=1, le=10**6)]
    alpha: Exact = "1/20"
    equals: Exact | None = None
    minimum: End = None
    maximum: End = None
    rows_per_person: Whole | None = None
    person_rule: Literal["sample", "one vote"] = "sample"


class Keys(_Question):
    """Which keys there are, when the list itself is private."""

    kind: Literal["keys"]
    keys_per_person: Whole = 1


Edge: TypeAlias = Exact | None
Bins = Annotated[
    list[Edge | Annotated[list[Edge], Field(min_length=2, max_length=2)]],
    Field(min_length=2, max_length=10_001),
]


class Quantile(_Weighed):
    """Which of the listed bins holds a quantile."""

    kind: Literal["quantile"]
    q: Exact
    bins: Bins
    closed_ends: Truth = False


class Quantiles(_Weighed):
    """Which of the listed bins hold several quantiles."""

    kind: Literal["quantiles"]
    qs: Annotated[list[Exact], Field(min_length=1, max_length=9)]
    bins: Bins
    closed_ends: Truth = False


Question = Annotated[
    Winner | Ranking | Share | Threshold | Count | ProportionTest | Keys | Quantile | Quantiles,
    Field(discriminator="kind"),
]


class Epsilon(_Request):
    """(ε,δ)-differential privacy."""

    epsilon: Exact
    delta: Exact = "0"


class Mu(_Request):
    """Gaussian differential privacy."""

    mu: Exact


class Rho(_Request):
    """Zero-concentrated differential privacy."""

    rho: Exact


def _guarantee_kind(given: object) -> str:
    """Which guarantee is meant, by what it has."""
    return next((name for name in ("mu", "rho") if _has(given, name)), "epsilon")


def _has(given: object, name: str) -> bool:
    return name in given if isinstance(given, dict) else hasattr(given, name)


Guarantee = Annotated[
    Annotated[Epsilon, Tag("epsilon")] | Annotated[Mu, Tag("mu")] | Annotated[Rho, Tag("rho")],
    Discriminator(_guarantee_kind),
]


class Asked(_Request):
    """A question, and what its answer is to keep."""

    question: Question
    guarantee: Guarantee


Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{1,128}$")]


class Target(_Request):
    """A question of a plan, and what is wanted of it: a weight, or how sure it is to be."""

    question: Question
    weight: Exact = "1"
    sure: Exact | None = None
    margin: Whole | None = None
    shares: Annotated[dict[Text, Exact], Field(max_length=_MOST_LISTED)] | None = None
    people: Whole | None = None


class Plan(_Request):
    """Questions that are asked together, and what all answers are to keep together."""

    questions: Annotated[dict[Text, Target], Field(min_length=1, max_length=200)]
    total: Guarantee | None = None
    delta: Exact = "1e-6"
    currency: Text | None = None


class Asking(Asked):
    """A question to be answered; the name recalls the answer."""

    name: Name | None = None


class PlanAsking(_Request):
    """A plan to be answered: one scan, one payment, one entry. It must say its total."""

    plan: Plan
    name: Name | None = None


def _asking_kind(given: object) -> str:
    return "plan" if _has(given, "plan") else "question"


AnyAsking = Annotated[
    Annotated[Asking, Tag("question")] | Annotated[PlanAsking, Tag("plan")],
    Discriminator(_asking_kind),
]


# --- Replies --------------------------------------------------------------------------------------


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True)


class ProblemReply(_Reply):
    """What was refused, as RFC 9457 has it."""

    type: str
    title: str
    status: int
    detail: str
    code: str


class Health(_Reply):
    """Whether the process runs, or is ready for questions."""

    status: str


class Me(_Reply):
    """Whose token it is."""

    name: str
    roles: list[str]
    expires: str | None


class ColumnReply(_Reply):
    """What may be asked about a column; never what is in it."""

    title: str | None
    answers: Literal["any"] | list[str]
    other: bool
    missing: bool
    bins: Literal["any"] | list[str]
    groups: Literal["any"] | list[str]
    groups_are_public: bool
    filter: Literal["no", "listed", "any"]
    apply: list[str]
    keys: bool
    weight: str | None


class DatasetReply(_Reply):
    """What may be asked of a dataset."""

    name: str
    title: str | None
    description: str | None
    unit: dict[str, Any]
    neighbors: str
    currency: str
    approval: bool
    kinds: list[str]
    columns: dict[str, ColumnReply]


class DatasetsReply(_Reply):
    """All datasets."""

    datasets: list[DatasetReply]


Amounts: TypeAlias = dict[str, str]


class PriceReply(_Reply):
    """What an answer would cost; nothing was read or spent."""

    cost: Amounts
    answers_left: int | None
    left: Amounts


class ExplainReply(PriceReply):
    """What a question would do and cost; nothing was read or spent."""

    facts: dict[str, str]
    mechanism: str
    claim: str | None
    proof: str
    proves: dict[str, Any]
    guarantee: dict[str, Any]
    in_words: str
    best_guess: float
    warning: str | None


class PlanReply(_Reply):
    """What each question of a plan is asked under and what that buys; nothing was spent."""

    total: dict[str, Any]
    currency: str
    added: str
    questions: list[dict[str, Any]]
    offers: list[dict[str, Any]]
    cost: Amounts
    left: Amounts


class AnswerReply(_Reply):
    """An answer, what it proves, and its entry in the ledger."""

    answer: Any
    proves: dict[str, Any] | None
    proof: str | None
    entry: dict[str, Any]
    recalled: bool
    head: str
    left: Amounts


class WaitingReply(_Reply):
    """A question that waits for a curator."""

    request: str
    status: Literal["waiting"]


class LimitReply(_Reply):
    """What the asker may spend: in each window of time, until one ends, or once and for all."""

    total: Amounts
    spent: Amounts
    left: Amounts
    per: str | None
    until: str | None
    shared: bool


class BalanceReply(_Reply):
    """The budget, and what the asker may spend of it."""

    currency: str
    total: Amounts
    spent: Amounts
    left: Amounts
    entries: int
    answers: int
    closed: str | None
    yours: list[LimitReply]


class HistoryReply(_Reply):
    """Entries of the ledger, oldest first."""

    entries: list[dict[str, Any]]


class HeadReply(_Reply):
    """The end of the ledger's chain, which stands for all of its past."""

    head: str
    number: int
