"""Small faults are made, tried one at a time, and held against the list of equivalent ones."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

MUTANTS = Path(__file__).parent.parent / "mutants"
sys.path.append(str(MUTANTS))

from changes import changes  # noqa: E402  found by the line above
from listed import Name, judge, read_listed, sampled, table  # noqa: E402

TOY = '''
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

LIMIT = 3

def allowed(spent: int, more: int) -> bool:
    """Whether so much may be spent."""
    if more < 0:
        raise ValueError("more must be from 0")
    return spent + more <= LIMIT

def all_allowed(each):
    for more in each:
        if not allowed(0, more):
            return False
    return True

def counter():
    def count(before):
        return before + 1

    return count
'''

# It does not see 0, a sum at the limit, or that the limit is 3 and not 4.
TESTS = """
import pytest
from toy import all_allowed, allowed, counter

def test_allowed():
    assert allowed(1, 1)
    assert not allowed(3, 2)
    with pytest.raises(ValueError):
        allowed(0, -1)

def test_all():
    assert all_allowed([1, 1])
    assert not all_allowed([5, 1])
    assert not all_allowed([1, 5])

def test_count():
    assert counter()(3) == 4
"""

RUN = """
import ast, gc, json, sys
import pytest
from changes import changes
from trying import Trial, functions_of, put_in

def does(trial):
    import toy
    tree = ast.parse(open(toy.__file__).read())
    gc.freeze()  # as our own tests are
    functions = functions_of([toy.__file__])
    items, found = trial.session.items, {}
    for change in changes(tree):
        if change.inside:
            put = put_in(tree, toy.__file__, change.function, functions)
            outcome = trial.run(put, items, [2] * len(items))
            found[change.text] = [outcome.state, outcome.test]
    print(json.dumps(found))

pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-c", "/dev/null", "--rootdir=.",
             "-s", "test_toy.py"], plugins=[Trial(does)])
"""


def test_changes_are_named_without_lines_and_leave_no_trace() -> None:
    tree = ast.parse(TOY)
    before = ast.dump(tree)
    found = [(change.function, change.text) for change in changes(tree)]
    assert ast.dump(tree) == before
    assert found == [(change.function, change.text) for change in changes(ast.parse("\n" + TOY))]
    assert len(set(found)) == len(found)
    assert [text for function, text in found if function == "(module)"] == [
        "LIMIT = 3  =>  LIMIT = 4",
        "LIMIT = 3  =>  LIMIT = 2",
    ]
    assert ("allowed", "spent + more <= LIMIT  =>  spent + more < LIMIT") in [
        (function, text.replace("return ", "")) for function, text in found
    ]
    assert ("allowed", "raise ValueError('more must be from 0')  =>  pass") in found
    assert ("all_allowed", "for more in each  =>  for more in list(each)[1:]") in found


def test_a_larger_sample_has_all_of_the_smaller() -> None:
    names = [Name("a.py", "f", str(number)) for number in range(40)]
    few, more = (sampled(names, size, 0) for size in (5, 12))
    assert (len(set(few)), len(set(more))) == (5, 12)
    assert set(few) < set(more) < set(names)
    assert set(few) == set(sampled(names[::-1], 5, 0)) != set(sampled(names, 5, 1))
    for size in (None, 40, 1000):
        assert sorted(sampled(names, size, 0)) == sorted(names)


def test_a_survivor_of_a_toy_is_found_and_all_else_is_killed(tmp_path: Path) -> None:
    (tmp_path / "toy.py").write_text(TOY)
    (tmp_path / "test_toy.py").write_text(TESTS)
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{tmp_path}:{MUTANTS}"},
        capture_output=True,
        text=True,
    )
    outcomes = json.loads(next(x for x in done.stdout.splitlines() if x.startswith("{")))
    live = {text for text, (state, _) in outcomes.items() if state == "survived"}
    assert live == {
        "more < 0  =>  more <= 0",
        "more < 0  =>  more < 1",
        "return spent + more <= LIMIT  =>  return spent + more < LIMIT",
        "not allowed(0, more)  =>  not allowed(1, more)",
        "not allowed(0, more)  =>  not allowed(more, 0)",
    }
    assert len(outcomes) > 12
    killers = {test for state, test in outcomes.values() if state == "killed"}
    assert killers == {f"test_toy.py::test_{name}" for name in ("allowed", "all", "count")}
    assert (tmp_path / "toy.py").read_text() == TOY


def test_a_survivor_must_be_argued_for_and_an_entry_must_survive(tmp_path: Path) -> None:
    file = tmp_path / "room.toml"
    file.write_text(
        '[[survivor]]\nmodule = "a.py"\nfunction = "f"\nchanges = ["x", "y", "z"]\nwhy = "same"\n'
    )
    listed = read_listed(tmp_path)
    x, y, z, new = (Name("a.py", "f", text) for text in ("x", "y", "z", "new"))
    states = {x: "survived", y: "killed", new: "survived"}
    verdict = judge(states, listed, states, {"a.py"})
    assert (verdict.unlisted, verdict.gone, verdict.killed) == ((new,), (z,), (y,))
    assert not verdict.holds
    assert judge({x: "survived"}, {x: "same"}, [x], {"a.py"}).holds
    assert judge({}, listed, [], set()).holds  # of a module that was not tried nothing is known
    assert table(states, listed).splitlines()[1].split() == ["a.py", "3", "1", "0", "1", "1", "0"]
    file.write_text('[[survivor]]\nmodule = "a.py"\nfunction = "f"\nchanges = ["x"]\nwhy = " "\n')
    with pytest.raises(ValueError, match="without an argument"):
        read_listed(tmp_path)


def test_the_list_can_be_read() -> None:
    for name, why in read_listed(MUTANTS / "survivors").items():
        assert (MUTANTS.parent / "src" / "rainbowdp" / name.module).exists(), name
        assert len(why) > 20
