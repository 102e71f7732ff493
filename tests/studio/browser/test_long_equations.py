"""Long equations: broken into lines, or smaller; where neither helps, they scroll and show that they go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from browsing import Server
from edhie.expr import parse
from edhie.expr.standard_libraries import everything
from edhie.fit import Equation
from edhie.fit.run_folder import load, save
from edhie.results import Candidate

WIDTHS = (1280, 768, 390)
BROKEN = {
    "sum": "12.345*x*exp(-0.12345*dose_mg)*sqrt(dose_mg + x) - 1873.2*x*log(dose_mg + 1.2345) + 46420",
    "product": "0.0012345*x^2*exp(-0.12345*dose_mg)*sqrt(1.2345 + x/12.345)*sin(0.2345*x + 1.2345) + 46420",
}
WHOLE = "exp(-0.12345*x*dose_mg - 1873.2*x - 234.56*dose_mg - sin(12.345*x + 4.6789*dose_mg) - 0.00464*x^2 - 12.3*x^3)"
SIDES = """box => {
    const [right, ends] = [box.getBoundingClientRect().right, [...box.querySelectorAll("mn, mi, mo")]];
    return {
        room: box.clientWidth, wanted: box.scrollWidth,
        marks: [...box.classList].filter((each) => each.startsWith("more-")),
        beyond: Math.max(...ends.map((each) => each.getBoundingClientRect().right)) - right,
        fades: getComputedStyle(box).maskImage !== "none",
    };
}"""


@pytest.fixture(scope="module")
def long_runs(server: Server, runs: Path) -> None:
    found = load(runs / "Fit <b>one")
    for name, text in {**BROKEN, "whole": WHOLE}.items():
        expr = parse(text, everything(found.train.names))
        each = Equation.of(Candidate(expr, 1.0, float(expr.size), 1), found.problem, found.settings)
        save(replace(found, equations=(each,), chosen=0), server.folder / f"long-{name}")


def sides(page: Any, where: str) -> dict[str, Any]:
    page.wait_for_selector(f"{where} math")
    page.wait_for_timeout(300)  # its size follows that of the box
    return dict(page.locator(where).first.evaluate(SIDES))


@pytest.mark.usefixtures("long_runs")
@pytest.mark.parametrize("width", WIDTHS)
def test_a_long_equation_is_seen_to_its_end(width: int, server: Server, open_page: Callable[..., Any]) -> None:
    page = open_page(server, "#/", width=width)
    for name in BROKEN:
        card = sides(page, f".run-card:has(a[href='#/run/long-{name}']) .formula")
        assert card["wanted"] <= card["room"]
        assert card["beyond"] <= 0
    for name in BROKEN:
        page.goto(f"{server.root}#/run/long-{name}")
        hero = sides(page, ".hero-box .formula")
        assert (hero["wanted"], hero["marks"]) == (hero["room"], [])
        assert hero["beyond"] <= 0
        assert "46420" in page.locator(".hero-box .formula").inner_text()


@pytest.mark.usefixtures("long_runs")
@pytest.mark.parametrize("width", WIDTHS)
def test_an_equation_that_cannot_be_broken_shows_that_it_goes_on(
    width: int, server: Server, open_page: Callable[..., Any]
) -> None:
    page = open_page(server, "#/run/long-whole", width=width)
    hero = sides(page, ".hero-box .formula")
    assert (hero["wanted"] > hero["room"]) == hero["fades"] == (hero["marks"] == ["more-after"])
    if width == min(WIDTHS):
        assert hero["fades"]
        page.locator(".hero-box .formula").evaluate("box => { box.scrollLeft = box.scrollWidth; }")
        hero = sides(page, ".hero-box .formula")
        assert hero["marks"] == ["more-before"]
        assert hero["beyond"] <= 0
