"""Names of columns that a stranger chose do nothing where they are shown, printed or exported."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from edhie.cli.predict import writing
from edhie.cli.show import export, print_front
from edhie.console import say
from edhie.errors import NameWarning
from edhie.evaluate import Data
from edhie.evaluate.tables import open_table
from edhie.events import Glimpsed
from edhie.expr import parse
from edhie.expr.exports import FORMATS
from edhie.expr.mathml import mathml_name
from edhie.fit import Discovery, Problem, Settings, discover
from edhie.fit.run_folder import EQUATIONS, load, save
from edhie.plots import plot_fit, plot_front
from edhie.plots.style import png
from edhie.report.page import report_page
from edhie.safe_text import FORMULA_STARTS, as_text_cell, printable
from edhie.storage import csv_text
from edhie.view import SearchView

FORMULA = "=cmd|' /C calc'!A0"
HOSTILE = (
    "a\nb*/ int evil; //", '"""; import os', "\\input{/etc/passwd}", "$\\frac{$ ${x}$ %", "</script><script>alert(1)",
    "[red]x[/red]", "\x1b[2J\x1b]0;title\x07", "\u202egnp.\u200b", "@SUM(A1)", "-x\r=1+1",
)  # fmt: skip
ESCAPES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def fitted() -> Discovery:
    """A finished fit whose columns have hostile names."""
    names = tuple(map("".join, zip(HOSTILE[::2], HOSTILE[1::2], strict=True)))
    x = np.random.default_rng(0).uniform(1, 5, (len(names), 40))
    data = Data(x, 3 * x[0] / x[1] + x[2], None, names)
    return discover(Problem.of(data), Settings(max_time=None, max_evaluations=60, search="draw"))


@pytest.fixture(scope="module", params=[FORMULA, *HOSTILE])
def found(request: pytest.FixtureRequest, fitted: Discovery) -> Discovery:
    """The same fit with a hostile target."""
    return with_target(fitted, request.param)


def with_target(fitted: Discovery, target: str) -> Discovery:
    equations = tuple(replace(each, target=target) for each in fitted.equations)
    return replace(fitted, problem=replace(fitted.problem, target=target), equations=equations)


