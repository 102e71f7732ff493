"""Questions of the page, checked as the command would check them, before they wait in the queue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from edhie.errors import EdhieError
from edhie.studio.answers.formulas import plain_field, plain_formula, plain_template
from edhie.studio.answers.opened_run import read_question_table
from edhie.studio.answers.reading import opened, worded
from edhie.studio.refusals import Refused


def checked(path: str, name: str, question: dict[str, Any]) -> dict[str, Any]:
    """Return the question with formulas in plain text; raise `Refused` with the field that the command would refuse."""
    file = Path(path)
    try:
        _, header = opened(file, question.get("options", {}))
        options = question.get("options", {}) | ({"header": header} if header else {})
        measured = read_question_table(file, question, options)
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
