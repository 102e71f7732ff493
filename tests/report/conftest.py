"""Discoveries to report: small ones, made once."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate import read_data
from edhie.fit import Discovery, Problem, Settings, discover

SHORT = Settings(max_evaluations=100, max_time=None)
COMPARED = Settings(max_evaluations=1000, max_time=None)
HOSTILE = ("<b>bold</b>", "say \"hi\" & 'bye'", "</script><script>alert(1)</script>", "$id ${name} 温度")


@pytest.fixture(scope="session")
def cooling() -> Discovery:
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 30, 60)
    y = 20 + 60 * np.exp(-t / 7) + rng.normal(0, 0.5, 60)
    return discover(Problem.of(read_data(t, y, names=["t"]), target="T"), COMPARED)


@pytest.fixture(scope="session")
def hostile() -> Discovery:
    """Names that are markup, rows that are held out, large numbers."""
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 5, (1200, len(HOSTILE)))  # noqa: N806
    y = 3e20 * X[:, 0] * X[:, 1] / X[:, 2] * rng.normal(1, 0.01, 1200)
    return discover(Problem.of(read_data(X, y, names=list(HOSTILE)), target='<i title="x">force</i> & $more'), SHORT)
