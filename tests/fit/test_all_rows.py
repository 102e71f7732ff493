"""Large tables: a sample is searched, and what is shown is exact on all rows, as if they were all in memory."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from edhie.errors import DataError
from edhie.evaluate import LOSSES, Data, r2, read_data
from edhie.evaluate.constants.jacobian import Response
from edhie.evaluate.constants.polish import BatchedFit, gauss_newton
from edhie.evaluate.constants.uncertainty import LinearisedFit, uncertainty, value_deviations_of
from edhie.evaluate.tables import columnar
from edhie.expr import SymbolLibrary, parse
from edhie.fit import Problem, Settings, discover, read_file
from edhie.fit.equation import loosened
from edhie.fit.run_folder import load, save
from edhie.selection.noise import CONSTANT, relative_weights
from edhie.selection.plain_numbers import literal_bits

ROWS, SAMPLE = 12_000, 1500
FAST = Settings(max_time=None, max_evaluations=800)


def table_of(rows: int = ROWS, *, noise: str = "constant") -> np.ndarray:
    """Return columns t, x, z, y and s, of which z is unrelated to y and s are its standard errors."""
    rng = np.random.default_rng(1)
    t, x, z = rng.uniform(0.5, 3, (3, rows))
    y = 2.37 * t**2 / x + 0.71
    spread = {"constant": 0.2 * np.ones(rows), "proportional": 0.1 * y, "given": rng.uniform(0.05, 0.5, rows)}[noise]
    return np.stack([t, x, z, y + spread * rng.normal(size=rows), spread], axis=1)


def written(folder: Path, table: np.ndarray) -> Path:
    path = folder / "big.npy"
    np.save(path, table)
    (folder / "big.names.txt").write_text("t\nx\nz\ny\ns\n")
    return path


def rows_in_memory(problem: Problem, table: np.ndarray, *, sigma: bool = False) -> Data:
    """Return the rows that equations were fitted to, all of them at once."""
    assert problem.whole is not None
    kept = np.delete(table, problem.whole.held_out, axis=0)
    return read_data(kept[:, :3], kept[:, 3], sigma=kept[:, 4] if sigma else None, names=problem.train.names)


@pytest.mark.parametrize(
    "noise", ["proportional", *(pytest.param(each, marks=pytest.mark.slow) for each in ("constant", "given"))]
)
def test_what_is_shown_is_what_all_rows_in_memory_give(
    noise: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columnar, "BATCH", 1700)
    table, sigma = table_of(noise=noise), "s" if noise == "given" else None
    path = written(tmp_path, table)
    measured = read_file(path, "y", features=["t", "x", "z"], sigma=sigma, sample=SAMPLE)
    found = discover(measured.problem, replace(FAST, noise="constant" if noise == "given" else noise))  # type: ignore[arg-type]
    every = rows_in_memory(measured.problem, table, sigma=sigma is not None)
    assert measured.n_rows == ROWS
    assert found.n_rows == every.n_rows == ROWS - ROWS // 5
    n_determined = 0
    for each in found.equations:
        predicted = each.predict(every.columns)
        assert each.loss == pytest.approx(LOSSES["rmse"].of_values(every.y, predicted, every.weights), rel=1e-9)
        assert each.r2 == pytest.approx(r2(every.y, predicted, every.weights), rel=1e-9, abs=1e-9)
        weights = relative_weights(each.model or CONSTANT, predicted, every)
        response = Response(each.expr, every.columns)
        held = np.isfinite(literal_bits(response.constants))
        best, _ = gauss_newton(response, response.constants, every.y, weights, held=held)
        known, told = uncertainty(each.expr, replace(every, weights=weights)), each.uncertainty
        if (known.standard_errors < 0.1 * np.abs(known.values)).all():  # others go on in valleys without end
            np.testing.assert_allclose(response.constants, best, rtol=1e-9)
            n_determined += len(best) - int(held.sum())
        np.testing.assert_allclose(told.standard_errors, known.standard_errors, rtol=1e-6)
        assert (told.held, told.degrees_of_freedom) == (known.held, known.degrees_of_freedom)
        few = np.ascontiguousarray(every.columns[:, :5])
        loose = loosened(each)[0]
        fit = LinearisedFit.of(loose, replace(every, weights=weights), each.ties)
        deviations = value_deviations_of(fit, loose, few)
        np.testing.assert_allclose(each.standard_deviations(few), deviations, rtol=1e-6)
    assert n_determined >= 3
    assert pickle.loads(pickle.dumps(found)).best.text() == found.best.text()
    save(found, tmp_path / "run")
    kept = load(tmp_path / "run")
    assert kept.n_rows == found.n_rows
    assert [each.row() for each in kept.equations] == [each.row() for each in found.equations]


def test_an_equation_without_a_value_in_some_row_is_not_shown_as_if_it_had_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """sqrt(t - x) has a value in every row but one, which the sample does not hold, since it is no extreme."""
    table = table_of()
    small, large = np.sort(table[:, :2], axis=1).T
    table[:, 0], table[:, 1] = large, small
    table[:, 3] = np.sqrt(large - small) + 0.001 * np.random.default_rng(0).normal(size=ROWS)
    path = written(tmp_path, table)
    problem = read_file(path, "y", features=["t", "x"], sample=SAMPLE).problem
    assert problem.validation is not None
    seen = np.concatenate([problem.train.columns[0], problem.validation.columns[0]])
    table[np.flatnonzero(~np.isin(table[:, 0], seen))[0], :2] = 1.0, 1.001
    written(tmp_path, table)
    before, problem = problem, read_file(path, "y", features=["t", "x"], sample=SAMPLE).problem
    np.testing.assert_array_equal(before.train.columns, problem.train.columns)
    found = discover(problem, replace(FAST, guesses=["sqrt(t - x)"]))
    assert "sqrt(t - x)" in caplog.text or "those shown are fitted to the sample alone" in caplog.text
    for each in found.equations:
        is_whole = bool(np.isfinite(each.predict(np.ascontiguousarray(table[:, :2].T))).all())
        assert is_whole == (each.all_rows is not None)
        assert np.isfinite(each.loss)
    assert not found.is_empty


def test_constants_far_from_their_optimum() -> None:
    """Steps are damped as far as it takes; a start where nothing is defined stays what it is."""
    table = table_of(4000)
    library = SymbolLibrary.of(["+", "-", "*", "/", "^", "log"], ["t", "x", "z"], constant=True)
    every = read_data(table[:, :3], table[:, 3], names=["t", "x", "z"])
    halves = [every.take(slice(0, 1500)), every.take(slice(1500, None))]

    def fitted(text: str, constants: list[float], **options: object) -> BatchedFit:
        fit = BatchedFit(parse(text, library).with_constants(constants), lambda _, batch: batch.weights, **options)  # type: ignore[arg-type]
        for _ in range(40):
            for half in halves if not fit.is_done else ():
                fit.add(half)
            if not fit.is_done:
                fit.advance()
        assert fit.is_done
        return fit

    assert fitted("c*t^c/x + c", [9.0, 0.5, -4.0]).expr.constants == pytest.approx([2.37, 2.0, 0.71], rel=0.05)
    assert fitted("c*t^c/x + c", [1.0, 1.0, 0.5], upper=1.5).expr.constants[0] == 1.5
    held = fitted("c*t^c/x + c", [9.0, 1.5, -4.0], held=np.array([False, True, False])).expr
    terms = np.stack([table[:, 0] ** 1.5 / table[:, 1], np.ones(len(table))], axis=1)
    factor, offset = np.linalg.lstsq(terms, table[:, 3], rcond=None)[0]
    assert held.constants == pytest.approx([factor, 1.5, offset], rel=1e-9)
    assert fitted("log(c - t) + c", [1.0, 2.0]).expr.constants == (1.0, 2.0)


def test_missing_values_are_reported_with_their_row_or_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columnar, "BATCH", 500)
    table = table_of(4000)
    table[[1234, 3456], 2] = np.nan
    path = written(tmp_path, table)
    with pytest.raises(
        DataError, match=r"column 'z' is empty in row 1234 \(counted from 0\), the first of 2 such rows"
    ):
        read_file(path, "y", sample=SAMPLE)
    measured = read_file(path, "y", sample=SAMPLE, drop_missing=True)
    whole = measured.problem.whole
    assert whole is not None
    assert measured.n_rows == 3998
    assert measured.notes == ("has 2 rows with missing values, which are left out",)
    y = np.concatenate([batch.y for batch in whole.batches(["t"])])  # rows are left out for z, though only t is used
    assert len(y) == 3998 - 3998 // 5
    assert not np.isin(table[[1234, 3456], 3], y).any()
    table[2000, 4] = 0.0
    np.save(path, table)
    with pytest.raises(DataError, match="column 's' is 0 in row 2001 below the names; standard errors"):
        read_file(path, "y", features=["t"], sigma="s", sample=SAMPLE)


def test_only_files_that_are_read_in_batches_are_sampled(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("x,y\n" + "".join(f"{k},{k * k}\n" for k in range(300)))
    with pytest.raises(DataError, match="a sample cannot be taken; only Parquet and NumPy files are read in batches"):
        read_file(path, "y", sample=100)
    np.save(tmp_path / "data.npy", np.arange(600.0).reshape(-1, 2))
    assert read_file(tmp_path / "data.npy", "x1", sample=300).problem.whole is None  # it has no more rows
