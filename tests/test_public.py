from __future__ import annotations

import subprocess
import sys

import pytest

import rainbowdp as rb

PUBLIC = [
    "DP",
    "Baseline",
    "BoundaryCondition",
    "BudgetExceeded",
    "Check",
    "Comparison",
    "Continuous",
    "Custom",
    "Deployment",
    "Design",
    "Edges",
    "ExactMechanism",
    "Existence",
    "GaussianDP",
    "InvalidBoundary",
    "InvalidDistribution",
    "InvalidFile",
    "InvalidGraph",
    "InvalidGuarantee",
    "InvalidMechanism",
    "InvalidQuestion",
    "InvalidRainbow",
    "Ledger",
    "LedgerError",
    "Lifted",
    "Mechanism",
    "MissingExtra",
    "Morphism",
    "NearestSites",
    "Neighbors",
    "NotAMorphism",
    "NotApplicable",
    "PersonRule",
    "Programmed",
    "Quantile",
    "QuestionMechanism",
    "RainbowError",
    "RainbowGraph",
    "Release",
    "SQLTable",
    "Threshold",
    "Ties",
    "TradeOff",
    "UnknownDataset",
    "UnreadableTable",
    "Utility",
    "Winner",
    "ask",
    "best",
    "boundary_morphism",
    "by_kind",
    "compare",
    "deploy",
    "design",
    "dominates",
    "exponential",
    "fixed_point",
    "inverse_sensitivity",
    "lifted",
    "load",
    "nearest_sites",
    "optimal",
    "optimal_line",
    "optimum",
    "permute_and_flip",
    "pooled_permute_and_flip",
    "printed_operator",
    "program",
    "propose_test_release",
    "proximity",
    "randomized_response",
    "read_graph",
    "read_labels",
    "read_rainbows",
    "refute",
    "relate",
    "report_noisy_max",
]

HEAVY = [
    "duckdb",
    "highspy",
    "matplotlib",
    "narwhals",
    "numba",
    "opendp",
    "pandas",
    "polars",
    "psycopg",
    "pyarrow",
    "pyspark",
    "scipy",
    "sqlalchemy",
    "starlette",
    "typer",
    "uvicorn",
]


def test_the_public_names_are_these_and_no_others() -> None:
    assert rb.__all__ == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    assert getattr(rb, name).__doc__


@pytest.mark.parametrize("name", [name for name in PUBLIC if name.startswith(("Invalid", "Not"))])
def test_every_error_is_a_rainbow_error_and_a_value_error(name: str) -> None:
    assert issubclass(getattr(rb, name), rb.RainbowError)
    assert issubclass(rb.RainbowError, ValueError)


def test_unknown_dataset_is_also_a_key_error_but_prints_plainly() -> None:
    assert issubclass(rb.UnknownDataset, rb.RainbowError)
    assert issubclass(rb.UnknownDataset, KeyError)
    assert str(rb.UnknownDataset("a plain message")) == "a plain message"


def test_importing_the_package_pulls_in_nothing_heavy() -> None:
    # A fresh interpreter, since this one has loaded everything already.
    script = f"import sys, rainbowdp; print([m for m in {HEAVY!r} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
