"""The loaded worlds, and where numbers are computed: here in turn, or in a process apart.

The precision of python-flint's balls is one setting for the whole process, so numbers are computed
one request after the other. Proofs run in a process of their own, so that a long one (a Gaussian
curve) keeps no control waiting, and so does what is searched for, the best or a plan; of two that
wait, the older is dropped.
"""

from __future__ import annotations

import asyncio
import secrets
import signal
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from multiprocessing import get_context
from typing import Any, NamedTuple

from rainbowdp.errors import RainbowError, UnknownDataset
from rainbowdp.studio import asking, story
from rainbowdp.studio.answers import answer, best_cost, match, mechanism_file, prove, worst_pair
from rainbowdp.studio.examples import EXAMPLES, example
from rainbowdp.studio.loading import edit_text, read_world
from rainbowdp.studio.offers import BEST, offered
from rainbowdp.studio.settings import Settings, read_settings
from rainbowdp.studio.worlds import World

_KEPT = 16  # loaded worlds that stay in memory


class Source(NamedTuple):
    """How to make a world again, elsewhere: an example's name, or a file's name and content."""

    name: str
    content: bytes | None = None


@lru_cache(maxsize=_KEPT)
def world_from(source: Source) -> World:
    """The world of ``source``."""
    if source.content is None:
        return example(source.name)
    return read_world(source.content, source.name)


class Superseded(RainbowError):
    """A request that waited too long for its turn."""


class Studio:
    """The loaded worlds, and the one place where numbers are computed."""

    def __init__(self, opened: Source | None = None) -> None:
        self._loaded: OrderedDict[str, Source] = OrderedDict()
        self._turn = threading.Lock()
        self._worker: ProcessPoolExecutor | None = None
        self._searcher: ProcessPoolExecutor | None = None
        self._waiting: dict[str, Future[Any]] = {}
        self.opened = self.keep(opened) if opened is not None else None

    def keep(self, source: Source) -> str:
        """Remember a loaded file by a name of its own; the oldest is forgotten."""
        with self._turn:
            world_from(source)
            name = f"loaded-{secrets.token_hex(8)}"
            self._loaded[name] = source
            while len(self._loaded) > _KEPT:
                self._loaded.popitem(last=False)
        return name

    def edit(self, name: Any, edit: Any, called: str) -> str:
        """Make one change to the world called ``name``, and give the name of the changed one."""
        source = self.source(name)
        with self._turn:
            content = edit_text(world_from(source), edit)
        return self.keep(Source(called, content))

    def forget(self, name: Any) -> None:
        """Let a loaded world go."""
        if isinstance(name, str):
            self._loaded.pop(name, None)

    def source(self, name: Any) -> Source:
        """Where the world called ``name`` comes from."""
        if isinstance(name, str) and name in EXAMPLES:
            return Source(name)
        if isinstance(name, str) and name in self._loaded:
            return self._loaded[name]
        raise UnknownDataset("there is no such example or loaded file; load the file again")

    def compute(self, function: Callable[..., Any], source: Source, content: Any) -> Any:
        """A function of a world and settings, when its turn comes."""
        with self._turn:
            world = world_from(source)
            return function(world, read_settings(world, content))

    def describe(self, name: str) -> dict[str, Any]:
        """The world called ``name`` for the page."""
        source = self.source(name)
        with self._turn:
            world = world_from(source)
            listed = [offer.as_dict() for offer in offered(world).values()]
            return world.as_dict() | {"name": name, "mechanisms": listed}

    def tell(self) -> dict[str, Any]:
        """The numbers of the story."""
        with self._turn:
            return story.numbers()

    async def compute_apart(self, task: str, source: Source, content: Any) -> Any:
        """The same in the process for proofs."""
        return await self._apart(task, _apart, task, source, content)

    async def ask(self, task: str, content: Any) -> Any:
        """What the page of questions wants, in the process for proofs."""
        return await self._apart(task, _asked, task, content)

    async def _apart(self, task: str, function: Callable[..., Any], *given: Any) -> Any:
        waiting = self._waiting.pop(task, None)
        if waiting is not None:
            waiting.cancel()  # has no effect once it runs
        try:
            pool = self.worker if task in _PROOFS else self.searcher
            self._waiting[task] = future = pool.submit(function, *given)
            return await asyncio.wrap_future(future)
        except BrokenProcessPool:
            self._worker = self._searcher = None  # the next request starts another
            raise RainbowError("the process for proofs ended; ask again") from None
        except asyncio.CancelledError:
            if not future.cancelled():
                raise
            raise Superseded("a newer request took this one's place") from None

    @property
    def worker(self) -> ProcessPoolExecutor:
        """The process for proofs, started on first use."""
        if self._worker is None:
            self._worker = ProcessPoolExecutor(1, get_context("spawn"), ignore_interrupts)
        return self._worker

    @property
    def searcher(self) -> ProcessPoolExecutor:
        """The process for what is searched for, the best or a plan: a proof never waits for it."""
        if self._searcher is None:
            self._searcher = ProcessPoolExecutor(1, get_context("spawn"), ignore_interrupts)
        return self._searcher

    def close(self) -> None:
        """End both processes."""
        for pool in (self._worker, self._searcher):
            if pool is not None:
                pool.shutdown(cancel_futures=True)
        self._worker = self._searcher = None


def _apart(task: str, source: Source, content: Mapping[str, Any]) -> Any:
    world = world_from(source)
    return APART[task](world, read_settings(world, content))


def _asked(task: str, content: Mapping[str, Any]) -> Any:
    return QUESTIONS[task](content)


def _of_best(world: World, settings: Settings) -> dict[str, Any]:
    own = worst_pair(world, settings) if settings.mechanism == BEST else None
    return {"cost": best_cost(world, settings), "worst": own}


_PROOFS = ("proof", "file")
QUESTIONS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "question": asking.answer,
    "draw": asking.draw,
    "plan": asking.divide,
    "question-file": asking.mechanism_file,
}
APART: Mapping[str, Callable[[World, Settings], Any]] = {
    "proof": prove,
    "file": mechanism_file,
    "match": match,
    "best-answer": answer,
    "best-cost": _of_best,
}


def ignore_interrupts() -> None:
    """Leave Ctrl-C to the server, which ends us."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
