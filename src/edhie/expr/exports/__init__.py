"""Expressions for use elsewhere: as code, as a formula, as data."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from edhie.errors import ExpressionError, suggestion
from edhie.expr.exports.code import to_c
from edhie.expr.exports.excel import to_excel
from edhie.expr.exports.python import JAX, NUMPY, PYTHON, TORCH, to_sympy_code
from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.notation import to_infix, to_latex
from edhie.expr.symbols import Symbol, is_name, latex_name

__all__ = ["FORMATS", "Format", "export", "from_json"]
FORMAT = 1  # of JSON


def to_json(expr: Expr, *, name: str, target: str) -> str:
    """Return the expression with its library, as `from_json` reads it; nodes are a flat list, whatever the depth."""
    head = {
        "format": FORMAT,
        "equation": f"{target} = {to_infix(expr)}",
        "target": target,
        "variables": expr.variables,
        "constants": expr.constants,
    }
    lines = [f"  {json.dumps(key)}: {_text(value)}," for key, value in head.items()]
    nodes = ",\n".join(f"    {_text(node)}" for node in _nodes(expr))
    library = expr.library.to_json().strip().replace("\n", "\n  ")
    return "\n".join(["{", *lines, '  "nodes": [', nodes, "  ],", f'  "library": {library}', "}"]) + "\n"


def from_json(text: str, *, operators: Iterable[Symbol] = ()) -> Expr:
    """Read an expression written by `export(expr, "json")`; `operators` are those that the user had added."""
    try:
        data = json.loads(text)
        version, nodes, library = data["format"], data["nodes"], data["library"]
        tokens = [str(node["symbol"]) for node in nodes]
        constants = [None if value is None else float(value) for value in data["constants"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        what = "this is not an exported expression"
        raise ExpressionError(f'{what}: {error!r}; write one by export(expr, "json")') from error
    if version != FORMAT:
        raise ExpressionError(f"the expression has format {version}; this edhie reads format {FORMAT}")
    expr = Expr(SymbolLibrary.from_json(json.dumps(library), operators=operators), tokens, constants)
    if _nodes(expr) != nodes:
        raise ExpressionError("the nodes of the exported expression do not agree with its symbols and constants")
    return expr


def _nodes(expr: Expr) -> list[dict[str, Any]]:
    """Return the nodes: each a symbol, with the positions of its operands or with its value."""
    nodes = []
    for (i, _, symbol), token, value in zip(expr.walk(), expr.tokens, expr.values, strict=True):
        node: dict[str, Any] = {"symbol": token}
        if symbol.arity:
            node["operands"] = list(expr.child_positions(i))
        elif symbol.kind != "variable":
            node["value"] = value
        nodes.append(node)
    return nodes


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


class Format(NamedTuple):
    """A format: its writer, file extension and description."""

    write: Callable[..., str]
    """Writes an expression as a function called `name`, or as an equation for `target`."""
    extension: str
    description: str


FORMATS: dict[str, Format] = {
    "python": Format(PYTHON.write, ".py", "a Python function of numbers that needs nothing but math"),
    "numpy": Format(NUMPY.write, ".py", "a Python function of NumPy arrays"),
    "torch": Format(TORCH.write, ".py", "a Python function of PyTorch tensors, differentiable"),
    "jax": Format(JAX.write, ".py", "a Python function of JAX arrays, differentiable"),
    "c": Format(to_c, ".c", "a C99 function of doubles"),
    "excel": Format(to_excel, ".txt", "a formula for the first row of the data in a spreadsheet"),
    "latex": Format(
        lambda expr, *, name, target: f"{latex_name(target)} = {to_latex(expr)}", ".tex", "the equation in LaTeX"
    ),
    "sympy": Format(to_sympy_code, ".py", "Python text that builds the SymPy expression"),
    "json": Format(to_json, ".json", "the tree with its symbols, to be read back by from_json"),
}


def export(expr: Expr, format: str, *, name: str = "f", target: str = "y") -> str:
    """Write the expression in another language: one of `FORMATS`.

    Code gives NaN or infinity where edhie does, and does its operations in the order of the tree. A variable with a
    name that the language does not allow gets another, which a comment says.

    >>> from edhie.expr import parse
    >>> export(parse("3*x0*exp(-x1/2)"), "excel")
    '=3*A2*EXP(-B2/2)'
    >>> print(export(parse("x0^2/x1", variables=2), "c"), end="")
    #include <math.h>
    <BLANKLINE>
    /* y = x0^2/x1 */
    double f(double x0, double x1)
    {
        return x0 * x0 / x1;
    }
    """
    found = FORMATS.get(format)
    if found is None:
        hint = suggestion(str(format), FORMATS)
        raise ExpressionError(f"there is no format {format!r}{hint}; there are {', '.join(FORMATS)}")
    if not is_name(target):
        raise ExpressionError(f"target={target!r} is not a name: use letters, digits and underscores")
    return found.write(expr, name=name, target=target)
