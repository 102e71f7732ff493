"""What the page is told of runs that the command line made: equations, fits, comparisons, files to take away."""

from __future__ import annotations

import csv
import io
import math
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from edhie.evaluate import Data
from edhie.expr import parse
from edhie.expr.interpret import interpret
from edhie.fit.run_folder import load, load_revision, save, save_revision
from edhie.selection.noise import PROPORTIONAL, model_of
from edhie.studio.answers.curves import _measured, try_values
from edhie.studio.answers.curves import fit as fit_of
from edhie.studio.answers.equations import equations, export
from edhie.studio.answers.reading import Rows
from edhie.studio.question import EXPORTS
from serving import Client

TREE = {"nodes", "edges", "width", "height"}


@pytest.fixture(scope="module")
def fit(client: Client) -> str:
    return next(each["id"] for each in client.ask("GET", "/api/runs") if each["kind"] == "fit")


@pytest.fixture(scope="module")
def revision(client: Client) -> str:
    return next(each["id"] for each in client.ask("GET", "/api/runs") if each["kind"] == "revise")


def test_runs_of_the_command_line_are_listed(client: Client, runs: Path) -> None:
    found = {each["name"]: each for each in client.ask("GET", "/api/runs")}
    assert set(found) == {"Fit <b>one", "revision"}
    assert {each["state"] for each in found.values()} == {"finished"}
    assert not any(each["is_own"] for each in found.values())
    assert found["Fit <b>one"]["stopped_by"] in ("evaluations", "target")
    listed = client.events("/api/events", until=lambda kind, data: all(each["best"] for each in data))
    assert all(each["best"]["r2"] > 0.9 for each in listed[-1][1])


def test_equations_are_those_of_the_folder(client: Client, runs: Path, fit: str) -> None:
    told, found = client.ask("GET", f"/api/runs/{fit}/equations"), load(runs / "Fit <b>one", whole=False)
    assert [each["text"] for each in told["equations"]] == [each.text() for each in found.equations]
    assert [each["is_chosen"] for each in told["equations"]].index(True) == found.chosen
    assert told["columns"] == [{"column": "x", "name": "x"}, {"column": "dose (mg)", "name": "dose_mg"}]
    assert (told["n_rows"], told["n_held_out"], told["target"]) == (60, 0, "y")
    one = client.ask("GET", f"/api/runs/{fit}/equations/{found.chosen}")
    assert [each["value"] for each in one["constants"]] == found.best.uncertainty.values.tolist()
    assert set(one["tree"]) == TREE
    assert len(one["tree"]["nodes"]) == found.best.expr.size == len(one["tree"]["edges"]) + 1
    client.ask("GET", f"/api/runs/{fit}/equations/{len(found.equations)}", 404)
    client.ask("GET", f"/api/runs/{fit}/equations/-1", 404)


def test_a_fit_has_predictions_and_a_curve_beyond_the_data(client: Client, runs: Path, fit: str) -> None:
    found = load(runs / "Fit <b>one", whole=False)
    told = client.ask("POST", f"/api/runs/{fit}/fit", json={"equation": found.chosen, "x": "dose (mg)"})
    predicted = found.best.predict(found.train.columns)
    assert np.allclose([each["predicted"] for each in told["measured"]], predicted, rtol=1e-9)
    assert np.allclose([each["residual"] for each in told["measured"]], found.train.y - predicted, atol=1e-9)
    curve, doses = told["curve"], found.train.columns[1]
    assert (curve["data_from"], curve["data_to"]) == (doses.min(), doses.max())
    assert curve["x"][0] == pytest.approx(doses.min() - 0.3 * np.ptp(doses))
    assert curve["at"] == {"x": np.median(found.train.columns[0])}
    inside = [k for k, x in enumerate(curve["x"]) if doses.min() <= x <= doses.max()]
    assert all(curve["low"][k] <= curve["y"][k] <= curve["high"][k] for k in inside)
    assert told["r2"] == pytest.approx(found.best.r2)
    client.ask("POST", f"/api/runs/{fit}/fit", 404, json={"equation": 0, "x": "no column"})
    client.ask("POST", f"/api/runs/{fit}/fit", 404, json={"equation": "0; drop", "x": "x"})


