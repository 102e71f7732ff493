"""A real browser on a real server. Both are shared by the tests of this folder; without a browser these are skipped."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from browsing import Server, Watched, search_by_hand

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = None
    try:
        import playwright  # noqa: F401
        import starlette  # noqa: F401
    except ImportError as error:
        reason = f"{error.name} is not installed: pip install '.[dev]'"
    if reason is None and CHROMIUM is None:
        reason = "no chromium, chromium-browser or google-chrome on this machine"
    for item in items:
        if reason and Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=f"the page of the studio is not tested: {reason}"))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("studio") / "runs")
    yield made
    made.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    # of a module, not of the session: its event loop would disturb tests with loops of their own
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="module")
def contexts(browser: Any) -> Iterator[Callable[..., Any]]:
    """Contexts by their options: tests with the same options share one, and so its cache and its cookie."""
    made: dict[str, Any] = {}

    def context(*, width: int = 1280, dark: bool = False, **options: Any) -> Any:
        key = repr((width, dark, options))
        if key not in made:
            scheme = "dark" if dark else "light"
            made[key] = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
            made[key].set_default_timeout(20_000)
        return made[key]

    yield context
    for each in made.values():
        each.close()


@pytest.fixture
def open_page(contexts: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """Open pages of a server; at the end, no request has left the machine and no script has failed."""
    yield from _opener(contexts)


@pytest.fixture(scope="module")
def open_shared_page(contexts: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """The same, for pages that the tests of a module share."""
    yield from _opener(contexts)


def _opener(contexts: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    pages, faults = [], []

    def open_(server: Server, hash_: str = "", **options: Any) -> Any:
        page = contexts(**options).new_page()
        pages.append(page)
        page.on("request", lambda request: _is_local(request.url) or faults.append(f"asked for {request.url}"))
        page.on("pageerror", lambda error: faults.append(f"script failed: {error}"))
        page.on("console", lambda told: "Content Security Policy" in told.text and faults.append(told.text))
        if not any(str(server.port) in cookie["name"] for cookie in page.context.cookies()):
            page.goto(server.address)
        page.goto(f"{server.root}{hash_}")
        return page

    yield open_
    for page in pages:
        page.close()
    assert faults == []


def _is_local(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in ("data", "blob") or parts.hostname == "127.0.0.1"


@pytest.fixture(scope="module")
def tab(server: Server, open_shared_page: Callable[..., Any]) -> Any:
    return open_shared_page(server)


@pytest.fixture
def page(tab: Any) -> Iterator[Any]:
    """The page for a new search, made anew in a tab that the tests of a module share."""
    tab.evaluate("location.hash = '#/new'")
    tab.wait_for_selector(".example")
    yield tab
    tab.unroute_all()
    tab.evaluate("location.hash = '#/'")
    tab.wait_for_selector("nav a[data-route='runs'][aria-current]")  # its title is another if there are no runs


@pytest.fixture(scope="session")
def searches() -> list[Watched]:
    """The search by hand, once it was done."""
    return []


@pytest.fixture(scope="module")
def watched(server: Server, contexts: Callable[..., Any], searches: list[Watched]) -> Watched:
    """A search by hand, for tests of what is seen and of what can be done afterwards."""
    if not searches:
        page = contexts().new_page()
        page.goto(server.address)
        page.goto(f"{server.root}#/new")
        searches.append(search_by_hand(page))
        page.close()
    return searches[0]


@pytest.fixture(scope="module")
def finished(watched: Watched) -> str:
    """The id of a run that has ended."""
    return watched.run


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, which finds faults of accessibility."""
    root = Path(__file__).parents[3]
    given = os.environ.get("AXE")
    path = Path(given) if given else root / ".venv" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
    if not path.is_file():
        pytest.skip("axe-core is not installed: make axe (it needs npm)")
    return path.read_text(encoding="utf-8")
