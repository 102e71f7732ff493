"""Rows held out: which, how many, and that they decide what is selected."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from edhie.evaluate import Data, read_data
from edhie.expr import Forest, SymbolLibrary, parse
from edhie.fit.problem import split
from edhie.results import Candidates
from edhie.selection.choice import shortest_description
from edhie.selection.description import description_bits, joined_rows

LIBRARY = SymbolLibrary.of(["+", "-", "*", "sin", "log"], ["x"], constant=True)


def line(n: int, *, start: int = 0) -> Data:
    return read_data(np.arange(start, start + n), 2.0 * np.arange(start, start + n), names=["x"])


def candidates(*texts: str) -> Candidates:
    forest = Forest.from_exprs([parse(text, LIBRARY).with_constants([2.0] * text.count("c")) for text in texts])
    count = len(forest)
    return Candidates(forest, np.arange(count, dtype=float), forest.sizes.astype(float), np.arange(1, count + 1))


# -- the split ------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "held_out"), [(2, 0), (999, 0), (1000, 200), (1004, 200), (150_000, 20_000)])
def test_a_fifth_is_held_out_of_many_rows(rows: int, held_out: int) -> None:
    train, validation = split(line(rows), np.random.default_rng(0))
    assert train.n_rows == rows - held_out
    assert (0 if validation is None else validation.n_rows) == held_out


def test_every_row_is_in_one_part_with_its_target() -> None:
    data = line(1234)
    train, validation = split(data, np.random.default_rng(3))
    assert validation is not None
    assert sorted([*train.columns[0], *validation.columns[0]]) == list(range(1234))
    for part in (train, validation):
        np.testing.assert_array_equal(part.y, 2 * part.columns[0])
        assert (np.diff(part.columns[0]) > 0).all()
        assert part.names == data.names


def test_the_split_follows_from_the_random_numbers() -> None:
    parts = [split(line(1000), np.random.default_rng(seed))[0].y.tolist() for seed in (0, 0, 1)]
    assert parts[0] == parts[1] != parts[2]


def test_rows_without_weight_are_not_held_out() -> None:
    weights = np.zeros(3000)
    weights[:1000] = 1
    data = read_data(np.arange(3000), np.arange(3000), weights=weights)
    train, validation = split(data, np.random.default_rng(0))
    assert validation is not None
    assert validation.weights is not None
    assert (validation.n_rows, validation.weights.all()) == (200, True)
    assert train.total_weight == 800
    few = read_data(np.arange(3000), np.arange(3000), weights=np.arange(3000) < 999)
    assert split(few, np.random.default_rng(0)) == (few, None)


# -- what is selected -----------------------------------------------------------------


def test_held_out_rows_count_with_those_that_were_fitted() -> None:
    train, validation = line(60, start=1), line(20, start=61)
    forest = candidates("x", "c*x + sin(x)", "c*x").forest
    joined = joined_rows(train, validation)
    np.testing.assert_array_equal(description_bits(forest, joined), description_bits(forest, line(80, start=1)))


@pytest.mark.parametrize("is_weighted", [(True, True), (True, False), (False, True)])
def test_each_set_keeps_its_share_whatever_the_scale_of_its_weights(is_weighted: tuple[bool, bool]) -> None:
    rng = np.random.default_rng(0)
    sets = [line(60), line(20, start=60)]
    sets = [
        replace(each, weights=rng.uniform(1, 2, each.n_rows) * 1000.0) if has else each
        for each, has in zip(sets, is_weighted, strict=True)
    ]
    joined = joined_rows(*sets)
    assert joined.weights is not None
    assert joined.weights[:60].sum() == pytest.approx(60)
    assert joined.weights[60:].sum() == pytest.approx(20)


def test_what_fits_rows_by_chance_is_not_selected() -> None:
    train = read_data(np.pi * np.arange(1, 40), 2 * np.pi * np.arange(1, 40), names=["x"])  # where sines vanish
    choice = candidates("c*x + sin(x)", "c*x + sin(x) + sin(x)")
    elsewhere = np.linspace(1, 3, 50)
    validation = read_data(elsewhere, 2 * elsewhere + 2 * np.sin(elsewhere), names=["x"])
    seen = shortest_description(choice, train)
    held = shortest_description(choice, train, validation=validation)
    assert seen is not None
    assert held is not None
    assert seen.expr.size < held.expr.size


def test_what_is_undefined_on_validation_is_not_selected_unless_all_is() -> None:
    train = read_data(np.arange(1.0, 50), np.log(np.arange(1.0, 50)), names=["x"])
    below = read_data(np.arange(-50.0, -1), np.arange(49.0), names=["x"])
    held = shortest_description(candidates("log(x)", "x"), train, validation=below)
    assert held is not None
    assert str(held.expr) == "x"
    alone = shortest_description(candidates("log(x)", "log(x) + log(x)"), train, validation=below)
    assert alone is not None
    assert str(alone.expr) == "log(x)"
