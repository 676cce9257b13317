"""Every number that the paper states, beside ours.

A claim holds when our value is the one recorded here. Where the paper is right, that is the
paper's value; where it is not, it is the value that our theory page proves.
"""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from rainbowdp import paper
from rainbowdp.answering.worlds import optimal
from rainbowdp.display import cards
from rainbowdp.errors import RainbowError
from rainbowdp.graphs.morphisms import boundary_morphism
from rainbowdp.guarantees.dp import DP
from rainbowdp.mechanisms.mechanism import dominates, relate
from rainbowdp.mechanisms.optimal import optimal_line
from rainbowdp.storage.whole_file import whole_file

_FIGURE_OF = {"Example 1": "Fig. 2"}  # claims whose place is not the figure they belong to
_STYLE = (
    ":root{color-scheme:light dark}body{font:15px/1.5 sans-serif;max-width:72rem;margin:2rem auto;"
    "padding:0 1rem}.pair{display:flex;flex-wrap:wrap;gap:1.5rem;align-items:flex-start}"
    "img{width:36rem;max-width:100%;background:#fff;border-radius:6px}"
    "table{border-collapse:collapse;font-size:13px}td,th{text-align:left;vertical-align:top;"
    "padding:2px 14px 2px 0;font-weight:normal}th{opacity:.7}"
)


@dataclass(frozen=True)
class Claim:
    """One statement: where the paper makes it, what it says, what we find, and what is right."""

    place: str
    statement: str
    paper: str
    ours: str
    due: str
    note: str = ""

    @property
    def holds(self) -> bool:
        """Whether what we find is what is right."""
        return self.ours == self.due

    @property
    def erratum(self) -> bool:
        """Whether the paper states something other than what is right."""
        return self.paper != self.due

    @property
    def verdict(self) -> str:
        """Right, an erratum of the paper, or a number of ours that has changed."""
        return "CHANGED" if not self.holds else "erratum" if self.erratum else "✓"

    def as_dict(self) -> dict[str, Any]:
        """The claim for ``--json``."""
        return {**asdict(self), "holds": self.holds, "erratum": self.erratum}


def reproduce() -> tuple[Claim, ...]:
    """All claims in the order of the paper."""
    sections: Sequence[Callable[[], Iterator[Claim]]] = (
        _figure_one,
        _example_one,
        _numerical_figures,
        _special_cases,
        _erratum,
    )
    return tuple(itertools.chain.from_iterable(section() for section in sections))


def _agreed(place: str, statement: str, stated: object, ours: object, note: str = "") -> Claim:
    return Claim(place, statement, str(stated), str(ours), str(stated), note)


def _figure_one() -> Iterator[Claim]:
    graph = paper.figure_one()
    yield _agreed("Fig. 1(A)", "datasets, edges", "18, 31", f"{len(graph)}, {graph.edge_count}")
    lines = graph.boundary_graph()
    heads = len(graph.touching)
    yield _agreed("Fig. 1(B)", "nodes, edges between heads", "11, 11", f"{len(lines)}, {heads}")
    morphism = boundary_morphism(graph)
    groups: dict[Any, list[str]] = {}
    for dataset in graph.datasets:
        groups.setdefault(morphism[dataset], []).append(str(dataset))
    printed = {
        ("brg", 2): "d1", ("brg", 1): "d2,d6", ("brg", 0): "d3,d7", ("bgr", 0): "d8,d11",
        ("rgb", 1): "d5", ("rgb", 0): "d4,d9", ("rbg", 0): "d12,d13", ("rbg", 1): "d14",
        ("grb", 1): "d15", ("grb", 0): "d10,d16", ("gbr", 0): "d17,d18",
    }  # fmt: skip
    for (letters, depth), members in printed.items():
        ours = ",".join(groups[paper.rainbow(letters), depth])
        yield _agreed("Fig. 1(B)", f"datasets of {letters} at depth {depth}", members, ours)
    yield _agreed(
        "Sec. 3", "the boundary morphism preserves rainbows", True, morphism.preserves_rainbows
    )
    mechanism = optimal(graph, DP.from_ratio(2, 1))
    whole = mechanism.check(every_edge=True).holds
    yield _agreed("Thm. 2, 3", "the pulled-back optimum is private on all 31 edges", True, whole)


