"""`edhie fit`: equations over the columns of a table, told to people and to programs, and kept in a folder."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edhie.fit.run_folder import load
from edhie.results import SearchResult
from measurements import NOISE, small, table

FILES = {
    "result.json", "symbols.json", "candidates.jsonl", "front.csv", "history.csv", "run.json", "best.txt",
    "equations.csv", "discovery.json", "data.safetensors",
}  # fmt: skip
PICTURES = {"front.png", "fit.png", "report.html"}
cli_fit = import_module("edhie.cli.fit")
import_module("edhie.report")  # so that it has its plots before a test puts others in their place


def test_fit(edhie: Callable[..., Any], cup: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    code, printed, err = edhie("fit", cup, "--target", "T", "--evaluations", 5000, "--out", out)
    assert code == 0
    told = err.splitlines()
    assert told[0] == f"{cup}: 60 rows; 'T' is to be explained by 't'"
    assert told[1] == "a first look: T = 70.41*exp(-0.05302*t), error 4.969; getting ready to search"
    assert told[2] == "searching (mosaic, seed 0) until 5,000 expressions"
    lines = printed.splitlines()
    assert lines[0].split() == ["#", "complexity", "loss", "R²", "train", "weight", "T", "="]
    assert lines[-1].startswith(f"{out}: ")
    assert lines[-1].endswith(f"look at them again with: edhie show {out}")
    assert lines[-2].startswith("T = ")
    assert float(lines[-4].lstrip("*").split()[3]) == 1.0
    assert [line[0] for line in lines[1:-3]].count("*") == 1
    assert {path.name for path in out.iterdir()} - {"checkpoint.npz"} == FILES | PICTURES
    assert (out / "best.txt").read_text().startswith("T = ")
    found = load(out)
    assert found.explored.forest.library.variables == ("t",)
    assert len(found.equations) == len(lines) - 4
    with (out / "equations.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == len(found.equations)
    assert "edhie fit" in (out / "report.html").read_text(encoding="utf-8")


def test_rows_are_held_out(edhie: Callable[..., Any], tmp_path: Path) -> None:
    path = table(tmp_path, rows=1000)
    options = [*small(evaluations=1000), "--seed", 1, "--out", tmp_path / "run"]
    code, out, err = edhie("fit", path, "--target", "T", *options)
    found = load(tmp_path / "run")
    assert found.validation is not None
    assert (code, found.train.n_rows, found.validation.n_rows) == (0, 800, 200)
    assert err.splitlines()[1] == "200 of 1,000 rows are held out for validation"
    assert out.splitlines()[0].split() == ["#", "complexity", "loss", "R²", "train", "R²", "valid.", "weight", "T", "="]
    assert all(len(line.lstrip("*").split(maxsplit=5)) == 6 for line in out.splitlines()[1:-3])


def test_what_happens_is_told_before_anything_is_compiled(
    edhie: Callable[..., Any], cup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_fit, "discover", stop)
    assert edhie("fit", cup, "--target", "T").err.startswith(f"{cup}: 60 rows; 'T' is to be explained by 't'\n")


def test_columns_are_chosen_and_others_may_hold_text(edhie: Callable[..., Any], tmp_path: Path) -> None:
    path = table(tmp_path, site=["lab"] * 60, c=np.linspace(1, 2, 60))
    options = ["--target", "T", "--features", "t, c", *small(evaluations=500), "--quiet", "--json"]
    code, out, err = edhie("fit", path, *options)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["target"], found["strategy"], found["stopped"]) == ("T", "draw", "evaluations")
    assert found["counts"]["executed"] == 500
    assert found["rows"] == {"train": 60, "validation": 0}
    one = {"complexity", "loss", "score", "r2", "r2_validation", "expression", "noise", "weight"}
    assert found["front"][0].keys() == one
    assert found["selected"].keys() == one | {"constants", "standard_errors"}
    assert found["selected"]["expression"] == found["front"][found["index"]]["expression"]
    assert any("c" in each["expression"] for each in found["front"])  # the column of that name


def test_json_stands_alone_on_stdout(edhie: Callable[..., Any], cup: Path, tmp_path: Path) -> None:
    code, out, err = edhie("fit", cup, "--target", "T", *small(), "--out", tmp_path / "run", "--json")
    assert (code, json.loads(out)["folder"]) == (0, str(tmp_path / "run"))
    assert "searching (draw, seed 0)" in err


def test_quiet_prints_the_equation_alone(edhie: Callable[..., Any], cup: Path, tmp_path: Path) -> None:
    code, out, err = edhie("fit", cup, "--target", "T", *small(), "--quiet", "--out", tmp_path / "run")
    assert (code, err, len(out.splitlines())) == (0, "", 1)
    assert out.startswith("T = ")


def test_names_that_are_no_identifiers(edhie: Callable[..., Any], tmp_path: Path) -> None:
    path = table(tmp_path, **{"sin": NOISE, "load [kg]": 1 + NOISE**2})
    code, out, err = edhie("fit", path, "--target", "load [kg]", *small("mosaic"), "--out", tmp_path / "run")
    assert code == 0
    assert "column 'sin' is called sin_ in equations" in err.splitlines()
    assert out.splitlines()[-2].startswith("load [kg] = ")
    assert load(tmp_path / "run").columns == ("t", "T", "sin")


def test_a_column_with_the_name_of_the_constant(edhie: Callable[..., Any], tmp_path: Path) -> None:
    path = table(tmp_path, **{"c": NOISE})
    code, _, err = edhie("fit", path, "--target", "T", *small(), "--guess", "C*c", "--out", tmp_path / "run")
    assert code == 0
    assert "c is a column here; in formulas write C for an unknown constant" in err.splitlines()


def test_more_columns_than_any_model_has_variables(edhie: Callable[..., Any], tmp_path: Path) -> None:
    columns = dict(zip((f"v{k}" for k in range(8)), np.random.default_rng(0).uniform(1, 2, (8, 80)), strict=True))
    columns["y"] = columns["v0"] * columns["v7"] / columns["v3"]
    path = table(tmp_path, rows=80, **columns)
    options = ["--target", "y", "--features", ",".join(f"v{k}" for k in range(8))]
    code, out, _ = edhie("fit", path, *options, *small("mosaic", 2000), "--quiet")
    assert (code, sorted(set(out.split("= ")[1].strip()) & set("037v"))) == (0, ["0", "3", "7", "v"])
    code, out, err = edhie("fit", path, *options, *small("evolve"), "--quiet")
    assert (code, out) == (1, "")
    assert err.startswith("error: the search 'evolve' needs a generator for 8 variables, not 6; use")


@pytest.mark.parametrize("model", ["nguyen-1", "nguyen-2"])
def test_strict_is_the_model_s_own_symbols(model: str, edhie: Callable[..., Any], cup: Path, tmp_path: Path) -> None:
    options = ["--target", "T", "--model", model, *small("mosaic"), "--quiet"]
    assert edhie("fit", cup, *options, "--strict", "--out", tmp_path / "strict").code == 0
    assert edhie("fit", cup, *options, "--out", tmp_path / "free").code == 0
    strict, free = (SearchResult.load(tmp_path / name).candidates.forest.library for name in ("strict", "free"))
    assert strict.constant is None
    assert free.constant is not None
    assert set(strict.names) < set(free.names)
    assert "tanh" not in strict
    assert "tanh" in free


def test_operators_are_all_that_equations_have(edhie: Callable[..., Any], cup: Path, tmp_path: Path) -> None:
    options = ["--target", "T", *small("mosaic"), "--operators", "+, -,*,exp", "--out", tmp_path / "run", "--quiet"]
    assert edhie("fit", cup, *options).code == 0
    library = load(tmp_path / "run").explored.forest.library
    assert {"+", "-", "*", "exp"} <= set(library.names)
    assert not {"sin", "/", "log"} & set(library.names)


def test_selection(edhie: Callable[..., Any], tmp_path: Path) -> None:
    path = table(tmp_path, T=NOISE)
    options = ["--target", "T", *small("mosaic"), "--quiet", "--json"]
    predictive, shortest, coarse = (
        json.loads(edhie("fit", path, *options, "--selection", each).out) for each in ("accuracy", "mdl", "score")
    )
    assert predictive["front"] == shortest["front"]
    assert predictive["index"] < len(predictive["front"]) - 1  # the least loss is that of noise
    assert coarse["front"] != shortest["front"]


def test_of_800_columns_those_that_matter_are_searched(
    edhie: Callable[..., Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    columns = {f"v{k}": np.random.default_rng(k).uniform(1, 3, 200) for k in range(800)}
    columns["T"] = columns["v700"] * columns["v7"] + 2 * columns["v30"]
    path, run = table(tmp_path, rows=200, **columns), tmp_path / "run"
    assert edhie("fit", path, "--target", "T", "--evaluations", 300, "--out", run).code == 0
    assert "searching the 8 most informative of 801 columns: v7, v30, " in caplog.text
    assert {"v7", "v30", "v700"} <= set(load(run).best.expr.variables)
    assert load(run).columns == ("t", *columns)[:-1]
    assert (run / "report.html").stat().st_size < 400_000
    assert edhie("predict", run, path).code == 0


def test_a_target_error_ends_it(edhie: Callable[..., Any], cup: Path) -> None:
    code, _, err = edhie("fit", cup, "--target", "T", "--target-error", 1e9)
    assert code == 0
    assert "stopped by target" in err


@pytest.mark.parametrize(
    ("options", "seconds"),
    [([], 60.0), (["--max-time", 0.5], 0.5), (["--max-time", 0], None), (["--evaluations", 50], None)],
)
def test_limits_of_time(
    options: list[Any], seconds: float | None, edhie: Callable[..., Any], cup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float | None] = []

    def noted(data: Any, settings: Any, **more: Any) -> None:
        asked.append(settings.max_time)
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_fit, "discover", noted)
    assert edhie("fit", cup, "--target", "T", *options).code == 130
    assert asked == [seconds]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], ("rmse", "auto", 100)),
        (["--noise", "proportional"], ("rmse", "proportional", 100)),
        (["--loss", "student", "--patience", 7], ("student", "student", 7)),
        (["--patience", 0], ("rmse", "auto", None)),
    ],
)
def test_loss_noise_and_patience(
    options: list[Any], expected: Any, edhie: Callable[..., Any], cup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def noted(data: Any, settings: Any, **more: Any) -> None:
        assert (settings.loss_name, settings.noise_model, settings.patience) == expected
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_fit, "discover", noted)
    assert edhie("fit", cup, "--target", "T", *options).code == 130


def test_a_model_of_the_user_s(edhie: Callable[..., Any], cup: Path, model_folder: Path) -> None:
    assert edhie("fit", cup, "--target", "T", "--model", model_folder, *small("mosaic")).code == 0


def test_other_separators_and_decimal_commas(edhie: Callable[..., Any], cup: Path) -> None:
    text = cup.read_text()
    expected = edhie("fit", cup, "--target", "T", *small(), "--quiet").out
    cup.write_text(text.replace(",", ";"))
    code, out, err = edhie("fit", cup, "--target", "T", *small())
    assert (code, err.splitlines()[0]) == (0, f"{cup} has semicolons between columns")
    cup.write_text(text.replace(",", ";").replace(".", ","))
    code, out, err = edhie("fit", cup, "--target", "T", *small())
    assert (code, err.splitlines()[0]) == (0, f"{cup} has semicolons between columns and has decimal commas")
    assert f"{out.splitlines()[-1]}\n" == expected
    cup.write_text(text.replace(",", "\t"), encoding="utf-16")
    code, out, err = edhie("fit", cup, "--target", "T", *small())
    assert (code, err.splitlines()[0]) == (0, f"{cup} is in UTF-16 and has tabs between columns")
    cup.write_text(text, encoding="utf-8-sig")
    assert edhie("fit", cup, "--target", "T", *small(), "--quiet") == (0, expected, "")


def test_many_rows(edhie: Callable[..., Any], tmp_path: Path) -> None:
    path = table(tmp_path, rows=100_000)
    code, out, err = edhie("fit", path, "--target", "T", *small("mosaic", 100), "--out", tmp_path / "run")
    assert code == 0
    assert err.splitlines()[1] == "20,000 of 100,000 rows are held out for validation"
    assert float(load(tmp_path / "run").equations[-1].r2) > 0.99
    assert out.splitlines()[-4].startswith("only 100 expressions tried, too few to say how likely each equation is")


@pytest.mark.slow
def test_a_million_rows(edhie: Callable[..., Any], tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    t = np.random.default_rng(0).uniform(0, 30, 1_000_000)
    path = tmp_path / "million.parquet"
    pandas.DataFrame({"t": t, "T": 20 + 60 * np.exp(-t / 7)}).to_parquet(path)
    code, out, err = edhie("fit", path, "--target", "T", *small("mosaic", 40), "--json")
    assert (code, err.splitlines()[0]) == (0, f"{path}: 1,000,000 rows; 'T' is to be explained by 't'")
    assert json.loads(out)["selected"]["r2"] > 0.99


# -- what cannot be written -----------------------------------------------------------


def test_a_picture_that_fails_is_told_and_nothing_is_lost(
    edhie: Callable[..., Any], cup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise RuntimeError("no font")

    monkeypatch.setattr("edhie.plots.plot_fit", fail)
    out = tmp_path / "run"
    code, printed, err = edhie("fit", cup, "--target", "T", "--evaluations", 300, "--search", "draw", "--out", out)
    assert (code, printed.splitlines()[-2].startswith("T = ")) == (0, True)
    assert err.splitlines()[-1] == f"warning: {out / 'fit.png'} was not written: no font"
    assert {path.name for path in out.iterdir()} - {"checkpoint.npz"} == FILES | PICTURES - {"fit.png"}


def test_no_picture_outlives_what_it_shows(edhie: Callable[..., Any], cup: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    options = ["fit", cup, "--target", "T", "--quiet", "--out", out]
    assert edhie(*options, *small(evaluations=300)).code == 0
    for name in PICTURES:
        (out / name).write_text("an old one")
    assert edhie(*options, *small(evaluations=400), "--resume").code == 0
    assert not {path.name for path in out.iterdir()} & PICTURES


def test_ctrl_c_while_pictures_are_drawn(
    edhie: Callable[..., Any], cup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("edhie.plots.plot_front", stop)
    options = ["--target", "T", "--evaluations", 300, "--search", "draw", "--out", tmp_path / "run"]
    code, printed, err = edhie("fit", cup, *options)
    assert (code, printed.splitlines()[-1].startswith("T = ")) == (130, True)
    assert err.splitlines()[-1] == f"stopped before all pictures were drawn; {tmp_path / 'run'} keeps the equations"
    assert edhie("show", tmp_path / "run").code == 0
