"""Whatever is spelled comes to what it says, with the symbols of its library alone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edhie.evaluate.values import values
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.search.pieces.spelling import Speller, UnwritableError, fraction_of
from mosaics import OPERATORS, Numbers, data_of, free, positive, strict

COLUMNS = positive(2, 25)
LIBRARIES = {
    "constants": free(),
    "numbers": SymbolLibrary.of(OPERATORS, 2, numbers=True),
    "^": SymbolLibrary.of(["+", "-", "*", "/", "^"], 2, constant=True),
    "no minus": SymbolLibrary.of(["+", "*", "/", "^2", "sqrt", "log", "exp"], 2, constant=True),
    "neg": SymbolLibrary.of([*OPERATORS, "neg"], 2, constant=True),
    "strict": strict(),
    "strict with neg": SymbolLibrary.of(["+", "*", "/", "neg", "sqrt"], 2),
    "literals": SymbolLibrary.of(OPERATORS, 2, literals=("1", "3", "-2", "0.5", "pi")),
}
FREE = [name for name in LIBRARIES if LIBRARIES[name].constant or LIBRARIES[name].has_numbers]
PARTS = [Expr.trusted(free(), tuple(text.split()), ()) for text in ("x0", "x1", "/ x0 x1", "* x0 x1")]
PART_VALUES = np.stack([COLUMNS[0], COLUMNS[1], COLUMNS[0] / COLUMNS[1], COLUMNS[0] * COLUMNS[1]])
plain = st.fractions(-12, 12, max_denominator=6).filter(lambda f: abs(f.numerator) <= 12).map(float)
any_float = st.floats(-1e6, 1e6).filter(lambda value: abs(value) > 1e-6)
every = pytest.mark.parametrize("name", LIBRARIES)


def value_of(words: Expr, library: SymbolLibrary) -> Numbers:
    """What the words come to; they are over the library and whole."""
    expr = Expr(library, words.tokens, words.constants)  # as checked as a user's
    if not library.has_numbers:
        assert set(words.tokens) <= set(library.names)
    assert None not in words.constants
    found: Numbers = values(Forest.from_exprs([expr], library), COLUMNS)[0]
    return found


@every
@settings(max_examples=20)
@given(value=plain)
def test_numbers(name: str, value: float) -> None:
    library = LIBRARIES[name]
    if value == 0 and name == "strict with neg":
        with pytest.raises(UnwritableError):
            Speller(library).number(value)
        return
    np.testing.assert_allclose(value_of(Speller(library).number(value), library), value, rtol=1e-14)


@pytest.mark.parametrize("name", FREE)
@settings(max_examples=20)
@given(value=any_float)
def test_any_number_where_numbers_can_be_written(name: str, value: float) -> None:
    library = LIBRARIES[name]
    np.testing.assert_array_equal(value_of(Speller(library).number(value), library), value)


@every
@settings(max_examples=25)
@given(data=st.data())
def test_sums(name: str, data: st.DataObject) -> None:
    library = LIBRARIES[name]
    numbers = plain | any_float if name in FREE else plain
    coefficients = data.draw(st.lists(numbers.filter(bool), min_size=1, max_size=4))
    if data.draw(st.booleans()):
        coefficients = [abs(coefficients[0]) * np.sign(c) for c in coefficients]  # with a factor in common
    constant = data.draw(st.just(0.0) | numbers)
    words = Speller(library).sum(list(zip(coefficients, PARTS, strict=False)), constant)
    wanted = np.array(coefficients) @ PART_VALUES[: len(coefficients)] + constant
    scale = np.abs(coefficients) @ np.abs(PART_VALUES[: len(coefficients)]) + abs(constant)
    assert (np.abs(value_of(words, library) - wanted) <= 1e-8 * scale).all()


@every
@settings(max_examples=25)
@given(data=st.data())
def test_products(name: str, data: st.DataObject) -> None:
    library = LIBRARIES[name]
    whole = st.integers(-8, 8).filter(bool).map(float)
    half = st.sampled_from([0.5, -0.5, 1.5, -2.5])
    exponents = whole | half if "sqrt" in library or name in FREE else whole
    if name in FREE:
        exponents |= st.floats(-3, 3).filter(lambda e: abs(e) > 0.01)
    powers = data.draw(st.lists(exponents, max_size=4))
    factor = data.draw(st.just(1.0) | (plain.filter(bool) if name not in FREE else any_float))
    words = Speller(library).product(list(zip(powers, PARTS, strict=False)), factor)
    wanted = np.prod(PART_VALUES[: len(powers)] ** np.array(powers)[:, np.newaxis], axis=0) * factor
    np.testing.assert_allclose(value_of(words, library), wanted, rtol=1e-8)


@every
def test_negatives_and_heads(name: str) -> None:
    library, speller = LIBRARIES[name], Speller(LIBRARIES[name])
    np.testing.assert_allclose(value_of(speller.negative(PARTS[2]), library), -PART_VALUES[2], rtol=1e-15)
    np.testing.assert_allclose(value_of(speller.headed(("1/",), PARTS[0]), library), 1 / COLUMNS[0], rtol=1e-14)
    if "sqrt" in library:
        found = value_of(speller.headed(("1/", "sqrt"), PARTS[0]), library)
        np.testing.assert_allclose(found, COLUMNS[0] ** -0.5, rtol=1e-14)


def test_the_sum_of_nothing_is_nothing() -> None:
    for library in (free(), strict()):
        np.testing.assert_array_equal(value_of(Speller(library).sum([]), library), 0.0)


@pytest.mark.parametrize("value", [np.pi, 1 / 7, 13.0, 1e9, np.inf, np.nan, 0.1])
def test_what_cannot_be_spelled(value: float) -> None:
    speller = Speller(strict())
    with pytest.raises(UnwritableError):
        speller.number(value)
    with pytest.raises(UnwritableError):
        speller.sum([(value, PARTS[0])])
    with pytest.raises(UnwritableError):
        speller.power(PARTS[0], 0.3)
    with pytest.raises(UnwritableError):
        speller.over("tanh", PARTS[0])


def test_fractions_of_small_whole_numbers() -> None:
    assert fraction_of(2 / 3) == Fraction(2, 3)
    assert fraction_of(-12.0) == -12
    assert fraction_of(2 / 3 + 1e-6) is None
    assert fraction_of(1 / 7) is None


def test_numbers_that_are_symbols_are_used() -> None:
    speller = Speller(LIBRARIES["literals"])
    assert speller.number(1.0).tokens == ("1",)
    assert speller.number(np.pi).tokens == ("pi",)
    assert speller.sum([(np.pi, PARTS[0])]).tokens == ("*", "pi", "x0")


def test_1_where_variables_are_0() -> None:
    library = strict()
    zero, other = np.array([-1.0, 0.0, 1.0]), np.array([1.0, 2.0, 3.0])
    for columns, text in (
        (np.stack([other, zero]), "x0/x0"),
        (np.stack([zero, other]), "x1/x1"),
        (np.stack([zero, zero]), "exp(x0 - x0)"),
    ):
        data = data_of(columns, other)
        assert Speller(library, data).one == parse(text, library)
        forest = Forest.from_exprs([Speller(library, data).number(4.0)], library)
        np.testing.assert_array_equal(values(forest, columns)[0], 4.0)


def test_where_there_is_no_1_numbers_are_done_without() -> None:
    data = data_of(np.array([[-1.0, 0.0, 1.0]]), np.ones(3))
    for operators in (["+"], ["+", "-", "*", "/", "sin"]):
        library = SymbolLibrary.of(operators, 1)
        assert Speller(library, data).one is None
        with pytest.raises(UnwritableError):
            Speller(library, data).number(2.0)
        twice = Speller(library, data).sum([(2.0, PARTS[0])])
        assert twice.tokens == ("+", "x0", "x0")
