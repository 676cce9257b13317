"""The question of a file: what one change is, and how far each answer is from true.

The *margin* of an answer is how many changes of the table make it the true one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate

from .document import fraction, keys, small
from .errors import Refused

ON_A_GRAPH = "joined by an edge"
_AT_A_DISTANCE = "at a distance of "
_SHARED = ("kind", "column", "apply", "where", "neighbors", "person", "rows_per_person")
_OWN = {
    "winner": ("answers", "other", "missing", "ties", "weight"),
    "threshold": ("answers", "at_least", "equals", "minimum", "maximum", "weight"),
    "share": ("answers", "at_least", "equals", "minimum", "maximum", "weight"),
    "quantile": ("q", "bins", "closed_ends", "weight"),
    "quantiles": ("qs", "bins", "closed_ends", "weight"),
    "ranking": ("among", "first", "in_order", "other", "missing", "weight"),
    "custom": ("name", "groups", "answers"),
    "count": ("at_most", "equals", "minimum", "maximum"),
}


class Question:
    """A described question, as far as privacy depends on it."""

    def __init__(self, content: object, answers: Sequence[object]) -> None:
        kind = content.get("kind") if isinstance(content, dict) else None
        if kind not in _OWN:
            raise Refused(f"a question must be one of {', '.join(_OWN)}, got another kind")
        wanted = (*_SHARED, "person_rule", *_OWN[kind])
        self.content = keys(content, f"a question of kind {kind}", *wanted)
        self.kind = str(kind)
        self.answers = tuple(answers)
        self.neighbors = self.content["neighbors"]
        if self.neighbors not in ("substituted", "added or removed"):
            raise Refused("neighbors must be 'substituted' or 'added or removed'")
        if self.content["person_rule"] not in ("sample", "one vote"):
            raise Refused("person_rule must be 'sample' or 'one vote'")
        self.limit = small(self.content["rows_per_person"], "rows_per_person", 1)
        self.scale = 1
        if self.content.get("weight") is not None:
            given = keys(self.content["weight"], "a weight", "column", "limit", "places")
            self.scale = 10 ** small(given["places"], "places")
            units = fraction(given["limit"], "limit") * self.scale
            if units.denominator != 1 or not 0 < units < 1 << 53 or self.scale > 10**6:
                raise Refused("the limit of a weight must be a whole number of units")
            self.limit *= int(units)
        if kind != "count":
            self._must_have(answers)

    def _must_have(self, answers: Sequence[object]) -> None:
        """The answers of the file are those of the question."""
        given = self.content.get("answers")
        if given is not None and given != list(answers):
            raise Refused("the answers of a file must be those of its question, got others")
        if not all(type(answer) is str for answer in answers):
            raise Refused("the answers of a question must be texts")
        bins = self.content.get("bins")
        if self.kind == "quantile" and (not isinstance(bins, list) or len(bins) != len(answers)):
            raise Refused("a quantile must have a bin for each answer")
        if self.kind in ("threshold", "share") and len(answers) != 2:
            raise Refused("a threshold or a share must have two answers")

    @property
    def substituted(self) -> bool:
        """Whether a record is replaced; else it comes or goes."""
        return self.neighbors == "substituted"

    @property
    def ties(self) -> str:
        """Who is right in a tie of a vote."""
        ties = self.content.get("ties")
        if ties not in ("first listed", "any leader"):
            raise Refused("ties must be 'first listed' or 'any leader'")
        return str(ties)

    @property
    def groups(self) -> tuple[str, ...]:
        """What is counted."""
        if self.kind == "threshold":
            return ("matching",)
        if self.kind == "share":
            return ("matching", "others")
        if self.kind == "ranking":
            among = self.content["among"]
            if not isinstance(among, list) or not all(type(one) is str for one in among):
                raise Refused("what is ranked must be a list of texts")
            return tuple(among)
        if self.kind in ("winner", "quantile"):
            return tuple(str(answer) for answer in self.answers)
        raise Refused(
            f"the counts of a {self.kind} question are not understood here; give the margins of "
            "its answers instead"
        )

    def counted(self, counts: object) -> list[int]:
        """A count for each group; one that is left out has none, and there are no others."""
        groups = self.groups
        if not isinstance(counts, Mapping) or set(counts) - set(groups):
            raise Refused(f"counts must be of {', '.join(groups)}")
        found = [counts.get(group, 0) for group in groups]
        if any(type(count) is not int or count < 0 for count in found):
            raise Refused("counts must be whole numbers from 0")
        return found

    def standing(self, counts: object) -> tuple[list[int], list[int]]:
        """The answers of a vote from the leader on, and the gaps of the others.

        Where ties go to the first listed, those listed before the leader are one record nearer.
        """
        held = self.counted(counts)
        most, size = max(held), len(held)
        leader = held.index(most)
        if self.ties == "first listed":
            order = [(leader + j) % size for j in range(size)]
            return order, [most - held[v] - (v < leader) for v in order[1:]]
        order = [leader, *(v for v in range(size) if v != leader)]
        return order, [most - held[v] for v in order[1:]]

    def margins(self, counts: Mapping[str, int]) -> list[int]:
        """The margin of each answer: steps of one record, divided by what one change may move."""
        held = self.counted(counts)
        if self.kind == "winner" or (self.kind == "ranking" and self.content["first"] == 1):
            steps = _of_a_vote(held, self.substituted)
        elif self.kind == "threshold":
            steps = self._of_a_threshold(held[0])
        elif self.kind == "share":
            steps = self._of_a_share(*held)
        elif self.kind == "quantile":
            q = fraction(self.content["q"], "q")
            steps = _of_a_quantile(q, held, self.substituted)
        else:
            raise Refused(
                f"the margins of a {self.kind} question are not worked out here; give them instead"
            )
        return [-(-step // self.limit) for step in steps]

    def _of_a_threshold(self, found: int) -> list[int]:
        least = self.content["at_least"]
        wanted = Fraction(least) if type(least) is int else fraction(least, "at_least")
        missing = wanted * self.scale - found
        if missing.denominator != 1:
            raise Refused("a threshold must be a whole number of units")
        return [max(0, int(missing)), max(0, 1 - int(missing))]

    def _of_a_share(self, found: int, others: int) -> list[int]:
        share = fraction(self.content["at_least"], "at_least")
        a, b = share.numerator, share.denominator
        if not 0 < a < b:
            raise Refused("a share must be between 0 and 1")
        step = b if self.substituted else max(a, b - a)
        over = (b - a) * found - a * others  # one change moves it by a step at most
        return [0, over // step + 1] if over >= 0 else [-(over // step), 0]


def _of_a_vote(counts: Sequence[int], substituted: bool) -> list[int]:
    """The least number of records that make each answer the winner, ties to the first listed."""
    most = max(counts)
    winner = list(counts).index(most)
    return [0 if v == winner else _to_win(counts, v, most, substituted) for v in range(len(counts))]


def _to_win(counts: Sequence[int], v: int, most: int, substituted: bool) -> int:
    own = counts[v]
    rivals = [count + (i < v) for i, count in enumerate(counts) if i != v]  # to be reached

    def enough(final: int) -> bool:  # t = final − own records substituted
        return sum([rival - final for rival in rivals if rival > final]) <= final - own

    if substituted:
        low, high = own, most + 1  # at most + 1 nobody is above
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high - own
    first = own if v == 0 else max(own, 1)  # no rival can have less than none
    finals = {first, *(rival for rival in rivals if rival > first)}
    return min(
        final - own + sum([rival - final for rival in rivals if rival > final]) for final in finals
    )


def _of_a_quantile(q: Fraction, counts: Sequence[int], substituted: bool) -> list[int]:
    """The least number of records that make each bin hold the record of rank ⌈q·n⌉."""
    if not 0 < q < 1:
        raise Refused("the q of a quantile must be between 0 and 1")
    total, p, d = sum(counts), q.numerator, q.denominator
    if total == 0:
        return [min(bin_, 1) for bin_ in range(len(counts))]
    rank, found = -(-p * total // d), []
    strong = max(p, d - p)  # what the more useful kind of change moves
    for own, upto in zip(counts, accumulate(counts), strict=True):
        left, first = upto - own, int(own == 0)
        if left < rank <= upto:
            found.append(0)
        elif substituted:
            found.append(rank - upto if upto < rank else left - rank + 1)
        elif upto < rank:
            gap = p * (total - upto) - (d - p) * (upto + first)
            found.append(first + -(-max(0, gap) // strong))
        else:
            gap = (d - p) * left - p * (own + first + total - upto)
            found.append(first + max(0, gap // strong + 1))
    if not substituted:
        found[0] = min(found[0], total)  # an empty table answers with the first bin
    return found


def is_on_a_graph(neighbors: object) -> bool:
    """Whether these words say what neighbors are on a graph: by its edges, or by their lengths."""
    if not isinstance(neighbors, str):
        return False
    far = neighbors.startswith(_AT_A_DISTANCE) and len(neighbors) > len(_AT_A_DISTANCE)
    return neighbors == ON_A_GRAPH or far
