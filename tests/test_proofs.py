"""The machine-checked proofs: nothing admitted, every theorem on the page, and the code as proved.

``proofs/check.py`` builds them, in CI by ``make proofs``. Coq knows nothing of Python: that its
definitions and our functions are the same is tested here, value by value, by goals that Coq closes
by computing both sides.
"""

from __future__ import annotations

import random
import re
import runpy
import subprocess
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from rainbowdp.baselines.printed import printed_step
from rainbowdp.errors import InvalidMechanism
from rainbowdp.exact.line import Line
from rainbowdp.exact.line_proof import prove_line
from rainbowdp.exact.rows import ExactRow
from rainbowdp.exact.steps import _towards, allowed, exact_step
from rainbowdp.guarantees.closeness import (
    BITS,
    LinePromise,
    exp_below,
    first_violation,
    promise_of,
)
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.polygons import safe_curve
from rainbowdp.guarantees.trade_off import TradeOff
from rainbowdp.rules.homogeneous.proof import prove_alike

ROOT = Path(__file__).parent.parent
PROOFS = ROOT / "proofs"
PAGE = ROOT / "docs" / "machine-checked.md"
CHECK: dict[str, Any] = runpy.run_path(str(PROOFS / "check.py"))
TEXTS = {path.name: path.read_text() for path in CHECK["files"]()}
NAMES = {name for text in TEXTS.values() for name in CHECK["theorems"](text)}


def test_nothing_is_admitted() -> None:
    assert [name for name, text in TEXTS.items() if CHECK["forbidden"](text)] == []


@pytest.mark.parametrize("word", ["Admitted", "admit", "Axiom", "Parameter", "Hypothesis"])
def test_words_that_admit_something_are_seen_where_they_count(word: str) -> None:
    assert CHECK["forbidden"](f"Lemma a : True.\nProof. {word}.") == [word]
    assert CHECK["forbidden"](f"(* no {word} (* at {word} all *) {word} *) Lemma no{word}s.") == []


def test_the_page_names_the_theorems_that_exist() -> None:
    named = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(), re.MULTILINE)
    assert sorted(named) == sorted(NAMES)


def test_the_page_names_functions_that_exist() -> None:
    found = re.findall(r"`([\w/]+\.py): ([\w.]+)`", PAGE.read_text())
    assert len(found) > 20
    for file, name in found:
        text = (ROOT / "src" / "rainbowdp" / file).read_text()
        for part in name.split("."):
            assert re.search(rf"^\s*(def|class) {part}\b|^\s*{part}\b.*=", text, re.MULTILINE), name


def test_the_page_says_in_which_file_each_theorem_is() -> None:
    parts = re.split(r"^### `(\w+\.v)`", PAGE.read_text(), flags=re.MULTILINE)[1:]
    for name, part in zip(parts[::2], parts[1::2], strict=True):
        told = re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)
        assert told == CHECK["theorems"](TEXTS[name]), name


def project(folder: Path, text: str) -> Path:
    (folder / "_CoqProject").write_text("-Q . Rainbow\nToy.v\n")
    (folder / "Toy.v").write_text(text)
    return folder


