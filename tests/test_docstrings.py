"""Every public callable says what it takes, gives and refuses, in numpydoc sections."""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

import rainbowdp as rb
from rainbowdp import opendp, paper, plots, spark

MODULES = {"rb": rb, "paper": paper, "plots": plots, "spark": spark, "opendp": opendp}
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)


def public(module: Any) -> Iterator[tuple[str, Any]]:
    for name in module.__all__:
        thing = getattr(module, name)
        if callable(thing) and not isinstance(thing, type):
            yield name, thing
        elif isinstance(thing, type) and not issubclass(thing, Exception | enum.Enum):
            yield name, thing
            for own, member in vars(thing).items():
                inner = (
                    member.__func__ if isinstance(member, classmethod | staticmethod) else member
                )
                if inspect.isfunction(inner) and not own.startswith("_"):
                    yield f"{name}.{own}", inner


CALLABLES = [
    pytest.param(thing, id=f"{prefix}.{name}")
    for prefix, module in MODULES.items()
    for name, thing in public(module)
]


def parameters(thing: Any) -> list[str]:
    """The parameters that a caller can give."""
    try:
        signature = inspect.signature(thing)
    except ValueError:
        return []
    names = [name for name in signature.parameters if name not in ("self", "cls")]
    return [name for name in names if not name.startswith("_")]


def sections(thing: Any) -> dict[str, str]:
    text = inspect.getdoc(thing) or ""
    marks = list(SECTION.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)][: len(marks)]
    return {mark[1]: text[mark.end() : end] for mark, end in zip(marks, ends, strict=True)}


def named(section: str) -> list[str]:
    """The names that a section lists, at the left edge."""
    lines = re.findall(r"^(\*{0,2}\w[\w, *]*?)(?: :.*)?$", section, re.MULTILINE)
    return [name.strip().lstrip("*") for line in lines for name in line.split(",")]


@pytest.mark.parametrize("thing", CALLABLES)
def test_parameters_are_all_named(thing: Any) -> None:
    given = parameters(thing)
    if isinstance(thing, type) and inspect.isabstract(thing):
        return
    if isinstance(thing, type) and "Attributes" in sections(thing):
        return  # a result that the library makes
    assert set(given) <= set(named(sections(thing).get("Parameters", "")))


@pytest.mark.parametrize("thing", CALLABLES)
def test_no_section_is_there_twice(thing: Any) -> None:
    titles = SECTION.findall(inspect.getdoc(thing) or "")
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("thing", CALLABLES)
def test_what_is_returned_is_said(thing: Any) -> None:
    if isinstance(thing, type):
        return
    returned = inspect.signature(thing).return_annotation
    if returned in (None, "None", inspect.Signature.empty):
        return
    found = sections(thing)
    short = not parameters(thing)  # one line says it all
    assert short or "Returns" in found or "Yields" in found


@pytest.mark.parametrize("thing", [rb, paper, plots, spark, opendp], ids=MODULES)
def test_modules_list_what_is_public(thing: Any) -> None:
    assert thing.__all__
    assert thing.__doc__


@pytest.mark.parametrize(
    "name", [name for name in rb.__all__ if inspect.isfunction(getattr(rb, name))]
)
def test_every_public_function_has_an_example(name: str) -> None:
    assert ">>>" in (inspect.getdoc(getattr(rb, name)) or "")
