"""Questions of the page, checked as the command would check them, before they wait in the queue."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from edhie.errors import EdhieError
from edhie.fit.measured import Measured, read_file
from edhie.studio.answers.formulas import plain_field, plain_formula, plain_template
from edhie.studio.answers.reading import opened, worded
from edhie.studio.refusals import Refused


def checked(path: str, name: str, question: dict[str, Any]) -> dict[str, Any]:
    """Return the question with formulas in plain text; raise `Refused` with the field that the command would refuse."""
    file = Path(path)
    try:
        _, header = opened(file, question.get("options", {}))
        options = question.get("options", {}) | ({"header": header} if header else {})
        measured = _read(file, question, options)
    except EdhieError as error:
        raise Refused(worded(str(error), file, name), where={"field": "table"}) from error
    names = measured.problem.train.names
    found = question | ({"options": options} if options else {})
    found["features"] = list(measured.problem.columns)
    if "guesses" in found:
        found["guesses"] = [plain_formula(each, names, "guesses") for each in found["guesses"]]
    if "formula" in found:
        found["formula"] = plain_formula(found["formula"], names, "formula")
    if "template" in found:
        found["template"] = plain_template(found["template"], names)
    if "field" in found:
        found["field"] = plain_field(found["field"])
    return found


def _read(path: Path, question: dict[str, Any], options: dict[str, Any]) -> Measured:
    missing = next(csv.reader([options.get("missing", "")], skipinitialspace=True), [])
    return read_file(
        path,
        question["target"],
        features=question.get("features", ()),
        sigma=question.get("sigma"),
        decimal=options.get("decimal"),
        missing=[each.strip() for each in missing if each.strip()],
        drop_missing=bool(options.get("drop_missing")),
        header=options.get("header"),
    )
