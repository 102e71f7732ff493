"""Right forms: exact once their constants are fitted to data without noise, and not much longer than the formula."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.expr import Forest, parse
from edhie.expr.standard_libraries import everything
from forms import right_forms, where_lost, with_free_numbers

LIBRARY = everything(["x"])
X = np.linspace(0.5, 4, 60)
Y = 2.5 * np.exp(-0.7 * X) + 1


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("2.4*exp(-0.8*x) + 1.1", True),
        ("2.4*0.5^x + 1.1", True),  # the same function, written otherwise
        ("2.4/(x + 0.8) + 0.1", False),
        ("2.4*exp(-0.8*x)", False),
        ("2.4*exp(-0.8*x) + 1.1 + 0.001*x + 0.1*x^2 + 0.01*x^3 + 0.1*x^4 + 0.1*x^5", False),  # too long
    ],
)
def test_a_form_is_judged_with_its_constants_fitted_again(text: str, right: bool) -> None:
    forest = Forest.from_exprs([parse(text, LIBRARY).numbers_to_constants()])
    assert right_forms(forest, X[None], Y, size=8).tolist() == [right]


def test_numbers_are_fitted_too_unless_whole() -> None:
    forest = Forest.from_exprs([parse("2.4*x^2 + 3", LIBRARY)])
    free = with_free_numbers(forest)[0]
    assert free.constants == (2.4,)
    assert right_forms(forest, X[None], 7.1 * X**2 + 3, size=7).tolist() == [True]
    assert right_forms(forest, X[None], 7.1 * X**2 + 4, size=7).tolist() == [False]


def test_all_numbers_but_whole_exponents_may_be_constants() -> None:
    forest = Forest.from_exprs([parse("2*x^3 + x^1.5 + 3", LIBRARY)])
    assert with_free_numbers(forest, whole=True)[0].constants == (2.0, 1.5, 3.0)


def test_where_a_form_is_lost() -> None:
    errors = np.array([1.0, 1.2, 5.0])
    none, near, far = (np.array(each, bool) for each in ([0, 0, 0], [0, 1, 0], [0, 0, 1]))
    assert where_lost(none, errors, chosen=True, shown=True) == ""
    assert where_lost(none, errors, chosen=False, shown=True) == "chosen otherwise"
    assert where_lost(near, errors, chosen=False, shown=False) == "chosen otherwise"
    assert where_lost(far, errors, chosen=False, shown=False) == "ranked low"
    assert where_lost(none, errors, chosen=False, shown=False) == "never built"
