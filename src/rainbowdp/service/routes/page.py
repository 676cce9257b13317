"""The analysts' page: static files that load nothing else; the token is typed into the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from rainbowdp.display.pages import HEADERS, SHARED

STATIC = Path(__file__).parents[1] / "static"


class _Files(StaticFiles):
    """Files with the headers of a page of ours."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(HEADERS)
        return response


def add_page(app: FastAPI) -> None:
    """Serve the page and what it loads."""

    @app.get("/", include_in_schema=False)
    async def page() -> Any:
        return FileResponse(STATIC / "index.html", headers=HEADERS)

    app.mount("/static", _Files(directory=STATIC))
    app.mount("/shared", _Files(directory=SHARED))
