"""`Constraints`: what equations have to look like, beyond the operators that they may have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edhie.errors import EdhieError
from edhie.evaluate.numbers import check_whole
from edhie.expr import Expr, Forest, SymbolLibrary

if TYPE_CHECKING:
    from edhie.evaluate.rules import Rules


@dataclass(frozen=True)
class Constraints:
    """What equations have to look like.

    `"*"` stands for every function of one operand, such as sin, exp and sqrt: what is written with a
    name and parentheses. So powers such as x^2 and signs are none, and multiplication cannot be named.
    An operator that a library lacks may be named, so that one set of constraints serves many libraries.

    >>> from edhie.expr import parse
    >>> plain = Constraints(nested={"sin": ["sin", "cos"], "exp": ["*"]}, only_on={"log": ["x0"]})
    >>> texts = ["sin(x0)*cos(x1)", "sin(x1 + cos(x0))", "exp(2*sqrt(x0))", "log(2*x0)", "log(x0 + x1)"]
    >>> [bool(plain.allowed(Forest.from_exprs([parse(text, variables=["x0", "x1"])]))[0]) for text in texts]
    [True, False, False, True, False]
    """

    max_size: int | None = None
    """Nodes of an equation at most: operators, variables and constants, whatever they weigh. None: no limit."""
    nested: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By operator: those that may not stand anywhere within its operands."""
    only_on: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By operator: the variables that its operands may have, beside constants; an empty list for constants alone."""
    all_variables: bool = False
    """Whether every variable has to be in an equation."""
    forbidden: Callable[[Expr], bool] | None = None
    """A function of yours that says which equations are forbidden.

    It is slow, so it is asked last, and of each tree once: it sees constants that are to be fitted without their
    values, and has to give the same answer whenever it is asked.
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

    def over(self, library: SymbolLibrary) -> Rules:
        """The same for expressions over one library; a name that means nothing raises."""
        from edhie.evaluate.rules import Rules

        return Rules(self, library)

    def allowed(self, forest: Forest) -> NDArray[np.bool_]:
        """By expression: whether it may be an equation."""
        return self.over(forest.library).allowed(forest)

    def allowed_as_part(self, forest: Forest) -> NDArray[np.bool_]:
        """By expression: whether it may be a part of an equation; what is not is in no larger one."""
        return self.over(forest.library).allowed_as_part(forest)

    def renamed(self, names: Mapping[str, str]) -> Constraints:
        """The same with other names for variables."""
        only_on = {key: tuple(names.get(each, each) for each in listed) for key, listed in self.only_on.items()}
        return replace(self, only_on=only_on)

    def as_json(self) -> dict[str, Any]:
        """What tells it from others, as JSON has it; of a function its name."""
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
    """Names by name, copied; a list that was forgotten is told."""
    if not isinstance(given, Mapping):
        raise EdhieError(f"{name} is a table of lists by operator, such as {{'sin': [...]}}, not {given!r}")
    for key, listed in given.items():
        if isinstance(listed, str) or not isinstance(listed, Sequence):
            raise EdhieError(f"{name}[{key!r}] is {listed!r}; give a list of names, such as [{listed!r}]")
    return {key: tuple(listed) for key, listed in given.items()}
