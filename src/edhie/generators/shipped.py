"""The trained models that come with edhie, by name."""

from __future__ import annotations

from pathlib import Path

SHIPPED = Path(__file__).parent / "library"
GENERAL = "general-"


def names() -> list[str]:
    """The models that `load` knows without a folder."""
    return sorted(each.parent.name for each in SHIPPED.glob("*/config.json"))


def path_of(name: str) -> Path | None:
    """The folder of a shipped model; None where there is none of that name. Capitals do not matter."""
    folder = SHIPPED / name.lower()
    return folder if name.lower() in names() else None


def general_for(n_variables: int) -> str:
    """The name of the general model for so many variables, or for the most that there is one for.

    >>> general_for(2), general_for(9)
    ('general-2', 'general-6')
    """
    sizes = sorted(int(name.removeprefix(GENERAL)) for name in names() if name.startswith(GENERAL))
    return f"{GENERAL}{max((size for size in sizes if size <= n_variables), default=sizes[0])}"