def test_a_theorem_that_assumes_nothing_is_accepted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    CHECK["main"](project(tmp_path, "Theorem fine : 1 + 1 = 2.\nProof. reflexivity. Qed.\n"))
    assert capsys.readouterr().out == (
        "Toy.fine: Closed under the global context\n1 theorems in 1 files, no axiom\n"
    )


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Theorem wrong : 1 = 2.\nProof. Admitted.\n", "Toy.v must prove what it says"),
        ("Theorem wrong : 1 = 2.\nProof. reflexivity. Qed.\n", "coqc -q"),
        (
            "From Coq Require Import Classical.\n"
            "Theorem open (P : Prop) : P \\/ ~ P.\nProof. apply classic. Qed.\n",
            "these do: Toy.open",
        ),
    ],
)
def test_what_is_not_proved_is_refused(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(SystemExit) as refused:
        CHECK["main"](project(tmp_path, text))
    assert fault in str(refused.value)


def test_a_file_that_is_not_listed_is_refused(tmp_path: Path) -> None:
    project(tmp_path, "")
    (tmp_path / "Other.v").write_text("")
    with pytest.raises(SystemExit, match=r"\['Other\.v'\]"):
        CHECK["main"](tmp_path)


@pytest.mark.slow
def test_all_proofs_build_and_coqchk_finds_no_axiom(capsys: pytest.CaptureFixture[str]) -> None:
    CHECK["main"](kernel=True)
    *told, kernel, last = capsys.readouterr().out.splitlines()
    assert {line.partition(": ")[0].partition(".")[2] for line in told} == NAMES
    assert all(line.endswith(CHECK["CLOSED"]) for line in told)
    assert kernel == "coqchk: Axioms: <none>"
    assert last == f"{len(NAMES)} theorems in {len(TEXTS)} files, no axiom"


# The code as proved.


def z(number: int) -> str:
    return f"({number})%Z"


def zs(numbers: Iterable[int]) -> str:
    return f"[{'; '.join(map(str, numbers))}]%Z"


def q(number: Fraction) -> str:
    return f"({number.numerator} # {number.denominator})"


def lines(curve: TradeOff) -> str:
    """The polygon's edges as lines; level ones are the 1 of every curve."""
    rational = [(Fraction(a, unit), Fraction(b, unit)) for a, b, unit, _ in curve.chords]
    return f"[{'; '.join(f'({q(a)}, {q(b)})' for a, b in rational if a)}]"


def boolean(value: bool) -> str:
    return "true" if value else "false"


def row(dice: random.Random, answers: int, total: int) -> tuple[int, ...]:
    cuts = sorted(dice.randint(0, total) for _ in range(answers - 1))
    return tuple(b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True))


def curve(dice: random.Random) -> TradeOff:
    ratio = Fraction(dice.randint(1, 40), dice.randint(1, 10)) + 1
    delta = dice.choice([Fraction(0), Fraction(1, 10), Fraction(1, dice.randint(2, 10**6))])
    if dice.random() < 0.5:
        return safe_curve(DP.from_ratio(ratio, delta=delta))
    return TradeOff([(0, 1), ("1/10", "1/2"), ("1/4", "1/4"), ("1/2", "1/10"), (1, 0)])


def conditions(promise: object) -> str:
    assert isinstance(promise, LinePromise)
    return "; ".join(f"({a}, {b}, {c})%Z" for a, b, c in promise.conditions)


def accepted(prove: Callable[[], object]) -> bool:
    try:
        prove()
    except InvalidMechanism:
        return False
    return True


def checker_goals(dice: random.Random) -> Iterable[str]:
    for _ in range(40):
        guarantee, total = curve(dice), dice.choice([7, 100, 1 << 64])
        answers = dice.randint(2, 5)
        one = row(dice, answers, total)
        other = dice.choice([one, exact_step(guarantee, one), row(dice, answers, total)])
        promise, coq = promise_of(guarantee, total), f"(promise_of {z(total)} {lines(guarantee)})"
        yield f"{coq} = [{conditions(promise)}]"
        fine = first_violation(promise, one, other) is None
        yield f"passes {coq} {zs(one)} {zs(other)} = {boolean(fine)}"


def step_goals(dice: random.Random) -> Iterable[str]:
    for _ in range(40):
        guarantee, total = curve(dice), dice.choice([5, 100, 1 << 64])
        before = row(dice, dice.randint(1, 5), total)
        after = exact_step(guarantee, before)
        yield f"exact_step {lines(guarantee)} {z(total)} {zs(before)} = {zs(after)}"
        level = allowed(guarantee, before[0], total) / total
        at = q(Fraction(before[0], total))
        yield f"Qeq_bool (phi {lines(guarantee)} {at}) {q(level)} = true"
        first, *rest = (f"({q(x)}, {q(y)})" for x, y in guarantee.knots)
        yield f"Qeq_bool (polygon {first} [{'; '.join(rest)}] {at}) {q(level)} = true"
        mass = (dice.randint(0, 100), dice.randint(1, 9))
        weight = dice.randint(0, 12)
        rounded = _towards(weight, (0, 1), mass)
        yield f"towards {z(weight)} {q(Fraction(*mass))} = {z(rounded)}"


