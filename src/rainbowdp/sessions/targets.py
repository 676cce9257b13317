"""What is wanted of one question of a plan: a share of the budget, or a certainty."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from rainbowdp.errors import InvalidQuestion
from rainbowdp.expecting import brief, whole
from rainbowdp.numeric.quantity import Number, exact
from rainbowdp.questions import Count, Custom, Grouped, Keys, ProportionTest, Question

Asked: TypeAlias = Question | Count | ProportionTest | Keys | Grouped

_NAMES = ("column", "apply", "where", "equals", "minimum", "maximum", "person", "by")
_LISTED = ("answers", "among", "bins")
SUREST = 1 - Fraction(1, 10**9)  # chances are computed in floats
SURE = Fraction(99, 100)  # how sure an answer is to be, if nobody says


@dataclass(frozen=True)
class Target:
    """One question of a plan, and how sure its answer should be.

    With ``sure`` and a ``margin``, or ``shares`` and ``people``, the question gets what it needs to
    be that sure. Otherwise it gets its share of what is left, by ``weight``, and the plan says what
    that buys.

    Parameters
    ----------
    question
        What is asked, in groups or not.
    name
        What to call it in the plan and among the answers.
    weight
        Its part of the budget, relative to the others.
    sure
        How sure the answer should be: ``"0.95"``. For a count, how sure it should be within the
        margin; for a test, its power; for keys, the chance that a key is named.
    margin
        How narrow the decision may be: how many people, or records, must change before another
        answer is the true one. For a count, how far off it may be; for keys, how many people have
        the key.
    shares
        Instead of a margin, what you expect without having looked: a share for each answer or bin,
        such as ``{"red": "0.5", "green": "0.3"}``, or ``{"matching": "0.65"}``.
    people
        About how many records there are, if that is public. With ``shares`` and without ``people``
        the plan says how many are needed.

    Raises
    ------
    InvalidQuestion
        If a number is out of range, or the wishes do not go together.

    Examples
    --------
    >>> from rainbowdp import Threshold
    >>> Target(Threshold(500, "vote", equals="Clinton"), sure="0.95", margin=20).demanding
    True

    """

    question: Asked
    name: str | None = None
    _: KW_ONLY
    weight: Number = 1
    sure: Number | None = None
    margin: int | None = None
    shares: Mapping[str, Number] | None = None
    people: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.question, Question | Count | ProportionTest | Keys | Grouped):
            raise InvalidQuestion(
                f"a plan needs questions such as Winner([...]), got {type(self.question).__name__}"
            )
        weight = exact(self.weight, "weight", InvalidQuestion)
        if weight <= 0:
            raise InvalidQuestion(f"weight must be greater than 0, got weight={self.weight}")
        sure = None if self.sure is None else exact(self.sure, "sure", InvalidQuestion)
        if sure is not None and not 0 < sure <= SUREST:
            hint = "write 99 % as 0.99" if 1 < sure < 100 else "no ε makes an answer certain"
            raise InvalidQuestion(
                f"sure must lie between 0 and {float(SUREST)}, got sure={self.sure}: {hint}"
            )
        given = {"weight": weight, "sure": sure}
        for name in ("margin", "people"):
            if getattr(self, name) is not None:
                given[name] = whole(getattr(self, name), name, 1)  # type: ignore[assignment]
        if self.shares is not None:
            given["shares"] = self._checked_shares(self.shares)  # type: ignore[assignment]
        for name, value in given.items():
            object.__setattr__(self, name, value)
        if self.margin is not None and self.shares is not None:
            raise InvalidQuestion("give either a margin or shares that you expect, not both")
        if isinstance(self.question, ProportionTest) and self.margin is not None:
            raise InvalidQuestion(
                "a test has a power at a share, not at a margin: give shares={'matching': 0.65}"
            )
        if isinstance(self.question, Count | Keys) and self.shares is not None:
            raise InvalidQuestion("a count and keys need a margin, not shares")

    def _checked_shares(self, shares: Mapping[str, Number]) -> dict[str, Fraction]:
        if not isinstance(shares, Mapping):
            raise InvalidQuestion(
                f"shares must map answers or bins to their shares, got {type(shares).__name__}"
            )
        names = [name for name, _ in self.question.groups]
        given = {}
        for name, share in shares.items():
            if name not in names:
                raise InvalidQuestion(
                    f"shares must be of {', '.join(names[:6])}, got {brief(name)}: leave it out"
                )
            given[name] = exact(share, "a share", InvalidQuestion)
        if any(share < 0 for share in given.values()) or sum(given.values()) > 1:
            raise InvalidQuestion("shares must not be negative and add up to at most 1")
        return given

    @property
    def demanding(self) -> bool:
        """Whether it says what it needs, so that its weight does not matter."""
        if self.sure is None:
            return False
        if isinstance(self.question, ProportionTest):
            return self.shares is not None
        return self.margin is not None or (self.shares is not None and self.people is not None)

    @property
    def certainty(self) -> Fraction:
        """How sure the answer should be; 99 % unless it was said."""
        return SURE if self.sure is None else exact(self.sure, "sure", InvalidQuestion)

    def alike(self) -> Hashable:
        """A key that is equal for targets that get the same from every guarantee.

        Names of columns and answers do not matter, unless shares are expected for them.
        """
        question = self.question
        if isinstance(question, Custom) or self.shares is not None:
            asked: Hashable = repr(question)
        else:
            described = question.describe()
            asked = json.dumps(
                {
                    name: len(value) if name in _LISTED and isinstance(value, list) else value
                    for name, value in described.items()
                    if name not in _NAMES
                },
                sort_keys=True,
            )
        wishes = {name: wish for name, wish in self.describe().items() if name != "weight"}
        return (type(question).__name__, asked, json.dumps(wishes, sort_keys=True))

    @property
    def part(self) -> Fraction:
        """The weight, exactly."""
        return exact(self.weight, "weight", InvalidQuestion)

    def counts(self, people: int) -> dict[str, int]:
        """What this many people would be counted as, by the expected shares.

        Parameters
        ----------
        people
            How many there are.

        Returns
        -------
        dict of str to int
            The counts by answer or bin.

        """
        assert self.shares is not None
        return {
            name: int(people * exact(share, "a share", InvalidQuestion))
            for name, share in self.shares.items()
        }

    def describe(self) -> dict[str, Any]:
        """The wishes in JSON values; those that were not made are left out."""
        wishes = {
            "sure": None if self.sure is None else str(self.sure),
            "margin": self.margin,
            "shares": self.shares and {name: str(share) for name, share in self.shares.items()},
            "people": self.people,
            "weight": None if self.demanding else str(self.weight),
        }
        return {name: value for name, value in wishes.items() if value is not None}


@dataclass(frozen=True, eq=False)
class Wish:
    """A target, equal to all others that get the same from every guarantee."""

    target: Target

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Wish) and self.target.alike() == other.target.alike()

    def __hash__(self) -> int:
        return hash(self.target.alike())
