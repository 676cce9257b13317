"""A device that reports again: the same answer for the same place.

Drawn afresh, m reports from one place cost m times the guarantee: the answers average out the
noise. A device that remembers its first answer for a place and repeats it costs what one report
costs, however often it is asked, and k places cost what k reports cost. What remembering does
**not** hide is moving: a place keeps its answer, so that two different answers come from two
different places, with certainty. The promise is about *where* each place is, not about when the
device was at one of them or at another.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from rainbowdp.aliases import Answer
from rainbowdp.errors import InvalidFile, RainbowError
from rainbowdp.exact.mechanism import ExactMechanism, Releasable
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.storage.documents import checksum
from rainbowdp.storage.whole_file import whole_file

_FORMAT, _VERSION = "rainbowdp memory", 1


class Memory:
    """What one device has answered: always the same answer for the same place.

    A new answer is written to the file before it is returned, so that none is lost and drawn again.
    The file is as secret as the places in it: keep it on the device.

    Parameters
    ----------
    mechanism
        What answers are drawn from: a mechanism file on a phone, or a mechanism on a graph.
    path
        Where answers are kept; by default in this process only. An existing file is read.

    Raises
    ------
    InvalidFile
        If the file cannot be read or written, or belongs to another mechanism.

    Examples
    --------
    >>> from rainbowdp import DP, RainbowGraph, optimal
    >>> graph = RainbowGraph([(0, 1), (1, 2)], [("a", "b"), ("a", "b"), ("b", "a")])
    >>> phone = Memory(optimal(graph, DP(1)))
    >>> len({phone.report(0) for hour in range(24)}), phone.places
    (1, 1)
    >>> print(phone.cost)
    1 place remembered costs 1-DP however often it is reported; 24 fresh reports would cost 24-DP

    """

    def __init__(self, mechanism: Releasable, path: str | PathLike[str] | None = None) -> None:
        self.exact: ExactMechanism = mechanism.exact()
        self._draw = mechanism
        self._path = None if path is None else Path(path)
        self._sum = checksum(self.exact.describe())
        self._answers: dict[str, int] = {}
        self.reports = 0
        if self._path is not None and self._path.exists():
            self._read(self._path)

    def __repr__(self) -> str:
        return f"Memory({self.places} places, {self.exact.guarantee})"

    @property
    def places(self) -> int:
        """How many places have an answer."""
        return len(self._answers)

    def report(self, place: Any) -> Answer:
        """The answer for ``place``: drawn the first time, the same one from then on.

        Parameters
        ----------
        place
            What the mechanism takes: a node, or a key such as the margins of a place.

        Returns
        -------
        object
            One of the answers.

        """
        key = _text(place)
        answers = self.exact.answers
        if key not in self._answers:
            drawn = answers.index(self._draw.release(place))
            self._write({**self._answers, key: drawn})
            self._answers[key] = drawn
        self.reports += 1
        return answers[self._answers[key]]

    @property
    def cost(self) -> str:
        """What was spent, and what as many fresh reports would have cost, in a sentence."""
        guarantee, noun = self.exact.guarantee, "place" if self.places == 1 else "places"
        spent = repeated(guarantee, self.places)
        told = f"{self.places} {noun} remembered {'costs' if self.places == 1 else 'cost'} {spent}"
        told += " however often it is reported" if self.places == 1 else " however often reported"
        return (
            f"{told}; {self.reports} fresh reports would cost {repeated(guarantee, self.reports)}"
        )

    def _write(self, answers: Mapping[str, int]) -> None:
        if self._path is None:
            return
        content = {
            "format": _FORMAT,
            "version": _VERSION,
            "mechanism": self._sum,
            "answers": dict(answers),
        }
        with whole_file(self._path, "the memory", InvalidFile) as draft:
            draft.write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")
            draft.chmod(0o600)

    def _read(self, path: Path) -> None:
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise InvalidFile(f"cannot read the memory {path}: {error.strerror}") from error
        except ValueError as error:
            raise InvalidFile(f"the memory {path} is not JSON: {error}") from error
        if (
            not isinstance(content, dict)
            or (content.get("format"), content.get("version")) != (_FORMAT, _VERSION)
            or not isinstance(content.get("answers"), dict)
        ):
            raise InvalidFile(f"{path} is not a memory of this release")
        if content.get("mechanism") != self._sum:
            raise InvalidFile(
                f"the memory {path} belongs to another mechanism; a new one is a new promise, so "
                "begin a new memory for it"
            )
        known, size = content["answers"], len(self.exact.answers)
        if not all(type(n) is int and 0 <= n < size for n in known.values()):
            raise InvalidFile(f"the memory {path} has an answer that the mechanism does not have")
        self._answers = known


def repeated(guarantee: Any, times: int) -> str:
    """What ``times`` independent answers cost together, in words."""
    if isinstance(guarantee, DP):
        epsilon, delta = times * guarantee.epsilon, times * guarantee.delta
        return f"({epsilon:g}, {delta:g})-DP" if delta else f"{epsilon:g}-DP"
    if isinstance(guarantee, GaussianDP):
        return f"{math.sqrt(times) * float(guarantee.mu):g}-Gaussian DP"
    return f"{times} times {guarantee}"


def _text(place: Any) -> str:
    """A place as a text that is the same for the same place."""
    try:
        if isinstance(place, Mapping):
            return json.dumps({str(key): place[key] for key in sorted(place, key=str)})
        return json.dumps(place)
    except TypeError:
        raise RainbowError(
            f"a remembered place must be a number, a text, or a mapping or list of them, got "
            f"{type(place).__name__}"
        ) from None
