"""Formulas of a field: read over the data's columns, learnt by the generator, and given as they are."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from edhie import EDHiERegressor, Evaluator
from edhie.errors import CorpusError
from edhie.expr import Forest, SymbolLibrary
from edhie.fit import field
from edhie.fit.field import Field, field_of, formulas_in, formulas_of, score_formulas
from edhie.generators import load
from edhie.generators.base import Renamed

MODEL = load("general-2")
TEXTS = ["V*S/(K + S)", "a*exp(-0.3*t)*cos(w*t)"]


def read(*texts: str) -> list[str]:
    return [str(expr) for expr in formulas_of(texts, MODEL.library, ["S", "t"])]


def test_columns_are_variables_and_other_names_constants() -> None:
    assert read(*TEXTS) == ["c*x0/(c + x0)", "c*exp(c*x1)*cos(c*x1)"]


def test_without_a_column_names_are_variables_in_their_order() -> None:
    assert read("m*v^2/2", "m*v + p") == ["x0*x1^2/c", "x0*x1 + c"]


def test_what_cannot_be_used_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "edhie"):
        assert read("S*t", "min(S, t)") == ["x0*x1"]
    assert "min" in caplog.text
    with pytest.raises(CorpusError, match="none of the formulas can be used"):
        read("min(S, t)")
    with pytest.raises(CorpusError, match="is empty"):
        read()


def test_a_file_of_formulas(tmp_path: Path) -> None:
    path = tmp_path / "formulas.txt"
    path.write_text("# kinetics\nV*S/(K + S)\n\n", encoding="utf-8")
    assert [str(each) for each in formulas_of(path, MODEL.library, ["S", "t"])] == ["c*x0/(c + x0)"]
    with pytest.raises(CorpusError, match="there is no file"):
        formulas_of(tmp_path / "missing.txt", MODEL.library, ["S"])


@pytest.mark.parametrize("search", ["draw", "evolve", "mosaic"])
def test_the_formulas_themselves_are_scored_in_any_search(search: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(field, "_tuned", lambda generator, formulas: generator)  # learning is another matter
    x = np.random.default_rng(0).uniform(0.5, 4, (60, 2))
    table = pd.DataFrame(x, columns=["S", "t"])
    rate = 2.5 * table["S"] / (1.3 + table["S"]) + 0.01 * np.sin(40 * table["t"])
    for corpus, is_there in ((TEXTS, True), (["m*v"], False)):
        model = EDHiERegressor(max_time=None, max_evaluations=12, corpus=corpus, search=search).fit(table, rate)
        result = model.discoveries_[0].result
        forms = {str(each.free()) for each in result.candidates.forest.take(np.arange(len(corpus)))}
        assert ("c*S/(c + S)" in forms) == is_there
        assert result.counts.executed <= 12


def test_formulas_over_the_equations_library() -> None:
    mine = Field(MODEL, formulas_of([*TEXTS, "S + t"], MODEL.library, ["S", "t"]))
    over = SymbolLibrary.of(["+", "*", "/", "exp"], ["S", "t"], constant=True)
    assert [str(each) for each in formulas_in(mine, over)] == ["c*S/(c + S)", "S + t"]  # there is no cos
    assert [str(each) for each in formulas_in(Renamed(mine, ["t", "S"]), over)] == ["c*S/(c + S)", "S + t"]
    strict = SymbolLibrary.of(["+", "*", "/"], ["x1"])
    assert len(formulas_in(mine, strict)) == 0  # neither a second column nor constants
    assert len(formulas_in(MODEL, over)) == 0


def test_formulas_leave_half_of_the_evaluations() -> None:
    many = MODEL.sample(40, np.random.default_rng(0))
    x = np.random.default_rng(0).uniform(0.5, 4, (60, 2))
    evaluator = Evaluator(MODEL.library, x, x[:, 0])
    score_formulas(evaluator, many.unique(), 20)
    assert 5 < evaluator.counts.executed <= 10


def test_half_of_the_samples_are_formulas_of_the_field() -> None:
    formulas = formulas_of(TEXTS, MODEL.library, ["S", "t"])
    mine = Field(MODEL, formulas)
    drawn = [str(expr) for expr in mine.sample(400, np.random.default_rng(0))]
    assert len(drawn) == 400
    share = sum(text in {str(each) for each in formulas} for text in drawn) / 400
    assert 0.4 < share < 0.6


def test_the_generator_learns_the_field_and_it_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr(field.platformdirs, "user_cache_dir", lambda name: str(tmp_path))
    monkeypatch.setitem(field.TRAINING, "epochs", 12)
    monkeypatch.setattr(field, "OWN_SAMPLES", 400)
    mine = field_of(TEXTS, MODEL, ["S", "t"])

    def drawn(model: object) -> int:
        samples: Forest = model.sample(4000, np.random.default_rng(0))  # type: ignore[attr-defined]
        return sum(str(each) in {str(formula) for formula in mine.formulas} for each in samples)

    assert drawn(mine.generator) > drawn(MODEL)
    folders = list((tmp_path / "models").iterdir())
    assert len(folders) == 1
    again = field_of(TEXTS, MODEL, ["S", "t"])
    assert drawn(again.generator) == drawn(mine.generator)
    assert list((tmp_path / "models").iterdir()) == folders
