from __future__ import annotations

import ast
import enum
import importlib
import inspect
import pickle
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rainbowdp as rb

PUBLIC = [
    "DP",
    "Assessment",
    "Attack",
    "Audit",
    "Baseline",
    "Bought",
    "BoundaryCondition",
    "Bounds",
    "BudgetExceeded",
    "Candidate",
    "Charge",
    "Check",
    "Choice",
    "Comparison",
    "Continuous",
    "Count",
    "CountMechanism",
    "CountRelease",
    "Coverage",
    "Custom",
    "Deployment",
    "Design",
    "DiskDeployment",
    "DiskGraph",
    "DiskRegions",
    "Edges",
    "ExactCount",
    "ExactMechanism",
    "Existence",
    "Explanation",
    "GaussianDP",
    "Grouped",
    "GroupedMechanism",
    "Histogram",
    "InvalidBoundary",
    "InvalidDistribution",
    "InvalidFile",
    "InvalidGraph",
    "InvalidGuarantee",
    "InvalidMechanism",
    "InvalidQuestion",
    "InvalidRainbow",
    "Keys",
    "KeysMechanism",
    "Ledger",
    "LedgerError",
    "Lifted",
    "LimitExceeded",
    "Look",
    "Mechanism",
    "Memory",
    "MissingExtra",
    "Morphism",
    "Naming",
    "NearestSites",
    "Neighbors",
    "NotAMorphism",
    "NotApplicable",
    "PartialRainbows",
    "PersonRule",
    "Plan",
    "PlanRelease",
    "Precision",
    "Programmed",
    "ProportionMechanism",
    "ProportionTest",
    "Quantile",
    "Quantiles",
    "QuestionMechanism",
    "RainbowError",
    "RainbowGraph",
    "Ranking",
    "Release",
    "Remapped",
    "Remote",
    "RemoteBalance",
    "RemoteExplanation",
    "RemoteLimit",
    "RemotePlan",
    "Reproduction",
    "SQLTable",
    "SampledAudit",
    "ServiceError",
    "Session",
    "Share",
    "Significance",
    "Sweep",
    "Target",
    "TextFile",
    "Threshold",
    "Ties",
    "TradeOff",
    "TwoAnswers",
    "UnknownDataset",
    "UnreadableTable",
    "Utility",
    "WaitingForApproval",
    "Weight",
    "Winner",
    "ZeroConcentrated",
    "ask",
    "assess",
    "attack",
    "audit",
    "best",
    "boundary_morphism",
    "by_kind",
    "channel",
    "collect",
    "compare",
    "connect",
    "deploy",
    "deploy_on_disk",
    "design",
    "dominates",
    "exponential",
    "fixed_point",
    "forbid",
    "graph_on_disk",
    "guarantee_for",
    "inverse_sensitivity",
    "joint_exponential",
    "lengths_by_coordinates",
    "lifted",
    "load",
    "load_count",
    "look",
    "nearest_sites",
    "noise_then_nearest",
    "optimal",
    "optimal_line",
    "optimal_two",
    "optimum",
    "partial_rainbows",
    "permute_and_flip",
    "plan",
    "pooled_permute_and_flip",
    "posterior",
    "prefer",
    "printed_operator",
    "program",
    "propose_test_release",
    "proximity",
    "randomized_response",
    "read_coordinates",
    "read_graph",
    "read_labels",
    "read_loss",
    "read_rainbows",
    "read_weights",
    "refute",
    "relate",
    "remap",
    "report_noisy_max",
    "site_distances",
    "smooth_noisy_max",
    "sweep",
    "with_lengths",
]

HEAVY = [
    "duckdb",
    "flint",
    "highspy",
    "httpx",
    "matplotlib",
    "narwhals",
    "networkx",
    "numba",
    "numpy",
    "opendp",
    "pandas",
    "polars",
    "psycopg",
    "pyarrow",
    "pyspark",
    "rich",
    "scipy",
    "sqlalchemy",
    "starlette",
    "typer",
    "uvicorn",
]


def test_the_public_names_are_these_and_no_others() -> None:
    assert rb.__all__ == PUBLIC


def test_tools_and_the_interpreter_find_the_names_in_the_same_places() -> None:
    """What type checkers read, and what is imported at the first use of a name, are one list."""
    checked = next(
        node for node in ast.parse(Path(rb.__file__).read_text()).body if isinstance(node, ast.If)
    )
    assert ast.unparse(checked.test) == "TYPE_CHECKING"
    read = {
        f"{line.module}.{alias.name}"
        for line in checked.body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
        if alias.asname is None
    }
    imported = [f"rainbowdp.{home}.{name}" for home, names in rb._HOMES.items() for name in names]
    assert sorted(read) == sorted(imported)
    assert sorted(place.rpartition(".")[2] for place in imported) == sorted(PUBLIC)


FRESH = """
import pickle, sys
import rainbowdp as rb
assert set(rb.__all__) <= set(dir(rb)) and "__version__" in dir(rb)
assert not hasattr(rb, "nothing") and "numpy" not in sys.modules
assert rb.DP is rb.DP and "DP" in vars(rb) and "rainbowdp.mechanisms" not in sys.modules
assert pickle.loads(pickle.dumps(rb.DP(1))) == rb.DP(1)
from rainbowdp import *
assert all(name in globals() for name in rb.__all__)
"""


def test_names_are_found_listed_and_kept_at_their_first_use() -> None:
    subprocess.run([sys.executable, "-c", FRESH], check=True)


@pytest.mark.parametrize("name", [name for name in PUBLIC if name[0].isupper()])
def test_a_class_is_pickled_by_the_module_that_has_it(name: str) -> None:
    assert pickle.loads(pickle.dumps(getattr(rb, name))) is getattr(rb, name)


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


PUBLIC_MODULES = ["rainbowdp", *(f"rainbowdp.{name}" for name in ("opendp", "paper", "plots"))]


@pytest.mark.parametrize("module", PUBLIC_MODULES)
def test_no_public_name_hides_a_module(module: str) -> None:
    """``import rainbowdp.questions.refutation`` must not end up at a function."""
    listed = importlib.import_module(module)
    homes = {getattr(getattr(listed, name), "__module__", None) for name in listed.__all__}
    packages = {package for home in homes if home for package in parents(home)}
    assert "rainbowdp" in packages
    for package in packages:
        inside = importlib.import_module(package)
        for info in pkgutil.iter_modules(inside.__path__):
            found = getattr(importlib.import_module(package), info.name, None)
            assert found is None or inspect.ismodule(found), f"{package}.{info.name}"


def parents(module: str) -> list[str]:
    """The packages of ours that ``module`` is in."""
    parts = module.split(".")
    if parts[0] != "rainbowdp":
        return []
    packages = [".".join(parts[:size]) for size in range(1, len(parts))]
    return [*packages, *([module] if hasattr(importlib.import_module(module), "__path__") else [])]


@pytest.mark.parametrize(("option", "words"), [("neighbors", rb.Neighbors), ("ties", rb.Ties)])
def test_words_are_as_good_as_members(option: str, words: type[enum.StrEnum]) -> None:
    def winner(value: Any) -> rb.Winner:
        return rb.Winner(["a", "b"], **{option: value})

    for member in words:
        assert winner(str(member.value)) == winner(member)
        assert getattr(winner(str(member.value)), option) is member
        assert winner(str(member.value)).describe() == winner(member).describe()
    with pytest.raises(rb.InvalidQuestion, match=option):
        winner("something else")
