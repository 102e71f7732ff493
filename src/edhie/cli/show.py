"""`edhie show`: what a fit found."""

from __future__ import annotations

from edhie.cli.found import document, equation_json, print_details, print_equation, print_front
from edhie.cli.options import Json, print_json
from edhie.cli.runs import Index, RunFolder, chosen_equation
from edhie.console import say
from edhie.errors import shortened
from edhie.fit import Discovery
from edhie.fit.run_folder import load
from edhie.view import duration, stopped


def show_run(folder: RunFolder, index: Index = None, as_json: Json = False) -> None:
    """Show the equations of a fit, and one of them with its constants: the chosen one, unless another is named."""
    found = load(folder, whole=False)
    equation = chosen_equation(found, index)
    if as_json:
        print_json(document(found) | {"equation": equation_json(equation)})
        return
    _print_search(found)
    say("")
    print_front(found)
    say("")
    print_equation(equation)
    print_details(equation)


def _print_search(found: Discovery) -> None:
    result = found.result
    held_out = f", {found.validation.n_rows:,} held out" if found.validation else ""
    columns = shortened(", ".join(found.columns))
    say(f"{found.target} explained by {columns}: {found.train.n_rows:,} rows{held_out}")
    say(f"{result.strategy}, seed {result.seed}, {stopped(result.stopped)} after {duration(result.seconds)}")
    say(str(result.counts))
    for name, column in zip(found.train.names, found.columns, strict=True):
        if name != column:
            say(f"{name} is the column {column!r}")
