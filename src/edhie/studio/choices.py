"""Choices on the page: operators by group, examples, models and exports."""

from __future__ import annotations

import json
import os
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import edhie

OPERATORS: dict[str, dict[str, str]] = {
    "Arithmetic": {"+": "a + b", "-": "a − b", "*": "a × b", "/": "a ÷ b", "neg": "−a", "inv": "1 ÷ a"},
    "Powers and roots": {
        "^": "aᵇ", "^2": "a²", "^3": "a³", "^4": "a⁴", "^5": "a⁵", "sqrt": "√a", "cbrt": "∛a",
    },
    "Exponentials and logarithms": {"exp": "eᵃ", "log": "ln a", "log10": "log₁₀ a"},
    "Waves": {"sin": "sin a", "cos": "cos a", "tan": "tan a", "asin": "arcsin a", "acos": "arccos a",
              "atan": "arctan a"},
    "Hyperbolic": {"sinh": "sinh a", "cosh": "cosh a", "tanh": "tanh a"},
    "Other": {"abs": "|a|", "sign": "sign a", "min": "smaller of two", "max": "larger of two"},
}  # fmt: skip
OPERATOR_NAMES = tuple(name for group in OPERATORS.values() for name in group)
USUAL_MODEL = "general-2"
EXPORTS: dict[str, tuple[str, str]] = {
    "latex": ("LaTeX", ".tex"),
    "python": ("Python", ".py"),
    "c": ("C", ".c"),
    "excel": ("Excel", ".txt"),
    "markdown": ("Markdown", ".md"),
    "sympy": ("SymPy", ".py"),
    "json": ("JSON", ".json"),
}
EXAMPLES: dict[str, dict[str, str]] = {
    "orbits": {
        "name": "Orbits of planets and moons",
        "about": "28 planets and moons: how long does one take around its centre?",
        "target": "period",
    },
    "hydrogen": {
        "name": "Lines of hydrogen",
        "about": "22 wavelengths of light, by the two levels of the atom",
        "target": "wavelength",
    },
}
MAX_TIME = 60


def example_file(name: str) -> Path:
    """Return the table of an example."""
    return Path(str(files("edhie.studio").joinpath("examples", f"{name}.csv")))


def setup(limits: dict[str, int]) -> dict[str, Any]:
    """Return everything that can be chosen."""
    usual = usual_operators()

    def items_of(group: str) -> list[dict[str, Any]]:
        return [{"name": name, "label": text, "is_default": name in usual} for name, text in OPERATORS[group].items()]

    return {
        "version": edhie.__version__,
        "examples": [{"id": name, **each} for name, each in EXAMPLES.items()],
        "operators": [{"group": group, "items": items_of(group)} for group in OPERATORS],
        "defaults": {"max_time": MAX_TIME},
        "limits": limits,
        "models": [{"id": name, "name": name, "variables": list(_symbols(name, "variable"))} for name in model_names()],
        "exports": [{"id": name, "label": label, "suffix": suffix} for name, (label, suffix) in EXPORTS.items()],
        "cores": os.cpu_count() or 1,
    }


def usual_operators() -> tuple[str, ...]:
    """Return the operators that equations may use unless others are chosen."""
    return _symbols(USUAL_MODEL, "operator")


@cache
def model_names() -> tuple[str, ...]:
    """Return the names of the shipped models, those for any formula first."""
    folders = files("edhie.generators").joinpath("library").iterdir()
    names = [each.name for each in folders if each.joinpath("symbols.json").is_file()]
    return tuple(sorted(names, key=lambda name: (not name.startswith("general"), name)))


@cache
def _symbols(model: str, kind: str) -> tuple[str, ...]:
    text = files("edhie.generators").joinpath("library", model, "symbols.json").read_text(encoding="utf-8")
    return tuple(each["name"] for each in json.loads(text)["symbols"] if each["kind"] == kind)
