"""Figures that a command draws into a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from edhie.errors import ExpressionError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save_figure(figure: Figure, path: Path) -> Path:
    """Write a figure in the format that the name's end says, PNG where it says none; the path written to."""
    try:
        whole = path if path.suffix else path.with_suffix(".png")
        figure.savefig(whole)
    except (OSError, ValueError) as error:
        raise ExpressionError(f"cannot draw into {path}: {error}") from error
    return whole
