"""What routes share: a request as they read it, and answers as JSON."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from edhie.studio.question import Refused
from edhie.studio.runs import Run
from edhie.studio.studio import Studio

MOST_JSON = 2_000_000  # bytes of a request that is not a table


class Json(JSONResponse):
    """An answer in ASCII, which can hold any text that a request can, halves of characters included."""

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


class Call(Request):
    """A request, with the studio that answers it."""

    @property
    def studio(self) -> Studio:
        """The studio."""
        studio: Studio = self.app.state.studio
        return studio

    @property
    def run(self) -> Run:
        """The run in the address."""
        return self.studio.shelf.run(self.path_params["run"])

    async def fields(self) -> dict[str, Any]:
        """Return the object that the request holds."""
        parts, size = [], 0
        async for part in self.stream():
            size += len(part)
            if size > MOST_JSON:
                raise Refused(f"the request is larger than {MOST_JSON:,} bytes", 413)
            parts.append(part)
        try:
            found = json.loads(b"".join(parts) or b"{}")
        except (ValueError, RecursionError):
            raise Refused("the request is no JSON") from None
        if not isinstance(found, dict):
            raise Refused("the request is no JSON object")
        return found

    async def about_run(self, what: str, **arguments: Any) -> Any:
        """Return what the workshop answers about the run in the address."""
        return await self.studio.ask("runs", what, folder=str(self.run.folder), **arguments)


def route(path: str, answer: Callable[[Call], Awaitable[Any]], method: str = "GET") -> Route:
    """Return a route; what its function returns is sent as JSON, unless it is a response already."""

    async def endpoint(request: Request) -> Response:
        found = await answer(Call(request.scope, request.receive))
        return found if isinstance(found, Response) else Json(found)

    return Route(path, endpoint, methods=[method])
