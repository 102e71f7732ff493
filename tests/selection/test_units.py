"""Claims about units: what fitted constants absorb is free, and a change of units changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edhie.evaluate.data import Data
from edhie.evaluate.values import values
from edhie.expr import Expr, Forest, parse
from edhie.selection.description import Criterion, description_bits
from edhie.selection.units import FOLLOWS, NO_UNIT, SAME_UNIT, claim_bits, without_unit

RNG = np.random.default_rng(4)
COLUMNS = RNG.uniform(0.5, 4.0, (2, 40))
NAMES = ("x", "z")


def data_of(y: np.ndarray, columns: np.ndarray = COLUMNS, names: tuple[str, ...] = NAMES) -> Data:
    return Data(columns, y, None, names)


def expr_of(text: str, *constants: float) -> Expr:
    return parse(text, variables=list(NAMES)).with_constants(list(constants))


def claimed(text: str, *constants: float, names: tuple[str, ...] = NAMES) -> float:
    return float(claim_bits(Forest.from_exprs([expr_of(text, *constants)]), data_of(COLUMNS[0], names=names))[0])


@pytest.mark.parametrize(
    ("text", "constants"),
    [
        ("c*x", (0.7,)),
        ("c*x^c*z^c", (0.7, 0.68, -1.4)),
        ("c*exp(c*x) + c", (0.7, -0.3, 0.2)),
        ("c*x/(x + c)", (0.7, 1.3)),
        ("c + c*log(x)", (0.7, 1.3)),  # a factor of x is a term
        ("c/(1 + (x/c)^c)", (0.7, 1.3, 2.2)),
        ("exp(c + c/(x + c))", (0.7, 1.3, 2.2)),  # a factor of the target is a term of the exponent
        ("c*sin(c*x + c) + c*z", (0.7, 1.3, 2.2, 0.4)),
        ("c", (0.7,)),
    ],
)
def test_what_constants_absorb_is_no_claim(text: str, constants: tuple[float, ...]) -> None:
    assert claimed(text, *constants) == 0


@pytest.mark.parametrize(
    ("text", "constants", "bits"),
    [
        ("c*x/(x + 1)", (0.7,), NO_UNIT),  # x has none
        ("c*exp(x)", (0.7,), NO_UNIT),
        ("c*x - 1", (0.7,), NO_UNIT),  # y has none
        ("log(x)*x", (), 2 * NO_UNIT),  # neither has one
        ("x^0.68", (), NO_UNIT),  # an odd power of a unit is none
        ("x", (), SAME_UNIT),
        ("x - z", (), 2 * SAME_UNIT),
        ("c*(x - z)", (0.7,), SAME_UNIT),
        ("x*z", (), FOLLOWS),
        ("x^2", (), FOLLOWS),
        ("c*x*z/(x + z)", (12.9,), SAME_UNIT),
        ("c*x*tanh(z)/(x + z)", (12.9,), 2 * NO_UNIT),
    ],
)
def test_claims_by_kind(text: str, constants: tuple[float, ...], bits: float) -> None:
    assert claimed(text, *constants) == bits


def test_a_column_that_has_no_unit_by_its_name_claims_nothing() -> None:
    assert claimed("c*sin(x)", 0.7) == NO_UNIT
    assert claimed("c*sin(x)", 0.7, names=("theta", "z")) == 0
    assert without_unit(("theta", "Angle_deg", "log_re", "plog", "catalog")).tolist() == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert without_unit(("theta2", "logRe", "pH", "mole_fraction")).all()
    assert not without_unit(("Phil", "graph", "PhD", "pH2", "number_density", "counts/s", "theta_dot")).any()


def test_a_plain_number_absorbs_nothing() -> None:
    assert claimed("c*x", 2.0) == claimed("2*x") == SAME_UNIT
    assert claimed("c*x", 2.001) == 0


FORMS = (
    ("c*exp(c*x) + c", lambda c, s, t: (c[0] * t, c[1] / s, c[2] * t)),
    ("c*x/(x + c)", lambda c, s, t: (c[0] * t, c[1] * s)),
    ("c*(x + c)^c", lambda c, s, t: (c[0] * t * s ** -c[2], c[1] * s, c[2])),
    ("c*log(x) + c", lambda c, s, t: (c[0] * t, c[1] * t - c[0] * t * np.log(s))),
    ("c*exp(c*x + c)", lambda c, s, t: (c[0] * t / s, c[1] / s, c[2] + np.log(s))),
    ("exp(c + c/(x + c))", lambda c, s, t: (c[0] + np.log(t), c[1] * s, c[2] * s)),
)


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(range(len(FORMS))), st.sampled_from([1e-9, 1e-3, 37.0, 1e6]),
    st.sampled_from([1e-12, 0.01, 1e3, 1e12]), st.integers(0, 5),
)  # fmt: skip
def test_bits_do_not_depend_on_units(form: int, of_x: float, of_y: float, seed: int) -> None:
    """But for what all equations gain: the bits of the target's own unit."""
    rng = np.random.default_rng(seed)
    text, scaled = FORMS[form]
    constants = rng.uniform(0.3, 2.7, len(scaled(np.ones(4), 1.0, 1.0)))
    one = Forest.from_exprs([expr_of(text, *constants), expr_of("c*x + c", 0.71, 0.33)])
    y = values(one, COLUMNS)[0] + 0.05 * rng.standard_normal(40)
    other = Forest.from_exprs(
        [expr_of(text, *scaled(constants, of_x, of_y)), expr_of("c*x + c", 0.71 * of_y / of_x, 0.33 * of_y)]
    )
    columns = COLUMNS * np.array([[of_x], [1.0]])
    before = description_bits(one, data_of(y), Criterion())
    after = description_bits(other, data_of(of_y * y, columns), Criterion())
    assert after[0] - after[1] == pytest.approx(before[0] - before[1], abs=0.1)
