"""Every error that this package raises on purpose.

    RainbowError
    ├── InvalidGuarantee      a privacy parameter or trade-off curve that promises nothing
    ├── InvalidDistribution   numbers that are not probabilities of the answers
    ├── InvalidRainbow        an order that is not a permutation of the answers
    ├── InvalidGraph          edges, rainbows or labels that do not fit together
    │   └── Unreached         nodes that no site reaches
    ├── InvalidBoundary       a boundary condition that is incomplete or not private
    ├── InvalidMechanism      a mechanism that does not fit its graph
    ├── NotAMorphism          a map that separates neighbors
    ├── UnknownDataset        a dataset that is not in the graph (also a KeyError)
    │   └── NoPlace           a dataset for which a rule has no row
    ├── InvalidQuestion       a question whose answers, bins or numbers make no sense
    ├── NotApplicable         a kind of mechanism that does not exist for a question or guarantee
    │                         (also an InvalidGuarantee and an InvalidQuestion)
    ├── UnreadableTable       a table that cannot be read or lacks what a question needs
    ├── NoTable               a margin table that could not be computed
    ├── InvalidFile           a mechanism file that is damaged or fails its proof
    ├── LedgerError           a ledger that cannot be opened, read or written
    │   ├── BudgetExceeded    a question that costs more than is left
    │   │   └── LimitExceeded more than an analyst, a source or a window of time has left
    │   ├── NameTaken         a name that belongs to another question
    │   └── Unavailable       a ledger whose file or server is of no use now
    ├── ServiceError          a service that cannot be reached, or does not do what was asked
    │   └── WaitingForApproval  a question that a curator has to approve first
    └── MissingExtra          a missing library that an optional feature needs (also an ImportError)

A message names the argument or file, says what is wrong, and says how to fix it.
"""

from __future__ import annotations


class RainbowError(ValueError):
    """Base class of all errors of this package; catch this one to catch them all."""


class InvalidGuarantee(RainbowError):
    """A privacy parameter or trade-off curve is not usable."""


class InvalidDistribution(RainbowError):
    """The numbers are not a probability distribution over the answers."""


class InvalidRainbow(RainbowError):
    """A preference order is not a permutation of the answers."""


class InvalidGraph(RainbowError):
    """The edges, rainbows or labels do not make a rainbow graph."""


class Unreached(InvalidGraph):
    """No site reaches some nodes, so none is the nearest to them.

    Attributes
    ----------
    count : int
        How many nodes.
    node : str
        One of them.

    """

    def __init__(
        self, count: int, node: str, *, where: str = "", option: str = 'unreached="first"'
    ) -> None:
        nodes, them = f"{count:,} nodes, such as {node}", "them"
        if count == 1:
            nodes, them = f"the node {node}", "it"
        super().__init__(
            f"{where}no site reaches {nodes}; name a site there, or give {them} to the first site "
            f"by {option}"
        )
        self.count, self.node = count, node


class InvalidBoundary(RainbowError):
    """A boundary condition is incomplete or breaks the guarantee."""


class InvalidMechanism(RainbowError):
    """The rows do not make a mechanism on the given graph."""


class NotAMorphism(RainbowError):
    """A map between graphs sends neighbors to datasets that are not neighbors."""


class UnknownDataset(RainbowError, KeyError):
    """The dataset is not a node of the graph."""

    __str__ = Exception.__str__  # KeyError would print the repr of the message


class NoPlace(UnknownDataset):
    """The rule has no row for this dataset."""

    def __init__(self, wanted: str, place: object) -> None:
        kind = type(place).__name__  # not the place itself: it depends on the data
        super().__init__(f"a dataset must be {wanted} here, got something else of type {kind}")
        self.wanted = wanted


class InvalidQuestion(RainbowError):
    """The answers, bins or numbers of a question make no sense."""


class NotApplicable(InvalidGuarantee, InvalidQuestion):
    """The kind of mechanism does not exist for the question and guarantee."""


class UnreadableTable(RainbowError):
    """The table cannot be read, or lacks what the question needs."""


class NoTable(RainbowError):
    """The solver found no margin table that can be made private."""


class InvalidFile(RainbowError):
    """The mechanism file is damaged, or its guarantee does not hold."""


class LedgerError(RainbowError):
    """The ledger cannot be opened, read or written."""


class BudgetExceeded(LedgerError):
    """The question costs more privacy than the ledger has left."""


class LimitExceeded(BudgetExceeded):
    """The question costs more than a limit leaves to this analyst, of this source or for now."""


class NameTaken(LedgerError):
    """The name of an answer belongs to another question, guarantee or source."""


class Unavailable(LedgerError):
    """The file or server of the ledger is locked, out of reach, failing or damaged."""


class ServiceError(RainbowError):
    """The service cannot be reached, or refuses for a reason of its own.

    Attributes
    ----------
    code : str
        The service's word for what is wrong, such as ``forbidden``; ``unreachable`` if none.
    status : int or None
        The status of its reply.
    name : str or None
        If nobody knows what became of a question: ask it again by this name, and it is paid for at
        most once.

    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "unreachable",
        status: int | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code, self.status, self.name = code, status, name


class WaitingForApproval(ServiceError):
    """A curator has to approve the question before it is answered.

    Attributes
    ----------
    request : str
        What the service calls the request.

    """

    def __init__(self, message: str, *, request: str, name: str | None = None) -> None:
        super().__init__(message, code="waiting_for_approval", status=202, name=name)
        self.request = request


class MissingExtra(RainbowError, ImportError):
    """A library that this optional feature needs is not installed."""

    def __init__(self, library: str, extra: str | None = None) -> None:
        install = library if extra is None else f"'rainbowdp[{extra}]'"
        super().__init__(f"this needs {library}: pip install {install}")
