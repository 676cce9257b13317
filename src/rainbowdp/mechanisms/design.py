"""The best boundary condition, by one linear program over the boundary graph.

φ is a minimum of lines, so "s deeper is at most φ(s)" is linear in the prefix sums, and so are
the closeness of touching regions and every order-reasonable utility. The program's variables are
the prefix sums of each region at each depth; at an optimum they grow as fast as φ allows, so the
first ones are the best boundary condition (theory, Designing the boundary).

Regions that a permutation of the answers carries into each other share their variables: the
program is convex, so the average of an optimum over such symmetries is an optimum.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Floats, Label
from rainbowdp.errors import InvalidBoundary, InvalidGraph, InvalidGuarantee, RainbowError
from rainbowdp.exact.steps import in_answer_order, repaired
from rainbowdp.expecting import brief, expect, hashable, whole
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.rainbows import Utility
from rainbowdp.graphs.regions import Region
from rainbowdp.guarantees.curve import TradeOffCurve, curve_of
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.piecewise import PiecewiseLinear
from rainbowdp.guarantees.polygons import coarse_curve
from rainbowdp.mechanisms.boundary import BoundaryCondition
from rainbowdp.mechanisms.worths import AnyUtility, Forbidden, Worths, goal_of, worths_of
from rainbowdp.numeric.linear_programs import LinearProgram, Solution, Solver

LEVELS = 100  # deeper datasets count as if they were this deep
_STEEPEST = 1e15  # a ratio of neighbors, e^34.5: HiGHS takes no larger numbers
_MODERATE = 20_000  # columns of a program that ``optimal`` solves without being asked to
_LARGE = 25_000  # the same if asked to, without slacks: 150 sites, within a minute
_SHARP = 50_000  # rows up to which a solution is moved to a vertex
_MOST_SYMMETRIC = 6  # answers; 6! permutations are tried
_KEEP = 1e-7  # of the best worst case, given away so that the second program stays feasible


@dataclass(frozen=True)
class Design:
    """A designed boundary condition, exactly valid, with the proof of how good it is.

    Attributes
    ----------
    boundary
        The condition.
    value
        What the program attains: the total, or with ``worst`` the least worth on a boundary.
    bound
        What no valid homogeneous condition can exceed, proved by the dual solution.
    mixing
        The weight of the repair that made the rows exact.
    solution
        What the solver returned.

    """

    boundary: BoundaryCondition
    value: float
    bound: float
    mixing: Fraction
    solution: Solution

    @property
    def gap(self) -> float:
        """(bound − value)/max(1, |bound|), never negative."""
        return max(0.0, self.bound - self.value) / max(1.0, abs(self.bound))

    @property
    def optimal(self) -> bool:
        """Whether the gap is at most 1e-7."""
        return self.gap <= 1e-7


def design(
    graph: RainbowGraph,
    guarantee: TradeOffCurve,
    *,
    utility: AnyUtility | None = None,
    weights: Mapping[Any, float] | NDArray[Any] | None = None,
    forbid: Forbidden = (),
    worst: bool = False,
    levels: int = LEVELS,
) -> Design:
    """The best valid homogeneous boundary condition of ``graph``.

    The best *total* may sacrifice a small region to a large one that it touches; ``worst`` does
    not.

    Parameters
    ----------
    graph
        The rainbow graph.
    guarantee
        A ``DP`` or ``TradeOff``.
    utility
        What an answer is worth; by default the first choice 1 and all others 0. A ``Utility``, a
        mapping {first choice: {answer: worth}}, or an array by first choice or dataset, and answer.
        At each depth of a region the mean worth must not rise along its rainbow.
    weights
        {(region, depth): weight} for the total, or what each dataset counts, as an array or
        {dataset: weight}; by default every dataset counts once.
    forbid
        Answers that are never given: the boundary is then one of ``rb.forbid(graph, …)``.
    worst
        First maximize the least worth on any region's boundary, then the total.
    levels
        Datasets deeper than this count as this deep.

    Returns
    -------
    Design
        The condition, and how far it may be from the best.

    Raises
    ------
    InvalidGuarantee
        If the guarantee is not piecewise linear, or too steep for the solver.

    Examples
    --------
    >>> from rainbowdp import DP
    >>> graph = RainbowGraph([(0, 1)], [("yes", "no"), ("no", "yes")])
    >>> found = design(graph, DP.from_ratio(3, 1))
    >>> {answer: round(p, 6) for answer, p in found.boundary["yes", "no"].items()}
    {'yes': 0.75, 'no': 0.25}

    """
    expect(graph, RainbowGraph, "design", InvalidGraph)
    guarantee = curve_of(guarantee, "design")
    if not isinstance(guarantee, PiecewiseLinear):
        raise InvalidGuarantee(
            f"a boundary can be designed for DP and TradeOff, got {brief(guarantee, str)}; "
            "use BoundaryCondition.symmetric"
        )
    if guarantee.lines[0].slope > _STEEPEST:
        raise InvalidGuarantee(
            f"a boundary can be designed for an e^epsilon of at most {_STEEPEST:g}, got "
            f"{guarantee}; use BoundaryCondition.symmetric"
        )
    levels = whole(levels, "levels", 0, 10**9, RainbowError)
    if (
        isinstance(weights, Mapping)
        and len(weights) == len(graph)
        and all(map(_in(graph), weights))
    ):
        weights = np.array([weights[dataset] for dataset in graph.datasets], dtype=object)
    if utility is None or isinstance(utility, Utility):
        graph = goal_of(graph, None, None, forbid)[0]
    else:
        of_datasets = None if isinstance(weights, Mapping) else weights
        graph, utility = goal_of(graph, utility, of_datasets, forbid)
        weights = weights if isinstance(weights, Mapping) else None
    worths, heads = _worths_and_heads(graph, utility, weights, levels)
    program = _Program(graph, guarantee, worths, heads)
    solution, value, bound = program.solve(worst)
    rows = {label: program.row(solution, label) for label in worths}
    if not guarantee.moves:  # neighbors must answer alike, to the last digit
        rows = _alike(rows, graph.touching)
    mixed, mixing = repaired(guarantee, rows, graph.touching) if rows else ({}, Fraction(0))
    exact = {
        label: {
            answer: Fraction(weight, sum(weights_of))
            for answer, weight in zip(graph.answers, weights_of, strict=True)
        }
        for label, weights_of in mixed.items()
    }
    return Design(BoundaryCondition(graph, exact), value, bound, mixing, solution)


@dataclass(frozen=True)
class Drawn:
    """A boundary condition and how it was found, in words."""

    boundary: BoundaryCondition
    words: str


def default_boundary(
    graph: RainbowGraph,
    guarantee: TradeOffCurve,
    weights: Mapping[tuple[Label, int], float] | None = None,
) -> BoundaryCondition:
    """The boundary that ``optimal`` uses if none is given; ``worst_case_boundary`` says how."""
    return worst_case_boundary(graph, guarantee, weights).boundary


def worst_case_boundary(
    graph: RainbowGraph,
    guarantee: TradeOffCurve,
    weights: Mapping[tuple[Label, int], float] | None = None,
    *,
    asked: bool = False,
) -> Drawn:
    """The boundary designed for the first choice, worst case first, then the sum.

    It is designed with as many levels as make a program of moderate size: the worst case is on the
    boundary itself, so that fewer levels only make the sum a rough one. If it was ``asked`` for, a
    larger program of one level is solved, too, and for a Gaussian guarantee one that keeps to a
    polygon of few sides. The guarantee must otherwise be piecewise linear and within what the
    solver can resolve; if not, the boundary is symmetric.
    """
    symmetric = BoundaryCondition.symmetric(graph, guarantee)
    bounded = [r.deepest for r in graph.regions.values() if r.deepest is not None]
    if not bounded:
        return Drawn(symmetric, "none: no region touches another")
    if asked and isinstance(guarantee, GaussianDP):
        return _gaussian_boundary(graph, guarantee, symmetric)
    if not isinstance(guarantee, PiecewiseLinear):
        return Drawn(symmetric, f"symmetric: no linear program is for {guarantee}")
    levels = moderate_levels(graph)
    pure = all(line.rise == 0 for line in guarantee.lines if line.slope >= 1)  # then no slacks
    if levels is None and asked and pure and len(bounded) * len(graph.answers) <= _LARGE:
        levels = 0
    if levels is None:
        return Drawn(
            symmetric,
            f"symmetric: a program for {len(graph.touching):,} touching pairs and "
            f"{len(graph.answers):,} answers would be too large",
        )
    try:
        found = design(graph, guarantee, weights=weights, worst=True, levels=levels)
    except (InvalidBoundary, InvalidGuarantee):
        return Drawn(symmetric, f"symmetric: the solver cannot resolve {guarantee}")
    some = "boundary alone" if levels == 0 else f"first {levels + 1} depths"
    short = "" if levels == LEVELS else f", the sum by the {some}"
    return Drawn(found.boundary, f"designed, the worst case first{short}")


def _gaussian_boundary(
    graph: RainbowGraph, guarantee: GaussianDP, symmetric: BoundaryCondition
) -> Drawn:
    """The better of the symmetric boundary and one designed for a stricter polygon."""
    polygon = coarse_curve(guarantee)
    sides = sum(line.slope >= 1 for line in polygon.lines)
    columns = (len(graph.regions) + 2 * len(graph.touching) * sides) * len(graph.answers)
    if columns > _LARGE:
        return Drawn(symmetric, f"symmetric: a program for {guarantee} would be too large here")
    try:
        found = design(graph, polygon, worst=True, levels=0).boundary
    except (InvalidBoundary, InvalidGuarantee):
        return Drawn(symmetric, f"symmetric: the solver cannot resolve {guarantee}")
    least = [min(row[0] for row in each.exact_rows.values()) for each in (symmetric, found)]
    if least[0] >= least[1]:
        return Drawn(symmetric, f"symmetric, no worse than one designed for {guarantee}")
    return Drawn(found, f"designed, the worst case first, by a polygon within {guarantee}")


def moderate_levels(graph: RainbowGraph, most: int = _MODERATE) -> int | None:
    """With how many levels a program has at most so many columns; none if even one has more."""
    bounded = [r.deepest for r in graph.regions.values() if r.deepest is not None]
    pairs = len(graph.touching)
    for levels in (LEVELS, 50, 20, 10, 5, 2, 1, 0):
        columns = sum(min(deepest, levels) + 1 for deepest in bounded)
        if (columns + pairs) * len(graph.answers) <= most:
            return levels
    return None


def _in(graph: RainbowGraph) -> Callable[[Any], bool]:
    return lambda dataset: dataset in graph


def _worths_and_heads(
    graph: RainbowGraph,
    utility: AnyUtility | None,
    weights: Mapping[Any, float] | NDArray[Any] | None,
    levels: int,
) -> tuple[dict[Label, Floats], dict[Label, Floats]]:
    """The worth of each choice by region and depth, and its mean on the boundary."""
    usual = utility is None or isinstance(utility, Utility)
    if usual and (weights is None or isinstance(weights, Mapping)):
        first = (1.0, *[0.0] * (len(graph.answers) - 1))
        chosen = utility if isinstance(utility, Utility) else Utility(places=first)
        worths = _worths(graph, chosen, weights, levels)
        weighted = weights is not None
        return worths, {label: _head(graph.regions[label], chosen, weighted) for label in worths}
    if isinstance(weights, Mapping):
        raise RainbowError(
            "weights by region and depth go with a Utility; give what each dataset counts instead"
        )
    return _summed(graph, worths_of(graph, utility, weights), levels)


def _summed(
    graph: RainbowGraph, valued: Worths, levels: int
) -> tuple[dict[Label, Floats], dict[Label, Floats]]:
    """The same for worths of each dataset, which are summed up by region and depth."""
    bounded = np.flatnonzero(np.isfinite(graph.depths))
    depths = np.minimum(graph.depths[bounded], levels).astype(np.int64)
    width = int(depths.max(initial=0)) + 1
    cells = graph.region_numbers[bounded].astype(np.int64) * width + depths
    size, index = len(graph.regions) * width, valued.index[bounded]
    counts = None if valued.weights is None else valued.weights[bounded]
    table = np.empty((size, len(graph.answers)))
    for place, column in enumerate(valued.table.T):
        worth = column[index] if counts is None else column[index] * counts
        table[:, place] = np.bincount(cells, worth, size)
    tables = table.reshape(len(graph.regions), width, -1)
    place_of = {answer: number for number, answer in enumerate(graph.answers)}
    shares = np.bincount(cells, counts, size).reshape(-1, width)
    worths, heads = {}, {}
    for number, region in enumerate(graph.regions.values()):
        if region.deepest is None:
            continue
        columns = [place_of[answer] for answer in region.rainbow]
        rows = tables[number, : min(region.deepest, levels) + 1][:, columns]
        if (np.diff(rows, axis=1) > 1e-12 * np.abs(rows).max(initial=0.0)).any():
            raise RainbowError(
                f"the mean worth must never rise along a rainbow, but does in the region of "
                f"{region.name}; use rb.best or rb.program, or order the rainbows by rb.prefer"
            )
        worths[region.label] = rows
        heads[region.label] = rows[0] / max(shares[number, 0], 1e-300)
    return worths, heads


def _worths(
    graph: RainbowGraph,
    utility: Utility,
    weights: Mapping[tuple[Label, int], float] | None,
    levels: int,
) -> dict[Label, Floats]:
    """For each region with a boundary the worth of each choice, by depth."""
    found: dict[Label, Floats] = {}
    depths, numbers = graph.depths, graph.region_numbers
    counts = _by_depth(graph, levels)
    for key in weights or ():
        _must_be_a_place(graph, key)
    for number, region in enumerate(graph.regions.values()):
        if region.deepest is None:
            continue
        table = np.zeros((min(region.deepest, levels) + 1, len(graph.answers)))
        if weights is not None:
            for depth in range(region.deepest + 1):
                weight = float(weights.get((region.label, depth), 0.0))
                if not (np.isfinite(weight) and weight >= 0):
                    raise RainbowError(f"weights must be finite and at least 0, got {weight}")
                worth = utility.worths((region.label, depth), region.rainbow)
                table[min(depth, levels)] += weight * np.asarray(worth)
        elif utility.places is not None:  # the same for all datasets, so counting them is enough
            table += np.outer(counts[number, : len(table)], utility.worths(None, region.rainbow))
        else:
            for place in np.flatnonzero((numbers == number) & np.isfinite(depths)):
                worth = utility.worths(graph.datasets[int(place)], region.rainbow)
                table[min(int(depths[place]), levels)] += np.asarray(worth)
        found[region.label] = table
    largest = max((np.abs(table).max() for table in found.values()), default=0.0)
    if largest > 1e15:
        raise RainbowError(f"worths must not exceed 1e15 in total, got {largest:.3g}; scale them")
    return found


def _must_be_a_place(graph: RainbowGraph, key: Any) -> None:
    label, depth = key if isinstance(key, tuple) and len(key) == 2 else (None, None)
    region = graph.regions.get(label) if hashable(label) else None
    if (
        region is None
        or not isinstance(depth, int | np.integer)
        or not 0 <= depth <= (region.deepest or 0)
    ):
        raise RainbowError(
            f"weights must have keys (region, depth) that the graph has, got {brief(key)}"
        )


def _by_depth(graph: RainbowGraph, levels: int) -> NDArray[np.int64]:
    """How many datasets each region has at each depth; those past ``levels`` count there."""
    bounded = np.isfinite(graph.depths)
    depths = np.minimum(graph.depths[bounded], levels).astype(np.int64)
    width = int(depths.max(initial=0)) + 1
    places = graph.region_numbers[bounded].astype(np.int64) * width + depths
    size = len(graph.regions) * width
    return np.bincount(places, minlength=size).reshape(-1, width)


def _head(region: Region, utility: Utility, weighted: bool) -> Floats:
    """The mean worth of each choice on the boundary, whatever it weighs."""
    alike = weighted or utility.places is not None
    boundary = [(region.label, 0)] if alike else region.boundary
    worths = np.array([utility.worths(dataset, region.rainbow) for dataset in boundary])
    mean: Floats = worths.mean(axis=0)
    return mean


def _alike(
    rows: Mapping[Label, tuple[Fraction, ...]], touching: Sequence[tuple[Label, Label]]
) -> dict[Label, tuple[Fraction, ...]]:
    """One row, the average, for all regions that are connected by touching ones."""
    home = {label: {label} for label in rows}
    for first, second in touching:
        joined = home[first] | home[second]
        home.update(dict.fromkeys(joined, joined))
    return {
        label: tuple(sum(column, Fraction(0)) / len(group) for column in zip(*members, strict=True))
        for label, group in home.items()
        if (members := [rows[other] for other in group])
    }


class _Program:
    """Columns: s_k at each level for each orbit of regions, then slacks of touching pairs."""

    def __init__(
        self,
        graph: RainbowGraph,
        guarantee: PiecewiseLinear,
        worths: Mapping[Label, Floats],
        heads: Mapping[Label, Floats],
    ) -> None:
        self.graph, self.worths, self.heads = graph, worths, heads
        self.inner = len(graph.answers) - 1
        self.orbit = _orbits(graph, worths)
        self.levels = {
            orbit: max(len(worths[label]) for label in worths if self.orbit[label] == orbit)
            for orbit in set(self.orbit.values())
        }
        self.start: dict[int, int] = {}
        self.columns = 0
        for orbit, depth in sorted(self.levels.items()):
            self.start[orbit] = self.columns
            self.columns += depth * self.inner
        self._rows: list[tuple[dict[int, float], float]] = []  # Σ coefficients·x ≤ bound
        self._growth(guarantee)
        self._touching(guarantee)

    def column(self, orbit: int, level: int, k: int) -> int:
        """The column of the prefix sum of the first ``k`` answers, 1 ≤ k < q."""
        return self.start[orbit] + level * self.inner + k - 1

    def mass(self, orbit: int, level: int, place: int) -> tuple[dict[int, float], float]:
        """The probability of the answer at ``place`` of the rainbow as a linear form."""
        form: dict[int, float] = {}
        if place < self.inner:
            form[self.column(orbit, level, place + 1)] = 1.0
        if place > 0:
            form[self.column(orbit, level, place)] = -1.0
        return form, 1.0 if place == self.inner else 0.0

    def _growth(self, guarantee: PiecewiseLinear) -> None:
        for orbit, depth in self.levels.items():
            for level, k in itertools.product(range(depth), range(1, self.inner + 1)):
                here = self.column(orbit, level, k)
                if k < self.inner:
                    self._rows.append(({here: 1.0, here + 1: -1.0}, 0.0))
                if level + 1 < depth:
                    there = self.column(orbit, level + 1, k)
                    for line in guarantee.lines:
                        if line.slope > 0:
                            self._rows.append(({there: 1.0, here: -line.slope}, line.rise))

    def _touching(self, guarantee: PiecewiseLinear) -> None:
        steep = [line for line in guarantee.lines if line.slope >= 1]
        seen: set[Any] = set()
        regions = self.graph.regions
        for pair in self.graph.touching:
            for more, less in (pair, pair[::-1]):
                places = _places(regions[more], regions[less])
                key = (self.orbit[more], self.orbit[less], places)
                if key in seen:
                    continue
                seen.add(key)
                for line in steep:
                    self._close(key, line.slope, line.rise)

    def _close(
        self, key: tuple[int, int, Sequence[tuple[int, int]]], slope: float, rise: float
    ) -> None:
        more, less, places = key
        total: dict[int, float] = {}
        for mine, theirs in places:
            form, constant = self.mass(more, 0, mine)
            other, shift = self.mass(less, 0, theirs)
            for column, factor in other.items():
                form[column] = form.get(column, 0.0) - slope * factor
            if rise > 0:
                form[self.columns] = -1.0
                total[self.columns] = 1.0
                self.columns += 1
            self._rows.append((form, slope * shift - constant))
        if rise > 0:
            self._rows.append((total, rise))

    def objective(self) -> tuple[Floats, float]:
        """Σ worth·probability as coefficients and a constant."""
        gain, constant = np.zeros(self.columns), 0.0
        for label, table in self.worths.items():
            for level, worth in enumerate(table):
                for place, value in enumerate(worth):
                    form, fixed = self.mass(self.orbit[label], level, place)
                    constant += value * fixed
                    for column, factor in form.items():
                        gain[column] += value * factor
        return gain, constant

    def solve(self, worst: bool) -> tuple[Solution, float, float]:
        """(solution, value, bound) for the best total, or the best worst case, then the total."""
        gain, constant = self.objective()
        if not worst or not self.worths:
            found = self._maximize(gain)
            return found, found.objective + constant, found.bound + constant
        shares = [self._share(label) for label in self.worths]
        largest = 1.0 + max(float(np.abs(table).max()) for table in self.worths.values())
        level, self.columns = self.columns, self.columns + 1
        for form, fixed in shares:
            self._rows.append(({level: 1.0, **{c: -f for c, f in form.items()}}, fixed))
        aim = np.zeros(self.columns)
        aim[level] = 1.0
        best = self._maximize(aim, free=(level, largest))
        kept = best.objective - _KEEP * max(1.0, abs(best.objective))
        self._rows.append(({level: -1.0}, -kept))
        second = self._maximize(np.append(gain, 0.0), free=(level, largest))
        return second, best.objective, best.bound

    def _share(self, label: Label) -> tuple[dict[int, float], float]:
        """The mean worth on the boundary of a region, as a linear form."""
        form: dict[int, float] = {}
        constant = 0.0
        for place, value in enumerate(self.heads[label]):
            part, fixed = self.mass(self.orbit[label], 0, place)
            constant += value * fixed
            for column, factor in part.items():
                form[column] = form.get(column, 0.0) + value * factor
        return form, constant

    def _maximize(self, gain: Floats, free: tuple[int, float] | None = None) -> Solution:
        from scipy import sparse

        if not self.columns:  # no region touches another, or there is one answer
            return Solution("optimal", gain, np.zeros(len(self._rows)), 0.0, 0.0, "Empty", 0.0)
        counts = [len(form) for form, _ in self._rows]
        columns = np.array([c for form, _ in self._rows for c in form], dtype=np.int64)
        values = np.array([v for form, _ in self._rows for v in form.values()])
        rows = np.repeat(np.arange(len(counts)), counts)
        matrix = sparse.csr_array((values, (rows, columns)), shape=(len(counts), self.columns))
        upper = np.array([bound for _, bound in self._rows])
        low, high = np.zeros(self.columns), np.ones(self.columns)
        if free is not None:
            column, size = free
            low[column], high[column] = -size, size
        program = LinearProgram(matrix, np.full(len(upper), -np.inf), upper, low, high)
        found = Solver(program, crossover=len(upper) <= _SHARP).maximize(gain)
        if not found.values.size:
            raise RainbowError(f"the boundary program must have a solution, got {found.message}")
        return found

    def row(self, solution: Solution, label: Label) -> tuple[Fraction, ...]:
        """The region's boundary row in the order of the graph's answers, cleaned of noise."""
        orbit = self.orbit[label]
        inner = [solution.values[self.column(orbit, 0, k)] for k in range(1, self.inner + 1)]
        sums = np.maximum.accumulate(np.clip([0.0, *inner, 1.0], 0.0, 1.0))
        row = [Fraction(float(p)) for p in np.diff(sums)]
        total = sum(row, Fraction(0))
        rainbow = self.graph.regions[label].rainbow
        ordered: tuple[Fraction, ...] = in_answer_order(
            [p / total for p in row], rainbow, self.graph.answers
        )
        return ordered


def _places(more: Region, less: Region) -> tuple[tuple[int, int], ...]:
    """For each answer its place in both rainbows."""
    where = {answer: place for place, answer in enumerate(less.rainbow)}
    return tuple((place, where[answer]) for place, answer in enumerate(more.rainbow))


def _orbits(graph: RainbowGraph, worths: Mapping[Label, Floats]) -> dict[Label, int]:
    """A number for each region, equal if a symmetry carries one region into the other."""
    labels = list(worths)
    number = {label: place for place, label in enumerate(labels)}
    rainbows = {graph.regions[label].rainbow: label for label in labels}
    if len(rainbows) < len(labels) or len(graph.answers) > _MOST_SYMMETRIC:
        return number
    touching = {frozenset(pair) for pair in graph.touching}
    for order in itertools.permutations(graph.answers):
        move = dict(zip(graph.answers, order, strict=True))
        image = {
            label: rainbows.get(tuple(move[a] for a in graph.regions[label].rainbow))
            for label in labels
        }
        if None in image.values() or any(
            frozenset(image[label] for label in pair) not in touching for pair in touching
        ):
            continue
        if all(
            worths[label].shape == worths[image[label]].shape
            and np.allclose(worths[label], worths[image[label]], rtol=1e-12)
            for label in labels
        ):
            for label in labels:
                merged = sorted((number[label], number[image[label]]))
                for other in labels:
                    if number[other] == merged[1]:
                        number[other] = merged[0]
    return number
