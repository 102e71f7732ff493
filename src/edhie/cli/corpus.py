"""`edhie corpus`: build, import, show and list corpora."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from edhie.cli.console import console, error_console, help_of
from edhie.corpora import (
    Corpus,
    ImportOptions,
    Recipe,
    build,
    import_file,
    named_recipe,
    physics,
    recipe_names,
)
from edhie.corpora.importing import Notation, Numbers
from edhie.corpora.physics import NAME as PHYSICS

app = typer.Typer(help="Make and look at corpora, the expressions that a generator learns from.", no_args_is_help=True)
INTERRUPTED = 130


def _complete_name(incomplete: str) -> list[str]:
    return [name for name in [*recipe_names(), PHYSICS] if name.lower().startswith(incomplete.lower())]


@app.command("build")
def build_corpus(
    out: Annotated[Path, typer.Option(help="The folder to make.")],
    name: Annotated[
        str | None,
        typer.Argument(help="One of the named corpora (see `edhie corpus list`).", autocompletion=_complete_name),
    ] = None,
    grammar: Annotated[str | None, typer.Option(help=help_of(Recipe, "grammar"))] = None,
    size: Annotated[int | None, typer.Option(help=help_of(Recipe, "size"))] = None,
    max_height: Annotated[int | None, typer.Option(help=help_of(Recipe, "max_height"))] = None,
    simplify: Annotated[bool, typer.Option(help=help_of(Recipe, "simplify"))] = False,
    seed: Annotated[int, typer.Option(help=help_of(Recipe, "seed"))] = 0,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes for SymPy; all cores unless given.")] = None,
    time_limit: Annotated[float, typer.Option(min=0.1, help="Seconds for one expression's simplification.")] = 20.0,
) -> None:
    """Build a corpus from a grammar, or a named one. Stopped with Ctrl-C, it goes on when run again."""
    if name is not None:
        if grammar or size or max_height or simplify:
            raise typer.BadParameter("a named corpus has its own grammar, size, height and simplification")
        if name.lower() == PHYSICS.lower():
            _done(physics(), physics().save(out))
            return
        recipe = named_recipe(name)
        if seed:
            recipe = Recipe(recipe.grammar, recipe.size, recipe.max_height, recipe.simplify, seed)
    elif grammar is None or size is None or max_height is None:
        raise typer.BadParameter("give the name of a corpus, or --grammar, --size and --max-height")
    else:
        recipe = Recipe(grammar, size, max_height, simplify, seed)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
               TimeRemainingColumn())  # fmt: skip
    with Progress(*columns, console=error_console, transient=True) as progress:
        task = progress.add_task("simplifying" if recipe.simplify else "drawing", total=recipe.size)
        try:
            corpus = build(
                recipe,
                out,
                workers=workers,
                time_limit=time_limit,
                on_progress=lambda done, total: progress.update(task, completed=done, total=total),
            )
        except KeyboardInterrupt:
            error_console.print(f"stopped; what was made is kept in {out}: the same command goes on from there")
            raise typer.Exit(INTERRUPTED) from None
    _done(corpus, out)


@app.command("import")
def import_corpus(
    file: Annotated[Path, typer.Argument(help="One formula a line, or a CSV or TSV table (with --column).")],
    out: Annotated[Path | None, typer.Option(help="The folder to make; without it the corpus is only shown.")] = None,
    notation: Annotated[Notation, typer.Option(help=help_of(ImportOptions, "notation"))] = ImportOptions.notation,
    column: Annotated[str, typer.Option(help=help_of(ImportOptions, "column"))] = ImportOptions.column,
    numbers: Annotated[Numbers, typer.Option(help=help_of(ImportOptions, "numbers"))] = ImportOptions.numbers,
    generic_variables: Annotated[
        bool, typer.Option("--generic-variables", help=help_of(ImportOptions, "generic_variables"))
    ] = ImportOptions.generic_variables,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help=help_of(ImportOptions, "skip_bad"))
    ] = ImportOptions.skip_bad,
) -> None:
    """Make a corpus of a file of formulas: infix, LaTeX or SymPy text, or a column of a table."""
    options = ImportOptions(notation, column, numbers, generic_variables, skip_bad)
    corpus, bad = import_file(file, options)
    for line in bad:
        error_console.print(f"left out, {line}", highlight=False, markup=False)
    if out is None:
        _describe(corpus, 10)
    else:
        _done(corpus, corpus.save(out))


@app.command("show")
def show_corpus(
    folder: Annotated[Path, typer.Argument(help="A corpus folder.")],
    count: Annotated[int, typer.Option("-n", "--count", min=0, help="How many expressions to show.")] = 10,
) -> None:
    """Show what a corpus holds and where it came from."""
    _describe(Corpus.load(folder), count)


@app.command("list")
def list_corpora() -> None:
    """List the corpora that can be built by name."""
    table = Table("name", "grammar", "size", "max height", "simplified", box=None)
    for name in recipe_names():
        recipe = named_recipe(name)
        yes = "yes" if recipe.simplify else "no"
        table.add_row(name, recipe.grammar, str(recipe.size), str(recipe.max_height), yes)
    table.add_row(PHYSICS, "(a table of 120 formulas)", str(len(physics())), "", "no")
    console.print(table)


def _done(corpus: Corpus, folder: Path) -> None:
    console.print(f"{corpus.name}: {len(corpus)} expressions in {folder}", highlight=False)


def _describe(corpus: Corpus, count: int) -> None:
    forest = corpus.forest
    console.print(f"[bold]{corpus.name}[/]: {len(corpus)} expressions over {corpus.library}", highlight=False)
    for key, value in corpus.provenance.items():
        if not isinstance(value, list):
            console.print(f"  {key}: {value}", highlight=False, markup=False)
    heights = np.bincount(forest.heights)
    spread = ", ".join(f"{height}: {number}" for height, number in enumerate(heights) if number)
    console.print(
        f"  heights: {spread}; mean size {forest.sizes.mean():.1f}, largest {forest.sizes.max()}",
        highlight=False,
        soft_wrap=True,
    )
    for expr in forest[:count]:
        console.print(f"    {expr}", highlight=False, markup=False, soft_wrap=True)
