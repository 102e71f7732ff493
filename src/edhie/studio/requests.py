"""Helpers that routes share: the studio of a request, and the JSON it holds."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse

from edhie.studio.question import Refused
from edhie.studio.runs import Run
from edhie.studio.studio import Studio

MOST_JSON = 2_000_000  # bytes of a request that is not a table


class Json(JSONResponse):
    """An answer in ASCII, which can hold any text that a request can, halves of characters included."""

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


def studio_of(request: Request) -> Studio:
    """Return the studio that answers a request."""
    studio: Studio = request.app.state.studio
    return studio


async def answer_of(request: Request, workshop: str, what: str, /, **arguments: Any) -> Json:
    """Return the answer of a workshop."""
    return Json(await studio_of(request).ask(workshop, what, **arguments))


def run_of(request: Request) -> Run:
    """Return the run in the address of a request."""
    return studio_of(request).shelf.run(request.path_params["run"])


async def read_json(request: Request) -> dict[str, Any]:
    """Return the object that a request holds."""
    parts, size = [], 0
    async for part in request.stream():
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
