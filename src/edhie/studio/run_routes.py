"""Routes of runs: asking, listing, pausing, what becomes of them, and streams of what changes."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from edhie.files import replace_file
from edhie.safe_text import printable
from edhie.studio.question import MOST_SECONDS, Refused, read_number, read_question
from edhie.studio.requests import Call, Json, route
from edhie.studio.runs import FIELD, LONGEST_NAME, STUDIO, Run, writing
from edhie.studio.studio import Studio

LIVE_SECONDS = 0.04  # between two looks at the events of a search
QUIET_SECONDS = 0.25  # between two looks at a run that is not searched
LIST_SECONDS = 0.5
HEARTBEAT = 10.0  # seconds after which something is sent, so that a lost connection is noticed
DELETED = "deleted"
Events = list[tuple[str, Any]]
"""Events of a stream, each with its kind and what it tells."""


async def _runs(call: Call) -> list[dict[str, Any]]:
    call.studio.shelf.look()
    return call.studio.listed()


async def _new_run(call: Call) -> Json:
    """Check a question, make its folder, and let it wait for its turn."""
    studio, body = call.studio, await call.fields()
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
        return studio.shelf.run(body["run"]).needed_table()
    if not isinstance(body.get("table"), str):
        raise Refused("bring a table first", where={"field": "table"})
    upload = studio.uploads.table(body["table"])
    return upload.path, upload.name


async def _run(call: Call) -> dict[str, Any]:
    run = call.run
    kept = {name: run.note.get(name) for name in ("question", "file", "rows")}
    more = {
        "columns": run.description.get("columns") or (kept["question"] or {}).get("features"),
        "table_is_there": run.table is not None,
        "folder": str(run.folder),
        "log": printable(run.output, keep="\n\t"),
    }
    return call.studio.summary(run) | kept | more


async def _stop(call: Call, wanted: str = "stop") -> dict[str, Any]:
    run = call.run
    call.studio.queue.stop(run, wanted)
    return call.studio.summary(run)


async def _resume(call: Call) -> dict[str, Any]:
    run = call.run
    call.studio.queue.resume(run, read_number(await call.fields(), "more_seconds", 0.1, MOST_SECONDS))
    return call.studio.summary(run)


async def _rename(call: Call) -> dict[str, Any]:
    run, name = call.run, (await call.fields()).get("name")
    if not isinstance(name, str) or not name.strip():
        raise Refused("give a name", where={"field": "name"})
    if not run.is_own:
        raise Refused("this run was made by the command line; rename its folder", 409)
    run.keep(name=printable(name.strip())[:LONGEST_NAME])
    return call.studio.summary(run)


async def _delete(call: Call) -> dict[str, Any]:
    studio, run = call.studio, call.run
    await studio.queue.kill(run)
    await run_in_threadpool(studio.shelf.delete, run)
    studio.queue.advance()
    return {}


# -- streams: server-sent events ------------------------------------------------------------


async def _stream_runs(call: Call) -> StreamingResponse:
    studio = call.studio
    return _stream(studio, lambda: [("runs", studio.listed())], lambda: LIST_SECONDS)


async def _stream_run(call: Call) -> StreamingResponse:
    studio, run = call.studio, call.run
    return _stream(studio, lambda: _now(studio, run), lambda: LIVE_SECONDS if run.is_live else QUIET_SECONDS)


def _stream(studio: Studio, now: Callable[[], Events], pause: Callable[[], float]) -> StreamingResponse:
    parts = _changes(studio, now, pause)
    return StreamingResponse(parts, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


async def _changes(studio: Studio, now: Callable[[], Events], pause: Callable[[], float]) -> AsyncIterator[str]:
    """Yield the events that are other than at the last look, until one says that the run was deleted."""
    sent: dict[str, str] = {}
    sent_at = 0.0
    while not studio.is_closing.is_set():
        for kind, data in now():
            text = json.dumps(data)
            if sent.get(kind) != text:
                sent[kind], sent_at = text, time.monotonic()
                yield f"event: {kind}\ndata: {text}\n\n"
        if DELETED in sent:
            return
        if time.monotonic() - sent_at > HEARTBEAT:
            sent_at = time.monotonic()
            yield ": here\n\n"
        with suppress(TimeoutError):  # ends early if the server does
            await asyncio.wait_for(studio.is_closing.wait(), pause())


def _now(studio: Studio, run: Run) -> Events:
    """Return the state of a run, and the last of its events of each kind."""
    run.tail.read()
    if studio.shelf.runs.get(run.id) is not run:
        return [(DELETED, {})]
    tail, summary = run.tail, studio.summary(run)
    # progress has its own event: a state is sent when something else changes
    state = {name: value for name, value in summary.items() if name not in ("seconds", "best") or not run.is_live}
    found: Events = [("state", state)]
    found += [("look", tail.look)] if tail.look else []
    found += [("progress", tail.progress)] if tail.progress else []
    if not run.is_live and (tail.finished is not None or summary["state"] in ("finished", "failed")):
        found.append(("done", {"state": summary["state"], **(tail.finished or {})}))
    return found


RUN_ROUTES = [
    route("/api/runs", _runs),
    route("/api/runs", _new_run, "POST"),
    route("/api/events", _stream_runs),
    route("/api/runs/{run}", _run),
    route("/api/runs/{run}", _delete, "DELETE"),
    route("/api/runs/{run}/events", _stream_run),
    route("/api/runs/{run}/pause", partial(_stop, wanted="pause"), "POST"),
    route("/api/runs/{run}/stop", _stop, "POST"),
    route("/api/runs/{run}/resume", _resume, "POST"),
    route("/api/runs/{run}/rename", _rename, "POST"),
]
