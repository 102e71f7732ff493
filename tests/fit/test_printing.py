"""What is printed, predicted and exported is one function: over many fits, good and bad.

`pytest --hypothesis-profile=thorough` tries some thousands instead of some hundreds.
"""

from __future__ import annotations

import math

import numpy as np
from hypothesis import settings

from edhie.evaluate import Data, read_data, values
from edhie.evaluate.values import squared_errors
from edhie.expr import Expr, Forest, parse
from edhie.expr.exports import export
from edhie.finish import Finisher
from edhie.fit import Equation
from edhie.results import Candidate
from fits import WRITTEN, fits

THOROUGH = settings().max_examples > 100
COUNT = 6000 if THOROUGH else 250


def squares(expr: Expr, data: Data) -> float:
    return float(squared_errors(Forest.from_exprs([expr]), data)[0])


def equation(expr: Expr, data: Data) -> Equation:
    expr = Finisher(data, model=None)(expr)
    loss = math.sqrt(squares(expr, data) / data.n_rows)
    return Equation("y", Candidate(expr, loss, expr.size, 0), data)


def has_loss(text: Expr, of: Equation) -> bool:
    """Whether the loss of what was printed is the one that stands beside it, to 1 %."""
    return math.isclose(math.sqrt(squares(text, of.train) / of.train.n_rows), of.loss, rel_tol=0.01)


def test_law_the_printed_equation_has_the_loss_beside_it() -> None:
    for expr, data in fits(COUNT, seed=10):
        each = equation(expr, data)
        for digits in ("needed", None):
            right_side = each.text(digits).removeprefix("y = ")
            assert has_loss(parse(right_side, WRITTEN), each), right_side
        assert len(each.right_side()) <= len(each.right_side(None))


def test_the_reciprocal_is_printed_where_it_is_shorter() -> None:
    data = read_data({"x": [1.0, 2.0, 3.0, 5.0], "t": [3.0, 1.0, 2.0, 7.0]}, [2.01, 4.02, 6.03, 10.05])
    for text, value, shown in (("x/c", 1 / 2.01, "2.01*x"), ("c*x", 2.01, "2.01*x"), ("x/c", 1 / 3.7 / 2, "7.4*x")):
        expr = parse(text, variables=["x", "t"]).with_constants([value])
        assert equation(expr, data).right_side() == shown


def test_law_printed_latex_has_the_loss_beside_it() -> None:
    from edhie.expr.latex_reader import from_latex

    for expr, data in fits(COUNT // 25, seed=11):
        each = equation(expr, data)
        assert has_loss(from_latex(each.latex(), WRITTEN), each), each.latex()


def test_law_exports_have_all_digits() -> None:
    for expr, data in fits(COUNT // 3, seed=12):
        each = equation(expr, data)
        columns = dict(zip(data.names, data.columns, strict=True))
        expected = each.expr(**columns) * np.ones(data.n_rows)
        # what rounding alone does: in the kernels, in the form that the search has, in the last digit of constants
        shaken = [
            expr.with_constants([c * (1 + 1e-15 * sign) for c in expr.constants if c is not None]) for sign in (1, -1)
        ]
        others = [
            values(Forest.from_exprs([each.expr]), data.columns)[0],
            *(one(**columns) for one in (expr, *shaken)),
        ]
        slack = 10 * sum(np.abs(other - expected).max() for other in others)
        if not math.isfinite(slack):  # at the edge of its domain
            continue
        for language in ("numpy", "python"):
            scope: dict[str, object] = {}
            exec(export(each.expr, language), scope)
            function, used = scope["f"], [columns[name] for name in each.expr.variables]
            assert callable(function)
            with np.errstate(all="ignore"):
                by_row = language == "python" and used
                found = [function(*row) for row in zip(*used, strict=True)] if by_row else function(*used)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=slack, err_msg=str(each.expr))


def test_a_phase_of_half_a_billion_prints_as_it_predicts() -> None:
    """As found in the wild: with six digits R² was -1."""
    t = np.linspace(0, 20, 300)
    noise = 0.1 * np.random.default_rng(0).normal(size=300)
    data = read_data({"x": np.ones(300) + t, "t": t}, np.sin(1.50048 * t + 5.8683412345e8) + noise)
    found = equation(parse("sin(c*t + c)", WRITTEN).with_constants([1.50048, 5.8683412345e8]), data)
    assert found.r2 > 0.95
    assert has_loss(parse(found.right_side(), WRITTEN), found)
    assert found.right_side() == "sin(1.50048*t - 3.0029)"


def test_numbers_have_names_and_no_part_is_too_long() -> None:
    rng = np.random.default_rng(1)
    x, t = rng.uniform(1, 2, 50), rng.uniform(1, 2, 50)
    cases = {
        "c*x*sqrt(x)": ([2 * math.pi], "2*pi*x^1.5"),
        "c*x": ([1 / 3], "x/3"),
        "x^c": ([2 / 3], "x^(2/3)"),
        "c*x + c": ([-math.pi / 2, 0.25], "0.25 - pi*x/2"),
        "sqrt(x^2 + t^2 - c*x*t)": ([2.0], "sqrt((x - t)^2)"),
    }
    for text, (constants, expected) in cases.items():
        expr = parse(text, WRITTEN).with_constants(constants)
        data = read_data({"x": x, "t": t}, expr(x=x, t=t) + 0.01 * rng.normal(size=50))
        found = equation(expr, data)
        assert found.right_side() in (expected, "abs(x - t)"), found.right_side()


def test_powers_are_joined_where_variables_are_positive() -> None:
    rng = np.random.default_rng(0)
    rows = rng.uniform(1, 3, (40, 2))
    expr = parse("0.25*a*sqrt(a*m)/m", variables=["a", "m"])
    assert equation(expr, read_data(rows, rows[:, 0], names=["a", "m"])).right_side() == "0.25*a^1.5/sqrt(m)"
    assert equation(expr, read_data(-rows, rows[:, 0], names=["a", "m"])).right_side() == "0.25*a*sqrt(a*m)/m"
