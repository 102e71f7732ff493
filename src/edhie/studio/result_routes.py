"""Routes of results: equations, fits, comparisons, what users take away; and the learned space."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from edhie.files import is_lock
from edhie.studio.choices import EXPORTS, model_names
from edhie.studio.question import Refused, is_finite, read_number, read_text, read_whole
from edhie.studio.queue import arguments_of
from edhie.studio.requests import answer_of, read_json, run_of, studio_of
from edhie.studio.run_routes import table_of
from edhie.studio.runs import Run

TABLES = ("equations.csv", "revisions.csv")
REPORT = "report.html"
MOST_STEPS, MOST_NEIGHBOURS, LARGEST_RADIUS = 64, 500, 100.0
LONGEST_ABOUT = 1000  # letters
MOST_ZIPPED = 2_000_000_000  # bytes


async def get_equations(request: Request) -> Response:
    """Return the equations of a run."""
    return await _asked(request, "equations.equations")


async def get_equation(request: Request) -> Response:
    """Return the constants and the tree of one equation."""
    return await _asked(request, "equations.equation", place=_place(request.path_params["place"]))


async def get_comparison(request: Request) -> Response:
    """Return two equations side by side."""
    query = request.query_params
    a, b = (_place(query.get(name, "")) for name in ("a", "b"))
    is_log = query.get("log") in ("1", "true")
    return await _asked(request, "equations.compare", a=a, b=b, x=query.get("x"), log=is_log)


async def post_fit(request: Request) -> Response:
    """Return the fit of an equation, or of an expression while the search runs."""
    run, body = run_of(request), await read_json(request)
    expression = read_text(body, "expression")
    given = {"equation": body.get("equation")} if expression is None else {"expression": expression, **_asked_of(run)}
    return await _asked(request, "curves.fit", x=read_text(body, "x"), log=body.get("log") is True, **given)


async def post_try(request: Request) -> Response:
    """Return what an equation gives for numbers of the user."""
    body = await read_json(request)
    constants, values = body.get("constants"), body.get("values") or {}
    if constants is not None and not (isinstance(constants, list) and all(map(is_finite, constants))):
        raise Refused("constants are a list of numbers", where={"field": "constants"})
    if not isinstance(values, dict) or not all(map(is_finite, values.values())):
        raise Refused("values are numbers by column", where={"field": "values"})
    return await _asked(
        request, "curves.try_values",
        equation=body.get("equation"), x=read_text(body, "x"), log=body.get("log") is True,
        constants=None if constants is None else [float(each) for each in constants],
        values={name: float(value) for name, value in values.items()},
    )  # fmt: skip


async def _asked(request: Request, what: str, **arguments: Any) -> Response:
    return await answer_of(request, "runs", what, folder=str(run_of(request).folder), **arguments)


def _place(text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise Refused("there is no such equation in this run", 404)
    return int(text)


def _asked_of(run: Run) -> dict[str, Any]:
    """Return the question of a run and its table, if they are known."""
    table = table_of(run)
    return {"table": None if table is None else str(table), "question": run.note.get("question")}


# -- what users take away ---------------------------------------------------------------------


async def get_export(request: Request) -> Response:
    """Return an equation as code or text."""
    run, format_ = run_of(request), request.path_params["format"]
    if format_ not in EXPORTS:
        raise Refused(f"there is no format {format_!r}", 404)
    place = _place(request.query_params.get("equation", ""))
    found = await studio_of(request).ask(
        "runs", "takeaway.export", folder=str(run.folder), format=format_, place=place, **_asked_of(run)
    )
    headers = _as_file(f"equation{EXPORTS[format_][1]}") | {"X-About": quote(found["about"][:LONGEST_ABOUT])}
    return PlainTextResponse(found["text"], headers=headers)


async def get_report(request: Request) -> Response:
    """Return the report, as a file: it has scripts of its own, which the page does not allow."""
    run = run_of(request)
    headers = _as_file(f"{run.id}.html")
    if kept := run.file(REPORT):
        return FileResponse(kept, media_type="application/octet-stream", headers=headers)
    command = " ".join(["edhie", *arguments_of(run)]) if run.is_own else None
    with _temporary(".html") as path:
        await studio_of(request).ask(
            "runs", "takeaway.report", folder=str(run.folder), into=str(path), command=command,
            title=run.note.get("name"),
        )  # fmt: skip
    return _file_once(path, headers)


async def get_csv(request: Request) -> Response:
    """Return the table of equations for a spreadsheet."""
    run = run_of(request)
    path = next((path for name in TABLES if (path := run.file(name))), None)
    if path is None:
        raise Refused("this run has no equations yet", 409)
    return FileResponse(path, media_type="text/csv", headers=_as_file(path.name))


async def get_folder(request: Request) -> Response:
    """Return the run folder as a zip archive, which the command line can open."""
    run = run_of(request)
    with _temporary(".zip") as path:
        await run_in_threadpool(_zip, run, path)
    return _file_once(path, _as_file(f"{run.id}.zip"))


def _zip(run: Run, into: Path) -> None:
    files = [path for path in sorted(run.folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    files = [path for path in files if not is_lock(path)]
    if sum(path.stat().st_size for path in files) > MOST_ZIPPED:
        raise Refused(f"the run is too large to be packed; copy its folder: {run.folder}", 413)
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
        for path in files:
            archive.write(path, Path(run.id) / path.relative_to(run.folder))


@contextmanager
def _temporary(suffix: str) -> Iterator[Path]:
    """Make a file, which stays unless the block fails."""
    with tempfile.NamedTemporaryFile(prefix="edhie-studio-", suffix=suffix, delete=False) as file:
        path = Path(file.name)
    try:
        yield path
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _file_once(path: Path, headers: dict[str, str]) -> Response:
    remove = BackgroundTask(path.unlink, missing_ok=True)
    return FileResponse(path, media_type="application/octet-stream", headers=headers, background=remove)


def _as_file(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}


# -- the learned space ------------------------------------------------------------------------


async def post_between(request: Request) -> Response:
    """Return the way from one formula to another."""
    body = await read_json(request)
    texts = {name: read_text(body, name, needed=True) for name in ("first", "second")}
    steps = read_whole(body, "steps", 1, MOST_STEPS, usual=16)
    return await answer_of(request, "formulas", "space.between", **texts, steps=steps, model=_model(body))


async def post_neighbours(request: Request) -> Response:
    """Return the neighbours of a formula."""
    body = await read_json(request)
    count = read_whole(body, "count", 1, MOST_NEIGHBOURS, usual=100)
    radius = read_number(body, "radius", 0.0, LARGEST_RADIUS, usual=1.0)
    asked = {"formula": read_text(body, "formula", needed=True), "count": count, "radius": radius}
    return await answer_of(request, "formulas", "space.neighbours", **asked, model=_model(body))


def _model(body: dict[str, Any]) -> str:
    model = body.get("model", "general-2")
    if model not in model_names():
        raise Refused("there is no such model", 404, where={"field": "model"})
    return str(model)


RESULT_ROUTES = [
    Route("/api/runs/{run}/equations", get_equations),
    Route("/api/runs/{run}/equations/{place}", get_equation),
    Route("/api/runs/{run}/compare", get_comparison),
    Route("/api/runs/{run}/fit", post_fit, methods=["POST"]),
    Route("/api/runs/{run}/try", post_try, methods=["POST"]),
    Route("/api/runs/{run}/export/{format}", get_export),
    Route("/api/runs/{run}/report", get_report),
    Route("/api/runs/{run}/equations.csv", get_csv),
    Route("/api/runs/{run}/folder.zip", get_folder),
    Route("/api/space/between", post_between, methods=["POST"]),
    Route("/api/space/neighbours", post_neighbours, methods=["POST"]),
]
