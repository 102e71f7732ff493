"""Formulas in infix, prefix and postfix notation, templates, JSON trees, SymPy's expressions and LaTeX."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import sympy

from edhie.expr import Expr, parse
from edhie.expr.canonical import canonical_expr
from edhie.expr.exports import FORMATS, export, from_json
from edhie.expr.interpret import interpret
from edhie.expr.latex_reader import from_latex
from edhie.expr.notation import from_postfix, from_prefix, to_latex, to_postfix, to_prefix
from edhie.expr.standard_libraries import everything, nguyen
from edhie.expr.sympy_bridge import to_sympy
from edhie.expr.sympy_reader import from_sympy
from edhie.finish import normal_form, tidied
from edhie.form import Form
from fuzz.kind import Kind
from fuzz.mutation import changed_json, mutated

LIBRARY = everything(["x", "y", "x0"])
SMALL = nguyen(2)
MOST_TOKENS = 300  # of formulas that are written and rewritten too, which takes longer than reading them
INFIX = (
    "3*x0^2 + sin(x1)/c", "c*exp(-x/2.5e-3) - (y + 1)*(y - 1)", "sqrt(x^2 + y^2)", "x**2 - 2*x + 1",
    "max(x, y, 3) + min(x, 2)", "-x^-y^2", "log(abs(x)) / log10(y) + cbrt(x)", "e^(pi*x) + E", "((((x))))",
    "1/(1 + exp(-(x - c)/c))", "tanh(x)*sign(y)", "x", "c", "2", "-3.5e-7", "x0 + x1 + x2 + x10", "a*b/c/d - e^-f",
    "theta_max*velocidad", "x^2^3^4", "sin(cos(tan(x)))",
)  # fmt: skip
TOKENS = (
    "+", "-", "*", "/", "^", "**", "(", ")", ",", "x", "y", "x0", "x1", "x999", "c", "e", "pi", "E", "2", "3.5", ".5",
    "1e3", "sin", "exp(", "log", "ln(", "sqrt(", "abs(", "max(", "min(x,", "^2", "^-1", "^(", "neg", "inv", "#", "C",
    "f(x)", " ", "1/0", "0*", "x^", "--", "^^",
)  # fmt: skip
TEMPLATES = ("c*f(x)/sqrt(y)", "f(x) + g(y)*x0", "f(x)*f(y) + c", "exp(f(x, y))", "x^f(y)", "f(x0)")
PREFIX = tuple(to_prefix(parse(each, LIBRARY)) for each in ("x + 2*y^2", "sin(x)/c - exp(-y)", "max(x, y^2)*x0"))
POSTFIX = tuple(to_postfix(parse(each, LIBRARY)) for each in ("x + 2*y^2", "sin(x)/c - exp(-y)", "max(x, y^2)*x0"))
TREES = tuple(json.loads(export(parse(each), "json")) for each in ("3*x0^2 + sin(x1)/2", "max(x, y)*exp(-x)", "x"))
LATEX = (
    r"\frac{1}{2} m v^2 + \sin^2 x", r"\sqrt[3]{x} + \sqrt{x_{1}}", r"\left(x + 1\right) \cdot e^{-\frac{x}{2}}",
    r"2\pi r", r"\left|x - y\right| \log_{10} x", r"3 \times 10^{-8} \theta_{max}^{2}",
    r"\operatorname{sgn}(x) + \mathrm{speed}\, t", r"\tan^{-1} x + \lvert y \rvert", r"c(x+1)(x-1)",
    r"x^{y^{z}} - \frac{\frac{a}{b}}{c}", r"$\displaystyle \ln x + \max(x, y)$",
    *(to_latex(parse(each)) for each in INFIX),
)  # fmt: skip
LATEX_TOKENS = (
    "\\frac", "\\frac{", "}{", "{", "}", "\\sqrt", "\\sqrt[3]{", "^", "^{", "_", "_{", "\\left(", "\\right)",
    "\\left|", "\\right|", "|", "\\sin", "\\sin^2", "\\log_", "\\cdot", "\\times", "\\operatorname{", "\\mathrm{x}",
    "\\text{", "\\pi", "\\theta", "x", "y", "c", "d", "e", "2", "1.5", "10^{", "(", ")", "[", "]", "+", "-", "/", "=",
    ",", "!", "&", "\\\\", "\\,", "$", " ", "\\int", "\\sum_{i=1}^{n}", "\\lim", "dx", "1e5", "\\",
)  # fmt: skip


def use(expr: Expr, rng: random.Random) -> None:
    """Do with an expression what commands do with one; it has to be read back as it was."""
    if expr.size > MOST_TOKENS:
        return
    assert parse(str(expr), expr.library) == expr
    match rng.randrange(12):
        case 0:
            str(canonical_expr(expr))
        case 1:
            str(tidied(expr))
        case 2:
            str(normal_form(expr))
        case 3:
            to_latex(expr)
        case 4:
            export(expr, rng.choice(list(FORMATS)))
        case 5 if None not in expr.constants:
            interpret(expr, {name: [-1.5, 0.0, 2.0] for name in expr.library.variables})


def warm_up(place: Path) -> None:
    for expr in map(parse, INFIX):
        for rewrite in (canonical_expr, tidied, normal_form):
            rewrite(expr)


def read_infix(text: str, rng: random.Random, place: Path) -> None:
    use(parse(text, rng.choice((None, None, LIBRARY, SMALL))), rng)


def read_prefix(text: str, rng: random.Random, place: Path) -> None:
    expr = from_prefix(text, LIBRARY)
    assert from_prefix(to_prefix(expr), LIBRARY) == expr


def read_postfix(text: str, rng: random.Random, place: Path) -> None:
    expr = from_postfix(text, LIBRARY)
    assert from_postfix(to_postfix(expr), LIBRARY) == expr


def read_form(text: str, rng: random.Random, place: Path) -> None:
    assert len(Form.parse(text, LIBRARY).outline)


def read_tree(text: str, rng: random.Random, place: Path) -> None:
    use(from_json(text), rng)


def read_latex(text: str, rng: random.Random, place: Path) -> None:
    use(from_latex(text, rng.choice((None, None, LIBRARY, SMALL))), rng)


def read_sympy(text: str, rng: random.Random, place: Path) -> None:
    """Write a formula as SymPy's expression, and read it back; the text itself is refused."""
    expr = parse(text)
    if expr.size <= MOST_TOKENS:
        value: Any = to_sympy(expr, evaluate=rng.random() < 0.7, exact=rng.random() < 0.5)
        from_sympy(value if rng.random() < 0.99 else sympy.Tuple(value))
    if rng.random() < 0.01:
        from_sympy(text)


def infix(rng: random.Random) -> str:
    return mutated(rng, INFIX, TOKENS)


KINDS = (
    Kind("formula (infix)", 250, infix, read_infix, warm_up),
    Kind("formula (prefix)", 50, lambda rng: mutated(rng, PREFIX, (*TOKENS, " x ", " + ", " 2 ")), read_prefix),
    Kind("formula (postfix)", 50, lambda rng: mutated(rng, POSTFIX, (*TOKENS, " x ", " + ", " 2 ")), read_postfix),
    Kind("formula (JSON tree)", 40, lambda rng: changed_json(rng, rng.choice(TREES)), read_tree, warm_up),
    Kind("template", 40, lambda rng: mutated(rng, TEMPLATES, (*TOKENS, "f(", "g(x)", "f(x, y)")), read_form),
    Kind("LaTeX", 120, lambda rng: mutated(rng, LATEX, LATEX_TOKENS), read_latex, warm_up),
    Kind("SymPy", 40, infix, read_sympy),
)
