"""What many threads want at one time, done by one of them for all.

A round trip to a database costs the same for one thing as for twenty. A thread that finds nobody at
work leads: it does its own work, and that of all who have come until it is able to begin. Those who
come later wait, and one of them leads next. Nothing is kept from one turn to the next, so whoever
asks is told what was so after the question was asked.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar


class Task:
    """What one thread wants, with the lock that it waits at."""

    def __init__(self) -> None:
        self.done = False
        self._wake = threading.Lock()
        self._wake.acquire()

    def wait(self) -> None:
        """Wait until this is done, or it is this thread's turn to lead."""
        self._wake.acquire()

    def wake(self) -> None:
        """Let whoever waits go on."""
        self._wake.release()


Some = TypeVar("Some", bound=Task)
Take: TypeAlias = Callable[[], list[Some]]


class Turns(Generic[Some]):
    """Takes tasks from many threads, and has them done by whoever's turn it is.

    Parameters
    ----------
    most
        How many tasks are done in one turn, so that nobody waits for a turn that others fill.

    """

    def __init__(self, most: int = 64) -> None:
        self._most, self._guard = most, threading.Lock()
        self._waiting: list[Some] = []
        self._led = False

    def take(self, task: Some, lead: Callable[[Take[Some]], None]) -> None:
        """Wait until a task is done, here or by another thread.

        ``lead`` is given a function that hands over the tasks that wait, this one among them. It
        does all that it takes, and tells each what came of it, also of a failure; it does not
        raise.
        """
        with self._guard:
            self._waiting.append(task)
            leads, self._led = not self._led, True
        if not leads:
            task.wait()
            if task.done:
                return
        taken: list[Some] = []

        def take() -> list[Some]:
            with self._guard:
                now = self._waiting[: self._most]
                del self._waiting[: self._most]
            taken.extend(now)
            return now

        try:
            lead(take)
        finally:
            self._pass_on(task, taken)

    def _pass_on(self, own: Some, done: list[Some]) -> None:
        """Let those go whose tasks are done, and have one of the others lead."""
        with self._guard:
            following = self._waiting[0] if self._waiting else None
            self._led = following is not None
        if following is not None:
            following.wake()
        for one in done:
            one.done = True
            if one is not own:
                one.wake()
