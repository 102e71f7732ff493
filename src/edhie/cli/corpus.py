"""`edhie corpus`: build, import, show and list corpora; `edhie grammar`: those that come with edhie, and in files."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from edhie.cli import options
from edhie.cli.options import option_of, print_json
from edhie.cli.outputs import CORPUS, own_folder
from edhie.cli.terminal import exit_on_interrupt, progress_bar
from edhie.console import console, error_console, help_of, say
from edhie.corpora import Corpus, ImportOptions, Recipe, build, import_file, named_recipe, physics, recipe_names
from edhie.corpora.build import TIME_LIMIT
from edhie.corpora.corpus import expressions_text, vacant
from edhie.corpora.formulas import PHYSICS
from edhie.corpora.recipes import known_checksum
from edhie.grammar import load as load_grammar
from edhie.grammar import names as grammar_names
from edhie.storage import digest

app = typer.Typer(help="Make and look at corpora, the expressions that a generator learns from.", no_args_is_help=True)
grammars = typer.Typer(help="Look at probabilistic grammars and draw expressions from them.", no_args_is_help=True)
complete_corpus = options.completing(lambda: (*recipe_names(), PHYSICS))
complete_grammar = options.completing(grammar_names)
Grammar = Annotated[
    str, typer.Argument(help="The name of a grammar, or the path of a .pcfg file.", autocompletion=complete_grammar)
]


@app.command("build", epilog="Example: `edhie corpus build Trig5-15k --out corpora/trig5-15k`")
def build_corpus(
    out: Annotated[Path, typer.Option(help="The folder to make.")],
    name: Annotated[
        str | None,
        typer.Argument(help="One of the named corpora (see `edhie corpus list`).", autocompletion=complete_corpus),
    ] = None,
    grammar: Annotated[str | None, option_of(Recipe, "grammar", autocompletion=complete_grammar)] = None,
    size: Annotated[int | None, option_of(Recipe, "size")] = None,
    max_height: Annotated[int | None, option_of(Recipe, "max_height")] = None,
    simplify: Annotated[bool | None, option_of(Recipe, "simplify")] = None,
    seed: Annotated[int, option_of(Recipe, "seed")] = Recipe.seed,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes for SymPy; all cores unless given.")] = None,
    time_limit: Annotated[
        float, typer.Option(min=0.1, help="Seconds for one expression's simplification.")
    ] = TIME_LIMIT,
) -> None:
    """Build a corpus from a grammar, or a named one. Stopped with Ctrl-C, the same command resumes."""
    if name is None:
        if grammar is None or size is None or max_height is None:
            raise typer.BadParameter("give the name of a corpus, or --grammar, --size and --max-height")
        recipe = Recipe(grammar, size, max_height, Recipe.simplify if simplify is None else simplify, seed)
    elif (grammar, size, max_height, simplify) != (None,) * 4:
        raise typer.BadParameter("a named corpus has its own grammar, size, height and simplification")
    elif name.lower() == PHYSICS.lower():
        _save(physics(), out)
        return
    else:
        recipe = named_recipe(name)
        if seed != recipe.seed:
            recipe = replace(recipe, seed=seed, name="")
    kept = f"the part done is kept in {out}; the same command resumes" if recipe.simplify else "nothing was made"
    with own_folder(out, CORPUS), progress_bar() as progress, exit_on_interrupt(lambda: f"stopped; {kept}"):
        task = progress.add_task("simplifying" if recipe.simplify else "drawing", total=recipe.size)

        def on_progress(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        corpus = build(recipe, out, workers=workers, time_limit=time_limit, on_progress=on_progress)
    _print_size(corpus, out)
    expected = known_checksum(recipe.name)
    if expected is not None and digest(expressions_text(corpus.forest)) != expected:
        note = "note: it does not have the recipe's checksum; another release of SymPy or NumPy may be the reason"
        say(note, to=error_console)


@app.command("import", epilog="Example: `edhie corpus import formulas.txt --out corpora/field`")
@options.with_options([each for each in options.parameters_of(ImportOptions) if each.name != "variables"])
def import_corpus(
    file: Annotated[Path, typer.Argument(help="One formula per line, or a CSV or TSV table (with --column).")],
    out: Annotated[Path | None, typer.Option(help="The folder to make; without it the corpus is only shown.")] = None,
    variable: Annotated[
        list[str] | None, typer.Option(help=help_of(ImportOptions, "variables") + " Give it once for each.")
    ] = None,
    **given: Any,
) -> None:
    """Make a corpus from a file of formulas: infix, LaTeX or SymPy text, or a column of a table."""
    corpus, bad = import_file(file, ImportOptions(variables=tuple(variable or ()), **given))
    for line in bad:
        say(f"left out, {line}", to=error_console)
    if out is None:
        _describe(corpus, 10)
    else:
        _save(corpus, out)


@app.command("show", epilog="Example: `edhie corpus show corpora/field`")
def show_corpus(
    folder: Annotated[Path, typer.Argument(help="A corpus folder.")],
    count: Annotated[int, typer.Option("-n", "--count", min=0, help="How many expressions to show.")] = 10,
) -> None:
    """Show what a corpus holds and where it came from."""
    _describe(Corpus.load(folder), count)


@app.command("list", epilog="Example: `edhie corpus list`")
def list_corpora(as_json: options.Json = False) -> None:
    """List the corpora that can be built by name."""
    recipes = [named_recipe(name) for name in recipe_names()]
    if as_json:
        for each in recipes:
            print_json(asdict(each))
        print_json({"name": PHYSICS, "size": len(physics())})
        return
    table = Table("name", "grammar", "size", "max height", "simplified", box=None)
    for each in recipes:
        table.add_row(each.name, each.grammar, str(each.size), str(each.max_height), "yes" if each.simplify else "no")
    table.add_row(PHYSICS, "(a table of 120 formulas)", str(len(physics())), "", "no")
    console.print(table)


def _save(corpus: Corpus, folder: Path) -> None:
    with own_folder(folder, CORPUS):
        _print_size(corpus, corpus.save(vacant(folder)))


def _print_size(corpus: Corpus, folder: Path) -> None:
    say(f"{corpus.name}: {len(corpus)} expressions in {folder}")


def _describe(corpus: Corpus, count: int) -> None:
    forest = corpus.forest
    say(f"{corpus.name}: {len(corpus)} expressions over {corpus.library}")
    for key, value in corpus.provenance.items():
        if isinstance(value, dict):
            value = ", ".join(f"{number} {name}" for name, number in value.items()) or "nothing"
        if not isinstance(value, list):
            say(f"  {key}: {value}")
    if len(corpus):
        spread = ", ".join(f"{height}: {number}" for height, number in enumerate(np.bincount(forest.heights)) if number)
        say(f"  heights: {spread}; mean size {forest.sizes.mean():.1f}, largest {forest.sizes.max()}")
    for expr in forest[:count]:
        say(f"    {expr}")


# -- grammars -------------------------------------------------------------------------------


@grammars.command("list", epilog="Example: `edhie grammar list`")
def list_grammars(as_json: options.Json = False) -> None:
    """List the grammars that come with edhie."""
    table = Table("name", "rules", "derivations end with probability", "mean size", box=None)
    for name in grammar_names():
        grammar = load_grammar(name)
        rules, ending, size = len(grammar.rules), grammar.termination_probability(), grammar.expected_size()
        is_finite = bool(np.isfinite(size))
        if as_json:
            print_json({"name": name, "rules": rules, "ending": ending, "mean_size": size if is_finite else None})
        else:
            table.add_row(name, str(rules), f"{ending:.3f}", f"{size:.1f}" if is_finite else "infinite")
    if not as_json:
        console.print(table)


@grammars.command("show", epilog="Example: `edhie grammar show trig`")
def show_grammar(grammar: Grammar) -> None:
    """Print a grammar, and notes on properties that its author may not expect."""
    loaded = load_grammar(grammar)
    say(str(loaded))
    for remark in loaded.check():
        say(f"note: {remark}")


@grammars.command("sample", epilog="Example: `edhie grammar sample trig -n 20 --max-height 6`")
def sample_grammar(
    grammar: Grammar,
    count: options.Count = 10,
    max_height: Annotated[int | None, typer.Option(min=1, help="The greatest height, counted in nodes.")] = None,
    max_size: Annotated[int, typer.Option(min=1, help="The most nodes.")] = 100,
    seed: options.Seed = 0,
    notation: options.Written = "infix",
    as_json: options.Json = False,
) -> None:
    """Draw expressions from the grammar's distribution, conditional on the limits."""
    loaded, rng = load_grammar(grammar), np.random.default_rng(seed)
    within = {"max_height": max_height, "max_size": max_size}
    options.print_expressions(count, lambda part: loaded.sample(part, rng, **within), notation, as_json=as_json)
