"""The application: routes, people, limits and problems together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from rainbowdp.errors import RainbowError
from rainbowdp.service.config import Settings
from rainbowdp.service.direct import Direct
from rainbowdp.service.limits import Bounded, Floored
from rainbowdp.service.logs import Observed, tell, where
from rainbowdp.service.metrics import Metrics
from rainbowdp.service.people.directory import directory_of
from rainbowdp.service.people.roles import Directory
from rainbowdp.service.problems import KINDS, Code, Problem, problem_of
from rainbowdp.service.routes import (
    asking,
    datasets,
    health,
    metrics,
    people,
    plans,
    published,
    requests,
)
from rainbowdp.service.routes.page import add_page
from rainbowdp.service.schema import ProblemReply
from rainbowdp.service.state import Service

ROUTERS = (
    asking.ask_router,  # first, as most requests are for it
    health.router,
    published.router,
    metrics.router,
    datasets.router,
    plans.router,
    asking.router,
    people.router,
    requests.router,
)
_BODY_SECONDS = 20.0
_NO_ROUTE = {404: Code.NOT_FOUND, 405: Code.NO_SUCH_METHOD}


def create_app(
    settings: Settings, directory: Directory | None = None, shared: Path | None = None
) -> FastAPI:
    """The application of a service; its ledgers are opened and its tables checked now.

    Parameters
    ----------
    settings
        What ``service.toml`` says.
    directory
        Who knows people by their tokens, if not the store that the settings name.
    shared
        The file in which several processes count requests together.

    Returns
    -------
    FastAPI
        For an ASGI server.

    Raises
    ------
    InvalidFile
        If a ledger cannot be opened, or a table lacks a column that the settings list.

    """
    known = directory_of(settings) if directory is None else directory
    service = Service.opened(settings, known, shared)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await service.finish()

    app = FastAPI(
        title=settings.title,
        version="1",
        summary="Private answers from data that stays here.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/v1/openapi.json",
    )
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    app.state.service = service
    app.state.metrics = Metrics(service.datasets.values())
    for router in ROUTERS:
        app.include_router(router)
    add_page(app)
    for kind, handler in _HANDLERS.items():
        app.add_exception_handler(kind, handler)
    app.add_middleware(Direct, route=asking.ask_route(), handlers=_HANDLERS)
    app.add_middleware(Bounded, largest=settings.largest_body, seconds=_BODY_SECONDS)
    app.add_middleware(Floored, floor=settings.floor)
    app.add_middleware(Observed, metrics=app.state.metrics)
    return app


def _openapi(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document, in which what is refused is ``application/problem+json``."""
    if app.openapi_schema is None:
        found = get_openapi(
            title=app.title,
            version=app.version,
            summary=app.summary,
            routes=app.routes,
        )
        schemas = found.setdefault("components", {}).setdefault("schemas", {})
        schemas["ProblemReply"] = ProblemReply.model_json_schema()
        app.openapi_schema = found
    return app.openapi_schema


async def _refused(request: Request, error: Any) -> Response:
    """A problem, with its code in the log."""
    assert isinstance(error, Problem)
    request.state.code = str(error.code)
    return error.response()


async def _of_the_library(request: Request, error: Any) -> Response:
    """An error of the library: a problem of the asker's, or one of ours."""
    assert isinstance(error, RainbowError)
    problem = problem_of(error)
    if problem is None:
        raise error
    if problem.status >= 500:
        tell("trouble", code=str(problem.code), **where(error))
    return await _refused(request, problem)


async def _invalid(request: Request, error: Any) -> Response:
    """What does not fit the schema, in one sentence: where, and what is wanted there."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    if first["type"] == "json_invalid":
        problem = Problem(Code.MALFORMED, "The request is not JSON. Send an object in UTF-8.")
    else:
        message = str(first["msg"]).rstrip(".")
        problem = Problem(Code.INVALID_REQUEST, f"{place[:200]}: {message[:500]}. See /v1/schema.")
    return await _refused(request, problem)


async def _no_route(request: Request, error: Any) -> Response:
    """An address that there is not, or not so."""
    assert isinstance(error, HTTPException)
    code = _NO_ROUTE.get(error.status_code, Code.MALFORMED)
    detail = f"{KINDS[code].title}. See /v1/openapi.json for what there is."
    response = await _refused(request, Problem(code, detail))
    response.headers.update(error.headers or {})
    return response


_HANDLERS: dict[Any, Callable[[Request, Any], Any]] = {
    Problem: _refused,
    RainbowError: _of_the_library,
    RequestValidationError: _invalid,
    HTTPException: _no_route,
}
