from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.errors import SymbolError
from edhie.evaluate.constraints import complexity, symbol_weights
from edhie.expr import Forest, SymbolLibrary, parse
from edhie.expr import standard_libraries as standard
from strategies import LIBRARIES, forests

EVERYTHING = LIBRARIES["everything"]
TRIG = SymbolLibrary.of(["+", "*", "sin", "log"], ["x"], constant=True)


def forest(*texts: str) -> Forest:
    return Forest.from_exprs([parse(text, TRIG) for text in texts], TRIG)


@given(forests(EVERYTHING))
def test_without_weights_it_is_the_number_of_nodes(trees: Forest) -> None:
    counted = complexity(trees)
    assert counted.dtype == np.int64
    assert counted.tolist() == [len(expr.tokens) for expr in trees]
    counted += 1
    assert complexity(trees).tolist() == trees.sizes.tolist(), "the forest's own numbers were handed out"


@given(forests(EVERYTHING), st.dictionaries(st.sampled_from(EVERYTHING.names), st.integers(0, 9), min_size=1))
def test_with_whole_weights_it_is_their_whole_sum(trees: Forest, weights: dict[str, int]) -> None:
    names = EVERYTHING.names
    expected = [
        sum(weights.get(names[token], 1) for token in trees.tokens[start:end])
        for start, end in zip(trees.offsets[:-1], trees.offsets[1:], strict=True)
    ]
    counted = complexity(trees, weights)
    assert counted.dtype == np.int64
    assert counted.tolist() == expected


def test_broken_weights_add_up_too() -> None:
    counted = complexity(forest("x + sin(x)", "x", "sin(sin(x))"), {"sin": 2.5, "x": 0})
    assert counted.dtype == np.float64
    assert counted.tolist() == [3.5, 0.0, 5.0]


@pytest.mark.parametrize("weights", [None, {}, {"sin": 3}, {"sin": 0.5}])
def test_an_empty_forest_has_none(weights: dict[str, float] | None) -> None:
    assert complexity(forest(), weights).shape == (0,)


def test_other_spellings_and_operators_of_other_libraries_are_understood() -> None:
    assert complexity(forest("log(x)"), {"ln": 5, "tan": 7}).tolist() == [6]


def test_a_variable_wins_over_the_other_spelling_of_an_operator() -> None:
    library = SymbolLibrary.of(["log"], ["ln"])
    assert symbol_weights(library, {"ln": 5}).tolist() == [1, 5]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"sinn": 3}, r"unknown symbol 'sinn' among the weights; did you mean 'sin'\?$"),
        ({"???": 3}, r"unknown symbol '\?\?\?' among the weights$"),
        ({"sin": -1}, r"the weight of 'sin' is -1; give a number from 0 to 1e\+09$"),
        ({"sin": float("nan")}, r"the weight of 'sin' is nan; give a number"),
        ({"sin": float("inf")}, r"the weight of 'sin' is inf; give a number"),
        ({"sin": 10**400}, r"the weight of 'sin' is 1000.*…; give a number"),
        ({"sin": "3"}, r"the weight of 'sin' is '3'; give a number"),
        ({"sin": None}, r"the weight of 'sin' is None; give a number"),
    ],
)
def test_what_is_no_weight_is_refused(weights: dict[str, float], message: str) -> None:
    with pytest.raises(SymbolError, match=message):
        complexity(forest("x"), weights)


def test_a_number_of_the_library_s_is_one_symbol() -> None:
    library = standard.everything(["x"])
    trees = Forest.from_exprs([parse("x + 2.25", library)], library)
    assert complexity(trees, {"#": 4}).tolist() == [6]