def test_a_logarithmic_axis(client: Client, fit: str) -> None:
    told = client.ask("POST", f"/api/runs/{fit}/fit", json={"equation": 0, "x": "x", "log": True})
    grid = np.array(told["curve"]["x"])
    assert np.allclose(grid[1:] / grid[:-1], grid[1] / grid[0])
    assert grid[[0, -1]].tolist() == pytest.approx([told["curve"]["data_from"] / 3, told["curve"]["data_to"] * 3])


def test_an_expression_of_a_search_has_a_fit(client: Client, fit: str) -> None:
    told = client.ask("POST", f"/api/runs/{fit}/fit", json={"expression": "x/dose_mg", "x": "x"})
    (first, *_) = told["measured"]
    assert first["predicted"] + first["residual"] == pytest.approx(first["y"])
    assert told["curve"]["low"] is None
    answer = client.ask("POST", f"/api/runs/{fit}/fit", 400, json={"expression": "__import__('os')", "x": "x"})
    assert "cannot be read" in answer["error"]


def test_numbers_can_be_tried(client: Client, runs: Path, fit: str) -> None:
    best = load(runs / "Fit <b>one", whole=False).best
    place = client.ask("GET", f"/api/runs/{fit}/equations")["equations"]
    chosen = next(each["index"] for each in place if each["is_chosen"])
    path, values = f"/api/runs/{fit}/try", {"x": 2.0, "dose (mg)": 1.0}
    told = client.ask("POST", path, json={"equation": chosen, "values": values, "x": "x"})
    assert told["value"] == pytest.approx(best.predict(np.array([[2.0], [1.0]]))[0])
    assert told["standard_deviation"] > 0
    constants = [2 * each for each in best.expr.constants]
    told = client.ask("POST", path, json={"equation": chosen, "values": values, "constants": constants, "x": "x"})
    other = best.expr.with_constants(constants)
    assert told["value"] == pytest.approx(float(interpret(other, {"x": 2.0, "dose_mg": 1.0})))
    assert told["standard_deviation"] is None
    client.ask("POST", path, 400, json={"equation": chosen, "constants": [*constants, 1.0]})
    client.ask("POST", path, 400, json={"equation": chosen, "values": {"x": "1"}})


def test_two_equations_are_compared(client: Client, fit: str) -> None:
    told = client.ask("GET", f"/api/runs/{fit}/compare", params={"a": 0, "b": 1, "x": "x"})
    marks = {node["mark"] for side in "ab" for node in told[side]["tree"]["nodes"]}
    assert marks <= {"kept", "changed", "removed", "added"}
    assert marks != {"kept"}
    assert len(told["curves"]["a"]) == len(told["curves"]["b"]) == len(told["curves"]["x"])
    same = client.ask("GET", f"/api/runs/{fit}/compare", params={"a": 1, "b": 1})
    assert (same["changes"], same["largest_difference"]["value"]) == ("nothing but constants", 0.0)


def test_a_revision_has_steps(client: Client, revision: str) -> None:
    told = client.ask("GET", f"/api/runs/{revision}/equations")
    assert told["verdict"] == "The formula is not enough: + c inserted at the top."
    (chosen,) = [step for step in told["steps"] if step["is_chosen"]]
    assert (chosen["distance"], told["steps"][0]["distance"]) == (2, 0)
    assert {node["mark"] for node in chosen["tree"]["nodes"]} == {"kept", "added"}
    assert set(chosen["original_tree"]) == TREE
    curve = client.ask("POST", f"/api/runs/{revision}/fit", json={"equation": chosen["index"], "x": "x1"})
    assert curve["r2"] > 0.99
    assert "only a fit" in client.ask("GET", f"/api/runs/{revision}/report", 409)["error"]


