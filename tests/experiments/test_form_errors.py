"""Forms: which numbers are constants, whether two are the same, and errors on rows left out."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate import Data, read_data
from edhie.expr import Expr, parse
from edhie.expr.standard_libraries import everything
from form_errors import fitted_law, folds_of, form_of, has_form, left_out_error, weighted, written_form
from runs import Numbers

X = np.linspace(0.5, 6, 40)


def data_of(y: Numbers) -> Data:
    return read_data({"x": X}, y)


def expression(text: str) -> Expr:
    return parse(text, everything(["x"]))


@pytest.mark.parametrize(
    ("law", "text", "same"),
    [
        ("c*exp(c*x) + c", "2.4*0.5^x + 1.1", True),
        ("c*exp(c*x) + c", "3*exp(-x) + 1", True),  # a constant of 1 is not written
        ("c*exp(c*x) + c", "2.4*exp(-0.8*x)", False),  # a constant of 0 is another form
        ("c*exp(c*x)", "2.4*exp(-0.8*x) + 0.1", False),
        ("c*x + c*x^2", "x + 0.3*x^2", True),
        ("c*x + c*x^2", "0.3*x^2", False),
        ("c*x^2", "0.3*x^2.1", False),
        ("c*x^c", "0.3*sqrt(x)", True),
        ("c*x/(1 + c*x) + c*x/(1 + c*x)", "3*x/(1 + 0.7*x)", False),
    ],
)
def test_a_form_is_the_law_if_it_differs_in_constants_alone(law: str, text: str, same: bool) -> None:
    rng = np.random.default_rng(0)
    free = expression(law)
    fitted = free.with_constants(rng.uniform(0.3, 2.5, len(free.constants)))
    assert has_form([expression(text)], fitted, data_of(rng.normal(size=len(X)))) == [same]


def test_numbers_of_a_form_are_constants_unless_they_belong_to_it() -> None:
    free = form_of(expression("2*x^2 + 3/(1 + x)^0.5 + x^1.7"))
    assert free.constants == (2.0, 3.0, 1.7)
    assert written_form(expression("2*x + 1.5")) == written_form(expression("0.3 + x*7"))
    assert written_form(expression("2*x + 1.5")) != written_form(expression("2*x^2 + 1.5"))


def test_a_law_is_fitted_under_the_noise_that_it_has() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(size=len(X))
    exact = 3 * np.exp(-1.1 * X)
    for y, name in ((exact + 0.02 * noise, "constant"), (exact * (1 + 0.05 * noise), "proportional")):
        law, model = fitted_law(expression("c*exp(c*x)"), data_of(y))
        assert model.name == name
        assert sorted(law.constants) == pytest.approx([-1.1, 3], rel=0.1)
        rows = weighted(data_of(y), law, model)
        assert left_out_error(law, rows) < left_out_error(expression("c + c*x").with_constants([1.0, 1.0]), rows)


def test_each_row_is_in_one_fold_of_each_repeat() -> None:
    for n_rows, repeats, folds in ((7, 1, 7), (30, 20, 5), (62, 10, 5), (400, 3, 5)):
        found = folds_of(n_rows)
        assert [len(each) for each in found] == [folds] * repeats
        assert all(sorted(np.concatenate(each)) == list(range(n_rows)) for each in found)
