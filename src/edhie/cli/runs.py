"""Finished fits in folders: what the commands that use one have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from edhie.errors import SearchError
from edhie.fit import Discovery, Equation

RunFolder = Annotated[Path, typer.Argument(help="The folder that `edhie fit --out` made.")]
Index = Annotated[
    int | None,
    typer.Option(help="Which equation, by its number in `edhie show`.", show_default="the chosen one"),
]


def chosen_equation(found: Discovery, index: int | None) -> Equation:
    """The equation of this number; the chosen one where none is given."""
    if index is None:
        return found.best
    if not 0 <= index < len(found.equations):
        there = f"there are {len(found.equations)}, numbered from 0" if found.equations else "there are none"
        raise SearchError(f"there is no equation {index}; {there}: see them with edhie show")
    return found.equations[index]
