"""`edhie warm`: compile the kernels before the first search, for container images and classrooms."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Annotated

import numpy as np
import typer

from edhie.cli.search_options import within
from edhie.console import say
from edhie.errors import EdhieError
from edhie.evaluate import read_data
from edhie.evaluate.parallel import core_count
from edhie.fit import Settings, discover
from edhie.fit.revision import revise
from edhie.fit.warm_up import compile_parts
from edhie.view import duration

SEARCHES = ("mosaic", "evolve", "draw")
ROWS, EVALUATIONS = 64, 5000
Processes = Annotated[
    int | None,
    typer.Option("--jobs", help="Processes to use.", metavar="N", callback=within(1), show_default="all cores"),
]


def warm(jobs: Processes = None) -> None:
    """Compile the kernels for searches and revisions. Otherwise the first search on a machine compiles them."""
    from edhie.expr.jit import can_keep, compiled_folder, is_compiled, note_compiled, say_compiling  # loads numba

    if not can_keep():
        raise EdhieError(f"compiled code cannot be kept in {compiled_folder()}; set NUMBA_CACHE_DIR to another folder")
    began = time.perf_counter()
    if not is_compiled():
        say_compiling()
    compile_parts(jobs or core_count())
    note_compiled()  # so that the searches below, which compile the rest, start no processes
    rng = np.random.default_rng(0)
    inputs = rng.uniform(1, 2, (ROWS, 3))
    data = read_data(inputs, inputs[:, 0] * inputs[:, 1] + 0.01 * rng.normal(size=ROWS))
    settings = Settings(max_time=None, max_evaluations=EVALUATIONS)
    for search in SEARCHES:
        discover(data, replace(settings, search=search))
    revise("c*x0", data, settings)
    say(f"Compiled in {duration(time.perf_counter() - began)}; the code is in {compiled_folder()}.")
