"""Results of a fitted regressor: equations, predictions, plots, reports, and its folder."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

import edhie
from edhie.errors import SearchError
from edhie.estimator.checking import warn_of_undefined
from edhie.expr import Expr
from edhie.expr.symbols import Symbol
from edhie.fit import Discovery, Equation, run_folder
from edhie.results import Candidates, Front
from edhie.storage import FolderFormat

if TYPE_CHECKING:
    import pandas
    import sympy
    from matplotlib.figure import Figure

DOUBTS = ("constants", "equations")
DESCRIPTION = "estimator.json"
FORMAT = FolderFormat("regressor", 1, DESCRIPTION, SearchError, "delete it and fit again")


class FittedEquations:
    """Attributes and methods of a regressor that is fitted."""

    template: str | None
    discoveries_: list[Discovery]
    _is_flat: bool
    """True if `y` was one-dimensional."""
    n_features_in_: int
    feature_names_in_: Any
    get_params: Callable[..., dict[str, Any]]

    @property
    def best_(self) -> Equation:
        """The chosen equation, of the first target."""
        return self._first.best

    @property
    def equations_(self) -> pandas.DataFrame:
        """The best trade-offs between loss and complexity; with several targets, a column says which."""
        check_is_fitted(self, "discoveries_")
        tables = [each.table() for each in self.discoveries_]
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
        """Return the chosen equation, or the one in a row of `equations_`, as a SymPy expression."""
        return self._equation(self._first, index).sympy()

    def latex(self, index: int | None = None) -> str:
        """Return the chosen equation, or the one in a row of `equations_`, in LaTeX."""
        return self._equation(self._first, index).latex()

    def predict(
        self,
        X: Any,  # noqa: N803
        index: int | None = None,
        *,
        return_std: bool = False,
        doubt: Literal["constants", "equations"] = "constants",
    ) -> Any:
        """Predict with the chosen equation, or with the one in a row of `equations_`; NaN where it is undefined.

        With `return_std`, return predictions and their standard deviations, to which the noise of a single measurement
        has to be added. With `doubt="constants"` they come from the uncertainty of the constants, with
        `doubt="equations"` also from the distance of other equations, by their weights in `equations_`.
        """
        check_is_fitted(self, "discoveries_")
        if doubt not in DOUBTS:
            raise SearchError(f"unknown doubt {doubt!r}; choose one of {', '.join(DOUBTS)}")
        X = validate_data(self, X, dtype=np.float64, reset=False)  # noqa: N806
        columns = np.ascontiguousarray(X.T)
        equations = [self._equation(each, index) for each in self.discoveries_]
        found = np.stack([each.predict(columns) for each in equations], axis=1)
        warn_of_undefined(found)
        if not return_std:
            return self._shaped(found)
        spread = [
            each.standard_deviations(columns) if doubt == "constants" else whole.standard_deviations(columns, each)
            for whole, each in zip(self.discoveries_, equations, strict=True)
        ]
        return self._shaped(found), self._shaped(np.stack(spread, axis=1))

    def parts(self, index: int | None = None) -> dict[str, Expr]:
        """Return the unknown parts of the template by name."""
        from edhie.form import Form

        if self.template is None:
            raise SearchError("there are parts only where a template was given: EDHiERegressor(template=...)")
        expr = self._equation(self._first, index).expr
        return Form.parse(self.template, expr.library).parts(expr)

    # -- plots and reports ----------------------------------------------------------------

    def plot(self, index: int | None = None, *, kind: Literal["fit", "front"] = "fit") -> Figure:
        """Plot data, prediction and residuals, or the front, of the first target, as a Matplotlib figure."""
        from edhie.plots import plot_fit, plot_front

        return plot_front(self._first) if kind == "front" else plot_fit(self._equation(self._first, index))

    def report(self, path: str | Path) -> Path:
        """Write one HTML page about all equations, and return its path."""
        from edhie.report import write_report

        check_is_fitted(self, "discoveries_")
        return write_report(self.discoveries_, path)

    # -- folders --------------------------------------------------------------------------

    def save(self, folder: str | Path) -> Path:
        """Write the fitted regressor into a readable folder, which `load` reads."""
        check_is_fitted(self, "discoveries_")
        path, parameters, names = Path(folder), self.get_params(), getattr(self, "feature_names_in_", None)
        plain = {name: value for name, value in parameters.items() if _is_plain(value)}
        left_out = sorted(set(parameters) - set(plain))
        if left_out:
            warnings.warn(
                f"{', '.join(left_out)} cannot be written as text, so a regressor that is loaded has the defaults "
                "there; its equations are the same",
                UserWarning,
                stacklevel=2,
            )
        description = {
            "edhie": edhie.__version__, "parameters": plain, "n_features": self.n_features_in_,
            "feature_names": None if names is None else tuple(names), "is_flat": self._is_flat,
            "targets": len(self.discoveries_),
        }  # fmt: skip
        for k, each in enumerate(self.discoveries_):
            run_folder.save(each, path / str(k))
        return FORMAT.write(path, description, {})

    @classmethod
    def load(cls, folder: str | Path, *, operators: Iterable[Symbol] = ()) -> Self:
        """Load a regressor that `save` wrote; pass your own operators if its equations use some."""
        path, customs = Path(folder), list(operators)
        description = FORMAT.read(path)
        with FORMAT.reading(path / DESCRIPTION):
            found = cls(**description["parameters"])
            found.n_features_in_ = int(description["n_features"])
            if description["feature_names"] is not None:
                found.feature_names_in_ = np.array(description["feature_names"], dtype=object)
            found._is_flat = bool(description["is_flat"])
            count = int(description["targets"])
            found.discoveries_ = [run_folder.load(path / str(k), operators=customs) for k in range(count)]
        return found

    # -- the equations of a target --------------------------------------------------------

    def _shaped(self, found: NDArray[np.float64]) -> NDArray[np.float64]:
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


def _is_plain(value: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(value)) == value)
    except (TypeError, ValueError):
        return False
