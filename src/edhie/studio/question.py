"""The question of a run, checked when it comes from the page or from a folder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from edhie.studio.choices import OPERATOR_NAMES, usual_operators
from edhie.studio.refusals import Refused

KINDS = ("fit", "revise")
NOISES = ("auto", "constant", "proportional", "both", "counts", "student")
SELECTIONS = ("mdl", "best", "accuracy", "score")
LONGEST_TEXT = 20_000  # letters of a formula
LONGEST_FIELD = 1_000_000
MOST_GUESSES = 50
MOST_SECONDS = 30 * 24 * 3600.0
MOST_SEED = 2**63 - 1
FORMULAS = {"fit": ("template", "field", "guesses"), "revise": ("formula",)}


def read_question(body: Any) -> dict[str, Any]:
    """Return the question in a request, without what is not asked; raise `Refused` with the field that is wrong."""
    if not isinstance(body, dict):
        raise Refused("a question is an object of fields")
    kind = _one_of(body, "kind", KINDS, "fit")
    question: dict[str, Any] = {
        "kind": kind,
        "target": _text(body, "target", needed=True),
        "features": _texts(body, "features", 100_000),
        "sigma": _text(body, "sigma"),
        "operators": _operators(body),
        "max_time": _number(body, "max_time", 0.1, MOST_SECONDS),
        "evaluations": _whole(body, "evaluations", 1, MOST_SEED),
        "noise": _one_of(body, "noise", NOISES, None),
        "max_size": _whole(body, "max_size", 1, 1000),
        "seed": _whole(body, "seed", 0, MOST_SEED),
        "patience": _whole(body, "patience", 0, MOST_SEED),
        "options": read_options(body.get("options") or {}),
    }
    if kind == "fit":
        question |= {
            "guesses": _texts(body, "guesses", MOST_GUESSES),
            "template": _text(body, "template"),
            "field": _text(body, "field", LONGEST_FIELD),
            "selection": _one_of(body, "selection", SELECTIONS, None),
        }
        if question["template"] and question["guesses"]:
            both = "a form with unknown parts and a formula to start from cannot be combined; give one of them"
            raise Refused(both, where={"field": "template"})
    else:
        question["formula"] = _text(body, "formula", needed=True)
    return {name: value for name, value in question.items() if value not in (None, "", [], {})}


def read_options(given: Any) -> dict[str, Any]:
    """Return the options of reading a table that are known."""
    if not isinstance(given, dict):
        raise Refused("options are an object", where={"field": "options"})
    found: dict[str, Any] = {
        "decimal": _one_of(given, "decimal", (",", "."), None),
        "missing": _text(given, "missing", 1000),
        "header": _one_of(given, "header", ("no", "mend"), None),
        "drop_missing": given.get("drop_missing") in (True, "true", "yes", "1"),
    }
    return {name: value for name, value in found.items() if value}


# -- fields of a request ------------------------------------------------------------------


def _wrong(field: str, what: str) -> Refused:
    return Refused(f"{field.replace('_', ' ')}: {what}", where={"field": field})


def _text(body: dict[str, Any], field: str, most: int = LONGEST_TEXT, *, needed: bool = False) -> str | None:
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
    return [found for value in values if (found := _text({field: value}, field)) is not None]


def _operators(body: dict[str, Any]) -> list[str]:
    found = _texts(body, "operators", len(OPERATOR_NAMES))
    unknown = next((name for name in found if name not in OPERATOR_NAMES), None)
    if unknown is not None:
        raise _wrong("operators", f"there is no operator {unknown!r}")
    return [] if set(found) == set(usual_operators()) else found


def _one_of(body: dict[str, Any], field: str, known: Sequence[str], usual: str | None) -> str | None:
    value = body.get(field)
    if value is None or value == "":
        return usual
    if value not in known:
        raise _wrong(field, f"choose one of {', '.join(known)}")
    return str(value)


def _number(body: dict[str, Any], field: str, least: float, most: float) -> float | None:
    value = body.get(field)
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not least <= value <= most:
        raise _wrong(field, f"give a number from {least:g} to {most:g}")
    return float(value)


def _whole(body: dict[str, Any], field: str, least: int, most: int) -> int | None:
    value = body.get(field)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise _wrong(field, f"give a whole number from {least} to {most}")
    return value
