"""Slow, independent references: mpmath at 450 digits, brute force over sets, linear programs.

Nothing here imports the code under test.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import mpmath as mp
import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

DIGITS = 450
_ITERATE_UP_TO = 300


def number(x: Fraction | float | int) -> mp.mpf:
    fraction = Fraction(x)
    return mp.mpf(fraction.numerator) / fraction.denominator


def phi(s: mp.mpf, e: mp.mpf, delta: mp.mpf) -> mp.mpf:
    """The corrected operator on one prefix sum, straight from its definition."""
    return min(mp.mpf(1), e * s + delta, 1 - (1 - s - delta) / e)


def phi_many(s: mp.mpf, e: mp.mpf, delta: mp.mpf, depth: int) -> mp.mpf:
    """φ iterated; past 300 steps by bisection for the turning point between closed forms."""
    if depth <= _ITERATE_UP_TO or e == 1:
        for _ in range(min(depth, _ITERATE_UP_TO)):
            s = phi(s, e, delta)
        return min(mp.mpf(1), s + (depth - min(depth, _ITERATE_UP_TO)) * delta)
    rho = delta / (e - 1)
    theta = (1 - delta) / (e + 1)

    def low(t: int) -> mp.mpf:
        return e**t * (s + rho) - rho

    if low(depth - 1) <= theta:
        return low(depth)
    first, last = 0, depth - 1  # the turning point is the first t with low(t) > theta
    while first < last:
        middle = (first + last) // 2
        first, last = (first, middle) if low(middle) > theta else (middle + 1, last)
    tail = 1 - low(first)
    return 1 - max(mp.mpf(0), e ** -(depth - first) * (tail + rho) - rho)


def best_row(
    row: Sequence[Fraction],
    epsilon: Fraction | None,
    ratio: Fraction | None,
    delta: Fraction,
    depth: int,
) -> list[mp.mpf]:
    """The optimal row at ``depth`` with about 450 digits, from epsilon or from ratio."""
    with mp.workdps(DIGITS):
        e = mp.exp(number(epsilon or 0)) if ratio is None else number(ratio)
        total = sum(row)
        sums = [number(s / total) for s in itertools.accumulate(row)]
        grown = [phi_many(s, e, number(delta), depth) for s in sums]
        return [b - a for a, b in itertools.pairwise([mp.mpf(0), *grown])]


def worst_set(
    p: Sequence[Fraction], q: Sequence[Fraction], e: Fraction, delta: Fraction
) -> Fraction:
    """max over all 2^q sets and both directions of P(S) − e·Q(S) − δ, never below zero."""
    places = range(len(p))
    sets = itertools.chain.from_iterable(
        itertools.combinations(places, k) for k in range(len(p) + 1)
    )
    worst = Fraction(0)
    for chosen in sets:
        a, b = sum(p[i] for i in chosen), sum(q[i] for i in chosen)
        worst = max(worst, a - e * b - delta, b - e * a - delta)
    return worst


Point = tuple[Fraction, Fraction]


def polygon_lines(knots: Sequence[Point]) -> list[Point]:
    """The lines (slope, rise) of φ = 1 − f for a curve f given by its knots."""
    lines = []
    for (x0, y0), (x1, y1) in itertools.pairwise(knots):
        slope = (y0 - y1) / (x1 - x0)
        lines.append((slope, 1 - y0 - slope * x0))
    return lines


def worst_by_lines(
    p: Sequence[Fraction], q: Sequence[Fraction], lines: Sequence[Point]
) -> Fraction:
    """max over all sets S and both directions of P(S) − φ(Q(S)), φ the least of its lines."""
    worst = Fraction(0)
    for chosen in itertools.product((0, 1), repeat=len(p)):
        a = sum(x for x, taken in zip(p, chosen, strict=True) if taken)
        b = sum(x for x, taken in zip(q, chosen, strict=True) if taken)
        for slope, rise in lines:
            worst = max(worst, a - slope * b - rise, b - slope * a - rise)
    return worst


def largest_prefix_sums(
    edges: Sequence[tuple[int, int]],
    orders: Sequence[Sequence[int]],
    fixed: Mapping[int, Sequence[Fraction]],
    lines: Sequence[Point],
    *,
    in_turn: bool = False,
) -> dict[tuple[int, int], float]:
    """For each free node and number of its preferred answers: the most that any private
    mechanism with the ``fixed`` rows can give them; ``in_turn``, any that gives fewer of them
    there as much as can be.

    A linear program over all mechanisms: p_d(v) for each node and answer, and for each directed
    edge and line slacks z_v ≥ p_d(v) − slope·p_e(v), z ≥ 0, that sum to at most the line's rise.
    A line of slope below one is the mirror image of one above and adds nothing.
    """
    nodes, answers = len(orders), len(orders[0])
    directed = {pair for a, b in edges for pair in ((a, b), (b, a)) if a != b}
    steep = [(slope, rise) for slope, rise in lines if slope >= 1]
    demands = [(a, b, slope, rise) for a, b in sorted(directed) for slope, rise in steep]
    own = nodes * answers
    width = own + len(demands) * answers
    above = np.zeros((len(demands) * (answers + 1), width))
    most = np.zeros(len(above))
    for number, (a, b, slope, rise) in enumerate(demands):
        slack, line = own + number * answers, number * (answers + 1)
        for v in range(answers):
            above[line + v, a * answers + v] = 1.0
            above[line + v, b * answers + v] = -float(slope)
            above[line + v, slack + v] = -1.0
        above[line + answers, slack : slack + answers] = 1.0
        most[line + answers] = float(rise)
    whole = np.zeros((nodes, width))
    limits = [(0.0, 1.0)] * width
    for node in range(nodes):
        whole[node, node * answers : (node + 1) * answers] = 1.0
        for v, value in enumerate(fixed.get(node, ())):
            limits[node * answers + v] = (float(value), float(value))
    best: dict[tuple[int, int], float] = {}
    for node in set(range(nodes)) - set(fixed):
        wish = np.zeros(width)
        kept, least = above, most
        for count, v in enumerate(orders[node][:-1], start=1):
            wish[node * answers + v] = -1.0
            answer = linprog(
                wish,
                A_ub=kept,
                b_ub=least,
                A_eq=whole,
                b_eq=np.ones(nodes),
                bounds=limits,
                method="highs",
                options={
                    "primal_feasibility_tolerance": 1e-10,
                    "dual_feasibility_tolerance": 1e-10,
                },
            )
            if not answer.success or answer.fun is None:
                raise AssertionError(answer.message)
            best[node, count] = -float(answer.fun)
            if in_turn:
                kept = np.concatenate([kept, wish[None]])
                least = np.append(least, answer.fun + 1e-11)
    return best


def assert_one_sentence(error: BaseException, *said: object) -> None:
    """A message is one sentence on one line and says each of the values."""
    text = str(error)
    assert "\n" not in text, text
    assert ". " not in text, text
    assert not text.endswith("."), text
    for value in said:
        assert str(value) in text, text


def every_set(size: int) -> list[tuple[int, ...]]:
    """All subsets of the places 0 … size − 1."""
    sizes = range(size + 1)
    return [chosen for k in sizes for chosen in itertools.combinations(range(size), k)]


def polygon(knots: Sequence[tuple[Fraction, Fraction]], s: Fraction) -> Fraction:
    """φ(s) = 1 − f(s) for the polygon f through ``knots``, exactly."""
    for (x0, y0), (x1, y1) in itertools.pairwise(knots):
        if s <= x1:
            return 1 - (y0 + (y1 - y0) * (s - x0) / (x1 - x0))
    raise ValueError(s)


def normal_score(s: Fraction, digits: int) -> mp.mpf:
    """Φ⁻¹(s) for 0 < s < 1: Newton's method on the logarithm of the smaller tail."""
    with mp.workdps(digits + 20):
        tail = number(min(s, 1 - s))
        root = mp.sqrt(-2 * mp.log(tail)) if tail < 0.01 else mp.mpf(1)
        for _ in range(200):
            there = mp.erfc(root / mp.sqrt(2)) / 2
            density = mp.exp(-root * root / 2) / mp.sqrt(2 * mp.pi)
            step = there * mp.log(there / tail) / density
            root += step
            if abs(step) < mp.mpf(10) ** -(digits // 2 + 10):  # the next error is its square
                return -root if s < Fraction(1, 2) else root
    raise ArithmeticError(s)


def gaussian_row(
    row: Sequence[Fraction], mu: Fraction, depth: int, digits: int = 330
) -> list[mp.mpf]:
    """The optimal row of μ-Gaussian privacy at ``depth``, each entry relatively right."""
    total = sum(row)
    with mp.workdps(digits):
        tails = [mp.mpf(1)]  # 1 − s after growth
        for s in (s / total for s in itertools.accumulate(row)):
            if s in (0, 1):
                tails.append(mp.mpf(1 - int(s)))
            else:
                there = normal_score(s, digits) + number(mu) * depth
                tails.append(mp.erfc(there / mp.sqrt(2)) / 2)
        return [a - b for a, b in itertools.pairwise(tails)]


def gaussian_step(s: Fraction, mu: Fraction, digits: int = 40) -> mp.mpf:
    """Φ(Φ⁻¹(s) + μ)."""
    with mp.workdps(digits):
        if s in (0, 1):
            return mp.mpf(int(s))
        return mp.erfc(-(normal_score(s, digits) + number(mu)) / mp.sqrt(2)) / 2


def assert_same_probabilities(got: Iterable[float], wanted: Iterable[mp.mpf]) -> None:
    """Each probability above 1e-300 is right to 1e-12 relatively, each other one not above it."""
    with mp.workdps(40):
        for place, (value, truth) in enumerate(zip(got, wanted, strict=True)):
            if truth > mp.mpf("1e-300"):
                error = abs(mp.mpf(float(value)) / truth - 1)
                assert error <= 1e-12, (place, float(value), mp.nstr(truth, 20))
            else:
                assert 0 <= float(value) <= 1.001e-300, (place, float(value), mp.nstr(truth, 20))


Weights = tuple[int, ...]


def fraction(x: mp.mpf) -> Fraction:
    """The binary fraction that a number of mpmath is."""
    return Fraction(*mp.libmp.to_rational(mp.mpf(x)._mpf_))


def exp_between(x: Fraction, digits: int = 120) -> Point:
    """Two fractions with e^x between them, a relative 10^-digits apart."""
    with mp.workdps(digits + 20):
        middle = fraction(mp.exp(number(x)))
    margin = middle / Fraction(10) ** digits
    return middle - margin, middle + margin


def integer_excess(p: Sequence[int], q: Sequence[int], lines: Sequence[Point]) -> Fraction:
    """max over all sets S, lines and directions of P(S) − slope·Q(S) − rise·total; 0 if close."""
    total = sum(p)
    worst = Fraction(0)
    for chosen in every_set(len(p)):
        a, b = sum(p[i] for i in chosen), sum(q[i] for i in chosen)
        for slope, rise in lines:
            worst = max(worst, a - slope * b - rise * total, b - slope * a - rise * total)
    return worst


def gaussian_close(p: Sequence[int], q: Sequence[int], mu: Fraction, digits: int = 60) -> bool:
    """Whether P(S) ≤ Φ(Φ⁻¹(Q(S)) + μ) for all sets S in both directions."""
    for chosen in every_set(len(p)):
        a, b = (Fraction(sum(row[i] for i in chosen), sum(row)) for row in (p, q))
        for more, less in ((a, b), (b, a)):
            with mp.workdps(digits):
                if number(more) > gaussian_step(less, mu, digits):
                    return False
    return True


ORDERS = ("1.0001", "1.1", "1.5", "2", "3", "5", "10", "30", "100", "1000")


def renyi(p: Sequence[mp.mpf], q: Sequence[mp.mpf], order: mp.mpf) -> mp.mpf:
    """The Rényi divergence of two distributions, by its definition."""
    sums = (a**order * b ** (1 - order) for a, b in zip(p, q, strict=True) if a)
    return mp.log(mp.fsum(sums)) / (order - 1)


def concentrated_close(p: Sequence[int], q: Sequence[int], rho: Fraction) -> bool:
    """Whether D_α ≤ αρ in both directions, at orders from near 1 to a thousand, in 60 digits."""
    with mp.workdps(60):
        rows = [[number(Fraction(weight, sum(row))) for weight in row] for row in (p, q)]
        return all(
            renyi(one, other, mp.mpf(order)) <= mp.mpf(order) * number(rho)
            for order in ORDERS
            for one, other in itertools.permutations(rows)
        )


def margin_pairs(answers: int, most: int) -> list[tuple[Weights, Weights]]:
    """Each pair of margins up to ``most`` that neighbors may have: one 0 each, moved by ≤ 1."""
    all_margins = [
        margins
        for margins in itertools.product(range(most + 1), repeat=answers)
        if margins.count(0) == 1
    ]
    return [
        (one, other)
        for one, other in itertools.combinations(all_margins, 2)
        if all(abs(a - b) <= 1 for a, b in zip(one, other, strict=True))
    ]


def margin_row(total: int, steps: Sequence[int], margins: Sequence[int]) -> Weights:
    """Weight steps[t − 1] for margin t, the last one from there on; what is left for margin 0."""
    losers = [steps[min(t, len(steps)) - 1] for t in margins if t]
    return tuple(steps[min(t, len(steps)) - 1] if t else total - sum(losers) for t in margins)


def histograms(groups: int, records: int) -> list[tuple[int, ...]]:
    """Every way to spread exactly ``records`` records over ``groups`` groups."""
    if groups == 1:
        return [(records,)]
    firsts = range(records + 1)
    return [(n, *rest) for n in firsts for rest in histograms(groups - 1, records - n)]


def one_substituted(counts: Sequence[int]) -> set[tuple[int, ...]]:
    """The histograms that differ by one record in another group."""
    found = set()
    for goes, comes in itertools.permutations(range(len(counts)), 2):
        moved = list(counts)
        moved[goes] -= 1
        moved[comes] += 1
        if moved[goes] >= 0:
            found.add(tuple(moved))
    return found


def one_added_or_removed(counts: Sequence[int]) -> set[tuple[int, ...]]:
    """The histograms with one record more or fewer."""
    found = set()
    for place, change in itertools.product(range(len(counts)), (-1, 1)):
        moved = list(counts)
        moved[place] += change
        if moved[place] >= 0:
            found.add(tuple(moved))
    return found


def best_truths(
    edges: Sequence[tuple[int, int]],
    truths: Sequence[int],
    slope: Fraction,
    rise: Fraction,
    floor: float,
    weights: Sequence[Sequence[float]],
) -> list[float]:
    """For each row of ``weights`` the largest Σ weight·P(true answer) over all (ε,δ)-private
    mechanisms with two answers in which every P(true answer) is at least ``floor``.

    With two answers the sets {0} and {1} in both directions are all there is to keep.
    """
    nodes = len(truths)
    above, most = [], []
    for a, b in edges:
        for one, other in ((a, b), (b, a)):
            for sign in (1.0, -1.0):  # p ↦ P(answer 0), and 1 − p is P(answer 1)
                line = np.zeros(nodes)
                line[one], line[other] = sign, -sign * float(slope)
                above.append(line)
                most.append(float(rise) + (0.0 if sign > 0 else float(slope) - 1.0))
    limits = [(floor, 1.0) if truth == 0 else (0.0, 1.0 - floor) for truth in truths]
    best = []
    for row in weights:
        wish = np.array([w if truth == 0 else -w for w, truth in zip(row, truths, strict=True)])
        answer = linprog(
            -wish,
            A_ub=np.array(above),
            b_ub=np.array(most),
            bounds=limits,
            method="highs",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if not answer.success or answer.fun is None:
            raise AssertionError(answer.message)
        taken = sum(w for w, truth in zip(row, truths, strict=True) if truth == 1)
        best.append(-float(answer.fun) + taken)
    return best


def compressed(graph: nx.Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Offsets and sorted targets."""
    lists = [sorted(graph[node]) for node in range(len(graph))]
    offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return offsets, np.array([n for near in lists for n in near], dtype=np.int64)


def brute_boundary(graph: nx.Graph, region: NDArray[Any]) -> list[bool]:
    """Whether each node has a neighbor in another region."""
    return [any(region[a] != region[b] for b in graph[a]) for a in range(len(graph))]


def brute_depth(graph: nx.Graph, region: NDArray[Any]) -> list[int]:
    """The distance in the whole graph to the boundary datasets of one's own region."""
    edge = brute_boundary(graph, region)
    depths = []
    for node in range(len(graph)):
        ways = nx.single_source_shortest_path_length(graph, node)
        found = [n for end, n in ways.items() if edge[end] and region[end] == region[node]]
        depths.append(min(found, default=-1))
    return depths


def changes_of_a_person(answers: int, rows: int, relation: str) -> list[tuple[int, ...]]:
    """All changes of the counts that one person can make, by their definition."""
    found = []
    for move in itertools.product(range(-rows, rows + 1), repeat=answers):
        more = sum(change for change in move if change > 0)
        less = -sum(change for change in move if change < 0)
        near = max(more, less) <= rows
        if any(move) and near and (relation == "substituted" or not min(more, less)):
            found.append(move)
    return found
