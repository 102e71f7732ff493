"""`Template`: a form with unknown parts, filled with parts and split into them again, in batches; and its settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from edhie.errors import ExpressionError, ParseError, SearchError, shortened
from edhie.evaluate.numbers import check_whole
from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.expr.symbols import OPERATORS, constant, variable
from edhie.search.pieces.splicing import Part, Stock
from edhie.search.template.reading import Call, read_template


@dataclass(frozen=True)
class TemplateConfig:
    """The template, and settings of the search for its unknown parts."""

    template: str = ""
    """The form: `f(x0)*exp(-c*x1) + g(x1)`, in which calls of functions that do not exist are unknown parts."""
    operators: tuple[str, ...] | None = None
    """Names of the operators that parts may have; None for all of the library's."""
    rows: int = 256
    """Rows on which pieces are screened, spread over the target's range."""
    fit_rows: int = 1000
    """Rows on which constants are fitted."""
    first_pieces: int = 300
    """New pieces of each part at first; the number grows 1.5-fold from round to round."""
    most_pieces: int = 1500
    """Maximum number of new pieces of each part in a round."""
    kept_pieces: int = 2500
    """Maximum number of pieces kept for each part; the simplest are kept."""
    largest_piece: int = 20
    """Maximum number of nodes of a piece."""
    largest_expression: int = 120
    """Maximum number of nodes of a whole expression."""
    population: int = 40
    """Whole expressions kept: so many with the shortest descriptions, and so many on the Pareto front."""
    written_a_round: int = 8
    """New contents of a part tried in a round: so many of one piece, of two pieces and of three."""
    offspring: int = 24
    """Offspring in a round: whole expressions with one part mutated, or taken from another."""

    def __post_init__(self) -> None:
        if not isinstance(self.template, str):
            raise SearchError(f"a template is a text, such as 'f(x0) + g(x1)', not {self.template!r}")
        for each in fields(self)[2:]:  # all but the template and its operators
            check_whole(each.name, getattr(self, each.name), 2 if each.name == "population" else 1)


@dataclass(frozen=True)
class Template:
    """A form in prefix order, with a hole, '', for each call of an unknown part.

    A part is written over the variables of its first call; in other calls, their arguments are substituted.

    >>> from edhie.expr import parse
    >>> template = Template.parse("f(x0) + c*f(x1)", SymbolLibrary.of(["+", "*", "sin"], 2, constant=True))
    >>> parts = Forest.from_exprs([parse("sin(x0)", template.library)])
    >>> str(template.filled([parts])[0])
    'sin(x0) + c*sin(x1)'
    """

    text: str
    library: SymbolLibrary
    tokens: tuple[str, ...]
    calls: tuple[Call, ...]
    """One for each hole, in order."""

    @classmethod
    def parse(cls, text: str, library: SymbolLibrary) -> Template:
        """Parse a template over a library; errors give the position in the text."""
        calls, tokens = read_template(text, library)
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
    def frame(self) -> Forest:
        """The template itself, over `hole_library`, with unfitted constants."""
        holes = iter(self.hole_tokens)
        names = self.hole_library.names
        tokens = tuple(names[next(holes)] if token == "" else token for token in self.tokens)
        return Forest.from_exprs([Expr(self.hole_library, tokens)], self.hole_library)

    @cached_property
    def _ends(self) -> list[int]:
        """The positions of holes among the tokens, then the number of tokens."""
        return [k for k, token in enumerate(self.tokens) if token == ""] + [len(self.tokens)]

    # -- filling --------------------------------------------------------------------------

    def filled(self, parts: Sequence[Forest], frames: Forest | None = None) -> Forest:
        """Return whole expressions: the k-th has the k-th of every part; constants keep their values.

        `frames` are results of `emptied`, one for each, with values for the template's own constants.
        """
        counts = {len(part) for part in parts}
        if len(parts) != len(self.names) or len(counts) != 1:
            shown = [len(part) for part in parts]
            raise ExpressionError(f"give one forest for each of {', '.join(self.names)}, equally long; not {shown}")
        n = counts.pop()
        if frames is None:
            frames = self.frame.take(np.zeros(n, np.int64))
        contents = [self.in_hole(hole, parts[part]) for hole, part in enumerate(self.part_of)]
        cast = [forest.cast(self.hole_library) for forest in contents]
        stock = Stock(Forest.concatenate([frames, *cast]))
        pieces, at = [], 0
        for hole, end in enumerate(self._ends):
            pieces.append(Part(frames.offsets[:-1] + at, np.full(n, end - at)))
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
        """Return the parts of instances of the template; of other expressions the result is undefined."""
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
        >>> {name: str(part) for name, part in Template.parse("f(x0)*2 + g(x1)", expr.library).parts(expr).items()}
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
        >>> Template.parse("f(x0) + c*f(x1)", library).ties(parse("sin(c*x0) + c*sin(c*x1)", library))
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
