"""Runs wait in turn, are paused, stopped and resumed, and are followed live; their state is in their folders alone."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from edhie.studio import queue
from edhie.studio.runs import Shelf
from serving import Client, serving

TABLE = b"x,t,y\n" + b"".join(b"%d,%d,%d\n" % (k, k * k % 7, 2 * k) for k in range(20))
QUESTION = {"target": "y", "features": ["x", "t"], "max_time": 60}


@pytest.fixture(scope="module", autouse=True)
def pretended() -> Iterator[None]:
    """No search: a command that ends when it is told to."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queue, "COMMAND", "pretend_search")
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("queue")


@pytest.fixture(scope="module")
def shared(folder: Path) -> Iterator[Client]:
    """A studio that several tests use, since its workshops take a second to start."""
    with serving(folder) as found:
        yield found


@pytest.fixture
def studio(shared: Client) -> Iterator[Client]:
    """The same, without runs at the end."""
    yield shared
    for run in shared.ask("GET", "/api/runs"):
        shared.ask("DELETE", f"/api/runs/{run['id']}")


def new(client: Client, **more: Any) -> str:
    table = client.upload(TABLE)["id"]
    return str(client.ask("POST", "/api/runs", 201, json=QUESTION | {"table": table} | more)["id"])


def state(client: Client, run: str) -> str:
    return str(client.ask("GET", f"/api/runs/{run}")["state"])


def end(folder: Path, run: str) -> None:
    (folder / run / "end").touch()


def test_first_come_first_served(studio: Client, folder: Path) -> None:
    first, second, third = (new(studio, name=f"run {k}") for k in range(3))
    studio.wait(first, "running")
    waiting = {each["id"]: each.get("position") for each in studio.ask("GET", "/api/runs")}
    assert waiting == {first: None, second: 1, third: 2}
    studio.ask("POST", f"/api/runs/{second}/pause")
    studio.ask("POST", f"/api/runs/{second}/resume")  # to the end of the queue
    end(folder, first)
    studio.wait(third, "running")
    assert (studio.wait(first, "finished")["state"], state(studio, second)) == ("finished", "waiting")
    end(folder, third)
    studio.wait(second, "running")
    studio.ask("DELETE", f"/api/runs/{second}")
    assert {each["id"] for each in studio.ask("GET", "/api/runs")} == {first, third}
    assert not (folder / second).exists()


def test_two_tabs_on_one_run(studio: Client, folder: Path) -> None:
    run = new(studio)
    seen: list[list[tuple[str, Any]]] = []

    def follow() -> None:
        seen.append(studio.events(f"/api/runs/{run}/events", until=lambda kind, _: kind == "done"))

    tabs = [threading.Thread(target=follow) for _ in range(2)]
    for tab in tabs:
        tab.start()
    studio.wait(run, "running")
    for _ in range(2):
        studio.ask("POST", f"/api/runs/{run}/pause")
    studio.wait(run, "paused")
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
    studio.ask("POST", f"/api/runs/{run}/pause")
    assert state(studio, run) == "paused"
    studio.ask("POST", f"/api/runs/{run}/resume", json={"more_seconds": 30})
    studio.wait(run, "running")
    assert {"--resume", "--max-time=90.0"} <= set(arguments(folder, run))
    studio.ask("POST", f"/api/runs/{run}/stop")
    studio.wait(run, "stopped")


def test_a_search_that_runs_gets_more_time_and_keeps_its_turn(studio: Client, folder: Path) -> None:
    run, next_one = new(studio), new(studio)
    studio.wait(run, "running")
    for _ in range(2):
        studio.ask("POST", f"/api/runs/{run}/resume", json={"more_seconds": 30})
    limit = "--max-time=120.0"
    events = studio.events(
        f"/api/runs/{run}/events",
        until=lambda kind, data: kind == "state" and data["state"] == "running" and limit in arguments(folder, run),
    )
    assert "done" not in [kind for kind, _ in events]
    assert "--resume" in arguments(folder, run)
    assert state(studio, next_one) == "waiting"
    studio.ask("POST", f"/api/runs/{run}/pause")
    studio.wait(run, "paused")
    studio.wait(next_one, "running")


def arguments(folder: Path, run: str) -> list[str]:
    return list(json.loads((folder / run / "run.json").read_text()))


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


def test_a_failed_search_says_why(studio: Client, folder: Path) -> None:
    run = new(studio)
    studio.wait(run, "running")
    (folder / run / "fail").touch()
    found = studio.wait(run, "failed")
    assert found["error"] == "it went wrong: do it otherwise"
    assert "something" in found["log"]
    (folder / run / "fail").unlink()
    studio.ask("POST", f"/api/runs/{run}/resume")
    studio.wait(run, "running")


def test_a_run_of_the_table_of_another(studio: Client) -> None:
    first = new(studio)
    second = studio.ask("POST", "/api/runs", 201, json=QUESTION | {"run": first, "features": ["x"]})["id"]
    assert studio.ask("GET", f"/api/runs/{second}")["table_is_there"]
    assert studio.ask("GET", f"/api/runs/{second}")["question"]["features"] == ["x"]
    table = studio.ask("POST", "/api/tables/run", json={"id": first})
    assert (table["name"], table["rows"]) == ("table.csv", 20)
    studio.ask("POST", "/api/tables/run", 404, json={"id": "none"})


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
def test_what_the_command_would_refuse_is_refused_at_once(studio: Client, asked: dict[str, Any], field: str) -> None:
    table = studio.upload(TABLE)["id"]
    answer = studio.ask("POST", "/api/runs", 400, json=QUESTION | {"table": table} | asked)
    assert answer["where"]["field"] == field
    assert (
        "table.csv" in answer["error"]
        or field != "table"
        or "is the" in answer["error"]
        or "features" in answer["error"]
    )


def test_formulas_of_a_question_may_be_latex(studio: Client, folder: Path) -> None:
    field = "\\frac{a}{1 + b}\nF = m*a\n\nnot a ( formula\n"
    run = new(studio, guesses=[r"\frac{c}{x}", "-x"], field=field, name="=<script>")
    question = studio.ask("GET", f"/api/runs/{run}")["question"]
    assert question["guesses"] == ["c/x", "-x"]
    assert question["field"] == "a/(1 + b)\nm*a\n"
    studio.wait(run, "running")
    given = json.loads((folder / run / "run.json").read_text())
    assert {"--guess=c/x", "--guess=-x", "--features=x,t", "--jobs=1"} <= set(given)
    assert (folder / run / "studio" / "field.txt").read_text() == question["field"]