def _example_one() -> Iterator[Claim]:
    graph = paper.example_one()
    region = graph.regions[1, 2, 3]
    place = "Example 1"
    yield _agreed(place, "boundary of (1,2,3)", "d1,d4", ",".join(map(str, region.boundary)))
    yield _agreed(place, "interior of (1,2,3)", "d2,d3", ",".join(map(str, region.interior)))
    one, two, join = paper.example_one_mechanisms()
    yield _agreed(place, "M1 is private", True, one.check().holds)
    yield _agreed(place, "M2 is private", True, two.check().holds)
    yield _agreed(place, "M1 and M2", "incomparable", relate(one, two).verdict)
    yield _agreed(
        place, "their join dominates both", True, dominates(join, one) and dominates(join, two)
    )
    broken = join.check()
    ends = "–".join(sorted(map(str, broken.neighbors or ())))
    yield _agreed(place, "the join breaks privacy on the edge", "d2–d3", ends)
    yield _agreed(place, "with the answer", "2", ",".join(map(str, broken.answers)))
    yield _agreed(place, "the boundary is homogeneous", False, one.homogeneity().holds)


def _numerical_figures() -> Iterator[Claim]:
    ours = ", ".join(f"{float(p):.4f}" for p in paper.BOUNDARY)
    printed = ", ".join(f"{float(p):.4f}" for p in paper.PRINTED_BOUNDARY)
    due = "0.0005, 0.0082, 0.1364, 0.2727, 0.5822"
    yield Claim("Sec. 5.3", "the boundary vector m", printed, ours, due, "0.00818… is 0.0082")
    total = f"{float(sum(paper.PRINTED_BOUNDARY)):.4f}"
    yield Claim(
        "Sec. 5.3", "sum of m as printed", "1", total, "0.9999", "hence not usable as it is"
    )
    sums = np.array([float(s) for s in itertools.accumulate(paper.BOUNDARY)])
    unrounded = float(paper.UNROUNDED_BOUNDARY[0])
    for figure, delta, stated in (
        ("Fig. 3", "0", "38, 22, 7, 1, 0"),
        ("Fig. 4", "0.001", "25, 20, 7, 1, 0"),
        ("Fig. 5", "0.01", "13, 12, 6, 1, 0"),
    ):
        promise = DP.from_ratio(paper.RATIO, delta=delta)
        yield _agreed(figure, f"τ for δ = {delta}", stated, _whole(promise.phase_change(sums)))
    tau = DP.from_ratio(paper.RATIO).phase_change(unrounded)
    yield Claim("Fig. 3", "τ₁ with the unrounded m", "38", _whole([tau]), "37", "rounding shows")


def _special_cases() -> Iterator[Claim]:
    """The closed forms of the earlier papers, iterated step by step in exact fractions."""
    for place, size, note in (
        ("Sec. 5.1", 2, "D'Oliveira et al. 2021"),
        ("Sec. 5.1", 3, "Zhou et al. 2022"),
    ):
        ratio = Fraction(3, 2)
        row = tuple(Fraction(p, 100) for p in ((7, 93) if size == 2 else (1, 9, 90)))
        mechanism = optimal_line(tuple(range(size)), 25, DP.from_ratio(ratio), row)
        sums = list(itertools.accumulate(row))
        worst = 0.0
        for depth in range(26):
            ours = list(itertools.accumulate(mechanism[depth].values()))
            worst = max(worst, *(abs(a - float(b)) for a, b in zip(ours, sums, strict=True)))
            sums = [min(ratio * s, 1 - (1 - s) / ratio) for s in sums]
        statement = f"{size} colors, δ = 0: closed form against iteration, 25 steps"
        yield _agreed(
            place, statement, "equal", "equal" if worst < 1e-14 else f"off by {worst:.1e}", note
        )


