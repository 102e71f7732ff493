"""Methods that are functions of the data: a tool of any kind, whose answer is judged like any other.

Such a function gets `X`, `y`, the budget and a random number generator, and gives a formula over x0, x1, … as a text,
or a pair of it and the number of expressions that it has executed. It keeps to the budget by itself: nobody
else counts what it does. Without a number, how many it took is unknown, and tables leave it empty.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from edhie.errors import SearchError
from edhie.expr import Forest, SymbolLibrary, parse
from edhie.expr.standard_libraries import everything
from edhie.search.base import State, Strategy, Task


class NoGenerator:
    """What stands in for a generator where a method needs none."""

    def __init__(self, n_variables: int) -> None:
        self.library: SymbolLibrary = everything(n_variables)
        """Whatever a formula may be made of."""

    def sample(self, n: int, rng: np.random.Generator) -> Forest:
        """Nothing."""
        return Forest.from_exprs([], self.library)


class Answering(Strategy):
    """One step: the function is asked, and its answer scored."""

    name: ClassVar[str] = "answering"

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.executed: int | None = None
        """How many expressions the function says that it has executed; None where it does not say."""

    def begin(self, task: Task) -> None:
        """Nothing was asked yet."""
        self._task = task
        self.executed = None

    def step(self, rng: np.random.Generator) -> bool:
        """Ask, and score what comes back."""
        data = self._task.evaluator.data
        answer = self._function(data.columns.T.copy(), data.y.copy(), self._task.budget, rng)
        formula, executed = answer if isinstance(answer, tuple) and len(answer) == 2 else (answer, None)
        is_count = executed is None or (isinstance(executed, int | np.integer) and executed >= 0)
        if not isinstance(formula, str) or not is_count:
            raise SearchError(
                f"the answer is {answer!r}; it has to be a formula as a text, or a pair of it and how many "
                "expressions were executed"
            )
        self.executed = None if executed is None else int(executed)
        self._task.score(Forest.from_exprs([parse(formula, self._task.evaluator.library)]))
        return False

    def state(self) -> State:
        """Nothing: there is one step."""
        return {}

    def restore(self, state: State) -> None:
        """There is nothing to go back to."""
