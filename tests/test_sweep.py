"""Sweeps over arrays of ε and δ, and tables as CSV and LaTeX."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

import rainbowdp as rb
from rainbowdp.answering.measure import measure
from rainbowdp.display.tabular import latex_text
from rainbowdp.rules import family

GRAPH = rb.RainbowGraph(
    [(n, n + 1) for n in range(8)],
    [("a", "b", "c")] * 3 + [("b", "c", "a")] * 3 + [("c", "b", "a")] * 3,
)


def test_values_are_those_of_each_mechanism_by_itself() -> None:
    epsilons, deltas = ["0.2", "1"], ["0", "0.01"]
    found = rb.sweep(GRAPH, epsilons, deltas, ["margin-flip", "exponential"])
    for kind in ("margin-flip", "exponential"):
        values = found[kind]
        assert values.shape == (2, 2)
        for row, epsilon in enumerate(epsilons):
            for column, delta in enumerate(deltas):
                made = rb.by_kind(GRAPH, rb.DP(epsilon, delta), kind)
                mean = np.mean([made[node][GRAPH.rainbow(node)[0]] for node in GRAPH.datasets])
                assert values[row, column] == pytest.approx(mean, rel=1e-9)
    with pytest.raises(rb.RainbowError, match="kind must be one of margin-flip, exponential"):
        found["proximity"]


def test_a_kind_that_does_not_apply_is_left_empty_and_says_why() -> None:
    found = rb.sweep(GRAPH, ["0.1", 2], kinds=["proximity"])
    assert np.isnan(found["proximity"][0, 0])
    assert found["proximity"][1, 0] > 0.7
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [row["epsilon"] for row in rows] == ["0.1", "2"]
    assert rows[0]["value"] == ""
    assert "proximity on this graph holds from epsilon" in rows[0]["note"]
    assert float(rows[1]["value"]) == found["proximity"][1, 0]
    table = found.to_latex().splitlines()
    assert table[2] == r"$\varepsilon$ & $\delta$ & proximity \\"
    assert table[4] == r"0.1 & 0 & -- \\"
    frame = found.to_frame()
    assert frame["value"].isna().tolist() == [True, False]


def test_a_question_is_measured_as_best_does() -> None:
    poll, epsilons = rb.Winner(["red", "green", "blue"]), ["0.5", "1"]
    found = rb.sweep(poll, epsilons, kinds=["permute-and-flip", "ordered-bins"], records=64)
    for row, epsilon in enumerate(epsilons):
        lost = measure(family("permute-and-flip"), poll, rb.DP(epsilon), 64)
        assert found["permute-and-flip"][row, 0] == -lost
    assert np.isnan(found["ordered-bins"]).all()
    assert "Quantile" in found.rows[1].candidate.note
    usual = rb.sweep(poll, [1], records=64).kinds
    assert "permute-and-flip" in usual
    assert "margin-table" not in usual
    with pytest.raises(rb.RainbowError, match=r"kinds for a question are .* got 'fixed-point'"):
        rb.sweep(poll, [1], kinds=["fixed-point"])
    with pytest.raises(rb.RainbowError, match="are for a graph"):
        rb.sweep(poll, [1], forbid="red")
    with pytest.raises(rb.RainbowError, match="are for a question"):
        rb.sweep(GRAPH, [1], records=64)


def test_what_cannot_be_swept_is_refused() -> None:
    with pytest.raises(rb.RainbowError, match="at least one epsilon, one delta and one kind"):
        rb.sweep(GRAPH, [])
    with pytest.raises(
        rb.RainbowError, match=r"kinds on a graph are homogeneous, .* got 'laplace'"
    ):
        rb.sweep(GRAPH, [1], kinds=["laplace"])
    with pytest.raises(rb.InvalidGuarantee, match="delta must be in"):
        rb.sweep(GRAPH, [1], [2])


def test_a_comparison_as_csv_and_latex() -> None:
    poll = rb.compare(rb.Winner(["red", "green"]), rb.DP(1), [rb.best, rb.exponential], records=6)
    head, first, *_ = csv.reader(io.StringIO(poll.to_csv()))
    assert head[:2] == ["mechanism", "mean error"]
    assert len(head) == len(first)
    lines = poll.to_latex().splitlines()
    assert lines[0].startswith(r"\begin{tabular}{l")
    assert r"\%" in lines[4]
    assert "%" not in lines[4].replace(r"\%", "")


def test_every_mark_that_latex_takes_for_its_own_is_escaped() -> None:
    assert latex_text(["a"], [["50 % & {x_1} #2 $3 ~ ^ \\ ε ≤ 1"]]).splitlines()[4] == (
        r"50 \% \& \{x\_1\} \#2 \$3 \textasciitilde{} \textasciicircum{} \textbackslash{} "
        r"$\varepsilon$ $\le$ 1 \\"
    )
