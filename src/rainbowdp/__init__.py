"""The provably best private answer from a finite set.

Somebody holds data, a question has finitely many answers, and one answer goes out under
differential privacy: as firmly as the distance of this very dataset to the nearest one with
another answer allows.

>>> import rainbowdp as rb
>>> graph = rb.RainbowGraph([(0, 1), (1, 2)], [("yes", "no"), ("yes", "no"), ("no", "yes")])
>>> mechanism = rb.optimal(graph, rb.DP(1))
>>> round(mechanism[0]["yes"], 4), bool(mechanism.check())
(0.9011, True)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what type checkers and editors read
    from rainbowdp.answering.ask import ask
    from rainbowdp.answering.best import best, by_kind
    from rainbowdp.answering.counting import CountMechanism, CountRelease
    from rainbowdp.answering.coverage import Coverage
    from rainbowdp.answering.grouped import GroupedMechanism
    from rainbowdp.answering.intervals import Precision
    from rainbowdp.answering.mechanism import QuestionMechanism
    from rainbowdp.answering.naming import KeysMechanism, Naming
    from rainbowdp.answering.release import Release
    from rainbowdp.answering.testing import ProportionMechanism, Significance
    from rainbowdp.answering.worlds import optimal, proximity
    from rainbowdp.assessing.assess import Assessment, assess
    from rainbowdp.assessing.attack import Attack, attack, posterior
    from rainbowdp.auditing.audit import audit
    from rainbowdp.auditing.bounds import Bounds
    from rainbowdp.auditing.reproduction import Reproduction
    from rainbowdp.auditing.result import Audit, SampledAudit
    from rainbowdp.baselines import (
        Baseline,
        exponential,
        inverse_sensitivity,
        joint_exponential,
        noise_then_nearest,
        permute_and_flip,
        pooled_permute_and_flip,
        printed_operator,
        propose_test_release,
        randomized_response,
        report_noisy_max,
        smooth_noisy_max,
    )
    from rainbowdp.client.remote import Remote, connect
    from rainbowdp.client.told import (
        RemoteBalance,
        RemoteExplanation,
        RemoteLimit,
        RemotePlan,
    )
    from rainbowdp.collecting.histogram import Histogram, channel, collect
    from rainbowdp.collecting.memory import Memory
    from rainbowdp.comparison import Comparison, compare
    from rainbowdp.comparison.sweep import Sweep, sweep
    from rainbowdp.deployment import Deployment, deploy
    from rainbowdp.errors import (
        BudgetExceeded,
        InvalidBoundary,
        InvalidDistribution,
        InvalidFile,
        InvalidGraph,
        InvalidGuarantee,
        InvalidMechanism,
        InvalidQuestion,
        InvalidRainbow,
        LedgerError,
        LimitExceeded,
        MissingExtra,
        NotAMorphism,
        NotApplicable,
        RainbowError,
        ServiceError,
        UnknownDataset,
        UnreadableTable,
        WaitingForApproval,
    )
    from rainbowdp.exact.check import Check
    from rainbowdp.exact.counts import ExactCount
    from rainbowdp.exact.mechanism import ExactMechanism
    from rainbowdp.graphs.disk import graph_on_disk
    from rainbowdp.graphs.disk_graph import DiskGraph, DiskRegions
    from rainbowdp.graphs.edges import Edges
    from rainbowdp.graphs.forbidding import forbid
    from rainbowdp.graphs.graph import RainbowGraph
    from rainbowdp.graphs.lengths import with_lengths
    from rainbowdp.graphs.morphisms import Morphism, boundary_morphism
    from rainbowdp.graphs.partial import PartialRainbows, partial_rainbows
    from rainbowdp.graphs.rainbows import Utility
    from rainbowdp.graphs.readers.coordinates import lengths_by_coordinates, read_coordinates
    from rainbowdp.graphs.readers.edges import read_graph
    from rainbowdp.graphs.readers.goals import read_loss, read_weights
    from rainbowdp.graphs.readers.nodes import read_labels, read_rainbows
    from rainbowdp.graphs.site_distances import site_distances
    from rainbowdp.graphs.sites import NearestSites, nearest_sites
    from rainbowdp.guarantees.dp import DP
    from rainbowdp.guarantees.gaussian import GaussianDP
    from rainbowdp.guarantees.trade_off import TradeOff
    from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
    from rainbowdp.ledger import Charge, Ledger
    from rainbowdp.mechanisms.best_on_graphs import Candidate, Choice
    from rainbowdp.mechanisms.boundary import BoundaryCondition
    from rainbowdp.mechanisms.continuous import Continuous
    from rainbowdp.mechanisms.design import Design, design
    from rainbowdp.mechanisms.lifted.lifted import fixed_point, lifted
    from rainbowdp.mechanisms.lifted.rows import Lifted
    from rainbowdp.mechanisms.mechanism import Mechanism, dominates, relate
    from rainbowdp.mechanisms.optimal import optimal_line
    from rainbowdp.mechanisms.preferring import prefer
    from rainbowdp.mechanisms.remapping import Remapped, remap
    from rainbowdp.mechanisms.two_answers import TwoAnswers, optimal_two
    from rainbowdp.mechanisms.unrestricted.existence import Existence, optimum
    from rainbowdp.mechanisms.unrestricted.program import Programmed, program
    from rainbowdp.on_disk.deploying import DiskDeployment, deploy_on_disk
    from rainbowdp.questions import (
        Count,
        Custom,
        Grouped,
        Keys,
        ProportionTest,
        Quantile,
        Quantiles,
        Ranking,
        Share,
        Threshold,
        Weight,
        Winner,
        refute,
    )
    from rainbowdp.questions.relations import Neighbors, PersonRule, Ties
    from rainbowdp.rules.files import load, load_count
    from rainbowdp.sessions.buying import Bought
    from rainbowdp.sessions.needing import guarantee_for
    from rainbowdp.sessions.plan import Plan, PlanRelease
    from rainbowdp.sessions.planning import plan
    from rainbowdp.sessions.session import Explanation, Session
    from rainbowdp.sessions.targets import Target
    from rainbowdp.tables import Look, SQLTable, TextFile, look

__version__ = "0.1.0"

__all__ = [
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

# The same names by their modules, each of which is imported when one of its names is first used:
# nobody waits for what they do not use.
_HOMES: dict[str, tuple[str, ...]] = {
    "assessing.assess": ("Assessment", "assess"),
    "assessing.attack": ("Attack", "attack", "posterior"),
    "graphs.forbidding": ("forbid",),
    "graphs.partial": ("PartialRainbows", "partial_rainbows"),
    "graphs.site_distances": ("site_distances",),
    "graphs.readers.goals": ("read_loss", "read_weights"),
    "mechanisms.preferring": ("prefer",),
    "mechanisms.remapping": ("Remapped", "remap"),
    "collecting.histogram": ("Histogram", "channel", "collect"),
    "collecting.memory": ("Memory",),
    "auditing.result": ("Audit", "SampledAudit"),
    "auditing.reproduction": ("Reproduction",),
    "auditing.bounds": ("Bounds",),
    "auditing.audit": ("audit",),
    "answering.ask": ("ask",),
    "answering.best": ("best", "by_kind"),
    "answering.counting": ("CountMechanism", "CountRelease"),
    "answering.coverage": ("Coverage",),
    "answering.grouped": ("GroupedMechanism",),
    "answering.intervals": ("Precision",),
    "answering.mechanism": ("QuestionMechanism",),
    "answering.naming": ("KeysMechanism", "Naming"),
    "answering.release": ("Release",),
    "answering.testing": ("ProportionMechanism", "Significance"),
    "answering.worlds": ("optimal", "proximity"),
    "baselines": (
        "Baseline",
        "exponential",
        "inverse_sensitivity",
        "joint_exponential",
        "noise_then_nearest",
        "permute_and_flip",
        "pooled_permute_and_flip",
        "printed_operator",
        "propose_test_release",
        "randomized_response",
        "report_noisy_max",
        "smooth_noisy_max",
    ),
    "client.remote": ("Remote", "connect"),
    "client.told": ("RemoteBalance", "RemoteExplanation", "RemoteLimit", "RemotePlan"),
    "comparison": ("Comparison", "compare"),
    "comparison.sweep": ("Sweep", "sweep"),
    "deployment": ("Deployment", "deploy"),
    "errors": (
        "BudgetExceeded",
        "InvalidBoundary",
        "InvalidDistribution",
        "InvalidFile",
        "InvalidGraph",
        "InvalidGuarantee",
        "InvalidMechanism",
        "InvalidQuestion",
        "InvalidRainbow",
        "LedgerError",
        "LimitExceeded",
        "MissingExtra",
        "NotAMorphism",
        "NotApplicable",
        "RainbowError",
        "ServiceError",
        "UnknownDataset",
        "UnreadableTable",
        "WaitingForApproval",
    ),
    "exact.check": ("Check",),
    "exact.counts": ("ExactCount",),
    "exact.mechanism": ("ExactMechanism",),
    "graphs.disk": ("graph_on_disk",),
    "graphs.disk_graph": ("DiskGraph", "DiskRegions"),
    "graphs.edges": ("Edges",),
    "graphs.graph": ("RainbowGraph",),
    "graphs.lengths": ("with_lengths",),
    "graphs.morphisms": ("Morphism", "boundary_morphism"),
    "graphs.rainbows": ("Utility",),
    "graphs.readers.coordinates": ("lengths_by_coordinates", "read_coordinates"),
    "graphs.readers.edges": ("read_graph",),
    "graphs.readers.nodes": ("read_labels", "read_rainbows"),
    "graphs.sites": ("NearestSites", "nearest_sites"),
    "guarantees.dp": ("DP",),
    "guarantees.gaussian": ("GaussianDP",),
    "guarantees.trade_off": ("TradeOff",),
    "guarantees.zero_concentrated": ("ZeroConcentrated",),
    "ledger": ("Charge", "Ledger"),
    "mechanisms.boundary": ("BoundaryCondition",),
    "mechanisms.continuous": ("Continuous",),
    "mechanisms.design": ("Design", "design"),
    "mechanisms.best_on_graphs": ("Candidate", "Choice"),
    "mechanisms.lifted.lifted": ("fixed_point", "lifted"),
    "mechanisms.lifted.rows": ("Lifted",),
    "mechanisms.mechanism": ("Mechanism", "dominates", "relate"),
    "mechanisms.optimal": ("optimal_line",),
    "mechanisms.two_answers": ("TwoAnswers", "optimal_two"),
    "mechanisms.unrestricted.existence": ("Existence", "optimum"),
    "mechanisms.unrestricted.program": ("Programmed", "program"),
    "on_disk.deploying": ("DiskDeployment", "deploy_on_disk"),
    "questions": (
        "Count",
        "Custom",
        "Grouped",
        "Keys",
        "ProportionTest",
        "Quantile",
        "Quantiles",
        "Ranking",
        "Share",
        "Threshold",
        "Weight",
        "Winner",
        "refute",
    ),
    "questions.relations": ("Neighbors", "PersonRule", "Ties"),
    "rules.files": ("load", "load_count"),
    "sessions.buying": ("Bought",),
    "sessions.needing": ("guarantee_for",),
    "sessions.plan": ("Plan", "PlanRelease"),
    "sessions.planning": ("plan",),
    "sessions.session": ("Explanation", "Session"),
    "sessions.targets": ("Target",),
    "tables": ("Look", "SQLTable", "TextFile", "look"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Find a public name at its first use."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
