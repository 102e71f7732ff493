"""Large numbers that cancel are seen; large numbers of the data are not counted."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate import read_data
from edhie.expr import parse
from edhie.selection.between_rows import cancellation

Z = np.linspace(0.0, 2.0, 50)
YEAR = 2000 + Z
DATA = read_data({"z": Z, "t": YEAR}, Z)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("88428*(1 - tanh(z + 6))", 1e4, 1e6),
        ("1000000 + z^2 - 1000000*cos(z/1000)", 1e5, 1e6),
        ("t^2 - 4000*t + 4000000", 1e5, 1e7),
        ("z^2 + 3*z - 2", 1.0, 2.0),
        ("sin(z) - z", 1.0, 2.0),
        ("(t - 2000)^2", 1.0, 1.0),
        ("exp(0.5*t - 1000)", 1.0, 1.0),
        ("z*z - z*z", np.inf, np.inf),
        ("log(z) + 1", 1.0, 5.0),
        ("z", 1.0, 1.0),
    ],
)
def test_how_much_is_lost(text: str, low: float, high: float) -> None:
    assert low <= cancellation(parse(text, variables=["z", "t"]), DATA) <= high


def test_the_loss_of_digits_is_as_large_as_it_says() -> None:
    """Rounding each term to single precision moves the result by about the ratio times that."""
    for offset in (1e2, 1e3, 1e4):
        expr = parse("c*(z - c) - c", variables=["z", "t"]).with_constants([1.0, 0.0, offset])
        whole = parse("(c + z^2) - c", variables=["z", "t"]).with_constants([offset, offset])
        assert cancellation(whole, DATA) == pytest.approx(offset / 4, rel=0.1)
        assert cancellation(expr, DATA) == 1.0  # a shift of a variable
