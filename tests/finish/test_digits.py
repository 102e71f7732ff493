"""Printed constants: the text predicts as the expression does, with no more digits than that takes."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from edhie.evaluate import Data, read_data
from edhie.evaluate.values import squared_errors, values
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.finish.digits import LEAST, needed_digits
from fits import WRITTEN, fits

T = np.arange(200) * 0.05
RNG = np.random.default_rng(0)


def squares(expr: Expr, data: Data) -> float:
    return float(squared_errors(Forest.from_exprs([expr]), data)[0])


def wave(noise: float) -> Data:
    return read_data({"t": T}, np.sin(1.50048 * T + (5.86834e8 + 1 / 7)) + noise * RNG.normal(size=len(T)))


@pytest.mark.parametrize("noise", [0.0, 1e-12, 1e-9, 1e-7, 1e-4, 0.01, 0.5, 10.0])
def test_a_large_phase_keeps_the_digits_that_it_needs(noise: float) -> None:
    data = wave(noise)
    expr = parse("c*sin(c*t + c)", variables=["t"]).with_constants([1.0, 1.50048, 5.86834e8 + 1 / 7])
    text = f"{needed_digits(expr, data):r}"
    found = parse(text, WRITTEN.with_variables(["x", "t"]))
    moved = np.abs(found(t=T) - expr(t=T)).max()
    assert moved <= max(2e-3 * noise, 1e-6)
    assert noise <= 1e-9 or squares(parse(text, variables=["t"]), data) == pytest.approx(squares(expr, data), rel=0.01)
    assert len(text) <= len(str(expr))


def test_noise_hides_digits() -> None:
    x = np.linspace(1, 2, 100)
    expr = parse("c*x + c", variables=["x"]).with_constants([1.23456789012, 0.31415926535])
    noise = RNG.normal(size=100)
    lengths = [
        len(f"{needed_digits(expr, read_data({'x': x}, expr(x=x) + size * noise)):r}") for size in (0, 1e-6, 1e-3, 10)
    ]
    assert lengths[3] == len("1.235*x + 0.3142")
    assert lengths[1] > lengths[2] >= lengths[3]
    assert lengths[0] == len(str(expr))  # exact: all digits


def test_numbers_are_rounded_as_constants_are_and_literals_stay() -> None:
    library = SymbolLibrary.of(["+", "*", "sin"], ["x"], literals=("0.123456789",), numbers=True)
    expr = parse("0.123456789*x + 0.987654321*sin(pi*x)", library.extended(*WRITTEN.symbols[-2:]))
    x = np.linspace(0, 3, 50)
    data = read_data({"x": x}, expr(x=x) + RNG.normal(size=50))
    assert f"{needed_digits(expr, data):r}" == "0.123456789*x + 0.9877*sin(pi*x)"


def test_a_user_s_own_names_and_operators_do_no_harm() -> None:
    library = SymbolLibrary.of(["+", "*", "sin"], ["c", "c_"], numbers=True)
    expr = parse("0.987654321*c + c_", library)
    data = read_data({"c": T, "c_": T[::-1]}, T + RNG.normal(size=len(T)))
    assert str(needed_digits(expr, data)) == "0.9877*c + c_"


def test_rows_without_a_value_and_unfitted_constants() -> None:
    expr = parse("c*log(t)", variables=["t"])
    data = read_data({"t": T}, T + RNG.normal(size=len(T)))
    assert needed_digits(expr, data) == expr
    fitted = expr.with_constants([0.123456789])
    assert f"{needed_digits(fitted, data):r}" == "0.1235*log(t)"  # log(0) has no value, the other rows have
    never = parse("c*log(neg(t) - 1)", variables=["t"]).with_constants([0.123456789])
    assert needed_digits(never, data) == never


def test_held_out_rows_are_predicted_too() -> None:
    expr = parse("sin(c*t)", variables=["t"]).with_constants([1.23456789012345])
    noise = 0.1 * RNG.normal(size=len(T))
    data, far = (read_data({"t": t}, np.sin(1.23456789012345 * t) + noise) for t in (T, 1e6 * T))
    near, both = needed_digits(expr, data), needed_digits(expr, data, held_out=far)
    assert len(str(near)) < len(str(both))
    np.testing.assert_allclose(both(t=far.columns[0]), expr(t=far.columns[0]), atol=1e-3)


def test_integers_and_short_numbers_stay() -> None:
    expr = parse("c*t + c", variables=["t"]).with_constants([299792458.0, 0.25])
    data = read_data({"t": T}, 299792458 * T + 1e6 * RNG.normal(size=len(T)))
    assert needed_digits(expr, data) == expr


def test_law_printed_text_has_the_loss_and_the_predictions() -> None:
    for expr, data in fits(1000, seed=2):
        shown = needed_digits(expr, data)
        text = f"{shown:r}"
        found = parse(text, WRITTEN)
        before, after = squares(expr, data), squares(found, data)
        is_exact = before <= 1e-18 * data.squares_to_explain
        assert is_exact or abs(after - before) <= 0.0101 * before, text
        ours, theirs = (values(Forest.from_exprs([each]), data.columns)[0] for each in (expr, found))
        residuals = np.abs(data.y - ours)
        limit = np.maximum(1.01e-3 * np.maximum(residuals, np.sqrt(np.mean(residuals**2))), 1.01e-6 * data.y.std())
        assert (np.abs(ours - theirs) <= limit).all(), text
        assert shown.tokens == expr.tokens


def test_no_digit_is_idle() -> None:
    """Two digits less for all constants break the promise, wherever more than the least are printed."""
    broken = total = 0
    for expr, data in fits(400, seed=3):
        shown = needed_digits(expr, data)
        counts = [len(Decimal(repr(value)).normalize().as_tuple().digits) for value in shown.constants]
        if max(counts) <= LEAST + 1:
            continue
        fewer = expr.with_constants(
            [float(f"{value:.{max(count - 3, 1)}e}") for value, count in zip(expr.constants, counts, strict=True)]
        )
        ours, theirs = (values(Forest.from_exprs([each]), data.columns)[0] for each in (expr, fewer))
        residuals = np.abs(data.y - ours)
        limit = np.maximum(1e-3 * np.maximum(residuals, 1.4826 * np.median(residuals)), 1e-6 * data.y.std())
        changed = abs(squares(fewer, data) - squares(expr, data)) > 0.01 * squares(expr, data)
        broken += bool(changed or not (np.abs(ours - theirs) <= limit).all())
        total += 1
    assert total > 40
    assert broken > 0.8 * total
