"""Formulas as arguments, from a file or from standard input; `edhie expr` and `edhie compare`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from edhie.cli.options import Json, print_json
from edhie.cli.outputs import Force, check_figure, save_figure
from edhie.console import console, draws_unicode, error_console, say
from edhie.errors import EdhieError, ExpressionError, ParseError, raised_as
from edhie.expr import Expr, SymbolLibrary, parse, to_infix, to_postfix, to_prefix

STANDARD_INPUT = Path("-")


def read_formula(text: str, library: SymbolLibrary) -> Expr:
    """Return the formula over a model's library; errors point at unknown symbols."""
    try:
        return parse(text.strip(), library)
    except ParseError as error:
        what, is_number, _ = error.what.partition("; add it with literals=")
        if not is_number:
            raise
        # a trained model's library cannot be added to
        hint = f"; write {library.constant} for a number" if library.constant else ""
        raise ParseError(f"{what}{hint}", error.text, error.position) from None


def read_formulas(texts: Sequence[str], file: Path | None, library: SymbolLibrary) -> list[Expr]:
    """Return the formulas among the arguments, then those of a file, one a line; `-` is standard input."""
    exprs = [read_formula(text, library) for text in texts]
    if file is None:
        return exprs
    name = "standard input" if file == STANDARD_INPUT else str(file)
    with raised_as(ExpressionError, f"{name} cannot be read"):
        text = sys.stdin.read() if file == STANDARD_INPUT else file.read_text(encoding="utf-8-sig")
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                exprs.append(read_formula(line, library))
            except EdhieError as error:
                raise ExpressionError(f"{name}, line {number}: {error}") from error
    if not exprs:
        raise ExpressionError(f"{name} holds no formulas")
    return exprs


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
    check_figure(figure, force=force)
    if latex:
        from edhie.expr.latex_reader import from_latex

        expr = from_latex(formula)
    else:
        expr = parse(formula)
    if simplify:
        from edhie.expr.equivalence import simplify as simplified

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
        from edhie.expr.drawing import draw_text

        size = f"{expr.size} node{'s' * (expr.size > 1)}, height {expr.height}"
        for label, text in (notations | {"size": size}).items():
            console.print(f"[bold]{label:9}[/]", end="")
            say(text)
        say(f"\n{draw_text(expr, ascii=not draws_unicode())}")
    if figure is not None:
        from edhie.expr.drawing import draw_figure

        say(f"tree drawn in {save_figure(draw_figure([expr]), figure)}", to=error_console if as_json else console)


def compare(
    first: Formula,
    second: Formula,
    max_time: Annotated[
        float, typer.Option("--max-time", "--time-limit", min=0.1, help="Seconds that SymPy may search for a proof.")
    ] = 10.0,
    as_json: Json = False,
) -> None:
    """Report whether two formulas are equivalent, and their distance as trees."""
    from edhie.expr.distance import edit_distance, tree_distance
    from edhie.expr.equivalence import equivalent

    a, b = parse(first), parse(second)
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
