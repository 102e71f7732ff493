"""Pieces of HTML: from files, filled with texts that are escaped unless they are HTML already; numbers; equations."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import cache
from html import escape
from pathlib import Path
from string import Template

from edhie.expr.mathml import mathml_name, mathml_terms
from edhie.expr.symbols import is_name
from edhie.fit import Equation
from edhie.plots.words import one_line
from edhie.safe_text import printable

HERE = Path(__file__).parent
NAMED = re.compile(r"^<!-- fragment: (\S+) -->\n", re.MULTILINE)
LONG = 24  # nodes from which on an equation is set in smaller type
TARGET = 24  # letters of a target that is not an identifier


class Html(str):
    """A text that is HTML, and not to be escaped."""

    __slots__ = ()


def fill(name: str, /, **values: object) -> Html:
    """Return the fragment of that name with its places filled; whatever is not `Html` is escaped."""
    escaped = {
        # marks of writing direction would affect the text around them
        key: value if isinstance(value, Html) else escape(printable(str(value), keep="\n\t"))
        for key, value in values.items()
    }
    return Html(_fragments()[name].substitute(escaped))


def joined(parts: Iterable[Html]) -> Html:
    """Return pieces of HTML one after another."""
    return Html("".join(parts))


def as_it_is(file: str) -> Html:
    """Return a file of this folder, such as the style sheet."""
    return Html((HERE / file).read_text(encoding="utf-8"))


@cache
def _fragments() -> dict[str, Template]:
    """Return by name the parts of fragments.html, each after a comment with its name, and the page."""
    parts = NAMED.split((HERE / "fragments.html").read_text(encoding="utf-8"))
    named = {name: Template(text.strip("\n")) for name, text in zip(parts[1::2], parts[2::2], strict=True)}
    return {**named, "page": Template((HERE / "page.html").read_text(encoding="utf-8"))}


def number(value: float, digits: int = 4, *, padded: bool = False) -> Html:
    """Return a number with so many significant digits, `padded` with zeros; far from 1 with a power of ten."""
    if not math.isfinite(value):
        return Html("−∞" if value < 0 else "∞")
    text = f"{value:{'#' if padded and value else ''}.{digits}g}"
    mantissa, _, exponent = text.replace("-", "−").partition("e")
    mantissa = mantissa.rstrip(".")
    if not exponent:
        return Html(mantissa)
    return fill("power-of-ten", mantissa=mantissa, exponent=exponent.lstrip("+0").replace("−0", "−"))


def formula(equation: Equation) -> Html:
    """Return the whole equation with the digits needed; lines may break between the terms of a sum."""
    size = "long" if equation.expr.size > LONG else ""
    return fill("formula", size=size, terms=one_row(equation))


def one_row(equation: Equation, *, numbered: bool = False) -> Html:
    """Return the whole equation, if it is `numbered` with letters for its constants."""
    expr = equation.expr if numbered else equation.printed
    terms = mathml_terms(expr, number_format="r", numbered=numbered)
    name = equation.target if is_name(equation.target) else one_line(equation.target, TARGET)
    target = fill("equals", name=Html(mathml_name(name)))
    return Html(" ".join(fill("math", inside=Html(part)) for part in (target, *terms)))
