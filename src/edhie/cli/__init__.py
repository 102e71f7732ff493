"""The command line: thin, every command a few lines around a function of the library."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import edhie
from edhie.cli.console import error_console
from edhie.cli.corpus import app as corpus
from edhie.cli.expr import compare, show
from edhie.cli.grammar import app as grammar
from edhie.errors import EdhieError

app = typer.Typer(
    name="edhie",
    help="Equation discovery: from measurements to formulas that a scientist can read, trust and use.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
app.add_typer(corpus, name="corpus")
app.add_typer(grammar, name="grammar")
app.command("expr")(show)
app.command("compare")(compare)


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
    try:
        app(prog_name="edhie")
    except EdhieError as error:
        error_console.print(f"[bold red]error:[/] {_escaped(str(error))}", highlight=False, soft_wrap=True)
        sys.exit(1)


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
