"""What is known of a mechanism's guarantee: one type, whoever checked and however."""

from __future__ import annotations

from dataclasses import dataclass

from rainbowdp.aliases import Answer, Dataset
from rainbowdp.display import cards
from rainbowdp.guarantees.guarantee import Guarantee


@dataclass(frozen=True)
class Check:
    """Whether a mechanism keeps its guarantee, and what was compared to find out.

    Attributes
    ----------
    holds
        Whether the guarantee is kept. ``bool(check)`` is the same.
    guarantee
        What was checked.
    pairs
        How many pairs of rows, or inequalities between weights, were compared.
    statement
        What they were, in words.
    scope
        Which datasets and which change this covers, and what it cannot know; empty if the
        statement says it all.
    exact
        Whether they were compared in integers, which is a proof, or in floats up to rounding.
    excess
        By how much the worst pair exceeds the guarantee; 0.0 where it holds.
    neighbors
        The worst pair of neighbors, the one with too much first, where it does not hold.
    answers
        The set of answers that is too likely there.

    """

    holds: bool
    guarantee: Guarantee
    pairs: int
    statement: str
    exact: bool = False
    excess: float = 0.0
    neighbors: tuple[Dataset, Dataset] | None = None
    answers: tuple[Answer, ...] = ()
    scope: str = ""

    @classmethod
    def proved(cls, guarantee: Guarantee, pairs: int, statement: str) -> Check:
        """A guarantee that was proved in integers.

        Parameters
        ----------
        guarantee
            What was proved.
        pairs
            How many pairs of rows, or inequalities between weights, were compared.
        statement
            What they were, in words.

        Returns
        -------
        Check
            One that holds, exactly.

        """
        return cls(True, guarantee, pairs, statement, exact=True)

    @classmethod
    def over_pairs(cls, guarantee: Guarantee, pairs: int) -> Check:
        """A guarantee that holds on this many pairs of neighboring rows, in floats.

        Parameters
        ----------
        guarantee
            What was checked.
        pairs
            How many distinct pairs of rows were compared.

        Returns
        -------
        Check
            One that holds, up to rounding.

        """
        return cls(True, guarantee, pairs, f"all {pairs} distinct pairs of neighboring rows")

    @classmethod
    def broken(
        cls,
        guarantee: Guarantee,
        pairs: int,
        excess: float,
        neighbors: tuple[Dataset, Dataset],
        answers: tuple[Answer, ...],
    ) -> Check:
        """A guarantee that two neighbors break.

        Parameters
        ----------
        guarantee
            What was checked.
        pairs
            How many distinct pairs of rows were compared.
        excess
            By how much the worst pair exceeds the guarantee.
        neighbors
            That pair, the one with too much first.
        answers
            The set of answers that is too likely there.

        Returns
        -------
        Check
            One that does not hold.

        """
        more, less = neighbors
        named = ", ".join(str(answer) for answer in answers)
        statement = f"{{{named}}} is too likely at {more!r} beside its neighbor {less!r}"
        return cls(False, guarantee, pairs, statement, False, excess, neighbors, answers)

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        if not self.holds:
            return f"{self.guarantee} is broken: {self.statement}, by {self.excess:.6g}"
        if self.exact:
            scope = f", {self.scope}" if self.scope else ""
            return f"{self.guarantee} proved exactly: {self.statement}{scope}"
        return f"{self.guarantee} holds on {self.statement}"

    def _repr_html_(self) -> str:
        return cards.card("Check", cards.badge(self.holds, self))
