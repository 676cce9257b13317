"""One change to a drawing at a time: a dataset more or less, two joined, a rainbow, a weight.

Each is a function of a drawing and what the page sent to a new drawing; what does not make sense
is refused with the field that it is about.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from rainbowdp.errors import RainbowError
from rainbowdp.studio.drawing import (
    FARTHEST,
    LONGEST_NAME,
    MOST_ANSWERS,
    MOST_DATASETS,
    MOST_EDGES,
    Drawing,
    weight_of,
)
from rainbowdp.studio.settings import Wrong, shown

_FORBIDDEN = re.compile(r"[\s:>,#=@]")
_NAME = "a name must be one word without : > , # = or @"


def edited(drawing: Drawing, edit: Any) -> Drawing:
    """The drawing after ``edit``, a mapping whose ``do`` says what to do."""
    do = edit.get("do") if isinstance(edit, Mapping) else None
    if not isinstance(do, str) or do not in EDITS:
        raise RainbowError(f"an edit must be one of {', '.join(EDITS)}, got {shown(do)}")
    return EDITS[do](drawing, edit)


def _add(drawing: Drawing, edit: Mapping[str, Any]) -> Drawing:
    """A dataset more, joined to the one that it is added beside, which it resembles."""
    if len(drawing.rainbows) >= MOST_DATASETS:
        raise Wrong("edit", f"the studio draws up to {MOST_DATASETS} datasets; remove one first")
    beside = _name(drawing, edit.get("dataset"))
    place: Any = edit.get("place")
    fine = isinstance(place, list) and len(place) == 2
    if not fine or not all(type(c) in (int, float) and abs(c) <= FARTHEST for c in place):
        raise Wrong("edit", f"a place must be two numbers up to {FARTHEST:g}, got {shown(place)}")
    name = _fresh(drawing, beside)
    return replace(
        drawing,
        rainbows={**drawing.rainbows, name: drawing.rainbows[beside]},
        edges=(*drawing.edges, (beside, name)),
        places={**drawing.places, name: (float(place[0]), float(place[1]))},
    )


def _remove(drawing: Drawing, edit: Mapping[str, Any]) -> Drawing:
    gone = _name(drawing, edit.get("dataset"))
    if len(drawing.rainbows) == 1:
        raise Wrong("edit", f"{gone} is the only dataset, and a graph needs one")
    left = replace(
        drawing,
        rainbows={name: order for name, order in drawing.rainbows.items() if name != gone},
        edges=tuple(pair for pair in drawing.edges if gone not in pair),
        weights={name: weight for name, weight in drawing.weights.items() if name != gone},
        places={name: place for name, place in drawing.places.items() if name != gone},
    )
    return _counting(left, "edit", f"all but {gone} count 0; let another dataset count more first")


def _join(drawing: Drawing, edit: Mapping[str, Any]) -> Drawing:
    one, other = _pair(drawing, edit)
    if one == other:
        raise Wrong("join", f"{one} cannot be joined to itself; choose another dataset")
    if _joined(drawing, one, other):
        raise Wrong("join", f"{one} and {other} are joined already")
    if len(drawing.edges) >= MOST_EDGES:
        raise Wrong("join", f"the studio draws up to {MOST_EDGES} edges; part two datasets first")
    return replace(drawing, edges=(*drawing.edges, (one, other)))


def _part(drawing: Drawing, edit: Mapping[str, Any]) -> Drawing:
    one, other = _pair(drawing, edit)
    if not _joined(drawing, one, other):
        raise Wrong("join", f"{one} and {other} are not joined")
    return replace(drawing, edges=tuple(p for p in drawing.edges if set(p) != {one, other}))


def _rename(drawing: Drawing, edit: Mapping[str, Any]) -> Drawing:
    old, new = _name(drawing, edit.get("dataset")), _word(edit.get("name"), "name")
    if new == old:
        return drawing
    if new in drawing.rainbows:
        raise Wrong("name", f"another dataset is called {new} already")

    def called(name: str) -> str:
        return new if name == old else name

    return Drawing(
        {called(name): order for name, order in drawing.rainbows.items()},
        tuple((called(a), called(b)) for a, b in drawing.edges),
        {called(name): weight for name, weight in drawing.weights.items()},
        {called(name): place for name, place in drawing.places.items()},
    )


def _prefer(drawing: Drawing, edit: Mapping[str, Any]) -> Drawing:
    """Another rainbow, for one dataset or for all that have the same one."""
    name, order = _name(drawing, edit.get("dataset")), edit.get("rainbow")
    if not isinstance(order, list) or sorted(map(str, order)) != sorted(drawing.answers):
        answers = ", ".join(drawing.answers)
        raise Wrong("rainbow", f"a rainbow must list each of {answers} once, got {shown(order)}")
    old = drawing.rainbows[name]
    alike = bool(edit.get("region"))
    return replace(
        drawing,
        rainbows={
            each: tuple(order) if each == name or (alike and had == old) else had
            for each, had in drawing.rainbows.items()
        },
    )


def _weigh(drawing: Drawing, edit: Mapping[str, Any]) -> Drawing:
    name, text = _name(drawing, edit.get("dataset")), edit.get("weight")
    try:
        weight = weight_of(text.strip() if isinstance(text, str) else "", name)
    except RainbowError as error:
        raise Wrong("weight", str(error)) from None
    weights = {each: drawing.weights.get(each, 1.0) for each in drawing.names} | {name: weight}
    weighed = _counting(
        replace(drawing, weights=weights), "weight", "all would count 0; let one dataset count more"
    )
    return _alike(weighed, {}) if set(weights.values()) == {1.0} else weighed


def _alike(drawing: Drawing, edit: Mapping[str, Any]) -> Drawing:
    """All datasets count alike again."""
    return replace(drawing, weights={})


def _answers(drawing: Drawing, edit: Mapping[str, Any]) -> Drawing:
    """Other answers: renamed where as many come as go, else new ones are last in every rainbow."""
    text = edit.get("answers")
    if not isinstance(text, str):
        raise Wrong("answers", "the answers must be words with commas between them")
    new = [_word(part.strip(), "answers") for part in text.split(",") if part.strip()]
    if len(new) != len(set(new)):
        raise Wrong("answers", f"each answer must be listed once, got {text.strip()[:80]}")
    if not 1 <= len(new) <= MOST_ANSWERS:
        raise Wrong("answers", f"the studio draws 1 to {MOST_ANSWERS} answers, got {len(new)}")
    gone = [a for a in drawing.answers if a not in new]
    came = [a for a in new if a not in drawing.answers]
    called = dict(zip(gone, came, strict=True)) if len(gone) == len(came) else {}
    orders = {}
    for name, had in drawing.rainbows.items():
        order = [called.get(str(a), a) for a in had if a not in gone or called]
        orders[name] = (*order, *(a for a in came if a not in order))
    return replace(drawing, rainbows=orders)


EDITS: Mapping[str, Callable[[Drawing, Mapping[str, Any]], Drawing]] = {
    "add": _add,
    "remove": _remove,
    "join": _join,
    "part": _part,
    "rename": _rename,
    "prefer": _prefer,
    "weigh": _weigh,
    "alike": _alike,
    "answers": _answers,
}


def _counting(drawing: Drawing, field: str, message: str) -> Drawing:
    if drawing.weights and not any(drawing.weights.get(n, 1.0) for n in drawing.names):
        raise Wrong(field, message)
    return drawing


def _name(drawing: Drawing, position: Any) -> str:
    if type(position) is not int or not 0 <= position < len(drawing.names):
        raise RainbowError(
            f"a dataset must be a number from 0 to {len(drawing.names) - 1}, got {shown(position)}"
        )
    return drawing.names[position]


def _pair(drawing: Drawing, edit: Mapping[str, Any]) -> tuple[str, str]:
    return _name(drawing, edit.get("dataset")), _name(drawing, edit.get("other"))


def _joined(drawing: Drawing, one: str, other: str) -> bool:
    return any(set(pair) == {one, other} for pair in drawing.edges)


def _word(text: Any, field: str) -> str:
    if not isinstance(text, str) or not text or _FORBIDDEN.search(text):
        raise Wrong(field, f"{_NAME}, got {shown(text)}")
    if len(text) > LONGEST_NAME:
        raise Wrong(field, f"a name must have 1 to {LONGEST_NAME} characters, got {len(text)}")
    return text


def _fresh(drawing: Drawing, beside: str) -> str:
    """A name that is free, like that of a neighbor: d19 where there are d1 to d18."""
    stem = re.sub(r"\d+$", "", beside)[: LONGEST_NAME - 4]
    numbers = itertools.count(len(drawing.names) + 1)
    return next(name for n in numbers if (name := f"{stem}{n}") not in drawing.rainbows)
