"""`EDHiERegressor`: equation discovery with scikit-learn's manners."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from edhie.discovery import Discovery, Equation, Settings, discover
from edhie.discovery.table import equations_table
from edhie.evaluate import Constraints, Data
from edhie.expr import Expr
from edhie.results import Candidates, Front

if TYPE_CHECKING:
    import pandas
    import sympy

Numbers = NDArray[np.float64]
LARGEST_SEED = 2**31 - 1


class EDHiERegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Finds equations that explain `y` by the columns of `X`, and predicts with the one that describes the data best.

    Parameters
    ----------
    max_time : float or None, default=60
        Seconds that `fit` may search, for each target; None for no limit. It ends earlier where an equation leaves
        nothing but rounding unexplained.
    max_evaluations : int or None, default=None
        Distinct expressions executed at most. Without `max_time` it gives the same result on every machine.
    operators : list or None, default=None
        What equations may be made of, such as ``["+", "*", "exp"]``; operators of your own are made with
        `edhie.operator`. None for arithmetic, powers and the elementary functions.
    generator : str, path, Generator or None, default=None
        What gives the pieces that equations are made of: a shipped model's name, a model's folder, a grammar.
    loss : str or callable, default="rmse"
        What is made small: a name, or a function of y, prediction and weights (None without).
    selection : {"mdl", "best", "accuracy", "score"}, default="mdl"
        Which equation `predict` uses: the shortest description of the data; the best score among the most accurate;
        the most accurate; the best score, which is how much the loss falls for each unit of complexity.
    complexity : dict or None, default=None
        What operators weigh, by name; 1 for those that are not named.
    constraints : Constraints or None, default=None
        What equations have to look like, beyond their operators: their size, what may not be nested, which variables
        an operator may be applied to; see `edhie.Constraints`. None: like anything.
    guesses : list of str or Expr, or None, default=None
        Formulas that may be near the truth, over the columns' names, such as ``["c*exp(-2*t) + c"]``: `c` is a
        constant to be fitted, and a number is one that begins with this value. They are scored first, for
        every target, and the search goes on from them and their parts.
    search : str or Strategy, default="mosaic"
        How to search.
    warm_start : bool, default=False
        Whether `fit` begins with the equations that the last `fit` found: where the columns and the number of
        targets are the same, the best trade-offs of each target are guesses for it, as far as the operators still
        allow them, behind `guesses`. The data may be others: constants are fitted anew.
    random_state : int, RandomState or None, default=0
        What every random choice follows from.
    verbose : bool, default=False
        Whether `fit` shows what it finds while it searches.

    Attributes
    ----------
    discoveries_ : list of Discovery
        By target: all that was found.
    equations_ : pandas.DataFrame
        The best trade-offs between loss and complexity.
    best_ : Equation
        The chosen one, of the first target.
    """

    def __init__(
        self,
        max_time: float | None = 60.0,
        *,
        max_evaluations: int | None = None,
        operators: Sequence[Any] | None = None,
        generator: Any = None,
        loss: Any = "rmse",
        selection: str = "mdl",
        complexity: Mapping[str, float] | None = None,
        constraints: Constraints | None = None,
        guesses: Sequence[str | Expr] | None = None,
        search: Any = "mosaic",
        warm_start: bool = False,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.max_time = max_time
        self.max_evaluations = max_evaluations
        self.operators = operators
        self.generator = generator
        self.loss = loss
        self.selection = selection
        self.complexity = complexity
        self.constraints = constraints
        self.guesses = guesses
        self.search = search
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    # -- fitting --------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, validation: tuple[Any, Any] | None = None) -> Self:  # noqa: N803
        """Look for equations.

        `y` may have several columns: each gets equations of its own. `validation` is a pair of X and y by
        which equations are chosen; without one, some rows are held out where there are a thousand and more. Ctrl-C
        ends the search, and the estimator is fitted with what was found.
        """
        targets = _names_of_targets(y)
        X, y = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True)  # noqa: N806
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
        held_out = None if validation is None else self._validation(*validation, y.ndim)
        columns = list(getattr(self, "feature_names_in_", [f"x{k}" for k in range(X.shape[1])]))
        self._is_flat = y.ndim == 1
        names = targets or (["y"] if self._is_flat or y.shape[1] == 1 else [f"y{k}" for k in range(y.shape[1])])
        settings, before = self._settings(), self._found_before(columns, len(names))
        self.discoveries_: list[Discovery] = []
        for k, target in enumerate(y.reshape(len(y), -1).T):
            data = Data(np.ascontiguousarray(X.T), np.ascontiguousarray(target), weights, tuple(map(str, columns)))
            begun = replace(settings, recalled=before[k])
            self.discoveries_.append(self._discovered(data, begun, names[k], held_out, k))
        for each in self.discoveries_:
            each.best  # noqa: B018 -- raises where nothing was found
        return self

    def _settings(self) -> Settings:
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(LARGEST_SEED)
        return Settings(
            max_time=self.max_time,
            max_evaluations=self.max_evaluations,
            operators=self.operators,
            generator=self.generator,
            loss=self.loss,
            selection=self.selection,
            complexity=self.complexity,
            constraints=self.constraints,
            guesses=() if self.guesses is None else self.guesses,
            strategy=self.search,
            seed=int(seed),
        )

    def _found_before(self, columns: list[str], n_targets: int) -> list[tuple[Expr, ...]]:
        """By target the equations of the last fit; none without a warm start, or where it was of other columns."""
        last: list[Discovery] = getattr(self, "discoveries_", []) if self.warm_start else []
        is_alike = len(last) == n_targets and all(list(each.columns) == list(map(str, columns)) for each in last)
        return [tuple(e.expr for e in each.equations) for each in last] if is_alike else [()] * n_targets

    def _discovered(
        self, data: Data, settings: Settings, target: str, validation: tuple[Numbers, Numbers] | None, k: int
    ) -> Discovery:
        held_out = None
        if validation is not None:
            rows, targets = validation
            held_out = Data(np.ascontiguousarray(rows.T), np.ascontiguousarray(targets[:, k]), None, data.names)
        if not self.verbose:
            return discover(data, settings, target=target, validation=held_out)
        from edhie.view import SearchView

        with SearchView() as view:
            return discover(data, settings, target=target, validation=held_out, on_event=view)

    def _validation(self, X: Any, y: Any, n_dimensions: int) -> tuple[Numbers, Numbers]:  # noqa: N803
        X, y = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True, reset=False)  # noqa: N806
        if y.ndim != n_dimensions:
            raise ValueError(f"y of the validation set has {y.ndim} dimensions, that of the data {n_dimensions}")
        return X, y.reshape(len(y), -1)

    # -- what was found -------------------------------------------------------------------

    @property
    def best_(self) -> Equation:
        """The chosen equation, of the first target."""
        return self._first.best

    @property
    def equations_(self) -> pandas.DataFrame:
        """The best trade-offs between loss and complexity; with several targets, a column says which."""
        check_is_fitted(self, "discoveries_")
        tables = [equations_table(each.equations) for each in self.discoveries_]
        if len(tables) == 1:
            return tables[0]
        import pandas

        for table, each in zip(tables, self.discoveries_, strict=True):
            table.insert(0, "target", each.target)
        return pandas.concat(tables, ignore_index=True)

    @property
    def front_(self) -> Front:
        """The best trade-offs between loss and complexity, as the search has them; of the first target."""
        return self._first.result.front

    @property
    def explored_(self) -> Candidates:
        """Every distinct expression that was executed, a million at most; of the first target."""
        return self._first.explored

    def sympy(self, index: int | None = None) -> sympy.Expr:
        """The chosen equation, or the one in a row of `equations_`, for SymPy."""
        return self._equation(self._first, index).sympy()

    def latex(self, index: int | None = None) -> str:
        """The chosen equation, or the one in a row of `equations_`, in LaTeX."""
        return self._equation(self._first, index).latex()

    def predict(self, X: Any, index: int | None = None, *, return_std: bool = False) -> Any:  # noqa: N803
        """What the chosen equation says, or the one in a row of `equations_`; NaN where it has no value.

        With `return_std` a pair: predictions, and their standard deviations as the uncertainty of the constants
        makes them; the noise of a single measurement comes on top.
        """
        check_is_fitted(self, "discoveries_")
        X = validate_data(self, X, dtype=np.float64, reset=False)  # noqa: N806
        columns = np.ascontiguousarray(X.T)
        equations = [self._equation(each, index) for each in self.discoveries_]
        found = np.stack([each.predict(columns) for each in equations], axis=1)
        _warn_of_undefined(found)
        if not return_std:
            return self._shaped(found)
        spread = np.stack([each.standard_deviations(columns) for each in equations], axis=1)
        return self._shaped(found), self._shaped(spread)

    def _shaped(self, found: Numbers) -> Numbers:
        return found[:, 0] if self._is_flat else found

    @property
    def _first(self) -> Discovery:
        check_is_fitted(self, "discoveries_")
        return self.discoveries_[0]

    def _equation(self, discovery: Discovery, index: int | None) -> Equation:
        if index is None:
            return discovery.best
        try:
            return discovery.equations[index]
        except IndexError:
            there = f"{discovery.target!r} has {len(discovery.equations)} equations"
            raise IndexError(f"there is no equation {index}: {there}, 0 to {len(discovery.equations) - 1}") from None

    def __sklearn_tags__(self) -> Tags:
        """More than one target is welcome."""
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = True
        tags.target_tags.multi_output = True
        return tags


def _names_of_targets(y: Any) -> list[str]:
    """Names that a table gives its targets; none where it has no names."""
    if hasattr(y, "columns"):
        return [str(name) for name in y.columns]
    name = getattr(y, "name", None)
    return [name] if isinstance(name, str) and name else []


def _warn_of_undefined(found: Numbers) -> None:
    bad = np.flatnonzero(~np.isfinite(found).all(axis=1))
    if len(bad):
        warnings.warn(
            f"the equation has no value in {len(bad)} of {len(found)} rows, the first of which is row {bad[0]}; "
            "choose another by its row in equations_: predict(X, index=...)",
            RuntimeWarning,
            stacklevel=3,
        )
