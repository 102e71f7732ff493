"""Formulas that do not quite explain their data, and the truth: for tests, and as a script that tries all of them.

python tests/revisions.py 20000 3    # evaluations, seeds
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate import Data
from edhie.fit import Equation, Settings
from edhie.fit.revision import revise

NOISE = 0.01


@dataclass(frozen=True)
class Scenario:
    """A formula that someone has, and what is true."""

    formula: str
    truth: str
    """With `c` for every number: what the best revision has to be the same as."""
    law: Callable[..., NDArray[np.float64]]
    ranges: dict[str, tuple[float, float]]

    def data(self, *, rows: int = 200, noise: float = NOISE, seed: int = 0) -> Data:
        """Rows with noise of a share of the target's deviation."""
        rng = np.random.default_rng(seed)
        columns = np.array([rng.uniform(low, high, rows) for low, high in self.ranges.values()])
        y = self.law(*columns)
        return Data(columns, y + noise * np.std(y) * rng.standard_normal(rows), None, tuple(self.ranges))


R = 8.314
PLAIN = {"x0": (0.5, 4.0), "x1": (0.0, 5.0)}
DECAY = "c*x0*exp(-c*x1)"
SCENARIOS = {
    "an offset": Scenario(DECAY, f"{DECAY} + c", lambda a, b: 2 * a * np.exp(-0.5 * b) + 1.3, PLAIN),
    "a square": Scenario(DECAY, "c*x0^2*exp(-c*x1)", lambda a, b: 2 * a**2 * np.exp(-0.5 * b), PLAIN),
    "nothing": Scenario(DECAY, DECAY, lambda a, b: 2 * a * np.exp(-0.5 * b), PLAIN),
    "van der Waals": Scenario(
        "n*8.314*T/V", "c*n*T/(V - c*n) - c*n^2/V^2",
        lambda n, t, v: n * R * t / (v - n * 0.0427) - 364.0 * n**2 / v**2,  # carbon dioxide, in litres and kPa
        {"n": (0.5, 2.0), "T": (280.0, 400.0), "V": (0.3, 3.0)},
    ),
    "Michaelis and Menten": Scenario("c*S + c", "c*S/(c + S)", lambda s: 3.2 * s / (1.7 + s), {"S": (0.1, 10.0)}),
    "Newton's cooling": Scenario(
        "c*exp(-c*t)", "c*exp(-c*t) + c", lambda t: 20 + 60 * np.exp(-t / 7), {"t": (0.0, 30.0)}
    ),
}  # fmt: skip


def is_truth(scenario: Scenario, equation: Equation) -> bool:
    """Whether an equation is the law, whatever it is written like: no more constants, and the law's values."""
    columns = scenario.data(rows=500, noise=0.0, seed=99).columns
    law = scenario.law(*columns)
    off = np.sqrt(np.mean((equation.predict(columns) - law) ** 2))
    is_as_short = len(equation.expr.constants) <= scenario.truth.count("c")
    return is_as_short and bool(off < NOISE / 2 * np.std(law))


def main(evaluations: int = 20_000, seeds: int = 1) -> None:
    """One line a scenario and seed: whether the best revision is the law, when it was found, and what it took."""
    print(f"{'scenario':<22} seed  truth  enough  found at  executed  seconds  best")
    for name, scenario in SCENARIOS.items():
        for seed in range(seeds):
            began = time.perf_counter()
            settings = Settings(max_time=None, max_evaluations=evaluations, seed=seed)
            found = revise(scenario.formula, scenario.data(seed=seed), settings)
            best, truth = found.best, "yes" if is_truth(scenario, found.best) else "NO"
            cells = f"{name:<22} {seed:>4}  {truth:>5}  {found.is_enough!s:>6}  {best.candidate.executed_at:>8,}"
            seconds = time.perf_counter() - began
            print(f"{cells}  {found.result.counts.executed:>8,}  {seconds:>7.1f}  {best.expr:.5g}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
