from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate import values
from edhie.evaluate.data import Data
from edhie.expr import Forest, SymbolLibrary, parse
from edhie.search.template import Template
from edhie.search.template.position import position_of, undone

LIBRARY = SymbolLibrary.of(
    "+ - * / ^ neg inv ^2 ^3 ^4 ^5 sqrt cbrt exp log log10 abs sin cos tan asin acos atan sinh cosh tanh".split(),
    2,
    constant=True,
    numbers=True,
)
COLUMNS = np.random.default_rng(0).uniform(0.2, 0.9, (2, 50))


def data_of(y: np.ndarray, weights: np.ndarray | None = None) -> Data:
    return Data(COLUMNS, np.asarray(y, np.float64), weights, ("x0", "x1"))


def predicted(forest: Forest) -> np.ndarray:
    return values(forest, COLUMNS)[0]


@pytest.mark.parametrize(
    "text",
    [
        "f(x0)", "x1 + f(x0)", "f(x0) - x1", "x1 - f(x0)", "x1*f(x0)", "f(x0)/x1", "x1/f(x0)", "f(x0)^x1", "x1^f(x0)",
        "-f(x0)", "inv(f(x0))", "f(x0)^2", "f(x0)^3", "f(x0)^4", "f(x0)^5", "sqrt(f(x0))", "cbrt(f(x0))", "exp(f(x0))",
        "log(f(x0))", "log10(f(x0))", "abs(f(x0))", "sin(f(x0))", "cos(f(x0))", "tan(f(x0))", "asin(f(x0))",
        "acos(f(x0))", "atan(f(x0))", "sinh(f(x0))", "cosh(f(x0))", "tanh(f(x0))",
        "2*log(1 + x1*f(x0)^2)/x1 - sin(x1)",
    ],
)  # fmt: skip
def test_what_is_undone_is_what_stood_there(text: str) -> None:
    template = Template.parse(text, LIBRARY)
    y = predicted(template.filled([Forest.from_exprs([parse("x0^3 + 0.05", LIBRARY)])]))
    held = np.concatenate([COLUMNS, COLUMNS[:1]])  # something near stands there now
    found = undone(template.frame, template.hole_tokens[0], held, y)
    assert found is not None
    np.testing.assert_allclose(found, COLUMNS[0] ** 3 + 0.05, rtol=1e-6)


def test_angles_are_the_nearest() -> None:
    for text, inner in (("sin(f(x0))", 7.0), ("cos(f(x0))", -9.0), ("tan(f(x0))", 20.0)):
        template = Template.parse(text, LIBRARY)
        truth = inner + 0.3 * COLUMNS[0]
        y = values(template.frame, np.concatenate([COLUMNS, truth[np.newaxis]]))[0]
        found = undone(template.frame, template.hole_tokens[0], np.vstack([COLUMNS, truth - 0.02]), y)
        np.testing.assert_allclose(found, truth, rtol=1e-6)


@pytest.mark.parametrize(
    "text", ["f(x0)*exp(c*x1) + g(x1)", "f(x0)*x1 - f(x0)/3 + g(x1)", "f(x0) + g(x1)*f(x1)", "2 - f(x0) + g(x1)"]
)
@pytest.mark.parametrize("weights", [None, np.linspace(0.0, 2.0, 50)])
def test_an_affine_position_is_told_exactly(text: str, weights: np.ndarray | None) -> None:
    template = Template.parse(text, LIBRARY)
    f, other, g = (Forest.from_exprs([parse(each, LIBRARY)]) for each in ("sin(x0)", "exp(x0) + x0^2", "x1^3"))
    frame = template.frame
    frames = Forest(frame.library, frame.tokens, frame.offsets, np.where(np.isnan(frame.values), 0.7, frame.values))
    now, then = template.filled([f, g], frames), template.filled([other, g], frames)
    position = position_of(template, now, 0, data_of(predicted(then), weights))
    assert position is not None
    calls = [template.in_hole(hole, other) for hole in template.holes(0)]
    distinct = {str(call[0]): predicted(call) for call in calls}
    reached = sum(slope * each for slope, each in zip(position.slopes, distinct.values(), strict=True))
    np.testing.assert_allclose(reached, position.target, rtol=1e-9, atol=1e-12)


def test_inside_of_a_function_the_target_is_undone() -> None:
    template = Template.parse("log(f(x0, x1))", LIBRARY)
    f, other = (Forest.from_exprs([parse(each, LIBRARY)]) for each in ("x0 + 5", "x0^2 + 3*x1"))
    position = position_of(template, template.filled([f]), 0, data_of(predicted(template.filled([other]))))
    assert position is not None
    np.testing.assert_allclose(position.slopes[0] * predicted(other), position.target, rtol=1e-9)


def test_a_part_without_influence_has_no_position() -> None:
    template = Template.parse("0*f(x0) + x1", LIBRARY)
    whole = template.filled([Forest.from_exprs([parse("x0", LIBRARY)])])
    assert position_of(template, whole, 0, data_of(COLUMNS[1])) is None
