"""The formulas of physics that come with edhie: all readable, and true."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edhie.corpora import Corpus, formulas, physics
from edhie.expr import Expr, parse

BY_ID = {
    each.removeprefix("feynman/"): row
    for row in formulas().rows
    for each in row.problems
    if each.startswith("feynman/")
}


def value(expr: Expr, **values: float) -> float:
    return float(expr(**{name: np.array([number]) for name, number in values.items()})[0])


def test_the_table() -> None:
    assert len(BY_ID) == 120
    assert len({row.name for row in BY_ID.values()}) == 120


def test_the_corpus(tmp_path: Path) -> None:
    corpus = physics()
    assert corpus.name == "Physics"
    assert corpus.provenance["formulas"] == 120
    assert len(corpus) + corpus.provenance["left out"]["repeated"] == 120
    assert len(corpus) > 100
    assert corpus.library.variables == tuple(f"x{i}" for i in range(9))
    assert corpus.library.constant is None
    assert Corpus.load(corpus.save(tmp_path)).forest.to_exprs() == corpus.forest.to_exprs()


def test_every_formula_has_values() -> None:
    # where all are equal, differences vanish and nothing is slower than light; elsewhere there are values
    points = {f"x{i}": column for i, column in enumerate(np.random.default_rng(0).uniform(0.1, 6, (9, 300)))}
    equal = {name: np.array([1.5]) for name in points}
    undefined = []
    for expr in physics().forest:
        with np.errstate(all="ignore"):
            if not np.isfinite(expr(**equal)[0]):
                undefined.append(str(expr))
            assert np.isfinite(expr(**points)).sum() > 10, expr
    assert len(undefined) < 20


@pytest.mark.parametrize(
    ("key", "values", "expected"),
    [
        ("I.6.2a", {"theta": 0.0}, 0.3989422804014327),  # the top of the normal density
        ("I.8.14", {"x1": 0.0, "x2": 3.0, "y1": 0.0, "y2": 4.0}, 5.0),
        ("I.14.3", {"m": 2.0, "g": 9.81, "z": 10.0}, 196.2),
        ("I.14.4", {"k_spring": 3.0, "x": 2.0}, 6.0),
        ("I.10.7", {"m_0": 3.0, "v": 0.6, "c_light": 1.0}, 3.75),
    ],
)
def test_known_laws(key: str, values: dict[str, float], expected: float) -> None:
    assert value(parse(BY_ID[key].text), **values) == pytest.approx(expected)