def _erratum() -> Iterator[Claim]:
    ratio, delta = Fraction(2), Fraction(1, 10)
    promise = DP.from_ratio(ratio, delta=delta)
    half = Fraction(1, 2)
    printed = paper.printed_step(half, ratio, delta)
    row = (float(printed), float(1 - printed))
    yield _agreed("Thm. 4", "printed T of (½, ½), e^ε = 2, δ = 0.1", (0.85, 0.15), row)
    excess = promise.excess((0.5, 0.5), row)
    yield Claim(
        "Lemma 1",
        "is (ε, 0.1)-close to (½, ½)",
        "True",
        str(not excess),
        "False",
        f"excess {excess:.3g}",
    )
    true_delta = round(float(delta + Fraction(float(excess))), 12)
    yield Claim("Lemma 1", "the δ it really keeps here", "0.1", f"{true_delta:g}", "0.2", "e^ε·δ")
    right = promise.step(0.5)
    yield Claim(
        "Thm. 4",
        "the right T of (½, ½), first answer",
        "0.85",
        f"{right:g}",
        "0.8",
        "docs/theory.md",
    )
    yield Claim(
        "Sec. 5.2", "the two phases meet at s =", "1/(e^ε+1)", _threshold(promise), "(1-δ)/(e^ε+1)"
    )


def _threshold(promise: DP) -> str:
    """Where growth and saturation cross, found from the step map itself."""
    theta = promise.threshold
    below, above = promise.step(theta * (1 - 1e-9)), promise.step(theta * (1 + 1e-9))
    growth = promise.ratio * theta * (1 - 1e-9) + promise.delta
    saturation = 1 - (1 - theta * (1 + 1e-9) - promise.delta) / promise.ratio
    crosses = math.isclose(below, growth, rel_tol=1e-14) and math.isclose(
        above, saturation, rel_tol=1e-14
    )
    return "(1-δ)/(e^ε+1)" if crosses and theta < 1 / (promise.ratio + 1) else "elsewhere"


def _whole(values: Sequence[float] | np.ndarray[Any, Any]) -> str:
    return ", ".join(str(int(v)) for v in values)


def draw(folder: str | os.PathLike[str], claims: Sequence[Claim]) -> tuple[Path, ...]:
    """Write every figure of the paper to ``folder``, and a page with its numbers beside them.

    The figures are SVG files, the page is ``index.html``, and ``claims.json`` holds all claims.
    The folder is created if it is missing; each file is written whole or not at all.
    """
    from rainbowdp.paper.figures import figures
    from rainbowdp.plots import save

    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RainbowError(
            f"cannot write figures to the folder {place}: {error.strerror}"
        ) from error
    names = {where: f"figure-{_word(where)}.svg" for where in figures()}
    written = [save(figure(), place / names[where]) for where, figure in figures().items()]
    content = json.dumps([claim.as_dict() for claim in claims], indent=2, ensure_ascii=False)
    written.append(_write(place / "claims.json", content + "\n"))
    return (*written, _write(place / "index.html", _page(names, claims)))


def _page(names: Mapping[str, str], claims: Sequence[Claim]) -> str:
    """Each figure with the numbers the paper states there, then the numbers without a figure."""
    shown = {
        where: [c for c in claims if _FIGURE_OF.get(c.place, c.place) == where] for where in names
    }
    rest = [claim for claim in claims if not any(claim in part for part in shown.values())]
    parts = [
        f'<h2>{cards.text(where)}</h2><div class="pair"><img src="{names[where]}" '
        f'alt="{cards.text(where)} of the paper, drawn again">{_numbers(part)}</div>'
        for where, part in shown.items()
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>The paper, reproduced</title>'
        f"<style>{_STYLE}</style></head>\n<body><h1>Generalized Rainbow Differential Privacy</h1>"
        "<p>Every figure of the paper with its numbers and ours. A number the paper has wrong is "
        "an <em>erratum</em>.</p>\n"
        + "\n".join(parts)
        + f"\n<h2>Without a figure</h2>{_numbers(rest)}</body></html>\n"
    )


def _numbers(claims: Sequence[Claim]) -> str:
    head = "".join(f"<th>{name}</th>" for name in ("", "paper", "ours", ""))
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td>{cards.text(cell, 200)}</td>"
            for cell in (claim.statement, claim.paper, claim.ours, claim.verdict)
        )
        + "</tr>"
        for claim in claims
    )
    return f"<table><tr>{head}</tr>{rows}</table>"


def _word(place: str) -> str:
    """``Fig. 1(A)`` as ``1a``."""
    return "".join(letter for letter in place.removeprefix("Fig.") if letter.isalnum()).lower()


def _write(target: Path, content: str) -> Path:
    with whole_file(target, "the page") as draft:
        draft.write_text(content, encoding="utf-8")
    return target
