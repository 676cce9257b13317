"""A count with noise in integers, and the proof that it keeps its guarantee."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, SupportsIndex

from rainbowdp.exact.check import Check
from rainbowdp.exact.noise import NoiseRow
from rainbowdp.exact.noise_proof import prove_noise
from rainbowdp.exact.scope import scope_of_a_question
from rainbowdp.guarantees.descriptions import describe_guarantee
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions.count import Count
from rainbowdp.storage.documents import write_document

FORMAT = "rainbowdp count"
VERSION = 1


@dataclass(frozen=True)
class ExactCount:
    """A count with noise in integers, and the proof of its guarantee.

    Made by ``mechanism.exact()`` or ``rb.load_count``.

    Parameters
    ----------
    question
        What is asked.
    guarantee
        What is promised between neighboring tables.
    noise
        The weights that are drawn from.

    Raises
    ------
    InvalidMechanism
        If the noise breaks the guarantee.

    """

    name: ClassVar[str] = "canonical-noise"

    question: Count
    guarantee: Guarantee
    noise: NoiseRow
    proof: Check = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        question = self.question
        proof = prove_noise(self.guarantee, self.noise, question.rows_per_person, question.at_most)
        scope = scope_of_a_question(question.describe())
        object.__setattr__(self, "proof", replace(proof, scope=scope))

    def ready(self, counts: Mapping[str, SupportsIndex]) -> Callable[[], int]:
        """A function that draws an answer for ``counts``; all that can fail has happened.

        Parameters
        ----------
        counts
            ``{"matching": n}``.

        Returns
        -------
        callable
            Takes nothing and returns an answer, a new one each time.

        """
        found, most = self.question.found(counts), self.question.at_most
        return lambda: min(max(found + self.noise.draw(), 0), most)

    def describe(self) -> dict[str, Any]:
        """All that the file holds, ready for JSON.

        Returns
        -------
        dict
            The question, the guarantee and the noise.

        """
        return {
            "format": FORMAT,
            "version": VERSION,
            "guarantee": describe_guarantee(self.guarantee),
            "question": self.question.describe(),
            "noise": self.noise.describe(),
        }

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the count as a file that proves itself, whole or not at all.

        Parameters
        ----------
        path
            Where to write.

        Returns
        -------
        pathlib.Path
            The file that was written.

        """
        return write_document(self.describe(), path)
