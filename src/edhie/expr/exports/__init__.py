"""Expressions for use elsewhere: as code, as a formula, as data."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import NamedTuple, Protocol, cast

from edhie.errors import ExpressionError, suggestion
from edhie.expr.expression import Expr
from edhie.expr.symbols import Symbol, is_name

__all__ = ["FORMATS", "Format", "export", "from_json"]


class Write(Protocol):
    """Writes an expression in one format."""

    def __call__(self, expr: Expr, *, name: str, target: str) -> str:
        """The text, of a function called `name`, or of an equation for `target`."""


class Format(NamedTuple):
    """One of the ways to write an expression."""

    write: Write
    extension: str
    description: str


def _later(module: str, function: str) -> Write:
    """A writer whose module is imported when it is first used."""

    def write(expr: Expr, *, name: str, target: str) -> str:
        writer = cast(Write, getattr(import_module(f"{__name__}.{module}"), function))
        return writer(expr, name=name, target=target)

    return write


FORMATS: dict[str, Format] = {
    "python": Format(_later("python", "to_python"), ".py", "a Python function of numbers that needs nothing but math"),
    "numpy": Format(_later("arrays", "to_numpy"), ".py", "a Python function of NumPy arrays"),
    "torch": Format(_later("arrays", "to_torch"), ".py", "a Python function of PyTorch tensors, differentiable"),
    "jax": Format(_later("arrays", "to_jax"), ".py", "a Python function of JAX arrays, differentiable"),
    "c": Format(_later("c", "to_c"), ".c", "a C99 function of doubles"),
    "excel": Format(_later("excel", "to_excel"), ".txt", "a formula for row 2 of a sheet, columns as in the data"),
    "latex": Format(_later("symbolic", "to_latex"), ".tex", "the equation in LaTeX"),
    "sympy": Format(_later("symbolic", "to_sympy_text"), ".py", "Python text that builds the SymPy expression"),
    "json": Format(_later("tree", "to_json"), ".json", "the tree with its symbols, to be read back by from_json"),
}


def export(expr: Expr, format: str, *, name: str = "f", target: str = "y") -> str:
    """The expression as text in another language: one of `FORMATS`.

    Code gives NaN or infinity where edhie does, and does its operations in the order of the tree. Variables that the
    language has no such name for get another, which the text tells.

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
        raise ExpressionError(f"target={target!r} is no name: use letters, digits and underscores")
    return found.write(expr, name=name, target=target)


def from_json(text: str, *, operators: Iterable[Symbol] = ()) -> Expr:
    """The expression that `export(expr, "json")` wrote; pass `operators` for those that a user had added."""
    from edhie.expr.exports.tree import from_json as read

    return read(text, operators=operators)