def test_a_search_that_was_too_short_has_no_confidence(runs: Path) -> None:
    told = equations(str(runs / "Fit <b>one"))
    assert {(each["weight"], each["confidence"]) for each in told["equations"]} == {(None, "")}
    assert "Only 400 expressions tried, too few to say how likely each equation is; search longer." in told["notes"]


@pytest.mark.parametrize(
    ("format_", "holds"),
    [("latex", "y = "), ("python", "def f("), ("c", "#include"), ("excel", "="), ("markdown", "$$\ny = "),
     ("sympy", "sympy"), ("json", '"tokens"')],
)  # fmt: skip
def test_an_equation_is_taken_away(client: Client, fit: str, format_: str, holds: str) -> None:
    answer = client.get(f"/api/runs/{fit}/export/{format_}", params={"equation": 0})
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith("attachment")
    assert holds in answer.text or format_ == "json"


def test_a_formula_for_a_spreadsheet_has_the_cells_of_the_users_table(runs: Path, tmp_path: Path) -> None:
    folder, table = str(runs / "Fit <b>one"), tmp_path / "table.csv"
    place = len(load(runs / "Fit <b>one").equations) - 1
    table.write_text("Probe 7\n\nnote,y,dose (mg),x\na,1,2,3\nb,2,3,4\n")
    assert set(re.findall(r"\b[A-Z]\d\b", export(folder, place, "excel", table=str(table))["text"])) == {"A2", "B2"}
    found = load(runs / "Fit <b>one")  # as an earlier release saved it
    folder = str(save(replace(found, problem=replace(found.problem, cells=None)), tmp_path / "run"))
    found = export(folder, place, "excel", table=str(table), question={"options": {}})
    assert set(re.findall(r"\b[A-Z]\d\b", found["text"])) == {"C4", "D4"}
    assert found["about"] == "D4 is x, C4 is dose (mg)"
    assert set(re.findall(r"\b[A-Z]\d\b", export(folder, place, "excel")["text"])) == {"A2", "B2"}
    sheet = pandas.DataFrame({"note": ["a"], "void": [None], "x": [1.0], "dose (mg)": [2.0], "y": [3.0]})
    sheet.rename(columns={"void": ""}).to_excel(tmp_path / "t.xlsx", index=False, startrow=3)
    found = export(folder, place, "excel", table=str(tmp_path / "t.xlsx"))
    assert found["about"] == "C5 is x, D5 is dose (mg)"


def test_markdown_has_a_table_that_is_no_part_of_the_list(runs: Path) -> None:
    equations = load(runs / "Fit <b>one").equations
    place = next(k for k, each in enumerate(equations) if each.expr.constants and "dose_mg" in each.expr.variables)
    lines = export(str(runs / "Fit <b>one"), place, "markdown")["text"].splitlines()
    head = next(k for k, line in enumerate(lines) if line.startswith("| constant"))
    assert lines[head - 1] == ""
    assert any(line.startswith("- `dose_mg`") for line in lines[:head])


def test_residuals_are_over_the_scatter_that_is_expected_of_each_row() -> None:
    x = np.linspace(1, 100, 200)
    y = 2 * x * (1 + 0.1 * np.random.default_rng(0).standard_normal(200))
    parts = [
        Data(np.ascontiguousarray(x[np.newaxis, part]), y[part], None, ("x",))
        for part in (slice(0, 150), slice(150, None))
    ]
    rows, expr = Rows(("x",), *parts), parse("2*x")
    told = _measured(rows, expr, 0, model_of("proportional"))
    scaled = np.array([each["scaled"] for each in told])
    assert np.sqrt(np.mean(scaled[:150] ** 2)) == pytest.approx(1)
    relative = y / (2 * x) - 1
    assert np.allclose(scaled / relative, scaled[0] / relative[0])  # of held-out rows, too
    assert not any("scaled" in each for each in _measured(rows, expr, 0, model_of("constant")))


