"""Forms: expressions whose constants are free. Their errors on rows left out, and whether two are the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from forms import EXACT, LONGER, PROMISING, forest_of
from runs import Numbers

if TYPE_CHECKING:
    from edhie.evaluate import Data, FitConfig
    from edhie.expr import Expr, Forest
    from edhie.selection.noise import NoiseModel

FOLDS, FEW_ROWS = 5, 12  # with fewer rows, each row is left out once
REPEATED = ((50, 20), (200, 10))  # fewer rows than the first number: so many times, with other folds
REPEATS = 3  # with more rows
REWEIGHTED = 6  # rounds: weights depend on predictions, and these on constants
POINTS = 200  # at which forms are compared, besides the rows
WIDE = 2.0  # decades: values that span more are compared by their relative differences
DECADES = 1.0  # a column of positive values that spans more is compared on a logarithmic scale
RESOLVED = 1e-7  # relative size of a singular value below which a constant has no effect of its own


# -- forms --------------------------------------------------------------------------------


def form_of(expr: Expr) -> Expr:
    """Return an expression with its numbers as constants that have these values.

    The number 1 and exponents that are multiples of a half belong to the form, and stay.

    >>> from edhie.expr import parse
    >>> str(form_of(parse("2*x^3/(1 + 0.5*x) + x^0.7")))
    '2*x^3/(1 + 0.5*x) + x^0.7'
    >>> form_of(parse("2*x^3/(1 + 0.5*x) + x^0.7")).constants
    (2.0, 0.5, 0.7)
    """
    from edhie.expr import Expr
    from edhie.expr.numerals import numeral

    library = expr.library
    assert library.constant is not None
    exponents = {expr.child_positions(k)[1] for k, token in enumerate(expr.tokens) if token == "^"}
    tokens, values, fitted = list(expr.tokens), list[float | None](), iter(expr.constants)
    for k, token in enumerate(expr.tokens):
        if library[token].kind not in ("constant", "number"):
            continue
        value = next(fitted) if library[token].kind == "constant" else float(token)
        belongs = value is not None and (abs(value) == 1 or (k in exponents and (2 * value).is_integer()))
        if belongs and value is not None:
            tokens[k] = numeral(value)
        else:
            tokens[k] = library.constant
            values.append(value)
    return Expr(library.with_numbers(), tokens, values)


def written_form(expr: Expr) -> str:
    """Return the form of an expression, in the writing that equal forms share; `c` is any constant.

    >>> from edhie.expr import parse
    >>> written_form(parse("2*x1*(3 + x0)")) == written_form(parse("(1.5*x0 + 7)*x1"))
    True
    """
    from edhie.expr.canonical import canonical_expr

    free = form_of(expr)
    return str(canonical_expr(free.with_constants([None] * len(free.constants)) if free.constants else free))


def has_form(exprs: Sequence[Expr], law: Expr, data: Data) -> list[bool]:
    """Return for each expression, fitted to the data, whether it has the form of a law, which is fitted too.

    It has if its form, with other constants, has the values of the law, at the rows and between them, and if it has no
    more constants than the law that have an effect of their own; so `c*exp(c*x) + c` does not have the form
    `c*exp(c*x)`. It also has if the law, with other constants, none of them without effect, has the values of the
    expression, as `x + c*x^2` has the form `c*x + c*x^2`. Expressions of more than twice the size of the law have not.
    """
    columns, values = _defined(law, between_rows(data.columns))
    if np.ptp(values) == 0:
        return [False] * len(exprs)
    most, longest = effective_constants(law, columns), LONGER * law.size
    return [
        expr.size <= longest
        and (
            (effective_constants(form, columns) <= most and _contains(form, columns, values))
            or _is_case_of(law, form, columns, most)
        )
        for expr, form in zip(exprs, map(form_of, exprs), strict=True)
    ]


def is_same_form(one: Expr, other: Expr, data: Data) -> bool:
    """Return whether two expressions have the same form, whatever the units of the target and of each column.

    It is the same if one has the values of the other with other constants and other units, at the rows and between
    them, and if both have as many constants, factors of units included, that have an effect of their own.

    >>> from edhie.evaluate import read_data
    >>> from edhie.expr import parse
    >>> data = read_data({"x0": np.linspace(1, 5, 20)}, np.linspace(0, 1, 20))
    >>> is_same_form(parse("x0/(1 + x0)"), parse("3*x0/(x0 + 7)"), data)
    True
    >>> is_same_form(parse("2*x0^2"), parse("2*x0^2.1"), data)
    False
    """
    columns, values = _defined(one, between_rows(data.columns))
    if np.ptp(values) == 0:
        return not one.variables and not other.variables
    first, second = _unit_free(one), _unit_free(other)
    is_alike = effective_constants(first, columns) == effective_constants(second, columns)
    return is_alike and _contains(second, columns, values)


def _unit_free(expr: Expr) -> Expr:
    """Return the form of an expression with a factor, 1, of each column and of the whole."""
    from edhie.expr import Expr

    form = form_of(expr)
    tokens, values, own = ["*", str(form.library.constant)], list[float | None]([1.0]), iter(form.constants)
    for token in form.tokens:
        kind = form.library[token].kind
        tokens += ["*", str(form.library.constant), token] if kind == "variable" else [token]
        values += [1.0] if kind == "variable" else [next(own)] if kind == "constant" else []
    return Expr(form.library, tokens, values)


def _defined(expr: Expr, columns: Numbers) -> tuple[Numbers, Numbers]:
    """Return the columns where an expression has a value, and its values."""
    values = _values(forest_of([expr]), columns)
    is_defined = np.isfinite(values)
    return np.ascontiguousarray(columns[:, is_defined]), values[is_defined]


def _contains(form: Expr, columns: Numbers, values: Numbers) -> bool:
    """Return whether a form has these values with some constants; fits start from its own."""
    from edhie.evaluate import CHEAP

    data = _exact_data(form, columns, values)
    promising = _fitted(form, data, replace(CHEAP, iterations=50))
    return _distance(promising, data) < PROMISING and _distance(_fitted(promising, data, _careful()), data) < EXACT


def _is_case_of(law: Expr, expr: Expr, columns: Numbers, most: int) -> bool:
    """Return whether a law has the values of an expression for some constants, all of which have an effect there."""
    values = _values(forest_of([expr]), columns)
    if not np.isfinite(values).all() or np.ptp(values) == 0:
        return False
    data = _exact_data(law, columns, values)
    found = _fitted(law, data, _careful())
    if not _distance(found, data) < EXACT:
        return False
    effects = np.abs(found.constants) * np.linalg.norm(_slopes(found, columns), axis=1)
    size = np.linalg.norm(np.sqrt(_weights(values)) * values)
    return bool((effects > EXACT * size).all()) and effective_constants(found, columns) == most


def _exact_data(form: Expr, columns: Numbers, values: Numbers) -> Data:
    """Return values without noise as data, with weights."""
    from edhie.evaluate import read_data

    return read_data(columns.T, values, names=form.library.variables, weights=_weights(values))


def _weights(values: Numbers) -> Numbers:
    """Return weights of rows for values without noise: those of proportional noise if values span many decades."""
    sizes = np.abs(values)
    is_wide = sizes.min() > 0 and math.log10(sizes.max()) - math.log10(sizes.min()) > WIDE
    return np.square(1 / values) if is_wide else np.ones(len(values))


def _distance(expr: Expr, data: Data) -> float:
    """Return the root mean square of the residuals over the standard deviation, or over each value."""
    assert data.weights is not None
    rest = _values(forest_of([expr]), data.columns) - data.y
    scale = 1.0 if (data.weights != 1).any() else float(np.std(data.y))
    found = math.sqrt(float(np.mean(data.weights * np.square(rest)))) / scale
    return found if math.isfinite(found) else math.inf


def _careful() -> FitConfig:
    """Return the settings of fits that decide whether two forms have the same values."""
    from edhie.evaluate import THOROUGH

    return replace(THOROUGH, points=20, starts=3, rounds=2)


def between_rows(columns: Numbers) -> Numbers:
    """Return the rows, and points drawn at random between the ends of the columns, of shape (variables, rows)."""
    rng = np.random.default_rng(0)
    drawn = []
    for column in columns:
        low, high = float(column.min()), float(column.max())
        is_logarithmic = low > 0 and math.log10(high / low) > DECADES
        low, high = (math.log(low), math.log(high)) if is_logarithmic else (low, high)
        points = rng.uniform(low, high, POINTS)
        drawn.append(np.exp(points) if is_logarithmic else points)
    return np.concatenate([columns, np.array(drawn)], axis=1)


def effective_constants(expr: Expr, columns: Numbers) -> int:
    """Return how many constants of an expression have an effect of their own: the rank of its slopes.

    >>> from edhie.expr import parse
    >>> effective_constants(parse("c*exp(c*x0 + c)").with_constants([2.0, -0.3, 1.0]), np.linspace(0, 5, 20)[None])
    2
    """
    if not expr.constants:
        return 0
    slopes = _slopes(expr, columns)
    sizes = np.linalg.norm(slopes, axis=1)
    own = slopes[sizes > 0] / sizes[sizes > 0, np.newaxis]
    return int(np.linalg.matrix_rank(own, tol=RESOLVED * math.sqrt(len(own)))) if own.size else 0


def _slopes(expr: Expr, columns: Numbers) -> Numbers:
    """Return the weighted slopes of an expression by its constants, (constants, rows), without rows that have none."""
    from edhie.evaluate.constants.jacobian import Response

    response = Response(expr, columns)
    with np.errstate(all="ignore"):
        predicted, slopes = response.jacobian(response.constants)
    has_slopes = np.isfinite(predicted) & np.isfinite(slopes).all(axis=0)
    if not has_slopes.any():
        return np.zeros((len(slopes), 0))
    return np.asarray(slopes[:, has_slopes] * np.sqrt(_weights(predicted[has_slopes])))


# -- fits -----------------------------------------------------------------------------------


def fitted_law(law: Expr, data: Data) -> tuple[Expr, NoiseModel]:
    """Return a law with its constants fitted under the noise model that describes its residuals best, and that model.

    The first fit under each model starts at many points and takes the measurements for the predictions.
    """
    from edhie.evaluate import THOROUGH
    from edhie.selection.noise import BOTH, CONSTANT, STUDENT, noise_models

    models = (*(each for each in noise_models("auto", data) if each is not STUDENT), *BOTH)  # no row is an outlier
    found = [(_under(law, data, model, THOROUGH), model) for model in models]
    lengths = [_length(expr, data, model) for expr, model in found]
    best = int(np.argmin(lengths))
    return found[best] if math.isfinite(lengths[best]) else (found[0][0], CONSTANT)


def weighted(data: Data, law: Expr, model: NoiseModel) -> Data:
    """Return the data with the weights that rows have under a noise model, by the predictions of a fitted law."""
    from edhie.selection.noise import relative_weights

    return replace(data, weights=relative_weights(model, _values(forest_of([law]), data.columns), data))


def left_out_error(form: Expr, data: Data) -> float:
    """Return the weighted RMSE on rows left out, with constants fitted to the others: the median over all repeats.

    Fits start at the optimum on all rows, and this fit at the form's own constants. The folds depend on the number of
    rows alone.
    """
    form = _fitted(form, data)
    return float(np.median([_error(form, data, folds) for folds in folds_of(data.n_rows)]))


def folds_of(n_rows: int) -> list[list[NDArray[np.int64]]]:
    """Return the rows of each fold, for each repeat."""
    if n_rows < FEW_ROWS:
        return [list(np.arange(n_rows)[:, np.newaxis])]
    repeats = next((repeats for fewer, repeats in REPEATED if n_rows < fewer), REPEATS)
    orders = (np.random.default_rng([n_rows, k]).permutation(n_rows) for k in range(repeats))
    return [[np.sort(order[fold::FOLDS]) for fold in range(FOLDS)] for order in orders]


def _error(form: Expr, data: Data, folds: Sequence[NDArray[np.int64]]) -> float:
    squares = np.empty(data.n_rows)
    for fold in folds:
        others = np.delete(np.arange(data.n_rows), fold)
        fitted = _fitted(form, data.take(others))
        squares[fold] = np.square(
            data.y[fold] - _values(forest_of([fitted]), np.ascontiguousarray(data.columns[:, fold]))
        )
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    mean = float(np.average(squares, weights=weights))
    return math.sqrt(mean) if math.isfinite(mean) else math.inf


def _under(expr: Expr, data: Data, model: NoiseModel, config: FitConfig) -> Expr:
    """Return an expression fitted under a noise model."""
    from edhie.selection.noise import CONSTANT, relative_weights

    expr = _fitted(expr, replace(data, weights=relative_weights(model, data.y, data)), config)
    for _ in range(0 if model is CONSTANT else REWEIGHTED):
        expr = _fitted(expr, weighted(data, expr, model))
    return expr


def _fitted(expr: Expr, data: Data, config: FitConfig | None = None) -> Expr:
    """Return an expression with constants fitted; by default from its own values alone."""
    from edhie.evaluate import FitConfig, fit_constants

    if not expr.constants:
        return expr
    config = config or FitConfig(points=0, starts=1, iterations=200, tolerance=1e-12, rows=None)
    found = fit_constants(forest_of([expr]), data, config=config).forest[0]
    is_fitted = all(value is not None and math.isfinite(value) for value in found.constants)
    return found if is_fitted else expr


def _length(expr: Expr, data: Data, model: NoiseModel) -> float:
    """Return the negative log-likelihood of the rows, with the cost of the noise model, in bits."""
    from edhie.selection.noise import relative_weights

    predicted = _values(forest_of([expr]), data.columns)
    if not np.isfinite(predicted).all():
        return math.inf
    weights = relative_weights(model, predicted, data)
    weights = np.ones(data.n_rows) if weights is None else weights
    squares = np.square(data.y - predicted) + np.square(data.rounding)
    spread = 0.5 * data.n_rows * math.log2(max(float(np.mean(weights * squares)), 1e-300))
    return spread - 0.5 * float(np.log2(weights).sum()) + model.bits


def _values(one: Forest, columns: Numbers) -> Numbers:
    from edhie.evaluate import values

    with np.errstate(all="ignore"):
        return np.asarray(values(one, columns)[0], np.float64)
