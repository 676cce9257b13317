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

from rainbowdp.answering.ask import Release, ask
from rainbowdp.answering.mechanism import QuestionMechanism, best, proximity
from rainbowdp.baselines import (
    Baseline,
    exponential,
    inverse_sensitivity,
    permute_and_flip,
    pooled_permute_and_flip,
    printed_operator,
    propose_test_release,
    randomized_response,
    report_noisy_max,
)
from rainbowdp.comparison import Comparison, compare
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
    MissingExtra,
    NotAMorphism,
    RainbowError,
    UnknownDataset,
    UnreadableTable,
)
from rainbowdp.exact.files import load
from rainbowdp.exact.mechanism import ExactMechanism
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.morphisms import Morphism, boundary_morphism
from rainbowdp.graphs.rainbows import Utility
from rainbowdp.graphs.readers.edges import read_graph
from rainbowdp.graphs.readers.nodes import read_labels, read_rainbows
from rainbowdp.graphs.sites import NearestSites, nearest_sites
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.trade_off import TradeOff
from rainbowdp.mechanisms.boundary import BoundaryCondition
from rainbowdp.mechanisms.continuous import Continuous
from rainbowdp.mechanisms.design import Design, design
from rainbowdp.mechanisms.lifted.lifted import Lifted, fixed_point, lifted
from rainbowdp.mechanisms.mechanism import Mechanism, dominates, relate
from rainbowdp.mechanisms.optimal import optimal, optimal_line
from rainbowdp.mechanisms.unrestricted.existence import Existence, optimum
from rainbowdp.mechanisms.unrestricted.program import Programmed, program
from rainbowdp.questions import Custom, Quantile, Threshold, Winner, refute
from rainbowdp.tables import SQLTable

__version__ = "0.1.0"

__all__ = [
    "DP",
    "Baseline",
    "BoundaryCondition",
    "BudgetExceeded",
    "Comparison",
    "Continuous",
    "Custom",
    "Design",
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
    "LedgerError",
    "Lifted",
    "Mechanism",
    "MissingExtra",
    "Morphism",
    "NearestSites",
    "NotAMorphism",
    "Programmed",
    "Quantile",
    "QuestionMechanism",
    "RainbowError",
    "RainbowGraph",
    "Release",
    "SQLTable",
    "Threshold",
    "TradeOff",
    "UnknownDataset",
    "UnreadableTable",
    "Utility",
    "Winner",
    "ask",
    "best",
    "boundary_morphism",
    "compare",
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
