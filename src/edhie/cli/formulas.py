"""Formulas as arguments, from a file or from standard input, over the library of a model."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from edhie.errors import EdhieError, ExpressionError, ParseError
from edhie.expr import Expr, SymbolLibrary, parse

STANDARD_INPUT = Path("-")


class FormulaCommand(TyperCommand):
    """A command whose arguments may begin with a minus sign: `-sin(x0)` is a formula, not the options s, i and n."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As any command, but for a blank before such formulas, which stands for nothing in them."""
        return super().parse_args(ctx, [f" {each}" if self._is_formula(each) else each for each in args])

    def _is_formula(self, text: str) -> bool:
        options = {name for parameter in self.params for name in parameter.opts}
        is_option = text in options or (text[:2] in options and text[2:].isdigit())  # -n20
        return text.startswith("-") and not text.startswith("--") and len(text) > 1 and not is_option


def read_formula(text: str, library: SymbolLibrary) -> Expr:
    """The formula over a model's library; what is not in it is pointed at."""
    try:
        return parse(text.strip(), library)
    except ParseError as error:
        what, is_number, _ = error.what.partition("; add it with literals=")
        if not is_number:
            raise
        # a trained model's library cannot be added to
        hint = f"; write {library.constant} for a number" if library.constant else ""
        raise ParseError(f"{what}{hint}", error.text, error.position) from None


def read_formulas(texts: Sequence[str], file: Path | None, library: SymbolLibrary) -> list[Expr]:
    """The formulas among the arguments, then those of a file (`-`: standard input), one a line."""
    exprs = [read_formula(text, library) for text in texts]
    if file is None:
        return exprs
    name = "standard input" if file == STANDARD_INPUT else str(file)
    for number, line in enumerate(_lines(file, name), start=1):
        if line.strip():
            try:
                exprs.append(read_formula(line, library))
            except EdhieError as error:
                raise ExpressionError(f"{name}, line {number}: {error}") from error
    if not exprs:
        raise ExpressionError(f"{name} holds no formulas")
    return exprs


def _lines(file: Path, name: str) -> Iterable[str]:
    try:
        text = sys.stdin.read() if file == STANDARD_INPUT else file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ExpressionError(f"{name} cannot be read: {reason}") from error
    return text.splitlines()
