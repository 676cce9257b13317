"""The addresses of the studio.

======================  ====================================================================
``/``                   the story, or the designer if a file was opened
``/story``              twelve friends vote: what rainbow privacy is
``/question``           a question of one's own
``/designer``           graphs, mechanisms and boundaries
``/api/story``          the numbers of the story
``/api/examples``       the shipped worlds
``/api/world/NAME``     a world: its graph and picture
``/api/load``           a file in, the world in it out; kept in memory while the studio runs
``/api/answer``         rows, verdict, curves, dataset and Python for a world and settings
``/api/inspect``        the worst neighbor of one dataset
``/api/costs``          the mechanisms side by side
``/api/match``          the ε that each would need to do as well as the optimal one
``/api/best-answer``    the same as answer, for what takes longer
``/api/best-cost``      what rb.best costs, beside the others
``/api/proof``          the exact proof behind the badge
``/api/file``           the mechanism file
``/api/question``       a question with made-up counts: chances, margins, proof, exports
``/api/draw``           answers that it would give
``/api/plan``           a total divided among questions
``/api/question-file``  its mechanism file
======================  ====================================================================

Numbers are computed one request after the other: the precision of python-flint's balls is one
setting for the whole process. Proofs run in a process of their own, so that a long one (a Gaussian
curve) keeps no control waiting, and so does what is searched for, the best or a plan; of two that
wait, the older is dropped.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import signal
import socket
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager
from functools import cache, lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rainbowdp.display.pages import SHARED
from rainbowdp.errors import InvalidGuarantee, MissingExtra, RainbowError, UnknownDataset
from rainbowdp.studio import asking, story
from rainbowdp.studio.answers import (
    answer,
    best_cost,
    costs,
    inspect,
    make,
    match,
    mechanism_file,
    prove,
    worst_pair,
)
from rainbowdp.studio.examples import EXAMPLES, example
from rainbowdp.studio.guard import Guard
from rainbowdp.studio.loading import MOST_BYTES, read_world
from rainbowdp.studio.offers import BEST, offered
from rainbowdp.studio.settings import Settings, Wrong, read_settings
from rainbowdp.studio.worlds import World

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

PORT = 8765
STATIC = Path(__file__).parent / "static"
PAGES = ("story", "question", "designer")
_KEPT = 16  # loaded worlds that stay in memory
_LONGEST_NAME = 200


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
            self._worker = ProcessPoolExecutor(1, get_context("spawn"), _ignore_interrupts)
        return self._worker

    @property
    def searcher(self) -> ProcessPoolExecutor:
        """The process for what is searched for, the best or a plan: a proof never waits for it."""
        if self._searcher is None:
            self._searcher = ProcessPoolExecutor(1, get_context("spawn"), _ignore_interrupts)
        return self._searcher

    def close(self) -> None:
        """End both processes."""
        for pool in (self._worker, self._searcher):
            if pool is not None:
                pool.shutdown(cancel_futures=True)
        self._worker = self._searcher = None


def _apart(task: str, source: Source, content: Mapping[str, Any]) -> Any:
    world = world_from(source)
    return _APART[task](world, read_settings(world, content))


def _asked(task: str, content: Mapping[str, Any]) -> Any:
    return _QUESTIONS[task](content)


_PROOFS = ("proof", "file")
_QUESTIONS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "question": asking.answer,
    "draw": asking.draw,
    "plan": asking.divide,
    "question-file": asking.mechanism_file,
}
_APART: Mapping[str, Callable[[World, Settings], Any]] = {
    "proof": prove,
    "file": mechanism_file,
    "match": match,
    "best-answer": answer,
    "best-cost": lambda world, settings: _of_best(world, settings),
}


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us


def application(opened: Source | None = None) -> Starlette:
    """The studio as an ASGI application; ``opened`` is shown first."""
    try:
        from starlette.applications import Starlette
        from starlette.concurrency import run_in_threadpool
        from starlette.middleware import Middleware
        from starlette.responses import FileResponse, JSONResponse, PlainTextResponse
        from starlette.routing import Mount, Route
        from starlette.staticfiles import StaticFiles
    except ImportError as error:
        raise MissingExtra("Starlette and uvicorn", "studio") from error

    studio = Studio(opened)

    def page(name: str) -> Callable[[Request], Any]:
        async def respond(request: Request) -> Response:
            return FileResponse(STATIC / name)

        return respond

    async def told(request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(studio.tell))

    async def examples(request: Request) -> Response:
        listed = await run_in_threadpool(_listed)
        content = {"examples": listed, "opened": studio.opened, "most_bytes": MOST_BYTES}
        return JSONResponse(content)

    async def world(request: Request) -> Response:
        name = request.path_params["name"]
        return JSONResponse(await run_in_threadpool(studio.describe, name))

    async def load(request: Request) -> Response:
        called = request.query_params.get("name", "file")[-_LONGEST_NAME:]
        source = Source(called, await request.body())
        name = await run_in_threadpool(studio.keep, source)
        return JSONResponse(await run_in_threadpool(studio.describe, name))

    def computed(function: Callable[[World, Settings], Any]) -> Callable[[Request], Any]:
        async def respond(request: Request) -> Response:
            content = await _content(request)
            source = studio.source(content.get("world"))
            return JSONResponse(await run_in_threadpool(studio.compute, function, source, content))

        return respond

    def computed_apart(task: str) -> Callable[[Request], Any]:
        async def respond(request: Request) -> Response:
            content = await _content(request)
            source = studio.source(content.get("world"))
            found = await studio.compute_apart(task, source, content)
            if isinstance(found, str):
                return PlainTextResponse(found, media_type="application/json")
            return JSONResponse(found)

        return respond

    def question(task: str) -> Callable[[Request], Any]:
        async def respond(request: Request) -> Response:
            found = await studio.ask(task, await _content(request))
            if isinstance(found, str):
                return PlainTextResponse(found, media_type="application/json")
            return JSONResponse(found)

        return respond

    async def refuse(request: Request, error: Exception) -> Response:
        status = 404 if isinstance(error, UnknownDataset) else 422
        if isinstance(error, Superseded):
            status = 409
        said = {"error": str(error)}
        if isinstance(error, Wrong):
            said["field"] = error.field
        elif isinstance(error, InvalidGuarantee):
            said["field"] = "guarantee"
        return JSONResponse(said, status)

    @asynccontextmanager
    async def running(app: Starlette) -> AsyncIterator[None]:
        pools = (studio.worker, studio.searcher)
        warm = [pool.submit(_ignore_interrupts) for pool in pools]  # importing takes longest
        yield
        for each in warm:
            each.cancel()
        studio.close()

    addresses = ["/", *(f"/{name}" for name in PAGES)]
    return Starlette(
        routes=[
            Route("/", page("story.html" if opened is None else "designer.html")),
            *(Route(f"/{name}", page(f"{name}.html")) for name in PAGES),
            Route("/api/story", told),
            Route("/api/examples", examples),
            Route("/api/world/{name}", world),
            Route("/api/load", load, methods=["POST"]),
            Route("/api/answer", computed(answer), methods=["POST"]),
            Route("/api/inspect", computed(_inspected), methods=["POST"]),
            Route("/api/costs", computed(_costs), methods=["POST"]),
            *(Route(f"/api/{task}", computed_apart(task), methods=["POST"]) for task in _APART),
            *(Route(f"/api/{task}", question(task), methods=["POST"]) for task in _QUESTIONS),
            Mount("/static", StaticFiles(directory=STATIC)),
            Mount("/shared", StaticFiles(directory=SHARED)),
        ],
        middleware=[Middleware(Guard, most_bytes=MOST_BYTES, pages=addresses)],
        exception_handlers={RainbowError: refuse},
        lifespan=running,
    )


def serve(
    port: int | None = None,
    opened: Source | None = None,
    ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Run the studio on this machine until it is interrupted; ``ready`` gets its address."""
    app = application(opened)
    try:
        import uvicorn

        from rainbowdp.studio.connections import MOST, MakingRoom
    except ImportError as error:
        raise MissingExtra("Starlette and uvicorn", "studio") from error

    with _listening(port) as listener:
        ready(f"http://127.0.0.1:{listener.getsockname()[1]}/")
        config = uvicorn.Config(
            app,
            http=MakingRoom,
            ws="none",
            log_config=None,  # logging is its user's, in a notebook too
            access_log=False,
            server_header=False,
            limit_concurrency=4 * MOST,
        )
        uvicorn.Server(config).run([listener])


