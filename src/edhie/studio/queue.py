"""`Queue`: searches in processes of their own, first come, first served; their commands, pausing and resuming."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import signal
import sys
from contextlib import suppress
from typing import Any

from edhie.files import is_in_use, remove_link
from edhie.processes import LOOK_EVERY, command_of, import_path
from edhie.safe_text import as_line
from edhie.studio.question import FIELDS, Refused
from edhie.studio.runs import BEGUN, EVENTS, FIELD, OUTPUT, STUDIO, Run, Shelf, is_full, unwritable

COMMAND = "edhie.cli.studio"
SERVER = "EDHIE_STUDIO"  # a variable of a search: the process that it ends with
INTERRUPTED = (130, -signal.SIGTERM, 128 + signal.SIGTERM)
LEAVE_SECONDS = 10.0  # that searches have to keep what they found when the server ends
MOST_LETTERS = 2000  # of an error
NO_MORE = ("target", "finished")  # ends after which more time finds nothing


class Queue:
    """The searches of a shelf; its runs that were searched or waited when the last server ended go on."""

    def __init__(self, shelf: Shelf, *, searches: int = 1) -> None:
        self._shelf, self._most = shelf, searches
        self._processes: dict[str, asyncio.subprocess.Process] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._is_closing = False

    def waiting(self) -> list[Run]:
        """Return the runs that wait, the next one first."""
        return sorted((run for run in self._shelf.runs.values() if run.is_waiting), key=lambda run: run.note["queued"])

    def advance(self) -> None:
        """Start searches while there is room for them."""
        for run in self.waiting():
            if self._is_closing or len(self._tasks) >= self._most:
                return
            run.is_live, run.starts_before = True, sys.maxsize  # until its events are read
            self._tasks[run.id] = asyncio.create_task(self._search(run))

    async def _search(self, run: Run) -> None:
        """Search until the process ends, and keep how it ended."""
        ended: dict[str, Any] = {"how": "failed", "error": "the search could not be started"}
        try:
            while is_in_use(run.folder):  # a search of the last server still keeps what it found
                await asyncio.sleep(LOOK_EVERY)
            ended = {"how": "interrupted"}
            while run.wanted == "run" and not self._is_closing:
                await run.tail.catch_up()
                run.starts_before, question = run.tail.n_starts, run.note["question"]
                ended = await self._run_process(run)
                if run.note["question"] == question or ended["how"] == "failed":  # else it has more time
                    break
        except OSError as error:
            ended = {"how": "failed", "error": str(unwritable(error))}
        finally:
            self._processes.pop(run.id, None)
            self._tasks.pop(run.id, None)
            run.is_live = False
        if self._is_closing and ended["how"] == "interrupted":
            return  # the next server resumes it
        if ended["how"] == "interrupted" and run.wanted == "run":  # somebody else stopped it
            run.note["wanted"] = "pause"
        with suppress(Refused):  # a full disk: known in memory, and searched again by the next server
            run.note["ended"] = ended
            run.keep()
        self.advance()

    async def _run_process(self, run: Run) -> dict[str, Any]:
        folder = run.folder / STUDIO
        command = [*command_of(COMMAND), *arguments_of(run)]
        for name in (OUTPUT, EVENTS):  # in a folder from a stranger
            remove_link(folder / name)
        with (folder / OUTPUT).open("ab") as output:
            start = output.tell()
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=output,
                env=import_path() | {SERVER: str(os.getpid())},
                start_new_session=True,  # Ctrl-C in the terminal is for the server
            )
        self._processes[run.id] = process
        if run.wanted != "run" or self._is_closing:
            _signal(process, signal.SIGTERM)
        code = await process.wait()
        await run.tail.catch_up()
        if code == 0:
            return {"how": "finished"}
        if code in INTERRUPTED:
            return {"how": "interrupted"}
        return {"how": "failed", "error": _error(run, start, code)}

    # -- what users ask for -----------------------------------------------------------

    def stop(self, run: Run, wanted: str) -> None:
        """Pause or stop a run; one that has ended stays as it is."""
        _check_own(run)
        ended = run.note.get("ended")
        if ended is not None and ended["how"] != "interrupted":
            return
        try:
            run.keep(wanted=wanted)
        finally:  # also on a full disk
            run.note["wanted"] = wanted
            if process := self._processes.get(run.id):
                _signal(process, signal.SIGTERM)
            self.advance()

    def resume(self, run: Run, more_seconds: float | None = None) -> None:
        """Let a run go on, at the end of the queue; `more_seconds` are added to its time."""
        _check_own(run)
        ended, question = run.note.get("ended") or {}, dict(run.note["question"])
        if more_seconds is None and (run.is_waiting or (run.is_live and run.wanted == "run")):
            return
        if run.is_live:
            self._extend(run, question, more_seconds or 0.0)
            return
        reason = run.description.get("stopped")
        if ended.get("how") == "finished":
            if reason in NO_MORE:
                raise Refused("nothing is left to try: more time would find nothing better", 409)
            if more_seconds is None:
                raise Refused("the search has ended; give it more time to go on", 409)
        if more_seconds is not None and question.get("max_time"):
            question["max_time"] += more_seconds
        if ended.get("how") == "finished":  # it is to go on, so it must not end again for the same reason
            question["patience"] = 0
            question.pop("evaluations", None)
        run.keep(wanted="run", ended=None, queued=self._shelf.next_place, question=question)
        self.advance()

    def _extend(self, run: Run, question: dict[str, Any], seconds: float) -> None:
        """Give a search that runs more time: its process is stopped, and resumes with another limit."""
        if run.wanted != "run":
            raise Refused("the search is about to end; wait until it has, then let it go on", 409)
        if not question.get("max_time"):
            raise Refused("the search has no time limit", 409)
        run.keep(question=question | {"max_time": question["max_time"] + seconds})
        if process := self._processes.get(run.id):
            _signal(process, signal.SIGTERM)

    async def kill(self, run: Run) -> None:
        """End the search of a run at once, before it is deleted."""
        if task := self._tasks.get(run.id):
            run.note["wanted"] = "stop"
            if process := self._processes.get(run.id):
                _signal(process, signal.SIGKILL)
            await asyncio.wait([task], timeout=LEAVE_SECONDS)
        elif is_in_use(run.folder):
            raise Refused("another process works in this run; stop it first", 409)

    async def close(self) -> None:
        """Stop all searches so that they keep what they found; the next server resumes them."""
        self._is_closing = True
        for process in self._processes.values():
            _signal(process, signal.SIGTERM)
        if self._tasks:
            await asyncio.wait(list(self._tasks.values()), timeout=LEAVE_SECONDS)


def _check_own(run: Run) -> None:
    if not run.is_own:
        raise Refused("this run was made by the command line, which resumes it with --resume", 409)


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        if number == signal.SIGKILL and sys.platform != "win32":
            os.killpg(process.pid, number)  # islands, too
        else:
            process.send_signal(number)


def _error(run: Run, start: int, code: int) -> str:
    """Return the message of a command that failed."""
    try:
        with (run.folder / STUDIO / OUTPUT).open("rb") as file:
            file.seek(start)
            text = file.read().decode("utf-8", "replace").strip()
    except OSError:
        text = ""
    if code < 0:
        return f"the search was killed (signal {-code}), perhaps for want of memory; resume it to go on"
    *before, message = re.split(r"^(?:error|Error):\s+", text, flags=re.MULTILINE)
    no_room = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if is_full(run.folder) and (not before or str(no_room.strerror) in message):  # it may not have been able to say why
        return str(unwritable(no_room))
    return message[-MOST_LETTERS:] or f"the search ended with code {code}"


def arguments_of(run: Run) -> list[str]:
    """Return the arguments of the command that searches a run, or resumes it."""
    question, studio, kind = run.note["question"], run.folder / STUDIO, run.note["kind"]
    options, values = question.get("options", {}), {"max_time": 0, **question}
    if "field" in values:
        values["field"] = studio / FIELD
    if kind == "revise":  # which stops by itself
        values.pop("patience", None)
    given: list[tuple[str, Any]] = []
    for name, field in FIELDS.items():
        value = values.get(name)
        parts = value or () if field.is_repeated else [as_line(value) if isinstance(value, list) else value]
        given += [(field.option, part) for part in parts if field.option]
    given += [(name, options.get(name)) for name in ("decimal", "missing", "header")]
    given += [("jobs", run.note.get("jobs")), ("out", run.folder), ("events", studio / EVENTS)]
    # written with an equals sign, a value that begins with a dash is no option
    options_given = [f"--{name}={value}" for name, value in given if value not in (None, "")]
    flags = ["--drop-missing"] if options.get("drop_missing") else []
    flags += ["--resume"] if (run.folder / BEGUN).is_file() else []
    table = os.fspath(studio / run.note["table"])
    if kind == "revise":
        return ["revise", *options_given, *flags, "--quiet", "--", question["formula"], table]
    return ["fit", *options_given, *flags, "--no-report", "--", table]
