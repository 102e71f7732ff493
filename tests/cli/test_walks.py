"""`edhie neighbours` and `edhie interpolate`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edhie.corpora import Corpus
from edhie.expr import parse
from edhie.expr.distance import edit_distance
from edhie.generators import TrainConfig, load, save
from edhie.generators.base import Decoded
from edhie.grammar import PCFG

SIGNED = "E -> '-' E [0.2] | 'sin' '(' E ')' [0.3] | E '+' 'x0' [0.2] | 'x0' [0.3]\n"


def test_neighbours(edhie: Callable[..., Any], model_folder: Path) -> None:
    arguments = ("neighbours", model_folder, "c*x0", "-n", 40, "--radius", 5, "--seed", 2)
    code, out, err = edhie(*arguments)
    assert (code, err) == (0, "")
    head, *lines = out.splitlines()
    assert head.split() == ["distance", "count", "expression"]
    library = load(model_folder).library
    rows = [line.split(maxsplit=2) for line in lines]
    assert sum(int(row[1]) for row in rows) == 40
    centre = parse("c*x0", library)
    assert [int(row[0]) for row in rows] == [edit_distance(centre, parse(row[2], library)) for row in rows]
    objects = [json.loads(line) for line in edhie(*arguments, "--json").out.splitlines()]
    assert [[str(row["distance"]), str(row["count"]), row["expression"]] for row in objects] == rows


def test_interpolate(edhie: Callable[..., Any], model_folder: Path, tmp_path: Path) -> None:
    figure = tmp_path / "walk"
    code, out, err = edhie("interpolate", model_folder, "sin(x0)", "c*x0", "--steps", 2, "--figure", figure)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["alpha", "0", "0.5", "1"]
    assert lines[4] == f"trees drawn in {figure}.png"
    assert figure.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    rows = [
        json.loads(line)
        for line in edhie("interpolate", model_folder, "sin(x0)", "c*x0", "--steps", 2, "--json").out.splitlines()
    ]
    assert [row["alpha"] for row in rows] == [0, 0.5, 1]
    assert [row["expression"] for row in rows] == [line.split(maxsplit=1)[1] for line in lines[1:4]]


def test_figures_that_cannot_be_drawn(edhie: Callable[..., Any], model_folder: Path, tmp_path: Path) -> None:
    for name in ("walk.docx", "none/walk.png"):
        code, _, err = edhie("interpolate", model_folder, "x0", "c", "--figure", tmp_path / name)
        assert code == 1
        assert err.startswith(f"error: cannot draw into {tmp_path / name}: ")


def test_points_that_give_none_are_marked(
    edhie: Callable[..., Any], model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = type(load(model_folder))
    whole = model.decode

    def failing(self: Any, codes: Any, **options: Any) -> Decoded:
        return Decoded(whole(self, codes[::2], **options).forest, np.arange(0, len(codes), 2), len(codes))

    monkeypatch.setattr(model, "decode", failing)
    figure = tmp_path / "walk.svg"
    lines = edhie("interpolate", model_folder, "x0", "c", "--steps", 2, "--figure", figure).out.splitlines()
    assert lines[2] == "  0.5  (no expression)"
    assert "(no expression)" not in lines[1] + lines[3]
    assert figure.exists()
    result = edhie("neighbours", model_folder, "x0", "-n", 9)
    assert result.code == 0
    assert result.err == "4 of 9 points gave no expression\n"


def test_formulas_may_begin_with_a_minus_sign(edhie: Callable[..., Any], tmp_path: Path) -> None:
    from edhie.generators.train import train

    forest = PCFG.parse(SIGNED).sample(30, np.random.default_rng(0), max_size=9)
    config = TrainConfig(hidden=4, latent=2, epochs=1)
    folder = save(tmp_path / "signed", train(Corpus("signed", forest).forest, config)[0], config)
    plain = edhie("neighbours", folder, "0", "-n", 5).err
    assert "the number 0 is not in the library" in plain
    for formula in ("-sin(x0)", "-x0", "-(x0 + x0)", "-n"):
        ended = edhie("neighbours", folder, formula, "-n5")
        assert ended.code == (2 if formula == "-n" else 0)
    assert edhie("encode", folder, "-sin(x0)", "-x0").out.splitlines()[::3] == ["-sin(x0)", "-x0"]
    assert edhie("interpolate", folder, "-sin(x0)", "-sin(-x0)", "--steps", 1).code == 0
    assert "  -sin(y)\n       ^\n" in edhie("encode", folder, "-sin(y)").err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("neighbours", "x0", "--radius", "inf"), 1),
        (("neighbours", "x0", "--radius", "1e39"), 1),
        (("neighbours", "x0", "--radius", "nan"), 2),
        (("neighbours", "x0", "-n", 10**15), 2),
        (("interpolate", "x0", "c", "--steps", 10**15), 2),
    ],
)
def test_numbers_beyond_all_bounds(
    arguments: tuple[Any, ...], code: int, edhie: Callable[..., Any], model_folder: Path
) -> None:
    name, *rest = arguments
    result = edhie(name, model_folder, *rest)
    assert (result.code, result.out) == (code, "")
    assert "warning" not in result.err
    assert "error" in result.err.lower()
