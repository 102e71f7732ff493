"""The frames that a search begins with are sound, whatever the data."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.search.mosaic.config import MosaicConfig
from edhie.search.mosaic.frames.opening_frames import opening_frames, scales
from mosaics import Numbers, data_of, free, positive, strict

RNG = np.random.default_rng(0)
X = positive(2, 100)
SIGNS = RNG.choice([-1.0, 1.0], 100)
TARGETS: dict[str, Numbers] = {
    "plain": X[0] * X[1] + 1,
    "negative": -np.exp(X[0]),
    "zeros": np.where(np.arange(100) % 7 == 0, 0.0, X[0]),
    "both signs": X[0] * SIGNS,
    "large": 1e140 * X[0],
    "small": 1e-140 * X[0],
    "a huge range": 10.0 ** RNG.uniform(-140, 140, 100),
    "constant": np.full(100, 3.0),
    "zero": np.zeros(100),
    "two values": (np.arange(100) % 2).astype(np.float64),
}
TABLES: dict[str, Numbers] = {
    "plain": X,
    "both signs": X * SIGNS,
    "zeros": np.round(X - 1),
    "a huge range": 10.0 ** RNG.uniform(-300, 300, (2, 100)),
    "constant": np.full((2, 100), 2.0),
    "many": RNG.uniform(0.5, 2, (40, 100)),
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("weights", [None, RNG.uniform(0, 1, 100) * (np.arange(100) % 3 > 0)], ids=["", "weights"])
def test_frames_are_sound(table: str, target: str, weights: Numbers | None) -> None:
    data = data_of(TABLES[table], TARGETS[target], weights)
    frames = opening_frames(data, free(data.n_variables), MosaicConfig())
    assert frames
    assert len({frame.key for frame in frames}) == len(frames)
    with np.errstate(all="ignore"):
        for frame in frames:
            assert np.isfinite(frame.target).all()
            assert np.isfinite(frame.unexplained)
            assert 0 <= frame.unexplained < 1 + 1e-6
            assert len(frame.scale) == data.n_variables
            scale = np.prod(data.columns ** np.array(frame.scale)[:, np.newaxis], axis=0) if any(frame.scale) else 1.0
            linked = scale * frame.link.apply(data.y)
            wanted = np.log(np.abs(linked)) if frame.free.is_product else linked
            np.testing.assert_allclose(frame.target, wanted, rtol=1e-9)
            if frame.link.is_even:
                assert frame.sign == np.sign(data.y[0])


def test_every_part_can_be_left_out() -> None:
    data, library = data_of(X, TARGETS["plain"]), free()
    every = opening_frames(data, library, MosaicConfig())
    assert {frame.link.name for frame in opening_frames(data, library, MosaicConfig(links=False))} == {"y"}
    assert not any(frame.free.is_product for frame in opening_frames(data, library, MosaicConfig(products=False)))
    assert not any(any(frame.scale) for frame in opening_frames(data, library, MosaicConfig(scales=False)))
    assert not any(any(frame.scale) for frame in opening_frames(data, library, MosaicConfig(), for_columns=True))
    poor = opening_frames(data, library, MosaicConfig(polynomials=False))
    assert all(len(frame.free.exponents) == 1 for frame in poor)
    assert len(every) > len(poor)


def test_only_links_that_can_be_written() -> None:
    data = data_of(X, TARGETS["plain"])
    from edhie.expr import SymbolLibrary

    names = {frame.link.name for frame in opening_frames(data, SymbolLibrary.of(["+", "*", "sqrt"], 2), MosaicConfig())}
    assert names == {"y", "y^2"}
    assert opening_frames(data, strict(), MosaicConfig())


@pytest.mark.parametrize("n", [0, 1, 2, 4, 6, 12, 60])
def test_scales_are_distinct_and_the_plainest_come_first(n: int) -> None:
    found = scales(np.arange(n))
    assert len(np.unique(found, axis=0)) == len(found)
    assert found.any(axis=1).all()
    if n:
        degrees = np.abs(found).sum(axis=1)
        assert degrees[0] == 1
        assert (np.diff(degrees) >= 0).all()
        assert len(found) <= 3000
