"""Each link undone gives back the target, and its slope is its derivative."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.expr import SymbolLibrary
from edhie.expr.symbols import OPERATORS
from edhie.search.mosaic.config import Opening
from edhie.search.mosaic.frames.frame import LINKS, Link, usable_links
from mosaics import free

RNG = np.random.default_rng(0)
TARGETS = [
    RNG.uniform(0.1, 1.5, 40), -RNG.uniform(0.1, 1.5, 40), RNG.uniform(-1.5, 1.5, 40), RNG.uniform(0.1, 3.1, 40),
    RNG.uniform(-20, 20, 40), RNG.uniform(5, 1e6, 40), np.append(0.0, RNG.uniform(0.5, 1, 39)),
]  # fmt: skip
LINKS_BY_NAME = {link.name: link for link in LINKS}


@pytest.mark.parametrize("name", LINKS_BY_NAME)
def test_undone_it_gives_back_the_target(name: str) -> None:
    link, n_held = LINKS_BY_NAME[name], 0
    for y in TARGETS:
        if not link.holds(y):
            continue
        n_held += 1
        sign = -1.0 if link.is_even and y[0] < 0 else 1.0
        np.testing.assert_allclose(sign * link.undo(link.apply(y)), y, rtol=1e-6, atol=1e-7)
    assert n_held
    assert n_held < len(TARGETS) or name == "y"


@pytest.mark.parametrize("name", LINKS_BY_NAME)
def test_its_slope_is_its_derivative(name: str) -> None:
    link, step = LINKS_BY_NAME[name], 1e-6
    y = next(y for y in TARGETS if link.holds(y))
    difference = (link.apply(y + step) - link.apply(y - step)) / (2 * step)
    np.testing.assert_allclose(link.slope(y), difference, rtol=1e-4, atol=1e-6)


def heads(link: Link) -> list[str]:
    return ["/" if name == "1/" else name for name in link.head]


def test_a_link_needs_what_undoes_it() -> None:
    y = TARGETS[0]
    assert [link.name for link in usable_links(y, free())] == [link.name for link in LINKS]
    for link in LINKS:
        assert all(name in OPERATORS for name in heads(link))
        for missing in heads(link):
            library = SymbolLibrary.of([name for name in OPERATORS if name != missing], 1)
            assert link not in usable_links(y, library)
    assert [link.name for link in usable_links(y, SymbolLibrary.of(["+"], 1))] == ["y"]
    assert {*Opening.PRODUCT_LINKS, *Opening.SCALED_LINKS, *Opening.RELATIVE_LINKS} <= set(LINKS_BY_NAME)


def test_what_does_not_hold() -> None:
    zero, mixed = np.array([0.0, 1.0]), np.array([-1.0, 1.0])
    assert not LINKS_BY_NAME["1/y"].holds(zero)
    assert not any(LINKS_BY_NAME[name].holds(mixed) for name in ("y^2", "1/y^2", "sqrt(y)", "cos(y)"))
    assert not LINKS_BY_NAME["exp(y)"].holds(np.array([0.0, 31.0]))
    assert not LINKS_BY_NAME["sin(y)"].holds(np.array([0.0, 2.0]))
