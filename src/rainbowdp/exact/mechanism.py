"""Mechanisms in integers, with their proof, and what every mechanism can do with one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rainbowdp.aliases import Answer, Dataset
from rainbowdp.display import cards
from rainbowdp.errors import InvalidMechanism, NoPlace, UnknownDataset
from rainbowdp.exact.check import Check
from rainbowdp.exact.names import name_to_json
from rainbowdp.exact.rows import ExactRow
from rainbowdp.exact.rule import Key, Rule
from rainbowdp.exact.scope import scope_of_a_question
from rainbowdp.expecting import brief
from rainbowdp.graphs.saying import ON_A_GRAPH, at_a_distance, is_on_a_graph
from rainbowdp.guarantees.descriptions import describe_guarantee
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions import Question
from rainbowdp.storage.documents import checksummed, write_document
from rainbowdp.tables import count

FORMAT = "rainbowdp mechanism"
VERSION = 1
Found = TypeVar("Found")


class Releasable(ABC):
    """A mechanism that can be put into integers, proved, saved and drawn from."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What the mechanism is called in output, files and ledgers."""

    @abstractmethod
    def exact(self) -> ExactMechanism:
        """The mechanism in integers, with its proof: made and proved once, then kept."""

    @abstractmethod
    def __getitem__(self, dataset: Dataset) -> Any:
        """{answer: probability} at ``dataset``."""

    @abstractmethod
    def check(self) -> Check:
        """Whether the rows keep the guarantee: in floats where they are floats, else the proof."""

    @property
    def proof(self) -> Check:
        """The exact proof of the guarantee."""
        return self.exact().proof

    def release(self, dataset: Dataset) -> Answer:
        """Draw one answer from exact integers. This is what goes out.

        Parameters
        ----------
        dataset
            A node of the graph, or the table of the question or its counts.

        Returns
        -------
        Answer
            One answer, from the operating system's randomness.

        """
        return self.exact().release(dataset)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the exact mechanism as a file that proves itself; ``rb.load`` reads it.

        Parameters
        ----------
        path
            Where to write. The file appears whole or not at all.

        Returns
        -------
        pathlib.Path
            The file that was written.

        """
        return self.exact().save(path)

    def sample(self, dataset: Dataset, size: int, seed: int | None = None) -> list[Answer]:
        """Simulate answers for experiments: fast, repeatable, and **not** a private release.

        Parameters
        ----------
        dataset
            A node of the graph, or the table of the question or its counts.
        size
            How many answers.
        seed
            Makes the draws repeatable.

        Returns
        -------
        list of Answer
            The simulated answers.

        """
        return simulate(self[dataset], size, seed)


def simulate(row: dict[Answer, Any], size: int, seed: int | None) -> list[Answer]:
    """``size`` draws from a row of probabilities, in floats."""
    answers, chances = list(row), np.array([float(p) for p in row.values()])
    chosen = np.random.default_rng(seed).choice(len(answers), size, p=chances / chances.sum())
    return [answers[index] for index in chosen]


@dataclass(frozen=True)
class ExactMechanism(Releasable):
    """A mechanism in integers with the proof that it keeps its guarantee.

    Made by ``mechanism.exact()`` or ``rb.load``. A rule that does not keep the guarantee cannot be
    constructed, so every instance is proved.

    Parameters
    ----------
    guarantee
        What is promised between neighbors.
    answers
        The possible answers, in the order of the weights.
    rule
        The rows, as data.
    neighbors
        What one change of the dataset is. On a graph whose edges have lengths, it is the length of
        one step, and n steps keep n times the guarantee.
    question
        The described question that the rows answer, for tables of every size; none on a graph.
    mixing
        The share of the uniform or mean row that making the rows exact mixed in.
    locate
        Finds the key of a dataset. Without it a dataset is its key: a pair (region, depth),
        margins, counts, or the leads of ordered bins.

    Raises
    ------
    InvalidMechanism
        If the rule is not about these answers and this question, or breaks the guarantee.

    """

    guarantee: Guarantee
    answers: tuple[Answer, ...]
    rule: Rule
    neighbors: str = ON_A_GRAPH
    question: Mapping[str, Any] | None = None
    mixing: Fraction = Fraction(0)
    locate: Callable[[Dataset], Key] | None = field(default=None, repr=False, compare=False)
    _proof: Check = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(set(self.answers)) != len(self.answers) or not self.answers:
            raise InvalidMechanism(f"answers must be different, got {brief(self.answers)}")
        if self.question is None and not is_on_a_graph(self.neighbors):
            raise InvalidMechanism(
                f"neighbors must be {brief(ON_A_GRAPH)} or {brief(at_a_distance('…'))} where "
                "there is no "
                "question, got "
                f"{brief(self.neighbors)}: a promise about tables needs the question it is about"
            )
        if self.question is not None and self.question.get("neighbors") != self.neighbors:
            raise InvalidMechanism(
                f"a mechanism must have the neighbors of its question, got {brief(self.neighbors)}"
            )
        if self.question is not None:
            scope = scope_of_a_question(self.question)
        else:  # a graph that finds the keys has said itself which regions touch
            scope = self.rule.scope_on_a_graph() if self.locate is None else ""
        self.rule.must_fit(self.answers, self.neighbors, self.question)
        proof = self.rule.prove(self.guarantee, self.answers, self.question)
        object.__setattr__(self, "_proof", replace(proof, scope=scope))

    @property
    def name(self) -> str:
        """The kind of its rule."""
        return self.rule.kind

    @property
    def proof(self) -> Check:
        """The exact proof of the guarantee."""
        return self._proof

    def exact(self) -> ExactMechanism:
        """Itself."""
        return self

    def check(self) -> Check:
        """The exact proof of the guarantee, without which there would be no such mechanism."""
        return self.proof

    def __repr__(self) -> str:
        return f"ExactMechanism({self.name}, {len(self.answers)} answers, {self.guarantee})"

    def _repr_html_(self) -> str:
        named = {
            "kind": self.name,
            "answers": ", ".join(map(str, self.answers)),
            "neighbors": self.neighbors,
            **({"mixed with the mean row": f"{float(self.mixing):.2g}"} if self.mixing else {}),
        }
        verdict = cards.badge(True, self.proof)
        return cards.card("Exact mechanism", verdict, cards.facts(named))

    def at(self, dataset: Dataset) -> ExactRow:
        """The row of ``dataset``; keep it to draw more than once without looking it up.

        Parameters
        ----------
        dataset
            A table or its counts; without a question its key, such as (region, depth).

        Returns
        -------
        ExactRow
            The answers and their integer weights.

        """
        return ExactRow(self.answers, self._found(self.rule.weights, dataset))

    def release(self, dataset: Dataset) -> Answer:
        """Draw one answer for ``dataset`` from its exact row. This is what goes out.

        Parameters
        ----------
        dataset
            A table or its counts; without a question its key, such as (region, depth).

        Returns
        -------
        Answer
            One answer, drawn with the operating system's randomness.

        """
        return self.ready(dataset)()

    def ready(self, dataset: Dataset) -> Callable[[], Answer]:
        """A function that draws an answer for ``dataset``; all that can fail has happened.

        Parameters
        ----------
        dataset
            A table or its counts; without a question its key, such as (region, depth).

        Returns
        -------
        callable
            Takes nothing and returns an answer, a new one each time.

        """
        return self._found(self.rule.drawer, dataset)

    def _found(self, find: Callable[[Key, tuple[Answer, ...]], Found], dataset: Dataset) -> Found:
        """What ``find`` has at the key of ``dataset``."""
        if self.locate is None:
            return find(dataset, self.answers)
        try:
            return find(self.locate(dataset), self.answers)
        except NoPlace as error:
            wrong = f"a dataset must have {error.wanted} here, got none"
        except UnknownDataset:
            kind = type(dataset).__name__
            wrong = f"a dataset must be one that the mechanism knows, got another of type {kind}"
        raise UnknownDataset(wrong)  # alone: the first error may show the dataset or its key

    def __getitem__(self, dataset: Dataset) -> dict[Answer, Fraction]:
        """The exact probabilities at ``dataset``, likeliest answer first."""
        found = self.at(dataset).probabilities
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def describe(self) -> dict[str, Any]:
        """All that the mechanism's file holds, ready for JSON."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "guarantee": describe_guarantee(self.guarantee),
            "neighbors": self.neighbors,
            "question": self.question,
            "answers": [name_to_json(answer) for answer in self.answers],
            "mixing": str(self.mixing),
            "rule": self.rule.kind,
            **self.rule.describe(),
        }

    def as_text(self) -> str:
        """What the mechanism's file holds, as text."""
        return checksummed(self.describe())

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the mechanism as a file that proves itself, whole or not at all.

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


def key_finder(question: Question, rule: Rule) -> Callable[[Dataset], Key]:
    """The function from a table or its counts to its key under ``rule``."""

    def find(dataset: Dataset) -> Key:
        counted = count(dataset, question) if question.groups else dataset
        return rule.key(question, counted)

    return find
