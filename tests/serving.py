"""A studio that serves in a thread, for tests."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from edhie.studio.app import studio_app
from edhie.studio.security import Access
from edhie.studio.studio import Options, Studio
from edhie.studio.uploads import Limits

SECRET = "a-secret-of-thirty-two-letters-or-so"


class Client(httpx.Client):
    """A browser with the cookie of a studio, on its page."""

    access: Access

    def ask(self, method: str, path: str, status: int = 200, **options: Any) -> Any:
        """Return the JSON of an answer, whose status is checked."""
        answer = self.request(method, path, **options)
        assert answer.status_code == status, answer.text
        return answer.json()

    def upload(self, content: bytes, name: str = "table.csv", status: int = 200) -> Any:
        return self.ask("POST", "/api/tables", status, content=content, headers={"X-Name": name})

    def events(self, path: str, *, until: Callable[[str, Any], bool], seconds: float = 20.0) -> list[tuple[str, Any]]:
        """Return the server-sent events of an address, up to one that is looked for."""
        found: list[tuple[str, Any]] = []
        kind = ""
        with self.stream("GET", path, timeout=seconds) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            for line in answer.iter_lines():
                name, _, value = line.partition(": ")
                if name == "event":
                    kind = value
                elif name == "data":
                    found.append((kind, json.loads(value)))
                    if until(*found[-1]):
                        break
        return found

    def wait(self, run: str, *states: str, seconds: float = 20.0) -> Any:
        """Return a run when it is in one of the states."""
        ended = time.monotonic() + seconds
        while time.monotonic() < ended:
            found = self.ask("GET", f"/api/runs/{run}")
            if found["state"] in states:
                return found
            time.sleep(0.03)
        raise AssertionError(f"{found['state']} is none of {states}: {found}")


@contextmanager
def serving(folder: Path, *, limits: Limits | None = None, searches: int = 1) -> Iterator[Client]:
    """Serve a folder, and yield a client of it."""
    folder.mkdir(parents=True, exist_ok=True)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        access = Access("127.0.0.1", listener.getsockname()[1], SECRET)
        studio = Studio(Options(folder, limits or Limits(), searches, jobs=1))
        config = uvicorn.Config(
            studio_app(studio, access), log_level="warning", lifespan="on", timeout_graceful_shutdown=1, ws="none"
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        address = access.address.rstrip("/")
        with Client(base_url=address, headers={"Origin": address}, timeout=30.0) as client:
            client.access = access
            client.cookies.set(access.cookie_name, SECRET)
            while not server.started:
                time.sleep(0.005)
            yield client
            studio.is_closing.set()
            server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()
