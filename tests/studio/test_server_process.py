"""A server of its own, killed in the middle of a search: the next one ends the search as if nothing had happened."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from edhie.files import is_in_use
from edhie.fit import Settings, discover, read_file
from edhie.fit.run_folder import load
from serving import Client

SEED, EVALUATIONS = 3, 1200
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")


@contextmanager
def server(folder: Path) -> Iterator[tuple[Client, subprocess.Popen[str]]]:
    """A studio as a command, with a client of it; it is killed at the end."""
    command = [sys.executable, "-P", "-m", "edhie", "studio", "--no-browser", "--port", "0", "--folder", str(folder)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True
    ) as process:
        assert process.stdout is not None
        address = re.search(r"http://\S+", process.stdout.readline())
        assert address is not None
        base = address[0].partition("/?")[0]
        with Client(base_url=base, headers={"Origin": base}, timeout=20, follow_redirects=True) as client:
            assert client.get(address[0]).status_code == 200
            try:
                yield client, process
            finally:
                process.kill()


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    rows = rng.uniform(0.5, 3.0, (100, 3))
    y = rows[:, 0] * np.exp(-rows[:, 1]) + np.sin(rows[:, 2]) / rows[:, 0] + 0.05 * rng.standard_normal(100)
    path = tmp_path / "noisy.csv"
    np.savetxt(path, np.column_stack([rows, y]), delimiter=",", header="a,b,d,y", comments="")
    return path


@pytest.mark.slow
def test_a_server_that_is_killed_loses_nothing(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "studio"
    with server(folder) as (client, process):
        upload = client.upload(table.read_bytes(), "noisy.csv")["id"]
        question = {"table": upload, "target": "y", "features": ["a", "b", "d"], "seed": SEED}
        run = client.ask("POST", "/api/runs", 201, json=question | {"evaluations": EVALUATIONS})["id"]
        seen = client.events(f"/api/runs/{run}/events", until=lambda kind, data: bool(data.get("front")))
        fit = {"expression": seen[-1][1]["front"][0]["expression"], "x": "a"}
        assert client.ask("POST", f"/api/runs/{run}/fit", json=fit)["measured"]
        process.send_signal(signal.SIGKILL)
        process.wait()
    with server(folder) as (client, process):  # at once: the old search may still be there
        found = client.wait(run, "finished", seconds=60)
        assert found["stopped_by"] == "evaluations"
        equations = client.ask("GET", f"/api/runs/{run}/equations")["equations"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 130 or process.returncode == 0
    assert not is_in_use(folder / run)
    events = map(json.loads, (folder / run / "studio" / "events.jsonl").read_text().splitlines())
    assert [each["reason"] for each in events if each["event"] == "finished"] == ["interrupted", "evaluations"]
    settings = Settings(max_evaluations=EVALUATIONS, max_time=None, seed=SEED)
    alone = discover(read_file(table, "y").problem, settings)
    assert [each["text"] for each in equations] == [each.text() for each in alone.equations]
    kept = load(folder / run, whole=False)  # as `edhie show` does
    assert [each.text(None) for each in kept.equations] == [each.text(None) for each in alone.equations]
