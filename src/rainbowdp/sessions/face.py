"""The questions by name, said once: for making them, and for asking them here or of a service."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from rainbowdp.numeric.quantity import Number
from rainbowdp.questions import (
    Count,
    Keys,
    ProportionTest,
    Quantile,
    Quantiles,
    Ranking,
    Share,
    Threshold,
    Winner,
)

Made = TypeVar("Made", covariant=True)


class Asking(ABC, Generic[Made]):
    """Something that has a method for each kind of question, all of which give one kind of thing.

    Of ``session.questions`` that is the question itself; of a session or a remote dataset its
    answer, so that these also take a guarantee and a name, as for ``ask``.
    """

    @abstractmethod
    def _made(self, kind: Any, *given: Any, **options: Any) -> Made:
        """What comes of a question of this class, made of what was given."""

    def winner(self, answers: Iterable[str], column: str, **options: Any) -> Made:
        """Which of the listed answers has the most rows.

        Parameters
        ----------
        answers, column, **options
            As for ``rb.Winner``; if answered, also a guarantee and a name as for ``ask``.

        Returns
        -------
        Release
            The answer and its entry; of ``questions``, the question.

        """
        return self._made(Winner, answers, column, **options)

    def mode(self, answers: Iterable[str], column: str, **options: Any) -> Made:
        """Which listed value is the most frequent: the same as ``winner``.

        Parameters
        ----------
        answers, column, **options
            As for ``rb.Winner``; if answered, also a guarantee and a name as for ``ask``.

        Returns
        -------
        Release
            The answer and its entry; of ``questions``, the question.

        """
        return self._made(Winner, answers, column, **options)

    def ranking(self, among: Iterable[str], column: str, **options: Any) -> Made:
        """Which of the listed values have the most rows.

        Parameters
        ----------
        among, column, **options
            As for ``rb.Ranking``; if answered, also a guarantee and a name as for ``ask``.

        Returns
        -------
        Release
            The answer and its entry; of ``questions``, the question.

        """
        return self._made(Ranking, among, column, **options)

    def share(self, at_least: Number, column: str, **options: Any) -> Made:
        """Whether at least such a share of the rows match.

        Parameters
        ----------
        at_least, column, **options
            As for ``rb.Share``; if answered, also a guarantee and a name as for ``ask``.

        Returns
        -------
        Release
            The answer and its entry; of ``questions``, the question.

        """
        return self._made(Share, at_least, column, **options)

    def threshold(self, at_least: Number, column: str, **options: Any) -> Made:
        """Whether there are at least so many matching rows.

        Parameters
        ----------
        at_least, column, **options
            As for ``rb.Threshold``; if answered, also a guarantee and a name as for ``ask``.

        Returns
        -------
        Release
            The answer and its entry; of ``questions``, the question.

        """
        return self._made(Threshold, at_least, column, **options)

    def quantile(self, q: Number, bins: Iterable[Any], column: str, **options: Any) -> Made:
        """Which bin holds a quantile.

        Parameters
        ----------
        q, bins, column, **options
            As for ``rb.Quantile``; if answered, also a guarantee and a name as for ``ask``.

        Returns
        -------
        Release
            The answer and its entry; of ``questions``, the question.

        """
        return self._made(Quantile, q, bins, column, **options)

    def quantiles(
        self, qs: Iterable[Number], bins: Iterable[Any], column: str, **options: Any
    ) -> Made:
        """Which bins hold several quantiles.

        Parameters
        ----------
        qs, bins, column, **options
            As for ``rb.Quantiles``; if answered, also a guarantee and a name as for ``ask``.

        Returns
        -------
        Release
            The answer and its entry; of ``questions``, the question.

        """
        return self._made(Quantiles, qs, bins, column, **options)

    def count(self, column: str, **options: Any) -> Made:
        """How many rows match, with noise.

        Parameters
        ----------
        column, **options
            As for ``rb.Count``; if answered, also a guarantee and a name as for ``ask``.

        Returns
        -------
        Release
            The answer and its entry; of ``questions``, the question.

        """
        return self._made(Count, column, **options)

    def proportion_test(self, above: Number, column: str, *, records: int, **options: Any) -> Made:
        """Whether rows match more often than a share, beyond chance.

        Parameters
        ----------
        above, column, records, **options
            As for ``rb.ProportionTest``; if answered, also a guarantee and a name as for ``ask``.

        Returns
        -------
        Release
            The answer and its entry; of ``questions``, the question.

        """
        return self._made(ProportionTest, above, column, records=records, **options)

    def keys(self, column: str, **options: Any) -> Made:
        """Which values there are, when the list itself is private.

        Parameters
        ----------
        column, **options
            As for ``rb.Keys``; if answered, also a guarantee and a name as for ``ask``.

        Returns
        -------
        Release
            The answer and its entry; of ``questions``, the question.

        """
        return self._made(Keys, column, **options)
