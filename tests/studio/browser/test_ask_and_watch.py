"""Asking and watching: one press starts a search; the front grows as events say; it can be paused and goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from browsing import Server, Watched, bring, expect, search, wait_for_state


def test_one_press_starts_a_search_that_is_watched_to_its_end(watched: Watched) -> None:
    for words in ("Searching", "Best equation so far", "expressions tried", "a second", "time left", "Pause", "Stop"):
        assert words in watched.live
    assert watched.had_a_fit
    assert "The search ended because its time was used up, after " in watched.end
    assert watched.title == "Finished: plants · edhie studio"


def test_what_is_known_reaches_the_question(page: Any) -> None:
    bring(page)
    page.get_by_text("What you know already").click()
    page.get_by_label("A form with unknown parts").fill("f(dose)/(c + hours)")
    page.get_by_text("Operators", exact=False).first.click()
    page.get_by_role("button", name="Waves: none").click()
    page.get_by_role("checkbox", name="Use hours").uncheck()
    asked = []
    page.route("**/api/runs", lambda route: (asked.append(route.request.post_data_json), route.abort()))
    expect(page.get_by_text("there is no column", exact=False).or_(page.locator(".error-text")).first).to_be_visible()
    page.get_by_role("button", name="Find equations").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert asked[0]["template"] == "f(dose)/(c + hours)"
    assert asked[0]["features"] == ["dose"]
    assert "+" in asked[0]["operators"]
    assert "sin" not in asked[0]["operators"]


def test_minutes_are_typed_with_either_decimal_mark(page: Any) -> None:
    bring(page)
    asked = []
    page.route("**/api/runs", lambda route: (asked.append(route.request.post_data_json), route.abort()))
    page.get_by_role("radio", name="other").check()
    page.get_by_label("Minutes").fill("2,5")
    page.get_by_role("button", name="Find equations").click()
    expect(page.get_by_label("Minutes")).to_have_value("2.5")
    expect(page.get_by_role("alert")).to_be_visible()
    assert asked[0]["max_time"] == 150


def test_formulas_are_checked_while_one_types(page: Any) -> None:
    bring(page)
    page.get_by_text("What you know already").click()
    field = page.get_by_label("A formula to start from")
    field.fill("c*dose + (hours")
    expect(page.locator(".caret")).to_have_text("c*dose + (hours\n         ^")
    expect(field).to_have_attribute("aria-invalid", "true")
    field.fill(r"\frac{c \cdot \mathrm{dose}}{1 + \mathrm{hours}}")
    expect(page.locator(".caret")).to_have_count(0)
    assert page.locator("math mfrac").count() == 1
    field.fill("c*")
    page.get_by_role("button", name="Write dose, for the column dose").first.click()
    expect(field).to_have_value("c*dose")
    field.fill("(" * 30_000)  # a formula bomb
    expect(page.locator(".error-text")).to_contain_text("at most 20,000")
    field.fill("exp(" * 3000 + "dose" + ")" * 3000)
    expect(page.locator(".error-text")).to_contain_text("more than 5,000 symbols")
    field.fill("c*dose")  # and the next formula is read
    expect(page.locator(".error-text")).to_have_count(0)
    expect(field).to_have_attribute("aria-invalid", "false")


def test_another_question_is_asked_on_the_table_of_a_run(page: Any, finished: str) -> None:
    page.evaluate(f"location.hash = '#/run/{finished}'")
    page.get_by_role("button", name="New question on these data").click()
    expect(page.get_by_text("Find equations for level from dose and hours.")).to_be_visible()
    page.get_by_role("radio", name="Explain hours").check()
    expect(page.get_by_text("Find equations for hours from dose and level.")).to_be_visible()


def test_the_selected_equation_is_the_formula_to_improve(page: Any, finished: str) -> None:
    page.evaluate(f"location.hash = '#/run/{finished}'")
    page.locator(".pick").first.click()
    text = page.locator(".list tr[aria-current] .link").inner_text()
    page.get_by_role("button", name="Improve a formula of mine").click()
    field = page.get_by_label("Your formula")
    expect(field).to_have_value(text)
    expect(field).to_have_attribute("aria-invalid", "false")
    expect(page.get_by_role("radio", name="improve a formula that I have")).to_be_checked()
    field.fill(f"{text} + c*hours")
    expect(page.get_by_role("button", name="Revise my formula")).to_be_enabled()


@pytest.mark.slow
def test_a_search_is_paused_and_goes_on_and_gets_more_time(server: Server, open_page: Callable[..., Any]) -> None:
    page = open_page(server)
    run = search(page, seconds=20, name="to be paused")
    page.goto(f"{server.root}#/run/{run}")
    page.wait_for_selector(".pick", timeout=60_000)
    page.get_by_role("button", name="Pause").click()
    wait_for_state(page, "paused")
    expect(page.get_by_role("tab", name="Fit")).to_be_visible()  # what was found so far can be judged
    page.get_by_role("button", name="Go on").click()
    wait_for_state(page, "running")
    page.get_by_role("button", name="Stop").click()
    wait_for_state(page, "stopped")
    page.get_by_role("button", name="+ 1 min").click()
    wait_for_state(page, "running")
    page.get_by_role("button", name="Stop").click()
    wait_for_state(page, "stopped")


@pytest.mark.slow
def test_two_tabs_show_one_run_and_the_second_search_waits(server: Server, open_page: Callable[..., Any]) -> None:
    one = open_page(server)
    first, second = search(one, seconds=8, name="first"), search(one, seconds=1, name="second")
    one.goto(f"{server.root}#/run/{first}")
    other = open_page(server, f"#/run/{first}")
    waiting = open_page(server, f"#/run/{second}")
    expect(waiting.locator(".title-line .state")).to_contain_text("Waiting, number 1")
    for page in (one, other):
        page.wait_for_selector(".pick", timeout=60_000)
    other.get_by_role("button", name="Stop").click()
    for page in (one, other):
        wait_for_state(page, "stopped")
    wait_for_state(waiting, "finished")
    other.get_by_role("button", name="Delete").click()
    other.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(one.get_by_text("This run was deleted.")).to_be_visible()
    one.wait_for_timeout(1500)  # a stream that ended is opened again by then
    expect(one.get_by_text("Connection lost")).to_be_hidden()


@pytest.mark.slow
def test_a_search_that_stops_early_says_so(server: Server, open_page: Callable[..., Any]) -> None:
    page = open_page(server)
    run = search(page, seconds=60, patience=1, name="early")
    page.goto(f"{server.root}#/run/{run}")
    wait_for_state(page, "finished")
    expect(page.get_by_text("The search ended because nothing better came up for a long while, after")).to_be_visible()
