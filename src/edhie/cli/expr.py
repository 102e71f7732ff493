"""`edhie expr` and `edhie compare`: look at one formula, or at two."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from edhie.cli.console import console, draws_unicode
from edhie.errors import ExpressionError
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

    table = Table(box=None, show_header=False)
    for label, text in (
        ("infix", to_infix(expr)),
        ("prefix", to_prefix(expr)),
        ("postfix", to_postfix(expr)),
        ("LaTeX", expr.latex()),
        ("SymPy", str(expr.sympy())),
        ("size", f"{expr.size} nodes, height {expr.height}"),
    ):
        table.add_row(f"[bold]{label}[/]", _plain(text))
    console.print(table)
    console.print()
    console.print(draw_text(expr, ascii=not draws_unicode()), highlight=False, markup=False, soft_wrap=True)
    if figure is not None:
        try:
            draw_figure([expr]).savefig(figure)
        except (OSError, ValueError) as error:
            raise ExpressionError(f"cannot draw into {figure}: {error}") from error
        console.print(f"tree drawn in {figure}", highlight=False)


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
    console.print(f"equivalent: [bold]{answer.verdict}[/]", highlight=False)
    console.print(f"  {_plain(answer.reason)}", highlight=False)
    if answer.same_domain is False:
        console.print("  they are not defined at the same points", highlight=False)
    console.print(f"edit distance {edit_distance(a, b)}, tree distance {tree_distance(a, b)}", highlight=False)


def _read(formula: str, latex: bool) -> Expr:
    if latex:
        from edhie.expr.latex_reader import from_latex

        return from_latex(formula)
    return parse(formula)


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)