@pytest.fixture(scope="module")
def folder(found: Discovery, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(found, tmp_path_factory.mktemp("runs") / "run")


def is_harmless(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return not cell.startswith((*FORMULA_STARTS, "\t", "\r", "\n"))
    return True


# -- spreadsheets ---------------------------------------------------------------------


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", " =", "\uff1d", "\uff0d"])
def test_a_text_cell_never_begins_a_formula(start: str) -> None:
    assert as_text_cell(f"{start}cmd|' /C calc'!A0").startswith("'")


@pytest.mark.parametrize("text", ["-1.5", "+2e-3", "-1,5", "-1.234,5", "-1 234.5", "-1.5 2e-3", "-", "-inf", "a=b", ""])
def test_numbers_and_other_texts_stay_as_they_are(text: str) -> None:
    assert as_text_cell(text) == text


def test_no_cell_opens_a_row_of_its_own() -> None:
    text = csv_text(["name"], [["a\r=1+1"], ["b\r\n=1+1"], ["c\n=1+1"]], for_people=True)
    assert "\r" not in text
    assert list(csv.reader(io.StringIO(text, newline="")))[1:] == [["a\n=1+1"], ["b\n=1+1"], ["c\n=1+1"]]


def test_no_cell_of_a_run_folder_begins_a_formula(found: Discovery, folder: Path) -> None:
    for path in folder.glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        assert all(is_harmless(cell) for row in rows for cell in row)
        assert len({len(row) for row in rows}) == 1
    texts = (folder / EQUATIONS).read_text(encoding="utf-8")
    assert texts.count("\n") == 1 + len(found.equations)
    assert load(folder).target == found.target  # the name itself is kept


def test_no_cell_of_predictions_begins_a_formula(tmp_path: Path) -> None:
    data, out = tmp_path / "data.csv", tmp_path / "out.csv"
    names = [FORMULA, *HOSTILE]
    cells = ["=1+1", "+a", "-1.5", "-", "@SUM(A1)", "\tx", "-2,5", "\uff1d1", "x", "a\r=1", "7"]
    with data.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\r\n").writerows([names, cells])
    with pytest.warns(NameWarning):
        table = open_table(data)
    with writing(table, ["-y"], out) as write:
        write({"-y": np.array([-3.0])})
    with out.open(encoding="utf-8", newline="") as file:
        header, row = csv.reader(file)
    assert all(map(is_harmless, (*header, *(cell for cell in row if cell not in ("-", "-2,5")))))
    assert [row[k] for k in (2, 3, 6, 10, 11)] == ["-1.5", "-", "-2,5", "7", "-3.0"]


# -- exports --------------------------------------------------------------------------


def test_exports_hold_nothing_of_a_name_but_letters(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in FORMATS:
        export(folder, name)
        text = capsys.readouterr().out
        assert not ESCAPES.search(text)
        for bad in ("cmd|", "*/ int", '"""; import', "\\input", "${", "</script", "\\frac{$", "//", "[red]"):
            assert bad not in text
        assert "$" not in text
        if FORMATS[name].extension == ".py":
            ast.parse(text)
        if name == "json":
            json.loads(text)
        if name == "c":
            assert text.count("/*") == text.count("*/") == 1


def test_a_target_is_escaped_in_latex(found: Discovery) -> None:
    name = found.best.latex_equation().partition(" = ")[0]
    assert name.startswith(r"\text{")
    commands = set(re.findall(r"\\[A-Za-z]+", name))
    assert commands <= {"\\text", "\\textbackslash", "\\textasciicircum", "\\textasciitilde"}
    inside = re.sub(r"\\[#$%&_{}]|\\text\w+\{\}", "", name.removeprefix(r"\text{").removesuffix("}"))
    assert not set(inside) & set("\\{}$%#&_^~\n")


# -- pages and pictures ---------------------------------------------------------------


class Scripts(HTMLParser):
    """Collects the elements of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not any(name.startswith("on") for name, _ in attrs)


def test_a_report_has_one_script_and_no_hidden_marks(fitted: Discovery) -> None:
    page, parsed = report_page([with_target(fitted, "".join(HOSTILE))], command="".join(HOSTILE)), Scripts()
    parsed.feed(page)
    assert parsed.tags.count("script") == 1
    assert not ESCAPES.search(page)


def test_names_become_text_in_mathml() -> None:
    assert mathml_name("</math><script>\x1b\u202e") == "<mtext>&lt;/math&gt;&lt;script&gt;\\u001b\\u202e</mtext>"


@pytest.mark.parametrize("target", ["$\\frac{$ ${x}$ %", "".join(HOSTILE)])
def test_pictures_are_drawn_whatever_the_names(fitted: Discovery, target: str) -> None:
    found = with_target(fitted, target)
    for figure in (plot_fit(found), plot_front(found)):
        assert png(figure, dpi=20).startswith(b"\x89PNG")


# -- the terminal ---------------------------------------------------------------------


def test_nothing_printed_holds_control_characters(found: Discovery, capsys: pytest.CaptureFixture[str]) -> None:
    print_front(found)
    say(found.best.text())
    say(f"a name: {found.target}")
    out = capsys.readouterr().out
    assert not ESCAPES.search(out)
    assert "[red]x[/red]" in out or "[red]" not in found.target  # and markup is not read


def test_the_live_view_shows_names_as_they_are() -> None:
    screen = io.StringIO()
    with SearchView(Console(file=screen, width=200), target="\x1b[2J[red]T") as view:
        view(Glimpsed(parse("x0"), 1.0))
    assert "\\u001b[2J[red]T = x0" in screen.getvalue()


@pytest.mark.parametrize("name", HOSTILE)
def test_escapes_are_those_of_json(name: str) -> None:
    shown = printable(name)
    assert shown.isprintable()
    if not {'"', "\\"} & set(name):
        assert json.loads(f'"{shown}"') == name
