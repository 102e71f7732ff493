"""`edhie encode` and `edhie decode`: from expressions to points of a model's latent space, and back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from edhie.cli.formulas import STANDARD_INPUT, read_formulas
from edhie.cli.number_files import read_codes, write_codes
from edhie.cli.options import (
    Forbid,
    Json,
    MaxHeight,
    MaxSize,
    ModelFolder,
    Seed,
    Temperature,
    Written,
    load_within,
    print_expression,
    print_json,
)
from edhie.cli.outputs import Force, check_output
from edhie.console import say
from edhie.expr import Forest, to_infix
from edhie.generators import Codes, Constraints, load


def encode(
    model: ModelFolder,
    formulas: Annotated[list[str] | None, typer.Argument(help="Formulas over the model's symbols.")] = None,
    file: Annotated[Path | None, typer.Option(help="A file of formulas, one a line; - for standard input.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the codes here: a CSV table, or .npy, which has no spread.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Print the code of each formula: the mean and the spread of its points in the latent space."""
    if not formulas and file is None:
        if sys.stdin.isatty():
            raise typer.BadParameter("give formulas, or a file of them with --file")
        file = STANDARD_INPUT
    if out is not None:
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
            print_json({"expression": text, "mean": short[0], "spread": short[1]})
    elif out is not None:
        say(f"{len(exprs)} {'codes' if len(exprs) > 1 else 'code'} of {loaded.latent_dim} numbers in {out}")
    else:
        for text, m, s in zip(texts, mean, spread, strict=True):
            say(f"{text}\n  mean   {_columns(m)}\n  spread {_columns(s)}")


def _columns(numbers: Codes) -> str:
    return "".join(f"{number:8.3f}" for number in numbers)


def decode(
    model: ModelFolder,
    file: Annotated[Path, typer.Argument(help="Codes, one a row: CSV as `edhie encode --out` writes it, or .npy.")],
    temperature: Temperature = 0.0,
    max_height: MaxHeight = Constraints.max_height,
    max_size: MaxSize = Constraints.max_size,
    forbid: Forbid = None,
    seed: Seed = 0,
    notation: Written = "infix",
    as_json: Json = False,
) -> None:
    """Print the expression of each code; a line each, also where there is none."""
    loaded = load_within(model, max_height, max_size, forbid)
    codes = read_codes(file, loaded.latent_dim)
    decoded = loaded.decode(codes, temperature=temperature, rng=np.random.default_rng(seed))
    found = dict(zip(decoded.sources.tolist(), decoded.forest, strict=True))
    for row in range(len(codes)):
        print_expression(found.get(row), notation, as_json=as_json, row=row)
