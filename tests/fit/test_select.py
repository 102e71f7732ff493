"""The equations that are shown of what a search has found: fitted under a noise model, one of them chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from classics import Classic, gross_errors
from edhie.errors import SearchError
from edhie.evaluate import Data, fit_constants, read_data
from edhie.evaluate.losses import LOSSES
from edhie.evaluate.values import values
from edhie.expr import Forest, SymbolLibrary
from edhie.fit import Discovery, Problem, Settings, discover
from edhie.fit.discover import criterion_of
from edhie.fit.field import Field, formulas_of
from edhie.fit.select import _merged
from edhie.generators import load
from edhie.results import Candidates, Front, History, SearchCounts, SearchResult
from edhie.selection.choice import FROM_HERE
from edhie.selection.refitting import refitted
from edhie.selection.rules import most_predictive
from mosaics import forest_of

LIBRARY = SymbolLibrary.of(["+", "-", "*", "/", "^", "^2", "sqrt", "exp", "log", "sin", "cos"], ["x"], constant=True)
FAR = ("c*x + c/x + c*x^2", (-1e9, 1e9, 1.0))  # constants that far out have been tried
TEXTS = ("c", "c*x", "c*x + c", "c*sqrt(x) + c*x", "c*exp(c*x)", "c*x^c")


def data_of(classic: Classic) -> Data:
    return read_data(classic.X, classic.y, names=["x"])


def found(data: Data, *texts: str, loss: str = "rmse", **options: Any) -> Discovery:
    """A discovery of these expressions, with constants by least squares."""
    far = forest_of(LIBRARY, FAR[0])
    forest = Forest.concatenate(
        [
            fit_constants(forest_of(LIBRARY, *texts), data).forest,
            Forest(LIBRARY, far.tokens, far.offsets, np.array(FAR[1])),
        ]
    )
    of_values = LOSSES[loss].of_values
    errors = np.array([of_values(data.y, row, data.weights) for row in values(forest, data.columns)])
    candidates = Candidates(forest, errors, forest.sizes.astype(float), np.arange(len(forest)))
    history = History().extended(np.array([1]), errors[:1], screened=0, seconds=0.0)
    result = SearchResult(Front.of(candidates), candidates, SearchCounts(), history, 1.0, "finished", 0, "mosaic")
    given = {name: options.pop(name) for name in ("criterion", "guesses") if name in options}
    return Discovery.of(result, Problem.of(data), Settings(loss=loss, **options), **given)


# -- gross errors ---------------------------------------------------------------------


def test_under_the_robust_loss_constants_are_at_the_optimum_of_student_s_distribution() -> None:
    data = data_of(gross_errors())
    for selection in ("mdl", "accuracy"):
        each = next(
            each
            for each in found(data, *TEXTS, loss="student", selection=selection).equations
            if set(each.expr.tokens) == {"+", "*", "c", "x", "sqrt"}
        )
        of_values = LOSSES["student"].of_values
        for k, constant in enumerate(each.expr.constants):
            for factor in (0.999, 1.001):
                moved = list(each.expr.constants)
                moved[k] = (constant or 0.0) * factor
                row = values(Forest.from_exprs([each.expr.with_constants(moved)]), data.columns)[0]
                assert of_values(data.y, row, None) > each.loss


def test_gross_errors_do_not_hide_the_law_under_the_robust_loss() -> None:
    classic = gross_errors()
    settings = Settings(max_time=None, max_evaluations=1000, loss="student")
    best = discover(data_of(classic), settings).best
    assert best.noise == "student"
    np.testing.assert_allclose(best.predict(classic.X.T), classic.clean, atol=0.1)
    assert best.complexity <= 9


# -- how sure it is -------------------------------------------------------------------

X = np.linspace(1, 5, 40)
NOISE = np.random.default_rng(0).normal(size=40)
LINE = read_data(X, 3.21 * X + 1.23 + 0.8 * NOISE, names=["x"])


def test_weights_are_shares_and_told_in_per_cent() -> None:
    equations = found(LINE, *TEXTS).equations
    weights = [each.weight or 0.0 for each in equations]
    assert 0.9 < sum(weights) <= 1 + 1e-9
    assert max(weights) == found(LINE, *TEXTS).best.weight
    told = [replace(equations[0], weight=weight).confidence for weight in (None, 0.001, 0.624, 0.999)]
    assert told == ["", "<1 %", "62 %", ">99 %"]


@pytest.mark.parametrize(
    ("y", "notes"),
    [
        (3.21 * X + 0.3 * NOISE, []),
        (np.exp(X) * (1 + 0.05 * NOISE), ["constants are fitted for noise proportional to the prediction"]),
        (NOISE, ["the columns do not explain y: no equation describes it better than a constant"]),
    ],
)
def test_what_has_to_be_known_is_told(y: np.ndarray, notes: list[str]) -> None:
    made = found(read_data(X, y, names=["x"]), *TEXTS)
    assert list(made.notes) == notes
    assert made.explains_nothing == made.as_json()["explains_nothing"] == ("explain" in "".join(notes))


def test_a_note_says_how_many_equations_describe_the_rows_as_well() -> None:
    made = found(LINE, *TEXTS)
    shares = [0.0, 0.3, 0.25, *([0.0] * (len(made.equations) - 3))]
    equations = tuple(replace(each, weight=share) for each, share in zip(made.equations, shares, strict=True))
    assert (
        "2 equations describe the rows about as well; see their weights"
        in replace(made, equations=equations, chosen=1).notes
    )


def test_deviations_include_the_doubt_between_equations() -> None:
    made = found(LINE, *TEXTS)
    columns = np.array([[0.1, 2.0, 40.0]])
    deviations = made.standard_deviations(columns)
    weights = [each.weight or 0.0 for each in made.equations]
    others = np.stack([each.predict(columns) - made.best.predict(columns) for each in made.equations])
    own = np.stack([each.standard_deviations(columns) for each in made.equations])
    np.testing.assert_allclose(deviations, np.sqrt(np.average(others**2 + own**2, axis=0, weights=weights)))
    assert (deviations >= made.best.standard_deviations(columns)).all()
    assert deviations[2] > 1.2 * made.best.standard_deviations(columns)[2]  # far out equations differ more
    with pytest.raises(SearchError, match="no weights to compare them by; choose with selection mdl"):
        found(LINE, *TEXTS, selection="best").standard_deviations(columns)


# -- accuracy -------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["rmse", "nrmse", "student"])
def test_accuracy_chooses_among_the_equations_of_mdl_by_cross_validation(loss: str) -> None:
    made, usual = (found(LINE, *TEXTS, loss=loss, selection=selection) for selection in ("accuracy", "mdl"))
    assert [each.expr for each in made.equations] == [each.expr for each in usual.equations]
    assert [each.weight for each in made.equations] == [each.weight for each in usual.equations]
    model = made.best.model
    assert model is not None
    forest, sizes = (
        Forest.from_exprs([each.expr for each in made.equations]),
        [each.complexity for each in made.equations],
    )

    def refit(forest: Forest, data: Data) -> Forest:
        return refitted(forest, data, model, FROM_HERE)

    assert made.index == most_predictive(forest, np.array(sizes), made.train, LOSSES[loss], refit=refit)


def test_accuracy_compares_equations_with_and_without_plain_numbers() -> None:
    made = found(read_data(X, X + 0.2 * NOISE, names=["x"]), *TEXTS, "c*x + c*x^2", selection="accuracy")
    assert {bool(each.expr.constants) for each in made.equations} == {True, False}
    assert made.best.r2 > 0.5


def test_accuracy_without_fits_of_constants_compares_the_losses() -> None:
    made = found(LINE, *TEXTS, selection="accuracy", loss="mae")
    forest, sizes = (
        Forest.from_exprs([each.expr for each in made.equations]),
        [each.complexity for each in made.equations],
    )
    assert made.index == most_predictive(forest, np.array(sizes), made.train, LOSSES["mae"])
    assert made.best.loss < 1.2 * min(each.loss for each in made.equations)


def test_accuracy_follows_held_out_rows() -> None:
    result = found(LINE, *TEXTS).result
    x = LINE.columns[0]
    later = read_data(x, 2.0 * np.sqrt(x), names=["x"])
    made = Discovery.of(result, Problem.of(LINE, validation=later), Settings(selection="accuracy"))
    assert made.best.r2_validation == max(each.r2_validation or -np.inf for each in made.equations)


# -- the user's field -----------------------------------------------------------------

LOGARITHMS = ["a*log(x) + b", "a + b*log(k*x)", "a*log(1 + k*x)", "a - b*log(x)", "log(x/a)/b"]
ROOTS = ["a*sqrt(x) + b", "a + b*sqrt(k*x)", "a*sqrt(1 + k*x)", "a - b*sqrt(x)", "sqrt(x/a)/b"]


def test_formulas_of_the_field_decide_between_equations_that_are_equally_good() -> None:
    model = load("general-1")
    x = np.repeat([1.0, 2.0], 15)  # with two values, any two constants fit the same
    data = read_data(x, np.where(x == 1, 1.37, 2.3) + 0.2 * NOISE[:30], names=["x"])
    for corpus, function in ((LOGARITHMS, "log"), (ROOTS, "sqrt")):
        field = Field(model, formulas_of(corpus, model.library, ["x"]))
        criterion = criterion_of(Settings(corpus=corpus), field, LIBRARY)
        best = found(data, "c*log(x) + c", "c*sqrt(x) + c", criterion=criterion).best
        assert function in best.expr.tokens
        assert best.loss == pytest.approx(np.sqrt(np.mean([data.y[x == each].var() for each in (1, 2)])))


def test_a_form_found_twice_weighs_as_much_as_its_shortest() -> None:
    rng = np.random.default_rng(3)
    x = rng.uniform(1.0, 5.0, 30)
    shown = found(
        read_data(x[:, np.newaxis], 2.0 * x + 1.0 + 0.1 * rng.standard_normal(30), names=["x"]), *TEXTS
    ).equations
    weights = [(shown[0], 0.5), (shown[0], 0.3), (shown[1], 0.2)]
    likely = [replace(each, weight=weight) for each, weight in weights]
    merged = _merged(likely)
    assert [each.expr for each in merged] == [shown[0].expr, shown[1].expr]
    assert np.allclose([each.weight for each in merged], [0.5 / 0.7, 0.2 / 0.7])
