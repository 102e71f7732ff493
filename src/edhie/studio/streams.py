"""Server-sent events: the list of runs, and one run as it goes on."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import StreamingResponse

from edhie.studio.requests import run_of, studio_of
from edhie.studio.runs import Run
from edhie.studio.studio import Studio

LIVE_SECONDS = 0.04  # between two looks at the events of a search
QUIET_SECONDS = 0.25  # between two looks at a run that is not searched
LIST_SECONDS = 0.5
HEARTBEAT = 10.0  # seconds after which something is sent, so that a lost connection is noticed


async def get_all(request: Request) -> StreamingResponse:
    """Return the list of runs, whenever it changes."""
    return _stream(_list_of_runs(studio_of(request)))


async def get_one(request: Request) -> StreamingResponse:
    """Return the state and the progress of a run, whenever they change."""
    return _stream(_one_run(studio_of(request), run_of(request)))


def _stream(parts: AsyncIterator[str]) -> StreamingResponse:
    return StreamingResponse(parts, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


async def _list_of_runs(studio: Studio) -> AsyncIterator[str]:
    sent, sent_at = "", 0.0
    while not studio.is_closing.is_set():
        now = json.dumps(studio.listed())
        if now != sent:
            sent, sent_at = now, time.monotonic()
            yield f"event: runs\ndata: {now}\n\n"
        elif time.monotonic() - sent_at > HEARTBEAT:
            sent_at = time.monotonic()
            yield ": here\n\n"
        await _pause(studio, LIST_SECONDS)


async def _one_run(studio: Studio, run: Run) -> AsyncIterator[str]:
    """Yield what is new since the last look; of progress only the last, since that is what holds."""
    sent: dict[str, str] = {}
    sent_at = 0.0
    while not studio.is_closing.is_set():
        studio.read_events(run)
        is_gone = studio.shelf.runs.get(run.id) is not run
        for kind, data in () if is_gone else _now(studio, run):
            text = json.dumps(data)
            if sent.get(kind) != text:
                sent[kind], sent_at = text, time.monotonic()
                yield f"id: {run.tail.place}\nevent: {kind}\ndata: {text}\n\n"
        if is_gone:
            yield "event: deleted\ndata: {}\n\n"
            return
        if time.monotonic() - sent_at > HEARTBEAT:
            sent_at = time.monotonic()
            yield ": here\n\n"
        await _pause(studio, LIVE_SECONDS if run.is_live else QUIET_SECONDS)


def _now(studio: Studio, run: Run) -> list[tuple[str, Any]]:
    tail, summary = run.tail, studio.summary(run)
    # progress has its own event: a state is sent when something else changes
    state = {name: value for name, value in summary.items() if name not in ("seconds", "best") or not run.is_live}
    found: list[tuple[str, Any]] = [("state", state)]
    found += [("look", tail.look)] if tail.look else []
    found += [("progress", tail.progress)] if tail.progress else []
    if not run.is_live and (tail.finished is not None or summary["state"] in ("finished", "failed")):
        found.append(("done", {"state": summary["state"], **(tail.finished or {})}))
    return found


async def _pause(studio: Studio, seconds: float) -> None:
    """Wait; less if the server ends."""
    try:
        await asyncio.wait_for(studio.is_closing.wait(), seconds)
    except TimeoutError:
        return
