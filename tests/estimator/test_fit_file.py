"""`fit_file`: a regressor that is fitted to a file, of which it searches a sample."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import pytest

from edhie import EDHiERegressor
from edhie.errors import DataError, UnexplainedWarning


def test_a_regressor_of_a_file_predicts_and_is_saved(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.uniform(1, 3, (5000, 2)), columns=["t", "x (cm)"])
    frame["y"] = 2.5 * frame["t"] / frame["x (cm)"] + 0.01 * rng.normal(size=5000)
    frame.to_parquet(tmp_path / "t.parquet")
    model = EDHiERegressor(None, max_evaluations=300).fit_file(tmp_path / "t.parquet", "y", sample=1000)
    (found,) = model.discoveries_
    assert (found.target, found.columns, found.n_rows) == ("y", ("t", "x (cm)"), 4000)
    assert 1000 <= found.train.n_rows <= 1006
    new = frame[["t", "x (cm)"]][:50]
    np.testing.assert_array_equal(model.predict(new), model.best_.predict(np.ascontiguousarray(new.to_numpy().T)))
    kept = EDHiERegressor.load(model.save(tmp_path / "model"))
    np.testing.assert_array_equal(kept.predict(new), model.predict(new))
    assert kept.best_.r2 == model.best_.r2


def test_a_constant_as_the_answer_is_a_warning(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    pandas.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "y"]).to_csv(tmp_path / "t.csv", index=False)
    with pytest.warns(UnexplainedWarning, match="the columns do not explain y") as told:
        EDHiERegressor(None, max_evaluations=100).fit_file(tmp_path / "t.csv", "y")
    assert [each.filename for each in told] == [__file__]


def test_errors_name_the_arguments(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n1,2,3\n2,1,\n3,5,1\n")
    for options, message in (
        ({"features": ["a", "a"]}, "the features name 'a' twice"),
        ({"sigma": "y"}, "is the target and the sigma"),
        ({}, "drop_missing=True"),
    ):
        with pytest.raises(DataError, match=message):
            EDHiERegressor().fit_file(path, "y", **options)  # type: ignore[arg-type]
