"""Commands on models: `edhie model`, and on their latent spaces: sample, encode, decode, neighbours, interpolate.

Codes of expressions, and weights, are in files of numbers: tables, or NumPy's .npy.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from edhie.cli import options
from edhie.cli.formulas import STANDARD_INPUT, read_formula, read_formulas
from edhie.cli.outputs import Force, check_figure, check_output, save_figure
from edhie.console import console, error_console, say
from edhie.errors import GeneratorError, raised_as, shortened
from edhie.evaluate.tables import open_table
from edhie.evaluate.tables.table import HeaderError
from edhie.expr import Forest, to_infix
from edhie.generators import Codes, Constraints, LatentGenerator, load
from edhie.generators.saving import CARD, folder_of, shipped_names
from edhie.generators.walks import interpolate as interpolation
from edhie.generators.walks import neighbours as neighbours_of
from edhie.safe_text import as_text_cell

NUMPY = ".npy"
CODE_COLUMN = re.compile(r"z(\d+)")
WEIGHT_COLUMN = re.compile("weight")
HOPELESS_ROUNDS = 100  # rounds without a single expression before giving up
app = typer.Typer(help="Look at trained models.", no_args_is_help=True)


@app.command("list", epilog="Example: `edhie model list`")
def list_models(as_json: options.Json = False) -> None:
    """List the models that come with edhie."""
    width = max(map(len, ("name", *shipped_names())))
    if not as_json:
        say(f"{'name':{width}}  kind  dimensions  symbols")
    for name in shipped_names():
        model = load(name)
        kind, dimensions, library = model.kind, model.latent_dim, model.library
        if as_json:
            options.print_json({"name": name, "kind": kind, "dimensions": dimensions, "symbols": library.names})
        else:  # symbols come last: there may be many, and a line is never broken
            say(f"{name:{width}}  {kind:4}  {dimensions:10}  {library}")


@app.command("show", epilog="Example: `edhie model show general-2`")
def show_model(model: options.ModelFolder) -> None:
    """Print a model's card: what it learnt from, how, and how well."""
    loaded = load(model)
    path = folder_of(model) / CARD
    with raised_as(GeneratorError, f"the card of {model} cannot be read"):
        card = path.read_text(encoding="utf-8") if path.exists() else ""
    without = f"{model}: {loaded.kind} of {loaded.latent_dim} dimensions over {loaded.library}; it has no card"
    say(card.strip() or without)


def sample(
    model: options.ModelFolder,
    count: options.Count = 10,
    temperature: options.Temperature = 0.0,
    max_height: options.MaxHeight = Constraints.max_height,
    max_size: options.MaxSize = Constraints.max_size,
    forbid: options.Forbid = None,
    seed: options.Seed = 0,
    notation: options.Written = "infix",
    as_json: options.Json = False,
) -> None:
    """Draw expressions from a model: codes from its prior, decoded."""
    loaded = options.load_within(model, max_height, max_size, forbid)
    rng = np.random.default_rng(seed)
    options.print_expressions(count, lambda part: drawn(loaded, part, rng, temperature), notation, as_json=as_json)


def drawn(model: LatentGenerator, count: int, rng: np.random.Generator, temperature: float) -> Forest:
    """Return `count` expressions; codes that decode to none are drawn again."""
    if temperature == 0:
        return model.sample(count, rng)
    parts: list[Forest] = []
    missing, fruitless = count, 0
    while missing:
        codes = rng.standard_normal((missing, model.latent_dim), dtype=np.float32)
        parts.append(model.decode(codes, temperature=temperature, rng=rng).forest)
        missing -= len(parts[-1])
        fruitless = 0 if len(parts[-1]) else fruitless + 1
        if fruitless == HOPELESS_ROUNDS:
            came = f"{count - missing} of {count} expressions came, then none"
            raise GeneratorError(f"{came}: train the model longer, or lower the temperature")
    return Forest.concatenate(parts)


