"""`Form`: a form with unknown parts, filled with parts and split into them again, in batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from edhie.errors import ExpressionError, ParseError, SearchError, shortened
from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.expr.splicing import Part, Stock
from edhie.expr.symbols import OPERATORS, constant, variable
from edhie.form.reading import Call, read_form


@dataclass(frozen=True)
class Form:
    """A form in prefix order, with a hole, '', for each call of an unknown part.

    A part is written over the variables of its first call; in other calls, their arguments are substituted.

    >>> from edhie.expr import parse
    >>> form = Form.parse("f(x0) + c*f(x1)", SymbolLibrary.of(["+", "*", "sin"], 2, constant=True))
    >>> parts = Forest.from_exprs([parse("sin(x0)", form.library)])
    >>> str(form.filled([parts])[0])
    'sin(x0) + c*sin(x1)'
    """

    text: str
    library: SymbolLibrary
    tokens: tuple[str, ...]
    calls: tuple[Call, ...]
    """One for each hole, in order."""

    @classmethod
    def parse(cls, text: str, library: SymbolLibrary) -> Form:
        """Parse a form over a library; errors give the position in the text."""
        calls, tokens = read_form(text, library)
        for call in calls:
            if not call.arguments and library.constant is None:
                what = f"{call.name}() is an unknown constant, and the library has no constants"
                raise ParseError(what, text, call.start)
        return cls(text, library, tokens, calls)

    # -- structure ------------------------------------------------------------------------

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the unknown parts, in the order of their first calls."""
        return tuple(dict.fromkeys(call.name for call in self.calls))

    @cached_property
    def part_of(self) -> tuple[int, ...]:
        """By hole: the index of its part."""
        return tuple(self.names.index(call.name) for call in self.calls)

    @cached_property
    def first_calls(self) -> tuple[int, ...]:
        """By part: the hole of its first call."""
        return tuple(self.part_of.index(part) for part in range(len(self.names)))

    def variables(self, part: int) -> tuple[str, ...]:
        """Return the variables of a part, those of its first call."""
        return self.calls[self.first_calls[part]].arguments

    def holes(self, part: int) -> tuple[int, ...]:
        """Return the holes of a part, one for each call."""
        return tuple(hole for hole, each in enumerate(self.part_of) if each == part)

    @property
    def is_tied(self) -> bool:
        """True if a part is called more than once, so that its constants are tied."""
        return len(self.names) < len(self.calls)

    @cached_property
    def hole_library(self) -> SymbolLibrary:
        """The library extended by a variable for each hole, and by constants and `+` if it lacks them."""
        taken, further = set(self.library.readable_names), []
        for hole in range(len(self.calls)):
            name = f"hole{hole}"
            while name in taken:
                name += "_"
            further.append(variable(name))
        if self.library.constant is None:
            free = next(name for name in ("c", "C", "k", "const", "constant_") if name not in taken)
            further.append(constant(free))
        return self.library.extended(*further, OPERATORS["+"])

    @cached_property
    def hole_tokens(self) -> tuple[int, ...]:
        """By hole: the token of its variable in `hole_library`."""
        first = len(self.library)
        return tuple(range(first, first + len(self.calls)))

    @cached_property
    def outline(self) -> Forest:
        """The form itself, over `hole_library`, with unfitted constants."""
        holes = iter(self.hole_tokens)
        names = self.hole_library.names
        tokens = tuple(names[next(holes)] if token == "" else token for token in self.tokens)
        return Forest.from_exprs([Expr(self.hole_library, tokens)], self.hole_library)

    @cached_property
    def _ends(self) -> list[int]:
        """The positions of holes among the tokens, then the number of tokens."""
        return [k for k, token in enumerate(self.tokens) if token == ""] + [len(self.tokens)]

    def part_library(self, part: int, operators: Sequence[str] | None = None) -> SymbolLibrary:
        """Return the library of a part: its variables, in the order of its calls, these operators, and constants."""
        library, own = self.library, iter([self.library[name] for name in self.variables(part)])
        if operators is not None and (unknown := [name for name in operators if name not in library]):
            raise SearchError(f"parts may not have {unknown[0]!r}: it is not in the library ({library})")
        return SymbolLibrary(
            tuple(
                next(own) if symbol.kind == "variable" else symbol
                for symbol in library.symbols
                if symbol.kind in ("constant", "literal")
                or (symbol.kind == "variable" and symbol.name in self.variables(part))
                or (symbol.kind == "operator" and (operators is None or symbol.name in operators))
            )
        )

    # -- filling --------------------------------------------------------------------------

    def filled(self, parts: Sequence[Forest], outlines: Forest | None = None) -> Forest:
        """Return whole expressions: the k-th has the k-th of every part; constants keep their values.

        `outlines` are results of `emptied`, one for each, with values for the form's own constants.
        """
        counts = {len(part) for part in parts}
        if len(parts) != len(self.names) or len(counts) != 1:
            shown = [len(part) for part in parts]
            raise ExpressionError(f"give one forest for each of {', '.join(self.names)}, equally long; not {shown}")
        n = counts.pop()
        if outlines is None:
            outlines = self.outline.take(np.zeros(n, np.int64))
        contents = [self.in_hole(hole, parts[part]) for hole, part in enumerate(self.part_of)]
        cast = [forest.cast(self.hole_library) for forest in contents]
        stock = Stock(Forest.concatenate([outlines, *cast]))
        pieces, at = [], 0
        for hole, end in enumerate(self._ends):
            pieces.append(Part(outlines.offsets[:-1] + at, np.full(n, end - at)))
            if hole < len(self.calls):
                pieces.append(stock.trees(np.arange(n) + (hole + 1) * n))
            at = end + 1
        made = stock.join(pieces)
        return Forest(self.library, made.tokens, made.offsets, made.values)

    def in_hole(self, hole: int, part: Forest) -> Forest:
        """Return a part with the arguments of one of its calls substituted."""
        table = np.arange(len(self.library), dtype=np.int16)
        formal = self.calls[self.first_calls[self.part_of[hole]]].arguments
        for name, other in zip(formal, self.calls[hole].arguments, strict=True):
            table[self.library.ids[name]] = self.library.ids[other]
        return Forest(self.library, table[part.tokens], part.offsets, part.values)

    # -- splitting ------------------------------------------------------------------------

    def parts_of(self, forest: Forest) -> list[Forest]:
        """Return the parts of instances of the form; of other expressions the result is undefined."""
        ranges, stock = self._ranges(forest), Stock(forest)
        return [stock.join([ranges[2 * hole + 1]]) for hole in self.first_calls]

    def emptied(self, forest: Forest) -> Forest:
        """Return instances with holes in place of their parts, over `hole_library`."""
        ranges, stock, n = self._ranges(forest), Stock(forest.cast(self.hole_library)), len(forest)
        for hole, token in enumerate(self.hole_tokens):
            ranges[2 * hole + 1] = stock.symbols(np.full(n, token))
        return stock.join(ranges)

    def _ranges(self, forest: Forest) -> list[Part]:
        """Return the token ranges before the first hole, in it, after it, and so on, of every expression."""
        start, at, found = forest.offsets[:-1].copy(), 0, []
        for hole, end in enumerate(self._ends):
            found.append(Part(start, np.full(len(forest), end - at)))
            start = start + (end - at)
            if hole < len(self.calls):
                found.append(Part(start, forest.subtree_sizes[start].astype(np.int64)))
                start = start + found[-1].length
            at = end + 1
        return found

    def parts(self, expr: Expr) -> dict[str, Expr]:
        """Return the parts of an instance by name, each over the variables of its first call.

        Raise an error if the expression is not of that form.

        >>> from edhie.expr import parse
        >>> expr = parse("sin(x0)*2 + x1^3", variables=["x0", "x1"])
        >>> {name: str(part) for name, part in Form.parse("f(x0)*2 + g(x1)", expr.library).parts(expr).items()}
        {'f': 'sin(x0)', 'g': 'x1^3'}
        """
        contents = self._contents(expr)
        parts = [contents[hole] for hole in self.first_calls]
        for hole, part in enumerate(self.part_of):
            there = self.in_hole(hole, Forest.from_exprs([parts[part]], self.library))[0]
            if {*parts[part].variables} - {*self.variables(part)}:
                raise self._another_form(expr, f": {self.names[part]!r} has other variables")
            if there.tokens != contents[hole].tokens or there.constants != contents[hole].constants:
                raise self._another_form(expr, f": {self.names[part]!r} differs between its calls")
        return dict(zip(self.names, parts, strict=True))

    def ties(self, expr: Expr) -> tuple[int, ...]:
        """Return, by constant of an instance in prefix order, the index among its distinct constants.

        >>> from edhie.expr import parse
        >>> library = SymbolLibrary.of(["+", "*", "sin"], 2, constant=True)
        >>> Form.parse("f(x0) + c*f(x1)", library).ties(parse("sin(c*x0) + c*sin(c*x1)", library))
        (0, 1, 0)
        """
        contents, first, found = iter(self._contents(expr)), dict[int, int](), list[int]()
        holes, n_different = iter(self.part_of), 0
        for token in self.tokens:
            if token == "":
                part, count = next(holes), len(next(contents).constants)
                if part not in first:
                    first[part] = n_different
                    n_different += count
                found += range(first[part], first[part] + count)
            elif token == self.library.constant:
                found.append(n_different)
                n_different += 1
        return tuple(found)

    def _contents(self, expr: Expr) -> list[Expr]:
        """Return the contents of the holes, in order; an error if the form is another."""
        found, at = [], 0
        for token in self.tokens:
            if at >= expr.size or token not in ("", expr.tokens[at]):
                raise self._another_form(expr)
            found += [expr.subtree(at)] if token == "" else []
            at += found[-1].size if token == "" else 1
        return found

    def _another_form(self, expr: Expr, why: str = "") -> SearchError:
        return SearchError(f"{shortened(str(expr))!r} is not of the form {self.text!r}{why}")

    def matches(self, expr: Expr) -> bool:
        """Return whether an expression is an instance without unfitted constants."""
        try:
            self.parts(expr)
        except SearchError:
            return False
        return None not in expr.constants
