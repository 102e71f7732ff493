"""`edhie show`: equations of a finished fit as lines, with details or as JSON; `edhie export`: one of them as code."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from edhie.cli.options import Json, print_json
from edhie.cli.outputs import Force, check_output
from edhie.console import error_console, say
from edhie.errors import ExpressionError, SearchError, raised_as, shortened
from edhie.expr.exports import FORMATS
from edhie.expr.exports import export as written
from edhie.expr.exports.excel import to_excel
from edhie.files import holder_of
from edhie.fit import Discovery, Equation
from edhie.fit.problem import variable_names
from edhie.fit.run_folder import is_unfinished, load
from edhie.safe_text import printable
from edhie.view import duration, stopped

if TYPE_CHECKING:
    FormatName = str
else:
    FormatName = Literal[tuple(FORMATS)]
EXCEL = "excel"
WHAT = "; ".join(f"{name}: {each.description}" for name, each in FORMATS.items())
RunFolder = Annotated[Path, typer.Argument(help="The folder that `edhie fit --out` made.")]
Index = Annotated[
    int | None, typer.Option(help="Which equation, by its number in `edhie show`.", show_default="the chosen one")
]


def chosen_equation(found: Discovery, index: int | None) -> Equation:
    """Return the equation of this number; by default the chosen one."""
    if index is None:
        return found.best
    if not 0 <= index < len(found.equations):
        there = f"there are {len(found.equations)}, numbered from 0" if found.equations else "there are none"
        raise SearchError(f"there is no equation {index}; {there}: see them with edhie show")
    return found.equations[index]


def print_front(found: Discovery) -> None:
    """Print one line for each equation, from the simplest on, with a star before the chosen one; then notes."""
    has_validation, has_weights = found.validation is not None, any(each.confidence for each in found.equations)
    chosen = None if found.is_empty else found.index
    names = ["  # complexity", f"{'loss':>10}", f"{'R² train':>10}"] + [f"{'R² valid.':>10}"] * has_validation
    names += [f"{'weight':>6}"] * has_weights
    say("  ".join([*names, f"{printable(found.target)} ="]))
    for k, each in enumerate(found.equations):  # equations come last: they may be long, and a line is never broken
        cells = [f"{'*' if k == chosen else ' '}{k:>2} {each.complexity:>10g}", f"{each.loss:>10.4g}"]
        cells += [f"{_r2_text(r2):>10}" for r2 in (each.r2, each.r2_validation) if r2 is not None]
        cells += [f"{each.confidence:>6}"] * has_weights
        say("  ".join([*cells, each.right_side()]))
    for note in found.notes:
        say(note)


def print_details(equation: Equation) -> None:
    """Print the quality of an equation and the uncertainty of its constants."""
    shares = f"R² = {_r2_text(equation.r2)}"
    if equation.r2_validation is not None:
        shares += f", on held-out rows {_r2_text(equation.r2_validation)}"
    weight = f", weight {equation.confidence}" if equation.confidence else ""
    say(f"  loss {equation.loss:.6g}, {shares}, complexity {equation.complexity:g}{weight}")
    known = equation.uncertainty
    if len(known.values):
        say("  constants, in the order in which they are written, and their standard errors:")
    for value, error in zip(known.values.tolist(), known.standard_errors.tolist(), strict=True):
        say(f"    {value:.8g}" + (f" ± {error:.2g}" if math.isfinite(error) else ", not determined by the data"))


def document(found: Discovery) -> dict[str, Any]:
    """Return the discovery as JSON."""
    return found.as_json() | {
        "selected": None if found.is_empty else equation_json(found.best),
        "index": None if found.is_empty else found.index,
        "rows": {"train": found.n_rows, "validation": found.validation.n_rows if found.validation else 0}
        | ({} if found.n_rows == found.train.n_rows else {"searched": found.train.n_rows}),
        "variables": dict(zip(found.train.names, found.columns, strict=True)),
    }


def equation_json(equation: Equation) -> dict[str, Any]:
    """Return one equation with all digits, its constants and their standard errors."""
    known = equation.uncertainty
    errors = [error if math.isfinite(error) else None for error in known.standard_errors.tolist()]
    return equation.as_json() | {"constants": known.values.tolist(), "standard_errors": errors}


def _r2_text(r2: float) -> str:
    if not math.isfinite(r2):  # the equation has no value in some row
        return "undefined"
    return f"{round(r2, 6) + 0.0:.6f}" if r2 > -10 else f"{r2:.3g}"  # + 0.0: no -0.000000


def show_run(folder: RunFolder, index: Index = None, as_json: Json = False) -> None:
    """Show the equations of a fit, and one of them with its constants: the chosen one, unless another is named."""
    if index is None and not as_json and is_unfinished(folder):
        _print_unfinished(folder)
        return
    found = load(folder, whole=False)
    equation = chosen_equation(found, index)
    if as_json:
        print_json(document(found) | {"equation": equation_json(equation)})
        return
    result, held_out = found.result, f", {found.validation.n_rows:,} held out" if found.validation else ""
    columns = shortened(printable(", ".join(found.columns)))
    searched = "" if found.n_rows == found.train.n_rows else f"; a sample of {found.train.n_rows:,} was searched"
    say(f"{printable(found.target)} explained by {columns}: {found.n_rows:,} rows{held_out}{searched}")
    say(f"{result.strategy}, seed {result.seed}, {stopped(result.stopped)} after {duration(result.seconds)}")
    say(str(result.counts))
    for name, column in zip(found.train.names, found.columns, strict=True):
        if name != column:
            say(f"{name} is the column {column!r}")
    say("")
    print_front(found)
    say(f"\n{equation.text()}")
    print_details(equation)


def _print_unfinished(folder: Path) -> None:
    """Print what a search that did not end had found at its last checkpoint."""
    from edhie.search.checkpoint import read_unfinished

    resumed, holder, found = "resume it with the same command and --resume", holder_of(folder), read_unfinished(folder)
    by = f"; {holder} works in it, or was killed" if holder else ""
    say(f"{folder} holds a search that did not end{by}; {resumed}", to=error_console)
    if found is None:
        say("it has no checkpoint yet", to=error_console)
        return
    say(f"{found.executed:,} expressions executed in {duration(found.seconds)}; the best so far, none of them chosen:")
    say(f"complexity  {'loss':>10}  equation")
    for each in found.front:
        say(f"{each.complexity:>10g}  {each.error:>10.4g}  {each.expr:.4g}")


def export(
    folder: RunFolder,
    format: Annotated[FormatName, typer.Option(help=f"{WHAT}.")],
    index: Index = None,
    name: Annotated[str, typer.Option(help="Name of the function, in formats that define one.")] = "f",
    out: Annotated[Path | None, typer.Option(help="The file to write.", show_default="standard output")] = None,
    force: Force = False,
) -> None:
    """Write an equation of a fit as code, as a formula or as data. Cells of a spreadsheet are those of the file."""
    check_output(out, force=force)
    found = load(folder, whole=False)
    equation = chosen_equation(found, index)
    target = variable_names((*found.train.names, found.target))[-1]  # an identifier that no variable has
    if format == EXCEL and found.problem.cells is not None:
        cells = dict(zip(found.train.names, found.problem.cells, strict=True))
        text = to_excel(equation.expr, name=name, target=target, cells=cells)
    else:
        text = written(equation.expr, format, name=name, target=target).rstrip("\n")
    if out is None:
        say(text)
        return
    with raised_as(ExpressionError, f"cannot write to {out}"):
        out.write_text(f"{text}\n", encoding="utf-8")
    say(f"{out}: {FORMATS[format].description}")
