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
from starlette.responses import FileResponse, PlainTextResponse, Response

from edhie.files import is_lock
from edhie.studio.question import EXPORTS, Refused, is_finite, model_names, read_number, read_text, read_whole
from edhie.studio.queue import arguments_of
from edhie.studio.requests import Call, route
from edhie.studio.runs import Run

TABLES = ("equations.csv", "revisions.csv")
REPORT = "report.html"
BYTES = "application/octet-stream"
MOST_STEPS, MOST_NEIGHBOURS, LARGEST_RADIUS = 64, 500, 100.0
LONGEST_ABOUT = 1000  # letters
MOST_ZIPPED = 2_000_000_000  # bytes


async def _compare(call: Call) -> Any:
    a, b = (_place(call.query_params.get(name, "")) for name in ("a", "b"))
    is_log = call.query_params.get("log", "") in ("1", "true")
    return await call.about_run("equations.compare", a=a, b=b, x=call.query_params.get("x"), log=is_log)


async def _fit(call: Call) -> Any:
    """Return the fit of an equation, or of an expression while the search runs."""
    run, body = call.run, await call.fields()
    expression = read_text(body, "expression")
    given = {"equation": body.get("equation")} if expression is None else {"expression": expression, **_source(run)}
    return await call.about_run("curves.fit", x=read_text(body, "x"), log=body.get("log") is True, **given)


async def _try(call: Call) -> Any:
    body = await call.fields()
    constants, values = body.get("constants"), body.get("values") or {}
    if constants is not None and not (isinstance(constants, list) and all(map(is_finite, constants))):
        raise Refused("constants are a list of numbers", where={"field": "constants"})
    if not isinstance(values, dict) or not all(map(is_finite, values.values())):
        raise Refused("values are numbers by column", where={"field": "values"})
    return await call.about_run(
        "curves.try_values", equation=body.get("equation"), x=read_text(body, "x"), log=body.get("log") is True,
        constants=None if constants is None else [float(each) for each in constants],
        values={name: float(value) for name, value in values.items()},
    )  # fmt: skip


def _place(text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise Refused("there is no such equation in this run", 404)
    return int(text)


def _source(run: Run) -> dict[str, Any]:
    """Return the question of a run and its table, if they are known."""
    return {"table": None if run.table is None else str(run.table), "question": run.note.get("question")}


# -- what users take away ---------------------------------------------------------------------


async def _export(call: Call) -> Response:
    run, format_ = call.run, call.path_params["format"]
    if format_ not in EXPORTS:
        raise Refused(f"there is no format {format_!r}", 404)
    place = _place(call.query_params.get("equation", ""))
    found = await call.about_run("equations.export", format=format_, place=place, **_source(run))
    headers = _as_file(f"equation{EXPORTS[format_][1]}") | {"X-About": quote(found["about"][:LONGEST_ABOUT])}
    return PlainTextResponse(found["text"], headers=headers)


async def _report(call: Call) -> Response:
    """Return the report, as a file: it has scripts of its own, which the page does not allow."""
    run = call.run
    headers = _as_file(f"{run.id}.html")
    if kept := run.file(REPORT):
        return FileResponse(kept, media_type=BYTES, headers=headers)
    command = " ".join(["edhie", *arguments_of(run)]) if run.is_own else None
    with _temporary(".html") as path:
        await call.about_run("equations.report", into=str(path), command=command, title=run.note.get("name"))
    return _file_once(path, headers)


async def _csv(call: Call) -> Response:
    run = call.run
    path = next((path for name in TABLES if (path := run.file(name))), None)
    if path is None:
        raise Refused("this run has no equations yet", 409)
    return FileResponse(path, media_type="text/csv", headers=_as_file(path.name))


async def _folder(call: Call) -> Response:
    """Return the run folder as a zip archive, which the command line can open."""
    run = call.run
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
    return FileResponse(path, media_type=BYTES, headers=headers, background=remove)


def _as_file(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}


# -- the learned space ------------------------------------------------------------------------


async def _between(call: Call) -> Any:
    body = await call.fields()
    texts = {name: read_text(body, name, needed=True) for name in ("first", "second")}
    steps = read_whole(body, "steps", 1, MOST_STEPS, usual=16)
    return await call.studio.ask("formulas", "space.between", **texts, steps=steps, model=_model(body))


async def _neighbours(call: Call) -> Any:
    body = await call.fields()
    count = read_whole(body, "count", 1, MOST_NEIGHBOURS, usual=100)
    radius = read_number(body, "radius", 0.0, LARGEST_RADIUS, usual=1.0)
    formula = read_text(body, "formula", needed=True)
    given = {"formula": formula, "count": count, "radius": radius, "model": _model(body)}
    return await call.studio.ask("formulas", "space.neighbours", **given)


def _model(body: dict[str, Any]) -> str:
    model = body.get("model", "general-2")
    if model not in model_names():
        raise Refused("there is no such model", 404, where={"field": "model"})
    return str(model)


RESULT_ROUTES = [
    route("/api/runs/{run}/equations", lambda call: call.about_run("equations.equations")),
    route(
        "/api/runs/{run}/equations/{place}",
        lambda call: call.about_run("equations.equation", place=_place(call.path_params["place"])),
    ),
    route("/api/runs/{run}/compare", _compare),
    route("/api/runs/{run}/fit", _fit, "POST"),
    route("/api/runs/{run}/try", _try, "POST"),
    route("/api/runs/{run}/export/{format}", _export),
    route("/api/runs/{run}/report", _report),
    route("/api/runs/{run}/equations.csv", _csv),
    route("/api/runs/{run}/folder.zip", _folder),
    route("/api/space/between", _between, "POST"),
    route("/api/space/neighbours", _neighbours, "POST"),
]
