"""TOML files of benchmark problems."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np

from edhie.bench.problem import SHIPPED, load_problems
from fuzz.kind import Kind
from fuzz.mutation import encoded, mutated

MOST_ROWS = 2000
ROWS = "a,b,y\n1,2,3\n2,3,5\n4,1,5.5\n3,3,1\n"
SEEDS = (
    (SHIPPED / "nguyen.toml").read_text(encoding="utf-8")[:800],
    '[defaults]\nn_train = 20\n\n[[problem]]\nid = "A-1"\nformula = "x^2 + sin(y)"\ntarget = "z"\n'
    'variables = { x = [0, 1], y = [-1, 1, "m s^-2"] }\n',
    '[[problem]]\nid = "D"\ndata = "rows.csv"\ntarget = "y"\nunit = "kg m^2 s^-2"\n',
    '[[problem]]\nid = "A"\ntarget = "z"\nformula = "v*t"\nn_test = 5\n[problem.variables]\nv = [1.5, 2e3, "m s^-1"]\n'
    "t = [0, 1]\n",
)
PIECES = (
    "[[problem]]\n", "[defaults]\n", "[problem.variables]\n", "id = ", '"x"', "formula = ", "variables = ",
    "{ x = [0, 1] }", "n_train = 10", "= ", "0", "-1", "1e400", "inf", "nan", "[0, 1]", "[1, 0]", '"m s^-2"',
    '"m^9999"', "[", "]", "{", "}", '"""', "'''", "\n", ",", ".", "true", "1979-05-27", "0x1f", "data = ",
    '"rows.csv"', '"../rows.csv"', '"/etc/passwd"', '"/dev/zero"', "id.x = 1", "target", 'library = "nguyen"',
    '"\\u0000"',
)  # fmt: skip


def read(content: bytes, rng: random.Random, place: Path) -> None:
    """Read a file, and draw rows of its first problem where they are few."""
    (place / "rows.csv").write_text(ROWS, encoding="utf-8")
    path = place / "problems.toml"
    path.write_bytes(content)
    problem = load_problems(path)[0]
    if max(problem.n_train, problem.n_test) <= MOST_ROWS:
        X, y = problem.data("train", 0)  # noqa: N806 -- as scikit-learn calls it
        assert len(X) == len(y)
        assert np.isfinite(X).all()


KINDS = (Kind("problems (TOML)", 100, lambda rng: encoded(rng, mutated(rng, SEEDS, PIECES)), read),)
