"""What a running service holds: open datasets, people, mechanisms, and the threads that work."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from rainbowdp.answering.askable import Askable
from rainbowdp.answering.best import best
from rainbowdp.errors import RainbowError
from rainbowdp.guarantees.descriptions import describe_guarantee
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions import Count, Restored, Winner
from rainbowdp.service.approvals import Approvals
from rainbowdp.service.config import Settings
from rainbowdp.service.datasets import Dataset
from rainbowdp.service.people.directory import people_behind
from rainbowdp.service.people.roles import Directory
from rainbowdp.service.problems import Code, Problem
from rainbowdp.service.rates import Rates, SharedBuckets, SignIns

Found = TypeVar("Found")
_MOST_MECHANISMS = 512
_LOOK = 0.02  # seconds between two looks at what is running
_SOON = 2  # seconds after which a busy service may have time


class TooSlow(RainbowError):
    """The time of a request is over."""


class Deadline:
    """When a request must be answered; work that looks at it stops."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        """Raise if the time is over."""
        if time.monotonic() > self._end:
            raise TooSlow("the time of this request is over")

    def progress(self, _: float) -> None:
        """Called while files are read."""
        self.check()


class Mechanisms:
    """Mechanisms that were made, by question and guarantee; the least recently used one goes.

    A mechanism depends on no data, and making one may take seconds, or minutes, and cannot be
    stopped. Two who want the same one wait for one making of it. So many threads may make one or
    wait for it at a time; the others answer questions whose mechanisms are there.
    """

    def __init__(self, most: int = _MOST_MECHANISMS, seats: int = 1, patience: float = 1.0) -> None:
        self._most, self._lock, self._patience = most, threading.Lock(), patience
        self._seats = threading.BoundedSemaphore(seats)
        self._made: OrderedDict[str, Future[Askable]] = OrderedDict()

    def of(self, question: Restored, guarantee: Guarantee) -> Askable:
        """The best mechanism for a question, proved."""
        described = [question.describe(), describe_guarantee(guarantee)]
        key = json.dumps(described, sort_keys=True)
        return self.made(key, lambda: best(question, guarantee))

    def made(self, key: str, make: Callable[[], Askable]) -> Askable:
        """What was made under a key before, or is made now."""
        with self._lock:
            known = self._made.get(key)
            if known is not None and known.done():
                self._made.move_to_end(key)
                return known.result()
        if not self._seats.acquire(timeout=self._patience):
            raise Problem(
                Code.BUSY,
                "The service makes mechanisms for other questions, and this one needs a new one. "
                "Ask again in a moment, with the same Idempotency-Key.",
                retry_after=_SOON,
            )
        try:
            return self._made_here(key, make)
        finally:
            self._seats.release()

    def _made_here(self, key: str, make: Callable[[], Askable]) -> Askable:
        with self._lock:
            known = self._made.get(key)
            mine: Future[Askable] = Future()
            if known is None:
                self._made[key] = mine
                if len(self._made) > self._most:
                    self._made.popitem(last=False)
            else:
                self._made.move_to_end(key)
        if known is not None:
            return known.result()
        try:
            made = make()
            made.proof  # noqa: B018  proved now, and kept with it
        except BaseException as error:
            with self._lock:
                self._made.pop(key, None)
            mine.set_exception(error)
            raise
        mine.set_result(made)
        return made


@dataclass
class Service:
    """A running service.

    Attributes
    ----------
    settings
        What ``service.toml`` says.
    directory
        Knows people by their tokens.
    datasets
        By name, open.
    shared
        The file in which the processes of a service count requests together.

    """

    settings: Settings
    directory: Directory
    datasets: dict[str, Dataset]
    shared: Path | None = None

    def __post_init__(self) -> None:
        self.people = people_behind(self.directory, self.settings)
        self.approvals = Approvals(self.people.store)
        self.mechanisms = Mechanisms(seats=max(1, self.settings.threads // 2))
        buckets = None if self.shared is None else SharedBuckets(self.shared)
        self.rates = Rates(self.settings.requests_per_minute, buckets)
        self.sign_ins = SignIns(self.settings.failed_sign_ins_per_minute, buckets)
        self.stopping = False
        self._stop_at: float | None = None
        self._pool = ThreadPoolExecutor(self.settings.threads, thread_name_prefix="question")
        self._running = 0

    @classmethod
    def opened(
        cls, settings: Settings, directory: Directory, shared: Path | None = None
    ) -> Service:
        """The service with all of its ledgers open and its tables checked."""
        _warm()
        opened = {name: Dataset.opened(name, settings) for name in settings.dataset}
        return cls(settings, directory, opened, shared)

    def dataset(self, name: str) -> Dataset:
        """The dataset of a name."""
        found = self.datasets.get(name)
        if found is None:
            raise Problem(
                Code.UNKNOWN_DATASET,
                f"There is no dataset of this name. There are {', '.join(self.datasets)}.",
            )
        return found

    def deadline(self) -> Deadline:
        """The end of a request that begins now."""
        return Deadline(self.settings.time_limit)

    async def work(self, work: Callable[[], Found]) -> Found:
        """Work in one of few threads, for no longer than the time limit.

        What has begun goes on to its end where nobody waits for it any more, so that an answer that
        is paid for is recorded.
        """
        if self.stopping:
            raise Problem(
                Code.STOPPING,
                "The service is stopping. Ask again in a moment, with the same Idempotency-Key.",
                retry_after=_SOON,
            )
        most = self.settings.threads + self.settings.waiting
        if self._running >= most:
            raise Problem(
                Code.BUSY,
                f"The service works on {most} requests already. Ask again in a moment.",
                retry_after=_SOON,
            )
        self._running += 1
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[Found] = loop.create_future()

        def run() -> None:
            try:
                done = partial(self._done, waiting, work(), None)
            except BaseException as error:
                done = partial(self._done, waiting, None, error)
            with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
                loop.call_soon_threadsafe(done)

        begun = self._pool.submit(run)
        limit = self.settings.time_limit
        try:
            async with asyncio.timeout(limit):
                return await waiting
        except (TimeoutError, TooSlow):
            pass
        finally:
            if waiting.cancelled() and begun.cancel():  # nobody waits, and it has not begun
                self._running -= 1
        raise Problem(
            Code.TOO_SLOW,
            f"This took more than {limit:g} s. Ask again with the same Idempotency-Key: an answer "
            "that was paid for is recalled for free.",
            retry_after=_SOON,
        )

    @property
    def running(self) -> int:
        """How many requests are worked on, or wait for that."""
        return self._running

    def _done(
        self, waiting: asyncio.Future[Found], found: Any, error: BaseException | None
    ) -> None:
        """Tell whoever waits what came of it, if anybody does."""
        self._running -= 1
        if waiting.done():
            return
        if error is None:
            waiting.set_result(found)
        else:
            waiting.set_exception(error)

    def stop(self) -> None:
        """Refuse what is new from now on; what runs has its grace."""
        self.stopping = True
        if self._stop_at is None:
            self._stop_at = time.monotonic() + self.settings.grace

    @property
    def stopped(self) -> bool:
        """Whether all that ran is finished, or its grace is over."""
        if self._stop_at is None:
            return False
        return not self._running or time.monotonic() > self._stop_at

    async def finish(self) -> None:
        """Stop, wait for what is running, and let go of the ledgers."""
        self.stop()
        while not self.stopped:
            await asyncio.sleep(_LOOK)
        self._pool.shutdown(wait=False, cancel_futures=True)
        for dataset in self.datasets.values():
            dataset.ledger.disconnect()
        self.people.store.close()


@cache
def _warm() -> None:
    """Import what is imported at its first use now, in one thread, before anybody waits for it."""
    best(Count(), DP(1)).proof  # noqa: B018
    for answers in (["yes", "no"], ["red", "green", "blue"]):
        best(Winner(answers), DP(1)).release({answers[0]: 1})
