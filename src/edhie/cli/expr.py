"""`edhie expr` and `edhie compare`: look at one formula, or at two."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from edhie.cli.figures import check_figure, save_figure
from edhie.cli.options import Json, print_json
from edhie.cli.outputs import Force
from edhie.console import console, draws_unicode, error_console, say
from edhie.errors import EdhieError
from edhie.expr import Expr, parse, to_infix, to_postfix, to_prefix

Formula = Annotated[str, typer.Argument(help='A formula, such as "3*x0^2 + sin(x1)/c".')]


def show_formula(
    formula: Formula,
    latex: Annotated[bool, typer.Option("--latex", help="The formula is written in LaTeX.")] = False,
    simplify: Annotated[bool, typer.Option("--simplify", help="Simplify it first, by SymPy.")] = False,
    figure: Annotated[Path | None, typer.Option(help="Draw the tree into this file (PNG, PDF or SVG).")] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Show a formula in every notation and as a tree."""
    if figure is not None:
        check_figure(figure, force=force)
    expr = _read(formula, latex)
    if simplify:
        from edhie.expr.simplify import simplify as simplified

        expr = simplified(expr)
    notations = {
        "infix": to_infix(expr),
        "prefix": to_prefix(expr),
        "postfix": to_postfix(expr),
        "LaTeX": expr.latex(),
        "SymPy": _sympy_text(expr),
    }
    if as_json:
        shown = {name.lower(): text for name, text in notations.items()}
        print_json(shown | {"size": expr.size, "height": expr.height})
    else:
        size = f"{expr.size} node{'s' * (expr.size > 1)}, height {expr.height}"
        _print_formula(expr, notations | {"size": size})
    if figure is not None:
        from edhie.expr.drawing import draw_figure

        say(f"tree drawn in {save_figure(draw_figure([expr]), figure)}", to=error_console if as_json else console)


def _print_formula(expr: Expr, lines: Mapping[str, str]) -> None:
    from edhie.expr.drawing import draw_text

    for label, text in lines.items():
        console.print(f"[bold]{label:9}[/]", end="")
        say(text)
    say(f"\n{draw_text(expr, ascii=not draws_unicode())}")


def compare(
    first: Formula,
    second: Formula,
    max_time: Annotated[
        float, typer.Option("--max-time", "--time-limit", min=0.1, help="Seconds that SymPy may search for a proof.")
    ] = 10.0,
    as_json: Json = False,
) -> None:
    """Say whether two formulas are equivalent, and how far apart they are as trees."""
    from edhie.expr.distance import edit_distance, tree_distance
    from edhie.expr.equivalence import equivalent

    a, b = _read(first, False), _read(second, False)
    answer = equivalent(a, b, time_limit=max_time)
    distances = {"edit_distance": edit_distance(a, b), "tree_distance": tree_distance(a, b)}
    if as_json:
        told = {"equivalent": answer.verdict, "reason": answer.reason, "same_domain": answer.same_domain}
        print_json(told | distances)
        return
    say(f"equivalent: {answer.verdict}")
    say(f"  {answer.reason}")
    if answer.same_domain is False:
        say("  they are not defined at the same points")
    say(f"edit distance {distances['edit_distance']}, tree distance {distances['tree_distance']}")


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
