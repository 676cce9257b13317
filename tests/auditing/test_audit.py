"""``rb.audit``: what it compares, what it takes, what it says, and what it refuses."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rainbowdp as rb
from rainbowdp import paper
from rainbowdp.auditing.neighborhood import around
from reference import assert_one_sentence

POLL = rb.Winner(["red", "green"])
SURE = {"red": Fraction(3, 4), "green": Fraction(1, 4)}
UNSURE = {"red": Fraction(1, 5), "green": Fraction(4, 5)}


def wrong(counts: dict[str, int]) -> dict[str, Fraction]:
    return SURE if counts["red"] > counts["green"] else UNSURE


def exact(*given: Any, **options: Any) -> rb.Audit:
    found = rb.audit(*given, **options)
    assert isinstance(found, rb.Audit)
    return found


def near(question: Any, **options: Any) -> set[frozenset[tuple[int, ...]]]:
    """The neighbors that an audit looks at, as pairs of counts."""
    rest = {"records": None, "tries": None, "pairs": None, "only": None, "seed": None}
    found = around(question, **{**rest, **options})
    counts = [tuple(dataset.values()) for dataset in found.datasets]
    return {frozenset((counts[a], counts[b])) for a, b in found.pairs}


def tables(
    people: int, groups: int, rows: int
) -> dict[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """All tables of so many people with up to so many rows each, and their counts."""
    each = [
        counts
        for counts in itertools.product(range(rows + 1), repeat=groups)
        if sum(counts) <= rows
    ]
    return {
        table: tuple(map(sum, zip(*table, strict=True)))
        for table in itertools.product(each, repeat=people)
    }


@pytest.mark.parametrize("rows", [1, 2])
def test_neighbors_are_those_of_tables_of_people(rows: int) -> None:
    """Brute force over tables: three people, two groups, each person's rows replaced."""
    question = rb.Winner(["red", "green"], rows_per_person=rows)
    held = tables(3, 2, rows)
    wanted = set()
    for table, counts in held.items():
        for place, other in itertools.product(range(3), tables(1, 2, rows)):
            moved = (*table[:place], other[0], *table[place + 1 :])
            if held[moved] != counts and max(sum(counts), sum(held[moved])) <= 3:
                wanted.add(frozenset((counts, held[moved])))
    assert wanted <= near(question, records=3)
    limit = [
        pair
        for pair in near(question, records=3)
        if all(
            max(0, b - a) <= rows
            for x, y in itertools.permutations(pair)
            for a, b in zip(x, y, strict=True)
        )
    ]
    assert len(limit) == len(near(question, records=3))


@pytest.mark.parametrize("relation", list(rb.Neighbors))
@pytest.mark.parametrize("rows", [1, 3])
def test_random_neighbors_are_neighbors(relation: str, rows: int) -> None:
    question = rb.Winner(["a", "b", "c"], neighbors=relation, rows_per_person=rows)
    every = near(question, records=6)
    some = near(question, records=6, tries=300, seed=1)
    small = {pair for pair in some if all(sum(counts) <= 6 for counts in pair)}
    assert len(small) > 20
    assert {pair for pair in small if len(pair) == 2} <= every
    assert near(question, tries=50, seed=2) == near(question, tries=50, seed=2)


@pytest.mark.parametrize("relation", list(rb.Neighbors))
def test_the_relation_of_the_question_counts(relation: str) -> None:
    """A law that only sees the total: private if one record is substituted within the groups."""
    poll = rb.Winner(["red", "green"], neighbors=relation)

    def parity(counts: dict[str, int]) -> dict[str, str]:
        odd = sum(counts.values()) % 2
        return {"red": "2/3" if odd else "1/3", "green": "1/3" if odd else "2/3"}

    assert exact(parity, poll, records=4).curve.ratio == 2  # uncounted records come and go

    def leader(counts: dict[str, int]) -> dict[str, str]:
        ahead = counts["red"] - counts["green"]
        return {
            "red": "1/2" if abs(ahead) < 2 else "9/10" if ahead > 0 else "1/10",
            "green": "1/2" if abs(ahead) < 2 else "1/10" if ahead > 0 else "9/10",
        }

    ratio = exact(leader, poll, records=4).curve.ratio
    assert ratio == 5
    far = rb.Winner(["red", "green"], neighbors=relation, rows_per_person=2)
    substituted = relation == "substituted"
    assert exact(leader, far, records=4).curve.ratio == (9 if substituted else 5)


