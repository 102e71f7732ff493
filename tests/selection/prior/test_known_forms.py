"""Known forms: the same however they are written and whatever the variables are called, and rarer for unknown ones."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.expr import Forest, parse
from edhie.expr.standard_libraries import everything
from edhie.selection.prior.known_forms import KnownForms, by_frequency, curves, with_variable
from edhie.selection.prior.structure_prior import StructurePrior

KNOWN = KnownForms.shipped()


def bits(*texts: str, variables: tuple[str, ...] = ("x", "z")) -> list[float]:
    library = everything(variables)
    return KNOWN.bits(Forest.from_exprs([parse(text, library) for text in texts], library)).tolist()


@pytest.mark.parametrize("name", curves())
def test_every_curve_is_known_in_every_writing(name: str) -> None:
    texts = [with_variable(way, "x") for way in curves()[name]]
    assert np.isfinite(bits(*texts)).all()
    if name not in by_frequency()["rare"]:
        assert np.isfinite(bits(*(f"z*({text})" for text in texts))).all()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("c*exp(c*x)", "exp(x*c)*c"),
        ("c*x + c", "c - z*c"),
        ("c*x*z", "c*z*x"),
        ("c*x^3.5", "c*x^c"),  # the number is the value of a constant of the form
        ("c*x/(c + x)", "c*z/(z - c)"),
        ("c*x^c", "c/x^c"),
        ("c*exp(c*x) + c", "c/exp(c*z) - c"),
    ],
)
def test_a_form_is_one_however_it_is_written(one: str, other: str) -> None:
    first, second = bits(one, other)
    assert first == pytest.approx(second)
    assert np.isfinite(first)


def test_what_nobody_writes_is_not_known() -> None:
    assert np.isinf(bits("tan(exp(tan(x)))", "c*x/(x + c)^1.7 + z", "log(x)*x")).all()


def test_values_of_constants_do_not_matter() -> None:
    library = everything(("x",))
    forest = Forest.from_exprs([parse("c*exp(c*x)", library).with_constants([1.0, -2.5])], library)
    assert KNOWN.bits(forest)[0] == bits("c*exp(c*x)", variables=("x",))[0]


def test_more_columns_to_choose_from_cost_more() -> None:
    few, many = bits("c*x + c", variables=("x",)), bits("c*x + c", variables=("x", "z", "t"))
    assert many[0] == pytest.approx(few[0] + 2 * np.log2(3))  # how many are in it, and which one


def test_probabilities_of_forms_of_one_column_do_not_exceed_their_share() -> None:
    library = everything(("x0",))
    forest = Forest.from_exprs([parse(f, library) for f in KNOWN.counts if "x1" not in f and "x0" in f], library)
    assert np.exp2(-KNOWN.bits(forest)).sum() <= 0.5


def test_a_growth_curve_costs_less_than_its_operators() -> None:
    library = everything(("x",))
    forest = Forest.from_exprs([parse("c*exp(c*exp(c*x))", library)], library)
    assert KNOWN.bits(forest)[0] < StructurePrior.shipped().bits(forest)[0]


def test_powers_in_a_divisor_are_powers_of_a_product() -> None:
    first, *others = bits("c*x^c*z^c", "c/(x^c*z^c)", "c/x^c/z^c", "c*x^c/z^c")
    assert np.isfinite(first)
    assert others == pytest.approx([first] * 3)
