"""`studio_app`: the routes of the server. Each is a few lines: the work is done elsewhere."""

from __future__ import annotations

import errno
import mimetypes
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from edhie.errors import EdhieError
from edhie.studio.choices import EXAMPLES, example_file, setup
from edhie.studio.question import Refused, read_options
from edhie.studio.requests import Json, answer_of, read_json, studio_of
from edhie.studio.result_routes import RESULT_ROUTES
from edhie.studio.run_routes import RUN_ROUTES, table_of
from edhie.studio.runs import unwritable
from edhie.studio.security import Access, Guard
from edhie.studio.studio import Studio
from edhie.studio.uploads import Upload

STATIC = Path(__file__).parent / "static"
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}  # some systems know others


def studio_app(studio: Studio, access: Access) -> Guard:
    """Return the application of a server."""
    for suffix, kind in TYPES.items():
        mimetypes.add_type(kind, suffix)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.studio = studio
        await studio.open()
        try:
            yield
        finally:
            await studio.close()

    app = Starlette(
        routes=[*ROUTES, *RUN_ROUTES, *RESULT_ROUTES, Mount("/static", StaticFiles(directory=STATIC, check_dir=False))],
        exception_handlers=dict.fromkeys((EdhieError, OSError, HTTPException, ClientDisconnect, Exception), _told),
        lifespan=lifespan,
    )
    return Guard(app, access)  # around everything, errors included


async def _told(request: Request, error: Exception) -> Response:
    """Return the answer to a request that failed."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES):
        error = unwritable(error)
    if isinstance(error, Refused):
        return Json(error.as_json(), error.status)
    if isinstance(error, EdhieError):
        return Json({"error": str(error)}, 400)
    if isinstance(error, HTTPException):
        return Json({"error": f"{request.url.path}: {error.detail.lower()}"}, error.status_code)
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)  # nobody reads it
    return Json({"error": f"the studio failed to answer: {error!r}; please report it"}, 500)


# -- the page, what can be chosen, tables, formulas, the learned space --------------------------


async def page(request: Request) -> Response:
    """Return the page."""
    return FileResponse(STATIC / "index.html", media_type="text/html")


async def get_setup(request: Request) -> Response:
    """Return what can be chosen."""
    return Json(setup(vars(studio_of(request).options.limits)))


async def post_table(request: Request) -> Response:
    """Take a table, and return its summary."""
    studio = studio_of(request)
    studio.shelf.check_room()
    declared, name = request.headers.get("content-length", ""), request.headers.get("x-name", "")
    size = int(declared) if declared.isdecimal() else 0
    upload = await studio.uploads.take(name, request.stream(), declared=size)
    return await _new_summary(studio, upload)


async def post_example(request: Request) -> Response:
    """Take an example, and return its summary."""
    name = (await read_json(request)).get("id")
    if not isinstance(name, str) or name not in EXAMPLES:
        raise Refused("there is no such example", 404)
    studio = studio_of(request)
    studio.shelf.check_room()
    return await _new_summary(studio, studio.uploads.copy(example_file(name), f"{name}.csv"))


async def post_table_of_run(request: Request) -> Response:
    """Take the table of a run once more, and return its summary."""
    studio, name = studio_of(request), (await read_json(request)).get("id")
    studio.shelf.check_room()
    run = studio.shelf.run(name if isinstance(name, str) else "")
    if (path := table_of(run)) is None:
        raise Refused("the table of this run is not in its folder; bring it again", 409)
    upload = await run_in_threadpool(studio.uploads.copy, path, str(run.note.get("file") or path.name))
    return await _new_summary(studio, upload, run.note["question"].get("options", {}))


async def _new_summary(studio: Studio, upload: Upload, options: dict[str, Any] | None = None) -> Response:
    try:
        return await _summary(studio, upload, options or {})
    except BaseException:  # nobody can ask for it again
        studio.uploads.remove(upload)
        raise


async def _summary(studio: Studio, upload: Upload, options: dict[str, Any]) -> Response:
    limits = studio.options.limits
    found = await studio.ask(
        "tables", "tables.summary", path=str(upload.path), name=upload.name, options=options,
        rows=limits.rows, columns=limits.columns,
    )  # fmt: skip
    return Json({"id": upload.id, **found})


async def get_table(request: Request) -> Response:
    """Return the summary of a table, read with the options of the query."""
    studio = studio_of(request)
    upload = studio.uploads.table(request.path_params["table"])
    return await _summary(studio, upload, read_options(dict(request.query_params)))


async def get_scatter(request: Request) -> Response:
    """Return the points of two columns."""
    query, upload = dict(request.query_params), studio_of(request).uploads.table(request.path_params["table"])
    asked = {"x": query.get("x", ""), "y": query.get("y", ""), "options": read_options(query)}
    return await answer_of(request, "tables", "tables.scatter", path=str(upload.path), name=upload.name, **asked)


async def check_formula(request: Request) -> Response:
    """Return a formula as it was read, or the place of its fault."""
    body = await read_json(request)
    text, kind, variables = body.get("text"), body.get("kind", "formula"), body.get("variables") or []
    if not isinstance(text, str) or kind not in ("formula", "template", "field"):
        raise Refused("give a text, and its kind: formula, template or field")
    if not isinstance(variables, list) or not all(isinstance(each, str) for each in variables):
        raise Refused("variables are a list of texts")
    return await answer_of(request, "formulas", "formulas.check", text=text, kind=kind, variables=variables)


ROUTES = [
    Route("/", page),
    Route("/api/setup", get_setup),
    Route("/api/formulas/check", check_formula, methods=["POST"]),
    Route("/api/tables", post_table, methods=["POST"]),
    Route("/api/tables/example", post_example, methods=["POST"]),
    Route("/api/tables/run", post_table_of_run, methods=["POST"]),
    Route("/api/tables/{table}", get_table),
    Route("/api/tables/{table}/scatter", get_scatter),
]
