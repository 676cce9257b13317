"""The way to the one route that most requests are for.

Between a request and its route there are a dozen layers for what routes may want: scopes of
dependencies, streams, background work, other routers. A question wants none of them, and they take
as long as its payment. So a question goes to the same handler straight away; all other requests,
and a question that is sent in any other way, go through them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute


class Direct:
    """Hands requests for one route to its handler, and others on.

    Parameters
    ----------
    app
        Where others go.
    route
        With one parameter in its path, and one method.
    handlers
        What replies to the errors that the handler raises, by their classes.

    """

    def __init__(
        self, app: Any, route: APIRoute, handlers: Mapping[Any, Callable[[Request, Any], Any]]
    ) -> None:
        self.app, self._route, self._handlers = app, route, handlers
        self._handle = route.get_route_handler()
        [self._method] = list(route.methods or [])
        before, self._name, after = re.split(r"\{(\w+)\}", route.path)
        self._path = re.compile(f"{re.escape(before)}([^/]+){re.escape(after)}")

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """One request."""
        here = (
            scope["type"] == "http"
            and scope["method"] == self._method
            and not scope.get("root_path")
            and self._path.fullmatch(scope["path"])
        )
        if not here:
            await self.app(scope, receive, send)
            return
        scope["route"], scope["path_params"] = self._route, {self._name: here[1]}
        request = Request(scope, receive)
        try:
            response = await self._handle(request)
        except tuple(self._handlers) as error:
            response = await self._handler(error)(request, error)
        await response(scope, receive, send)

    def _handler(self, error: BaseException) -> Callable[[Request, Any], Any]:
        """What replies to an error: the handler of its nearest class."""
        return next(self._handlers[kind] for kind in type(error).__mro__ if kind in self._handlers)