def encode(
    model: options.ModelFolder,
    formulas: Annotated[list[str] | None, typer.Argument(help="Formulas over the model's symbols.")] = None,
    file: Annotated[Path | None, typer.Option(help="A file of formulas, one per line; - for standard input.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the codes here: a CSV table, or .npy, which has no spread.")
    ] = None,
    force: Force = False,
    as_json: options.Json = False,
) -> None:
    """Print the code of each formula: mean and spread (standard deviation) in the latent space."""
    if not formulas and file is None:
        if sys.stdin.isatty():
            raise typer.BadParameter("give formulas, or a file of them with --file")
        file = STANDARD_INPUT
    check_output(out, force=force)
    loaded = load(model)
    exprs = read_formulas(formulas or [], file, loaded.library)
    mean, log_variance = loaded.encode(Forest.from_exprs(exprs, loaded.library))
    spread: Codes = np.exp(0.5 * log_variance)
    texts = [to_infix(expr) for expr in exprs]
    if out is not None:
        write_codes(out, texts, mean, spread)
    if as_json:
        for text, *numbers in zip(texts, mean, spread, strict=True):
            # the shortest texts that read back as the same 32-bit numbers
            short = [[float(str(number)) for number in row] for row in numbers]
            options.print_json({"expression": text, "mean": short[0], "spread": short[1]})
    elif out is not None:
        say(f"{len(exprs)} {'codes' if len(exprs) > 1 else 'code'} of {loaded.latent_dim} numbers in {out}")
    else:
        for text, m, s in zip(texts, mean, spread, strict=True):
            mean_text, spread_text = ("".join(f"{number:8.3f}" for number in numbers) for numbers in (m, s))
            say(f"{text}\n  mean   {mean_text}\n  spread {spread_text}")


def decode(
    model: options.ModelFolder,
    file: Annotated[Path, typer.Argument(help="Codes, one per row: CSV as `edhie encode --out` writes it, or .npy.")],
    temperature: options.Temperature = 0.0,
    max_height: options.MaxHeight = Constraints.max_height,
    max_size: options.MaxSize = Constraints.max_size,
    forbid: options.Forbid = None,
    seed: options.Seed = 0,
    notation: options.Written = "infix",
    as_json: options.Json = False,
) -> None:
    """Print the expression of each code, one per line; a code may have none."""
    loaded = options.load_within(model, max_height, max_size, forbid)
    codes = read_codes(file, loaded.latent_dim)
    decoded = loaded.decode(codes, temperature=temperature, rng=np.random.default_rng(seed))
    found = dict(zip(decoded.sources.tolist(), decoded.forest, strict=True))
    for row in range(len(codes)):
        options.print_expression(found.get(row), notation, as_json=as_json, row=row)


Formula = Annotated[str, typer.Argument(help="A formula over the model's symbols.")]


def neighbours(
    model: options.ModelFolder,
    formula: Formula,
    count: Annotated[
        int, typer.Option("-n", "--count", min=1, max=options.MOST_POINTS, help="How many points to decode.")
    ] = 20,
    radius: Annotated[
        float, typer.Option(min=0.0, help="Spread of the points, as a multiple of that of the formula's own code.")
    ] = 1.0,
    seed: options.Seed = 0,
    notation: options.Written = "infix",
    as_json: options.Json = False,
) -> None:
    """List expressions around a formula, with their edit distance and the number of points that gave them."""
    loaded = load(model)
    expr = read_formula(formula, loaded.library)
    found = neighbours_of(loaded, expr, count, np.random.default_rng(seed), radius=radius)
    # expressions come last: they may be of any length, and a line is never broken
    if not as_json:
        say("distance  count  expression")
    for each, distance, times in zip(found.forest, found.distances.tolist(), found.counts.tolist(), strict=True):
        before = f"{distance:8}  {times:5}  "
        options.print_expression(each, notation, as_json=as_json, before=before, distance=distance, count=times)
    if found.invalid:
        say(f"{found.invalid} of {count} points gave no expression", to=error_console)


