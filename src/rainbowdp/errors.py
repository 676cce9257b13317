"""Every error this package raises on purpose.

    RainbowError
    ├── InvalidGuarantee      a privacy parameter or trade-off curve that promises nothing
    ├── InvalidDistribution   numbers that are not probabilities of the answers
    ├── InvalidRainbow        an order that is not a permutation of the answers
    ├── InvalidGraph          edges, rainbows or labels that do not fit together
    ├── InvalidBoundary       a boundary condition that is missing or not private
    ├── InvalidMechanism      a mechanism that does not fit its graph
    ├── NotAMorphism          a map that tears neighbors apart
    ├── UnknownDataset        a dataset that is not in the graph (also a KeyError)
    │   └── NoPlace           a dataset that a rule has no row for
    ├── InvalidQuestion       a question whose answers, bins or numbers make no sense
    ├── NotApplicable         a kind of mechanism that this question or guarantee does not have
    │                         (also an InvalidGuarantee and an InvalidQuestion)
    ├── UnreadableTable       a table that cannot be read or lacks what a question needs
    ├── NoTable               a margin table that could not be made
    ├── InvalidFile           a mechanism file that is damaged or proves nothing
    ├── LedgerError           a ledger that cannot be opened, read or written
    │   └── BudgetExceeded    a question that costs more than is left
    └── MissingExtra          a library that an optional feature needs (also an ImportError)

A message is one sentence with the rule, the value that broke it and the remedy.
"""

from __future__ import annotations


class RainbowError(ValueError):
    """Base of all errors of this package; catch this one."""


class InvalidGuarantee(RainbowError):
    """A privacy parameter or a trade-off curve is not usable."""


class InvalidDistribution(RainbowError):
    """Numbers that are not a probability distribution over the answers."""


class InvalidRainbow(RainbowError):
    """A preference order that is not a permutation of the answers."""


class InvalidGraph(RainbowError):
    """Edges, rainbows or labels that do not make a rainbow graph."""


class InvalidBoundary(RainbowError):
    """A boundary condition that is incomplete or breaks the guarantee."""


class InvalidMechanism(RainbowError):
    """Rows that do not make a mechanism on the given graph."""


class NotAMorphism(RainbowError):
    """A map between graphs that sends neighbors to datasets that are not neighbors."""


class UnknownDataset(RainbowError, KeyError):
    """A dataset that is not a node of the graph."""

    __str__ = Exception.__str__  # KeyError would print the repr of the message


class NoPlace(UnknownDataset):
    """What a rule has no row for."""

    def __init__(self, wanted: str, place: object) -> None:
        kind = type(place).__name__  # not the place itself: it depends on the data
        super().__init__(f"a dataset must be {wanted} here, got something else of type {kind}")
        self.wanted = wanted


class InvalidQuestion(RainbowError):
    """A question whose answers, bins or numbers make no sense."""


class NotApplicable(InvalidGuarantee, InvalidQuestion):
    """A kind of mechanism that does not exist for this question and guarantee."""


class UnreadableTable(RainbowError):
    """A table that cannot be read, or lacks what a question needs."""


class NoTable(RainbowError):
    """A margin table for which the solver gave nothing that can be made private."""


class InvalidFile(RainbowError):
    """A mechanism file that is damaged, or whose guarantee does not hold."""


class LedgerError(RainbowError):
    """A ledger that cannot be opened, read or written."""


class BudgetExceeded(LedgerError):
    """A question that costs more privacy than the ledger has left."""


class MissingExtra(RainbowError, ImportError):
    """An optional library that the feature at hand needs."""

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(f"this needs {library}: pip install 'rainbowdp[{extra}]'")
