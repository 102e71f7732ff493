"""`studio_app`: the application of the server, with the routes of the page, of tables and of formulas."""

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
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from edhie.errors import EdhieError
from edhie.studio.question import EXAMPLES, Refused, example_file, read_options, setup
from edhie.studio.requests import Call, Json, route
from edhie.studio.result_routes import RESULT_ROUTES
from edhie.studio.run_routes import RUN_ROUTES
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


async def _page(call: Call) -> Response:
    return FileResponse(STATIC / "index.html", media_type="text/html")


async def _choices(call: Call) -> dict[str, Any]:
    return setup(vars(call.studio.options.limits))


async def _take_table(call: Call) -> dict[str, Any]:
    studio, headers = call.studio, call.headers
    studio.shelf.check_room()
    declared = headers.get("content-length", "")
    size = int(declared) if declared.isdecimal() else 0
    upload = await studio.uploads.take(headers.get("x-name", ""), call.stream(), declared=size)
    return await _new_summary(studio, upload)


async def _take_example(call: Call) -> dict[str, Any]:
    name = (await call.fields()).get("id")
    if not isinstance(name, str) or name not in EXAMPLES:
        raise Refused("there is no such example", 404)
    call.studio.shelf.check_room()
    return await _new_summary(call.studio, call.studio.uploads.copy(example_file(name), f"{name}.csv"))


async def _take_table_of_run(call: Call) -> dict[str, Any]:
    studio, name = call.studio, (await call.fields()).get("id")
    studio.shelf.check_room()
    run = studio.shelf.run(name if isinstance(name, str) else "")
    upload = await run_in_threadpool(studio.uploads.copy, *run.needed_table())
    return await _new_summary(studio, upload, run.note["question"].get("options", {}))


async def _new_summary(studio: Studio, upload: Upload, options: dict[str, Any] | None = None) -> dict[str, Any]:
    try:
        return await _summary(studio, upload, options or {})
    except BaseException:  # nobody can ask for it again
        studio.uploads.remove(upload)
        raise


async def _summary(studio: Studio, upload: Upload, options: dict[str, Any]) -> dict[str, Any]:
    limits = studio.options.limits
    found = await studio.ask(
        "tables", "tables.summary", path=str(upload.path), name=upload.name, options=options,
        rows=limits.rows, columns=limits.columns,
    )  # fmt: skip
    return {"id": upload.id, **found}


async def _table(call: Call) -> dict[str, Any]:
    upload = call.studio.uploads.table(call.path_params["table"])
    return await _summary(call.studio, upload, read_options(dict(call.query_params)))


async def _scatter(call: Call) -> Any:
    upload, query = call.studio.uploads.table(call.path_params["table"]), dict(call.query_params)
    given = {"x": query.get("x", ""), "y": query.get("y", ""), "options": read_options(query)}
    return await call.studio.ask("tables", "tables.scatter", path=str(upload.path), name=upload.name, **given)


async def _check_formula(call: Call) -> Any:
    body = await call.fields()
    text, kind, variables = body.get("text"), body.get("kind", "formula"), body.get("variables") or []
    if not isinstance(text, str) or kind not in ("formula", "template", "field"):
        raise Refused("give a text, and its kind: formula, template or field")
    if not isinstance(variables, list) or not all(isinstance(each, str) for each in variables):
        raise Refused("variables are a list of texts")
    return await call.studio.ask("formulas", "formulas.check", text=text, kind=kind, variables=variables)


ROUTES = [
    route("/", _page),
    route("/api/setup", _choices),
    route("/api/formulas/check", _check_formula, "POST"),
    route("/api/tables", _take_table, "POST"),
    route("/api/tables/example", _take_example, "POST"),
    route("/api/tables/run", _take_table_of_run, "POST"),
    route("/api/tables/{table}", _table),
    route("/api/tables/{table}/scatter", _scatter),
]
