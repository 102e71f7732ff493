"""Judging: points of the front by mouse and keys, constants, fits, comparisons, sliders; taking away."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from browsing import Server, bring, expect, wait_for_state
from edhie.fit.run_folder import load, save
from edhie.selection.noise import PROPORTIONAL


@pytest.fixture(scope="module")
def judged(server: Server, open_shared_page: Callable[..., Any], finished: str) -> Any:
    page = open_shared_page(server, f"#/run/{finished}")
    page.wait_for_selector("[role=tab]")
    return page


def test_arrow_keys_select_equations_of_the_front(judged: Any) -> None:
    points = judged.locator(".pick")
    points.first.click()
    expect(points.first).to_have_attribute("aria-checked", "true")
    first = judged.locator(".hero-box .formula").inner_text()
    judged.keyboard.press("ArrowRight")
    expect(points.nth(1)).to_have_attribute("aria-checked", "true")
    expect(points.nth(1)).to_be_focused()
    assert judged.locator(".hero-box .formula").inner_text() != first
    judged.keyboard.press("Home")
    expect(judged.locator(".hero-box .formula")).to_have_text(first, use_inner_text=True)
    label = points.first.get_attribute("aria-label")
    assert "complexity" in label
    assert "typical error" in label


def test_fit_shows_the_rows_the_curve_and_what_lies_beyond_the_data(judged: Any) -> None:
    judged.get_by_role("tab", name="Fit").click()
    judged.get_by_label("What is drawn across").select_option("hours")
    chart = judged.get_by_role("group", name="level against hours: 24 measured points and the equation")
    expect(chart.locator(".line")).to_have_count(1)
    expect(chart.locator(".outside")).to_have_count(2)
    residuals = judged.get_by_role("group", name="Residuals: measured minus equation").get_by_role("slider")
    residuals.focus()
    judged.keyboard.press("ArrowRight")
    expect(residuals).to_have_attribute("aria-valuetext", judged.locator(".tooltip").inner_text())


def test_constants_have_standard_errors(judged: Any) -> None:
    judged.locator(".pick.chosen").click()
    judged.get_by_role("tab", name="Constants").click()
    row = judged.get_by_role("row").filter(has=judged.get_by_role("rowheader", name="c1", exact=True))
    expect(row).to_be_visible()
    heads = judged.locator(".panel:not([hidden]) thead th").all_inner_texts()
    assert heads == ["constant", "value", "± standard error", "95 % interval"]
    cells = row.get_by_role("cell").all_inner_texts()
    assert len(cells) == 3
    assert all(float(cell) > 0 for cell in cells[:2])
    assert " to " in cells[2]
    assert judged.locator(".tree .node").count() > 2


def test_sliders_change_the_value_and_come_back(judged: Any) -> None:
    judged.locator(".pick.chosen").click()
    judged.get_by_role("tab", name="Try numbers").click()
    value = judged.locator(".try .facts dd").first
    expect(value).to_be_visible()
    before = value.inner_text()
    judged.get_by_role("slider", name="c1").focus()
    for _ in range(20):
        judged.keyboard.press("ArrowRight")
    expect(value).not_to_have_text(before)
    judged.get_by_role("button", name="Back to the fitted values").click()
    expect(value).to_have_text(before)
    judged.get_by_role("textbox", name="c1, typed").fill("1e6")  # far beyond the slider
    judged.keyboard.press("Enter")
    expect(value).not_to_have_text(before)
    judged.get_by_role("button", name="Back to the fitted values").click()
    expect(value).to_have_text(before)


def test_numbers_are_typed_with_either_decimal_mark(judged: Any) -> None:
    judged.locator(".pick.chosen").click()
    judged.get_by_role("tab", name="Try numbers").click()
    field, slider = judged.get_by_role("textbox", name="hours, typed"), judged.get_by_role("slider", name="hours")
    for typed, understood in (("2,5", "2.5"), ("2.5", "2.5"), ("1,234.5", "1234.5"), ("-0,674", "-0.674")):
        field.fill(typed)
        judged.keyboard.press("Enter")
        expect(field).to_have_value(understood)
    field.fill("1,234")  # 1.234, or 1234: nothing happens before it is chosen
    judged.keyboard.press("Enter")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(judged.get_by_text("1,234 can mean two numbers:")).to_be_visible()
    expect(slider).to_have_attribute("aria-valuetext", "−0.674")
    judged.get_by_role("button", name="1.234", exact=True).click()
    expect(field).to_have_value("1.234")
    expect(slider).to_have_attribute("aria-valuetext", "1.234")
    field.fill("abc")
    judged.keyboard.press("Enter")
    expect(judged.get_by_text("This is no number.")).to_be_visible()
    judged.get_by_role("button", name="Back to the fitted values").click()
    expect(judged.locator(".try .error-text")).to_have_count(0)


def test_values_beyond_the_data_are_said_to_be_so(judged: Any) -> None:
    judged.locator(".pick.chosen").click()
    judged.get_by_role("tab", name="Try numbers").click()
    beyond, slider = judged.locator(".try .beyond"), judged.get_by_role("slider", name="hours")
    expect(slider).to_be_visible()
    expect(beyond).to_have_count(0)
    judged.get_by_role("textbox", name="hours, typed").fill("100")
    judged.keyboard.press("Enter")
    expect(beyond).to_have_text("beyond the data, which go from 0 to 5.75")
    slider.press("Home")
    expect(beyond).to_be_visible()
    judged.get_by_role("button", name="Back to the fitted values").click()
    expect(beyond).to_have_count(0)
    judged.get_by_role("textbox", name="c1, typed").fill("1e6")  # constants have no data
    judged.keyboard.press("Enter")
    expect(beyond).to_have_count(0)
    judged.get_by_role("button", name="Back to the fitted values").click()


def test_two_equations_are_compared_on_trees_and_curves(judged: Any) -> None:
    judged.locator(".pick").first.click()
    judged.get_by_role("tab", name="Compare").click()
    expect(judged.get_by_text("From the first to the second:")).to_be_visible()
    expect(judged.get_by_text("largest difference, over your rows")).to_be_visible()
    expect(judged.locator(".panel:not([hidden]) .tree")).to_have_count(2)
    assert judged.locator(".tree .added, .tree .changed, .tree .removed").count() > 0
    expect(judged.locator(".panel:not([hidden]) .chart .line")).to_have_count(2)


def test_an_equation_is_copied_and_saved_and_the_run_is_taken_away(judged: Any) -> None:
    judged.context.grant_permissions(["clipboard-read", "clipboard-write"])
    judged.get_by_role("tab", name="Take away").click()
    text = judged.locator(".panel:not([hidden]) pre.code")
    expect(text).to_contain_text("level")
    judged.get_by_role("radio", name="Python").check()
    expect(text).to_contain_text("def ")
    judged.get_by_role("button", name="Copy", exact=True).click()
    expect(judged.get_by_role("button", name="Copied")).to_be_visible()
    assert judged.evaluate("navigator.clipboard.readText()") == text.text_content()
    with judged.expect_download() as saved:
        judged.get_by_role("link", name="Save as a file").click()
    assert saved.value.suggested_filename == "equation.py"
    assert saved.value.path().read_text() == text.text_content()
    with judged.expect_download() as folder:
        judged.get_by_role("link", name="Run folder").click()
    assert folder.value.path().read_bytes()[:2] == b"PK"


@pytest.mark.slow
def test_the_report_and_the_table_are_taken_away(judged: Any) -> None:
    judged.get_by_role("tab", name="Take away").click()
    for name, start in (("Report", "<!doctype html>"), ("Table of equations", "complexity")):
        with judged.expect_download() as taken:
            judged.get_by_role("link", name=name).click()
        assert taken.value.path().read_text(encoding="utf-8").lower().startswith(start)


def check_revision(page: Any) -> None:
    expect(page.locator(".verdict")).to_contain_text("Verdict:")
    expect(page.get_by_role("heading", name="Little changed or accurate")).to_be_visible()
    expect(page.locator(".pick").first).to_have_attribute("aria-label", re.compile("distance 0, typical error"))
    page.locator(".pick").last.click()
    page.get_by_role("tab", name="What changed").click()
    expect(page.locator(".panel:not([hidden]) .tree")).to_have_count(2)
    assert page.locator(".tree .added, .tree .changed, .tree .removed").count() > 0


def test_a_revision_of_the_command_line_is_opened_and_its_changes_are_drawn(
    server: Server, open_page: Callable[..., Any], runs: Path
) -> None:
    shutil.copytree(runs / "revision", server.folder / "revision", dirs_exist_ok=True)
    page = open_page(server, "#/run/revision")
    check_revision(page)
    for name in (
        "+ 1 min",
        "Rename",
        "New question on these data",
    ):  # not the studio's, and without its table
        expect(page.get_by_role("button", name=name)).to_have_count(0)


def test_errors_are_in_per_cent_where_the_noise_is_proportional(
    server: Server, open_page: Callable[..., Any], runs: Path
) -> None:
    found = load(runs / "Fit <b>one")
    changed = tuple(replace(each, model=PROPORTIONAL) for each in found.equations)
    save(replace(found, equations=changed), server.folder / "relative")
    page = open_page(server, "#/run/relative")
    points = page.locator(".pick")
    expect(points.first).to_have_attribute("aria-label", re.compile(r"typical error [\d.]+ %\n"))
    expect(page.locator(".chart .axis-title").get_by_text("typical error (% of the value)")).to_be_visible()
    for place in (page.locator(".hero-box .facts dd").first, page.locator(".panel .facts dd").first):
        expect(place).to_have_text(re.compile(r"^[\d.]+ %$"))
    expect(page.locator(".list td").nth(1)).to_contain_text(" %")


@pytest.mark.slow
def test_a_formula_of_ones_own_is_revised(server: Server, open_page: Callable[..., Any]) -> None:
    page = open_page(server, "#/new")
    bring(page)
    page.get_by_role("radio", name="improve a formula that I have").check()
    page.get_by_role("button", name="Revise my formula").click()
    expect(page.get_by_role("alert")).to_contain_text("Write your formula first")
    page.get_by_label("Your formula").fill("c*dose - c*hours")
    page.get_by_role("radio", name="other").check()
    page.get_by_label("Minutes").fill("0.05")
    page.get_by_role("button", name="Revise my formula").click()
    page.wait_for_selector(".pick", timeout=60_000)
    wait_for_state(page, "running")
    expect(page.locator(".pick").first).to_have_attribute("aria-label", re.compile("distance 0, typical error"))
    expect(page.get_by_role("heading", name="Little changed or accurate")).to_be_visible()
    wait_for_state(page, "finished")
    check_revision(page)
