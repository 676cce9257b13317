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
``/api/edit``           a world and one change to it in, the changed world out
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
"""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rainbowdp.display.pages import SHARED
from rainbowdp.errors import InvalidGuarantee, MissingExtra, RainbowError, UnknownDataset
from rainbowdp.studio.answers import answer, cost, make, priced, worst_pair
from rainbowdp.studio.computing import (
    APART,
    QUESTIONS,
    Source,
    Studio,
    Superseded,
    ignore_interrupts,
)
from rainbowdp.studio.examples import EXAMPLES, example
from rainbowdp.studio.guard import Guard
from rainbowdp.studio.loading import MOST_BYTES
from rainbowdp.studio.looking import inspect
from rainbowdp.studio.offers import BEST
from rainbowdp.studio.settings import Settings, Wrong
from rainbowdp.studio.worlds import World

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

PORT = 8765
STATIC = Path(__file__).parent / "static"
PAGES = ("story", "question", "designer")
_LONGEST_NAME = 200


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
        studio.forget(request.query_params.get("instead"))
        return JSONResponse(await run_in_threadpool(studio.describe, name))

    async def edit(request: Request) -> Response:
        content = await _content(request)
        called = str(content.get("called", "edited.txt"))[-_LONGEST_NAME:]
        given = content.get("world"), content.get("edit"), called
        name = await run_in_threadpool(studio.edit, *given)
        studio.forget(content.get("instead"))
        return JSONResponse(await run_in_threadpool(studio.describe, name))

    def computed(function: Callable[[World, Settings], Any]) -> Callable[[Request], Any]:
        async def respond(request: Request) -> Response:
            content = await _content(request)
            source = studio.source(content.get("world"))
            return JSONResponse(await run_in_threadpool(studio.compute, function, source, content))

        return respond

    async def side_by_side(request: Request) -> Response:
        """One mechanism a turn, so that a control that moves meanwhile waits for one at most."""
        content = await _content(request)
        source = studio.source(content.get("world"))
        turns = await run_in_threadpool(studio.compute, _turns, source, content)
        told = []
        for turn in turns:
            if await request.is_disconnected():  # the page wants to know something else by now
                raise Superseded("a newer request took this one's place")
            told.append(await run_in_threadpool(studio.compute, turn, source, content))
        return JSONResponse({"costs": told[:-1], "worst": told[-1]})

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
        warm = [pool.submit(ignore_interrupts) for pool in pools]  # importing takes longest
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
            Route("/api/edit", edit, methods=["POST"]),
            Route("/api/answer", computed(answer), methods=["POST"]),
            Route("/api/inspect", computed(_inspected), methods=["POST"]),
            Route("/api/costs", side_by_side, methods=["POST"]),
            *(Route(f"/api/{task}", computed_apart(task), methods=["POST"]) for task in APART),
            *(Route(f"/api/{task}", question(task), methods=["POST"]) for task in QUESTIONS),
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


def _turns(world: World, settings: Settings) -> list[Callable[[World, Settings], Any]]:
    """What it takes to set the mechanisms side by side: a cost each, and the worst pair."""
    return [*(partial(cost, name=name) for name in priced(world)), _own_worst]


def _own_worst(world: World, settings: Settings) -> Any:
    return None if settings.mechanism == BEST else worst_pair(world, settings)


async def _content(request: Request) -> dict[str, Any]:
    try:
        content = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise RainbowError("a request must be JSON, got something else") from None
    if not isinstance(content, dict):
        raise RainbowError("a request must be a JSON object, got something else")
    return content
