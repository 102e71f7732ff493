"""What else a fitted regressor can do: folders, pictures, pages, templates, formulas of a field, revising."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from edhie import EDHiERegressor, operator
from edhie.errors import ParseError, SearchError
from edhie.fit import field
from edhie.fit.generator import generator_and_library
from edhie.grammar import load

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.uniform(0.5, 4, (150, 2)), columns=["dose", "time"])
Y = (2 * X["dose"] / (1.5 + X["dose"]) * np.exp(-0.4 * X["time"])).rename("level")


def quick(n: int = 600, **more: object) -> EDHiERegressor:
    return EDHiERegressor(max_time=None, max_evaluations=n, **more)


@pytest.fixture(scope="module")
def fitted() -> EDHiERegressor:
    return quick().fit(X, Y)


# -- folders --------------------------------------------------------------------------


def test_a_saved_regressor_is_the_same_when_it_is_loaded(fitted: EDHiERegressor, tmp_path: Path) -> None:
    again = EDHiERegressor.load(fitted.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert again.get_params() == fitted.get_params()
    assert list(again.feature_names_in_) == ["dose", "time"]
    assert str(again.best_) == str(fitted.best_)
    pd.testing.assert_frame_equal(
        again.equations_.drop(columns="sympy"), fitted.equations_.drop(columns="sympy"), check_exact=False
    )
    again.fit(X, Y)
    assert str(again.best_) == str(fitted.best_)


def test_several_targets_and_arrays_are_kept_too(tmp_path: Path) -> None:
    both = np.column_stack([X["dose"] + X["time"], X["dose"] * X["time"]])
    model = quick(200).fit(X.to_numpy(), both)
    again = EDHiERegressor.load(model.save(tmp_path))
    np.testing.assert_array_equal(again.predict(X.to_numpy()), model.predict(X.to_numpy()))
    assert not hasattr(again, "feature_names_in_")


def test_what_is_no_text_is_told_when_it_is_saved(tmp_path: Path) -> None:
    half = operator("half", 1, numpy=lambda a: a / 2)
    model = quick(300, operators=["+", "*", half]).fit(X, X["dose"] / 2 + X["time"])
    with pytest.warns(UserWarning, match="operators cannot be written as text"):
        model.save(tmp_path)
    again = EDHiERegressor.load(tmp_path, operators=[half])
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_folders_that_hold_none(tmp_path: Path) -> None:
    with pytest.raises(SearchError, match=r"is not a regressor: it has no estimator\.json"):
        EDHiERegressor.load(tmp_path)
    (tmp_path / "estimator.json").write_text("{}", encoding="utf-8")
    with pytest.raises(SearchError, match="damaged"):
        EDHiERegressor.load(tmp_path)


# -- pictures and pages -----------------------------------------------------------------


def test_pictures_and_a_page(fitted: EDHiERegressor, tmp_path: Path) -> None:
    assert len(fitted.plot().axes) == 2
    assert fitted.plot(kind="front").axes
    page = fitted.report(tmp_path)
    assert page == tmp_path / "report.html"
    assert "level" in page.read_text(encoding="utf-8")


# -- priors -----------------------------------------------------------------------------


def test_a_template_fixes_the_form_and_its_parts_are_told() -> None:
    model = quick(3000, template="f(dose)*exp(-c*time)").fit(X, Y)
    assert model.score(X, Y) > 1 - 1e-9
    parts = model.parts()
    assert set(parts) == {"f"}
    assert parts["f"].variables == ("dose",)
    with pytest.raises(ParseError, match="dosis"):
        quick(template="f(dosis)*exp(-c*time)").fit(X, Y)
    with pytest.raises(SearchError, match="template and guesses cannot be combined"):
        quick(template="f(dose)", guesses=["dose"]).fit(X, Y)
    with pytest.raises(SearchError, match="only where a template was given"):
        quick(60).fit(X, Y).parts()


def test_formulas_of_a_field_are_learnt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(field.platformdirs, "user_cache_dir", lambda name: str(tmp_path))
    monkeypatch.setitem(field.TRAINING, "epochs", 2)
    monkeypatch.setattr(field, "OWN_SAMPLES", 200)
    model = quick(300, corpus=["V*dose/(K + dose)", "A*exp(-k*time)"]).fit(X, Y)
    assert model.score(X, Y) > 0.9
    generator, _ = generator_and_library(model._settings(), ["dose", "time"])
    assert "dose/(c + dose)" in {
        str(each).removeprefix("c*") for each in generator.sample(50, np.random.default_rng(0))
    }
    with pytest.raises(SearchError, match="only an HVAE is fine-tuned on a corpus"):
        quick(corpus=["dose"], generator=load("nguyen-2")).fit(X, Y)


def test_a_formula_is_revised() -> None:
    found = EDHiERegressor.revise(
        "c*dose*exp(-c*time)", X, 3 * X["dose"] * np.exp(-0.5 * X["time"]) + 1, max_time=None, max_evaluations=500
    )
    assert not found.is_enough
    assert found.best.loss < 1e-8
    assert found.steps[0].distance == 0
