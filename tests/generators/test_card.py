"""A card tells all that a model came from, and its tables stay tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import edhie
from edhie.corpora import Corpus
from edhie.expr import Forest, SymbolLibrary, parse
from edhie.generators import TrainConfig
from edhie.generators.config import MODEL_DEFAULTS
from edhie.generators.saving import SHIPPED
from edhie.generators.trained import KINDS, Trained, card
from edhie.generators.walks import Reconstruction

LIBRARY = SymbolLibrary.of(["+", "sin"], 1)
MEASURED = Reconstruction(0.25, 0.5, 1, 8)


class Model:
    """All that a card asks of a model."""

    kind, library, latent_dim = "hvae", LIBRARY, 4


@pytest.fixture
def training() -> Trained:
    forest = Forest.from_exprs([parse("sin(x0)", LIBRARY), parse("x0 + x0", LIBRARY)], LIBRARY)
    corpus = Corpus("two", forest, {"file": "a|b\nc.csv", "rules": ["E"], "left out": {"repeated": 3}})
    model: Any = Model()
    return Trained(model, TrainConfig(seed=7, validation=0.5), corpus, 12 * [{"trees_per_s": 12 / 75}])


def written(folder: str | Path, training: Trained, measured: Reconstruction = MEASURED) -> str:
    vars(training)["measured"] = measured
    command, notes = "edhie train two --out models/my", {"started from": "models/old", "weights": None}
    return card(Path(folder), training, command=command, notes=notes, plot=True)


def test_what_it_says(training: Trained) -> None:
    text = written("models/my model", training)
    assert text.startswith("# my model\n\nA hierarchical variational autoencoder (HVAE)")
    assert f"with edhie {edhie.__version__}." in text
    for line in (
        "On 8 expressions held out of training:",
        "| mean edit distance, in postfix tokens | 0.250 |",
        "| came back as they were | 50.0 % |",
        "| came back as no expression | 12.5 % |",
        "| epochs done | 12 |",
        "| seed | 7 |",
        "| seconds | 75 |",
        "| started from | models/old |",
        "edhie train two --out models/my",
        "edhie sample 'models/my model' -n 10",
    ):
        assert line in text.splitlines()


def test_tables_stay_tables(training: Trained) -> None:
    rows = [line for line in written("my", training).splitlines() if line.startswith("|")]
    assert all(line.replace("\\|", "").count("|") == 3 for line in rows)
    assert "| file | a\\|b c.csv |" in rows


def test_measured_on_what_it_learnt(training: Trained) -> None:
    text = written("my", replace(training, config=TrainConfig()))
    assert "On 8 expressions that it was trained on, since none were held out:" in text


def test_nothing_came_back(training: Trained) -> None:
    measured = Reconstruction(float("nan"), 0.0, 8, 8)
    text = written("my", training, measured)
    assert "| mean edit distance, in postfix tokens | none came back |" in text
    assert "nan" not in text


def test_every_kind_of_model_is_known() -> None:
    assert set(KINDS) == set(MODEL_DEFAULTS)


def test_the_python_in_it_runs(training: Trained, tmp_path: Path) -> None:
    code = written(tmp_path, training).split("```python\n")[1].split("```")[0]
    assert compile(code, "card", "exec")
    assert f'load("{tmp_path}")' in code


def test_a_shipped_model_goes_by_its_name(training: Trained) -> None:
    text = written(SHIPPED / "general-1", training)
    assert 'load("general-1")' in text
    assert "edhie sample general-1 " in text
