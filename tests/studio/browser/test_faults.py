"""A server that is killed in the middle, and a full disk: the page says so, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from browsing import TABLE, Server, expect, search, wait_for_state
from disks import SmallDisk


def test_a_lost_connection_is_shown_and_mends_itself(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    server = Server(tmp_path / "runs")
    page = open_page(server)
    lost = page.get_by_text("Connection lost, trying again.")
    page.wait_for_selector(".example")
    expect(lost).to_be_hidden()
    server.kill()
    expect(lost).to_be_visible()
    again = Server(tmp_path / "runs", port=server.port)
    expect(lost).to_be_hidden(timeout=10_000)
    page.get_by_role("button", name="Lines of hydrogen").click()  # the page has access as before
    expect(page.get_by_text("22 rows, 3 columns")).to_be_visible()
    again.close()


@pytest.mark.slow
def test_a_search_survives_the_death_of_the_server(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    server = Server(tmp_path / "runs")
    page = open_page(server)
    run = search(page, seconds=15, name="survivor")
    page.goto(f"{server.root}#/run/{run}")
    page.wait_for_selector(".pick", timeout=60_000)
    server.kill()
    expect(page.get_by_text("Connection lost, trying again.")).to_be_visible()
    assert page.locator(".pick").count() > 0  # what was found stays in sight
    again = Server(tmp_path / "runs", port=server.port)
    expect(page.get_by_text("Connection lost, trying again.")).to_be_hidden(timeout=10_000)
    wait_for_state(page, "finished")
    expect(page.get_by_role("heading", name="Recommended equation")).to_be_visible()
    again.close()


@pytest.mark.slow
def test_an_answer_that_does_not_come_is_told_where_it_was_asked(server: Server, open_page: Callable[..., Any]) -> None:
    page = open_page(server, "#/new")
    page.wait_for_selector(".example")
    page.route("**/api/tables/example", lambda route: route.abort())
    page.get_by_role("button", name="Lines of hydrogen").click()
    expect(page.get_by_role("alert")).to_contain_text("The studio does not answer")
    page.unroute("**/api/tables/example")
    page.get_by_role("button", name="Lines of hydrogen").click()
    expect(page.get_by_text("22 rows, 3 columns")).to_be_visible()


@pytest.mark.slow
def test_a_full_disk_is_told_on_the_page_and_nothing_is_lost(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    disk = SmallDisk(tmp_path / "runs", 20_000_000)
    if not disk.is_possible:
        pytest.skip("this machine lets no user mount a small disk")
    with closing(Server(tmp_path / "runs", under=disk.under)) as server:
        page, other = open_page(server, "#/new"), open_page(server, "#/new")
        full = "The folder of the studio cannot be written to: No space left on device; make room, then try again"

        run = search(page, seconds=8, name="kept")
        page.goto(f"{server.root}#/run/{run}")
        page.wait_for_selector(".pick", timeout=60_000)
        disk.fill()
        expect(page.locator(".message.warn")).to_contain_text("The disk is full: the search goes on, but what it finds")
        cells = other.get_by_role("textbox", name="Cells")
        cells.fill(TABLE)
        other.get_by_role("button", name="Use these cells").click()
        expect(other.get_by_role("alert")).to_contain_text(full)
        expect(cells).to_have_value(TABLE)  # and can be sent again

        wait_for_state(page, "failed")
        expect(page.get_by_role("alert")).to_contain_text(full)
        page.reload()
        expect(page.get_by_role("alert")).to_contain_text(full)
        disk.empty()
        other.get_by_role("button", name="Use these cells").click()
        expect(other.get_by_text("24 rows, 3 columns")).to_be_visible()
        page.get_by_role("button", name="Try again").click()
        wait_for_state(page, "finished")
        expect(page.get_by_role("heading", name="Recommended equation")).to_be_visible()
        expect(page.locator(".message.warn, .message.bad")).to_have_count(0)
