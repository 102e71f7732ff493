"""A generator's expressions become pieces over the library, whatever variables and symbols it has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from edhie.expr import Forest, SymbolLibrary, operator, parse
from edhie.generators.base import Generator
from edhie.search.pieces.generator_source import GeneratorSource
from mosaics import forest_of, free, strict
from searches import HVAE


@dataclass(frozen=True, eq=False)
class Listed:
    """Gives the same expressions again and again."""

    library: SymbolLibrary
    texts: tuple[str, ...]

    def sample(self, n: int, rng: np.random.Generator) -> Forest:
        exprs = [parse(self.texts[k], self.library) for k in range(min(n, len(self.texts)))]
        return Forest.from_exprs(exprs, self.library)


OWN = SymbolLibrary.of(["+", "*", "sin", "tanh"], ["a", "b"], constant=True, literals=("2",))
TEXTS = ("a + b", "sin(a)*b", "tanh(a) + b", "c*a", "2*a", "b")


def read(library: SymbolLibrary, own: SymbolLibrary = OWN, texts: tuple[str, ...] = TEXTS) -> list[str]:
    source = GeneratorSource(Listed(own, texts), library)
    drawn = source.generator.sample(len(texts), np.random.default_rng(0))
    n = len(library.variables)
    return list(map(str, source.read(drawn, np.arange(len(own.variables)) % n)))


def test_what_the_library_lacks_is_left_out() -> None:
    assert read(free(2)) == ["x0 + x1", "sin(x0)*x1", "c*x0", "x1"]
    assert read(strict(2)) == ["x0 + x1", "sin(x0)*x1", "x1"]
    assert read(SymbolLibrary.of(["*"], 2, literals=("2",))) == ["2*x0", "x1"]
    assert read(SymbolLibrary.of(["-"], 2), texts=TEXTS[:-1]) == []


def test_fewer_variables_than_the_generator_has() -> None:
    assert read(free(1)) == ["x0 + x0", "sin(x0)*x0", "c*x0", "x0"]


def test_the_same_name_for_something_else_is_not_the_same() -> None:
    own = SymbolLibrary.of(["+", "sin", operator("f", 1, numpy=np.tanh)], ["x"], literals=("pi",))
    library = SymbolLibrary.of(["+", operator("f", 2, numpy=np.hypot)], ["sin", "pi", "y"])
    assert read(library, own, ("x + x", "sin(x)", "f(x)", "pi + x")) == ["sin + sin"]


@pytest.mark.parametrize("n_variables", [1, 2, 5])
@pytest.mark.parametrize("generator", [Listed(OWN, TEXTS), HVAE], ids=["listed", "HVAE"])
def test_subtrees_are_over_the_library_with_all_constants_valued(generator: Generator, n_variables: int) -> None:
    library = free(n_variables)
    source, rng = GeneratorSource(generator, library), np.random.default_rng(0)
    for likely in (np.ones(n_variables), np.arange(1.0, n_variables + 1)):
        found = source.subtrees(120, rng, 9, likely)
        Forest.checked(library, found.tokens, found.offsets, found.values)
        assert np.isfinite(found.values).all()
        assert len(found)
        assert found.sizes.max() <= 9
        assert len(found.unique()) == len(found)


def test_all_variables_are_placed() -> None:
    rng = np.random.default_rng(0)
    assert GeneratorSource(Listed(OWN, TEXTS), free(2)).placed(rng, np.ones(2)).tolist() == [0, 1]
    assert GeneratorSource(Listed(OWN, TEXTS), free(1)).placed(rng, np.ones(1)).tolist() == [0, 0]
    wide = GeneratorSource(Listed(OWN, TEXTS), free(4))
    drawn = np.array([wide.placed(rng, np.array([1.0, 1.0, 8.0, 1e-9])) for _ in range(200)])
    assert (drawn[:, 0] != drawn[:, 1]).all()
    assert set(np.unique(drawn)) == {0, 1, 2}


@pytest.mark.parametrize("texts", [TEXTS, ("tanh(2)",), ("2",)])
def test_symbols_cost_more_the_rarer_they_are(texts: tuple[str, ...]) -> None:
    source = GeneratorSource(Listed(OWN, texts), free(3))
    assert np.isfinite(source.frequencies).all()
    assert np.isfinite(source.costs).all()
    assert (source.costs >= 1).all()
    if texts is TEXTS:
        library = source.library
        assert source.costs[library.ids["x0"]] < source.costs[library.ids["sin"]] < source.costs[library.ids["exp"]]
        assert len({source.costs[library.ids[name]] for name in library.variables}) == 1


@pytest.mark.parametrize("n_variables", [1, 3])
def test_neighbours_in_the_latent_space(n_variables: int) -> None:
    library = strict(n_variables)
    source, rng = GeneratorSource(HVAE, library), np.random.default_rng(0)
    assert source.is_latent
    known = forest_of(library, "sin(x0)", "x0*x0 + x0", "cos(x0)^2", "asin(x0)")
    found = source.neighbours(known, 60, rng)
    Forest.checked(library, found.tokens, found.offsets, found.values)
    assert len(found)
    assert len(source.neighbours(known, 0, rng)) == 0
    assert len(source.neighbours(forest_of(library, "asin(x0)"), 10, rng)) == 0
    assert not GeneratorSource(Listed(OWN, TEXTS), library).is_latent