def test_a_broken_claim_is_shown_by_a_script_that_runs(capsys: pytest.CaptureFixture[str]) -> None:
    claims: list[Any] = [
        rb.DP(1),
        rb.DP.from_ratio(3),
        rb.DP(1, "0.1"),
        rb.GaussianDP(1),
        rb.ZeroConcentrated("1/2"),
        rb.TradeOff([(0, 1), ("1/3", "1/3"), (1, 0)]),
    ]
    for claim in claims:
        found = exact(wrong, POLL, claim, records=4)
        assert found.verdict == "broken"
        assert not found
        assert found.worst is not None
        more, less = found.worst.neighbors
        assert wrong(more) == found.worst.rows[0]
        assert wrong(less) == found.worst.rows[1]
        chosen = found.worst.answers
        assert found.worst.probabilities == (
            sum(wrong(more)[a] for a in chosen),
            sum(wrong(less)[a] for a in chosen),
        )
        exec(found.snippet(), {})
        assert "broken" in capsys.readouterr().out
        assert f"{claim} is broken" in str(found)


def test_a_script_fails_where_the_claim_holds() -> None:
    found = exact(wrong, POLL, rb.DP(1), records=4)
    assert found.worst is not None
    with pytest.raises(AssertionError):
        exec(found.worst.snippet(rb.DP(2), broken=True), {})
    with pytest.raises(AssertionError):
        exec(found.worst.snippet(rb.ZeroConcentrated(2), broken=True), {})
    with pytest.raises(AssertionError):
        exec(found.worst.snippet(rb.GaussianDP(3), broken=True), {})


def test_a_claim_that_holds() -> None:
    for claim in (rb.DP.from_ratio("15/4"), rb.DP("1.33"), rb.ZeroConcentrated("0.71")):
        found = exact(wrong, POLL, claim, records=4)
        assert found.verdict == "holds"
        assert found
        exec(found.snippet(), {})
    assert (
        exact(wrong, POLL, rb.DP.from_ratio(Fraction(15, 4) - Fraction(1, 10**30))).verdict
        == "broken"
    )


def test_the_numbers_of_one_pair() -> None:
    found = exact(wrong, POLL, records=3, orders=["2"])
    assert found.epsilon.low <= 1.3217558399823195 <= found.epsilon.high
    assert found.delta("0").high == 0.55
    assert found.delta(0).low == pytest.approx(0.55)
    assert found.epsilon_at("0.55").high == 0.0
    assert found.epsilon_at(0) == found.epsilon
    assert found.guarantee().step(0.2) == pytest.approx(0.75)
    assert list(found.renyi) == [2.0]
    assert found.to_frame(["0", "1"])["delta_at_most"].tolist()[0] == pytest.approx(0.55)


def test_one_row_throughout_tells_nothing() -> None:
    found = exact(lambda counts: SURE, POLL, rb.DP(0))
    assert found.verdict == "holds"
    assert (found.epsilon.high, found.rho.high, found.mu.high) == (0.0, 0.0, 0.0)
    assert found.worst is None
    assert "all rows are equal" in str(found)
    exec(found.snippet(), {})


def test_ours_keep_what_they_promise() -> None:
    for promise in (rb.DP(1), rb.DP("0.5", "0.01"), rb.GaussianDP(1), rb.ZeroConcentrated("0.1")):
        found = exact(rb.best(POLL, promise), records=5)
        assert found.claim == promise
        assert found.verdict == "holds"
        assert found.exhaustive


def test_a_saved_file_is_audited_as_it_is(tmp_path: Path) -> None:
    path = rb.best(rb.Winner(["a", "b", "c"]), rb.DP(1)).save(tmp_path / "poll.json")
    found = exact(path, records=4)
    assert (found.verdict, found.claim) == ("holds", rb.DP(1))
    assert exact(str(path), None, rb.DP("0.9"), records=4).verdict == "broken"


def test_the_file_of_a_graph_is_audited_on_its_lines(tmp_path: Path) -> None:
    graph = paper.figure_one()
    mechanism = rb.optimal(graph, rb.DP(1), boundary=(0.5, 0.3, 0.2))
    path = mechanism.save(tmp_path / "graph.json")
    found = exact(path)
    assert found.verdict == "holds"
    assert found.guarantee() == exact(mechanism).guarantee()
    assert exact(mechanism).pairs == graph.edge_count
    some = exact(mechanism, tries=5, seed=1)
    assert (some.pairs, some.exhaustive) == (5, False)
    assert "drawn at random" in some.scope


def test_a_count_is_audited_whole() -> None:
    count = rb.best(rb.Count(at_most=12, rows_per_person=2), rb.DP(1))
    found = exact(count)
    assert found.verdict == "holds"
    assert found.pairs == 12 + 11
    assert exact(count, None, rb.DP("0.9")).verdict == "broken"


