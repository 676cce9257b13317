r"""A world from what somebody has: a mechanism file, or a small list of edges.

A list of edges is plain text, one thing a line: ``a b`` joins two datasets, ``a: red > green``
says what a dataset prefers, and ``#`` begins a remark.

>>> text = "a b\nb c\na: yes > no\nb: yes > no\nc: no > yes\n"
>>> read_edge_list(text, "town.txt")
RainbowGraph(3 datasets, 2 edges, 2 regions, 2 answers)
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rainbowdp.aliases import Rainbow
from rainbowdp.errors import InvalidFile, InvalidGraph, InvalidRainbow, RainbowError
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.rainbows import as_rainbow
from rainbowdp.guarantees.curve import curve_of
from rainbowdp.rules.files import from_text
from rainbowdp.studio.worlds import World, of_file, opened, spread

MOST_BYTES = 1 << 20
MOST_DATASETS = 400
MOST_EDGES = 2000
MOST_ANSWERS = 8
LONGEST_NAME = 80  # characters


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
        _small(len(mechanism.answers), MOST_ANSWERS, "answers", source)
        world = of_file("loaded", title, note, mechanism, source)
    else:
        graph = read_edge_list(text, source)
        note = f"{len(graph)} datasets and {graph.edge_count} edges from a list."
        places = spread(graph)
        start = {"guarantee": {"kind": "dp", "epsilon": "1", "delta": "0"}, "dataset": 0}
        world = World("loaded", title, note, graph, places, opened(source), start=start)
    _small(len(world.graph), MOST_DATASETS, "datasets", source)
    return world


def read_edge_list(text: str, source: str) -> RainbowGraph:
    """The rainbow graph of a list of edges and preferences."""
    edges: dict[tuple[str, str], int] = {}
    rainbows: dict[str, Rainbow] = {}
    for number, line in enumerate(text.splitlines(), 1):
        said = line.partition("#")[0].strip()
        if not said:
            continue
        where = f"{source}, line {number}"
        if ":" in said:
            name, order = (part.strip() for part in said.split(":", 1))
            if name in rainbows:
                raise InvalidGraph(f"dataset {name!r} has a rainbow already: {where}")
            try:
                rainbows[name] = as_rainbow([part.strip() for part in order.split(">")])
            except InvalidRainbow as error:
                raise InvalidRainbow(f"{error}: {where}") from None
            _check_names([name, *rainbows[name]], where)
            first = next(iter(rainbows.values()))
            if set(rainbows[name]) != set(first):
                raise InvalidRainbow(
                    f"every rainbow must list the same answers, {' > '.join(sorted(first))}, "
                    f"got {order!r}: {where}"
                )
            continue
        ends = said.replace(",", " ").split()
        if len(ends) != 2:
            raise InvalidGraph(
                f"a line must be an edge 'a b' or a rainbow 'a: red > green', got {said!r}: {where}"
            )
        edges.setdefault((ends[0], ends[1]), number)
        _small(len(edges), MOST_EDGES, "edges", source)
        _small(len(rainbows), MOST_DATASETS, "datasets", source)
    for pair, number in edges.items():
        for end in pair:
            if end not in rainbows:
                raise InvalidGraph(
                    f"dataset {end!r} has no rainbow; add a line such as '{end}: red > green': "
                    f"{source}, line {number}"
                )
    _small(len(rainbows), MOST_DATASETS, "datasets", source)
    if not rainbows:
        raise InvalidGraph(f"{source} has no rainbows; add lines such as 'a: red > green'")
    _small(len(next(iter(rainbows.values()))), MOST_ANSWERS, "answers", source)
    return RainbowGraph(list(edges), rainbows)


def _check_names(names: Iterable[str], where: str) -> None:
    for name in names:
        if not 0 < len(name) <= LONGEST_NAME:
            shown = repr(name) if len(name) <= LONGEST_NAME else f"{len(name):,} of them"
            raise InvalidGraph(
                f"a name must have 1 to {LONGEST_NAME} characters, got {shown}: {where}"
            )


def _small(size: int, most: int, what: str, source: str) -> None:
    if size > most:
        raise RainbowError(f"the studio draws up to {most} {what}, got {size} in {source}")
