"""Forests from library to library: as `cast` does it, and faster."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.errors import EdhieError
from edhie.expr import Forest, SymbolLibrary, parse
from edhie.search.translation import token_table, translated
from strategies import LIBRARIES, forests


@pytest.mark.parametrize("source", LIBRARIES)
@given(data=st.data())
def test_it_is_what_cast_gives(source: str, data: st.DataObject) -> None:
    target = LIBRARIES[data.draw(st.sampled_from(list(LIBRARIES)))]
    forest = data.draw(forests(LIBRARIES[source], max_size=4))
    try:
        expected = forest.cast(target)
    except EdhieError as error:
        with pytest.raises(type(error)):
            translated(forest, target)
        return
    found = translated(forest, target)
    assert found.library == target
    np.testing.assert_array_equal(found.tokens, expected.tokens)
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.offsets, expected.offsets)


def test_a_constant_may_have_another_name() -> None:
    ours = SymbolLibrary.of(["+", "sin"], ["x"], constant="k")
    theirs = SymbolLibrary.of(["sin", "cos", "+"], ["y", "x"], constant="c")
    assert token_table(ours, theirs).min() >= 0
    forest = Forest.from_exprs([parse("k + sin(x)", ours).with_constants([2.5])])
    assert str(translated(forest, theirs)[0].free()) == "c + sin(x)"
    assert translated(forest, theirs).values.tolist() == [2.5]


def test_numbers_may_be_literals_elsewhere() -> None:
    ours, theirs = SymbolLibrary.of(["+"], ["x"], numbers=True), SymbolLibrary.of(["+"], ["x"], literals=("2",))
    forest = Forest.from_exprs([parse("x + 2", ours)])
    assert str(translated(forest, theirs)[0]) == "x + 2"
