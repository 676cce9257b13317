"""The ledger among processes that race, die, and run out of disk or rights.

Run as a program, this file is such a process: it imports everything once and forks, so that a
child lives for milliseconds and a kill hits the middle of its work.
"""

from __future__ import annotations

import json
import os
import pwd
import random
import resource
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest

import rainbowdp as rb
from ledgers import new_ledger
from postgres import fresh_schema
from rainbowdp.errors import BudgetExceeded, LedgerError
from rainbowdp.ledger import Entry, Ledger
from rainbowdp.questions import Unit

COST = rb.DP("0.01")


def spend(ledger: Ledger, name: str | None = None) -> Entry:
    return ledger.spend(
        COST, question={"q": 1}, unit=Unit(), neighbors="substituted", source="here", name=name
    )


def run(*words: object, file: str | Path = __file__) -> str:
    """What this file, or another one, prints when run with these words."""
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, file, *map(str, words)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path.rstrip(os.pathsep)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A fresh place in either database."""
    if request.param == "postgresql":
        return fresh_schema(request.getfixturevalue("postgres_url"))
    return str(tmp_path / "budget.db")


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that every user can read."""
    folder = Path(tempfile.mkdtemp(prefix="rainbow-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


# at once


@pytest.mark.slow
def test_eight_at_once_spend_the_budget_and_no_more(place: str) -> None:
    ledger = new_ledger(place, epsilon="1.609", timeout=60)
    paid = [int(count) for count in run("race", place).split()]
    assert len(paid) == 8
    assert sum(paid) == 160
    assert ledger.balance().spent.parts[0] == Fraction(160, 100)
    assert len(ledger.history()) == 160


@pytest.mark.slow
def test_sixteen_at_once_all_get_their_answers_recorded(place: str) -> None:
    """With SQLite's own handler of locks, some of them gave up after the payment."""
    ledger = new_ledger(place, epsilon="3.2")
    assert run("answer", place).split() == ["20"] * 16
    assert ledger.balance().answers == 320
    ledger.verify()


@pytest.mark.slow
def test_eight_at_once_under_one_name_pay_once(place: str) -> None:
    ledger = new_ledger(place, epsilon=1)
    said = run("name", place).splitlines()
    refused = (
        f"The name 'mine' is already in {ledger.where}. Recall its answer, or choose another name."
    )
    assert sorted(said) == sorted(["paid", *7 * [refused]])
    assert len(ledger.history()) == 1


@pytest.mark.slow
def test_eight_at_once_create_one_ledger(place: str) -> None:
    said = run("create", place).splitlines()
    assert len(said) == 8
    assert said.count("created") == 1
    assert all(
        " already exists and was left as it was. " in line for line in said if line != "created"
    )
    assert Ledger.open(place).balance().entries == 0


# killed


def releases_survive(place: str, answers: Path, count: int) -> None:
    """Releases until the budget is spent, by processes that are killed again and again."""
    ledger = new_ledger(place, epsilon=Fraction(count, 100))
    kills = int(run("kill", place, answers))
    entries = {entry.number: entry for entry in ledger.history()}
    assert ledger.balance().left.parts[0] == 0
    assert len(entries) == count
    shown = [line.split() for line in answers.read_text().splitlines()]
    assert len({number for number, _ in shown}) == len(shown)
    assert all(entries[int(number)].answer == answer for number, answer in shown)
    if count >= 100:  # of a few, all may be hit, or none, when the machine is busy
        assert kills >= count / 10
        assert len(shown) > count // 30
    with pytest.raises(BudgetExceeded):
        spend(Ledger.open(place))


@pytest.mark.parametrize("count", [5, pytest.param(200, marks=pytest.mark.slow)])
def test_releases_killed_at_random_on_sqlite(tmp_path: Path, count: int) -> None:
    releases_survive(str(tmp_path / "budget.db"), tmp_path / "answers", count)


@pytest.mark.slow
def test_a_hundred_releases_killed_at_random_on_postgresql(
    postgres_url: str, tmp_path: Path
) -> None:
    releases_survive(fresh_schema(postgres_url), tmp_path / "answers", 100)


@pytest.mark.slow
@pytest.mark.parametrize("currency", ["epsilon", "mu", "rho"])
def test_eight_writers_of_which_forty_are_killed(place: str, currency: str) -> None:
    """Nothing overspent, no answer without its entry, a chain with every head that was shown."""
    writers = Path(__file__).parents[1] / "killed_writers.py"
    assert run(place, currency, 40, file=writers).startswith("Found(kills=40, entries=400, ")


@pytest.mark.parametrize("count", [12, pytest.param(60, marks=pytest.mark.slow)])
def test_a_creation_that_is_killed_leaves_a_whole_ledger_or_none(
    tmp_path: Path, count: int
) -> None:
    made = json.loads(run("unmade", tmp_path, count))
    assert 0 < sum(made) < len(made)
    for number, there in enumerate(made):
        place = tmp_path / f"{number}.db"
        assert place.exists() == there
        ledger = Ledger.open(place) if there else new_ledger(place, epsilon=1)
        assert ledger.balance().entries == 0
        spend(ledger)


# without room, without rights


@contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """Mounts a file system of 256 KiB; False where this user may not."""
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "rainbow", str(folder)]
    mounted = os.geteuid() == 0 and subprocess.run(command, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


def failing(place: Path) -> str:
    return (
        f"{place} could not be read or written: disk I/O error. Repair its disk or server, and "
        "look at the history before you ask again."
    )


def test_a_full_disk(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    with small_disk(tmp_path) as mounted:
        ledger = new_ledger(place, epsilon=1)
        spend(ledger)
        before = ledger.balance(), ledger.history()
        filler = tmp_path / "filler"
        if mounted:
            with pytest.raises(OSError, match="No space left"):
                filler.write_bytes(bytes(10**6))
            with pytest.raises(LedgerError) as refused:
                spend(ledger)
            said = str(refused.value)
            with pytest.raises(LedgerError, match=r"The disk that holds .* is full"):
                new_ledger(tmp_path / "second.db", epsilon=1)
            assert sorted(path.name for path in tmp_path.iterdir()) == ["budget.db", "filler"]
            filler.unlink()
        else:
            said = run("limit", place).strip()
        assert said in (
            f"The disk that holds {place} is full. Free some space and try again. Nothing was "
            "spent.",
            failing(place),
        )
        assert (" is full. " in said) == mounted
        assert (ledger.balance(), ledger.history()) == before
        assert Ledger.open(place).balance() == before[0]
        spend(ledger)
        assert ledger.balance().entries == 2


@pytest.mark.slow
def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    ledger = new_ledger(place, epsilon=1)
    before = ledger.balance()
    assert run("limit", place).strip() == failing(place)
    assert Ledger.open(place).balance() == before
    spend(ledger)


@pytest.mark.slow
@pytest.mark.parametrize(("of_file", "of_folder"), [(0o444, 0o755), (0o666, 0o555)])
def test_a_read_only_file_or_folder(shared: Path, of_file: int, of_folder: int) -> None:
    place = shared / "budget.db"
    ledger = new_ledger(place, epsilon=1)
    spend(ledger)
    place.chmod(of_file)
    shared.chmod(of_folder)
    balance, *said = run("reader", place).splitlines()
    assert json.loads(balance) == ledger.balance().as_dict()
    read_only = (
        f"{place} is read-only. Make it and its folder writable for this user. Nothing was spent."
    )
    assert said[0] == read_only
    if os.geteuid() == 0 or of_folder == 0o555:
        second = read_only.replace("budget.db", "second.db")
        assert said[1] == second.removesuffix(" Nothing was spent.")
    assert ledger.balance().entries == 1


# the process


def fork(work: Callable[[], None]) -> int:
    """A child that does the work and exits; its id."""
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)


def say(line: object) -> None:
    """One line in one write, which a kill cannot split."""
    os.write(1, f"{line}\n".encode())


def all_of(count: int, work: Callable[[], None]) -> None:
    children = [fork(work) for _ in range(count)]
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)


def race(place: str) -> None:
    ledger, paid = Ledger.open(place, timeout=60), 0
    try:
        while True:
            spend(ledger)
            paid += 1
    except BudgetExceeded:
        say(paid)


def answer(place: str) -> None:
    ledger = Ledger.open(place)
    for _ in range(20):
        ledger.record(spend(ledger), "red")
    say(20)


def name(place: str) -> None:
    try:
        spend(Ledger.open(place, timeout=60), "mine")
        say("paid")
    except LedgerError as error:
        say(error)


def create(place: str) -> None:
    try:
        new_ledger(place, epsilon=1, timeout=60)
        say("created")
    except LedgerError as error:
        say(error)


def release(ledger: Ledger, shown: int) -> None:
    """One release: pay, draw, record, show."""
    entry = spend(ledger, secrets.token_hex(8))
    answer = secrets.choice(["red", "green", "blue"])
    ledger.record(entry, answer)
    os.write(shown, f"{entry.number} {answer}\n".encode())


def releases(place: str, shown: int, ready: int) -> None:
    """Releases until the budget is spent."""
    ledger = Ledger.open(place)
    os.write(ready, b".")
    try:
        while True:
            release(ledger, shown)
    except BudgetExceeded:
        pass


def kill(place: str, answers: str) -> None:
    """Kills the releasing process at random moments until it has come to its end."""
    shown = os.open(answers, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    # The span grows until half of the processes show an answer: the first are killed too early.
    kills, span = 0, 0.001
    while True:
        opened, ready = os.pipe()
        child = fork(partial(releases, place, shown, ready))
        os.close(ready)
        before = os.fstat(shown).st_size
        if random.random() < 0.8:  # the others die while they open the ledger
            os.read(opened, 1)
        time.sleep(random.uniform(0, span))
        os.kill(child, signal.SIGKILL)
        os.close(opened)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status != -signal.SIGKILL:
            assert status == 0
            say(kills)
            return
        kills += 1
        span *= 0.8 if os.fstat(shown).st_size > before else 1.25


def unmade(folder: str, count: str) -> None:
    """Kills processes that create ledgers, each a little later; says which were made."""
    longest = 0.0
    made = []
    for number in range(int(count)):
        place = f"{folder}/{number}.db"
        start = time.perf_counter()
        child = fork(partial(create_quietly, place))
        if number >= 5:
            time.sleep(longest * (number - 5) / (int(count) - 5))
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if number < 5:
            longest = max(longest, time.perf_counter() - start)
        made.append(Path(place).exists())
    say(json.dumps(made))


def create_quietly(place: str) -> None:
    new_ledger(place, epsilon=1)


def limit(place: str) -> None:
    """Spends where no file may be written past its first bytes."""
    ledger = Ledger.open(place)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    try:
        spend(ledger)
    except LedgerError as error:
        say(error)


def reader(place: str) -> None:
    """Reads, spends and creates as a user who may only read."""
    Ledger.open(place)  # imports what the other user may not be able to
    if os.geteuid() == 0:
        os.setgroups([])
        os.setuid(pwd.getpwnam("nobody").pw_uid)
    ledger = Ledger.open(place)
    say(json.dumps(ledger.balance().as_dict()))
    for work in (
        lambda: spend(ledger),
        lambda: new_ledger(Path(place).with_name("second.db"), epsilon=1),
    ):
        try:
            work()
        except LedgerError as error:
            say(error)


if __name__ == "__main__":
    command, words = globals()[sys.argv[1]], sys.argv[2:]
    if command in (race, name, create, answer):
        all_of(16 if command is answer else 8, lambda: command(*words))
    else:
        command(*words)
