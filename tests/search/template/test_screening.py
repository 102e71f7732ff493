from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate import Evaluator, values
from edhie.expr import Forest, parse
from edhie.generators import load
from edhie.search import Budget, Task
from edhie.search.template import Template, TemplateConfig
from edhie.search.template.pool import Pool
from edhie.search.template.position import position_of
from edhie.search.template.screening import best_contents, best_products, single_contents

GENERATOR = load("general-2")
LIBRARY = GENERATOR.library
X = np.random.default_rng(0).uniform(0.3, 3, (100, 2))


def begun(text: str, y: np.ndarray) -> tuple[Template, Pool, Evaluator]:
    template, used = Template.parse(text, LIBRARY), Evaluator(LIBRARY, X, y)
    pool = Pool(template, 0, GENERATOR, used.data, TemplateConfig(text))
    task = Task(GENERATOR, used, Budget())
    pool.add(pool.functions, task)
    for n_rounds in range(3):
        pool.gather(n_rounds, Forest.from_exprs([], LIBRARY), task, np.random.default_rng(n_rounds))
    return template, pool, used


@pytest.mark.parametrize(
    ("text", "truth", "share"),
    [
        ("f(x0)*x1 + x1^2", "4.5*x0^2*x1 + x1^2", 1e-9),
        ("f(x0)*x1 + x1^2", "(3*x0^3 - 2*log(x0))*x1 + x1^2", 1e-9),
        ("f(x0)*x1 + x1^2", "(x0^3 - 2*log(x0) + 0.5*sqrt(x0) + 7)*x1 + x1^2", 1e-3),  # of three the likes are many
        ("f(x0, x1) + f(x1, x0)*x1", "2*x0^2*x1 - 3*x0 + (2*x1^2*x0 - 3*x1)*x1", 1e-9),
        ("sqrt(f(x0))/x1", "sqrt(2*exp(x0) + x0^2)/x1", 1e-9),
    ],
)
def test_sums_of_pieces_are_found_by_least_squares(text: str, truth: str, share: float) -> None:
    y = parse(truth, LIBRARY.with_numbers())(x0=X[:, 0], x1=X[:, 1])
    template, pool, used = begun(text, np.asarray(y))
    start = template.filled([Forest.from_exprs([parse("x0", LIBRARY)])])
    position = position_of(template, start, 0, used.data)
    assert position is not None
    contents, n_screened = best_contents(pool, position, 8)
    assert n_screened >= len(pool.forest)
    whole = template.filled([pool.to_whole(Forest.from_exprs(contents, pool.library))])
    assert np.abs(values(whole, used.data.columns) - used.data.y).max(axis=1).min() < share * np.abs(y).max()


def test_products_are_found_with_shapes() -> None:
    y = X[:, 0] ** 2 * np.exp(-X[:, 0]) * X[:, 1]
    template, pool, used = begun("f(x0)*x1", y)
    position = position_of(template, template.filled([Forest.from_exprs([parse("x0", LIBRARY)])]), 0, used.data)
    assert position is not None
    found = [best_products(pool, position, 8, np.random.default_rng(seed))[0] for seed in range(4)]
    contents = single_contents(pool, position, Forest.concatenate(found))
    whole = template.filled([pool.to_whole(Forest.from_exprs(contents, pool.library))])
    left = np.square(values(whole, used.data.columns) - used.data.y).mean(axis=1)
    assert left.min() < 1e-3 * y.var()


def test_pieces_are_of_the_part_s_variables_alone() -> None:
    _, pool, _ = begun("f(x1) + x0", X[:, 1] ** 2)
    assert set(pool.library.variables) == {"x1"}
    assert len(pool.forest) > 100
    assert not (pool.to_whole(pool.forest).tokens == LIBRARY.ids["x0"]).any()
    again = pool.from_whole(pool.to_whole(pool.forest))
    np.testing.assert_array_equal(again.tokens, pool.forest.tokens)


def test_a_call_with_other_variables_has_values_of_its_own() -> None:
    _, pool, used = begun("f(x0, x1) + f(x1, x0)", X[:, 1] ** 2)
    swapped = np.ascontiguousarray(used.data.columns[::-1])
    few = pool.forest.take(np.arange(30))
    both = [values(few, used.data.columns), values(few, swapped)]
    np.testing.assert_array_equal(pool.pieces.values_of(few), np.concatenate(both, axis=1))
