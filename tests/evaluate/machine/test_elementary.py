"""The vector functions are right to 2 units in the last place, and like NumPy's at the edges."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, cast

import mpmath
import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from edhie.evaluate.machine import elementary
from edhie.evaluate.machine.elementary import exponential, trigonometric

Floats = NDArray[np.float64]
UNARY = [name for name in elementary.__all__ if name != "power"]
NUMPY = {"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan}
EXACT = {"power": mpmath.power, "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x))}
COUNT = 1000
TINY, HUGE = 5e-324, 1.7976931348623157e308
SIMPLE = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, np.inf, np.nan]
SMALL = [TINY, 1e-310, 2.0**-1022, 1e-300, 1e-17]
LARGE = [HUGE, 1e300, 1e22, 2.0**53, 2.0**53 - 1.0, 2.0**50 + 1.0, 2.0**31, 1e5]
EDGES = [1.0 + 2.0**-52, 1.0 - 2.0**-53, 700.5, 707.5, 709.7, 709.9, 710.4, 710.6, 711.5, 745.1, 745.2, 746.0]
SPECIAL = np.array([sign * x for x in (*SIMPLE, *SMALL, *LARGE, *EDGES) for sign in (1.0, -1.0)])


@cache
def compiled(name: str) -> Callable[..., None]:
    """The function of blocks with a caller that is compiled, which it needs."""
    function = getattr(elementary, name)

    @numba.njit
    def caller(*blocks: Floats) -> None:
        function(*blocks)

    return cast("Callable[..., None]", caller)


def call(name: str, *arguments: Floats) -> Floats:
    out = np.full(len(arguments[0]), 123.0)
    compiled(name)(*(np.ascontiguousarray(a, np.float64) for a in arguments), out)
    return out


def by_numpy(name: str, *arguments: Floats) -> Floats:
    with np.errstate(all="ignore"):
        return np.asarray(NUMPY.get(name, getattr(np, name, None))(*arguments))  # type: ignore[misc]


def errors(name: str, *arguments: Floats) -> Floats:
    """How far each result is from the truth, in units of the last place of the truth."""
    exact = EXACT.get(name, getattr(mpmath, name, None))
    found = []
    with mpmath.workprec(160):
        for row in zip(*arguments, call(name, *arguments), strict=True):
            *x, value = (mpmath.mpf(float(v)) for v in row)
            truth = exact(*x)  # type: ignore[misc]
            found.append(float(abs(value - truth) / math.ulp(float(truth))))
    return np.array(found)


def spread(low: float, high: float, seed: int = 0) -> Floats:
    """Numbers of both signs with sizes log-uniform between low and high."""
    rng = np.random.default_rng(seed)
    return np.exp(rng.uniform(math.log(low), math.log(high), COUNT)) * rng.choice([-1.0, 1.0], COUNT)


def near_right_angles() -> Floats:
    """The floats nearest to multiples of pi / 2, up to the largest that are ordinary, and their neighbours."""
    n = np.unique(np.concatenate([np.arange(1, 200), np.exp(np.linspace(5, math.log(2.0**29.3), 200)).astype(int)]))
    with mpmath.workprec(160):
        x = np.array([float(int(k) * mpmath.pi / 2) for k in n])
    return np.concatenate([x, -np.nextafter(x, 0.0)])


def uniform(low: float, high: float) -> Floats:
    return np.random.default_rng(1).uniform(low, high, COUNT)


TRIGONOMETRIC = [spread(1e-9, 2.0**30), uniform(-20.0, 20.0), near_right_angles()]
POINTS = {
    "exp": [uniform(-708.0, 709.0), spread(1e-18, 1.0)],
    "log": [abs(spread(1e-307, 1e307)), 1.0 + spread(1e-15, 0.4), uniform(0.5, 2.0)],
    "log10": [abs(spread(1e-307, 1e307)), 1.0 + spread(1e-15, 0.4), uniform(0.5, 2.0)],
    "sin": TRIGONOMETRIC,
    "cos": TRIGONOMETRIC,
    "tan": TRIGONOMETRIC,
    "asin": [spread(1e-18, 1.0), uniform(-1.0, 1.0), 1.0 - abs(spread(1e-15, 0.5))],
    "acos": [spread(1e-18, 1.0), uniform(-1.0, 1.0), 1.0 - abs(spread(1e-15, 0.5)), abs(spread(1e-15, 0.5)) - 1.0],
    "atan": [spread(1e-18, 1e18), uniform(-3.0, 3.0), spread(1e-307, 1e307)],
    "sinh": [spread(1e-18, 700.0), uniform(-3.0, 3.0)],
    "cosh": [spread(1e-18, 700.0), uniform(-3.0, 3.0)],
    "tanh": [spread(1e-18, 700.0), uniform(-3.0, 3.0), uniform(15.0, 23.0)],
    "cbrt": [spread(1e-307, 1e307), uniform(-9.0, 9.0)],
}


@pytest.mark.parametrize("name", UNARY)
def test_error_in_units_of_the_last_place(name: str) -> None:
    assert max(errors(name, x).max() for x in POINTS[name]) <= 1.2


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("exp", -745.0, -705.0), ("exp", 709.0, 709.78), ("sinh", 705.0, 710.4), ("cosh", -710.4, -705.0)]
    + [(name, 2.0**29.9, 2.0**30.1) for name in ("sin", "cos", "tan")]
    + [(name, TINY, 2.0**-1021) for name in ("log", "log10", "cbrt", "sin", "atan", "tanh")],
)
def test_error_where_the_c_library_takes_over(name: str, low: float, high: float) -> None:
    assert errors(name, uniform(low, high)).max() <= 2.0


def test_error_of_power() -> None:
    for base in (abs(spread(1e-300, 1e300)), 1.0 + spread(1e-9, 0.4)):
        assert errors("power", base, uniform(-708.0, 708.0) / np.log(base)).max() <= 1.5
    assert errors("power", abs(spread(1e-3, 1e3)), uniform(-5.0, 5.0)).max() <= 0.8
    assert errors("power", spread(1e-3, 1e3), np.rint(uniform(-20.0, 20.0))).max() <= 0.8


def same_class(name: str, *arguments: Floats) -> None:
    """NaN, infinities and signs are NumPy's, zeros of both signs too; the rest is within some ulp of it."""
    ours, theirs = call(name, *arguments), by_numpy(name, *arguments)
    shown = [(*row,) for row in zip(*arguments, ours, theirs, strict=True)]
    numbers = ~np.isnan(theirs)
    for k in np.flatnonzero(np.isnan(ours) != np.isnan(theirs)):
        pytest.fail(f"{name}: {shown[k]}")
    for k in np.flatnonzero(numbers & (np.signbit(ours) != np.signbit(theirs))):
        pytest.fail(f"{name}: {shown[k]}")
    near = np.isclose(ours, theirs, rtol=1e-15, atol=0.0, equal_nan=True)
    near &= (np.isinf(ours) == np.isinf(theirs)) & ((ours == 0.0) == (theirs == 0.0))
    for k in np.flatnonzero(~near):
        # where the result underflows, neighbouring denormals count as near
        assert abs(ours[k] - theirs[k]) <= 2 * TINY, f"{name}: {shown[k]}"


