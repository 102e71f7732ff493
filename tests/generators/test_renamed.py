"""Generators and libraries over the names of columns: the same expressions, under other names."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.errors import GeneratorError, SymbolError
from edhie.expr import SymbolLibrary
from edhie.fit.generator import answer_library
from edhie.generators import Generator, LatentGenerator, load
from edhie.generators.base import Renamed, renamed
from edhie.generators.saving import general_for
from edhie.generators.saving import shipped_names as names
from edhie.grammar import PCFG

MODEL = load("general-2")
RENAMED = Renamed(MODEL, ["t", "c"])


def test_it_gives_the_same_expressions_under_other_names() -> None:
    assert isinstance(RENAMED, LatentGenerator)
    assert RENAMED.latent_dim == MODEL.latent_dim
    assert RENAMED.library.variables == ("t", "c")
    own, other = (each.sample(50, np.random.default_rng(0)) for each in (MODEL, RENAMED))
    assert other.library == RENAMED.library
    for a, b in zip(own, other, strict=True):
        swapped = {"x0": "t", "x1": "c", "c": RENAMED.library.constant}
        assert [swapped.get(token, token) for token in a.tokens] == list(b.tokens)


def test_codes_are_the_same() -> None:
    own, other = (each.sample(30, np.random.default_rng(1)) for each in (MODEL, RENAMED))
    codes = MODEL.encode(own)[0]
    np.testing.assert_array_equal(RENAMED.encode(other)[0], codes)
    a, b = MODEL.decode(codes), RENAMED.decode(codes)
    np.testing.assert_array_equal(a.forest.tokens, b.forest.tokens)
    np.testing.assert_array_equal(a.sources, b.sources)


def test_any_generator_is_renamed_and_keeps_what_it_can() -> None:
    grammar = PCFG.parse("E -> E '+' T [0.4] | T [0.6]\nT -> 'x0' [0.4] | 'x1' [0.3] | 'c' [0.3]")
    other = renamed(grammar, ["t", "c"])
    assert isinstance(other, Generator)
    assert not isinstance(other, LatentGenerator)
    drawn, own = (each.sample(50, np.random.default_rng(0)) for each in (other, grammar))
    assert drawn.library == other.library
    assert {"t", "c"} == {token for each in drawn for token in each.tokens} & {"t", "c", "x0", "x1"}
    np.testing.assert_array_equal(drawn.tokens, own.tokens)
    assert renamed(grammar, ["x1", "x0"]) is grammar  # it knows both by their names
    assert isinstance(renamed(MODEL, ["t", "c"]), Renamed)
    with pytest.raises(GeneratorError, match="a generator of 2 variables cannot have 1 names"):
        renamed(grammar, ["t"])


def test_as_many_names_as_variables() -> None:
    with pytest.raises(GeneratorError, match="a generator of 2 variables cannot have 3 names"):
        Renamed(MODEL, ["a", "b", "d"])


@pytest.mark.parametrize("columns", [["a"], ["b", "a"], ["a", "c", "x0", "C"]])
def test_a_library_over_any_columns(columns: list[str]) -> None:
    library = answer_library(MODEL, strict=False).with_variables(columns)
    assert library.variables == tuple(columns)
    assert library.constant not in columns
    assert library.constant is not None
    operators = [symbol for symbol in library.symbols if symbol.kind == "operator"]
    assert operators == [s for s in answer_library(MODEL, strict=False).symbols if s.kind == "operator"]


def test_names_that_are_taken_or_no_names() -> None:
    library = SymbolLibrary.of(["sin"], 1)
    with pytest.raises(SymbolError, match="'sin' is given to two symbols"):
        library.with_variables(["sin"])
    with pytest.raises(SymbolError, match=r"'a b' cannot name a variable.*such as 'a_b'"):
        library.with_variables(["a b"])


def test_the_general_model_for_a_number_of_variables() -> None:
    assert [general_for(n) for n in (1, 4, 6, 7, 50)] == [f"general-{n}" for n in (1, 4, 6, 6, 6)]
    assert {general_for(n) for n in range(1, 9)} <= set(names())
