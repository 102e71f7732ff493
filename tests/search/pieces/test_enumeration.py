"""Small expressions come in order of size, each once, and all that behave differently are among them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from edhie.evaluate.values import values
from edhie.expr import Forest, SymbolLibrary
from edhie.search.pieces.enumeration import Enumeration, sizes_as_meant, written_one
from edhie.search.pieces.piece_pool import PiecePool
from mosaics import Numbers, data_of, forest_of, free, positive, strict

COLUMNS = np.random.default_rng(0).uniform(0.3, 1.7, (2, 12))
LIBRARIES = {
    "arithmetic": SymbolLibrary.of(["+", "-", "*"], 2),
    "functions": SymbolLibrary.of(["+", "sin", "sqrt"], 1),
    "constants": SymbolLibrary.of(["*", "-", "exp"], 1, constant=True),
    "literals": SymbolLibrary.of(["+", "^2"], 2, literals=("2", "pi")),
    "only unary": SymbolLibrary.of(["sin", "cos"], 1),
    "one leaf": SymbolLibrary.of([], 1),
}
LARGEST = 5
GRID, ABOVE = np.linspace(-1, 1, 13), np.linspace(1, 2, 13)  # with 0 among them, and without


def all_trees(library: SymbolLibrary, largest: int) -> Forest:
    """Every tree of at most so many nodes; constants are 1."""
    by_size: list[list[tuple[int, ...]]] = [[], [(k,) for k, s in enumerate(library.symbols) if s.arity == 0]]
    for size in range(2, largest + 1):
        found = []
        for k, symbol in enumerate(library.symbols):
            if symbol.arity == 1:
                found += [(k, *each) for each in by_size[size - 1]]
            elif symbol.arity == 2:
                for left in range(1, size - 1):
                    found += [(k, *a, *b) for a, b in product(by_size[left], by_size[size - 1 - left])]
        by_size.append(found)
    trees = [tree for size in by_size for tree in size]
    forest = Forest.checked(
        library, np.array([token for tree in trees for token in tree]), np.cumsum([0] + [len(tree) for tree in trees])
    )
    return Forest(library, forest.tokens, forest.offsets, np.ones(len(forest.values)))


def behaviours(forest: Forest) -> set[tuple[float, ...]]:
    found = values(forest, columns_of(forest.library))
    return {tuple(float(f"{v:.9g}") + 0.0 for v in row) for row in found[np.isfinite(found).all(axis=1)]}


def columns_of(library: SymbolLibrary) -> Numbers:
    return np.ascontiguousarray(COLUMNS[: len(library.variables)])


def enumerated(library: SymbolLibrary, chunk: int, largest: int = LARGEST) -> list[Forest]:
    enumeration = Enumeration(library, largest)
    pieces = PiecePool(library, columns_of(library), 10_000, np.ones(len(library)))
    found = []
    while not enumeration.is_over:
        taken = enumeration.take(chunk, pieces.forest)
        pieces.execute(pieces.unseen(taken))
        found.append(taken)
        assert len(found) < 5000
    return found


@pytest.mark.parametrize("chunk", [1, 7, 1000])
@pytest.mark.parametrize("name", LIBRARIES)
def test_all_that_behave_differently_come_once(name: str, chunk: int) -> None:
    library = LIBRARIES[name]
    parts = enumerated(library, chunk)
    assert all(len(part) <= chunk for part in parts)
    every = Forest.concatenate(parts)
    Forest.checked(library, every.tokens, every.offsets, every.values)
    assert len(every.unique()) == len(every)
    assert (np.diff(every.sizes) >= 0).all()
    assert behaviours(every) == behaviours(all_trees(library, LARGEST))


@pytest.mark.parametrize("chunk", [1, 5, 1000])
def test_without_numbers_1_is_x_over_x_and_small(chunk: int) -> None:
    library = SymbolLibrary.of(["+", "/"], 2)
    every = Forest.concatenate(enumerated(library, chunk, largest=3))
    one = forest_of(library, "x0/x0")[0]
    assert [expr.size for expr in every].count(1) == 2
    assert str(every[2]) == "x0/x0"  # right after the leaves
    assert sum(expr == one for expr in every) <= 2  # and once more as what it is
    assert {"x0/x0 + x0", "x0/(x0/x0 + x0/x0)"} & set(map(str, every)) == {"x0/x0 + x0"}
    assert len(every.unique()) >= len(every) - 1


def test_it_goes_on_where_it_was() -> None:
    library = LIBRARIES["arithmetic"]
    whole = Forest.concatenate(enumerated(library, 7))
    enumeration = Enumeration(library, LARGEST)
    pieces = PiecePool(library, COLUMNS, 10_000, np.ones(len(library)))
    found = []
    while not enumeration.is_over:
        again = Enumeration(library, LARGEST)  # as one that was kept in a file
        again.size, again.place, again.base = enumeration.size, enumeration.place, enumeration.base
        enumeration = again
        found.append(enumeration.take(7, pieces.forest))
        pieces.execute(pieces.unseen(found[-1]))
    both = Forest.concatenate(found)
    np.testing.assert_array_equal(both.tokens, whole.tokens)
    assert len(enumeration.take(7, pieces.forest)) == 0


def test_sizes_as_meant() -> None:
    forest = forest_of(strict(), "x0/x0", "x0/x0 + x1", "x1/x1", "sin(x0/x0)/(x0/x0)", "x0")
    assert sizes_as_meant(forest).tolist() == [1, 3, 3, 4, 1]
    assert sizes_as_meant(forest_of(free(), "x0/x0")).tolist() == [3]
    assert len(sizes_as_meant(forest_of(strict()))) == 0


def test_pieces_of_other_sources_are_built_upon() -> None:
    library = SymbolLibrary.of(["sin", "cos"], 1)
    pieces = PiecePool(library, positive(1), 100, np.ones(len(library)))
    pieces.execute(forest_of(library, "cos(cos(x0))"))
    enumeration, texts = Enumeration(library, 4), []
    while not enumeration.is_over:
        texts += list(map(str, enumeration.take(1, pieces.forest)))
    assert "sin(cos(cos(x0)))" in texts


@pytest.mark.parametrize(
    ("columns", "text"),
    [((ABOVE, ABOVE), "x0/x0"), ((GRID, ABOVE), "x1/x1"), ((GRID, GRID), "exp(x0 - x0)")],
    ids=["first", "second", "neither"],
)
def test_1_is_1_in_all_rows_and_counts_as_one_node(columns: tuple[Numbers, ...], text: str) -> None:
    library, data = strict(), data_of(np.stack(columns), ABOVE)
    one = written_one(library, data)
    assert list(one) == list(forest_of(library, text))
    np.testing.assert_array_equal(values(one, data.columns), 1.0)
    assert sizes_as_meant(forest_of(library, text, f"x0*({text}) + {text}", "x0 + x1"), one).tolist() == [1, 5, 3]
    enumeration = Enumeration(library, 3, one)
    pieces = PiecePool(library, data.columns, 10_000, np.ones(len(library)))
    found = [enumeration.take(1000, pieces.forest)]
    pieces.execute(found[0])
    while not enumeration.is_over:
        found.append(enumeration.take(1000, pieces.forest))
    texts = set(map(str, Forest.concatenate(found)))
    assert {text, f"sin({text})", f"x0 + {text}"} <= texts


def test_no_1_where_it_cannot_be_written() -> None:
    data = data_of(np.stack([GRID]), ABOVE)
    assert len(written_one(SymbolLibrary.of(["+", "-", "*", "/", "sin"], 1), data)) == 0
    for library in (free(1), SymbolLibrary.of(["+", "-", "exp"], 1)):
        assert len(written_one(library)) == len(written_one(library, data)) == 0
