"""A figure as a file or as bytes."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edhie.errors import EdhieError
from edhie.plots.style import any_letters

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UNDATED = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}  # the same picture is the same bytes


def save(figure: Figure, path: str | Path, *, dpi: int | None = None) -> Path:
    """Write a figure in the format that the name's end says, PNG where it says none; the path written to."""
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
