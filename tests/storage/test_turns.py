"""What many threads want at one time is done by one of them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from rainbowdp.storage.turns import Take, Task, Turns


class Number(Task):
    """A number to be doubled."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number, self.found = number, 0


def test_each_task_is_done_once_and_many_in_one_turn() -> None:
    turns: Turns[Number] = Turns()
    sizes: list[int] = []
    alone, first = threading.Lock(), threading.Event()

    def lead(take: Take[Number]) -> None:
        assert alone.acquire(blocking=False)  # never two at a time
        first.wait(10)
        tasks = take()
        sizes.append(len(tasks))
        for one in tasks:
            one.found += 2 * one.number
        alone.release()

    def doubled(number: int) -> int:
        task = Number(number)
        turns.take(task, lead)
        return task.found

    with ThreadPoolExecutor(20) as pool:
        begun = [pool.submit(doubled, number) for number in range(20)]
        while len(turns._waiting) < 20:
            pass
        first.set()
        assert [one.result() for one in begun] == [2 * number for number in range(20)]
    assert sizes[0] == 20  # who came while the first one could not begin yet is taken along
    assert sum(sizes) == 20
    assert doubled(21) == 42


def test_no_turn_is_endless() -> None:
    turns: Turns[Number] = Turns(most=3)
    sizes: list[int] = []
    first = threading.Event()

    def lead(take: Take[Number]) -> None:
        first.wait(10)
        sizes.append(len(take()))

    with ThreadPoolExecutor(8) as pool:
        for number in range(8):
            pool.submit(turns.take, Number(number), lead)
        while len(turns._waiting) < 8:
            pass
        first.set()
    assert sizes == [3, 3, 2]


def test_whoever_fails_lets_the_next_one_lead() -> None:
    turns: Turns[Number] = Turns()

    def fails(take: Take[Number]) -> None:
        take()
        raise MemoryError

    with pytest.raises(MemoryError):
        turns.take(Number(1), fails)

    def marks(take: Take[Number]) -> None:
        for one in take():
            one.found = 1

    task = Number(1)
    turns.take(task, marks)
    assert task.found == 1
