"""`EventLog`: the events of a search as a file of JSON lines, for programs that follow it."""

from __future__ import annotations

import json
import math
import os
import time
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import IO, Any

from edhie.errors import EdhieError, raised_as
from edhie.events import Event, Progressed, RevisedFormula
from edhie.expr import Expr
from edhie.expr.mathml import to_mathml
from edhie.results.candidates import Candidate

FEW_DIGITS = ".4g"
FIRST = b'{"event": '  # the start of every line
Written = dict[str, Any]


class EventLog:
    """A listener for searches that writes each event as one line; to be used in a `with`.

    A line has the kind of the event under `event`, the time under `time`, and the fields of the event. The front is in
    a line of its own, of the kind "front", whenever it or the choice has changed; the place of the chosen expression in
    it is under `chosen`. Members have their complexity, and of a revision their distance from the formula instead. A
    member that is chosen, but beaten by another, has `is_beaten`. Numbers that are not finite are null. If the file
    cannot be written any more, such as on a full disk, lines are missing and the search goes on.
    """

    def __init__(self, path: Path | None, *, resume: bool = False) -> None:
        """Open the file; with `resume`, lines are added to those that are there. None for no file.

        A file that holds anything but events is refused.
        """
        self._file: IO[str] | None = None
        self._is_torn = False  # the last line may be half a line
        self._front: tuple[object, ...] = ()
        self._known: dict[tuple[float, float], Written] = {}
        if path is not None:
            with raised_as(EdhieError, f"cannot write events to {path}"):
                _check_own(path)
                self._is_torn = resume and not _ends_with_a_line(path)
                self._file = path.open("a" if resume else "w", encoding="utf-8", errors="backslashreplace")

    def __enter__(self) -> EventLog:
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()

    def __call__(self, event: Event) -> None:
        """Write an event."""
        if self._file is None:
            return
        if isinstance(event, Progressed):
            self._write_front(event)
        told: Written = {}
        for each in fields(event):
            value = getattr(event, each.name)
            if isinstance(value, Expr):
                told |= _expression(value)
            elif each.name not in ("front", "chosen", "revisions"):
                told[each.name] = value
        self._write(type(event).__name__.lower(), told)

    def _write_front(self, event: Progressed) -> None:
        """Write the front, if it has changed; of a revision, that of distance against error."""
        if event.revisions:
            self._write_revisions(event.revisions)
            return
        places = list(zip(event.front.candidates.executed_at.tolist(), event.front.errors.tolist(), strict=True))
        chosen = None if event.chosen is None else (event.chosen.executed_at, event.chosen.error)
        if (now := (*places, None, chosen)) == self._front:
            return
        self._front = now
        self._known = {place: self._known.get(place) or _member(event.front[k]) for k, place in enumerate(places)}
        members = list(self._known.values())
        at = places.index(chosen) if chosen in places else None
        if at is None and event.chosen is not None:
            at = sum(each["complexity"] <= event.chosen.complexity for each in members)
            members.insert(at, {**_member(event.chosen), "is_beaten": True})
        self._write("front", {"front": members, "chosen": at})

    def _write_revisions(self, revisions: tuple[RevisedFormula, ...]) -> None:
        places = [(each.distance, each.error) for each in revisions]
        at = next((k for k, each in enumerate(revisions) if each.is_chosen), None)
        if (now := (*places, at)) == self._front:
            return
        self._front = now
        self._known = {
            place: self._known.get(place) or {**_expression(each.expr), "distance": each.distance, "error": each.error}
            for place, each in zip(places, revisions, strict=True)
        }
        self._write("front", {"front": list(self._known.values()), "chosen": at})

    def _write(self, kind: str, told: Written) -> None:
        line = json.dumps(_plain({"event": kind, "time": time.time(), **told}), ensure_ascii=False)
        if self._file is None:
            return
        try:
            self._file.write(f"\n{line}\n" if self._is_torn else f"{line}\n")
            self._file.flush()
            self._is_torn = False
        except (OSError, ValueError):  # a full disk; observers never change a search
            self._is_torn = True


def _ends_with_a_line(path: Path) -> bool:
    """Return whether a file is empty, is not there, or ends with a line feed."""
    if not path.is_file() or not path.stat().st_size:
        return True
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"


def _check_own(path: Path) -> None:
    """Raise an error if writing to `path` would destroy a file that no search wrote; pipes may be written to."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        start = file.read(len(FIRST))
    if not FIRST.startswith(start):
        raise EdhieError(f"{path} holds something else than events; choose another file for --events")


def _expression(expr: Expr) -> Written:
    """Return an expression with all digits, and with few digits as text and as MathML."""
    return {
        "expression": str(expr),
        "text": f"{expr:{FEW_DIGITS}}",
        "mathml": to_mathml(expr, number_format=FEW_DIGITS),
    }


def _member(candidate: Candidate) -> Written:
    return {**_expression(candidate.expr), "complexity": candidate.complexity, "error": candidate.error}


def _plain(value: Any) -> Any:
    """Return a value as JSON has it, with None for numbers that are not finite."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value
