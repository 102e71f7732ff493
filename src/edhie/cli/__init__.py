"""The command line: thin, every command a few lines around a function of the library."""

from __future__ import annotations

import io
import sys
import warnings
from typing import Annotated

import typer

import edhie
from edhie.cli.bench import bench
from edhie.cli.codes import decode, encode
from edhie.cli.corpus import app as corpus
from edhie.cli.export import export
from edhie.cli.expr import compare, show_formula
from edhie.cli.fit import fit
from edhie.cli.formulas import FormulaCommand
from edhie.cli.grammar import app as grammar
from edhie.cli.model import app as model
from edhie.cli.notices import told_notices
from edhie.cli.predict import predict
from edhie.cli.revise import revise
from edhie.cli.sample import sample
from edhie.cli.show import show_run
from edhie.cli.stopping import INTERRUPTED, is_interruption
from edhie.cli.train import train
from edhie.cli.walks import interpolate, neighbours
from edhie.console import error_console, say
from edhie.errors import EdhieError, UnkeptWarning

app = typer.Typer(
    name="edhie",
    help="Equation discovery: from measurements to formulas that a scientist can read, trust and use.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
app.command("fit")(fit)
app.command("show")(show_run)
app.command("predict")(predict)
app.command("export")(export)
app.command("revise", cls=FormulaCommand)(revise)
app.add_typer(corpus, name="corpus")
app.add_typer(grammar, name="grammar")
app.add_typer(model, name="model")
# so that a formula may begin with a minus sign
FORMULAS = {"ignore_unknown_options": True}
app.command("expr", context_settings=FORMULAS)(show_formula)
app.command("compare", context_settings=FORMULAS)(compare)
app.command("train")(train)
app.command("bench")(bench)
app.command("sample")(sample)
app.command("encode", cls=FormulaCommand)(encode)
app.command("decode")(decode)
app.command("neighbours", cls=FormulaCommand)(neighbours)
app.command("interpolate", cls=FormulaCommand)(interpolate)


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
