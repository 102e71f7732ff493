"""Textbook data sets with a known formula, small enough for tests: what a user would try first.

Each function takes a seed and whether rows are evenly spaced or random, and returns a `Classic`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from edhie.expr import parse
from edhie.expr.interpret import interpret
from edhie.expr.standard_libraries import everything

Numbers = NDArray[np.float64]
Spacing = Literal["even", "random"]
SPACINGS: tuple[Spacing, ...] = ("even", "random")


@dataclass(frozen=True, eq=False)
class Classic:
    """A table of measurements and the formula behind it."""

    name: str
    column: str
    """Name of the only variable."""
    x: Numbers
    y: Numbers
    clean: Numbers
    """The target without noise."""
    truth: str
    loss: str = "rmse"

    @property
    def X(self) -> Numbers:  # noqa: N802
        """The variable, of shape (rows, 1)."""
        return self.x[:, None]


def sine(seed: int = 0, spacing: Spacing = "even") -> Classic:
    """Return a sine with phase and offset: 60 rows, noise of 0.05."""
    x, rng = _points("sine", 0, 10, 60, seed, spacing)
    return _with_noise("sine", "x", x, "1.3*sin(2.1*x + 0.7) + 0.5", 0.05 * rng.standard_normal(60))


def damped(seed: int = 0, spacing: Spacing = "even") -> Classic:
    """Return a damped oscillation: 80 rows, noise of 0.03."""
    t, rng = _points("damped", 0, 10, 80, seed, spacing)
    return _with_noise("damped", "t", t, "2*exp(-0.3*t)*cos(3*t + 0.4)", 0.03 * rng.standard_normal(80))


def seasonal(seed: int = 0, spacing: Spacing = "even") -> Classic:
    """Return temperatures over a year: 365 rows, noise of half a degree."""
    day, rng = _points("seasonal", 1, 365, 365, seed, spacing)
    truth = "9.2*sin(2*pi*(day - 105)/365) + 10.5"
    return _with_noise("seasonal", "day", day, truth, 0.5 * rng.standard_normal(365))


def michaelis(seed: int = 0, spacing: Spacing = "even") -> Classic:
    """Return rates by Michaelis and Menten: 12 rows, noise of 3 % of each."""
    substrate, rng = _points("michaelis", 0.3, 12, 12, seed, spacing)
    return _with_noise("michaelis", "S", substrate, "12.2*S/(2.4 + S)", 0.03 * rng.standard_normal(12), relative=True)


def arrhenius(seed: int = 0, spacing: Spacing = "even") -> Classic:
    """Return rates by Arrhenius, with the temperature in kelvin: 14 rows, noise of 4 % of each."""
    kelvin, rng = _points("arrhenius", 280, 400, 14, seed, spacing)
    noise = 0.04 * rng.standard_normal(14)
    return _with_noise("arrhenius", "T", kelvin, "5000000*exp(-5200/T)", noise, relative=True)


def logistic(seed: int = 0, spacing: Spacing = "even") -> Classic:
    """Return logistic growth: 30 rows, noise of 0.7."""
    t, rng = _points("logistic", 0, 16, 30, seed, spacing)
    return _with_noise("logistic", "t", t, "50/(1 + exp(-(t - 8)/1.6))", 0.7 * rng.standard_normal(30))


def two_exponentials(seed: int = 0, spacing: Spacing = "even") -> Classic:
    """Return a decay with two rates: 60 rows, noise of 0.01."""
    t, rng = _points("two_exponentials", 0, 12, 60, seed, spacing)
    truth = "3*exp(-1.8*t) + 1.2*exp(-0.25*t)"
    return _with_noise("two_exponentials", "t", t, truth, 0.01 * rng.standard_normal(60))


def gross_errors(seed: int = 0, spacing: Spacing = "even") -> Classic:
    """Return a sum of a root and a line with 5 % gross errors, for a robust loss: 100 rows, noise of 0.1."""
    x, rng = _points("gross_errors", 0.5, 20, 100, seed, spacing)
    noise = 0.1 * rng.standard_normal(100)
    wrong = rng.choice(100, 5, replace=False)
    noise[wrong] = rng.choice([-1, 1], 5) * rng.uniform(10, 30, 5)
    return _with_noise("gross_errors", "x", x, "2.5*sqrt(x) + 0.8*x", noise, loss="student")


def planets(seed: int = 0, spacing: Spacing = "even") -> Classic:
    """Return the periods of six planets in days, by distance in astronomical units; seed and spacing change nothing."""
    del seed, spacing
    distance = np.array([0.387, 0.723, 1.00, 1.52, 5.20, 9.54])
    period = np.array([87.969, 224.70, 365.26, 686.98, 4332.6, 10759.0])
    exact = _with_noise("planets", "a", distance, "365.26*a^1.5", np.zeros(6))
    return Classic(exact.name, exact.column, distance, period, exact.clean, exact.truth)


def scattered_line(seed: int = 0, spacing: Spacing = "even") -> Classic:
    """Return a straight line with large scatter: 32 rows, R² of about 0.75."""
    x, rng = _points("scattered_line", 1.5, 5.5, 32, seed, spacing)
    return _with_noise("scattered_line", "x", x, "37 - 5.3*x", 3 * rng.standard_normal(32))


CLASSICS: dict[str, Callable[[int, Spacing], Classic]] = {
    maker.__name__: maker
    for maker in (
        sine, damped, seasonal, michaelis, arrhenius, logistic, two_exponentials, gross_errors, planets, scattered_line,
    )
}  # fmt: skip


def _points(
    name: str, low: float, high: float, rows: int, seed: int, spacing: Spacing
) -> tuple[Numbers, np.random.Generator]:
    """Return values of the variable, and random numbers for the noise, which do not depend on the spacing."""
    order = list(name.encode())
    x = np.linspace(low, high, rows)
    if spacing == "random":
        x = np.sort(np.random.default_rng([seed, 0, *order]).uniform(low, high, rows))
    return x, np.random.default_rng([seed, 1, *order])


def _with_noise(
    name: str, column: str, x: Numbers, truth: str, noise: Numbers, *, relative: bool = False, loss: str = "rmse"
) -> Classic:
    clean = np.asarray(interpret(parse(truth, everything([column])), {column: x}), np.float64)
    return Classic(name, column, x, clean * (1 + noise) if relative else clean + noise, clean, truth, loss)
