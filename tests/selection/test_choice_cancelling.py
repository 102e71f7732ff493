"""Which equations may be the one: none with numbers that cancel, but where nothing else comes near."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from edhie.evaluate import Data, read_data
from edhie.evaluate.values import values
from edhie.expr import Forest, SymbolLibrary, parse
from edhie.results import Candidates
from edhie.selection.choice import Alternative, alternatives
from edhie.selection.description import Criterion

LIBRARY = SymbolLibrary.of(["+", "-", "*", "/", "^2", "exp", "cos", "tanh"], ["x"], constant=True)
X = np.linspace(0, 2, 40)
NOISE = np.random.default_rng(0).normal(size=40)
Pairs = Sequence[tuple[str, Sequence[float]]]
MEAN = ("c", (0.5,))


def listed(data: Data, pairs: Pairs) -> list[Alternative]:
    forest = Forest.from_exprs([parse(text, LIBRARY).with_constants(list(own)) for text, own in pairs], LIBRARY)
    errors = np.sqrt(np.mean(np.square(values(forest, data.columns) - data.y), axis=1))
    candidates = Candidates(forest, errors, forest.sizes.astype(float), np.arange(len(forest)))
    return alternatives(candidates, data, Criterion())


@pytest.mark.parametrize(
    ("y", "cancels", "plain"),
    [
        (np.exp(-2 * X), ("c*(c - tanh(x + c))", (88428.0, 1.0, 6.0)), ("exp(c*x)", (-2.1,))),
        (0.5 * X**2, ("c - c*cos(c*x)", (1e8, 1e8, 1e-4)), ("c*x^2", (0.4,))),
    ],
)
def test_large_numbers_that_cancel_are_no_answer(
    y: np.ndarray, cancels: tuple[str, Sequence[float]], plain: tuple[str, Sequence[float]]
) -> None:
    found = listed(read_data(X, y + 0.01 * NOISE, names=["x"]), [cancels, plain, MEAN])
    assert found[0].executed_at == 1
    assert found[0].weight > 0.99
    assert all(each.weight < 1e-3 for each in found[1:])


def test_where_nothing_else_comes_near_they_are() -> None:
    x = 2000 + 0.1 * X
    data = read_data(x, (x - 2000) ** 2, names=["x"])
    found = listed(data, [("x^2 - c*x + c", (4000.0, 4e6)), ("c*x + c", (0.2, -400.0)), MEAN])
    assert found[0].executed_at == 0
