"""Server-sent events: the list of runs, and one run as it goes on."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import StreamingResponse

from edhie.studio.requests import run_of, studio_of
from edhie.studio.runs import Run
from edhie.studio.studio import Studio

LIVE_SECONDS = 0.04  # between two looks at the events of a search
QUIET_SECONDS = 0.25  # between two looks at a run that is not searched
LIST_SECONDS = 0.5
DELETED = "deleted"
Events = list[tuple[str, Any]]
"""Events of a stream, each with its kind and what it tells."""
HEARTBEAT = 10.0  # seconds after which something is sent, so that a lost connection is noticed


async def get_all(request: Request) -> StreamingResponse:
    """Return the list of runs, whenever it changes."""
    studio = studio_of(request)
    return _stream(studio, lambda: [("runs", studio.listed())], lambda: LIST_SECONDS)


async def get_one(request: Request) -> StreamingResponse:
    """Return the state and the progress of a run, whenever they change."""
    studio, run = studio_of(request), run_of(request)
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
    """Return the events of a run; of progress only the last, since that is what holds."""
    studio.read_events(run)
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