def _listening(port: int | None) -> socket.socket:
    """A socket on loopback: at ``port``, or at the usual one if free and else at any."""
    for tried in (PORT, 0) if port is None else (port,):
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", tried))
            listener.listen(128)
            return listener
        except (OSError, OverflowError):
            listener.close()
    raise RainbowError(
        f"cannot listen on --port {port}: it is taken, or not from 1 to 65535; try another"
    )


@cache
def _listed() -> list[dict[str, str]]:
    worlds = [example(name) for name in EXAMPLES]
    return [{"name": world.name, "title": world.title, "note": world.note} for world in worlds]


def _inspected(world: World, settings: Settings) -> Any:
    return inspect(make(world, settings), settings.guarantee, settings.dataset or 0)


def _costs(world: World, settings: Settings) -> dict[str, Any]:
    own = None if settings.mechanism == BEST else worst_pair(world, settings)
    return {"costs": costs(world, settings), "worst": own}


def _of_best(world: World, settings: Settings) -> dict[str, Any]:
    own = worst_pair(world, settings) if settings.mechanism == BEST else None
    return {"cost": best_cost(world, settings), "worst": own}


async def _content(request: Request) -> dict[str, Any]:
    try:
        content = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise RainbowError("a request must be JSON, got something else") from None
    if not isinstance(content, dict):
        raise RainbowError("a request must be a JSON object, got something else")
    return content
