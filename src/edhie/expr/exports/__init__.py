"""Expressions for use elsewhere: as code, as a formula, as data."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from edhie.errors import ExpressionError, suggestion
from edhie.expr.exports.c import to_c
from edhie.expr.exports.excel import to_excel
from edhie.expr.exports.json_tree import from_json, to_json
from edhie.expr.exports.python import JAX, NUMPY, PYTHON, TORCH
from edhie.expr.exports.sympy_code import to_sympy_code
from edhie.expr.expression import Expr
from edhie.expr.latex import to_latex
from edhie.expr.symbols import is_name, latex_name

__all__ = ["FORMATS", "Format", "export", "from_json"]


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
