"""Every view: no serious fault by axe, no overflow, at both widths, light and dark; and by keyboard alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from browsing import TABLE, Server, bring, expect, search, wait_for_state

TABS = ("Fit", "Constants", "Try numbers", "Compare", "Take away")
AXE = """async (part) => (await axe.run(part, {resultTypes: ["violations"]})).violations
    .filter((each) => ["serious", "critical"].includes(each.impact))
    .map((each) => `${each.id}: ${each.nodes.map((node) => node.target.join(" ")).join(", ")}`)"""


def check(page: Any, axe: str, part: str = "body") -> None:
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe)  # a script element would not be allowed on the page
    assert page.evaluate(AXE, part) == []
    wide, seen = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= seen, f"the page is {wide} pixels wide, on a screen of {seen}"


def check_question(page: Any, axe: str) -> None:
    bring(page, TABLE.replace("\n2,0.25,", "\n?,0.25,"))
    page.wait_for_selector("table.columns")
    for each in page.locator("summary").all():
        each.click()
    page.get_by_label("A formula to start from").fill("dose*(")
    page.wait_for_selector(".caret")
    check(page, axe)


def check_views(open_page: Callable[..., Any], server: Server, run: str, axe: str, **options: Any) -> None:
    page = open_page(server, **options)
    page.wait_for_selector(".run-card")
    check(page, axe)
    page.goto(f"{server.root}#/new")
    page.wait_for_selector(".example")
    check(page, axe)
    check_question(page, axe)
    page.goto(f"{server.root}#/run/{run}")
    for tab in TABS:
        page.get_by_role("tab", name=tab).click()
        page.wait_for_selector(".panel:not([hidden]) :is(.line, .node, pre)", state="attached")
        check(page, axe, "body" if tab == TABS[0] else ".panel:not([hidden])")
    page.goto(f"{server.root}#/space")
    page.wait_for_selector(".neighbour")
    check(page, axe)


def test_question_and_answer_have_no_serious_fault(
    server: Server, open_page: Callable[..., Any], finished: str, axe: str
) -> None:
    page = open_page(server, "#/new", width=390)
    check_question(page, axe)
    page.goto(f"{server.root}#/run/{finished}")
    page.wait_for_selector(".chart .line")
    check(page, axe)


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_views_have_no_serious_fault_at_any_width_and_colour(
    server: Server, open_page: Callable[..., Any], finished: str, axe: str, width: int, dark: bool
) -> None:
    check_views(open_page, server, finished, axe, width=width, dark=dark)


@pytest.mark.slow
def test_colours_follow_the_system_and_the_switch(server: Server, open_page: Callable[..., Any]) -> None:
    page = open_page(server, "#/new", dark=True)
    colour = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(colour)
    switch = page.get_by_role("button", name="Appearance: Automatic")
    switch.click()
    expect(page.get_by_role("button", name="Appearance: Light")).to_be_visible()
    assert page.evaluate(colour) != dark
    page.reload()
    assert page.evaluate(colour) != dark  # it is remembered
    page.get_by_role("button", name="Appearance: Light").click()
    assert page.evaluate(colour) == dark


def press_until(page: Any, words: str, key: str = "Tab", most: int = 60) -> None:
    """Press a key until what has the focus is called `words`."""
    script = """() => { const at = document.activeElement;
        return at.getAttribute("aria-label") || at.labels?.[0]?.innerText || at.innerText || at.value || ""; }"""
    for _ in range(most):
        page.keyboard.press(key)
        if words in page.evaluate(script):
            return
    raise AssertionError(f"{words!r} was not reached with {key}")


def test_a_search_is_asked_for_and_judged_by_keyboard_alone(
    server: Server, open_page: Callable[..., Any], finished: str
) -> None:
    page = open_page(server)
    page.wait_for_selector(".run-card")
    press_until(page, "New search")
    page.keyboard.press("Enter")
    page.wait_for_selector(".example")
    press_until(page, "Orbits of planets and moons")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Find equations")).to_be_enabled()
    press_until(page, "1 min")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("radio", name="10 s")).to_be_checked()
    press_until(page, "Use mass")
    page.keyboard.press("Space")
    expect(page.get_by_text("Find equations for period from axis.")).to_be_visible()
    press_until(page, "Find equations", "Shift+Tab")

    page.goto(f"{server.root}#/run/{finished}")
    page.wait_for_selector("[role=tab]")
    press_until(page, "complexity")
    page.keyboard.press("Home")
    first = page.locator(".hero-box .formula").inner_text()
    page.keyboard.press("ArrowRight")
    assert page.locator(".hero-box .formula").inner_text() != first
    page.keyboard.press("ArrowLeft")
    assert page.locator(".hero-box .formula").inner_text() == first
    press_until(page, "Fit")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Constants")).to_be_focused()
    expect(page.get_by_role("tabpanel", name="Constants")).to_be_visible()


@pytest.mark.slow
def test_deletion_by_keyboard_asks_and_gives_the_focus_back(server: Server, open_page: Callable[..., Any]) -> None:
    page = open_page(server)
    run = search(page, seconds=1, name="for the keyboard")
    page.goto(f"{server.root}#/run/{run}")
    wait_for_state(page, "finished")
    press_until(page, "Delete")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Delete")).to_be_focused()
    page.keyboard.press("Enter")
    press_until(page, "Delete")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your runs")).to_be_visible()
