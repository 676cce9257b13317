"""``rainbow check``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rainbowdp.cli.output import AsJson, print_facts, print_json, warn

_ABOUT = "one change"  # of a record, a person or a place: the file says which


def check(
    file: Annotated[Path, typer.Argument(help="A mechanism file.")], as_json: AsJson = False
) -> None:
    """Prove a mechanism file again, from its integers alone.

    Refuses a file that was changed, is damaged, or does not keep the guarantee it names, with
    exit code 3.

    Example: `rainbow check poll.json`
    """
    from rainbowdp.guarantees.descriptions import describe_guarantee, warning_about
    from rainbowdp.rules.files import load

    mechanism = load(file)
    if as_json:
        print_json(
            {
                "file": str(file),
                "holds": True,
                "guarantee": describe_guarantee(mechanism.guarantee),
                "in_words": mechanism.guarantee.in_words(_ABOUT),
                "warning": warning_about(mechanism.guarantee, _ABOUT),
                "neighbors": mechanism.neighbors,
                "answers": list(mechanism.answers),
                "question": mechanism.question,
                "proof": mechanism.proof.statement,
            }
        )
        return
    print_facts(
        {
            "file": str(file),
            "guarantee": f"{mechanism.guarantee}, neighbors {mechanism.neighbors}",
            "in words": mechanism.guarantee.in_words(_ABOUT),
            "answers": ", ".join(str(answer) for answer in mechanism.answers),
            "proved": f"exactly, {mechanism.proof.statement}",
        }
    )
    warn(mechanism.guarantee, _ABOUT)
