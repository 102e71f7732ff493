"""Runs as folders: what was asked, what is wanted, how it ended. All state is in files of the folder."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from edhie.files import is_in_use, replace_file, small_text
from edhie.studio.question import KINDS, Refused, read_question
from edhie.studio.tail import Tail

STUDIO, QUESTION, EVENTS, OUTPUT, FIELD = "studio", "question.json", "events.jsonl", "output.txt", "field.txt"
FORMAT = 1
ANSWERS = ("discovery.json", "revision.json")  # written at the end of a fit, and of a revision
BEGUN = "run.json"  # written when a search begins, which can be resumed from then on
MARKS = (*ANSWERS, BEGUN)  # files of a run
ID = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")
TABLE = re.compile(r"table(?:\.[a-z]+)+")
LONGEST_NAME = 200
LAST_LINES = 8000  # letters of the output that are shown
LEAST_ROOM = 1 << 20  # bytes that a disk has before it counts as full
NO_ROOM = "the disk is full: the search goes on, but what it finds is not kept until there is room again"


@dataclass
class Run:
    """A run folder, with what the studio knows of it."""

    id: str
    folder: Path
    note: dict[str, Any] = field(default_factory=dict)
    """The content of `studio/question.json`; empty for a run that the command line made."""
    is_live: bool = False
    """True while its search is a process of this server."""
    starts_before = 0
    """Number of times that its search had been started before the present process."""
    chosen: tuple[float, dict[str, Any] | None] = (0.0, None)
    """When its equations were written that were last looked at, and the chosen one."""
    _ended: tuple[float, dict[str, Any]] = field(default=(0.0, {}), init=False)

    def __post_init__(self) -> None:
        self.tail = Tail(self.folder / STUDIO / EVENTS)

    @property
    def is_own(self) -> bool:
        """True if the studio made it."""
        return bool(self.note)

    @property
    def wanted(self) -> str:
        """The state that the user wants: run, pause or stop."""
        return str(self.note.get("wanted", "run"))

    @property
    def is_waiting(self) -> bool:
        """True if it is to be searched, and is not yet."""
        return self.is_own and self.wanted == "run" and self.note.get("ended") is None and not self.is_live

    @property
    def is_answered(self) -> bool:
        """True if equations are kept."""
        return bool(_there(self.folder, ANSWERS))

    @property
    def state(self) -> str:
        """The state as the page shows it."""
        if self.is_live:
            if self.wanted != "run":
                return "pausing"
            return "running" if self.tail.n_starts > self.starts_before else "starting"
        if not self.is_own:
            if not self.is_answered:
                return "running" if is_in_use(self.folder) else "stopped"
            return "stopped" if self.description.get("stopped") == "interrupted" else "finished"
        ended = self.note.get("ended")
        if ended is not None and ended["how"] != "interrupted":
            return str(ended["how"])
        return {"run": "waiting", "pause": "paused", "stop": "stopped"}[self.wanted]

    @property
    def description(self) -> dict[str, Any]:
        """The saved summary of a fit or a revision; empty if there is none. It is read again when it has changed."""
        try:
            if (changed := self.changed) and changed != self._ended[0]:
                whole = json.loads(small_text(_there(self.folder, ANSWERS)[0]))
                kinds: dict[str, type] = {"target": str, "stopped": str, "seconds": float, "columns": list}
                found = {name: whole[name] for name, kind in kinds.items() if isinstance(whole.get(name), kind)}
                json.dumps(found, allow_nan=False)
                self._ended = changed, found
        except (OSError, ValueError, AttributeError, RecursionError, IndexError):
            return {}
        return self._ended[1] if changed else {}

    @property
    def changed(self) -> float:
        """When its equations were written; 0 if there are none."""
        return max((path.stat().st_mtime for path in _there(self.folder, ANSWERS)), default=0)

    def summary(self) -> dict[str, Any]:
        """Return the run as the list shows it, but for its place in the queue."""
        question, tail, kept = self.note.get("question", {}), self.tail, self.description
        kind = self.note.get("kind") or ("revise" if (self.folder / ANSWERS[1]).is_file() else "fit")
        found = {
            "id": self.id,
            "name": self.note.get("name") or self.folder.name,
            "kind": kind,
            "target": question.get("target") or kept.get("target"),
            "state": self.state,
            "created": self.note.get("created") or _when(self.folder),
            "max_time": question.get("max_time"),
            "seconds": kept.get("seconds") if self.is_answered and not self.is_live else None,
            "is_own": self.is_own,
            "best": self._best(),
        }
        if tail.progress is not None and found["seconds"] is None:
            found["seconds"] = tail.progress["seconds"]
        if found["state"] in ("finished", "stopped") and kept.get("stopped"):
            found["stopped_by"] = kept["stopped"]
        if self.is_live and is_full(self.folder):
            found["warning"] = NO_ROOM
        if error := (self.note.get("ended") or {}).get("error"):
            found["error"] = error
        return found

    def _best(self) -> dict[str, Any] | None:
        """Return the chosen equation, or the best so far while it is searched."""
        if not self.is_live and self.chosen[0] and self.chosen[0] == self.changed:
            return self.chosen[1]
        if (live := self.tail.best) is None:
            return None
        return {name: live.get(name) for name in ("mathml", "text", "complexity")} | {"r2": None}

    def keep(self, **changes: Any) -> None:
        """Change what is known of the run, on disk first."""
        note = {**self.note, **changes}
        folder = self.folder / STUDIO
        with writing():
            folder.mkdir(parents=True, exist_ok=True)
            replace_file(folder / QUESTION, json.dumps(note, indent=2, ensure_ascii=False).encode())
        self.note = note

    def file(self, *names: str) -> Path | None:
        """Return a file of the folder; None if it is not there, or leads out of it: folders may be from strangers."""
        path = self.folder.joinpath(*names)
        is_inside = path.is_file() and path.resolve().is_relative_to(self.folder.resolve())
        return path if is_inside else None

    @property
    def table(self) -> Path | None:
        """The table, if it is in the folder."""
        return self.file(STUDIO, str(self.note.get("table") or "-"))

    def needed_table(self) -> tuple[Path, str]:
        """Return the table and the user's name of it; raise `Refused` if it is not there."""
        if (path := self.table) is None:
            raise Refused("the table of this run is not in its folder; bring it again", 409, where={"field": "table"})
        return path, str(self.note.get("file") or path.name)

    @property
    def output(self) -> str:
        """The last lines that the command printed."""
        if (path := self.file(STUDIO, OUTPUT)) is None:
            return ""
        try:
            with path.open("rb") as file:
                file.seek(max(0, path.stat().st_size - LAST_LINES))
                return file.read().decode("utf-8", "replace")
        except OSError:
            return ""


