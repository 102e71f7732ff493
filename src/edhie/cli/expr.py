"""`edhie expr` and `edhie compare`: look at one formula, or at two."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from edhie.cli.figures import save_figure
from edhie.console import console, draws_unicode, say
from edhie.errors import EdhieError
from edhie.expr import Expr, parse, to_infix, to_postfix, to_prefix

Formula = Annotated[str, typer.Argument(help='A formula, such as "3*x0^2 + sin(x1)/c".')]


def show(
    formula: Formula,
    latex: Annotated[bool, typer.Option("--latex", help="The formula is written in LaTeX.")] = False,
    simplify: Annotated[bool, typer.Option("--simplify", help="Simplify it first, by SymPy.")] = False,
    figure: Annotated[Path | None, typer.Option(help="Draw the tree into this file (PNG, PDF or SVG).")] = None,
) -> None:
    """Show a formula in every notation and as a tree."""
    expr = _read(formula, latex)
    if simplify:
        from edhie.expr.simplify import simplify as simplified

        expr = simplified(expr)
    from edhie.expr.drawing import draw_figure, draw_text

    for label, text in (
        ("infix", to_infix(expr)),
        ("prefix", to_prefix(expr)),
        ("postfix", to_postfix(expr)),
        ("LaTeX", expr.latex()),
        ("SymPy", _sympy_text(expr)),
        ("size", f"{expr.size} node{'s' * (expr.size > 1)}, height {expr.height}"),
    ):
        console.print(f"[bold]{label:9}[/]", end="")
        say(text)
    say(f"\n{draw_text(expr, ascii=not draws_unicode())}")
    if figure is not None:
        say(f"tree drawn in {save_figure(draw_figure([expr]), figure)}")


def compare(
    first: Formula,
    second: Formula,
    time_limit: Annotated[float, typer.Option(min=0.1, help="Seconds that SymPy may search for a proof.")] = 10.0,
) -> None:
    """Say whether two formulas are equivalent, and how far apart they are as trees."""
    from edhie.expr.distance import edit_distance, tree_distance
    from edhie.expr.equivalence import equivalent

    a, b = _read(first, False), _read(second, False)
    answer = equivalent(a, b, time_limit=time_limit)
    say(f"equivalent: {answer.verdict}")
    say(f"  {answer.reason}")
    if answer.same_domain is False:
        say("  they are not defined at the same points")
    say(f"edit distance {edit_distance(a, b)}, tree distance {tree_distance(a, b)}")


def _sympy_text(expr: Expr) -> str:
    try:
        return str(expr.sympy())
    except EdhieError as error:
        return f"none: {error}"


def _read(formula: str, latex: bool) -> Expr:
    if latex:
        from edhie.expr.latex_reader import from_latex

        return from_latex(formula)
    return parse(formula)
