"""`Rules`: constraints over one library, as tables that whole forests are held against."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.errors import EdhieError, SymbolError, shortened, suggestion
from edhie.evaluate.constraints import Constraints
from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.expr.symbols import ALIASES, OPERATORS

Mask = NDArray[np.bool_]
ANY_FUNCTION = "*"
MOST_ANSWERS = 200_000  # of a user's function, that are remembered


class Rules:
    """What `Constraints` say of expressions over a library.

    Nestings and variables are one table: `banned[a, b]` says that b may not stand within an operand of a.
    """

    def __init__(self, constraints: Constraints, library: SymbolLibrary) -> None:
        if not isinstance(constraints, Constraints):
            raise EdhieError(f"constraints is a Constraints, not {constraints!r}")
        self.constraints = constraints
        self.library = library
        self._variables = np.array([library.ids[name] for name in library.variables], np.int64)
        self._banned = np.zeros((len(library), len(library)), np.bool_)
        for key, inner in constraints.nested.items():
            for each in inner:
                self._ban(self._operators(key, "nested"), self._operators(each, "nested"))
        for key, names in constraints.only_on.items():
            others = np.setdiff1d(self._variables, [self._variable(name) for name in names])
            self._ban(self._operators(key, "only_on"), others.tolist())
        self._is_key: Mask = np.logical_or.reduce(self._banned, axis=1)
        self._answers: dict[Expr, bool] = {}
        self._check_satisfiable()

    def _ban(self, keys: list[int], inner: list[int]) -> None:
        for key in keys:
            self._banned[key, inner] = True

    # -- names ----------------------------------------------------------------------------

    def _operators(self, given: Any, where: str) -> list[int]:
        """The tokens that an operator's name stands for; none where the library lacks it."""
        library = self.library
        if given == ANY_FUNCTION:
            return [k for k, symbol in enumerate(library.symbols) if symbol.arity == 1 and symbol.style == "function"]
        name = given if given in library else ALIASES.get(given, given)
        if name in library and library[name].kind == "operator":
            return [library.ids[name]]
        if name in OPERATORS:
            return []
        own = [symbol.name for symbol in library.symbols if symbol.kind == "operator"]
        hint = suggestion(str(given), [*own, *OPERATORS, *ALIASES])
        raise SymbolError(f"unknown operator {shortened(str(given))!r} in {where} of the constraints{hint}")

    def _variable(self, given: Any) -> int:
        library = self.library
        if given not in library.variables:
            hint = suggestion(str(given), library.variables) or f"; there are {shortened(', '.join(library.variables))}"
            raise SymbolError(f"unknown variable {shortened(str(given))!r} in only_on of the constraints{hint}")
        return library.ids[given]

    def _check_satisfiable(self) -> None:
        largest, n = self.constraints.max_size, len(self._variables)
        if self.constraints.all_variables and largest is not None and largest < 2 * n - 1:
            raise EdhieError(
                f"no equation of {largest} nodes has all {n} variables: give a max_size of at least {2 * n - 1}"
            )

    # -- forests --------------------------------------------------------------------------

    def allowed(self, forest: Forest) -> Mask:
        """By expression: whether it may be an equation."""
        found = self.allowed_as_part(forest)
        if self.constraints.all_variables:
            found &= ~self.missing(forest).any(axis=1)
        if self.constraints.forbidden is not None:
            left = np.flatnonzero(found)
            found[left] = [not self._is_forbidden(expr) for expr in forest.take(left)]
        return found

    def allowed_as_part(self, forest: Forest) -> Mask:
        """By expression: whether it may be a part of an equation."""
        from edhie.evaluate.rule_kernels import keeps_to

        largest = self.constraints.max_size
        found: Mask = np.ones(len(forest), np.bool_) if largest is None else forest.sizes <= largest
        if self._is_key.any():
            found &= keeps_to(self._banned, self._is_key, forest.tokens, forest.offsets, forest.subtree_sizes)
        return found

    def missing(self, forest: Forest) -> Mask:
        """(expressions, variables): whether an expression lacks a variable."""
        places = np.full(len(self.library), -1, np.int64)
        places[self._variables] = np.arange(len(self._variables))
        of_node = places[forest.tokens]
        is_variable = of_node >= 0
        lacks: Mask = np.ones((len(forest), len(self._variables)), np.bool_)
        lacks[forest.owners[is_variable], of_node[is_variable]] = False
        return lacks

    def banned_within(self, operators: Iterable[str]) -> Mask | None:
        """By token: whether it may not stand within operands of these; None where everything may."""
        keys = [self.library.ids[name] for name in operators if name in self.library]
        banned: Mask = np.logical_or.reduce(self._banned[keys], axis=0)
        return banned if banned.any() else None

    def _is_forbidden(self, expr: Expr) -> bool:
        """What the user's function says, each tree asked once."""
        assert self.constraints.forbidden is not None
        shown = expr.free()
        if shown not in self._answers:
            if len(self._answers) >= MOST_ANSWERS:
                self._answers.clear()
            self._answers[shown] = bool(self.constraints.forbidden(shown))
        return self._answers[shown]
