"""What a service says before anything is paid: of one question, and of a plan of many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rainbowdp.display import cards
from rainbowdp.guarantees.descriptions import restore_guarantee
from rainbowdp.guarantees.guarantee import Guarantee

if TYPE_CHECKING:
    from rainbowdp.ledger import Cost


@dataclass(frozen=True)
class RemoteExplanation:
    """What a question would do and cost at a service; nothing was read or spent.

    Attributes
    ----------
    said : dict
        All that the service said.
    cost : Cost
        What it would cost.
    answers_left : int or None
        How many answers at this price are left; none where they cost nothing.

    """

    said: Mapping[str, Any]
    cost: Cost
    answers_left: int | None

    def facts(self) -> dict[str, str]:
        """What can be said of it, in words."""
        return {str(name): str(words) for name, words in self.said["facts"].items()}

    def __str__(self) -> str:
        facts = self.facts()
        width = max(map(len, facts))
        return "\n".join(f"{name:<{width}}  {value}" for name, value in facts.items())

    def _repr_html_(self) -> str:
        return cards.card("Question", cards.facts(self.facts()))


@dataclass(frozen=True)
class RemoteBalance:
    """The budget of a dataset at one moment, and how much of it the asker may spend.

    Attributes
    ----------
    kind : str
        ``dp`` for a budget in ε and δ, ``gaussian`` for one in μ, ``zero-concentrated`` in ρ.
    total, spent, left : Cost
        Exact amounts.
    entries, answers : int
        How many answers were paid for, and how many of these were recorded.
    closed : str or None
        When the ledger was closed, if it is.
    yours : tuple of RemoteLimit
        The limits that hold for the asker.
    said : dict
        All that the service said.

    """

    kind: str
    total: Cost
    spent: Cost
    left: Cost
    entries: int
    answers: int
    closed: str | None
    yours: tuple[RemoteLimit, ...]
    said: Mapping[str, Any]

    @classmethod
    def restore(cls, said: Mapping[str, Any]) -> RemoteBalance:
        """The balance that the service described.

        Parameters
        ----------
        said
            Its JSON.

        Returns
        -------
        RemoteBalance
            The same.

        """
        from rainbowdp.ledger.cost import restore_cost

        return cls(
            kind=said["currency"],
            total=restore_cost(said["total"]),
            spent=restore_cost(said["spent"]),
            left=restore_cost(said["left"]),
            entries=said["entries"],
            answers=said["answers"],
            closed=said["closed"],
            yours=tuple(RemoteLimit.restore(limit) for limit in said["yours"]),
            said=said,
        )

    def answers_left(self, cost: Cost) -> int | None:
        """How many more answers at this price there are for the asker.

        Parameters
        ----------
        cost
            A price.

        Returns
        -------
        int or None
            None where they cost nothing.

        """
        from rainbowdp.ledger.remaining import answers_left

        if self.closed is not None:
            return 0
        bounds = [
            answers_left(left, cost) for left in (self.left, *(one.left for one in self.yours))
        ]
        return min((many for many in bounds if many is not None), default=None)

    def as_dict(self) -> dict[str, Any]:
        """The balance in JSON values."""
        return dict(self.said)

    def _repr_html_(self) -> str:
        named: dict[str, object] = {
            "left": self.left.in_symbols(with_delta=True),
            "spent": f"{self.spent.in_symbols(with_delta=True)}, by {self.entries:,} questions",
            "total": self.total.in_symbols(with_delta=True),
        }
        for limit in self.yours:
            named["your limit"] = f"{limit.total.in_symbols()}, left {limit.left.in_symbols()}"
        if self.closed is not None:
            named["closed"] = self.closed[:10]
        return cards.card("Balance", cards.facts(named))


@dataclass(frozen=True)
class RemoteLimit:
    """What the asker may spend.

    Attributes
    ----------
    total, spent, left : Cost
        Exact amounts.
    per : str or None
        The window of time that it is for, such as ``day``; None if it is for all time.
    until : str or None
        When the window ends.
    shared : bool
        Whether it is for all askers together.

    """

    total: Cost
    spent: Cost
    left: Cost
    per: str | None = None
    until: str | None = None
    shared: bool = False

    @classmethod
    def restore(cls, said: Mapping[str, Any]) -> RemoteLimit:
        """The limit that the service described.

        Parameters
        ----------
        said
            Its JSON.

        Returns
        -------
        RemoteLimit
            The same.

        """
        from rainbowdp.ledger.cost import restore_cost

        return cls(
            total=restore_cost(said["total"]),
            spent=restore_cost(said["spent"]),
            left=restore_cost(said["left"]),
            per=said["per"],
            until=said["until"],
            shared=said["shared"],
        )

    def __str__(self) -> str:
        whose = "all together " if self.shared else ""
        span = "" if self.per is None else f" per {self.per}"
        return f"{whose}{self.total}{span}, spent {self.spent}"


@dataclass(frozen=True)
class RemotePlan:
    """Questions with a guarantee each, as a service plans them; nothing was read or spent.

    Attributes
    ----------
    wanted : dict
        What the service was asked to plan, and is asked to answer by ``run``.
    said : dict
        The plan as JSON: the total, the currency, and each question with what it gets.

    """

    wanted: Mapping[str, Any]
    said: Mapping[str, Any]

    @property
    def names(self) -> tuple[str, ...]:
        """What the questions are called."""
        return tuple(asked["name"] for asked in self.said["questions"])

    @property
    def guarantee(self) -> Guarantee:
        """What all answers keep together, which is what is charged."""
        return restore_guarantee(self.said["total"])

    def in_words(self) -> dict[str, str]:
        """What each question gets, in plain words."""
        return {asked["name"]: asked["bought"]["in_words"] for asked in self.said["questions"]}

    def as_dict(self) -> dict[str, Any]:
        """The plan in JSON values."""
        return dict(self.said)

    def _repr_html_(self) -> str:
        words = self.in_words()
        rows = [
            (
                asked["name"],
                restore_guarantee(asked["guarantee"]),
                asked["mechanism"],
                words[asked["name"]],
            )
            for asked in self.said["questions"]
        ]
        head = ("question", "guarantee", "mechanism", "buys")
        return cards.card(
            f"Plan: {self.guarantee}, paid by {self.said['currency']}",
            cards.table(head, rows, len(rows)),
            "Nothing was read and nothing was spent.",
        )