def unwritable(error: OSError) -> Refused:
    """Return the error for a disk that cannot be written to."""
    reason = error.strerror or str(error)
    return Refused(f"the folder of the studio cannot be written to: {reason}; make room, then try again", 507)


@contextmanager
def writing() -> Iterator[None]:
    """Raise errors of a disk that cannot be written to as `Refused`."""
    try:
        yield
    except OSError as error:
        raise unwritable(error) from error


def is_full(folder: Path) -> bool:
    """Return whether the disk of a folder has no room left."""
    try:
        return shutil.disk_usage(folder).free < LEAST_ROOM
    except OSError:
        return False


def _when(folder: Path) -> str:
    stamp = min((path.stat().st_mtime for path in _there(folder)), default=0.0)
    return datetime.fromtimestamp(stamp or folder.stat().st_mtime, UTC).isoformat(timespec="seconds")


def is_run(folder: Path) -> bool:
    """Return whether a folder is a run."""
    return bool(_there(folder))


def _there(folder: Path, names: Sequence[str] = MARKS) -> list[Path]:
    """Return the files of these names that a folder has."""
    return [path for name in names if (path := folder / name).is_file()]


class Shelf:
    """All runs of a folder, or the one run that the folder is; new folders are found when it is looked through."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.is_one_run = is_run(folder)
        self.runs: dict[str, Run] = {}
        self.look()

    def look(self) -> None:
        """Find runs that are new, and forget those that are gone."""
        found: dict[str, Path] = {}
        for folder in [self.folder] if self.is_one_run else _subfolders(self.folder):
            if _there(folder, (*MARKS, f"{STUDIO}/{QUESTION}")):
                found[_id(folder)] = folder
        for name in [name for name in self.runs if name not in found and not self.runs[name].is_live]:
            del self.runs[name]
        for name, folder in found.items():
            if name not in self.runs:
                self.runs[name] = Run(name, folder, _note(folder))

    def run(self, name: str) -> Run:
        """Return a run by its id."""
        if name not in self.runs:
            self.look()
        if name not in self.runs:
            raise Refused("there is no such run; it may have been deleted", 404)
        return self.runs[name]

    def new(self, name: str, kind: str, question: Mapping[str, Any]) -> Run:
        """Make the folder of a run; its question is kept when its table lies there."""
        self.check_room()
        stem = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "run"
        own = f"{stem}-{datetime.now().strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
        created = datetime.now(UTC).isoformat(timespec="seconds")
        note = {
            "format": FORMAT, "name": name[:LONGEST_NAME], "kind": kind, "created": created, "queued": self.next_place,
            "wanted": "run", "ended": None, "question": dict(question),
        }  # fmt: skip
        run = Run(own, self.folder / own, note)
        with writing():
            (run.folder / STUDIO).mkdir(parents=True)
        return run

    @property
    def next_place(self) -> int:
        """The last place in the queue: higher than all before, whatever the clock says."""
        return 1 + max((run.note["queued"] for run in self.runs.values() if run.is_own), default=0)

    def check_room(self) -> None:
        """Raise `Refused` if there is no place for a run."""
        if self.is_one_run:
            raise Refused("this studio shows one run folder; start it with the folder above to search", 409)

    def add(self, run: Run) -> None:
        """Keep a run that is complete."""
        run.keep()
        self.runs[run.id] = run

    def delete(self, run: Run) -> None:
        """Remove a run and its folder."""
        if self.is_one_run:
            raise Refused("this studio shows one run folder, and does not delete it", 409)
        gone = run.folder.with_name(f".{run.folder.name}.deleted")
        with writing(), suppress(FileNotFoundError):  # deleted already, such as in another tab
            run.folder.replace(gone)  # at once, so that no half of a run remains
        shutil.rmtree(gone, ignore_errors=True)
        self.runs.pop(run.id, None)


def _subfolders(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if not path.name.startswith(".") and path.is_dir()]
    except OSError:
        return []


def _id(folder: Path) -> str:
    """Return the name of a folder if it is an id, else one that is made of it."""
    if ID.fullmatch(folder.name):
        return folder.name
    stem = re.sub(r"[^a-z0-9]+", "-", folder.name.lower()).strip("-")[:60] or "run"
    return f"{stem}-{hashlib.sha256(folder.name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _note(folder: Path) -> dict[str, Any]:
    """Return what the studio kept of a run; empty if it is not of the studio, or damaged."""
    try:
        if (folder / STUDIO).is_symlink():
            return {}
        note = json.loads(small_text(folder / STUDIO / QUESTION))
        is_right = note["format"] == FORMAT and note["wanted"] in ("run", "pause", "stop") and note["kind"] in KINDS
        ended = note["ended"]
        is_right = is_right and (ended is None or ended["how"] in ("finished", "interrupted", "failed"))
        is_right = is_right and all(isinstance(note[name], str) for name in ("name", "created", "table"))
        if not is_right or not TABLE.fullmatch(note["table"]) or not isinstance(note["queued"], int):
            return {}
        json.dumps(note, allow_nan=False)
        note["question"] = read_question({**note["question"], "kind": note["kind"]})
        return dict(note)
    except (OSError, ValueError, KeyError, TypeError, RecursionError, Refused):
        return {}
