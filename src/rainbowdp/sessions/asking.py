"""Questions about one table: whose data one change is, said once for all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rainbowdp.errors import InvalidQuestion
from rainbowdp.numeric.quantity import Number
from rainbowdp.questions import (
    Count,
    Grouped,
    Keys,
    ProportionTest,
    Quantile,
    Quantiles,
    Ranking,
    Share,
    Threshold,
    Winner,
)
from rainbowdp.questions.by import By
from rainbowdp.sessions.targets import Asked


@dataclass(frozen=True)
class Questions:
    """Makes questions that all protect the same unit: ``session.questions.winner([...], "vote")``.

    Attributes
    ----------
    neighbors : str
        What one change is.
    person : str or None
        The column that says whose record it is.
    rows_per_person : int
        How many rows of one person count, unless a question says otherwise.
    person_rule : str
        Which of them.
    groups : By or None
        The groups in each of which a question is asked.
    public : bool
        Whether everybody knows who is in which group.

    """

    neighbors: str = "substituted"
    person: str | None = None
    rows_per_person: int = 1
    person_rule: str = "sample"
    groups: By | None = None
    public: bool = False

    def _made(self, kind: Any, *given: Any, **options: Any) -> Any:
        unit = {
            "neighbors": self.neighbors,
            "person": self.person,
            "rows_per_person": self.rows_per_person,
            "person_rule": self.person_rule,
        }
        for name in ("neighbors", "person"):
            if name in options and options[name] != unit[name]:
                raise InvalidQuestion(
                    f"this session is for {name}={unit[name]!r}, got {name}={options[name]!r}: "
                    "leave it out, or open another session"
                )
        try:
            question = kind(*given, **{**unit, **options})
        except TypeError as error:
            wrong = str(error).rpartition("__init__() ")[2]
            raise InvalidQuestion(f"{kind.__name__}: {wrong}") from None
        if self.groups is None:
            return question
        by = self.groups
        return Grouped(question, by.column, by.names, public=self.public, apply=by.apply)

    def winner(self, answers: Iterable[str], column: str, **options: Any) -> Winner | Grouped:
        """Which of the listed answers has the most rows.

        Parameters
        ----------
        answers, column, **options
            As for ``rb.Winner``.

        Returns
        -------
        Winner
            The question.

        """
        made: Winner | Grouped = self._made(Winner, answers, column, **options)
        return made

    mode = winner

    def ranking(self, among: Iterable[str], column: str, **options: Any) -> Ranking | Grouped:
        """Which of the listed values have the most rows.

        Parameters
        ----------
        among, column, **options
            As for ``rb.Ranking``.

        Returns
        -------
        Ranking
            The question.

        """
        made: Ranking | Grouped = self._made(Ranking, among, column, **options)
        return made

    def share(self, at_least: Number, column: str, **options: Any) -> Share | Grouped:
        """Whether at least such a share of the rows match.

        Parameters
        ----------
        at_least, column, **options
            As for ``rb.Share``.

        Returns
        -------
        Share
            The question.

        """
        made: Share | Grouped = self._made(Share, at_least, column, **options)
        return made

    def threshold(self, at_least: Number, column: str, **options: Any) -> Threshold | Grouped:
        """Whether there are at least so many matching rows.

        Parameters
        ----------
        at_least, column, **options
            As for ``rb.Threshold``.

        Returns
        -------
        Threshold
            The question.

        """
        made: Threshold | Grouped = self._made(Threshold, at_least, column, **options)
        return made

    def quantile(self, q: Number, bins: Iterable[Any], column: str, **options: Any) -> Asked:
        """Which bin holds a quantile.

        Parameters
        ----------
        q, bins, column, **options
            As for ``rb.Quantile``.

        Returns
        -------
        Quantile
            The question.

        """
        made: Quantile | Grouped = self._made(Quantile, q, bins, column, **options)
        return made

    def quantiles(
        self, qs: Iterable[Number], bins: Iterable[Any], column: str, **options: Any
    ) -> Asked:
        """Which bins hold several quantiles.

        Parameters
        ----------
        qs, bins, column, **options
            As for ``rb.Quantiles``.

        Returns
        -------
        Quantiles
            The question.

        """
        made: Quantiles | Grouped = self._made(Quantiles, qs, bins, column, **options)
        return made

    def count(self, column: str, **options: Any) -> Count | Grouped:
        """How many rows match, with noise.

        Parameters
        ----------
        column, **options
            As for ``rb.Count``.

        Returns
        -------
        Count
            The question.

        """
        made: Count | Grouped = self._made(Count, column, **options)
        return made

    def proportion_test(self, above: Number, column: str, **options: Any) -> ProportionTest:
        """Whether rows match more often than a share, beyond chance.

        Parameters
        ----------
        above, column, **options
            As for ``rb.ProportionTest``.

        Returns
        -------
        ProportionTest
            The question.

        """
        made: ProportionTest = self._made(ProportionTest, above, column, **options)
        return made

    def keys(self, column: str, **options: Any) -> Keys:
        """Which values there are, when the list itself is private.

        Parameters
        ----------
        column, **options
            As for ``rb.Keys``.

        Returns
        -------
        Keys
            The question.

        """
        if self.groups is not None:
            raise InvalidQuestion("keys cannot be asked for in groups")
        if self.person is None and self.rows_per_person > 1:
            raise InvalidQuestion(
                "keys need a person column where people have several rows: each key counts people"
            )
        return Keys(column, **{"neighbors": self.neighbors, "person": self.person, **options})
