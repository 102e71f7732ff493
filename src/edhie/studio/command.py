"""The command that searches a run: what was asked, as arguments of `edhie fit` or `edhie revise`."""

from __future__ import annotations

import os
from typing import Any

from edhie.lists import as_line
from edhie.studio.runs import EVENTS, FIELD, STUDIO, Run

AS_THEY_ARE = ("target", "sigma", "noise", "selection", "max_size", "seed", "evaluations", "template")
"""Fields of a question that are options of the command."""


def arguments_of(run: Run) -> list[str]:
    """Return the arguments of the command that searches a run, or resumes it."""
    question, studio = run.note["question"], run.folder / STUDIO
    options = question.get("options", {})
    given: list[tuple[str, Any]] = [
        *((name.replace("_", "-"), question.get(name)) for name in AS_THEY_ARE),
        *((name, options.get(name)) for name in ("decimal", "missing", "header")),
        *((name, as_line(question.get(name, ()))) for name in ("features", "operators")),
        ("max-time", question.get("max_time", 0)),
        ("patience", question.get("patience") if run.note["kind"] == "fit" else None),
        *(("guess", guess) for guess in question.get("guesses", ())),
        ("corpus", studio / FIELD if question.get("field") else None),
        ("jobs", run.note.get("jobs")),
        ("out", run.folder),
        ("events", studio / EVENTS),
    ]
    # written with an equals sign, a value that begins with a dash is no option
    options_given = [f"--{name}={value}" for name, value in given if value not in (None, "")]
    flags = ["--drop-missing"] if options.get("drop_missing") else []
    flags += ["--resume"] if run.has_checkpoint else []
    table = os.fspath(studio / run.note["table"])
    if run.note["kind"] == "revise":
        return ["revise", *options_given, *flags, "--quiet", "--", question["formula"], table]
    return ["fit", *options_given, *flags, "--no-report", "--", table]
