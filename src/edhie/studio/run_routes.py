"""Routes of runs: asking, listing, pausing, and what becomes of them."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from edhie.files import replace_file
from edhie.safe_text import printable
from edhie.studio.question import MOST_SECONDS, Refused, read_number, read_question
from edhie.studio.requests import Json, read_json, run_of, studio_of
from edhie.studio.runs import FIELD, LONGEST_NAME, STUDIO, Run, writing
from edhie.studio.streams import get_all, get_one
from edhie.studio.studio import Studio


async def get_runs(request: Request) -> Response:
    """Return all runs."""
    studio = studio_of(request)
    studio.shelf.look()
    return Json(studio.listed())


async def post_run(request: Request) -> Response:
    """Check a question, make its folder, and let it wait for its turn."""
    studio, body = studio_of(request), await read_json(request)
    studio.shelf.check_room()
    table, name = _table(studio, body)
    question = read_question(body)
    question = await studio.ask("tables", "formulas.checked", path=str(table), name=name, question=question)
    wanted = body.get("name")
    title = printable(wanted.strip()) if isinstance(wanted, str) and wanted.strip() else Path(name).stem
    run = studio.shelf.new(title, question.pop("kind"), question)
    run.note |= {"table": table.name, "file": name, "jobs": studio.jobs}
    try:
        with writing():
            await run_in_threadpool(shutil.copyfile, table, run.folder / STUDIO / table.name)
            if question.get("field"):
                replace_file(run.folder / STUDIO / FIELD, question["field"].encode())
        studio.shelf.add(run)
    except Refused:
        shutil.rmtree(run.folder, ignore_errors=True)
        raise
    studio.queue.advance()
    return Json({"id": run.id}, 201)


def _table(studio: Studio, body: dict[str, Any]) -> tuple[Path, str]:
    """Return the table that a question is about, and its name: that of an upload, or of another run."""
    if isinstance(body.get("run"), str):
        run = studio.shelf.run(body["run"])
        if (path := table_of(run)) is None:
            raise Refused("the table of this run is not in its folder; bring it again", 409, where={"field": "table"})
        return path, str(run.note.get("file") or path.name)
    if not isinstance(body.get("table"), str):
        raise Refused("bring a table first", where={"field": "table"})
    upload = studio.uploads.table(body["table"])
    return upload.path, upload.name


def table_of(run: Run) -> Path | None:
    """Return the table of a run, if it is in its folder."""
    return run.file(STUDIO, str(run.note.get("table") or "-"))


async def get_run(request: Request) -> Response:
    """Return one run with its question and what its command printed."""
    studio, run = studio_of(request), run_of(request)
    kept = {name: run.note.get(name) for name in ("question", "file", "rows")}
    more = {
        "columns": run.description.get("columns") or (kept["question"] or {}).get("features"),
        "table_is_there": table_of(run) is not None,
        "folder": str(run.folder),
        "log": printable(run.output, keep="\n\t"),
    }
    return Json(studio.summary(run) | kept | more)


def _changing(change: Callable[[Studio, Run, dict[str, Any]], Awaitable[None]]) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        studio, run, body = studio_of(request), run_of(request), await read_json(request)
        await change(studio, run, body)
        return Json(studio.summary(run))

    return answer


async def _stop(studio: Studio, run: Run, body: dict[str, Any], *, wanted: str = "stop") -> None:
    studio.queue.stop(run, wanted)


async def _resume(studio: Studio, run: Run, body: dict[str, Any]) -> None:
    studio.queue.resume(run, read_number(body, "more_seconds", 0.1, MOST_SECONDS))


async def _rename(studio: Studio, run: Run, body: dict[str, Any]) -> None:
    name = body.get("name")
    if not isinstance(name, str) or not name.strip():
        raise Refused("give a name", where={"field": "name"})
    if not run.is_own:
        raise Refused("this run was made by the command line; rename its folder", 409)
    run.keep(name=printable(name.strip())[:LONGEST_NAME])


async def delete_run(request: Request) -> Response:
    """Remove a run and its folder."""
    studio, run = studio_of(request), run_of(request)
    await studio.queue.kill(run)
    await run_in_threadpool(studio.shelf.delete, run)
    studio.queue.advance()
    return Json({})


RUN_ROUTES = [
    Route("/api/runs", get_runs),
    Route("/api/runs", post_run, methods=["POST"]),
    Route("/api/events", get_all),
    Route("/api/runs/{run}", get_run),
    Route("/api/runs/{run}", delete_run, methods=["DELETE"]),
    Route("/api/runs/{run}/events", get_one),
    Route("/api/runs/{run}/pause", _changing(partial(_stop, wanted="pause")), methods=["POST"]),
    Route("/api/runs/{run}/stop", _changing(_stop), methods=["POST"]),
    Route("/api/runs/{run}/resume", _changing(_resume), methods=["POST"]),
    Route("/api/runs/{run}/rename", _changing(_rename), methods=["POST"]),
]
