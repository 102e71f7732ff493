"""User-defined methods: a strategy, or a function of the data that returns a formula."""

from __future__ import annotations

import inspect
import math
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from traceback import extract_tb
from typing import Any, ClassVar

import numpy as np

from edhie.bench.methods import METHODS, Method, method_named
from edhie.bench.problem_files import ProblemError
from edhie.errors import EdhieError, SearchError
from edhie.expr import Forest, parse
from edhie.safe_text import printable
from edhie.search.base import State, Strategy, Task
from edhie.search.strategies import imported, is_text_of_object, made_strategy, text_of


class Answering(Strategy):
    """A strategy of one step: call a function of the data, and score the formula that it returns."""

    name: ClassVar[str] = "answering"

    def __init__(self, function: Callable[..., Any], *, keeps_errors: bool = False) -> None:
        """With `keeps_errors`, an error is kept as the `reason`, and not raised."""
        self._function, self._keeps_errors = function, keeps_errors

    def begin(self, task: Task) -> None:
        """Prepare the one step."""
        self._task = task
        self.executed: int | None = None
        """Number of expressions that the function reports as executed; None if it does not report any."""
        self.seconds: float | None = None
        """Seconds that the function reports; None if it does not report any."""
        self.reason = ""
        """Why there is no formula with finite values, if errors are kept; empty if there is one."""

    def step(self, rng: np.random.Generator) -> bool:
        """Call the function and score its answer."""
        try:
            is_finite = math.isfinite(self._score_answer(rng))
            self.reason = "its formula has no finite value in some row" if self._keeps_errors and not is_finite else ""
        except EdhieError as error:
            if not self._keeps_errors:
                raise
            self.reason = printable(" ".join(str(error).split())[:LONGEST])
        return False

    def _score_answer(self, rng: np.random.Generator) -> float:
        """Return the error of the formula; infinite if a value is not finite."""
        data = self._task.evaluator.data
        answer = self._function(data.columns.T.copy(), data.y.copy(), self._task.budget, rng)
        formula, executed, *more = answer if isinstance(answer, tuple) and len(answer) > 1 else (answer, None)
        is_count = executed is None or (isinstance(executed, int | np.integer) and executed >= 0)
        if not isinstance(formula, str) or not is_count or len(more) > 1:
            raise SearchError(
                f"the answer is {answer!r}; it has to be a formula as a text, or a pair of a formula and the number of "
                "expressions executed"
            )
        self.executed, self.seconds = None if executed is None else int(executed), more[0] if more else None
        return float(self._task.score(Forest.from_exprs([parse(formula, self._task.evaluator.library)])).errors[0])

    def state(self) -> State:
        """Return an empty state, since there is one step only."""
        return {}

    def restore(self, state: State) -> None:
        """Do nothing, since there is one step only."""


Given = str | Method | Callable[..., Any]
"""A name in `METHODS`, `module:Climb`, `path/to/file.py:Climb`, or the object itself."""
ARGUMENTS = ("X", "y", "budget", "rng")
"""Arguments of a method that is a function of the data."""
LONGEST = 300  # characters of a reason
NOT_USERS = (str(Path(__file__).parents[1]), sys.prefix, sys.base_prefix)  # folders of edhie and of Python


def resolve_method(given: Given) -> Method:
    """Return a method with its name; errors in a user's own method are raised here, before the first run."""
    if isinstance(given, str) and not is_text_of_object(given):
        return method_named(given)
    method = given if isinstance(given, Method) else _own(given)
    if method == METHODS.get(method.name):
        return method
    name = method.name or method.strategy.rpartition(":")[2]
    if name.lower() in METHODS or not re.fullmatch(r"\w[\w.+-]*", name):
        why = "there is a method of that name" if name.lower() in METHODS else "tables and files are named after it"
        raise ProblemError(f"a method of your own cannot be called {name!r}, since {why}; rename it")
    return replace(method, name=name)


def is_function_of_data(given: object) -> bool:
    """Return whether an object is a function of X, y, budget and rng; one without arguments makes a strategy."""
    if inspect.isclass(given) or not callable(given):
        return False
    try:
        asked = inspect.signature(given)
    except ValueError:
        return False
    return not _takes(asked, 0) and _takes(asked, len(ARGUMENTS))


@contextmanager
def errors_of(name: str) -> Iterator[None]:
    """Re-raise errors within the context as those of a user's method, with the line that raised them."""
    try:
        yield
    except EdhieError as error:
        raise ProblemError(f"{name}: {error}") from error
    except MemoryError:
        raise
    except Exception as error:
        lines = [each for each in extract_tb(error.__traceback__) if not each.filename.startswith(NOT_USERS)]
        place = f" ({Path(lines[-1].filename).name}, line {lines[-1].lineno})" if lines else ""
        raise ProblemError(f"{name} raised {type(error).__name__}: {error}{place}") from error


def _own(given: str | Callable[..., Any]) -> Method:
    text = given if isinstance(given, str) else text_of(given)
    found = imported(text) if isinstance(given, str) else given
    name = text.rpartition(":")[2]
    if isinstance(found, Method):
        return found if found.name else replace(found, name=name)
    if is_function_of_data(found):
        return Method(text, "none", strict=False, name=name)
    with errors_of(name):
        made_strategy(found, text)
    return Method(text, "hvae", name=name)


def _takes(asked: inspect.Signature, count: int) -> bool:
    try:
        asked.bind(*[None] * count)
    except TypeError:
        return False
    return True
