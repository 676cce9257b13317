"""Each kind of mechanism for a question, as a function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rainbowdp.aliases import Floats
from rainbowdp.answering.best import by_kind
from rainbowdp.answering.mechanism import QuestionMechanism
from rainbowdp.exact.check import Check
from rainbowdp.exact.rule import Rule
from rainbowdp.exact.scores import VoteScores
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions import Question, Winner
from rainbowdp.rules.margin_table.proof import prove_table
from rainbowdp.rules.margin_table.rule import MarginTable
from rainbowdp.rules.permute_and_flip.build import coins_for
from rainbowdp.rules.permute_and_flip.rule import PermuteAndFlip


def homogeneous(
    question: Question, guarantee: Guarantee, boundary: Sequence[Any] | None = None
) -> QuestionMechanism:
    return by_kind(question, guarantee, "homogeneous", boundary=boundary)


def margin_table(question: Question, guarantee: Guarantee) -> QuestionMechanism:
    return by_kind(question, guarantee, "margin-table")


def ordered_bins(question: Question, guarantee: Guarantee) -> QuestionMechanism:
    return by_kind(question, guarantee, "ordered-bins")


def permute_and_flip(question: Question, guarantee: Guarantee) -> QuestionMechanism:
    return by_kind(question, guarantee, "permute-and-flip")


def margin_flip(question: Question, guarantee: Guarantee) -> QuestionMechanism:
    return by_kind(question, guarantee, "margin-flip")


def exponential(question: Question, guarantee: Guarantee) -> QuestionMechanism:
    return by_kind(question, guarantee, "exponential")


def vote_coins(
    answers: int, guarantee: Guarantee, neighbors: str, ties: str, rows: int = 1
) -> PermuteAndFlip:
    """The coins of a vote."""
    return coins_for(guarantee, VoteScores(answers, neighbors, ties, rows), answers)


def rows_of_votes(rule: Rule, counts: Any) -> Floats:
    """The rows of a rule for votes, in floats."""
    votes = np.array(counts, dtype=np.int64)
    question = Winner([str(number) for number in range(max(2, votes.shape[1]))])
    return rule.rows_at(question, votes, votes.astype(np.float64))  # margins are not looked at


def prove(guarantee: Guarantee, table: MarginTable, *, exactly: bool = False) -> Check:
    """The proof of a margin table."""
    return prove_table(guarantee, table.shape, table.total, table.rows, exactly=exactly)
