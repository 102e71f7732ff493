"""`edhie revise`: the least change to a formula after which it explains a table of measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from edhie.cli.fit_data import attempt, exit_if_interrupted, searching
from edhie.cli.options import print_json, with_options
from edhie.cli.outputs import RUN, own_folder
from edhie.cli.search_options import OPTIONS, Asked
from edhie.cli.terminal import exit_on_interrupt
from edhie.console import say
from edhie.errors import shortened
from edhie.evaluate.parallel import core_count
from edhie.fit.revision import Revision
from edhie.fit.revision import revise as revised
from edhie.fit.revision.saving import save as save_revision
from edhie.plots import save
from edhie.plots.trees import plot_difference
from edhie.safe_text import printable

PICTURE = "difference.png"
WIDEST = 60  # letters of an equation in the table
NOT_HERE = "sample selection guess template corpus patience search strict islands cluster report".split()
"""Options of `edhie fit` alone."""


@with_options([each for each in OPTIONS if each.name not in NOT_HERE])
def revise(
    formula: Annotated[str, typer.Argument(help="The formula, such as `c*a*exp(-c*b)`; c for unknown constants.")],
    **given: Any,
) -> None:
    """Revise a formula: the least change after which it explains the data. Ctrl-C shows what was found so far."""
    asked = Asked(**given)
    settings, out = asked.settings(), asked.out
    with own_folder(out, RUN), exit_on_interrupt(lambda: "stopped before anything was found"):
        with searching(asked, settings) as (problem, settings, watch):
            jobs = asked.jobs or core_count()
            found = revised(formula, problem, settings, on_event=watch, folder=out, resume=asked.resume, jobs=jobs)
        try:
            if out is not None:
                save_revision(found, out)
                attempt(out / PICTURE, lambda path: save(plot_difference(found.original.expr, found.best.expr), path))
        finally:  # revisions are shown even if they cannot be saved
            _print_revision(found, out, quiet=asked.quiet, as_json=asked.as_json)
    exit_if_interrupted(found.result, out)


def _print_revision(found: Revision, out: Path | None, *, quiet: bool, as_json: bool) -> None:
    if as_json:
        print_json(found.as_json() | {"folder": None if out is None else str(out)})
        return
    if not quiet:
        say(found.verdict)
        if found.original.error is not None:
            say(f"as given, its loss is {found.original.error:.4g}")
        _print_steps(found)
        say("")
    say(found.best.text())


def _print_steps(found: Revision) -> None:
    """Print one line for each step, with a star before the chosen one."""
    texts = [shortened(step.equation.right_side(), WIDEST) for step in found.steps]
    title = f"{printable(found.target)} ="
    width = max(len(text) for text in [*texts, title])
    say(f"  distance  {'loss':>10}  {'R²':>9}  {title:<{width}}  what changed")
    for step, text in zip(found.steps, texts, strict=True):
        r2 = step.equation.r2
        share = f"{r2:>9.6f}" if r2 > -10 else f"{r2:>9.2g}"
        star = "*" if step is found.chosen else " "
        say(f"{star} {step.distance:>8}  {step.equation.loss:>10.4g}  {share}  {text:<{width}}  {step.changes}")