def interpolate(
    model: options.ModelFolder,
    first: Formula,
    second: Formula,
    steps: Annotated[
        int, typer.Option(min=1, max=options.MOST_POINTS, help="How many steps from one to the other.")
    ] = 4,
    figure: Annotated[Path | None, typer.Option(help="Draw the trees into this file (PNG, PDF or SVG).")] = None,
    force: Force = False,
    notation: options.Written = "infix",
    as_json: options.Json = False,
) -> None:
    """Decode points on a straight line between the codes of two formulas."""
    check_figure(figure, force=force)
    loaded = load(model)
    a, b = read_formula(first, loaded.library), read_formula(second, loaded.library)
    walk = interpolation(loaded, a, b, steps=steps)
    if not as_json:
        say("alpha  expression")
    for step in walk:
        before, alpha = f"{step.alpha:5.3g}  ", round(step.alpha, 6)
        options.print_expression(step.expr, notation, as_json=as_json, before=before, alpha=alpha)
    if figure is not None:
        from edhie.generators.plots import walk_figure

        drawn = save_figure(walk_figure(walk), figure)
        say(f"trees drawn in {drawn}", to=error_console if as_json else console)


# -- files of numbers -----------------------------------------------------------------------


def write_codes(path: Path, texts: Sequence[str], mean: Codes, spread: Codes) -> None:
    """Write a row for each expression: text, code (z0, z1, …) and spread (s0, s1, …); .npy holds the codes alone."""
    with raised_as(GeneratorError, f"cannot write codes to {path}"):
        if path.suffix.lower() == NUMPY:
            with path.open("wb") as array:  # given a name, np.save would not take every spelling of the suffix
                np.save(array, mean)
            return
        names = [f"{letter}{i}" for letter in "zs" for i in range(mean.shape[1])]
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["expression", *names])
            # as text a 32-bit number is the shortest that reads back as the same
            rows = np.concatenate([mean, spread], axis=1).astype(str)
            writer.writerows([as_text_cell(text), *row] for text, row in zip(texts, rows, strict=True))


def read_codes(path: Path, latent: int) -> Codes:
    """Return the codes in a file: its columns z0, z1, …, or all columns if none has such a name."""
    table = _read(path, CODE_COLUMN)
    if table.ndim != 2 or table.shape[1] != latent:
        width = f"{table.shape[1]} numbers" if table.ndim == 2 else f"the shape {table.shape}"
        raise GeneratorError(f"{path} holds codes of {width}; this model's have {latent}")
    with np.errstate(over="ignore"):
        codes: Codes = table.astype(np.float32)
    far = np.flatnonzero(~np.isfinite(codes).all(axis=1))
    if len(far):
        raise GeneratorError(f"{path}, code {far[0] + 1} of {len(codes)}: codes must be finite numbers")
    return codes


def read_weights(path: Path) -> NDArray[np.float64]:
    """Return one number for each expression: one a line, or the column `weight` of a CSV table."""
    table = _read(path, WEIGHT_COLUMN)
    if table.ndim == 2 and table.shape[1] != 1:
        raise GeneratorError(f"{path} has {table.shape[1]} columns; name that of the weights {WEIGHT_COLUMN.pattern!r}")
    return table.ravel()


def _read(path: Path, wanted: re.Pattern[str]) -> NDArray[np.float64]:
    """Return an array, or the columns of a table whose names match, z0 before z1; all if no name matches."""
    if path.suffix.lower() == NUMPY:
        try:
            array = np.load(path, allow_pickle=False)
            if array.dtype.kind not in "biuf":
                raise TypeError(f"it holds {array.dtype}")
            return array.astype(np.float64)  # type: ignore[no-any-return]
        except FileNotFoundError:
            raise GeneratorError(f"there is no file {path}") from None
        except (OSError, ValueError, EOFError, AttributeError, TypeError) as error:
            raise GeneratorError(f"{path} cannot be read as an array of numbers: {error}") from error
    try:
        table = open_table(path)
    except HeaderError as error:
        if not error.is_missing:
            raise
        table = open_table(path, header="no")
    found = [(int(match[1]) if wanted.groups else 0, name) for name in table.names if (match := wanted.fullmatch(name))]
    if [number for number, _ in sorted(found)] != list(range(len(found))):
        listed = shortened(", ".join(name for _, name in found), 60)
        raise GeneratorError(f"{path} has the columns {listed}: one is missing or duplicated")
    numbers = table.numbers([name for _, name in sorted(found)] or table.names, with_gaps=True)
    if not len(numbers):
        raise GeneratorError(f"{path} holds no numbers")
    return numbers
