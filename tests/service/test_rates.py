"""How often people may ask, over all processes, and how often sign-ins may fail."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from rainbowdp.answering.best import best
from rainbowdp.guarantees.dp import DP
from rainbowdp.questions import Count
from rainbowdp.service.people.roles import Expired, Unauthenticated
from rainbowdp.service.problems import Code, Problem
from rainbowdp.service.rates import OwnBuckets, Rates, SharedBuckets, SignIns
from rainbowdp.service.state import Mechanisms
from services import client, headers

_TAKES = """
import sys
from pathlib import Path
from rainbowdp.service.problems import Problem
from rainbowdp.service.rates import Rates, SharedBuckets
rates, taken = Rates(18, SharedBuckets(Path(sys.argv[1]))), 0
rates._rate = 1e-9  # nothing is filled while slow machines start Python
for number in range(int(sys.argv[2])):
    try:
        rates.take("ann")
        taken += 1
    except Problem:
        pass
print(taken)
"""


@pytest.fixture(params=["own", "shared"])
def buckets(request: pytest.FixtureRequest, tmp_path: Path) -> OwnBuckets | SharedBuckets:
    return OwnBuckets() if request.param == "own" else SharedBuckets(tmp_path / "counted")


def test_a_bucket_fills_again(
    buckets: OwnBuckets | SharedBuckets, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    rates = Rates(60, buckets)
    for _ in range(10):
        rates.take("ann")
    with pytest.raises(Problem) as caught:
        rates.take("ann")
    assert caught.value.retry_after == 1
    rates.take("bob")
    now[0] += 1
    rates.take("ann")
    with pytest.raises(Problem):
        rates.take("ann")


def test_processes_count_together(tmp_path: Path) -> None:
    file = tmp_path / "counted"
    command = [sys.executable, "-c", _TAKES, str(file), "5"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    taken = [int(one.communicate()[0]) for one in running]
    assert sum(taken) == 3  # three at once, whichever process is asked


def test_a_killed_process_leaves_no_lock_behind(tmp_path: Path) -> None:
    file = tmp_path / "counted"
    held = (
        "import sys; from pathlib import Path; from rainbowdp.service.rates import SharedBuckets\n"
        "with SharedBuckets(Path(sys.argv[1]))._alone(): print('held', flush=True); input()"
    )
    command = [sys.executable, "-c", held, str(file)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        process.kill()
    Rates(6, SharedBuckets(file)).take("ann")


def test_thousands_of_people_have_buckets_of_their_own(tmp_path: Path) -> None:
    rates = Rates(6, SharedBuckets(tmp_path / "counted"))
    rates._rate = 1e-9
    for number in range(2000):
        rates.take(f"person {number}")
    refused = 0
    for number in range(2000):
        try:
            rates.take(f"person {number}")
        except Problem:
            refused += 1
    assert refused == 2000


def test_an_address_of_many_failures_is_not_listened_to_for_a_while(
    buckets: OwnBuckets | SharedBuckets, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    signs = SignIns(60, buckets)

    def fails(address: str, token: str = "none") -> None:
        with signs.watched(address, token):
            raise Unauthenticated("no such token")

    with signs.watched("here", "right"):
        pass
    for _ in range(20):  # old, and no forgery
        with pytest.raises(Expired), signs.watched("here", "old"):
            raise Expired("its time is over")
    for _ in range(10):
        with pytest.raises(Unauthenticated):
            fails("here")
    with pytest.raises(Problem) as caught:
        fails("here")
    assert (caught.value.code, caught.value.retry_after) == (Code.TOO_MANY, 1)
    with pytest.raises(Problem), signs.watched("here", "another that is right"):
        pass
    with signs.watched("here", "right"):  # it was accepted before
        pass
    with pytest.raises(Unauthenticated):
        fails("there")
    with pytest.raises(Unauthenticated):  # revoked: from now on it is one like all others
        fails("here", "right")
    with pytest.raises(Problem), signs.watched("here", "right"):
        pass
    now[0] += 1
    with signs.watched("here", "right"):
        pass


def test_forgers_are_told_to_wait_and_others_go_on(tmp_path: Path) -> None:
    with client(tmp_path, failed_sign_ins_per_minute=12) as service:
        assert service.get("/v1/me", headers=headers("ann")).status_code == 200
        forged = {"Authorization": "Bearer rb_none"}
        found = [service.get("/v1/me", headers=forged) for _ in range(6)]
        assert [one.status_code for one in found[:2]] == [401, 401]
        refused = [one for one in found if one.status_code == 429]
        assert refused
        assert {one.json()["code"] for one in refused} == {"too_many"}
        assert all(int(one.headers["retry-after"]) >= 1 for one in refused)
        assert service.get("/v1/me", headers=headers("ann")).status_code == 200
        asked = service.post("/v1/datasets/visits/ask", json={}, headers=forged)
        assert asked.status_code == 429


def test_slow_mechanisms_take_some_threads_and_not_all() -> None:
    made, slow = best(Count(), DP(1)), threading.Event()
    mechanisms = Mechanisms(seats=2, patience=0.01)
    assert mechanisms.made("quick", lambda: made) is made

    def makes() -> object:
        slow.wait(60)
        return made

    def wants(key: str) -> None:
        mechanisms.made(key, makes)  # type: ignore[arg-type]

    # one makes it, and one waits for it
    threads = [threading.Thread(target=wants, args=("slow",)) for _ in range(2)]
    for thread in threads:
        thread.start()
    while mechanisms._seats._value:
        time.sleep(0.001)
    for key in ("slow", "another"):
        with pytest.raises(Problem) as caught:
            mechanisms.made(key, lambda: made)
        assert (caught.value.code, caught.value.status) == (Code.BUSY, 503)
        assert caught.value.retry_after
    assert mechanisms.made("quick", lambda: made) is made
    slow.set()
    for thread in threads:
        thread.join()
    assert mechanisms.made("another", lambda: made) is made


def test_a_mechanism_that_cannot_be_made_gives_its_seat_back() -> None:
    mechanisms = Mechanisms(seats=1, patience=0.01)

    def fails() -> object:
        raise Problem(Code.INVALID_QUESTION, "It makes no sense.")

    for _ in range(3):
        with pytest.raises(Problem, match="no sense"):
            mechanisms.made("one", fails)  # type: ignore[arg-type]
