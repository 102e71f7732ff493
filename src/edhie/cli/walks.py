"""`edhie neighbours` and `edhie interpolate`: around an expression, and from one to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from edhie.cli.figures import check_figure, save_figure
from edhie.cli.formulas import read_formula
from edhie.cli.options import MOST_POINTS, NO_EXPRESSION, WRITERS, Json, ModelFolder, Seed, Written, print_expression
from edhie.cli.outputs import Force
from edhie.console import console, error_console, say
from edhie.generators import load
from edhie.generators.walks import interpolate as interpolation
from edhie.generators.walks import neighbours as neighbours_of

Formula = Annotated[str, typer.Argument(help="A formula over the model's symbols.")]


def neighbours(
    model: ModelFolder,
    formula: Formula,
    count: Annotated[
        int, typer.Option("-n", "--count", min=1, max=MOST_POINTS, help="How many points to decode.")
    ] = 20,
    radius: Annotated[
        float, typer.Option(min=0.0, help="How far around: 1 is the spread of the formula's own code.")
    ] = 1.0,
    seed: Seed = 0,
    notation: Written = "infix",
    as_json: Json = False,
) -> None:
    """List what lies around a formula: edit distance, how many points gave it, expression."""
    loaded = load(model)
    expr = read_formula(formula, loaded.library)
    found = neighbours_of(loaded, expr, count, np.random.default_rng(seed), radius=radius)
    # expressions come last: they may be of any length, and a line is never broken
    if not as_json:
        say("distance  count  expression")
    for each, distance, times in zip(found.forest, found.distances.tolist(), found.counts.tolist(), strict=True):
        if as_json:
            print_expression(each, notation, as_json=True, distance=distance, count=times)
        else:
            say(f"{distance:8}  {times:5}  {WRITERS[notation](each)}")
    if found.invalid:
        say(f"{found.invalid} of {count} points gave no expression", to=error_console)


def interpolate(
    model: ModelFolder,
    first: Formula,
    second: Formula,
    steps: Annotated[int, typer.Option(min=1, max=MOST_POINTS, help="How many steps from one to the other.")] = 4,
    figure: Annotated[Path | None, typer.Option(help="Draw the trees into this file (PNG, PDF or SVG).")] = None,
    force: Force = False,
    notation: Written = "infix",
    as_json: Json = False,
) -> None:
    """Walk in a straight line from one formula's code to another's, and decode what lies on the way."""
    if figure is not None:
        check_figure(figure, force=force)
    loaded = load(model)
    a, b = read_formula(first, loaded.library), read_formula(second, loaded.library)
    walk = interpolation(loaded, a, b, steps=steps)
    if not as_json:
        say("alpha  expression")
    for step in walk:
        if as_json:
            print_expression(step.expr, notation, as_json=True, alpha=round(step.alpha, 6))
        else:
            say(f"{step.alpha:5.3g}  {WRITERS[notation](step.expr) if step.expr else NO_EXPRESSION}")
    if figure is not None:
        from edhie.generators.plots import walk_figure

        drawn = save_figure(walk_figure(walk), figure)
        say(f"trees drawn in {drawn}", to=error_console if as_json else console)
