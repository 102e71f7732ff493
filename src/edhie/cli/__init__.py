"""The command line: thin, every command a few lines around a function of the library."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer

import edhie
from edhie.cli.bench import bench
from edhie.cli.corpus import app as corpus
from edhie.cli.export import export
from edhie.cli.fit import fit
from edhie.cli.formulas import FormulaCommand, compare, show_formula
from edhie.cli.grammar import app as grammar
from edhie.cli.latent import decode, encode, interpolate, neighbours, sample
from edhie.cli.model import app as model
from edhie.cli.predict import predict
from edhie.cli.revise import revise
from edhie.cli.show import show_run
from edhie.cli.terminal import INTERRUPTED, is_interruption, told_notices
from edhie.cli.train import train
from edhie.console import error_console, say
from edhie.errors import EdhieError, UnkeptWarning

app = typer.Typer(
    name="edhie",
    help="Equation discovery: from measurements to formulas that a scientist can read, trust and use.",
    epilog="Exit codes: 0 all is well, 1 an error, 2 wrong usage, 130 stopped by Ctrl-C.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
DISCOVERY, FORMULAS, GENERATORS, MEASURING = "Equations from data", "Formulas", "Generators", "Benchmarks"


def _add(name: str, function: Callable[..., None], panel: str, example: str, **options: Any) -> None:
    """Add a command with an example of its use below its options."""
    app.command(name, rich_help_panel=panel, epilog=f"Example: `edhie {name} {example}`", **options)(function)


_add("fit", fit, DISCOVERY, "data.csv --target y --out run/")
_add("revise", revise, DISCOVERY, '"c*x*exp(-c*t)" data.csv --target y', cls=FormulaCommand)
_add("show", show_run, DISCOVERY, "run/ --index 3")
_add("predict", predict, DISCOVERY, "run/ new.csv --out predicted.csv")
_add("export", export, DISCOVERY, "run/ --format c --out law.c")
MAY_BEGIN_WITH_MINUS = {"ignore_unknown_options": True}
_add("expr", show_formula, FORMULAS, '"x0*(x0 + 1) - sin(x1)"', context_settings=MAY_BEGIN_WITH_MINUS)
_add("compare", compare, FORMULAS, '"sin(x)^2" "1 - cos(x)^2"', context_settings=MAY_BEGIN_WITH_MINUS)
app.add_typer(corpus, name="corpus", rich_help_panel=GENERATORS)
app.add_typer(grammar, name="grammar", rich_help_panel=GENERATORS)
app.add_typer(model, name="model", rich_help_panel=GENERATORS)
_add("train", train, GENERATORS, "corpora/field --out models/field")
_add("sample", sample, GENERATORS, "general-2 -n 20")
_add("encode", encode, GENERATORS, 'general-2 "x0*exp(-x1)" --out codes.csv', cls=FormulaCommand)
_add("decode", decode, GENERATORS, "general-2 codes.csv")
_add("neighbours", neighbours, GENERATORS, 'general-2 "c*x0*exp(-x1)" --radius 3', cls=FormulaCommand)
_add("interpolate", interpolate, GENERATORS, 'general-2 "x0 + x1" "x0*sin(x1)" --steps 6', cls=FormulaCommand)
_add("bench", bench, MEASURING, "nguyen --runs 10 --workers 4")


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"edhie {edhie.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run a command; a known error is one message and exit code 1, wrong usage is 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for terminals that do not know every letter
    with warnings.catch_warnings(), told_notices():
        warnings.showwarning = _print_warning
        warnings.simplefilter("always", UnkeptWarning)  # told each time, whatever Python was told of warnings
        try:
            app(prog_name="edhie")
        except (EdhieError, MemoryError, OSError) as error:  # OSError: such as a full disk behind the output
            error_console.print("[bold red]error:[/]", end=" ")
            is_memory = isinstance(error, MemoryError)
            say("there is too little memory for this; ask for less" if is_memory else str(error), to=error_console)
            sys.exit(1)
        except SystemError as error:
            if not is_interruption(error):
                raise
            sys.exit(INTERRUPTED)


def _print_warning(message: Warning | str, category: type[Warning], *place: object, **more: object) -> None:
    say(f"warning: {message}", to=error_console)
