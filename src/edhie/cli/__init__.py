"""The command line. Each command is a few lines around a function of the library, imported when it is called."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, cast

import typer
from typer.core import TyperGroup

import edhie
from edhie.console import error_console, say
from edhie.errors import EdhieError, UnkeptWarning

DISCOVERY, FORMULAS, GENERATORS, MEASURING = "Equations from data", "Formulas", "Generators", "Benchmarks"


class Entry(NamedTuple):
    """A command, or a group of commands if there is no example."""

    place: str
    """The module below `edhie.cli` and the name in it."""
    panel: str
    example: str = ""
    options: Mapping[str, Any] = MappingProxyType({})


NEGATIVE = {"context_settings": {"ignore_unknown_options": True}}  # formulas that begin with a minus sign
COMMANDS = {
    "fit": Entry("fit:fit", DISCOVERY, "data.csv --target y --out run/"),
    "revise": Entry("revise:revise", DISCOVERY, '"c*x*exp(-c*t)" data.csv --target y'),
    "show": Entry("show:show_run", DISCOVERY, "run/ --index 3"),
    "predict": Entry("predict:predict", DISCOVERY, "run/ new.csv --out predicted.csv"),
    "export": Entry("export:export", DISCOVERY, "run/ --format c --out law.c"),
    "expr": Entry("formulas:show_formula", FORMULAS, '"x0*(x0 + 1) - sin(x1)"', NEGATIVE),
    "compare": Entry("formulas:compare", FORMULAS, '"sin(x)^2" "1 - cos(x)^2"', NEGATIVE),
    "corpus": Entry("corpus:app", GENERATORS),
    "grammar": Entry("grammar:app", GENERATORS),
    "model": Entry("model:app", GENERATORS),
    "train": Entry("train:train", GENERATORS, "corpora/field --out models/field"),
    "sample": Entry("latent:sample", GENERATORS, "general-2 -n 20"),
    "encode": Entry("latent:encode", GENERATORS, 'general-2 "x0*exp(-x1)" --out codes.csv'),
    "decode": Entry("latent:decode", GENERATORS, "general-2 codes.csv"),
    "neighbours": Entry("latent:neighbours", GENERATORS, 'general-2 "c*x0*exp(-x1)" --radius 3'),
    "interpolate": Entry("latent:interpolate", GENERATORS, 'general-2 "x0 + x1" "x0*sin(x1)" --steps 6'),
    "bench": Entry("bench:bench", MEASURING, "nguyen --runs 10 --workers 4"),
}
WITH_FORMULAS = (
    "revise",
    "encode",
    "neighbours",
    "interpolate",
)  # commands whose arguments may begin with a minus sign


class LazyGroup(TyperGroup):
    """The commands of `COMMANDS`; the module of one is imported when it is asked for."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = cast(Any, dict.fromkeys(COMMANDS))  # names alone, for suggestions

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; None if there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        place, panel, example, options = COMMANDS[cmd_name]
        module, _, name = place.partition(":")
        found = getattr(import_module(f"edhie.cli.{module}"), name)
        settings: dict[str, Any] = {"rich_markup_mode": "markdown", "pretty_exceptions_enable": False}
        group = typer.Typer(add_completion=False, **settings)
        if isinstance(found, typer.Typer):
            group.add_typer(found, name=cmd_name, rich_help_panel=panel)
            group.callback()(lambda: None)
            return typer.main.get_group(group).commands[cmd_name]
        if cmd_name in WITH_FORMULAS:
            from edhie.cli.formulas import FormulaCommand

            options = {**options, "cls": FormulaCommand}
        example = f"Example: `edhie {cmd_name} {example}`"
        group.command(cmd_name, rich_help_panel=panel, epilog=example, **options)(found)
        return typer.main.get_command(group)


app = typer.Typer(
    name="edhie",
    cls=LazyGroup,
    help="Equation discovery: from measurements to formulas that a scientist can read, trust and use.",
    epilog="Exit codes: 0 all is well, 1 an error, 2 wrong usage, 130 stopped by Ctrl-C.",
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
    """Run a command; a known error is one message and exit code 1, wrong usage is 2."""
    from edhie.cli.terminal import INTERRUPTED, is_interruption, told_notices

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
