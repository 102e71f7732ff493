"""`Studio`: the parts of a server in one place: runs, their queue, tables, and workshops."""

from __future__ import annotations

import asyncio
import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edhie.studio.question import Refused
from edhie.studio.queue import Queue
from edhie.studio.runs import Run, Shelf
from edhie.studio.uploads import Limits, Uploads
from edhie.studio.workshop import Workshop

LOGGER = logging.getLogger("edhie")
LOOK_SECONDS = 2.0  # between two looks for runs of the command line
SECONDS = {"formulas": 10.0, "tables": 120.0, "runs": 120.0}
"""Time for an answer, by workshop: the first questions about equations may have to compile code."""


@dataclass(frozen=True)
class Options:
    """Options of a server."""

    folder: Path
    limits: Limits = Limits()  # noqa: RUF009 -- frozen
    searches: int = 1
    """Searches that run at the same time."""
    jobs: int | None = None
    """Cores for a search; None to share all among the searches."""


class Studio:
    """Everything that requests are answered from."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.shelf = Shelf(options.folder)
        self.queue = Queue(self.shelf, searches=options.searches)
        self.uploads = Uploads(options.folder, options.limits)
        self.is_closing = asyncio.Event()
        self._workshops = {name: Workshop() for name in SECONDS}
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        """Resume the searches of the last server."""
        self.queue.advance()
        self._tasks.append(asyncio.create_task(self._look_around()))

    async def close(self) -> None:
        """Stop searches, which keep what they found, and end all processes."""
        self.is_closing.set()
        for task in self._tasks:
            task.cancel()
        await self.queue.close()
        await asyncio.gather(*(each.close() for each in self._workshops.values()))

    @property
    def jobs(self) -> int | None:
        """The cores of a search; None for all."""
        if self.options.jobs is not None or self.options.searches == 1:
            return self.options.jobs
        return max(1, (os.cpu_count() or 1) // self.options.searches)

    async def ask(self, workshop: str, what: str, /, **arguments: Any) -> Any:
        """Return the answer of a workshop."""
        return await self._workshops[workshop].ask(what, seconds=SECONDS[workshop], **arguments)

    def listed(self) -> list[dict[str, Any]]:
        """Return all runs, the newest first."""
        found = map(self.summary, self.shelf.runs.values())
        return sorted(found, key=lambda each: (each["created"], each["id"]), reverse=True)

    def summary(self, run: Run) -> dict[str, Any]:
        """Return a run as the list shows it."""
        if run.is_live or not run.is_answered:
            run.tail.read()
        found = run.summary()
        if found["state"] == "waiting":
            found["position"] = 1 + sum(each.note["queued"] < run.note["queued"] for each in self.queue.waiting())
        return found

    async def _look_around(self) -> None:
        """Find runs of the command line, and ask for the chosen equations of those that have ended."""
        while True:
            self.shelf.look()
            for run in list(self.shelf.runs.values()):
                if not run.is_live and (changed := run.changed) != run.chosen[0]:
                    best = None
                    try:
                        best = await self.ask("runs", "equations.best", folder=str(run.folder))
                    except Refused as error:  # a folder that is damaged, which the page says when it is opened
                        LOGGER.debug("%s: %s", run.folder, error)
                    run.chosen = changed, best
            await asyncio.sleep(LOOK_SECONDS)
