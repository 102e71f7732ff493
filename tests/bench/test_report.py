"""Tables and pictures, ours beside the paper's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from edhie.bench import ProblemError, load_problems
from edhie.bench.figures import Curve, curves_figure, mean_curve, read_curves, success_figure
from edhie.bench.records import Row
from edhie.bench.report import line_of, notes_on, paper_figures, summarised, table_of
from edhie.bench.trial import COLUMNS


def row(problem: str = "NG-1", run: int = 0, **changes: object) -> Row:
    common = {
        "problem": problem, "method": "edhie", "run": run, "seed": run, "success": 1, "equivalent": "yes",
        "rmse": 1e-13, "r2_test": 1.0, "evaluated": 200, "evaluated_to_success": 100, "screened": 0, "invalid": 5,
        "seconds": 2.0, "expression": "x", "noise": 0.0, "rank": "", "refits": 0, "stopped": "target",
        "selected": "x", "selected_equivalent": "yes",
    }  # fmt: skip
    return {name: str({**common, **changes}[name]) for name in COLUMNS}


ROWS = [
    row(),
    row(run=1, evaluated_to_success=300, rmse=1e-9),
    row("NG-5", success=0, equivalent="no", rmse=0.5, r2_test=0.25, evaluated_to_success="", selected_equivalent="no"),
    row("NG-5", 1, success=0, equivalent="undecided", rmse=0.5, r2_test=0.75, evaluated_to_success=""),
]


def test_evaluations_of_other_packages_are_counted_by_them() -> None:
    assert "distinct expressions" in notes_on([row(method="edhie")])[2]
    assert "as the package counts them" in notes_on([row(method="gplearn")])[2]


def test_lines() -> None:
    first, second = summarised(ROWS)
    assert (first.problem, first.runs, first.successes, first.strict, first.equivalent) == ("NG-1", 2, 2, 1, 2)
    assert first.evaluated == (200, 100)
    assert (second.successes, second.undecided, second.selected, second.evaluated) == (0, 1, 1, None)
    assert second.r2 == (0.5, 0.25)
    assert line_of("all", ROWS).successes == 2


def shown(table: object, width: int = 80) -> str:
    console = Console(width=width, record=True, file=None, force_terminal=False)
    with console.capture() as captured:
        console.print(table)
    return captured.get()


def test_a_table_with_the_papers_figures() -> None:
    text = shown(table_of(ROWS, "nguyen", "edhie"))
    lines = {line.split()[0]: line.split() for line in text.splitlines()[1:]}
    assert text.splitlines()[0].startswith("nguyen, edhie (EDHiE, paper)")
    assert lines["NG-1"] == "NG-1 2/2 (10) 1 2 2 1.00 (1.00) 200 (573) 2.0".split()
    assert lines["NG-5"] == "NG-5 0/2 (3) 0 0 1 0.50 (0.32) - (20,615) 2.0".split()
    assert lines["total"][:3] == ["total", "2/4", "(13)"]
    assert any("could not be decided" in note for note in notes_on(ROWS))
    assert max(map(len, text.splitlines())) <= 80


def test_a_table_of_problems_that_the_paper_has_not() -> None:
    text = shown(table_of([row("mine")], "own", "edhie"))
    assert "(" not in text
    assert text.splitlines()[2].split() == ["mine", "1/1", "1", "1", "1", "1.00", "100", "2.0"]


def test_what_was_screened_is_shown_beside_what_was_executed() -> None:
    text = shown(table_of([row(screened=1_300_000)], "nguyen", "default"))
    assert text.splitlines()[1].split()[-2:] == ["screened", "secs"]
    assert text.splitlines()[2].split()[-2:] == ["1.3M", "2.0"]
    assert "screened" in notes_on([row(screened=1)])[-1]


def test_only_one_is_one() -> None:
    text = shown(table_of([row(r2_test=0.99999999)], "own", "edhie"))
    assert "0.9999" in text


def test_a_table_with_noise() -> None:
    rows = [row(noise=0.05, rank=4), row(run=1, noise=0.05, rank=8)]
    text = shown(table_of(rows, "nguyen", "edhie", 0.05))
    assert text.splitlines()[0].startswith("nguyen, edhie, noise 0.05 (EDHiE, paper)")
    assert text.splitlines()[2].split() == "NG-1 2/2 (10) 2 2 1.00 6 (9) 2.0".split()
    assert "rank" in notes_on(rows, 0.05)[-1]


# -- the paper ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("benchmark", "method", "noise", "total"),
    [
        ("nguyen", "proged", 0, 23),
        ("nguyen", "hvar", 0, 39),
        ("nguyen", "edhie", 0, 67),  # printed as 66
        ("nguyen", "default", 0, 67),
        ("nguyen", "dso", 0, 61),
        ("nguyen", "pysr", 0, 54),
        ("nguyen", "cvae", 0, 14),
        ("nguyen", "gvae", 0, 24),
        ("nguyen", "gvae-evo", 0, 28),
        ("feynman16", "edhie", 0, 135),
        ("nguyen", "edhie", 0.01, 67),
        ("nguyen", "edhie", 0.2, 64),
    ],
)
def test_totals_of_the_paper(benchmark: str, method: str, noise: float, total: int) -> None:
    _, figures = paper_figures(benchmark, method, noise)
    assert sum(each["successes"] for each in figures.values()) == total
    assert set(figures) <= {problem.id for problem in load_problems(benchmark)}


def test_what_the_paper_has_not() -> None:
    assert paper_figures("feynman", "edhie")[1] == {}
    assert paper_figures("nguyen", "hvar", 0.05)[1] == {}
    assert paper_figures("nguyen", "edhie", 0.03)[1] == {}


@pytest.mark.parametrize("system", ["gvae-64", "gvae-128", "cvae-64", "cvae-128", "hvar-16"])
def test_the_paper_s_other_sizes(system: str) -> None:
    assert paper_figures("nguyen", system)[1]


# -- pictures -------------------------------------------------------------------------


def test_success_figure() -> None:
    (panel,) = success_figure({"edhie": ROWS, "hvar": ROWS[:2]}, "nguyen").axes
    heights = {bars.get_label(): [bar.get_height() for bar in bars] for bars in panel.containers}
    assert heights == {"EDHiE, paper": [1.0, 0.3], "edhie": [1.0, 0.0], "hvar": [1.0]}
    assert [tick.get_text() for tick in panel.get_xticklabels()] == ["NG-1", "NG-5"]


def test_mean_curves_are_steps() -> None:
    runs = [np.array([[1, 0.0], [10, 0.5]]), np.array([[100, 1.0]]), np.zeros((0, 2))]
    grid, mean, deviation = mean_curve(runs, 1000)
    at = dict(zip(grid.tolist(), mean.tolist(), strict=True))
    assert deviation[-1] == pytest.approx(np.std([0.5, 1, 0]))
    assert at[1] == 0
    assert [at[max(x for x in at if x <= most)] for most in (9, 11, 99, 105, 1000)] == pytest.approx(
        [0, 0.5 / 3, 0.5 / 3, 0.5, 0.5]
    )


def test_curves_figure(tmp_path: Path) -> None:
    (tmp_path / "curves").mkdir()
    for k in range(2):
        text = "executed,screened,seconds,error,r2\n1,0,0.1,3.0,0.1\n50,0,0.2,1.0,0.9\n"
        (tmp_path / "curves" / f"nguyen-edhie-NG-1-{k}.csv").write_text(text)
    curves = read_curves(tmp_path, "nguyen-edhie", ROWS[:2])
    assert {name: [run.tolist() for run in runs] for name, runs in curves.items()} == {
        "NG-1": [[[1, 0.1], [50, 0.9]]] * 2
    }
    curve = mean_curve(curves["NG-1"], 80)
    short = Curve(np.array([1.0, 40]), np.array([0.2, 0.9]), np.array([0.0, 0.3]))
    first, second = curves_figure({"edhie": {"NG-1": curve}, "hvar": {"NG-5": short}}).axes[:2]
    assert [axes.get_lines()[0].get_ydata()[-1] for axes in (first, second)] == pytest.approx([0.9, 0.9])
    assert second.get_lines()[0].get_xdata().tolist() == [1, 40, 80]  # as far as the others
    band = second.collections[0].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == (pytest.approx(0.2), 1)  # no R² is above 1
    with pytest.raises(ProblemError, match="cannot be read"):
        read_curves(tmp_path, "nguyen-edhie", ROWS)
    with pytest.raises(ProblemError, match="no learning curves"):
        curves_figure({})
