"""The general grammar: constants only where they matter, for any number of variables."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.corpora import Recipe, named_recipe
from edhie.errors import CorpusError
from edhie.grammar import load


@pytest.mark.parametrize("n", range(1, 7))
def test_named_recipes_have_so_many_variables(n: int) -> None:
    library = named_recipe(f"General-{n}").load_grammar().library
    assert library.variables == tuple(f"x{i}" for i in range(n))
    assert library.constant is not None


def test_it_ends_and_makes_no_function_of_a_constant_alone() -> None:
    grammar = load("general")
    assert grammar.spectral_radius < 1
    forest = grammar.sample(3000, np.random.default_rng(0), max_height=7)
    c = forest.library.id_of("c")
    unary = (forest.library.arities[forest.tokens] == 1) & (forest.tokens != forest.library.id_of("neg"))
    assert not np.any(unary & (np.append(forest.tokens[1:], 0) == c))


def test_variables_of_another_grammar() -> None:
    assert Recipe("nguyen-1", 10, 4, variables=3).load_grammar().library.variables == ("x0", "x1", "x2")
    with pytest.raises(CorpusError, match="at least 1"):
        Recipe("nguyen-1", 10, 4, variables=0)
    assert "variables" not in Recipe("nguyen-1", 10, 4).as_provenance()
