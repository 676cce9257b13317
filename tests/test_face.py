"""All mechanisms share a face: the same names mean the same on each of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import rainbowdp as rb
from rainbowdp.exact.mechanism import Releasable
from rainbowdp.exact.rule import Rule
from rainbowdp.rules import FAMILIES

LINE = [(0, 1), (1, 2), (2, 3)]
ORDERS = [("yes", "no"), ("yes", "no"), ("no", "yes"), ("no", "yes")]
POLL = rb.Winner(["yes", "no"])
README = Path(__file__).parent.parent / "README.md"


def graph() -> rb.RainbowGraph:
    return rb.RainbowGraph(LINE, ORDERS)


def given() -> rb.Mechanism:
    rows = {0: (0.7, 0.3), 1: (0.6, 0.4), 2: (0.4, 0.6), 3: (0.3, 0.7)}
    return rb.Mechanism.from_table(graph(), rows, rb.DP(1))


def dominating() -> Any:
    return rb.optimum(graph(), rb.DP(1), {1: (0.6, 0.4), 2: (0.4, 0.6)}).mechanism


ON_GRAPHS: dict[str, Callable[[], Any]] = {
    "optimal": lambda: rb.optimal(graph(), rb.DP(1)),
    "proximity": lambda: rb.proximity(graph(), rb.DP(1)),
    "given rows": given,
    "lifted": lambda: rb.lifted(graph(), rb.DP(1)),
    "fixed point": lambda: rb.fixed_point(graph(), rb.DP(1)),
    "program": lambda: rb.program(graph(), rb.DP(1)),
    "existence": dominating,
    "margin flip": lambda: rb.by_kind(graph(), rb.DP(1), "margin-flip"),
    "exponential": lambda: rb.by_kind(graph(), rb.DP(1), "exponential"),
    "best of all": lambda: rb.best(graph(), rb.DP(1)),
    "deployed margin flip": lambda: rb.deploy(graph(), rb.DP(1), "margin-flip"),
    "deployed exponential": lambda: rb.deploy(graph(), rb.DP(1), "exponential"),
    "deployed best": lambda: rb.deploy(graph(), rb.DP(1), "best"),
    "deployed": lambda: rb.deploy(graph(), rb.DP(1)),
    "deployed proximity": lambda: rb.deploy(graph(), rb.DP(1), "proximity"),
    "exact": lambda: rb.optimal(graph(), rb.DP(1)).exact(),
}
FOR_QUESTIONS: dict[str, Callable[[], Any]] = {
    "best": lambda: rb.best(POLL, rb.DP(1)),
    **{
        known.kind: partial(rb.by_kind, POLL, rb.DP(1), known.kind)
        for known in FAMILIES
        if known.unfit(POLL, rb.DP(1)) is None
    },
}
MECHANISMS = [
    *(pytest.param(make, 0, id=f"graph: {name}") for name, make in ON_GRAPHS.items()),
    *(pytest.param(make, {"yes": 4, "no": 1}, id=name) for name, make in FOR_QUESTIONS.items()),
]


@pytest.mark.parametrize(("make", "dataset"), MECHANISMS)
def test_every_mechanism_has_the_face(
    make: Callable[[], Any], dataset: Any, tmp_path: Path
) -> None:
    mechanism = make()
    assert isinstance(mechanism, Releasable)
    assert re.fullmatch(r"[a-z][a-z -]+", mechanism.name)
    assert mechanism.exact() is mechanism.exact()  # made and proved once
    assert mechanism.exact().exact() is mechanism.exact()
    assert isinstance(mechanism.exact(), rb.ExactMechanism)

    for check in (mechanism.check(), mechanism.proof):
        assert type(check) is rb.Check
        assert check.holds
        assert check.guarantee == rb.DP(1)
    assert mechanism.proof.exact

    row = {answer: float(p) for answer, p in mechanism[dataset].items()}
    exact = {answer: float(p) for answer, p in mechanism.exact()[dataset].items()}
    assert set(row) == {"yes", "no"}
    assert exact == pytest.approx(row, abs=1e-9)
    assert next(iter(row)) == "yes"

    file = mechanism.save(tmp_path / "m.json")
    assert file == tmp_path / "m.json"
    loaded = rb.load(str(file))
    assert loaded == mechanism.exact()
    assert loaded.name == mechanism.exact().name

    assert mechanism.release(dataset) in row
    drawn = mechanism.sample(dataset, 40_000, seed=7)
    assert drawn == mechanism.sample(dataset, 40_000, seed=7)
    assert drawn.count("yes") / len(drawn) == pytest.approx(row["yes"], abs=0.02)


@pytest.mark.parametrize("world", [graph(), POLL], ids=["graph", "question"])
def test_a_baseline_has_what_does_not_go_out(world: Any) -> None:
    for maker in (rb.exponential, rb.permute_and_flip, rb.randomized_response):
        baseline = maker(world, rb.DP(1))
        dataset = 0 if world is not POLL else {"yes": 4, "no": 1}
        assert re.fullmatch(r"[a-z][a-z -]+", baseline.name)
        assert type(baseline.check(records=None if dataset == 0 else 6)) is rb.Check
        drawn = baseline.sample(dataset, 20_000, seed=7)
        assert drawn.count("yes") / 20_000 == pytest.approx(baseline[dataset]["yes"], abs=0.03)
        assert not hasattr(baseline, "release")
        assert not hasattr(baseline, "save")


def proofs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kinds of the rules that are proved from here on."""
    proved: list[str] = []
    for rule in Rule.__subclasses__():
        kind, prove = rule.kind, rule.prove

        def counted(self: Any, *arguments: Any, kind: str = kind, prove: Any = prove) -> Any:
            proved.append(kind)
            return prove(self, *arguments)

        monkeypatch.setattr(rule, "prove", counted)
    return proved


def test_the_lines_of_the_readme_prove_once_and_once_more_where_they_load(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    proved = proofs(monkeypatch)
    (lines,) = re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    exec(compile(lines, "README.md", "exec"), {})
    assert "proved exactly" in capsys.readouterr().out
    assert proved == ["homogeneous", "homogeneous"]


@pytest.mark.parametrize(("make", "dataset"), MECHANISMS)
def test_whatever_is_asked_of_a_mechanism_it_is_proved_once(
    make: Callable[[], Any], dataset: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proved = proofs(monkeypatch)
    mechanism = make()
    mechanism.check()
    assert mechanism.proof
    mechanism.release(dataset)
    mechanism.save(tmp_path / "m.json")
    assert mechanism[dataset]
    mechanism.sample(dataset, 2)
    assert len(proved) == 1


def test_printed_they_take_one_line() -> None:
    vote = rb.best(rb.Winner(["a", "b"]), rb.DP(1))
    assert str(vote) == "QuestionMechanism(homogeneous, Winner, 1-DP)"
    assert str(vote.exact()) == "ExactMechanism(homogeneous, 2 answers, 1-DP)"
    assert str(vote.proves()) == vote.proves().in_words()
