"""``--sure`` and ``--margin``: how sure an answer has to be, in place of an ε."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from rainbowdp.answering.coverage import percent
from rainbowdp.cli import choices
from rainbowdp.cli.given import portion
from rainbowdp.cli.output import guarantee_from, working
from rainbowdp.cli.project import Project
from rainbowdp.errors import BudgetExceeded, RainbowError
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.questions import Count, Grouped, Keys, ProportionTest
from rainbowdp.questions.units import unit_of
from rainbowdp.sessions.buying import chance_of, mechanism_for
from rainbowdp.sessions.needing import CURRENCIES, guarantee_for
from rainbowdp.sessions.targets import Asked, Target

_TESTS = ("proportion_test", "test")  # which have a power at a share, not a margin


def wanting_options(command: str) -> dict[str, Any]:
    """``--sure`` and what belongs to it; hidden where there is no margin to speak of."""
    hidden = command in _TESTS
    sure = typer.Option(
        "--sure",
        help="Instead of ε: how sure the answer has to be, 99% or 0.99, at the --margin you name. "
        "The smallest ε that is enough is found without looking at the data.",
        hidden=hidden,
    )
    margin = typer.Option(
        "--margin",
        help="With --sure: how many rows, or people, would have to change before another answer is "
        "the true one. For a count: how far off it may be. For keys: how many people have the key.",
        hidden=hidden,
    )
    currency = choices.chosen(
        CURRENCIES, "With --sure: find an epsilon (the default), a mu or a rho.", hidden=hidden
    )
    return {
        "sure": Annotated[str | None, sure],
        "margin": Annotated[int | None, margin],
        "currency": Annotated[str | None, currency],
    }


@dataclass(frozen=True)
class Promised:
    """The guarantee of a question, and how sure its answer had to be, if that was said instead."""

    guarantee: Guarantee
    target: Target | None = None
    chance: float | None = None

    def facts(self) -> dict[str, str]:
        """What was wanted and what it takes, in words; nothing where a guarantee was given."""
        if self.target is None:
            return {}
        return {"wanted": f"{_in_words(self.target)}: {_amount(self.guarantee)} is enough"}

    def as_json(self) -> dict[str, Any]:
        """The same for programs, with the chance of the true answer at that margin."""
        if self.target is None:
            return {"wanted": None}
        sure, margin = str(self.target.certainty), self.target.margin
        return {"wanted": {"sure": sure, "margin": margin, "chance": self.chance}}

    @contextmanager
    def paid(self) -> Iterator[None]:
        """Where the budget is too small: the remedy in the words of what was asked for."""
        try:
            yield
        except BudgetExceeded as error:
            if self.target is None:
                raise
            own = "Name a larger --margin or a smaller --sure"
            raise type(error)(re.sub(r"Use a smaller \w+", own, str(error))) from None


@dataclass(frozen=True)
class Wanted:
    """What the options say: a guarantee, or how sure the answer has to be."""

    guarantee: Guarantee | None
    delta: str = "0"
    sure: str = ""
    margin: int | None = None
    currency: str = CURRENCIES[0]

    @classmethod
    def of(
        cls,
        settings: Project,
        numbers: Mapping[str, str | None],
        *,
        sure: str | None,
        margin: int | None,
        currency: str | None,
    ) -> Wanted:
        """The options of a command, or if it has none the numbers of the project file."""
        if sure is None:
            for option, value in {"--margin": margin, "--currency": currency}.items():
                if value is not None:
                    raise RainbowError(f"{option} belongs to --sure. Give --sure 99% as well.")
            said = settings.promise(numbers)
            if all(said[name] is None for name in ("epsilon", "mu", "rho")):
                raise RainbowError(
                    "A guarantee is missing. Give one, such as --epsilon 1, or, unless the "
                    "question is a test, --sure 99% --margin 5."
                )
            return cls(guarantee_from(**{**said, "delta": said["delta"] or "0"}))
        given = [f"--{name}" for name in ("epsilon", "mu", "rho") if numbers[name] is not None]
        if given:
            raise RainbowError(
                f"--sure finds the number that {given[0]} gives. Leave out one of the two."
            )
        if margin is None:
            raise RainbowError(
                "How sure an answer is depends on how narrow the decision is. Give --margin as "
                "well: the smallest margin at which a wrong answer would hurt."
            )
        return cls(None, numbers["delta"] or "0", portion(sure), margin, currency or CURRENCIES[0])

    def promised(
        self, question: Any, *, kind: str = "best", records: int | None = None
    ) -> Promised:
        """The guarantee of a question, found here if it was not given."""
        if self.guarantee is not None:
            return Promised(self.guarantee)
        if isinstance(question, ProportionTest):
            raise RainbowError(
                "A test has a power at a share, not at a margin. Give --epsilon, or have rainbow "
                "plan find it: with shares = { matching = 0.65 } instead of a margin."
            )
        wishes: dict[str, Any] = {"sure": self.sure, "margin": self.margin, "people": records}
        target = Target(question, **wishes)
        with working("Looking for the smallest guarantee that is enough"):
            named = None if kind == "best" else kind
            found = guarantee_for(
                question, **wishes, currency=self.currency, delta=self.delta, kind=named
            )
            chance = chance_of(target, mechanism_for(target, found, named))
        return Promised(found, target, chance)


def _in_words(target: Target) -> str:
    question: Asked = target.question
    inner = question.question if isinstance(question, Grouped) else question
    sure, margin = percent(target.certainty), target.margin
    assert margin is not None
    each = "in each group, " if isinstance(question, Grouped) else ""
    if isinstance(inner, Count):
        return f"{each}{sure} sure to be at most {margin:,} off"
    if isinstance(inner, Keys):
        return f"{sure} sure to name a key that {margin:,} people have"
    one = unit_of(inner).whom == "one record"
    unit = ("record" if one else "person") if margin == 1 else ("records" if one else "people")
    return f"{each}{sure} sure at a margin of {margin:,} {unit}"


def _amount(guarantee: Guarantee) -> str:
    """The number of a guarantee that was found, with its letter."""
    if isinstance(guarantee, DP):
        apart = f" at δ = {guarantee.delta:g}" if guarantee.exact_delta else ""
        return f"ε = {guarantee.epsilon:g}{apart}"
    if isinstance(guarantee, GaussianDP):
        return f"μ = {guarantee.mu:g}"
    assert isinstance(guarantee, ZeroConcentrated)
    return f"ρ = {guarantee.rho:g}"
