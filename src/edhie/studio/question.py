"""What can be chosen on the page, and the question of a run, checked when it comes from the page or from a folder.

This module is loaded by the server, so it repeats names of the search instead of importing it; tests compare them.
"""

from __future__ import annotations

import json
import math
import os
import tomllib
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import edhie
from edhie.errors import EdhieError

HERE = files("edhie.studio")
CHOICES: dict[str, Any] = tomllib.loads(HERE.joinpath("choices.toml").read_text(encoding="utf-8"))
OPERATORS, EXPORTS, EXAMPLES = CHOICES["operators"], CHOICES["exports"], CHOICES["examples"]
OPERATOR_NAMES = tuple(name for group in OPERATORS.values() for name in group)
NOISES, SELECTIONS = tuple(CHOICES["noise"]), tuple(CHOICES["selection"])
USUAL_MODEL = "general-2"
MAX_TIME = 60
KINDS = ("fit", "revise")
LONGEST_TEXT = 20_000  # letters of a formula
LONGEST_FIELD = 1_000_000
MOST_GUESSES = 50
MOST_SECONDS = 30 * 24 * 3600.0
MOST_SEED = 2**63 - 1


class Refused(EdhieError):  # noqa: N818 -- an answer, and no fault
    """A request that cannot be answered: one clear message and its status; `where` names the part of the request."""

    def __init__(self, message: str, status: int = 400, *, where: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status, self.where = status, where

    def as_json(self) -> dict[str, Any]:
        """Return the body of the answer."""
        return {"error": str(self)} | ({"where": self.where} if self.where else {})


# -- fields of a request ------------------------------------------------------------------


def _wrong(field: str, what: str) -> Refused:
    return Refused(f"{field.replace('_', ' ')}: {what}", where={"field": field})


def read_text(body: dict[str, Any], field: str, most: int = LONGEST_TEXT, *, needed: bool = False) -> str | None:
    """Return the text in a field; None without one."""
    value = body.get(field)
    if value is None or value == "":
        if needed:
            raise _wrong(field, "this is needed")
        return None
    if not isinstance(value, str):
        raise _wrong(field, "give a text")
    if len(value) > most:
        raise _wrong(field, f"this has {len(value):,} characters; at most {most:,} are read")
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise _wrong(field, "this holds characters that no text has")
    return value


def _texts(body: dict[str, Any], field: str, most: int) -> list[str]:
    values = body.get(field) or []
    if not isinstance(values, list) or len(values) > most:
        raise _wrong(field, f"give a list of at most {most:,} texts")
    return [found for value in values if (found := read_text({field: value}, field)) is not None]


def _operators(body: dict[str, Any], field: str) -> list[str]:
    found = _texts(body, field, len(OPERATOR_NAMES))
    unknown = next((name for name in found if name not in OPERATOR_NAMES), None)
    if unknown is not None:
        raise _wrong(field, f"there is no operator {unknown!r}")
    return [] if set(found) == set(usual_operators()) else found


def _one_of(body: dict[str, Any], field: str, known: Sequence[str]) -> str | None:
    value = body.get(field)
    if value is None or value == "":
        return None
    if value not in known:
        raise _wrong(field, f"choose one of {', '.join(known)}")
    return str(value)


def read_number(
    body: dict[str, Any], field: str, least: float, most: float, *, usual: float | None = None
) -> float | None:
    """Return the number in a field; `usual` without one."""
    value = body.get(field)
    if value is None:
        return usual
    if not is_finite(value) or not least <= value <= most:
        raise _wrong(field, f"give a number from {least:g} to {most:g}")
    return float(value)


def read_whole(body: dict[str, Any], field: str, least: int, most: int, *, usual: int | None = None) -> int | None:
    """Return the whole number in a field; `usual` without one."""
    value = body.get(field)
    if value is None:
        return usual
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise _wrong(field, f"give a whole number from {least} to {most}")
    return value


def is_finite(value: Any) -> bool:
    """Return whether a value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


# -- questions ------------------------------------------------------------------------------


class Field(NamedTuple):
    """A field of a question: how it is read, and the option of the command that it becomes."""

    read: Callable[[dict[str, Any], str], Any]
    option: str = ""
    is_repeated: bool = False
    """True if the option is given once for each text of a list; else a list is one line."""
    kinds: tuple[str, ...] = KINDS


FIELDS = {
    "target": Field(partial(read_text, needed=True), "target"),
    "features": Field(partial(_texts, most=100_000), "features"),
    "sigma": Field(read_text, "sigma"),
    "operators": Field(_operators, "operators"),
    "max_time": Field(partial(read_number, least=0.1, most=MOST_SECONDS), "max-time"),
    "evaluations": Field(partial(read_whole, least=1, most=MOST_SEED), "evaluations"),
    "noise": Field(partial(_one_of, known=NOISES), "noise"),
    "max_size": Field(partial(read_whole, least=1, most=1000), "max-size"),
    "seed": Field(partial(read_whole, least=0, most=MOST_SEED), "seed"),
    "patience": Field(partial(read_whole, least=0, most=MOST_SEED), "patience"),
    "guesses": Field(partial(_texts, most=MOST_GUESSES), "guess", is_repeated=True, kinds=("fit",)),
    "template": Field(read_text, "template", kinds=("fit",)),
    "field": Field(partial(read_text, most=LONGEST_FIELD), "corpus", kinds=("fit",)),
    "selection": Field(partial(_one_of, known=SELECTIONS), "selection", kinds=("fit",)),
    "formula": Field(partial(read_text, needed=True), kinds=("revise",)),
}


def read_question(body: Any) -> dict[str, Any]:
    """Return the question in a request, without what is not asked; raise `Refused` with the field that is wrong."""
    if not isinstance(body, dict):
        raise Refused("a question is an object of fields")
    kind = _one_of(body, "kind", KINDS) or "fit"
    question = {name: field.read(body, name) for name, field in FIELDS.items() if kind in field.kinds}
    question |= {"kind": kind, "options": read_options(body.get("options") or {})}
    if question.get("template") and question["guesses"]:
        both = "a form with unknown parts and a formula to start from cannot be combined; give one of them"
        raise Refused(both, where={"field": "template"})
    return {name: value for name, value in question.items() if value not in (None, "", [], {})}


def read_options(given: Any) -> dict[str, Any]:
    """Return the options of reading a table that are known."""
    if not isinstance(given, dict):
        raise Refused("options are an object", where={"field": "options"})
    found: dict[str, Any] = {
        "decimal": _one_of(given, "decimal", (",", ".")),
        "missing": read_text(given, "missing", 1000),
        "header": _one_of(given, "header", ("no", "mend")),
        "drop_missing": given.get("drop_missing") in (True, "true", "yes", "1"),
    }
    return {name: value for name, value in found.items() if value}


# -- what the page offers -------------------------------------------------------------------


def example_file(name: str) -> Path:
    """Return the table of an example."""
    return Path(str(HERE.joinpath("examples", f"{name}.csv")))


def setup(limits: dict[str, int]) -> dict[str, Any]:
    """Return everything that can be chosen."""
    usual = usual_operators()

    def items_of(group: str) -> list[dict[str, Any]]:
        return [{"name": name, "label": text, "is_default": name in usual} for name, text in OPERATORS[group].items()]

    return {
        "version": edhie.__version__,
        "examples": [{"id": name, **each} for name, each in EXAMPLES.items()],
        "operators": [{"group": group, "items": items_of(group)} for group in OPERATORS],
        "noises": [list(each) for each in CHOICES["noise"].items()],
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