@pytest.mark.parametrize("name", UNARY)
def test_special_values(name: str) -> None:
    same_class(name, SPECIAL)


def test_special_pairs_of_power() -> None:
    a, b = np.meshgrid(SPECIAL, SPECIAL)
    same_class("power", a.ravel(), b.ravel())


def test_exact_powers_are_exact() -> None:
    base, exponent = (grid.ravel().astype(float) for grid in np.meshgrid(np.arange(-50, 51), np.arange(0, 10)))
    assert call("power", base, exponent).tolist() == [
        float(int(x) ** int(y)) for x, y in zip(base, exponent, strict=True)
    ]
    roots = np.arange(-200.0, 201.0)
    assert call("cbrt", roots**3).tolist() == roots.tolist()
    tens = np.arange(-300, 301)
    assert call("log10", np.array([float(f"1e{n}") for n in tens])).tolist() == tens.tolist()


@pytest.mark.parametrize("name", elementary.__all__)
@pytest.mark.parametrize("length", [0, 1, 7, 255, 256])
def test_no_element_depends_on_its_neighbours(name: str, length: int) -> None:
    rng = np.random.default_rng(length)
    arguments = [rng.uniform(-3.0, 3.0, length) for _ in range(2 if name == "power" else 1)]
    for a in arguments:
        odd = rng.integers(0, 4, length) == 0
        a[odd] = rng.choice(SPECIAL, odd.sum())
    alone = [call(name, *(a[i : i + 1] for a in arguments))[0] for i in range(length)]
    np.testing.assert_array_equal(call(name, *arguments).view(np.int64), np.array(alone, np.float64).view(np.int64))
    order = rng.permutation(length)
    moved = call(name, *(a[order] for a in arguments))
    np.testing.assert_array_equal(moved.view(np.int64), call(name, *arguments)[order].view(np.int64))


def of_root(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function of z that is given for the square root of z."""
    return lambda z: function(mpmath.sqrt(z))


def test_coefficients_can_be_made_again() -> None:
    with mpmath.workdps(60):
        sqrt, eighth = mpmath.sqrt, (mpmath.pi / 4) ** 2 * mpmath.mpf("1.0001")
        ln2, s2 = mpmath.log(2), ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2
        made = [
            (exponential.EXP, lambda r: (mpmath.exp(r) - 1 - r) / r**2 if r else mpmath.mpf(0.5), -ln2 / 2, ln2 / 2),
            (exponential.LOG, of_root(lambda s: 2 * (mpmath.atanh(s) - s) / s**3), 0, s2),
            (trigonometric.SIN, of_root(lambda r: (mpmath.sin(r) - r) / r**3), 0, eighth),
            (trigonometric.COS, of_root(lambda r: (mpmath.cos(r) - 1 + r**2 / 2) / r**4), 0, eighth),
            (trigonometric.ATAN, of_root(lambda t: (mpmath.atan(t) - t) / t**3), 0, (sqrt(2) - 1) ** 2),
            (trigonometric.ASIN, of_root(lambda s: (mpmath.asin(s) - s) / s**3), 0, mpmath.mpf(1) / 4),
            (trigonometric.SINH, of_root(lambda r: (mpmath.sinh(r) - r) / r**3), 0, (ln2 / 2) ** 2),
            (trigonometric.COSH, of_root(lambda r: (mpmath.cosh(r) - 1) / r**2), 0, (ln2 / 2) ** 2),
            (exponential.CBRT, lambda m: 1 / mpmath.cbrt(m), 1, 2),
            (exponential.ATANH, of_root(lambda s: (mpmath.atanh(s) - s - s**3 / 3) / s**5), 0, s2),
        ]
        for coefficients, function, low, high in made:
            again = mpmath.chebyfit(function, [low, high], len(coefficients))
            assert coefficients == tuple(float(c) for c in reversed(again))
