"""Tell a person at a terminal what takes long; say nothing anywhere else."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

Item = TypeVar("Item")

QUIET_FOR = 1.0  # seconds before anything is said


@contextmanager
def announced(what: str) -> Iterator[None]:
    """Print ``what`` to standard error, once, if the work inside takes longer than a second."""
    if not sys.stderr.isatty():
        yield
        return
    timer = threading.Timer(QUIET_FOR, say_once, [what])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def timed(what: str) -> Iterator[Callable[[str], None]]:
    """A function to say what of the work inside is being done now.

    On a terminal a line on standard error has ``what``, that stage and the time that has passed,
    once the work takes longer than a second; it is gone when the work is done.
    """
    if not sys.stderr.isatty():
        yield lambda stage: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    line = Progress(*columns, console=Console(stderr=True), transient=True)
    task = line.add_task(what, total=None)
    ended, lock = False, threading.Lock()

    def start() -> None:
        with lock:
            if not ended:
                line.start()

    timer = threading.Timer(QUIET_FOR, start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda stage: line.update(task, description=f"{what}: {stage}")
    finally:
        timer.cancel()
        with lock:
            ended = True
        line.stop()


@cache
def say_once(what: str) -> None:
    """Say a sentence on standard error, the first time it is said."""
    print(what, file=sys.stderr, flush=True)  # noqa: T201  for who waits at a terminal


def track(items: Iterable[Item], total: int, what: str) -> Iterator[Item]:
    """Yield the items; show a progress bar on standard error once they take more than a second."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import Progress

    start = time.perf_counter()
    bar = Progress(console=Console(stderr=True), transient=True)
    task = bar.add_task(what, total=total)
    try:
        for item in items:
            yield item
            bar.advance(task)
            if not bar.live.is_started and time.perf_counter() - start > QUIET_FOR:
                bar.start()
    finally:
        bar.stop()
