"""The reconstruction error is the mean distance of what came back, and what did not is counted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from edhie.errors import GeneratorError
from edhie.expr import Forest, parse
from edhie.expr.standard_libraries import ae
from edhie.generators.base import Codes, Decoded
from edhie.generators.walks import reconstruct

LIBRARY = ae()
GIVEN = Forest.from_exprs([parse(text, LIBRARY) for text in ("x0 + c", "x0", "c*x0", "x0/c")])


class Parrot:
    """Codes are places in a list of expressions; some of them are no expression."""

    library = LIBRARY
    latent_dim = 1

    def __init__(self, answers: list[str | None]) -> None:
        self.answers = answers

    def encode(self, forest: Forest) -> tuple[Codes, Codes]:
        codes = np.arange(len(forest), dtype=np.float32)[:, None]
        return codes, np.zeros_like(codes)

    def decode(self, codes: Codes, **options: Any) -> Decoded:
        found = [(i, self.answers[int(code)]) for i, (code,) in enumerate(codes)]
        valid = [(i, parse(text, LIBRARY)) for i, text in found if text is not None]
        forest = Forest.from_exprs([expr for _, expr in valid], LIBRARY)
        return Decoded(forest, np.array([i for i, _ in valid], dtype=np.int64), len(codes))

    def sample(self, n: int, rng: np.random.Generator) -> Forest:
        raise NotImplementedError


def test_distances_are_averaged_over_what_came_back() -> None:
    found = reconstruct(Parrot(["x0 + c", "c", None, "x0*(c + c)"]), GIVEN)
    assert found.edit_distance == pytest.approx((0 + 1 + 3) / 3)
    assert (found.invalid, found.n, found.invalid_percent) == (1, 4, 25.0)
    assert found.exact == pytest.approx(0.25)


def test_nothing_came_back() -> None:
    found = reconstruct(Parrot([None] * 4), GIVEN)
    assert math.isnan(found.edit_distance)
    assert found.invalid_percent == 100


def test_nothing_given_is_an_error() -> None:
    with pytest.raises(GeneratorError, match="nothing to reconstruct"):
        reconstruct(Parrot([]), GIVEN[:0])
