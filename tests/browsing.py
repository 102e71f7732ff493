"""A server of the studio, and what tests of its page do again and again."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

try:
    from playwright.sync_api import expect
except ImportError:  # then the tests that use it are skipped
    expect = None

ROWS = 24
TABLE = "dose,hours,level\n" + "".join(
    f"{1 + k % 5},{k / 4},{2.73 * (1 + k % 5) / (1.37 + k / 4) + 0.01 * (-1) ** k:.4f}\n" for k in range(ROWS)
)
SECONDS = 1.5  # of a search


class Server:
    """`edhie studio` in a process of its own."""

    def __init__(self, folder: Path, *, port: int = 0, under: Sequence[str] = ()) -> None:
        """Start it; `under` is a command that is given the server's, to run it."""
        self.folder = folder
        studio = ["studio", "--no-browser", "--port", str(port), "--folder", str(folder)]
        self._log = folder.with_suffix(".log")
        with self._log.open("w") as log:
            command = [*under, sys.executable, "-m", "edhie", *studio]
            self._process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        self.address = self._wait(r"http://\S+")
        self.port = int(urlsplit(self.address).port or 0)
        self.root = f"http://127.0.0.1:{self.port}/"

    def _wait(self, pattern: str) -> str:
        for _ in range(600):
            if found := re.search(pattern, self._log.read_text()):
                return found[0]
            if self._process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError(f"the studio did not start: {self._log.read_text()}")

    def kill(self) -> None:
        """End it without a word, as a crash would."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()


def post(page: Any, path: str, body: Any) -> Any:
    """Return the answer of the server to a request of the page."""
    script = """async ([path, body]) => {
        const headers = {"Content-Type": "application/json"};
        const answer = await fetch(path, {method: "POST", body: JSON.stringify(body), headers});
        if (!answer.ok) throw new Error(await answer.text());
        return answer.json();
    }"""
    return page.evaluate(script, [path, body])


def bring(page: Any, text: str = TABLE, name: str = "plants.csv") -> None:
    """Choose a file on the page for a new search."""
    page.set_input_files("input[type=file]", {"name": name, "mimeType": "text/csv", "buffer": text.encode()})


def search(page: Any, seconds: float = SECONDS, **question: Any) -> str:
    """Start a search for the table of the tests, and return the id of its run."""
    upload = """async (text) => {
        const answer = await fetch("/api/tables", {method: "POST", body: text, headers: {"X-Name": "plants.csv"}});
        return (await answer.json()).id;
    }"""
    body = {
        "table": page.evaluate(upload, TABLE),
        "target": "level",
        "features": ["dose", "hours"],
        "max_time": seconds,
    }
    return str(post(page, "/api/runs", {**body, **question})["id"])


def wait_for_state(page: Any, state: str) -> None:
    """Wait until the run that is shown is in a state."""
    page.wait_for_selector(f".title-line .state.{state}", timeout=90_000)


@dataclass(frozen=True)
class Watched:
    """A search that was started and watched by hand, and what was seen on the way."""

    run: str
    live: str
    """The text of the page while it ran."""
    had_a_fit: bool
    end: str
    """The text of the page when it had ended."""
    title: str


def search_by_hand(page: Any) -> Watched:
    """Bring the table of the tests, press the button, and watch the search to its end."""
    bring(page)
    page.get_by_role("radio", name="other").check()
    page.get_by_label("Minutes").fill(str(SECONDS / 60))
    page.get_by_role("button", name="Find equations").click()
    page.wait_for_selector(".pick", timeout=90_000)
    live = page.inner_text("main")
    had_a_fit = page.wait_for_selector(".chart .line") is not None
    wait_for_state(page, "finished")
    return Watched(page.url.rpartition("/")[2], live, had_a_fit, page.inner_text("main"), page.title())
