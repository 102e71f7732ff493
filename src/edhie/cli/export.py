"""`edhie export`: an equation that was found, for use elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from edhie.cli.outputs import Force, check_output
from edhie.cli.show import Index, RunFolder, chosen_equation
from edhie.console import say
from edhie.errors import ExpressionError, raised_as
from edhie.expr.exports import FORMATS
from edhie.expr.exports import export as written
from edhie.expr.exports.excel import to_excel
from edhie.fit.problem import variable_names
from edhie.fit.run_folder import load

if TYPE_CHECKING:
    FormatName = str
else:
    FormatName = Literal[tuple(FORMATS)]
EXCEL = "excel"
WHAT = "; ".join(f"{name}: {each.description}" for name, each in FORMATS.items())


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