def test_rows_in_floats_are_forgiven_their_rounding() -> None:
    textbook = rb.exponential(rb.Winner(["a", "b"], neighbors="added or removed"), rb.DP(1))
    found = exact(textbook, records=5)
    assert found.verdict == "holds"
    assert found.rounding == 1e-9
    assert "rounding of floats" in str(found)
    assert exact(textbook, records=5, claim=rb.DP("0.9")).verdict == "broken"
    printed = rb.printed_operator(paper.figure_one(), rb.DP(1, "0.1"))
    assert exact(printed).verdict == "holds"
    assert exact(printed, None, rb.DP(1, "0.1")).verdict == "broken"


TABLE = {(1, 0): {"red": "3/4", "green": "1/4"}, (0, 1): {"red": "1/4", "green": "3/4"}}
LINES = [(*counts, answer, value) for counts, row in TABLE.items() for answer, value in row.items()]
COLUMNS = ["red", "green", "answer", "probability"]


@pytest.mark.parametrize(
    "make",
    [
        lambda lines: pd.DataFrame(lines, columns=COLUMNS),
        lambda lines: pl.DataFrame(lines, schema=COLUMNS, orient="row"),
        lambda lines: pa.table(dict(zip(COLUMNS, zip(*lines, strict=True), strict=True))),
    ],
)
def test_rows_in_a_frame(make: Callable[[Any], Any]) -> None:
    found = exact(make(LINES), POLL, rb.DP.from_ratio(3))
    assert (found.verdict, found.pairs) == ("holds", 1)
    assert found.curve.ratio == 3


def test_rows_in_mappings_and_files(tmp_path: Path) -> None:
    sequences = {key: list(row.values()) for key, row in TABLE.items()}
    lines = "\n".join(",".join(map(str, line)) for line in [COLUMNS, *LINES])
    csv, plain, whole = (tmp_path / name for name in ("rows.csv", "rows.json", "whole.json"))
    csv.write_text(lines)
    rows = [
        {"dataset": dict(zip(["red", "green"], key, strict=True)), "probabilities": row}
        for key, row in TABLE.items()
    ]
    plain.write_text(json.dumps(rows))
    whole.write_text(json.dumps({"rows": rows, "question": POLL.describe()}))
    for given in (TABLE, sequences, csv, plain):
        assert exact(given, POLL).curve.ratio == 3
    assert exact(whole).curve.ratio == 3
    named = {
        "rows": [
            {"dataset": "x", "probabilities": {"a": 0.1, "b": 0.9}},
            {"dataset": "y", "probabilities": {"a": 0.3, "b": 0.7}},
        ],
        "pairs": [["x", "y"]],
    }
    plain.write_text(json.dumps(named))
    found = exact(plain)
    assert found.curve.ratio == 3  # 0.3 is three tenths, not a float
    assert found.rounding == 0
    graph = rb.RainbowGraph([("x", "y")], {"x": ("a", "b"), "y": ("b", "a")})
    assert exact({"x": (0.5, 0.5), "y": (0.25, 0.75)}, graph).curve.ratio == 2


def test_an_answer_that_a_row_does_not_name_never_comes() -> None:
    found = exact({(1, 0): {"red": 1}, (0, 1): {"red": "1/2", "blue": "1/2"}}, POLL)
    assert found.curve.ratio is None
    assert str(found.epsilon) == "∞"
    assert found.as_dict()["epsilon"] == {"at_least": None, "at_most": None}
    json.dumps(found.as_dict(), allow_nan=False)


def test_everything_is_ready_for_json_and_for_a_notebook() -> None:
    found = exact(wrong, POLL, rb.DP(1), records=3)
    described = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert described["verdict"] == "broken"
    assert described["ratio"] == "15/4"
    assert described["worst"]["probabilities"] == ["3/4", "1/5"]
    assert "broken" in found._repr_html_()
    drawn = rb.audit(rb.best(POLL, rb.DP(1)), records=1, draws=50)
    json.dumps(drawn.as_dict(), allow_nan=False)
    assert "Audit by draws" in drawn._repr_html_()


def test_bounds_hold_a_number() -> None:
    assert 0.5 in rb.Bounds(0.25, 0.75)
    assert "x" not in rb.Bounds(0.25, 0.75)
    assert str(rb.Bounds(0.25, 0.75)) == "0.25 to 0.75"
    assert f"{rb.Bounds(0.25, 0.75):.1f}" == "0.8"


