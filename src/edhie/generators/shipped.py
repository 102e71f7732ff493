"""The trained models that come with edhie, by name."""

from __future__ import annotations

from pathlib import Path

SHIPPED = Path(__file__).parent / "library"


def names() -> list[str]:
    """The models that `load` knows without a folder."""
    return sorted(each.parent.name for each in SHIPPED.glob("*/config.json"))


def path_of(name: str) -> Path | None:
    """The folder of a shipped model; None where there is none of that name. Capitals do not matter."""
    folder = SHIPPED / name.lower()
    return folder if name.lower() in names() else None
