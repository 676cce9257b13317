"""A world from what somebody has: a mechanism file, or a graph in lines of text (``drawing``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rainbowdp.errors import InvalidFile, RainbowError
from rainbowdp.guarantees.curve import curve_of
from rainbowdp.rules.files import from_text
from rainbowdp.studio.drawing import (
    MOST_ANSWERS,
    MOST_DATASETS,
    Drawing,
    beside,
    check_small,
    read_drawing,
)
from rainbowdp.studio.edits import edited
from rainbowdp.studio.worlds import World, of_file, opened, spread

MOST_BYTES = 1 << 20


def open_world(path: str | Path) -> World:
    """The world in the file at ``path``."""
    place = Path(path)
    try:
        with place.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InvalidFile(f"cannot read {path}: {error.strerror}") from error
    return read_world(content, str(path))


def read_world(content: bytes, source: str) -> World:
    """The world in ``content``, a mechanism file or a list of edges."""
    if len(content) > MOST_BYTES:
        raise InvalidFile(f"the studio opens files of up to {MOST_BYTES:,} bytes, got {source}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidFile(
            f"{source} is not text in UTF-8: byte {error.start} does not belong there"
        ) from None
    title = Path(source).name
    if not text.strip():
        raise InvalidFile(f"{source} is empty; open a mechanism file or a list of edges")
    if text.lstrip().startswith(("{", "[")):
        mechanism = from_text(text, source)
        curve_of(mechanism.guarantee, "the studio")
        note = f"A mechanism file for {mechanism.guarantee}, proved again from its integers."
        check_small(len(mechanism.answers), MOST_ANSWERS, "answers", source)
        world = of_file("loaded", title, note, mechanism, source)
    else:
        return of_drawing(read_drawing(text, source), source)
    check_small(len(world.graph), MOST_DATASETS, "datasets", source)
    return world


def of_drawing(drawing: Drawing, source: str) -> World:
    """The world of a drawing, whose file is called ``source``."""
    graph, weights = drawing.graph(), drawing.counts()
    places = beside(graph, drawing.places) if drawing.places else spread(graph)
    note = f"{len(graph)} datasets and {graph.edge_count} edges from a list."
    if weights is not None:
        note = f"{note[:-1]}, which count by their weights."
    setup = opened(source, "graph" if weights is None else "weighted")
    start = {"guarantee": {"kind": "dp", "epsilon": "1", "delta": "0"}, "dataset": 0}
    title = Path(source).name
    return World("loaded", title, note, graph, places, setup, start=start, weights=weights)


def edit_text(world: World, edit: Any) -> bytes:
    """The lines of text of ``world`` after one change."""
    if world.drawing is None:
        raise RainbowError(
            "this picture cannot be edited; choose Your own graph, or open a list of edges"
        )
    return edited(world.drawing, edit).text().encode()
