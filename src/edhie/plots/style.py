"""Figures: a style of few colours that everyone can distinguish, thin lines, little ink; and files of them."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from edhie.arrays import Numbers
from edhie.errors import EdhieError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


FITTED, HELD_OUT, CURVE, QUIET, FAINT = "#1f5f99", "#d1662b", "#1a1a1a", "#6b6b6b", "#c8c8c8"
TEXT_SIZE, SMALL = 9.0, 8.0
DPI = 150
NO_LOSS = 0.1  # of the least other loss: where one of 0 is drawn
UNDATED = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}  # the same picture is the same bytes
DECADES = 2.0  # values that span more are drawn on a logarithmic scale


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure that belongs to no window."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


@contextmanager
def any_letters() -> Iterator[None]:
    """Silence warnings of letters that the font lacks; they are drawn as boxes."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .*missing from")
        yield


def tidy(panel: Axes) -> None:
    """Show two thin grey axes, without minor ticks of a logarithmic scale."""
    panel.minorticks_off()
    panel.spines[["top", "right"]].set_visible(False)
    panel.spines[["left", "bottom"]].set_color(QUIET)
    panel.tick_params(colors=QUIET, labelcolor=CURVE, labelsize=SMALL)
    for axis in (panel.xaxis, panel.yaxis):
        axis.get_offset_text().set_fontsize(SMALL)


def name_axes(panel: Axes, x: str = "", y: str = "") -> None:
    """Set axis labels literally: a dollar sign in a column's name is not mathematics."""
    if x:
        panel.set_xlabel(x, fontsize=TEXT_SIZE, parse_math=False)
    if y:
        panel.set_ylabel(y, fontsize=TEXT_SIZE, parse_math=False)


def legend(panel: Axes, **how: Any) -> None:
    """Add a legend without a frame where it hides least."""
    panel.legend(frameon=False, fontsize=SMALL, handletextpad=0.5, **how)


def spans_decades(values: Numbers, decades: float = DECADES) -> bool:
    """Return whether values are all positive and span so many decades that they need a logarithmic axis."""
    finite = values[np.isfinite(values)]
    return len(finite) > 1 and finite.min() > 0 and np.log10(finite.max()) - np.log10(finite.min()) > decades


def shown_losses(losses: Numbers) -> tuple[Numbers, bool]:
    """Return the positions of losses on their axis, and whether it is logarithmic; 0 is then drawn below all others."""
    positive = losses[losses > 0]
    if len(positive) == 0 or (len(positive) == len(losses) and not spans_decades(positive)):
        return losses, False
    return np.maximum(losses, NO_LOSS * positive.min()), True


def padded(values: Numbers, *, logarithmic: bool = False, share: float = 0.05) -> tuple[float, float]:
    """Return the limits of an axis that shows these values with some room around them."""
    finite = values[np.isfinite(values)]
    if len(finite) == 0:
        return 0.0, 1.0
    if logarithmic:
        low, high = padded(np.log10(finite), share=share)
        return 10.0**low, 10.0**high
    low, high = float(finite.min()), float(finite.max())
    room = share * (high - low) or share * abs(high) or 1.0
    return low - room, high + room


def save(figure: Figure, path: str | Path, *, dpi: int | None = None) -> Path:
    """Write a figure in the format of the file's suffix, PNG without one; return the path."""
    whole = Path(path)
    whole = whole if whole.suffix else whole.with_suffix(".png")
    try:
        whole.parent.mkdir(parents=True, exist_ok=True)
        _written(figure, whole, dpi=dpi or "figure", metadata=UNDATED.get(whole.suffix.lower()))
    except (OSError, ValueError) as error:
        raise EdhieError(f"cannot draw into {whole}: {error}") from error
    return whole


def png(figure: Figure, *, dpi: int | None = None) -> bytes:
    """Return a figure as the bytes of a PNG."""
    buffer = io.BytesIO()
    _written(figure, buffer, format="png", dpi=dpi or "figure")
    return buffer.getvalue()


def _written(figure: Figure, where: Path | io.BytesIO, **how: Any) -> None:
    import matplotlib

    with any_letters(), matplotlib.rc_context({"svg.hashsalt": "edhie"}):
        figure.savefig(where, **how)
