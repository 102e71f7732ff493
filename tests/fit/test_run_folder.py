"""A discovery as a folder: it comes back as it was, whole or without all that was explored."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from descriptions import unsealed
from edhie.errors import SearchError
from edhie.evaluate import Constraints, Data, FitConfig
from edhie.evaluate.resolution import Resolution
from edhie.fit import Discovery, Problem, Settings, discover
from edhie.fit.run_folder import load, save


@pytest.fixture(scope="module")
def found() -> Discovery:
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 5, (2, 1000))
    data = Data(x, 3 * x[0] * np.exp(-x[1]) + 0.1 * rng.normal(size=1000), None, ("a", "b (m)"))
    return discover(Problem.of(data, target="T (°C)"), Settings(max_time=None, max_evaluations=100))


@pytest.mark.parametrize("whole", [True, False])
def test_it_comes_back(whole: bool, found: Discovery, tmp_path: Path) -> None:
    back = load(save(found, tmp_path / "run"), whole=whole)
    assert (back.target, back.columns, back.settings) == (found.target, found.columns, found.settings)
    assert [str(each) for each in back.equations] == [str(each) for each in found.equations]
    assert [each.expr.constants for each in back.equations] == [each.expr.constants for each in found.equations]
    assert [each.score for each in back.equations] == [each.score for each in found.equations]
    assert (back.index, back.best.r2, back.best.r2_validation) == (
        found.index, found.best.r2, found.best.r2_validation
    )  # fmt: skip
    np.testing.assert_array_equal(back.best.uncertainty.covariance, found.best.uncertainty.covariance)
    assert back.result.counts == found.result.counts
    assert len(back.explored) == len(found.explored if whole else found.equations)


def test_settings_are_kept(found: Discovery, tmp_path: Path) -> None:
    settings = replace(
        found.settings,
        loss="mae",
        constants=FitConfig(lower=-1.0),
        constraints=Constraints(max_size=9, nested={"exp": ["exp"]}),
        operators=["+", "exp"],
        noise="both",
    )
    save(replace(found, settings=settings), tmp_path / "run")
    assert load(tmp_path / "run", whole=False).settings == settings


def test_functions_are_not_kept(found: Discovery, tmp_path: Path) -> None:
    save(replace(found, settings=replace(found.settings, loss=lambda y, predicted, weights: 0.0)), tmp_path / "run")
    assert load(tmp_path / "run", whole=False).settings.loss_name is None


def test_the_resolution_of_the_target_is_kept(found: Discovery, tmp_path: Path) -> None:
    assert found.validation is not None
    rounded = replace(
        found.problem,
        train=replace(found.train, y=np.round(found.train.y, 2), resolution=Resolution(0.001, 5)),  # as a file may say
        validation=replace(found.validation, resolution=Resolution(0.01)),
    )
    back = load(save(replace(found, problem=rounded), tmp_path / "run"), whole=False)
    assert back.validation is not None
    assert (back.train.resolution, back.validation.resolution) == ((0.001, 5), (0.01, 0))


def test_standard_errors_are_kept(found: Discovery, tmp_path: Path) -> None:
    assert found.validation is not None
    sigma = np.linspace(0.1, 2, found.train.n_rows)
    weighted = replace(found.problem, train=replace(found.train, sigma=sigma, weights=1 / sigma**2))
    back = load(save(replace(found, problem=weighted), tmp_path / "run"), whole=False)
    np.testing.assert_array_equal(back.train.sigma, sigma)
    np.testing.assert_array_equal(back.train.weights, 1 / sigma**2)
    assert back.validation is not None
    assert back.validation.sigma is None


def test_the_choice_is_kept(found: Discovery, tmp_path: Path) -> None:
    folder = save(found, tmp_path / "run")
    path = folder / "discovery.json"
    description = unsealed(path)
    other = 0 if found.index else 1
    path.write_text(json.dumps(description | {"index": other}), encoding="utf-8")
    assert load(folder).index == load(folder, whole=False).index == other


def test_equations_of_other_variables_than_the_rows_have(found: Discovery, tmp_path: Path) -> None:
    path = save(found, tmp_path) / "discovery.json"
    path.write_text(json.dumps(unsealed(path) | {"variables": ["p", "q"]}), encoding="utf-8")
    with pytest.raises(SearchError, match=r"has variables that are not in data\.safetensors"):
        load(tmp_path)


@pytest.mark.parametrize("cells", [["B2"], ["B2", '=cmd|"x"'], ["B2", 3]])
def test_cells_that_are_none(cells: list[object], found: Discovery, tmp_path: Path) -> None:
    there = replace(found, problem=replace(found.problem, cells=("B2", "AA2")))
    path = save(there, tmp_path) / "discovery.json"
    assert load(tmp_path).problem.cells == ("B2", "AA2")
    path.write_text(json.dumps(unsealed(path) | {"cells": cells}), encoding="utf-8")
    with pytest.raises(SearchError, match=r"discovery\.json|damaged"):
        load(tmp_path)


def test_nothing_found(found: Discovery, tmp_path: Path) -> None:
    nothing = discover(found.train, Settings(max_time=None, max_evaluations=0))
    back = load(save(nothing, tmp_path), whole=False)
    assert back.is_empty
    assert back.equations == ()
    assert not (tmp_path / "best.txt").exists()


@pytest.mark.parametrize("name", ["data.safetensors", "discovery.json", "symbols.json"])
def test_damage_is_told(name: str, found: Discovery, tmp_path: Path) -> None:
    (save(found, tmp_path) / name).write_bytes(b"{}")
    with pytest.raises(SearchError, match=r"is damaged: |cannot be read: "):
        load(tmp_path)


def test_another_format(found: Discovery, tmp_path: Path) -> None:
    path = save(found, tmp_path) / "discovery.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | {"format": 9}), encoding="utf-8")
    with pytest.raises(SearchError, match="has format 9; this edhie reads format 2"):
        load(tmp_path)
