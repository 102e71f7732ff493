"""Runs wait in turn, are paused, stopped and resumed, and are followed live; their state is in their folders alone."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from edhie.studio import queue
from edhie.studio.runs import Shelf
from serving import Client, serving

TABLE = b"x,t,y\n" + b"".join(b"%d,%d,%d\n" % (k, k * k % 7, 2 * k) for k in range(20))
QUESTION = {"target": "y", "features": ["x", "t"], "max_time": 60}


@pytest.fixture(autouse=True)
def pretended(monkeypatch: pytest.MonkeyPatch) -> None:
    """No search: a command that ends when it is told to."""
    monkeypatch.setattr(queue, "COMMAND", "pretend_search")


def new(client: Client, **more: Any) -> str:
    table = client.upload(TABLE)["id"]
    return str(client.ask("POST", "/api/runs", 201, json=QUESTION | {"table": table} | more)["id"])


def state(client: Client, run: str) -> str:
    return str(client.ask("GET", f"/api/runs/{run}")["state"])


def end(folder: Path, run: str) -> None:
    (folder / run / "end").touch()


def test_first_come_first_served(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        first, second, third = (new(client, name=f"run {k}") for k in range(3))
        client.wait(first, "running")
        waiting = {each["id"]: each.get("position") for each in client.ask("GET", "/api/runs")}
        assert waiting == {first: None, second: 1, third: 2}
        client.ask("POST", f"/api/runs/{second}/pause")
        client.ask("POST", f"/api/runs/{second}/resume")  # to the end of the queue
        end(tmp_path, first)
        client.wait(third, "running")
        assert (client.wait(first, "finished")["state"], state(client, second)) == ("finished", "waiting")
        end(tmp_path, third)
        client.wait(second, "running")
        client.ask("DELETE", f"/api/runs/{second}")
        assert {each["id"] for each in client.ask("GET", "/api/runs")} == {first, third}
        assert not (tmp_path / second).exists()


def test_two_tabs_on_one_run(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        run = new(client)
        seen: list[list[tuple[str, Any]]] = []

        def follow() -> None:
            seen.append(client.events(f"/api/runs/{run}/events", until=lambda kind, _: kind == "done"))

        tabs = [threading.Thread(target=follow) for _ in range(2)]
        for tab in tabs:
            tab.start()
        client.wait(run, "running")
        for _ in range(2):
            client.ask("POST", f"/api/runs/{run}/pause")
        client.wait(run, "paused")
        for tab in tabs:
            tab.join(10)
        for events in seen:
            kinds = [kind for kind, _ in events]
            assert kinds[0] == "state"
            assert kinds.count("done") == 1
            executed = [data["executed"] for kind, data in events if kind == "progress"]
            assert executed == sorted(executed)
            assert all(data["front"][data["chosen"]]["text"] == "2.5*x" for kind, data in events if kind == "progress")
        assert len(seen) == 2
        client.ask("POST", f"/api/runs/{run}/pause")
        assert state(client, run) == "paused"
        client.ask("POST", f"/api/runs/{run}/resume", json={"more_seconds": 30})
        client.wait(run, "running")
        given = json.loads((tmp_path / run / "run.json").read_text())
        assert "--resume" in given
        assert "--max-time=90.0" in given
        client.ask("POST", f"/api/runs/{run}/stop")
        client.wait(run, "stopped")


def test_a_restart_resumes_what_ran_and_waited(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        runs, waits, paused = (new(client) for _ in range(3))
        client.ask("POST", f"/api/runs/{paused}/pause")
        client.ask("POST", f"/api/runs/{paused}/rename", json={"name": "a name\u202e"})
        client.wait(runs, "running")
    assert [run.state for run in Shelf(tmp_path).runs.values() if run.id == runs] == ["waiting"]
    with serving(tmp_path) as client:
        client.wait(runs, "running")
        assert "--resume" in json.loads((tmp_path / runs / "run.json").read_text())
        assert (state(client, waits), state(client, paused)) == ("waiting", "paused")
        assert client.ask("GET", f"/api/runs/{paused}")["name"] == "a name\\u202e"
        end(tmp_path, runs)
        client.wait(waits, "running")


def test_more_searches_at_a_time(tmp_path: Path) -> None:
    with serving(tmp_path, searches=2) as client:
        found = [new(client) for _ in range(3)]
        client.wait(found[1], "running")
        client.wait(found[0], "running")
        assert state(client, found[2]) == "waiting"


def test_a_failed_search_says_why(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        run = new(client)
        client.wait(run, "running")
        (tmp_path / run / "fail").touch()
        found = client.wait(run, "failed")
        assert found["error"] == "it went wrong: do it otherwise"
        assert "something" in found["log"]
        (tmp_path / run / "fail").unlink()
        client.ask("POST", f"/api/runs/{run}/resume")
        client.wait(run, "running")


def test_a_run_of_the_table_of_another(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        first = new(client)
        second = client.ask("POST", "/api/runs", 201, json=QUESTION | {"run": first, "features": ["x"]})["id"]
        assert client.ask("GET", f"/api/runs/{second}")["table_is_there"]
        assert client.ask("GET", f"/api/runs/{second}")["question"]["features"] == ["x"]


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"target": "z"}, "table"),
        ({"target": None}, "target"),
        ({"guesses": ["x +"]}, "guesses"),
        ({"template": "f(x) +* 2"}, "template"),
        ({"template": "f(x)", "guesses": ["x"]}, "template"),
        ({"kind": "revise", "formula": "sinn(x)"}, "formula"),
        ({"kind": "revise"}, "formula"),
        ({"operators": ["+", "os.system"]}, "operators"),
        ({"max_time": float("1e300")}, "max_time"),
        ({"seed": True}, "seed"),
        ({"features": ["x", "y"]}, "table"),
        ({"sigma": "nothing"}, "table"),
        ({"field": "+++"}, "field"),
        ({"noise": "loud"}, "noise"),
    ],
)
def test_what_the_command_would_refuse_is_refused_at_once(client: Client, asked: dict[str, Any], field: str) -> None:
    table = client.upload(TABLE)["id"]
    answer = client.ask("POST", "/api/runs", 400, json=QUESTION | {"table": table} | asked)
    assert answer["where"]["field"] == field
    assert (
        "table.csv" in answer["error"]
        or field != "table"
        or "is the" in answer["error"]
        or "features" in answer["error"]
    )


def test_formulas_of_a_question_may_be_latex(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        field = "\\frac{a}{1 + b}\nF = m*a\n\nnot a ( formula\n"
        run = new(client, guesses=[r"\frac{c}{x}", "-x"], field=field, name="=<script>")
        question = client.ask("GET", f"/api/runs/{run}")["question"]
        assert question["guesses"] == ["c/x", "-x"]
        assert question["field"] == "a/(1 + b)\nm*a\n"
        client.wait(run, "running")
        given = json.loads((tmp_path / run / "run.json").read_text())
        assert {"--guess=c/x", "--guess=-x", "--features=x,t", "--jobs=1"} <= set(given)
        assert (tmp_path / run / "studio" / "field.txt").read_text() == question["field"]
