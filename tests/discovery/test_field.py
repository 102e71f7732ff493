"""Formulas of a field: read over the data's columns, learnt by the generator, and given as they are."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from edhie.discovery import field
from edhie.discovery.field import Field, field_of, formulas_of
from edhie.errors import CorpusError
from edhie.expr import Forest
from edhie.generators import load

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
