from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate import CHEAP, FitConfig, values
from edhie.evaluate.data import Data
from edhie.expr import Forest, SymbolLibrary, parse
from edhie.form import Form
from edhie.search.forms.fitting import Fitting

LIBRARY = SymbolLibrary.of(["+", "-", "*", "/", "exp", "tanh"], 2, constant=True, numbers=True)
COLUMNS = np.random.default_rng(0).uniform(-2, 2, (2, 120))


def fitting(template: Form, y: np.ndarray, bounds: FitConfig = CHEAP) -> Fitting:
    return Fitting(template, Data(COLUMNS, y, None, ("x0", "x1")), bounds)


def whole(template: Form, *contents: str) -> Forest:
    return template.filled([Forest.from_exprs([parse(each, LIBRARY)], LIBRARY) for each in contents])


@pytest.mark.parametrize("is_anew", [False, True])
def test_constants_of_a_part_are_the_same_in_all_its_calls(is_anew: bool) -> None:
    template = Form.parse("f(x0) + c*f(x1) + k()*x1 - k()*2", LIBRARY)
    y = np.tanh(1.2 * COLUMNS[0]) + 0.5 * np.tanh(1.2 * COLUMNS[1]) + 0.8 * COLUMNS[1] - 1.6
    forest = whole(template, "tanh(c*x0)", "c")
    start = Forest(LIBRARY, forest.tokens, forest.offsets, np.where(np.isnan(forest.values), 1.0, forest.values))
    fit = fitting(template, y)
    found = fit.anew(forest, np.random.default_rng(0)) if is_anew else fit.from_here(start)
    parts = template.parts(found[0])  # raises where they are not the same
    assert parts["f"].constants == pytest.approx((1.2,), rel=1e-6)
    assert parts["k"].constants == pytest.approx((0.8,), rel=1e-6)
    np.testing.assert_allclose(values(found, COLUMNS)[0], y, atol=1e-7)


def test_numbers_are_kept_and_constants_keep_to_their_bounds() -> None:
    for text in ("2*f(x0) + g(x1)", "2*f(x0) + f(x1)"):
        template = Form.parse(text, LIBRARY)
        forest = whole(template, *["c*x0", "c*x1"][: len(template.names)])
        y = 5.0 * COLUMNS[0] + COLUMNS[1]
        for made in (
            fitting(template, y, FitConfig(lower=0.1, upper=0.7)).anew(forest, np.random.default_rng(0)),
            fitting(template, y, FitConfig(lower=0.1, upper=0.7)).from_here(
                Forest(LIBRARY, forest.tokens, forest.offsets, np.where(np.isnan(forest.values), 3.0, forest.values))
            ),
        ):
            assert made[0].tokens.count("2") == 1
            assert all(0.1 <= value <= 0.7 for value in made[0].constants if value is not None)
            assert None not in made[0].constants


def test_nothing_to_fit() -> None:
    template = Form.parse("f(x0) + f(x1)", LIBRARY)
    forest = whole(template, "exp(x0)")
    fit = fitting(template, COLUMNS[0])
    for made in (fit.from_here(forest), fit.anew(forest, np.random.default_rng(0)), fit.from_here(forest.take([]))):
        assert made.to_exprs() == forest.to_exprs()[: len(made)]
