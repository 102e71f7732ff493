"""Figures that a command draws into a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from edhie.cli.outputs import check_output
from edhie.errors import ExpressionError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def check_figure(path: Path, *, force: bool) -> None:
    """Raise an error if drawing into `path` would destroy a file."""
    if path.name:  # without one, drawing fails
        check_output(_with_suffix(path), force=force)


def save_figure(figure: Figure, path: Path) -> Path:
    """Write a figure in the format that the name's end says, PNG where it says none; the path written to."""
    try:
        whole = _with_suffix(path)
        figure.savefig(whole)
    except (OSError, ValueError) as error:
        raise ExpressionError(f"cannot draw into {path}: {error}") from error
    return whole


def _with_suffix(path: Path) -> Path:
    return path if path.suffix else path.with_suffix(".png")
