"""The errors of the package."""

from __future__ import annotations

import inspect
import re

import pytest

import rainbowdp as rb
from rainbowdp import errors

CLASSES = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]


@pytest.mark.parametrize("kind", CLASSES)
def test_every_error_is_a_rainbow_error_with_a_docstring(kind: type[Exception]) -> None:
    assert issubclass(kind, rb.RainbowError)
    assert issubclass(kind, ValueError)
    assert kind.__doc__


def test_the_tree_in_the_docstring_names_exactly_the_errors() -> None:
    named = re.findall(r"^ +(?:[│├└─ ]+)?([A-Z]\w+)", errors.__doc__ or "", flags=re.MULTILINE)
    assert sorted(named) == sorted(kind.__name__ for kind in CLASSES)


@pytest.mark.parametrize(
    "kind",
    [
        rb.InvalidBoundary,
        rb.InvalidDistribution,
        rb.InvalidGraph,
        rb.InvalidGuarantee,
        rb.InvalidMechanism,
        rb.InvalidRainbow,
        rb.NotAMorphism,
        rb.RainbowError,
        rb.UnknownDataset,
    ],
)
def test_an_error_prints_its_message_as_it_is(kind: type[Exception]) -> None:
    assert str(kind("a 'quoted' word")) == "a 'quoted' word"


def test_unknown_dataset_is_a_key_error_without_quotes() -> None:
    error = rb.UnknownDataset("a dataset must be in the graph, got 'x'")
    assert isinstance(error, KeyError)
    assert str(error) == "a dataset must be in the graph, got 'x'"
    with pytest.raises(KeyError, match=r"^a dataset must be in the graph, got 'x'$"):
        raise error
