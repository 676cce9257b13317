"""``rainbow check``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from rainbowdp.cli.output import AsJson, print_facts, print_json, warn

_ABOUT = "one change"  # of a record, a person or a place: the file says which


def check(
    file: Annotated[Path, typer.Argument(help="A mechanism file.")], as_json: AsJson = False
) -> None:
    """Prove a mechanism file again, from its integers alone.

    Says what was proved, and of what: which question, whose change, or which regions of a graph.
    Refuses a file that was changed, is damaged, or does not keep the guarantee it names, with
    exit code 3.

    Example: `rainbow check poll.json`
    """
    from rainbowdp.exact.counts import ExactCount
    from rainbowdp.exact.scope import change_in_words, question_in_words, unit_in_words
    from rainbowdp.guarantees.descriptions import describe_guarantee, warning_about
    from rainbowdp.rules.files import load_any

    mechanism = load_any(file)
    proof = mechanism.proof
    question: Mapping[str, Any] | None
    answers: list[Any]
    if isinstance(mechanism, ExactCount):
        question, neighbors = mechanism.question.describe(), str(mechanism.question.neighbors)
        answers = [f"whole numbers from 0 to {mechanism.question.at_most}"]
    else:
        question, neighbors = mechanism.question, mechanism.neighbors
        answers = list(mechanism.answers)
    if as_json:
        print_json(
            {
                "file": str(file),
                "holds": True,
                "guarantee": describe_guarantee(mechanism.guarantee),
                "in_words": mechanism.guarantee.in_words(_ABOUT),
                "warning": warning_about(mechanism.guarantee, _ABOUT),
                "neighbors": neighbors,
                "unit": None if question is None else unit_in_words(question),
                "answers": answers,
                "question": question,
                "mechanism": mechanism.name,
                "proof": proof.statement,
                "scope": proof.scope,
            }
        )
        return
    on_a_graph = f"two datasets {neighbors}"
    change = on_a_graph if question is None else change_in_words(question)
    asked = "none: this is the file of a graph" if question is None else question_in_words(question)
    print_facts(
        {
            "file": str(file),
            "guarantee": f"{mechanism.guarantee}, {change}",
            "in words": mechanism.guarantee.in_words(_ABOUT),
            "question": asked,
            "answers": ", ".join(map(str, answers)),
            "mechanism": mechanism.name,
            "proved": f"exactly, {proof.statement}, {proof.scope}",
        }
    )
    warn(mechanism.guarantee, _ABOUT)
