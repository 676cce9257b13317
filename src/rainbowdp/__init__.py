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

from rainbowdp.answering import QuestionMechanism, best, proximity
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
from rainbowdp.boundary import BoundaryCondition
from rainbowdp.compare import Comparison, compare
from rainbowdp.continuous import Continuous
from rainbowdp.design import Design, design
from rainbowdp.edge_files import read_graph
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
from rainbowdp.exact import ExactMechanism
from rainbowdp.existence import Existence, optimum
from rainbowdp.files import load
from rainbowdp.gaussian import GaussianDP
from rainbowdp.graph import RainbowGraph
from rainbowdp.guarantee import DP
from rainbowdp.lifted import Lifted, fixed_point, lifted
from rainbowdp.mechanism import Mechanism, dominates, relate
from rainbowdp.morphism import Morphism, boundary_morphism
from rainbowdp.node_files import read_labels, read_rainbows
from rainbowdp.optimal import optimal, optimal_line
from rainbowdp.program import Programmed, program
from rainbowdp.questions import Custom, Quantile, Threshold, Winner, refute
from rainbowdp.rainbow import Utility
from rainbowdp.release import Release, ask
from rainbowdp.sites import NearestSites, nearest_sites
from rainbowdp.tables import SQLTable
from rainbowdp.trade_off import TradeOff

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
