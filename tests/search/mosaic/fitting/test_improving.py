"""Functions that run alike take each other's place; what is written has the values that it should have."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from edhie.expr import parse
from edhie.expr.standard_libraries import everything
from edhie.search.mosaic.fitting.improving import FUNCTIONS, alike, function_positions, with_similar_functions
from edhie.search.mosaic.writing.peaks import Shape
from mosaics import data_of, parsed, row_of, strict

LIBRARY = everything(["x0", "x1"])
COLUMNS = np.random.default_rng(0).uniform([[1.0], [3.0]], [[2.0], [6.0]], (2, 200))
DATA = data_of(COLUMNS, COLUMNS[0])


written = partial(parsed, library=LIBRARY)
values_of = partial(row_of, columns=COLUMNS)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("2*exp(0.5*exp(x0/x1))*(x0 - x1)", [("exp(0.5*exp(x0/x1))", "x0/x1")]),
        ("x0/cos(x0/x1) + 2", [("cos(x0/x1)", "x0/x1")]),
        ("sin(x0) + 3*exp(-2*x1)", [("sin(x0)", "x0"), ("exp(-2*x1)", "x1")]),
        ("x0*x1 + 3", []),
        ("x0^2 + 3/x1", []),  # powers of a variable
        ("2.5", []),
    ],
)
def test_the_largest_functions_of_one_piece_are_found(text: str, parts: list[tuple[str, str]]) -> None:
    expr = written(text)
    assert [(str(expr.subtree(position)), str(piece)) for position, piece in function_positions(expr)] == parts


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.template)
def test_a_template_with_its_constants_has_the_values_of_the_function(function: Shape) -> None:
    scale, factor = 0.11, 1.7
    template = function.template.format(c=LIBRARY.constant, x="x0")
    expr = parse(template, LIBRARY).with_constants(function.constants(factor, scale))
    expected = factor * function.values(COLUMNS[0], np.array([[scale]]))[0]
    np.testing.assert_allclose(values_of(expr), expected, rtol=1e-12)


def test_a_function_is_like_itself() -> None:
    x = np.linspace(0.1, 1.0, 50)
    function, constants = alike(x, 3.0 / np.sqrt(1 - 0.5 * x))[0]
    assert function.template == "{c}/sqrt({c} + {c}*{x})"
    np.testing.assert_allclose(constants, [3.0, 1.0, -0.5])


def test_a_root_is_tried_for_a_cosine_of_a_quotient() -> None:
    others = with_similar_functions(written("x0/cos(x0/x1)"), DATA)
    wanted = COLUMNS[0] / np.sqrt(1 - (COLUMNS[0] / COLUMNS[1]) ** 2)
    assert min(float(np.abs(values_of(each) / wanted - 1).max()) for each in others) < 0.05
    now = values_of(written("x0/cos(x0/x1)"))
    assert all(np.std(values_of(each) - now) < np.std(now) for each in others)


def test_nothing_is_tried_without_constants_or_functions() -> None:
    assert with_similar_functions(written("x0 - x1"), DATA) == []
    assert with_similar_functions(parse("sin(x0)*x1", strict()), DATA) == []


def test_functions_of_huge_values() -> None:
    x = np.linspace(1, 5, 50)
    now = 1 / (1 + x) ** 2
    assert "{c}/({c} + {x})^2" in [function.template for function, _ in alike(x, now)]
    found = alike(1e190 * x, now)  # the square of a constant of that function would be 0
    assert found
    assert all(np.isfinite(constants).all() for _, constants in found)