def exponential_goals(dice: random.Random) -> Iterable[str]:
    for _ in range(10):
        x = Fraction(dice.randint(0, 400), dice.randint(1, 60))
        halvings = (x.numerator // x.denominator).bit_length() + 8
        scale = 1 << (BITS + 2 * halvings)
        found = f"exp_below 80 {halvings} {z(scale)} {q(x)}"
        yield f"Qeq_bool ({found}) {q(exp_below(x))} = true"


def printed_goals(dice: random.Random) -> Iterable[str]:
    for _ in range(20):
        s, delta = Fraction(dice.randint(0, 99), 99), Fraction(dice.randint(0, 20), 50)
        ratio = 1 + Fraction(dice.randint(0, 30), 10)
        value = printed_step(s, ratio, delta)
        yield f"Qeq_bool (printed_step {q(ratio)} {q(delta)} {q(s)}) {q(value)} = true"


def ladder_goals(dice: random.Random) -> Iterable[str]:
    for _ in range(20):
        guarantee = curve(dice)
        total, answers = dice.choice([60, 6000]), dice.choice([2, 3, 4])
        pairs = [(total - (answers - 1) * b, b) for b in sorted(dice.sample(range(15), 2))][::-1]
        fine = accepted(lambda g=guarantee, n=answers, p=pairs: prove_alike(g, n, p))  # type: ignore[misc]
        ladder = "; ".join(f"({a}, {b})%Z" for a, b in pairs)
        coq = f"(promise_of {z(total)} {lines(guarantee)})"
        yield f"prove_alike {z(total)} {coq} {answers} [{ladder}] = {boolean(fine)}"
        line = Line(0, tuple(sorted(dice.choices(range(total), k=3))), 2, total)
        fine = accepted(lambda g=guarantee, made=line: prove_line(g, made))  # type: ignore[misc]
        weights = zs(line.weights)
        yield f"prove_line {z(total)} {coq} 0%Z {weights} = {boolean(fine)}"
        for count in (0, 1, 2, 3, 9):
            yield f"line_weight 0%Z {weights} 2 {count} = {z(line.weight(count))}"


def draw_goals(dice: random.Random) -> Iterable[str]:
    for _ in range(20):
        weights = row(dice, 4, 30)
        drawn = dice.randrange(30)
        with mock.patch("secrets.randbelow", return_value=drawn):
            place = ExactRow((0, 1, 2, 3), weights).draw()
        yield f"draw {zs(weights)} {z(drawn)} = {place}%nat"


GOALS: Sequence[Callable[[random.Random], Iterable[str]]] = (
    checker_goals,
    step_goals,
    exponential_goals,
    printed_goals,
    ladder_goals,
    draw_goals,
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("proofs")
    CHECK["build"](where)
    return where


def closes(where: Path, goals: Iterable[str]) -> subprocess.CompletedProcess[str]:
    """Coq computes both sides of every goal."""
    head = (
        "From Coq Require Import ZArith QArith List.\n"
        "From Rainbow Require Import Curves Polygons BestStep.\n"
        "From Rainbow Require Import Checker Ladders ExactStep ExpBelow Draw.\n"
        "Import ListNotations.\nOpen Scope Q_scope.\n"
    )
    proved = (f"Goal {goal}.\nProof. vm_compute. reflexivity. Qed.\n" for goal in goals)
    (where / "Goals.v").write_text(head + "".join(proved))
    command = ["coqc", "-q", "-Q", ".", "Rainbow", "Goals.v"]
    return subprocess.run(command, cwd=where, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("goals", GOALS)
def test_the_code_computes_what_was_proved(
    built: Path, goals: Callable[[random.Random], Iterable[str]]
) -> None:
    done = closes(built, goals(random.Random(23)))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_other_values_would_be_noticed(built: Path) -> None:
    assert closes(built, ["draw [1; 2]%Z 1%Z = 0%nat"]).returncode != 0
