"""The report is one valid page that needs nothing else, and says all there is to say, whatever names the data have."""

from __future__ import annotations

import base64
import itertools
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from edhie import __version__
from edhie.errors import EdhieError
from edhie.evaluate import Data, read_data
from edhie.expr import Expr, Forest, parse
from edhie.fit import Discovery, Problem, Settings
from edhie.report import write_report
from edhie.report.equations import BOTTOM, LEFT, MOST_PICTURES, RIGHT, TOP, front_chart
from edhie.report.fragments import number
from edhie.report.page import report_page
from edhie.results import Candidates, Front
from edhie.selection.noise import model_of

ROOT = Path(__file__).parents[2]
VOID = {"meta", "link", "img", "br"}
Attributes = dict[str, str | None]


class Page(HTMLParser):
    """A page taken apart: elements in order, their texts, and whether all are closed where they should be."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, Attributes]] = []
        self.texts: dict[int, str] = {}
        self._open: list[tuple[str, int]] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs)
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append((tag, len(self.elements) - 1))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        for _, place in self._open:
            self.texts[place] = self.texts.get(place, "") + data

    def all(self, tag: str) -> list[Attributes]:
        return [attributes for name, attributes in self.elements if name == tag]

    def text_of(self, tag: str, **wanted: str) -> list[str]:
        return [
            self.texts.get(k, "")
            for k, (name, attributes) in enumerate(self.elements)
            if name == tag and all(attributes.get(key) == value for key, value in wanted.items())
        ]

    def with_attribute(self, name: str) -> list[str]:
        return [attributes[name] or "" for _, attributes in self.elements if name in attributes]


COMMAND = "edhie fit a.csv --target 'T'"


@pytest.fixture(scope="session")
def text(cooling: Discovery) -> str:
    return report_page([cooling], command=COMMAND)


@pytest.fixture(scope="session")
def page(text: str) -> Page:
    return Page(text)


@pytest.fixture(scope="session")
def hostile_page(hostile: Discovery) -> Page:
    return Page(report_page([hostile], title="<u>title</u>"))


@pytest.mark.parametrize("name", ["page", "hostile_page"])
def test_ids_are_unique_and_links_lead_somewhere(name: str, request: pytest.FixtureRequest) -> None:
    page: Page = request.getfixturevalue(name)
    ids = page.with_attribute("id")
    assert len(ids) == len(set(ids))
    targets = [link["href"] for link in page.all("a")]
    assert targets
    assert {str(target)[1:] for target in targets} <= set(ids)
    assert set(page.with_attribute("data-equation")) <= set(ids)
    assert set(page.with_attribute("data-copies")) <= set(ids)
    labels = [one for value in page.with_attribute("aria-labelledby") for one in value.split()]
    assert set(labels) <= set(ids)


@pytest.mark.parametrize("name", ["page", "hostile_page"])
def test_nothing_comes_from_elsewhere(name: str, request: pytest.FixtureRequest) -> None:
    page: Page = request.getfixturevalue(name)
    for attribute in ("src", "href", "xlink:href", "srcset", "action", "data"):
        assert all(value.startswith(("#", "data:")) for value in page.with_attribute(attribute))
    for text in page.text_of("style") + page.text_of("script"):
        assert not re.search(r"https?:|url\(|@import|fetch\(", text)


@pytest.mark.parametrize("name", ["page", "hostile_page"])
def test_everyone_can_read_it(name: str, request: pytest.FixtureRequest) -> None:
    page: Page = request.getfixturevalue(name)
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert all(image.get("alt") for image in page.all("img"))
    assert all(drawing.get("aria-label") for drawing in page.all("svg"))
    assert page.all("html")[0]["lang"] == "en"
    assert all(head.get("scope") for head in page.all("th"))
    # a row is reached by the link in it, a point is a link
    assert len(page.all("a")) >= 2 * len([row for row in page.all("tr") if "data-equation" in row])


def test_names_are_data(hostile: Discovery, hostile_page: Page) -> None:
    assert len(hostile_page.all("script")) == 1
    for tag in ("b", "i", "u"):
        assert hostile_page.all(tag) == []
    assert hostile_page.text_of("h1") == ["<u>title</u>"]
    names = hostile_page.text_of("th", **{"class": "name"})
    assert names == [f"{hostile.target} (target)", *hostile.columns]


def test_it_says_all_of_every_equation(cooling: Discovery, page: Page) -> None:
    sections = [section for section in page.all("section") if "equation" in (section.get("class") or "").split()]
    assert len(sections) == len(cooling.equations)
    selected = [section["id"] for section in sections if "selected" in str(section["class"])]
    assert selected == [f"t1-e{cooling.index}"]
    copied = page.text_of("pre")
    for each in cooling.equations:
        assert each.text(None) in copied
        assert f"T = {each.latex()}" in copied
        assert each.weight is not None
        assert each.confidence in page.text_of("td")
    assert COMMAND in copied
    pictures = page.all("img")
    assert len(pictures) == min(len(cooling.equations), MOST_PICTURES)
    assert base64.b64decode(str(pictures[0]["src"]).partition(",")[2]).startswith(b"\x89PNG")


def test_what_has_to_be_known_is_told(cooling: Discovery, text: str) -> None:
    assert cooling.notes == ()
    short = replace(cooling, result=replace(cooling.result, counts=replace(cooling.result.counts, executed=60)))
    short = Discovery.of(short.result, short.problem, short.settings)
    told = Page(report_page([short]))
    assert "Only 60 expressions tried, too few to say how likely each equation is; search longer." in told.text_of("p")
    assert "weight" not in told.text_of("th") + told.text_of("dt")
    assert "weight" in Page(text).text_of("th")
    one = a_line(cooling)
    other = replace(one, equations=(replace(one.best, model=model_of("proportional")),))
    note = "Constants are fitted for noise proportional to the prediction."
    assert note in Page(report_page([other])).text_of("p", **{"class": "note"})
    assert note not in text
    assert note not in report_page([one])


def test_constants_come_with_their_errors(cooling: Discovery) -> None:
    found = a_line(cooling)
    text = report_page([found])
    for value, error in zip(found.best.uncertainty.values, found.best.uncertainty.standard_errors, strict=True):
        assert f'<td class="number">{value:.4g}</td><td class="number">{error:#.2g}</td>' in text


def a_line(discovery: Discovery) -> Discovery:
    """A discovery of a straight line alone, which has few figures."""
    x = np.linspace(0, 1, 30)
    line = parse("c*x + c", variables=["x"]).with_constants([2.0, 0.5])
    return alone(discovery, line, read_data(x, 2 * x + 0.5 + 0.1 * np.sin(50 * x), names=["x"]))


def alone(discovery: Discovery, expr: Expr, data: Data) -> Discovery:
    """A discovery of this one expression."""
    candidates = Candidates(Forest.from_exprs([expr]), np.ones(1), np.ones(1), np.ones(1, np.int64))
    result = replace(discovery.result, front=Front(candidates), candidates=candidates)
    return Discovery.of(result, Problem.of(data, target=discovery.target), Settings(selection="best"))


def test_data_and_search_are_told(cooling: Discovery, hostile: Discovery, page: Page, hostile_page: Page) -> None:
    words = " ".join(page.text_of("main"))
    assert "60 rows were fitted to; none was held out." in words
    assert f"{cooling.result.counts.executed:,}" in page.text_of("td")
    assert f"{cooling.result.counts.screened:,}" in page.text_of("td")
    assert "as many expressions were executed as were asked for" in words
    assert f"edhie {__version__}" in words
    words = " ".join(hostile_page.text_of("main"))
    assert "960 rows were fitted to; 240 were held out" in words
    assert hostile.best.r2_validation is not None
    assert len([each for each in page.all("svg") if each["class"] == "histogram"]) == 2


def test_the_paper_is_cited_as_the_project_asks(page: Page) -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    shown = "".join(page.text_of("p", **{"class": "reference"}) + page.text_of("pre", id="bibtex"))
    for field in ("title", "journal", "volume", "start", "end", "year", "doi"):
        value = re.findall(rf"^  {field}: (.+)$", citation, re.MULTILINE)[0]
        assert value in shown
    assert all(name in shown for name in re.findall(r"family-names: (.+)", citation))


def test_twice_the_same(cooling: Discovery, text: str) -> None:
    assert report_page([cooling], command=COMMAND) == text


def test_a_long_front_stays_small(cooling: Discovery, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 2, (6000, 2))  # noqa: N806
    exprs = [
        parse("c + " + " + ".join(f"sin({j}*x*z)" for j in range(2, k + 3)), variables=["x", "z"]).with_constants([0.5])
        for k in range(25)
    ]
    sizes = np.arange(1.0, 26.0)
    candidates = Candidates(Forest.from_exprs(exprs), 1 / sizes, sizes, sizes.astype(np.int64))
    data = read_data(X, X[:, 0] * X[:, 1] + rng.normal(0, 0.1, 6000), names=["x", "z"])
    result = replace(cooling.result, front=Front(candidates), candidates=candidates)
    found = Discovery.of(result, Problem("T", ("x", "z"), data, None), Settings(selection="best", loss="mae"))
    path = write_report(found, tmp_path / "long.html")
    assert path.stat().st_size < 2_000_000
    page = Page(path.read_text(encoding="utf-8"))
    assert len(page.all("img")) == MOST_PICTURES
    assert "plot_fit(discovery, 0)" in " ".join(page.text_of("main"))


@pytest.mark.parametrize(
    "losses", [[0.0], [2.0], [2.0, 1.0], [1.0, 1e-16, 0.0], [1e150, 1e-150], [1e-300, 1e-310], [5, 0]]
)
def test_any_losses_can_be_drawn(losses: list[float], cooling: Discovery) -> None:
    sizes = np.arange(1.0, len(losses) + 1)
    forest = Forest.from_exprs([parse("t", variables=["t"])] * len(losses))
    candidates = Candidates(forest, np.array(losses), sizes, sizes.astype(np.int64))
    result = replace(cooling.result, front=Front(candidates), candidates=candidates)
    made = Discovery.of(result, cooling.problem, Settings(selection="best"))
    chart = Page(front_chart(made, "t1"))
    places = [(float(str(dot["cx"])), float(str(dot["cy"]))) for dot in chart.all("circle") if dot["class"] == "dot"]
    assert len(places) == len(losses)
    assert all(LEFT < x < RIGHT and TOP <= y <= BOTTOM for x, y in places)
    assert [y for _, y in places] == sorted(y for _, y in places)  # a lower loss stands lower


def test_several_targets_and_none_found(cooling: Discovery, hostile: Discovery, tmp_path: Path) -> None:
    nothing = Candidates(
        Forest.from_exprs([], cooling.best.expr.library), np.zeros(0), np.zeros(0), np.zeros(0, np.int64)
    )
    result = replace(cooling.result, front=Front(nothing), candidates=nothing)
    empty = Discovery.of(result, replace(cooling.problem, target="z"), Settings())
    assert empty.is_empty
    path = write_report([cooling, hostile, empty], tmp_path / "new" / "folder")
    assert path == tmp_path / "new" / "folder" / "report.html"
    page = Page(path.read_text(encoding="utf-8"))
    assert [each["id"] for each in page.all("article")] == ["t1", "t2", "t3"]
    assert page.text_of("h1") == ["Equations for T and 2 more"]
    assert page.text_of("h2")[:3] == [f"The equation for {each.target}" for each in (cooling, hostile, empty)]
    assert "No equation was found" in " ".join(page.text_of("article", id="t3"))
    ids = page.with_attribute("id")
    assert len(ids) == len(set(ids))


def test_what_cannot_be_written(cooling: Discovery, tmp_path: Path) -> None:
    with pytest.raises(EdhieError, match="at least one"):
        write_report([], tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(EdhieError, match="cannot write the report"):
        write_report(a_line(cooling), tmp_path / "file" / "report.html")


def test_numbers() -> None:
    assert [number(value) for value in (0.0, -1.5, 12345.0, 1e-20, -2.5e30, float("inf"))] == [
        "0", "−1.5", "1.234 × 10<sup>4</sup>", "1 × 10<sup>−20</sup>", "−2.5 × 10<sup>30</sup>", "∞",
    ]  # fmt: skip
    assert [number(value, 2, padded=True) for value in (0.2, 12.0, 0.0, 5e-10)] == [
        "0.20", "12", "0", "5.0 × 10<sup>−10</sup>",
    ]  # fmt: skip


def test_latex_of_a_target_that_is_no_name(hostile: Discovery, cooling: Discovery) -> None:
    assert hostile.best.latex_equation().startswith(r'\text{<i title="x">force</i> \& \$more} = ')
    assert cooling.best._repr_latex_().startswith("$T = ")
    assert repr(cooling.best).startswith("Equation('T = ")


def test_importing_it_loads_no_matplotlib() -> None:
    code = "import sys, edhie.report; print('matplotlib' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"
