"""Recipes: the paper's by name, those that cannot be, and the library that a grammar's expressions are written in."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from edhie.corpora import Recipe, named_recipe, recipe_names
from edhie.errors import CorpusError, GrammarError
from edhie.expr import standard_libraries as libraries
from edhie.expr.symbols import constant
from edhie.grammar import load

PAPER = {
    "AE4-2k": ("ae", 2000, 4),
    "AE5-15k": ("ae", 15000, 5),
    "AE7-20k": ("ae", 20000, 7),
    "Trig4-2k": ("trig", 2000, 4),
    "Trig5-15k": ("trig", 15000, 5),
    "Trig7-20k": ("trig", 20000, 7),
}
TRAINING = ["Nguyen-1", "Nguyen-2", "Feynman-1", "Feynman-2"]


def test_names() -> None:
    assert recipe_names() == [*PAPER, *TRAINING, *(f"General-{n}" for n in range(1, 7))]


@pytest.mark.parametrize("name", PAPER)
def test_the_papers_sets(name: str) -> None:
    recipe = named_recipe(name)
    assert (recipe.grammar, recipe.size, recipe.max_height) == PAPER[name]
    assert (recipe.simplify, recipe.seed, recipe.name) == (True, 0, name)
    assert recipe.load_grammar().library == getattr(libraries, recipe.grammar)()


@pytest.mark.parametrize("name", TRAINING)
def test_training_sets(name: str) -> None:
    recipe = named_recipe(name)
    assert (recipe.grammar, recipe.simplify) == (name.lower(), False)
    assert recipe.load_grammar().library == getattr(libraries, name[:-2].lower())(int(name[-1]))


def test_capitals_do_not_matter() -> None:
    assert named_recipe("aE4-2K") == named_recipe("AE4-2k")


def test_unknown_names() -> None:
    with pytest.raises(CorpusError, match=r"unknown corpus 'AE4-3k'; did you mean 'AE4-2k'\?"):
        named_recipe("AE4-3k")
    with pytest.raises(CorpusError, match=r"unknown corpus 'zzz'; there are AE4-2k, .*General-6$"):
        named_recipe("zzz")


@pytest.mark.parametrize("field", ["size", "max_height", "seed"])
@pytest.mark.parametrize("value", [-1, 2.5, "10", None])
def test_impossible_recipes(field: str, value: Any) -> None:
    good: dict[str, Any] = {"grammar": "ae", "size": 1, "max_height": 1, "seed": 0}
    Recipe(**good)
    with pytest.raises(CorpusError, match=rf"^{field} must be a whole number of at least [01], not"):
        Recipe(**good | {field: value})


def test_none_and_nothing_high_are_impossible() -> None:
    with pytest.raises(CorpusError, match="size must be a whole number of at least 1, not 0"):
        Recipe("ae", 0, 4)
    with pytest.raises(CorpusError, match="max_height must be a whole number of at least 1, not 0"):
        Recipe("ae", 4, 0)


@pytest.mark.parametrize("name", ["trigg", "nguyen", "nguyen-3", "ae-²", "ae-99999999999", "", "-"])
def test_unknown_grammars(name: str) -> None:
    with pytest.raises(GrammarError, match="unknown grammar"):
        Recipe(name, 10, 4).load_grammar()


def test_to_simplify_the_library_gets_powers_and_constants() -> None:
    plain, simplified = (Recipe("nguyen-2", 10, 4, simplify).load_grammar() for simplify in (False, True))
    assert plain.library == libraries.nguyen(2)
    assert simplified.library == plain.library.extended(*libraries.ae(0).symbols)
    assert simplified.rules == plain.rules
    assert {"^", "c"} <= set(Recipe("gvae-trig", 10, 4, simplify=True).load_grammar().library.names)


def test_a_grammar_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "ae-1.pcfg"  # not the paper's, though it is called so
    path.write_text("E -> E '+' E [0.3] | 'tanh' '(' E ')' [0.2] | 'speed' [0.5]\n", encoding="utf-8")
    plain = Recipe(str(path), 10, 4).load_grammar()
    assert plain == load(path)
    simplified = Recipe(str(path), 10, 4, simplify=True).load_grammar()
    assert simplified.library.names == (*plain.library.names, "-", "*", "/", "^", "c")
    assert simplified.library["c"] == constant()


def test_provenance_tells_all_but_the_name() -> None:
    recipe = Recipe("ae", 10, 4, simplify=True, seed=7, variables=2, name="mine")
    told = recipe.as_provenance()
    assert list(told) == [field.name for field in fields(Recipe) if field.name != "name"]
    assert Recipe(**told, name="mine") == recipe
