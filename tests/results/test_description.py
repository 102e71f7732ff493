"""The shortest description is that of the expression that the data came from, whatever the kind of noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from edhie.evaluate.values import values
from edhie.expr import Forest
from edhie.results import Candidates
from edhie.results.choice import shortest_description
from edhie.results.description import description_bits, residual_bits
from mosaics import data_of, forest_of, free, positive

LIBRARY = free(1)
TRUTH = "3*x0^2 + 1"
OTHERS = (
    "x0", "3*x0^2", "3*x0^2 + 1.1", "2.9*x0^2 + 1", "3*x0^2 + x0", "3*x0^2 + 1 + 0.001*sin(7*x0)",
    "3*x0^2 + 1 + 0*exp(x0)", "8*x0 - 2", "exp(x0)*2", "11",
)  # fmt: skip


def fitted(*texts: str) -> Forest:
    """Expressions whose numbers are constants with these values."""
    import re

    exprs = []
    for text in texts:
        numbers = [float(each) for each in re.findall(r"(?<![\w^.])\d+(?:\.\d+)?", text)]
        bare = forest_of(LIBRARY, re.sub(r"(?<![\w^.])\d+(?:\.\d+)?", "c", text))
        exprs.append(Forest(LIBRARY, bare.tokens, bare.offsets, np.array(numbers)))
    return Forest.concatenate(exprs)


def candidates_of(forest: Forest, errors: Any) -> Candidates:
    n = len(forest)
    return Candidates(forest, np.asarray(errors, float), forest.sizes.astype(float), np.arange(1, n + 1))


@pytest.mark.parametrize("noise", ["none", "additive", "proportional"])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_the_truth_is_shortest(noise: str, is_weighted: bool) -> None:
    columns, rng = positive(1, 400), np.random.default_rng(1)
    forest = fitted(TRUTH, *OTHERS)
    y, size = values(forest, columns)[0], {"none": 0.0, "additive": 0.05, "proportional": 0.05}[noise]
    y = y + size * rng.standard_normal(400) * (np.abs(y) if noise == "proportional" else 1.0)
    data = data_of(columns, y, rng.uniform(0.5, 2, 400) if is_weighted else None)
    bits = description_bits(forest, data)
    assert np.argmin(bits) == 0
    best = shortest_description(candidates_of(forest, np.linspace(1, 0, len(forest))), data)
    assert best is not None
    assert best.expr == forest[0]


def test_units_do_not_change_the_order() -> None:
    columns = positive(1, 200)
    data = data_of(columns, columns[0] ** 2 + 0.1 * np.random.default_rng(0).standard_normal(200))
    predicted = values(forest_of(LIBRARY, "x0^2", "x0", "sin(x0)", "exp(x0)"), columns)
    for unit in (1e-60, 1e-3, 1e60):
        shift = residual_bits(unit * predicted, data_of(columns, unit * data.y)) - residual_bits(predicted, data)
        np.testing.assert_allclose(shift, 200 * np.log2(unit), rtol=1e-9)


def test_a_symbol_and_a_constant_cost_bits() -> None:
    columns = positive(1, 64)
    data = data_of(columns, columns[0] + 1.0)
    plain, shifted = description_bits(fitted("x0", "x0 + 1"), data) - residual_bits(
        values(fitted("x0", "x0 + 1"), columns), data
    )
    assert plain == pytest.approx(np.log2(len(LIBRARY)))
    assert shifted == pytest.approx(3 * np.log2(len(LIBRARY)) + 0.5 * np.log2(64))


def test_what_is_no_prediction_takes_infinitely_many_bits() -> None:
    columns = np.array([[-1.0, 0.0, 2.0]])
    data = data_of(columns, np.array([1.0, 0.0, 3.0]))
    bits = description_bits(forest_of(LIBRARY, "x0", "log(x0)", "x0/x0", "exp(exp(exp(exp(x0))))"), data)
    assert np.isfinite(bits).tolist() == [True, False, False, False]
    assert shortest_description(candidates_of(forest_of(LIBRARY, "x0", "x0^2"), [np.inf, np.inf]), data) is None


def test_zeros_and_constants_have_finite_bits() -> None:
    columns = positive(1, 10)
    for y in (np.zeros(10), np.full(10, 2.0), np.where(np.arange(10) < 5, 0.0, 1.0)):
        bits = description_bits(fitted("0*x0", "2", "x0"), data_of(columns, y))
        assert np.isfinite(bits).all()
    assert np.isfinite(description_bits(fitted("2"), data_of(columns[:, :1], np.array([2.0])))).all()


def test_many_at_once_are_as_one_by_one() -> None:
    columns = positive(1, 30)
    data = data_of(columns, columns[0] ** 2)
    forest = fitted(*(f"{k}.5*x0" for k in range(2 * CHUNK + 3)))
    every = description_bits(forest, data)
    few = [0, CHUNK - 1, CHUNK, 2 * CHUNK + 2]
    np.testing.assert_array_equal(every[few], [description_bits(forest.take([k]), data)[0] for k in few])
    assert len(description_bits(forest.take([]), data)) == 0


def test_a_small_one_is_described_however_many_have_less_error() -> None:
    columns = positive(1, 30)
    data = data_of(columns, columns[0])
    many = fitted("x0", *(f"{k}.5*x0 + {k}.25" for k in range(3500)))
    best = shortest_description(candidates_of(many, [1.0, *np.linspace(0, 0.5, 3500)]), data)
    assert best is not None
    assert str(best.expr) == "x0"
