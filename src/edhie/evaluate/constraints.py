"""The complexity of expressions, and `Constraints`: limits on their form.

`Rules` are constraints as tables over one library, for whole forests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.arrays import Flags
from edhie.errors import EdhieError, SymbolError, shortened, suggestion
from edhie.evaluate.numbers import check_whole
from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.expr.symbols import ALIASES, OPERATORS

ANY_FUNCTION = "*"
MOST_ANSWERS = 200_000  # answers of a user's function that are kept


@dataclass(frozen=True)
class Constraints:
    """Limits on the form of equations, beyond the operators that they may have.

    `"*"` stands for every function of one operand, such as sin, exp and sqrt, but not for powers such as x^2 or for
    signs; multiplication cannot be named. An operator that a library lacks may be named, so that one set of constraints
    serves many libraries.

    >>> from edhie.expr import parse
    >>> plain = Constraints(nested={"sin": ["sin", "cos"], "exp": ["*"]}, only_on={"log": ["x0"]})
    >>> texts = ["sin(x0)*cos(x1)", "sin(x1 + cos(x0))", "exp(2*sqrt(x0))", "log(2*x0)", "log(x0 + x1)"]
    >>> [bool(plain.allowed(Forest.from_exprs([parse(text, variables=["x0", "x1"])]))[0]) for text in texts]
    [True, False, False, True, False]
    """

    max_size: int | None = None
    """Largest number of symbols. Operators, variables and constants count; None for no limit."""
    nested: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Operators that are forbidden anywhere within the operands of an operator."""
    only_on: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Variables that the operands of an operator may have, beside constants; an empty list for constants alone."""
    all_variables: bool = False
    """Use every variable."""
    forbidden: Callable[[Expr], bool] | None = None
    """A function of yours that returns True for equations that are forbidden.

    It is slow, so it is called last, and once for each tree: it gets fitted constants without their values, and its
    answer must not change between calls.
    """

    def __post_init__(self) -> None:
        if self.max_size is not None:
            check_whole("max_size", self.max_size, 1, or_none="no limit")
        for name in ("nested", "only_on"):
            object.__setattr__(self, name, _lists(name, getattr(self, name)))
        if not isinstance(self.all_variables, bool | np.bool_):
            raise EdhieError(f"all_variables is True or False, not {self.all_variables!r}")
        if self.forbidden is not None and not callable(self.forbidden):
            raise EdhieError(f"forbidden is a function of an expression, not {self.forbidden!r}")

    def allowed(self, forest: Forest) -> Flags:
        """Return True for each expression that may be an equation; raise an error for unknown names."""
        return Rules(self, forest.library).allowed(forest)

    def renamed(self, names: Mapping[str, str]) -> Constraints:
        """Return the same constraints with other names for variables."""
        only_on = {key: tuple(names.get(each, each) for each in listed) for key, listed in self.only_on.items()}
        return replace(self, only_on=only_on)

    def as_json(self) -> dict[str, Any]:
        """Return the fields ready for JSON; for a function its name."""
        asked = self.forbidden
        name = None if asked is None else f"{asked.__module__}.{getattr(asked, '__qualname__', type(asked).__name__)}"
        return {
            "max_size": self.max_size,
            "nested": {key: sorted(set(listed)) for key, listed in self.nested.items()},
            "only_on": {key: sorted(set(listed)) for key, listed in self.only_on.items()},
            "all_variables": bool(self.all_variables),
            "forbidden": name,
        }


def _lists(name: str, given: Any) -> dict[str, tuple[str, ...]]:
    """Copy a table of names; raise an error if a value is not a list."""
    if not isinstance(given, Mapping):
        raise EdhieError(f"{name} is a table of lists by operator, such as {{'sin': [...]}}, not {given!r}")
    for key, listed in given.items():
        if isinstance(listed, str) or not isinstance(listed, Sequence):
            raise EdhieError(f"{name}[{key!r}] is {listed!r}; give a list of names, such as [{listed!r}]")
    return {key: tuple(listed) for key, listed in given.items()}


class Rules:
    """Constraints over one library.

    Nestings and variables are one table: `banned[a, b]` forbids b anywhere within an operand of a.
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
                self._banned[np.ix_(self._operators(key, "nested"), self._operators(each, "nested"))] = True
        for key, names in constraints.only_on.items():
            others = np.setdiff1d(self._variables, [self._variable(name) for name in names])
            self._banned[np.ix_(self._operators(key, "only_on"), others.tolist())] = True
        self._answers: dict[Expr, bool] = {}
        largest, n = constraints.max_size, len(self._variables)
        if constraints.all_variables and largest is not None and largest < 2 * n - 1:
            raise EdhieError(
                f"no equation of {largest} nodes has all {n} variables: give a max_size of at least {2 * n - 1}"
            )

    def _operators(self, given: Any, where: str) -> list[int]:
        """Return the tokens that an operator's name stands for; none where the library lacks it."""
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

    def allowed(self, forest: Forest) -> Flags:
        """Return True for each expression that may be an equation."""
        found = self.allowed_as_part(forest)
        if self.constraints.all_variables:
            found &= ~self.missing(forest).any(axis=1)
        if self.constraints.forbidden is not None:
            left = np.flatnonzero(found)
            found[left] = [not self._is_forbidden(expr) for expr in forest.take(left)]
        return found

    def allowed_as_part(self, forest: Forest) -> Flags:
        """Return True for each expression that may be a part of an equation; the others are in no larger one."""
        largest, tokens = self.constraints.max_size, forest.tokens
        found: Flags = np.ones(len(forest), np.bool_) if largest is None else forest.sizes <= largest
        for key in np.flatnonzero(self._banned.any(axis=1)):
            nodes = np.flatnonzero(tokens == key)
            n_banned = np.concatenate([[0], np.cumsum(self._banned[key][tokens])])  # before each token
            ends = nodes + forest.subtree_sizes[nodes]  # a subtree is a range of the prefix order
            is_broken = n_banned[ends] > n_banned[nodes + 1]
            found[forest.owners[nodes[is_broken]]] = False
        return found

    def missing(self, forest: Forest) -> Flags:
        """Return, of shape (expressions, variables), True where an expression lacks a variable."""
        places = np.full(len(self.library), -1, np.int64)
        places[self._variables] = np.arange(len(self._variables))
        of_node = places[forest.tokens]
        is_variable = of_node >= 0
        lacks: Flags = np.ones((len(forest), len(self._variables)), np.bool_)
        lacks[forest.owners[is_variable], of_node[is_variable]] = False
        return lacks

    def banned_within(self, operators: Iterable[str]) -> Flags | None:
        """Return True for each token that is forbidden within operands of these operators; None without such tokens."""
        keys = [self.library.ids[name] for name in operators if name in self.library]
        banned: Flags = np.logical_or.reduce(self._banned[keys], axis=0)
        return banned if banned.any() else None

    def _is_forbidden(self, expr: Expr) -> bool:
        """Return the answer of the user's function, called once for each tree."""
        assert self.constraints.forbidden is not None
        shown = expr.free()
        if shown not in self._answers:
            if len(self._answers) >= MOST_ANSWERS:
                self._answers.clear()
            self._answers[shown] = bool(self.constraints.forbidden(shown))
        return self._answers[shown]