def test_errors_are_relative_where_the_noise_is_proportional(runs: Path, tmp_path: Path) -> None:
    found = load(runs / "Fit <b>one")
    usual = equations(str(runs / "Fit <b>one"))
    assert not usual["is_relative"]
    assert [each["error"] for each in usual["equations"]] == [each["loss"] for each in usual["equations"]]
    changed = tuple(replace(each, model=PROPORTIONAL) for each in found.equations)
    folder = str(save(replace(found, equations=changed), tmp_path / "run"))
    told, best = equations(folder), found.best
    relative = found.train.y / best.predict(found.train.columns) - 1
    typical = pytest.approx(np.sqrt(np.mean(relative**2)), rel=1e-6)
    assert (told["is_relative"], told["equations"][found.index]["error"]) == (True, typical)
    for answer in (fit_of(folder, "x", found.index), try_values(folder, found.index, "x", None, {})):
        assert (answer["is_relative"], answer["error"]) == (True, typical)


def test_no_cell_of_a_table_to_take_away_begins_a_formula(runs: Path, tmp_path: Path) -> None:
    formula = "=cmd|' /C calc'!A0"
    found, revised = load(runs / "Fit <b>one"), load_revision(runs / "revision")
    hostile = replace(found.problem, target=formula, columns=(formula, "-x"))
    renamed = tuple(replace(each, target=formula) for each in found.equations)
    folder = save(replace(found, problem=hostile, equations=renamed), tmp_path / "fit")
    steps = tuple(replace(each, equation=replace(each.equation, target=formula)) for each in revised.steps)
    save_revision(replace(revised, target=formula, steps=steps), tmp_path / "revision")
    for path in tmp_path.rglob("*.csv"):
        rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
        cells = [cell for row in rows for cell in row]
        assert not any(cell.startswith(("=", "+", "@")) or re.match(r"-(?![\d.]+)", cell) for cell in cells)
    assert {path.name for path in tmp_path.rglob("*.csv")} >= {"equations.csv", "revisions.csv"}
    for format_ in EXPORTS:  # what goes to the clipboard
        text = export(str(folder), found.index, format_)["text"]
        assert "cmd|" not in text or format_ in ("latex", "markdown")
        assert not text.startswith(("=cmd", "+", "-", "@"))


def test_the_folder_is_taken_away_and_opens_elsewhere(client: Client, fit: str, tmp_path: Path) -> None:
    answer = client.get(f"/api/runs/{fit}/folder.zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        archive.extractall(tmp_path)
    assert len(load(tmp_path / fit).equations) >= 2
    assert client.get(f"/api/runs/{fit}/equations.csv").text.startswith("complexity,loss")
    report = client.get(f"/api/runs/{fit}/report")
    assert report.text.startswith("<!DOCTYPE html>") or report.text.startswith("<!doctype html>")
    assert report.headers["content-disposition"].startswith("attachment")


def test_the_learned_space(client: Client) -> None:
    given = {"first": "a*exp(-t)", "second": "a + t", "steps": 4, "model": "general-2"}
    told: list[dict[str, Any]] = client.ask("POST", "/api/space/between", json=given)["steps"]
    assert [step["alpha"] for step in told] == [0, 0.25, 0.5, 0.75, 1]
    assert {name for step in told for name in parse(step["text"]).variables} == {"a", "t"}
    near = client.ask("POST", "/api/space/neighbours", json={"formula": "2.5*x0*sin(x1)", "count": 20, "radius": 1})
    distances = [each["distance"] for each in near["neighbours"]]
    assert distances == sorted(distances)
    assert sum(each["count"] for each in near["neighbours"]) + near["invalid"] == 20
    assert not any(math.isnan(node["x"]) for each in near["neighbours"] for node in each["tree"]["nodes"])
    refused = client.ask("POST", "/api/space/between", 400, json=given | {"second": "a + ", "model": "general-2"})
    assert refused["where"] == {"field": "second", "start": 4, "length": 1}
    client.ask("POST", "/api/space/between", 404, json=given | {"model": "../../etc"})
    client.ask("POST", "/api/space/between", 400, json=given | {"steps": 10_000})
    refused = client.ask("POST", "/api/space/neighbours", 400, json={"formula": "a + b + d", "model": "general-2"})
    assert "choose a larger model" in refused["error"]
