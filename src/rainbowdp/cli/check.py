"""``rainbow check``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rainbowdp.cli.output import AsJson, print_facts, print_json, warn

if TYPE_CHECKING:
    from rainbowdp.exact.counts import ExactCount
    from rainbowdp.exact.mechanism import ExactMechanism

_ABOUT = "one change"  # of a record, a person or a place: the file says which


def check(
    file: Annotated[Path, typer.Argument(help="A mechanism file.")],
    tiles: Annotated[
        Path | None,
        typer.Option(help="A folder of tiles of this mechanism: every edge in it is checked, too."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Prove a mechanism file again, from its integers alone.

    Says what was proved, and about what: which question, whose change, or which regions of a graph;
    and what no file can prove, such as that the regions it lists as touching are all that do.
    Refuses a file that was changed, is damaged, or does not keep the guarantee it names, with
    exit code 3.

    Example: `rainbow check poll.json`
    """
    from rainbowdp.exact.counts import ExactCount
    from rainbowdp.exact.scope import change_in_words, question_in_words, unit_in_words
    from rainbowdp.guarantees.descriptions import describe_guarantee, warning_about
    from rainbowdp.rules.files import load_any

    _must_not_be_tiles(file)
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
    scope, _, unknown = proof.scope.partition("; ") if question is None else (proof.scope, "", "")
    checked = None if tiles is None else _checked(file, tiles)
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
                "not_proved": None if checked else unknown or None,
                "tiles": checked,
            }
        )
        return
    on_a_graph = f"two datasets {neighbors}"
    change = on_a_graph if question is None else change_in_words(question)
    asked = "none: this is the file of a graph" if question is None else question_in_words(question)
    facts = {
        "file": str(file),
        "guarantee": f"{mechanism.guarantee}, {change}",
        "in words": mechanism.guarantee.in_words(_ABOUT),
        "question": asked,
        "answers": ", ".join(map(str, answers)),
        "mechanism": _kind(mechanism),
        "proved": f"exactly, {proof.statement}, {scope}",
    }
    if unknown and checked is None:
        what = unknown.removeprefix("only the graph can tell ")
        facts["not proved"] = f"{what}, which only the graph can tell"
    if checked is not None:
        facts["edges"] = (
            f"all {checked['edges']:,} that the {checked['tiles']:,} tiles list, between "
            f"{checked['nodes']:,} nodes, checked exactly; only the graph can tell whether it has "
            f"more{_and_how_long(mechanism)}"
        )
    print_facts(facts)
    if not isinstance(mechanism, ExactCount):
        _warn_about_touching(mechanism)
    warn(mechanism.guarantee, _ABOUT)


def _and_how_long(mechanism: ExactMechanism | ExactCount) -> str:
    """What else the tiles of a map cannot show, if its edges have lengths."""
    from rainbowdp.exact.counts import ExactCount
    from rainbowdp.graphs.saying import ON_A_GRAPH

    if isinstance(mechanism, ExactCount) or mechanism.neighbors == ON_A_GRAPH:
        return ""
    return ", and how long they are"


def _must_not_be_tiles(file: Path) -> None:
    """Tiles are checked beside their mechanism, which says what their keys mean."""
    from rainbowdp.errors import InvalidFile

    folder = file if file.is_dir() else file.parent
    if (file.is_dir() or file.name == "index.json") and (folder / "index.json").is_file():
        raise InvalidFile(
            f"{file} holds tiles, which are checked with their mechanism; use rainbow check "
            f"{folder.with_suffix('.json')} --tiles {folder}"
        )


def _kind(mechanism: ExactMechanism | ExactCount) -> str:
    """The kind; and of a graph whose regions are single rows, what has such a file."""
    from rainbowdp.exact.counts import ExactCount

    if isinstance(mechanism, ExactCount) or mechanism.question or not mechanism.rule.single_rows:
        return mechanism.name
    return (
        f"{mechanism.name}, {mechanism.rule.single_rows:,} regions of a single row each: the file "
        "of a fixed point, a primal-dual mechanism or any other whose rows are kept"
    )


def _warn_about_touching(mechanism: ExactMechanism) -> None:
    """Regions that are said to touch no other are proved each by itself, which is hardly meant."""
    outline = None if mechanism.question else mechanism.rule.outline(mechanism.answers)
    if outline is not None and len(outline.lines) > 1 and not outline.touching:
        typer.echo(
            f"This file says that no two of its {len(outline.lines)} regions touch. If two do, it "
            "is not private there: get the file from who has the graph, or check its tiles.",
            err=True,
        )


def _checked(file: Path, folder: Path) -> dict[str, int]:
    """How many tiles, nodes and edges were checked, by the small reader, tile by tile."""
    import rainbow_release
    from rainbowdp.errors import InvalidFile

    try:
        mechanism = rainbow_release.load(file)
        if not isinstance(mechanism, rainbow_release.Mechanism):
            raise InvalidFile(f"tiles must be of a graph's mechanism, got the count {file}")
        found = rainbow_release.check_tiles(folder, mechanism)
    except rainbow_release.Refused as error:
        raise InvalidFile(str(error)) from error
    return dict(zip(("tiles", "nodes", "edges"), found, strict=True))
