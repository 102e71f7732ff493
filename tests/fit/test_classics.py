"""Data sets that a user would try first: the law behind each comes out, whatever the seed and the spacing of rows."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

from classics import CLASSICS, Spacing
from edhie import EDHiERegressor
from edhie.expr import parse
from edhie.expr.interpret import interpret
from forms import forest_of, right_forms

POINTS = 200
CASES = [(0, "even"), pytest.param(1, "random", marks=pytest.mark.slow)]
"""Seeds and spacings; experiments/classic_fits.py has more of them."""


@pytest.mark.parametrize(("seed", "spacing"), CASES)
@pytest.mark.parametrize("name", CLASSICS)
def test_the_law_is_chosen(name: str, seed: int, spacing: Spacing) -> None:
    data = CLASSICS[name](seed, spacing)
    model = EDHiERegressor(max_time=8, patience=5, loss=data.loss, random_state=seed)
    model.fit(pandas.DataFrame({data.column: data.x}), data.y)
    truth, x = parse(data.truth, variables=[data.column]), np.linspace(data.x.min(), data.x.max(), POINTS)
    clean = np.asarray(interpret(truth, {data.column: x}), np.float64)
    assert right_forms(forest_of([model.best_.expr]), x[np.newaxis], clean, size=truth.size)[0], str(model.best_)
    # between the rows too, it is near the law
    near = np.abs(model.predict(pandas.DataFrame({data.column: x})) - clean)
    noise = float(np.std(data.y - data.clean)) + 1e-3 * float(np.ptp(clean))
    assert np.sqrt(np.mean(np.square(near))) < 2 * noise
