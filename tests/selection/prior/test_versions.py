"""Versions of formulas: some variables become constants, and constants that can be one are one."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.corpora import formulas
from edhie.expr import Forest, parse
from edhie.expr.standard_libraries import everything
from edhie.selection.prior.versions import normal_form
from formula_versions import versions, written


def version(text: str, *kept: str) -> str:
    from edhie.expr import Expr

    expr = parse(text)
    library = everything(expr.library.variables)
    return str(Expr(library, written(normal_form(expr, frozenset(kept)), library)))


@pytest.mark.parametrize(
    ("text", "kept", "expected"),
    [
        ("G*m1*m2/r^2", "r", "c/r^2"),
        ("G*m1*m2/r^2", "m1 r", "c*m1/r^2"),
        ("V*S/(K + S)", "S", "c*S/(S + c)"),
        ("V*S/(K + S)", "S V", "S*V/(S + c)".replace("S*V", "V*S")),
        ("A*exp(-B/(R*T))", "T", "c*exp(c/T)"),
        ("a - b", "a", "a + c"),
        ("a - b", "b", "c - b"),
        ("a - b", "a b", "a - b"),
        ("a - (b - d)", "a b d", "a + d - b"),
        ("-a*b", "b", "c*b"),
        ("-a*(-b)", "a b", "a*b"),
        ("4*pi*r^2", "r", "c*r^2"),
        ("1/2*m*v^2", "m v", "m*v^2/2"),
        ("1/2*m*v^2", "v", "c*v^2"),
        ("(a*x)^2 + sqrt(b*x)", "x", "c*x^2 + c*sqrt(x)"),
        ("a*(b*x + d)", "x", "c*x + c"),
        ("a*exp(x + b)", "x", "c*exp(x)"),
        ("x/(y/z)", "x y z", "x*z/y"),
        ("0.37*x + 2*y + 1/2", "x y", "c*x + 2*y + 0.5"),
        ("sin(a + b)*x", "x", "c*x"),
    ],
)
def test_constants_are_merged(text: str, kept: str, expected: str) -> None:
    assert version(text, *kept.split()) == expected


def test_all_variables_keep_the_values_of_the_formula() -> None:
    rng = np.random.default_rng(0)
    exprs = [parse(row.text) for row in formulas().rows]
    plain = [expr for expr in exprs if not any(t in ("pi", "e") for t in expr.tokens)]
    for expr in plain:
        first = versions(Forest.from_exprs([expr]), 1)[0]
        if first.constants:
            continue  # a number has become a constant
        columns = {name: rng.uniform(0.3, 2, 5) for name in expr.variables}
        with np.errstate(all="ignore"):
            assert first(**columns) == pytest.approx(expr(**columns), nan_ok=True, rel=1e-9), expr


def test_every_version_has_a_variable_and_the_same_seed_gives_the_same() -> None:
    forest = formulas().forest[:50]
    found = versions(forest, 5, seed=3)
    assert len(found) == 250
    assert all(expr.variables for expr in found)
    assert found.to_exprs() == versions(forest, 5, seed=3).to_exprs()
    assert found.to_exprs() != versions(forest, 5, seed=4).to_exprs()