# -- complexity: the number of nodes, or the sum of their symbols' weights ---------------

Complexities = NDArray[np.float64 | np.int64]
MAX_WEIGHT = 1e9  # so that the whole weights of billions of nodes add up in 64 bits


def complexity(forest: Forest, weights: Mapping[str, float] | None = None) -> Complexities:
    """Return the complexity of each expression; symbols that `weights` does not name count 1.

    Whole weights give whole numbers.

    >>> from edhie.expr import Forest, SymbolLibrary, parse
    >>> library = SymbolLibrary.of(["*", "sin"], ["x"])
    >>> complexity(Forest.from_exprs([parse("x * sin(x)", library)]), {"sin": 3})
    array([6])
    """
    if not weights:
        return forest.sizes.astype(np.int64)
    by_token = symbol_weights(forest.library, weights)
    if len(forest) == 0:
        return np.zeros(0, by_token.dtype)
    return np.add.reduceat(by_token[forest.tokens], forest.offsets[:-1])


def symbol_weights(library: SymbolLibrary, weights: Mapping[str, float]) -> Complexities:
    """Return what each symbol of a library adds to the complexity of an expression.

    An operator that the library lacks may be named too, so that one table serves many libraries.
    """
    whole = all(isinstance(weight, Integral) for weight in weights.values())
    by_token: Complexities = np.ones(len(library), dtype=np.int64 if whole else np.float64)
    for given, weight in weights.items():
        if not isinstance(weight, int | float | np.integer | np.floating) or not 0 <= weight <= MAX_WEIGHT:
            what = f"the weight of {shortened(str(given))!r} is {shortened(repr(weight), 40)}"
            raise SymbolError(f"{what}; give a number from 0 to {MAX_WEIGHT:g}")
        name = given if given in library else ALIASES.get(given, given)
        if name in library:
            by_token[library.ids[name]] = weight
        elif name not in OPERATORS:
            known = (*library.readable_names, *OPERATORS)
            raise SymbolError(
                f"unknown symbol {shortened(str(given))!r} among the weights{suggestion(str(given), known)}"
            )
    return by_token
