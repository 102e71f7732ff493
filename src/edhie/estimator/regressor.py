"""`EDHiERegressor`: equation discovery as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import _check_sample_weight, validate_data

from edhie.arrays import Numbers
from edhie.errors import DataError
from edhie.estimator.checking import check_columns, check_found, check_variation, data_of, names_of_targets
from edhie.estimator.results import FittedEquations
from edhie.evaluate import Constraints, read_data
from edhie.evaluate.reading import read_sigmas
from edhie.expr import Expr
from edhie.fit import Discovery, Problem, Settings, discover, read_file
from edhie.fit.discover import Workers, cores_of
from edhie.fit.settings import Noise, Selection

if TYPE_CHECKING:
    from edhie.fit.revision import Revision

LARGEST_SEED = 2**31 - 1


@dataclass(eq=False, repr=False)
class EDHiERegressor(FittedEquations, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Find equations that explain `y` by the columns of `X`, and predict with the one that describes the data best.

    Parameters
    ----------
    max_time : float or None, default=60
        Time limit of `fit` in seconds, for each target; None for no limit. It ends earlier if an equation leaves
        only rounding errors.
    max_evaluations : int or None, default=None
        Distinct expressions executed at most. Without `max_time` it gives the same result on every machine.
    operators : list or None, default=None
        Operators that equations may use, such as ``["+", "*", "exp"]``; make operators of your own with
        `edhie.operator`. None for arithmetic, powers and the elementary functions.
    generator : str, path, Generator or None, default=None
        Source of expressions: the name of a shipped model, a model folder or a grammar. None for a shipped one. For
        more than six variables or other operators, a fit of half a minute or more trains one in the background, which
        later fits use.
    loss : str or callable, default="rmse"
        Loss to minimise: a name ("rmse", "mse", "mae", "nrmse", "max", "one_minus_r2"), or a function of y,
        prediction and weights (None without). "student" is robust: a few gross errors among the rows hardly change
        the equation.
    noise : {"auto", "constant", "proportional", "both", "counts", "student"}, default="auto"
        Noise model of `y`, for comparing equations and fitting constants: the same in every row, proportional to the
        prediction, both, that of counts, or the same but for gross errors. With "auto" the one that describes the
        residuals best is chosen; `best_.noise` names it. Standard errors given as `sigma` take its place.
    patience : int or None, default=100
        Rounds of the search without a better equation after which `fit` ends early, if it took no more rounds than
        that to find the best one. None to search until the time is up.
    selection : {"mdl", "best", "accuracy", "score"}, default="mdl"
        Choice of the equation for `predict`: the shortest description of the data ("mdl"), the best score among the
        most accurate ("best"), the simplest of those that predict unseen rows best ("accuracy"), or the best score,
        which is the fall of the loss for each unit of complexity ("score"). Unseen rows are the held-out ones if there
        are any; otherwise equations are cross-validated, with constants fitted again for each of ten folds. "accuracy"
        is for those who want predictions and no law: its equations are often longer.
    constraints : Constraints or None, default=None
        Limits on the form of equations besides their operators: size, forbidden nestings, the variables that an
        operator may be applied to; see `edhie.Constraints`. None for no limits.
    guesses : list of str or Expr, or None, default=None
        Formulas that may be near the truth, over the columns' names, such as ``["c*exp(-2*t) + c"]``: `c` is a
        constant to be fitted, and a number is one that starts at this value. They are scored first, for
        every target, and the search uses them and their parts.
    template : str or None, default=None
        A form with unknown parts, such as ``"f(dose)*exp(-c*time) + g(time)"``: the arguments of a part are the
        variables that it may use, and `c` is a constant to be fitted.
    corpus : path, list of str or None, default=None
        Formulas of your field, in a file or a list: the generator is fine-tuned on them (once, and with torch), and
        they are pieces of equations as they are.
    search : str or Strategy, default="mosaic"
        Search strategy: "mosaic", "evolve" (the paper's EDHiE), "draw" (random search) or your own.
    islands : int or None, default=None
        Searches beside each other that exchange their best; each wants a core of its own. None for one, and on a
        cluster for one for each worker. The result depends on this number, and not on `n_jobs`.
    n_jobs : int or None, default=None
        Cores to use, as in scikit-learn: None for one, or as many as an enclosing ``joblib.parallel_config`` says; -1
        for all; one inside of another parallel loop, such as a grid search. It does not change the result.
    engine : {"local", "dask"}, default="local"
        Where the search runs: on this machine, or on a Dask cluster (the extra `cluster`).
    address : str or None, default=None
        Address of the Dask scheduler, such as ``"tcp://10.0.0.1:8786"``. None for the current client's, or for a new
        cluster of processes on this machine.
    warm_start : bool, default=False
        Whether `fit` starts from the equations of the last `fit`: if the columns and the number of targets are the
        same, the best trade-offs of each target are added to `guesses`, as far as the operators allow them. The data
        may differ: constants are fitted again.
    random_state : int, RandomState or None, default=0
        Seed of all random choices.
    verbose : bool, default=False
        Whether `fit` shows its progress.

    Attributes
    ----------
    discoveries_ : list of Discovery
        The discovery of each target.
    equations_ : pandas.DataFrame
        The best trade-offs between loss and complexity.
    best_ : Equation
        The chosen equation of the first target.
    """

    max_time: float | None = Settings.max_time
    _: KW_ONLY
    max_evaluations: int | None = None
    operators: Sequence[Any] | None = None
    generator: Any = None
    loss: Any = Settings.loss
    noise: Noise = Settings.noise
    patience: int | None = Settings.patience
    selection: Selection = Settings.selection
    constraints: Constraints | None = None
    guesses: Sequence[str | Expr] | None = None
    template: str | None = None
    corpus: Any = None
    search: Any = Settings.search
    islands: int | None = Settings.islands
    n_jobs: int | None = None
    engine: str = Workers.engine
    address: str | None = Workers.address
    warm_start: bool = False
    random_state: Any = Settings.seed
    verbose: bool = False

    # -- fitting --------------------------------------------------------------------------

    def fit(
        self,
        X: Any,  # noqa: N803
        y: Any,
        sample_weight: Any = None,
        *,
        sigma: Any = None,
        validation: tuple[Any, Any] | None = None,
    ) -> Self:
        """Find equations for each column of `y`.

        `sigma` are the standard errors of `y`, of the same shape; they set the weights of rows to 1/sigma², so they
        cannot be combined with `sample_weight`. `validation` is a pair of X and y by which equations are chosen; by
        default a part of the rows is held out if there are 1,000 or more. Ctrl-C ends the search, and the estimator is
        fitted with the equations found so far.
        """
        if sigma is not None and sample_weight is not None:
            both = "sample_weight and sigma are both given, and sigma alone sets the weights to 1/sigma²"
            raise DataError(f"{both}; give one of them")
        targets = names_of_targets(y)
        check_columns(X)
        X, y = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True)  # noqa: N806
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
        held_out = None if validation is None else self._validation(*validation, y.ndim)
        columns = list(getattr(self, "feature_names_in_", [f"x{k}" for k in range(X.shape[1])]))
        self._is_flat = y.ndim == 1
        names = targets or (["y"] if self._is_flat or y.shape[1] == 1 else [f"y{k}" for k in range(y.shape[1])])
        sigmas = [None] * len(names) if sigma is None else read_sigmas(sigma, rows=len(X), targets=len(names))
        settings, before = self._settings(), self._found_before(columns, len(names))
        flat = y.reshape(len(y), -1).T
        tables = [data_of(X, flat[k], weights, tuple(map(str, columns)), sigmas[k]) for k in range(len(names))]
        for data, name in zip(tables, names, strict=True):
            check_variation(data, name)
        self.discoveries_: list[Discovery] = []
        for k, data in enumerate(tables):
            apart = None if held_out is None else data_of(held_out[0], held_out[1][:, k], None, data.names)
            problem = Problem.of(data, target=names[k], validation=apart)
            self.discoveries_.append(self._searched(problem, replace(settings, recalled=before[k])))
        check_found(self.discoveries_)
        return self

    def fit_file(
        self,
        path: str | Path,
        target: str,
        *,
        features: Sequence[str] = (),
        sigma: str | None = None,
        validation: str | Path | None = None,
        drop_missing: bool = False,
        decimal: str | None = None,
        sample: int | None = None,
    ) -> Self:
        """Find equations for a column of a file, which may be larger than the memory.

        All formats of `edhie fit` are supported. For Parquet and NumPy files of more than 25 million numbers, a sample
        of 20,000 rows is searched (`sample`), and the equations are fitted to all rows except the held-out ones.
        `features` are the columns to use, by default all other numeric ones; `sigma` is the column of the target's
        standard errors, and `validation` is a file by which equations are chosen. `decimal` is the decimal mark of a
        text file, if it is not recognised. `predict` takes a DataFrame with the features.
        """
        apart = None if validation is None else Path(validation)
        problem = read_file(
            Path(path), target, features=features, sigma=sigma, validation=apart, drop_missing=drop_missing,
            decimal=decimal, sample=sample,
        ).problem  # fmt: skip
        self.feature_names_in_ = np.array(problem.columns, dtype=object)
        self.n_features_in_ = len(problem.columns)
        self._is_flat = True
        before = self._found_before(list(problem.columns), 1)
        self.discoveries_ = [self._searched(problem, replace(self._settings(), recalled=before[0]))]
        check_found(self.discoveries_)
        return self

    def _settings(self) -> Settings:
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(LARGEST_SEED)
        known = {each.name for each in fields(Settings)}
        given = {name: value for name, value in self.get_params(deep=False).items() if name in known}
        return Settings(**given | {"guesses": () if self.guesses is None else self.guesses, "seed": int(seed)})

    def _found_before(self, columns: list[str], n_targets: int) -> list[tuple[Expr, ...]]:
        """Return the equations of the last fit by target; none without a warm start, or if its columns were others."""
        last: list[Discovery] = getattr(self, "discoveries_", []) if self.warm_start else []
        is_alike = len(last) == n_targets and all(list(each.columns) == list(map(str, columns)) for each in last)
        return [tuple(e.expr for e in each.equations) for each in last] if is_alike else [()] * n_targets

    def _searched(self, problem: Problem, settings: Settings) -> Discovery:
        workers = Workers(cores_of(self.n_jobs), self.engine, self.address)
        if not self.verbose:
            return discover(problem, settings, workers=workers)
        from edhie.view import SearchView

        with SearchView() as view:
            return discover(problem, settings, on_event=view, workers=workers)

    def _validation(self, X: Any, y: Any, n_dimensions: int) -> tuple[Numbers, Numbers]:  # noqa: N803
        X, y = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True, reset=False)  # noqa: N806
        if y.ndim != n_dimensions:
            raise ValueError(f"y of the validation set has {y.ndim} dimensions, that of the data {n_dimensions}")
        return X, y.reshape(len(y), -1)

    # -- revising, and what scikit-learn asks -----------------------------------------------

    @classmethod
    def revise(cls, formula: str | Expr, X: Any, y: Any, *, sigma: Any = None, **parameters: Any) -> Revision:  # noqa: N803
        """Find what has to change in a formula so that it explains the data: a front of distance against loss.

        The formula is over the columns' names, with `c` for unknown constants; `sigma` are the standard errors of `y`;
        `parameters` are those of the class.
        """
        from edhie.fit.revision import revise

        data = read_data(X, y, sigma=sigma, names=[str(name) for name in X.columns] if hasattr(X, "columns") else None)
        target = (names_of_targets(y) or ["y"])[0]
        check_variation(data, target)
        model = cls(**parameters)
        problem = Problem.of(data, target=target)
        return revise(formula, problem, model._settings(), jobs=cores_of(model.n_jobs))

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags: several targets are supported."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
