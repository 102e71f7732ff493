"""Takes the pictures of the page about the studio into `docs/assets`: python docs/studio_pictures.py.

It needs playwright and a chromium. The measurements of the page are made up here, with their noise.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from playwright.sync_api import sync_playwright

ASSETS = Path(__file__).parent / "assets"
TABLE = ASSETS / "enzyme.csv"
WIDE, NARROW = {"width": 1180, "height": 860}, {"width": 390, "height": 800}
SECONDS = 20


def enzyme() -> None:
    """Write rates of an enzyme at several amounts of enzyme and of substrate, with 2 % of noise and one cell empty."""
    rng = np.random.default_rng(7)
    amounts, doses = np.meshgrid([0.5, 1.0, 2.0], [0.2, 0.5, 1, 2, 4, 8, 16, 30])
    rows = pd.DataFrame({"enzyme (mg)": amounts.ravel(), "substrate (mM)": doses.ravel()})
    rate = 8.4 * rows["enzyme (mg)"] * rows["substrate (mM)"] / (3.1 + rows["substrate (mM)"])
    rows["rate"] = (rate * (1 + 0.02 * rng.normal(size=len(rows)))).round(3)
    rows.loc[9, "rate"] = np.nan
    rows.to_csv(TABLE, index=False)


@contextmanager
def studio() -> Iterator[str]:
    """Serve a studio with an empty folder, and yield its address."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        command = [sys.executable, "-m", "edhie", "studio", "--no-browser", "--port", "0", "--folder", f"{folder}/runs"]
        with log.open("w") as file:
            process = subprocess.Popen(command, stdout=file)
        try:
            while not (found := re.search(r"http://\S+", log.read_text())):
                time.sleep(0.1)
            yield found[0]
        finally:
            process.terminate()
            process.wait()


def shot(page: Any, name: str, part: str | None = None) -> None:
    """Take a picture of what is in sight, or of one part of the page."""
    page.mouse.move(0, 0)
    # what stays at the top of the screen would lie over the part
    page.evaluate("(isWhole) => document.querySelector('.bar').style.position = isWhole ? '' : 'static'", part is None)
    page.wait_for_timeout(600)
    target = page if part is None else page.locator(part).first
    target.screenshot(path=ASSETS / f"studio-{name}.png")


def bring(page: Any) -> None:
    """From the start to the question."""
    page.get_by_role("link", name="New search").click()
    page.wait_for_selector(".example")
    shot(page, "start")
    page.set_input_files("input[type=file]", TABLE)
    page.wait_for_selector(".message.warn")
    page.wait_for_selector(".chart svg")
    shot(page, "data")
    page.get_by_role("button", name="Leave the row out").click()
    page.wait_for_selector(".message.warn", state="detached")


def search(page: Any) -> None:
    """The search, watched and ended."""
    page.get_by_role("radio", name="other").check()
    page.get_by_label("Minutes").fill(str(SECONDS / 60))
    page.get_by_role("button", name="Find equations").click()
    page.wait_for_selector(".pick", timeout=120_000)
    page.wait_for_timeout(3000)
    shot(page, "watch")
    page.wait_for_selector("[role=tab]", timeout=120_000)
    shot(page, "judge")


def judge(page: Any) -> None:
    """What can be asked of an equation."""
    page.get_by_label("What is drawn across").select_option("substrate (mM)")
    shot(page, "fit", ".tabs + .panel")
    for tab, name in (
        ("Constants", "constants"),
        ("Try numbers", "try"),
        ("Compare", "compare"),
        ("Take away", "take"),
    ):
        page.get_by_role("tab", name=tab).click()
        page.wait_for_selector(".panel:not([hidden]) :is(.line, .node, pre)", state="attached")
        if tab == "Compare":
            page.get_by_label("Second", exact=True).select_option(index=3)  # a simpler one
        if tab in ("Compare", "Try numbers"):
            page.locator(".panel:not([hidden])").get_by_label("What is drawn across").select_option("substrate (mM)")
        shot(page, name, ".panel:not([hidden])")
    page.evaluate("scrollTo(0, 0)")


def revise(page: Any) -> None:
    """A formula of one's own, and what has to change."""
    page.get_by_role("button", name="Improve a formula of mine").click()
    page.get_by_label("Your formula").fill("c*enzyme_mg*(substrate_mM")
    page.wait_for_selector(".caret")
    shot(page, "caret", ".question")
    page.get_by_label("Your formula").fill("c*enzyme_mg*substrate_mM")
    page.get_by_role("radio", name="other").check()
    page.get_by_label("Minutes").fill(str(SECONDS / 60))
    page.get_by_role("button", name="Revise my formula").click()
    page.wait_for_selector(".verdict", timeout=120_000)
    page.get_by_role("tab", name="What changed").click()
    shot(page, "revise", "main")


def space(page: Any) -> None:
    """The way between two formulas."""
    page.get_by_role("link", name="Between formulas").click()
    slider = page.get_by_role("slider", name="Place between the two formulas")
    slider.focus()
    page.keyboard.press("Home")
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    shot(page, "space", "section")


def main() -> None:
    """Take all pictures."""
    enzyme()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with studio() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport=WIDE, color_scheme="light", reduced_motion="reduce")
        page.goto(address)
        for part in (bring, search, judge, revise, space):
            part(page)
        page.get_by_role("link", name="Runs").click()
        page.wait_for_selector(".run-card")
        shot(page, "runs")
        narrow = browser.new_page(viewport=NARROW, color_scheme="dark", reduced_motion="reduce")
        narrow.goto(address)
        narrow.get_by_role("link", name="enzyme").last.click()
        narrow.wait_for_selector("[role=tab]")
        shot(narrow, "phone")
        browser.close()


if __name__ == "__main__":
    main()
