"""The command line. Each command is a few lines around a function of the library, imported when it is called."""

from __future__ import annotations

import io
import sys
import warnings
from collections import UserDict
from functools import cache
from importlib import import_module
from typing import Annotated, Any, NamedTuple, cast

import typer
from typer.core import TyperCommand, TyperGroup

import edhie
from edhie.cli.terminal import INTERRUPTED, UNAVAILABLE, log_to_terminal, stopped_by_sigterm
from edhie.console import error_console, say
from edhie.errors import EdhieError, NameWarning, UnavailableError, UnkeptWarning, is_interruption

DISCOVERY, FORMULAS, GENERATORS, MEASURING = "Equations from data", "Formulas", "Generators", "Benchmarks"


class FormulaCommand(TyperCommand):
    """A command whose arguments may begin with a minus sign: `-sin(x0)` is a formula, not the options s, i and n."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments after putting a blank before formulas that begin with a minus sign."""
        return super().parse_args(ctx, [f" {each}" if self._is_formula(each) else each for each in args])

    def _is_formula(self, text: str) -> bool:
        options = {name for parameter in self.params for name in parameter.opts}
        is_option = text in options or (text[:2] in options and text[2:].isdigit())  # -n20
        return text.startswith("-") and not text.startswith("--") and len(text) > 1 and not is_option


class Entry(NamedTuple):
    """A command, or a group of commands, as the help lists it."""

    place: str
    """The module in `edhie.cli` and the name in it."""
    panel: str
    example: str = ""
    kind: type[TyperCommand] = TyperCommand


COMMANDS = {
    "fit": Entry("fit:fit", DISCOVERY, "data.csv --target y --out run/"),
    "revise": Entry("fit:revise", DISCOVERY, '"c*x*exp(-c*t)" data.csv --target y', FormulaCommand),
    "show": Entry("show:show_run", DISCOVERY, "run/ --index 3"),
    "predict": Entry("predict:predict", DISCOVERY, "run/ new.csv --out predicted.csv"),
    "export": Entry("show:export", DISCOVERY, "run/ --format c --out law.c"),
    "studio": Entry("studio:studio", DISCOVERY, "--folder runs/"),
    "warm": Entry("warm:warm", DISCOVERY, "--jobs 2"),
    "expr": Entry("formulas:show_formula", FORMULAS, '"x0*(x0 + 1) - sin(x1)"', FormulaCommand),
    "compare": Entry("formulas:compare", FORMULAS, '"sin(x)^2" "1 - cos(x)^2"', FormulaCommand),
    "corpus": Entry("corpus:app", GENERATORS),
    "grammar": Entry("corpus:grammars", GENERATORS),
    "model": Entry("latent:app", GENERATORS),
    "train": Entry("train:train", GENERATORS, "corpora/field --out models/field"),
    "sample": Entry("latent:sample", GENERATORS, "general-2 -n 20"),
    "encode": Entry("latent:encode", GENERATORS, 'general-2 "x0*exp(-x1)" --out codes.csv', FormulaCommand),
    "decode": Entry("latent:decode", GENERATORS, "general-2 codes.csv"),
    "neighbours": Entry("latent:neighbours", GENERATORS, 'general-2 "c*x0*exp(-x1)" --radius 3', FormulaCommand),
    "interpolate": Entry(
        "latent:interpolate", GENERATORS, 'general-2 "x0 + x1" "x0*sin(x1)" --steps 6', FormulaCommand
    ),
    "bench": Entry("bench:bench", MEASURING, "nguyen --runs 10 --workers 4"),
}


@cache
def _load(name: str) -> Any:
    """Import a command, with an example of its use below its options."""
    place, panel, example, kind = COMMANDS[name]
    module, _, attribute = place.partition(":")
    found, around = getattr(import_module(f"edhie.cli.{module}"), attribute), typer.Typer(rich_markup_mode="markdown")
    if isinstance(found, typer.Typer):
        around.add_typer(found, name=name, rich_help_panel=panel)
    else:
        example = f"Example: `edhie {name} {example}`"
        around.command(name, cls=kind, rich_help_panel=panel, epilog=example)(found)
    return typer.main.get_group(around).commands[name]


class LazyCommands(UserDict[str, Any]):
    """Commands by name; a command's module is imported when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        return _load(name)


class LazyGroup(TyperGroup):
    """A group that imports a command when it is called."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = cast(Any, LazyCommands(COMMANDS))


app = typer.Typer(
    name="edhie",
    cls=LazyGroup,
    help="Equation discovery: from measurements to formulas that a scientist can read, trust and use.",
    epilog="Exit codes: 0 success, 1 an error, 2 wrong usage, 3 missing package, 130 stopped by Ctrl-C or SIGTERM.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)


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
    """Run a command; a known error is one message and exit code 1 or, if a package is missing, 3; wrong usage is 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for terminals that do not know every letter
    with warnings.catch_warnings(), log_to_terminal(), stopped_by_sigterm():
        warnings.showwarning = _print_warning
        for kind in (UnkeptWarning, NameWarning):
            warnings.simplefilter("always", kind)  # whatever filters Python was started with
        try:
            app(prog_name="edhie")
        except (EdhieError, MemoryError, OSError) as error:  # OSError: for example a full disk
            error_console.print("[bold red]error:[/]", end=" ")
            is_memory = isinstance(error, MemoryError)
            say("there is too little memory for this; ask for less" if is_memory else str(error), to=error_console)
            sys.exit(UNAVAILABLE if isinstance(error, UnavailableError) else 1)
        except SystemError as error:
            if not is_interruption(error):
                raise
            sys.exit(INTERRUPTED)


def _print_warning(message: Warning | str, category: type[Warning], *place: object, **more: object) -> None:
    say(f"warning: {message}", to=error_console)
