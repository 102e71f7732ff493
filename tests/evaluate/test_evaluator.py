"""The evaluator: each distinct expression once, the budget to the last one, and nothing lost."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from edhie.errors import DataError, EdhieError, ExpressionError, SymbolError
from edhie.evaluate.constants.fitting import THOROUGH, FitConfig
from edhie.evaluate.data import Data
from edhie.evaluate.evaluator import Evaluator
from edhie.evaluate.losses import LOSSES
from edhie.evaluate.parallel import using_threads
from edhie.evaluate.reading import read_data
from edhie.evaluate.values import squared_errors, values
from edhie.expr import Expr, Forest, SymbolLibrary, operator, parse
from edhie.expr.canonical import canonical
from edhie.grammar import load

NGUYEN = load("nguyen-1").library
FEYNMAN = load("feynman-2").library
RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 3, (300, 1))
Y = np.sin(X[:, 0]) + X[:, 0] ** 2
X2 = RNG.uniform(1, 5, (200, 2))
Y2 = 3.0 * X2[:, 0] / (X2[:, 1] + 2.0)


def forest_of(library: SymbolLibrary, *texts: str) -> Forest:
    return Forest.from_exprs([parse(text, library) for text in texts], library)


def nguyen_forest(n: int, seed: int = 0) -> Forest:
    return load("nguyen-1").sample(n, np.random.default_rng(seed), max_height=6)


def test_errors_are_those_of_the_loss() -> None:
    forest = nguyen_forest(200)
    for name, loss in LOSSES.items():
        scores = Evaluator(NGUYEN, X, Y, loss=name).score(forest)
        for expr, error in zip(scores.forest, scores.errors, strict=True):
            y_hat = values(Forest.from_exprs([expr]), np.ascontiguousarray(X.T))[0]
            assert error == pytest.approx(loss.of_values(Y, y_hat, None), rel=1e-9, abs=1e-14)


def test_equal_expressions_are_executed_once() -> None:
    evaluator = Evaluator(NGUYEN, X, Y)
    forest = forest_of(NGUYEN, "x0 + x0*x0", "x0*x0 + x0", "x0^2 + x0", "sin(x0)", "x0 + x0*x0")
    scores = evaluator.score(forest)
    assert evaluator.counts.executed == 2
    assert evaluator.counts.asked == 5
    assert len(set(scores.errors[[0, 1, 2, 4]])) == 1
    evaluator.score(forest)
    assert evaluator.counts.executed == 2
    assert evaluator.counts.asked == 10
    assert len(evaluator.explored) == 2


def test_executed_is_the_number_of_canonical_forms() -> None:
    evaluator = Evaluator(NGUYEN, X, Y)
    forests = [nguyen_forest(700, seed) for seed in range(5)]
    for forest in forests:
        evaluator.score(forest)
    assert evaluator.counts.executed == len(canonical(Forest.concatenate(forests)).unique())
    assert evaluator.explored.n_seen == evaluator.counts.executed + evaluator.counts.again


@pytest.mark.parametrize("budget", [0, 1, 100, 101])
def test_the_budget_is_kept_exactly(budget: int) -> None:
    evaluator = Evaluator(NGUYEN, X, Y, budget=budget)
    unlimited = Evaluator(NGUYEN, X, Y)
    for seed in range(6):
        forest = nguyen_forest(120, seed)
        scores, reference = evaluator.score(forest), unlimited.score(forest)
        assert evaluator.counts.executed <= budget
        np.testing.assert_array_equal(scores.errors[scores.is_scored], reference.errors[scores.is_scored])
        assert (scores.errors[~scores.is_scored] == np.inf).all()
        assert len(scores.forest) == len(forest)
    assert evaluator.counts.executed == budget
    assert evaluator.is_exhausted
    assert evaluator.remaining == 0
    if budget:
        known = evaluator.explored.forest
        assert evaluator.score(known).is_scored.all()


def test_constants_are_fitted() -> None:
    evaluator = Evaluator(FEYNMAN, X2, Y2, constants=THOROUGH)
    scores = evaluator.score(forest_of(FEYNMAN, "c*x0/(x1 + c)", "x0/x1"))
    assert scores.errors[0] < 1e-9
    np.testing.assert_allclose(scores.forest[0].constants, (3.0, 2.0), rtol=1e-6)
    assert scores.forest[1].constants == ()


def test_constants_with_values_are_taken_as_they_are() -> None:
    evaluator = Evaluator(FEYNMAN, X2, Y2)
    free, given = parse("c*x0", FEYNMAN), parse("c*x0", FEYNMAN).with_constants((1.0,))
    scores = evaluator.score(Forest.from_exprs([free, given]))
    assert scores.forest[1].constants == (1.0,)
    assert scores.errors[0] < scores.errors[1]
    assert evaluator.counts.executed == 2


def test_the_simpler_writing_wins() -> None:
    evaluator = Evaluator(FEYNMAN, X2, Y2)
    long = evaluator.score(forest_of(FEYNMAN, "c*c*x0/c"))
    short = evaluator.score(forest_of(FEYNMAN, "c*x0"))
    assert (short.complexities[0], long.complexities[0]) == (3, 7)
    assert evaluator.counts.executed == 1
    assert evaluator.counts.again == 1
    later = evaluator.score(forest_of(FEYNMAN, "c*c*x0/c"))
    assert later.complexities[0] == 3
    plain = Evaluator(NGUYEN, X, Y)
    plain.score(forest_of(NGUYEN, "x0 + x0*x0"))
    scores = plain.score(forest_of(NGUYEN, "x0 + x0^2"))
    assert str(scores.forest[0]) == "x0 + x0^2"
    assert scores.complexities[0] == 4


def test_a_bound_changes_no_error_below_it() -> None:
    forest = nguyen_forest(400)
    full = Evaluator(NGUYEN, X, Y).score(forest).errors
    bound = float(np.median(full[np.isfinite(full)]))
    evaluator = Evaluator(NGUYEN, X, Y)
    cut = evaluator.score(forest, bound=bound).errors
    np.testing.assert_array_equal(cut, np.where(full <= bound, full, np.inf))
    assert evaluator.counts.bounded > 0
    before = evaluator.counts
    np.testing.assert_array_equal(evaluator.score(forest).errors, full)  # executed again, not counted as new
    assert evaluator.counts.executed == before.executed
    assert evaluator.counts.again > 0


def test_a_loss_of_the_users() -> None:
    def asymmetric(y: NDArray[Any], y_hat: NDArray[Any], weights: NDArray[Any] | None) -> float:
        return float(np.maximum(3 * (y - y_hat), y_hat - y).mean())

    scores = Evaluator(NGUYEN, X, Y, loss=asymmetric).score(forest_of(NGUYEN, "x0", "log(x0 - x0)", "x0^2 + sin(x0)"))
    assert scores.errors[1] == np.inf
    assert scores.errors[2] < 1e-12
    assert scores.errors[0] == pytest.approx(asymmetric(Y, X[:, 0], None))


def test_weights_count() -> None:
    weights = (X[:, 0] < 1).astype(float)
    scores = Evaluator(NGUYEN, X, Y, weights=weights).score(forest_of(NGUYEN, "x0"))
    expected = np.sqrt(np.mean((X[weights > 0, 0] - Y[weights > 0]) ** 2))
    assert scores.errors[0] == pytest.approx(expected)


def test_data_is_taken_as_it_is() -> None:
    data = read_data({"b": X2[:, 1], "x1": X2[:, 1], "x0": X2[:, 0]}, Y2, sigma=np.linspace(1, 2, len(Y2)))
    evaluator = Evaluator(FEYNMAN, data)
    assert evaluator.data.names == ("x0", "x1")
    again = Evaluator(FEYNMAN, X2, Y2, sigma=data.sigma)
    forest = forest_of(FEYNMAN, "x0/x1", "c*x0")
    assert evaluator.score(forest).errors.tolist() == again.score(forest).errors.tolist()
    own = read_data(X2, Y2, names=FEYNMAN.variables)
    for array in (own.columns, own.y):
        array.flags.writeable = False  # as scikit-learn's memory maps are
    copied = Evaluator(FEYNMAN, own).data
    assert not np.shares_memory(copied.columns, own.columns)
    assert copied.y.flags.writeable
    assert (copied.y.tolist(), copied.resolution) == (own.y.tolist(), own.resolution)
    whole = Data(own.columns, np.arange(len(Y2)), None, own.names)  # type: ignore[arg-type]
    assert Evaluator(FEYNMAN, whole).score(forest).is_scored.all()
    with pytest.raises(EdhieError, match="a Data has its own y, weights, sigma and resolution; give the Data alone"):
        Evaluator(FEYNMAN, own, Y2)
    with pytest.raises(DataError, match="the data has no variable 'x0', only: a, b"):
        Evaluator(FEYNMAN, read_data(X2, Y2, names=["a", "b"]))
    with pytest.raises(DataError, match="so there is nothing to explain"):
        Evaluator(FEYNMAN, read_data(X2, 0 * Y2, names=FEYNMAN.variables, allow_constant_target=True))


def test_complexity_by_symbol() -> None:
    evaluator = Evaluator(NGUYEN, X, Y, complexity={"sin": 3, "x0": 2})
    assert evaluator.score(forest_of(NGUYEN, "sin(x0) + x0")).complexities[0] == 8
    with pytest.raises(SymbolError):
        Evaluator(NGUYEN, X, Y, complexity={"sinn": 3})


def test_memory_is_bounded_and_keeps_the_best() -> None:
    evaluator = Evaluator(NGUYEN, X, Y)
    evaluator.explored.capacity = 200
    unlimited = Evaluator(NGUYEN, X, Y)
    for seed in range(12):
        forest = nguyen_forest(150, seed)
        scores, reference = evaluator.score(forest), unlimited.score(forest)
        np.testing.assert_array_equal(scores.errors, reference.errors)
        assert len(evaluator.explored) <= 200
    explored = evaluator.explored
    assert explored.n_seen > len(explored)
    assert explored.errors.min() == unlimited.explored.errors.min()
    assert len(explored.forest) == len(explored.errors) == len(explored.complexities)
    assert (np.diff(explored.ages) > 0).all()


def test_all_that_was_explored_can_be_listed() -> None:
    evaluator = Evaluator(FEYNMAN, X2, Y2)
    forest = load("feynman-2").sample(300, np.random.default_rng(0), max_height=5)
    scores = evaluator.score(forest)
    explored = evaluator.explored
    listed = {str(expr): error for expr, error in zip(explored.forest, explored.errors, strict=True)}
    for expr, error in zip(scores.forest, scores.errors, strict=True):
        assert listed[str(expr)] == error


@pytest.mark.parametrize("threads", [2, None])
def test_threads_change_nothing(threads: int | None) -> None:
    forest = load("feynman-2").sample(300, np.random.default_rng(0), max_height=5)
    one = Evaluator(FEYNMAN, X2, Y2).score(forest)
    with using_threads(threads):
        many = Evaluator(FEYNMAN, X2, Y2).score(forest)
    np.testing.assert_array_equal(one.errors, many.errors)
    np.testing.assert_array_equal(one.forest.values, many.forest.values)


def test_operators_of_the_users() -> None:
    bump = operator("bump", 1, numpy=lambda a: np.exp(-np.square(a)))
    library = SymbolLibrary.of(["+", "*", bump], ["x0"], constant=True)
    y = 2.0 * np.exp(-(X[:, 0] ** 2))
    evaluator = Evaluator(library, X, y, constants=THOROUGH)
    scores = evaluator.score(forest_of(library, "c*bump(x0)", "bump(x0)", "x0"))
    assert scores.errors[0] < 1e-8
    assert scores.forest[0].constants[0] == pytest.approx(2.0)


def test_one_row_and_an_empty_forest() -> None:
    evaluator = Evaluator(NGUYEN, [[2.0]], [4.0], allow_constant_target=True)
    assert len(evaluator.score(Forest.from_exprs([], NGUYEN))) == 0
    assert evaluator.score(forest_of(NGUYEN, "x0^2")).errors[0] == 0


def test_what_is_wrong_is_told() -> None:
    with pytest.raises(DataError, match="row 1"):
        Evaluator(NGUYEN, [[1.0], [np.nan]], [1.0, 2.0])
    with pytest.raises(EdhieError, match="budget"):
        Evaluator(NGUYEN, X, Y, budget=-1)
    with pytest.raises(EdhieError, match="budget must be a whole number"):
        Evaluator(NGUYEN, X, Y, budget=1.5)  # type: ignore[arg-type]
    with pytest.raises(ExpressionError, match="another library"):
        Evaluator(NGUYEN, X, Y).score(Forest.from_exprs([Expr(FEYNMAN, ("x0",))]))


# -- writings of one form --------------------------------------------------------------

AROUND_0 = np.linspace(0.0, 3.0, 31)[:, np.newaxis]


def error_of(expr: Expr) -> float:
    found = squared_errors(Forest.from_exprs([expr]), read_data(AROUND_0, AROUND_0[:, 0]))
    return float(np.sqrt(found[0] / len(AROUND_0)))


@pytest.mark.parametrize("bound", [math.inf, 0.5])
@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    "texts", [("x0^2/x0", "x0"), ("x0 + x0 - x0", "x0^2/x0"), ("x0^2/x0", "x0*x0/x0", "x0 + x0 - x0")]
)
def test_a_writing_that_is_undefined_does_not_speak_for_the_others(
    texts: tuple[str, ...], at_once: bool, bound: float
) -> None:
    evaluator = Evaluator(NGUYEN, AROUND_0, AROUND_0[:, 0])
    forests = [forest_of(NGUYEN, *texts)] if at_once else [forest_of(NGUYEN, text) for text in texts]
    for forest in forests:
        scores = evaluator.score(forest, bound=bound)
    assert scores.errors[-1] == 0
    assert evaluator.counts.executed == 1
    again = evaluator.counts.again
    found = evaluator.score(forest_of(NGUYEN, *texts), bound=bound)
    assert (found.errors == 0).all()
    assert all(error_of(expr) == 0 for expr in found.forest)
    assert evaluator.counts.again == again  # nothing is tried twice


def test_every_error_is_that_of_the_expression_beside_it() -> None:
    x = np.linspace(-1, 1, 101)[:, np.newaxis]
    evaluator = Evaluator(NGUYEN, x, x[:, 0] ** 3)
    evaluator.explored.capacity = 100
    for seed in range(4):
        forest = nguyen_forest(200, seed)
        scores = evaluator.score(forest)
        np.testing.assert_array_equal(scores.errors, np.sqrt(squared_errors(scores.forest, evaluator.data) / 101))
        own = np.sqrt(squared_errors(forest, evaluator.data) / 101)
        assert (scores.errors <= own * (1 + 1e-9) + 1e-12).all()


# -- constants -------------------------------------------------------------------------


def test_given_constants_stay() -> None:
    forest = Forest.from_exprs(
        [
            Expr(FEYNMAN, ("+", "*", "c", "x0", "c"), (2.0, None)),
            parse("c*x1", FEYNMAN).with_constants((1.5,)),
        ]
    )
    scores = Evaluator(FEYNMAN, X2, 3 * X2[:, 0]).score(forest)
    first, second = scores.forest[0].constants, scores.forest[1].constants
    assert first == (2.0, pytest.approx(np.mean(X2[:, 0])))
    assert second == (1.5,)


def test_few_rows_count() -> None:
    x = RNG.uniform(1, 3, (5000, 2))
    weights = np.zeros(5000)
    weights[[5, 77, 900]] = 1.0
    evaluator = Evaluator(FEYNMAN, x, 3 * x[:, 0] + np.exp(x[:, 1]), weights=weights)
    few = Evaluator(FEYNMAN, x[weights > 0], evaluator.data.y[weights > 0])
    forest = forest_of(FEYNMAN, "c*x0")
    assert evaluator.score(forest).errors[0] == pytest.approx(few.score(forest).errors[0])


# -- memory, copies --------------------------------------------------------------------


def test_the_best_is_never_forgotten() -> None:
    evaluator = Evaluator(NGUYEN, X, X[:, 0])
    evaluator.explored.capacity = 5
    nested = ["sin(" * depth + "x0" + ")" * depth for depth in range(30)]
    assert evaluator.score(forest_of(NGUYEN, *nested)).errors[0] == 0
    assert evaluator.explored.errors.min() == 0
    assert len(evaluator.explored) == 5


def test_writings_beyond_the_budget_do_not_fill_the_memory() -> None:
    evaluator = Evaluator(NGUYEN, X, Y, budget=1)
    evaluator.explored.capacity = 5
    for depth in range(60):
        evaluator.score(forest_of(NGUYEN, "sin(" * depth + "x0" + ")" * depth))
    assert len(evaluator._known.writings) <= 20
    assert evaluator.score(forest_of(NGUYEN, "x0")).is_scored[0]


def mean_cubed(y: NDArray[Any], y_hat: NDArray[Any], weights: NDArray[Any] | None) -> float:
    return float(np.mean(np.abs(y - y_hat) ** 3))


@pytest.mark.parametrize("loss", [*LOSSES, mean_cubed])
@pytest.mark.parametrize("copied", [lambda one: pickle.loads(pickle.dumps(one)), copy.deepcopy])
def test_an_evaluator_can_be_copied(loss: Any, copied: Any) -> None:
    first = Evaluator(NGUYEN, X, Y, loss=loss)
    errors = first.score(nguyen_forest(20)).errors
    second = copied(first)
    np.testing.assert_array_equal(second.score(nguyen_forest(20)).errors, errors)
    assert second.counts.executed == first.counts.executed
    second.score(nguyen_forest(20, seed=1))
    assert first.counts.asked == 20


def test_a_failing_loss_leaves_nothing_behind() -> None:
    failures = iter([True, False])

    def moody(y: NDArray[Any], y_hat: NDArray[Any], weights: NDArray[Any] | None) -> float:
        if next(failures, False):
            raise KeyboardInterrupt
        return 1.0

    evaluator = Evaluator(NGUYEN, X, Y, loss=moody, budget=1)
    with pytest.raises(KeyboardInterrupt):
        evaluator.score(forest_of(NGUYEN, "x0"))
    assert evaluator.counts.executed == len(evaluator.explored) == 0
    assert evaluator.score(forest_of(NGUYEN, "x0")).errors[0] == 1.0


def test_a_bound_is_a_number() -> None:
    with pytest.raises(EdhieError, match="bound is NaN"):
        Evaluator(NGUYEN, X, Y).score(forest_of(NGUYEN, "x0"), bound=math.nan)


def test_under_bounds_constants_do_not_merge() -> None:
    bounds = FitConfig(lower=0.5, upper=2.0)
    texts = ("c*x0", "c*c*x0")
    apart = [
        Evaluator(FEYNMAN, X2, 4 * X2[:, 0], constants=bounds).score(forest_of(FEYNMAN, t)).errors[0] for t in texts
    ]
    for order in (texts, texts[::-1]):
        evaluator = Evaluator(FEYNMAN, X2, 4 * X2[:, 0], constants=bounds)
        found = dict(zip(order, evaluator.score(forest_of(FEYNMAN, *order)).errors, strict=True))
        assert [found[text] for text in texts] == apart


def test_what_is_no_forest_and_no_setting_is_told() -> None:
    with pytest.raises(ExpressionError, match="takes a Forest, not list"):
        Evaluator(NGUYEN, X, Y).score([parse("x0", NGUYEN)])  # type: ignore[arg-type]
    with pytest.raises(EdhieError, match="constants is a FitConfig, not None"):
        Evaluator(NGUYEN, X, Y, constants=None)  # type: ignore[arg-type]


# -- what rounding leaves, and what was seen ------------------------------------------


@pytest.mark.parametrize("loss", [*LOSSES, "r2"])
@pytest.mark.parametrize("value", [2.5, 0.0, -1e100])
def test_what_is_negligible_of_a_constant_target_is_finite(loss: str, value: float) -> None:
    evaluator = Evaluator(NGUYEN, X, np.full(300, value), loss=loss, allow_constant_target=True)
    assert 0 <= evaluator.negligible < math.inf
    if loss in ("r2", "nrmse", "nmse"):  # whose unit, the target's own spread, is 0
        assert evaluator.negligible == 0


def test_rounding_is_negligible() -> None:
    assert 0 < Evaluator(NGUYEN, X, Y).negligible < 1e-10
    assert Evaluator(NGUYEN, X, Y, loss="nrmse").negligible == pytest.approx(1e-12)


def test_what_was_seen_is_not_new_again() -> None:
    evaluator = Evaluator(NGUYEN, X, Y)
    evaluator.score(forest_of(NGUYEN, "sin(x0)"))
    before = evaluator.state()
    shown = forest_of(NGUYEN, "x0", "sin(x0)", "x0 + x0^2")
    assert list(map(str, evaluator.unseen(shown))) == ["x0", "x0 + x0^2"]
    assert len(evaluator.unseen(shown)) == 0
    assert list(map(str, evaluator.unseen(forest_of(NGUYEN, "x0^2 + x0")))) == ["x0^2 + x0"]  # another writing
    kept = Evaluator(NGUYEN, X, Y)
    kept.restore(evaluator.state())
    assert len(kept.unseen(shown)) == 0
    assert evaluator.counts.executed == len(evaluator.standing) == 1  # nothing was scored by it
    assert evaluator.score(shown).is_scored.all()
    assert evaluator.counts.executed == 3
    evaluator.restore(before)
    assert len(evaluator.unseen(shown)) == 2
