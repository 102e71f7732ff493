"""The list of runs, and the learned space."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

from browsing import Server, expect, post


def test_runs_are_listed_searched_renamed_and_deleted(
    server: Server, open_page: Callable[..., Any], finished: str
) -> None:
    page = open_page(server)
    shutil.copytree(server.folder / finished, server.folder / "copied")
    post(page, "/api/runs/copied/rename", {"name": "to be deleted"})
    card = page.locator(".run-card").filter(has_text="to be deleted")
    expect(card).to_be_visible()
    expect(page.locator(".run-card").filter(has_text="plants").locator("math").first).to_be_visible()

    card.get_by_role("button", name="Rename").click()
    page.get_by_role("textbox", name="Name").fill("renamed <b>run</b>")
    page.keyboard.press("Enter")
    renamed = page.get_by_role("link", name="renamed <b>run</b>")
    expect(renamed).to_be_visible()

    page.get_by_role("searchbox").fill("RENAMED")
    expect(page.locator(".run-card")).to_have_count(1)
    delete = page.get_by_role("button", name="Delete renamed <b>run</b>")
    delete.click()
    page.get_by_role("button", name="Cancel").click()
    expect(renamed).to_be_visible()
    delete.click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(renamed).to_have_count(0)
    expect(page.get_by_text("No run matches.")).to_be_visible()


def test_a_slider_moves_between_two_formulas_and_the_tree_changes(
    server: Server, open_page: Callable[..., Any]
) -> None:
    page = open_page(server, "#/space")
    slider = page.get_by_role("slider", name="Place between the two formulas")
    expect(slider).to_be_visible()
    stage = page.locator(".ends").locator("..")
    shown = set()
    slider.focus()
    for key in ("Home", "PageUp", "PageUp", "PageUp", "PageUp", "End"):
        page.keyboard.press(key)
        shown.add(stage.locator(".formula").inner_text())
        shown.add(tuple(stage.locator(".tree .node text").all_inner_texts()))
    assert len(shown) >= 6
    expect(slider).to_have_attribute("aria-valuetext", "100 % of the way: x/(t + c)")

    page.get_by_label("Formula", exact=True).fill("sin(x)")
    neighbour = page.locator(".neighbour").nth(1)
    expect(page.locator(".neighbour").filter(has_text="sin(").first).to_be_visible()
    neighbour.click()
    expect(neighbour).to_have_attribute("aria-current", "true")