def refused(*given: Any, **options: Any) -> Any:
    return rb.audit(wrong, *given, **options)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: rb.audit(wrong), "which datasets are neighbors"),
        (lambda: refused("poll"), "got str"),
        (lambda: refused(POLL, 1.0), "got float"),
        (lambda: rb.audit(7, POLL), "got int"),
        (lambda: rb.audit(lambda counts: "red", POLL), "draws=100_000"),
        (lambda: rb.audit(lambda counts: {}, POLL), "got none at"),
        (lambda: rb.audit(lambda counts: {"red": 0.5}, POLL), "must sum to 1"),
        (lambda: rb.audit(lambda counts: {"red": -1, "green": 2}, POLL), "must not be negative"),
        (lambda: rb.audit(lambda counts: 1 / 0, POLL), "ZeroDivisionError"),
        (lambda: rb.audit(wrong, POLL, records=0), "no two neighbors"),
        (lambda: rb.audit(wrong, POLL, records=10**6), "histograms"),
        (lambda: rb.audit(wrong, POLL, tries=0), "tries"),
        (lambda: rb.audit(wrong, POLL, records=3, pairs=[]), "got both"),
        (lambda: rb.audit(wrong, POLL, pairs=[]), "got none"),
        (lambda: refused(POLL, pairs=[1, 2]), "pairs of neighboring datasets"),
        (
            lambda: rb.audit(wrong, POLL, pairs=[({"red": 5, "green": 0}, {"red": 0, "green": 5})]),
            "one record substituted",
        ),
        (lambda: rb.audit(wrong, POLL, orders=[0.5]), "from 1 on"),
        (lambda: rb.audit(wrong, POLL, rounding=2), "rounding"),
        (lambda: rb.audit(wrong, POLL, draws=10, confidence=1), "between 0 and 1"),
        (lambda: rb.audit(TABLE, POLL, draws=10), "leave it out"),
        (lambda: rb.audit({(9, 0): SURE, (0, 9): UNSURE}, POLL), "no two are neighbors"),
        (lambda: rb.audit({(1,): SURE}, POLL), "a count for each of red, green"),
        (lambda: rb.audit({(1, "x"): SURE}, POLL), "whole number from 0"),
        (lambda: rb.audit({(1, 0): 3}, POLL), "{answer: probability}"),
        (lambda: rb.audit({(1, 0): (1, 0, 0)}, POLL), "each of the 2 answers"),
        (lambda: rb.audit({}, POLL), "got none"),
        (lambda: rb.audit(pd.DataFrame({"red": [1]}), POLL), "'green'"),
        (lambda: rb.audit("no such file.json", POLL), "No such file"),
        (lambda: rb.audit(rb.best(POLL, rb.DP(1)), rb.Winner(["a", "b"])), "of its own"),
        (lambda: rb.audit(rb.best(rb.Count(), rb.DP(1))), "at_most=300"),
        (lambda: exact(wrong, POLL).delta(-1), "epsilon"),
        (lambda: exact(wrong, POLL).epsilon_at(2), "[0, 1]"),
    ],
)
def test_bad_input_gets_one_sentence(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(rb.RainbowError) as caught:
        call()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.json", "{", "not JSON"),
        ("a.json", "[" * 100_000, "not JSON"),
        ("a.json", '{"rows": 3}', "must be a mechanism file, or hold rows"),
        ("a.json", '{"rows": [], "more": 1}', "must be a mechanism file, or hold rows"),
        ("a.json", '[{"dataset": {"red": 1}}]', "must hold rows"),
        ("a.json", '[{"dataset": {"blue": 1}, "probabilities": {}}]', "no group"),
        ("a.json", '{"rows": [], "question": {"kind": "keys", "column": "x"}}', "finitely many"),
        ("a.csv", "red,green,answer\n1,0,red\n", "'probability'"),
        ("a.csv", "red,green,answer,probability\n1,0,red\n", "record 1: a value is missing"),
        ("a.csv", "red,green,answer,probability\n1,0,red,1\n1,0,red,1\n", "record 2"),
        ("a.csv", "red,green,answer,probability\n1,0,red,x\n0,1,red,1\n", "finite number"),
        ("a.csv", 'red,green,answer,probability\n1,0,"red', "not a CSV file"),
    ],
)
def test_bad_files_get_one_sentence(tmp_path: Path, name: str, text: str, said: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(rb.RainbowError) as caught:
        rb.audit(path, POLL)
    assert said in str(caught.value), str(caught.value)
    assert_one_sentence(caught.value)


def test_two_rows_for_one_dataset_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    row = {"dataset": {"red": 1}, "probabilities": {"red": 1}}
    path.write_text(json.dumps([row, row]))
    with pytest.raises(rb.InvalidFile, match="two rows"):
        rb.audit(path, POLL)
