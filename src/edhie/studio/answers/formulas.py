"""Formulas that users type or paste, in plain text or LaTeX: checked, with the place of a fault, and rendered.

Also as trees, with nodes at unit distance and the root on top; and the questions that formulas are a part of.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from edhie.errors import EdhieError, ParseError
from edhie.expr import Expr, SymbolLibrary, parse
from edhie.expr.difference import Difference
from edhie.expr.drawing.layout import MINUS, tree_layout
from edhie.expr.latex_reader import from_latex
from edhie.expr.mathml import mathml_name, to_mathml
from edhie.expr.notation import to_prefix_tokens
from edhie.expr.numerals import is_numeral
from edhie.expr.standard_libraries import everything
from edhie.fit.problem import variable_names
from edhie.form import Form
from edhie.studio.answers.reading import opened, read_question_table, worded
from edhie.studio.question import Refused

MOST_LETTERS = 20_000
MOST_NODES = 5000  # that are rendered
MOST_LINES = 5000  # formulas of a field
LEFT_SIDE = re.compile(r"\s*\\?[^\W\d][\w\\{}]*\s*(?:\([^()=]*\))?\s*=(?!=)")
TOKEN = re.compile(r"\\?[^\W\d]\w*|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\S")
LABELS = {
    "-": MINUS, "neg": MINUS, "*": "×", "/": "÷", "^": "^", "inv": "1/·", "sqrt": "√", "cbrt": "∛", "abs": "|·|",
    "log": "ln", "log10": "log₁₀", "^2": "·²", "^3": "·³", "^4": "·⁴", "^5": "·⁵",
}  # fmt: skip
FEW_DIGITS = ".4g"
LETTER_WIDTH, GAP = 0.16, 0.35  # of the space that a node takes: letters, and between two boxes
NARROWEST = 0.65


def check(text: str, kind: str, variables: Sequence[str]) -> dict[str, Any]:
    """Return a formula, a template or the formulas of a field as they were read, or the place of the fault.

    `names` are those that columns have in formulas.
    """
    names = variable_names(variables)
    if kind == "field":
        found = [_line(k, line) for k, line in enumerate(text.splitlines()) if _is_formula(line)]
        if len(found) > MOST_LINES:
            raise Refused(f"these are {len(found):,} formulas, and at most {MOST_LINES:,} are read", 413)
        return {"ok": any(each["ok"] for each in found), "formulas": found}
    known = {"names": list(names)}
    try:
        if kind == "template":
            return known | _template(text, names)
        expr = read(text, everything(names) if names else None)
        return known | {"ok": True, "text": str(expr), "tree": tree(expr), **_rendered(expr)}
    except EdhieError as error:
        return known | {"ok": False, **fault(error, text)}


def read(text: str, library: SymbolLibrary | None) -> Expr:
    """Return the expression of a text in either notation; the left-hand side of an equation is passed over."""
    _check_length(text)
    left = LEFT_SIDE.match(text)
    start = left.end() if left else 0
    reader = from_latex if "\\" in text or "{" in text else parse
    try:
        return reader(text[start:], library)
    except ParseError as error:
        raise ParseError(error.what, text, start + error.position) from None


def fault(error: EdhieError, text: str) -> dict[str, Any]:
    """Return a message, and the line, the start and the length of the part that is wrong."""
    if not isinstance(error, ParseError):
        return {"error": str(error), "line": 0, "start": 0, "length": len(text)}
    start = min(error.position, len(text))
    token = TOKEN.match(text, start)
    length = len(token[0]) if token else 1
    return {"error": error.what, "line": text.count("\n", 0, start), "start": start, "length": length}


def _rendered(expr: Expr) -> dict[str, Any]:
    return {"mathml": to_mathml(expr, number_format=".6g"), "variables": list(dict.fromkeys(used_variables(expr)))}


def used_variables(expr: Expr) -> list[str]:
    """Return the variables of an expression, as often as it has them, in the order of writing."""
    return [token for token in expr.tokens if expr.library[token].kind == "variable"]


def _check_length(text: str) -> None:
    if len(text) > MOST_LETTERS:
        raise EdhieError(f"the formula has {len(text):,} letters; at most {MOST_LETTERS:,} are read")
    if len(TOKEN.findall(text)) > MOST_NODES:
        raise EdhieError(f"the formula has more than {MOST_NODES:,} symbols; write a shorter one")


def _line(number: int, text: str) -> dict[str, Any]:
    """Return one formula of a field; its variables may have any names."""
    try:
        return {"line": number, "ok": True, **_rendered(read(text, None))}
    except EdhieError as error:
        return {**fault(error, text), "line": number, "ok": False}


def _is_formula(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _template(text: str, names: Sequence[str]) -> dict[str, Any]:
    _check_length(text)
    found = Form.parse(text, everything(names))
    mathml = to_mathml(found.outline[0], number_format=".6g")
    for hole, call in enumerate(found.calls):
        inside = "<mo>,</mo>".join(mathml_name(each) for each in call.arguments)
        shown = f"<mrow>{mathml_name(call.name)}<mo>(</mo>{inside}<mo>)</mo></mrow>"
        mathml = mathml.replace(mathml_name(found.hole_library.names[found.hole_tokens[hole]]), shown)
    variables = [name for call in found.calls for name in call.arguments]
    return {"ok": True, "text": text.strip(), "mathml": mathml, "variables": list(dict.fromkeys(variables))}


# -- questions, before they wait in the queue -----------------------------------------------


def checked(path: str, name: str, question: dict[str, Any]) -> dict[str, Any]:
    """Return a question of the page with formulas in plain text, checked as the command would check it.

    Raise `Refused` with the field that the command would refuse.
    """
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
        found["guesses"] = [_plain(each, names, "guesses") for each in found["guesses"]]
    for field in ("formula", "template"):
        if field in found:
            found[field] = _plain(found[field], names, field)
    if "field" in found:
        found["field"] = _plain_field(found["field"])
    return found


def _plain(text: str, names: Sequence[str], field: str) -> str:
    """Return a formula in plain text, or a template that can be read; `Refused` has the place of a fault."""
    try:
        return str(_template(text, names)["text"] if field == "template" else read(text, everything(names)))
    except EdhieError as error:
        raise refused(error, text, field) from error


def _plain_field(text: str) -> str:
    """Return the formulas of a field, one a line in plain text; those that cannot be read are left out."""
    found: list[str] = []
    first: Refused | None = None
    for line in filter(_is_formula, text.splitlines()):
        try:
            found.append(str(read(line, None)))
        except EdhieError as error:
            first = first or refused(error, line, "field")
    if not found:
        raise first or Refused("there is no formula here; write one a line", where={"field": "field"})
    return "".join(f"{each}\n" for each in found)


def refused(error: EdhieError, text: str, field: str) -> Refused:
    """Return the error for a formula, with its place in the text."""
    told = fault(error, text)
    return Refused(told["error"], where={"field": field, "start": told["start"], "length": told["length"]})


# -- trees ------------------------------------------------------------------------------------


def tree(expr: Expr, marks: Mapping[int, str] | None = None, *, number_format: str = FEW_DIGITS) -> dict[str, Any]:
    """Return the nodes and edges of an expression; `marks` are by node, in prefix order."""
    texts = to_prefix_tokens(expr, number_format=number_format)
    kinds = ["number" if symbol.kind == "literal" else symbol.kind for _, _, symbol in expr.walk()]
    labels = [
        LABELS.get(text, text) if kind == "operator" else text.replace("-", MINUS) if is_numeral(text) else text
        for kind, text in zip(kinds, texts, strict=True)
    ]
    placed = tree_layout(expr, labels, width=lambda label: max(NARROWEST, LETTER_WIDTH * len(label) + 0.3), gap=GAP)
    nodes = [
        {"id": node.position, "label": node.label, "x": round(node.x, 3), "y": node.depth - 1, "kind": kind}
        | ({"mark": marks.get(node.position, "kept")} if marks is not None else {})
        for node, kind in zip(placed, kinds, strict=True)
    ]
    return {
        "nodes": nodes,
        "edges": [[node.parent, node.position] for node in placed if node.parent is not None],
        "width": round(max(node.x + node.width / 2 for node in placed), 3),
        "height": max(node.depth for node in placed),
    }


def compared(changes: Difference) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the trees of two expressions, with marks for the nodes that changed."""
    before, after = (dict.fromkeys((pair[side] for pair in changes.replaced), "changed") for side in (0, 1))
    before |= dict.fromkeys(changes.deleted, "removed")
    after |= dict.fromkeys(changes.inserted, "added")
    return tree(changes.before, before), tree(changes.after, after)
