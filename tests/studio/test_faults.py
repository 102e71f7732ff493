"""A full disk, damaged folders, and a folder that is one run: a clear message, and nothing lost."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from disks import Disk
from edhie.studio import queue
from edhie.studio.runs import Shelf
from edhie.studio.tail import LITTLE
from serving import serving

TABLE = b"x,y\n" + b"".join(b"%d,%d\n" % (k, k * k) for k in range(20))
FULL = "cannot be written to: No space left on device; make room, then try again"


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "COMMAND", "pretend_search")
    disk = Disk(monkeypatch)
    with serving(tmp_path) as client:
        table = client.upload(TABLE)["id"]
        question = {"table": table, "target": "y", "features": ["x"]}
        run = client.ask("POST", "/api/runs", 201, json=question)["id"]
        client.wait(run, "running")
        disk.is_full_for = lambda path: True
        assert FULL in client.upload(TABLE, status=507)["error"]
        assert FULL in client.ask("POST", "/api/runs", 507, json=question)["error"]
        assert FULL in client.ask("POST", f"/api/runs/{run}/rename", 507, json={"name": "another"})["error"]
        assert FULL in client.ask("POST", f"/api/runs/{run}/pause", 507)["error"]
        assert client.wait(run, "paused")["name"] == "table"  # it is paused all the same
        assert FULL in client.ask("POST", f"/api/runs/{run}/resume", 507)["error"]
        disk.is_full_for = lambda path: False
        assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")] == [run]
        assert len(list((tmp_path / ".tables").iterdir())) == 1
        client.ask("POST", f"/api/runs/{run}/resume")
        client.wait(run, "running")


def own_folder(path: Path, events: str = "", **changes: Any) -> Path:
    """A run folder of a studio, as a stranger may have written it."""
    note = {"format": 1, "name": "n", "kind": "fit", "created": "2026-01-01", "queued": 1, "wanted": "pause"}
    note |= {"ended": None, "table": "table.csv", "question": {"target": "y"}}
    (path / "studio").mkdir(parents=True)
    (path / "studio" / "question.json").write_text(json.dumps(note | changes))
    (path / "studio" / "events.jsonl").write_text(events)
    return path


def test_one_folder_from_a_stranger_does_not_break_the_list(tmp_path: Path) -> None:
    for name, changes in {
        "created": {"created": 5},
        "name": {"name": [1]},
        "nan": {"ended": {"how": "failed", "error": math.nan}},
    }.items():
        own_folder(tmp_path / name, **changes)
    progress = '{"event": "progressed", "seconds": "<b>", "rate": 1e999, "error": NaN}\n'
    for place, front in enumerate(('"abc"', "[1]", '[{"text": "x", "error": 1e999}]')):
        own_folder(tmp_path / f"front-{place}", f'{{"event": "front", "front": {front}, "chosen": 7}}\n{progress}')
    with serving(tmp_path) as client:
        found = {each["id"]: each for each in client.ask("GET", "/api/runs")}
        assert set(found) >= {"front-0", "front-1", "front-2"}
        assert found["front-2"]["best"]["text"] == "x"
        for run in found:
            with client.stream("GET", f"/api/runs/{run}/events") as stream:
                lines = (line for line in stream.iter_lines() if line.startswith("data:"))
                json.loads(next(lines)[5:], parse_constant=pytest.fail)


def test_others_are_answered_while_many_events_are_read(tmp_path: Path) -> None:
    line = '{"event": "progressed", "seconds": %d}\n'
    own_folder(tmp_path / "huge", line % 6 * (5 * LITTLE // len(line)) + line % 7)
    with serving(tmp_path) as client:
        assert [each["seconds"] for each in client.ask("GET", "/api/runs")] == [6]  # that was a part
        assert client.ask("GET", "/api/setup")["version"]
        client.events("/api/events", until=lambda kind, data: data[0]["seconds"] == 7)


def test_a_run_that_was_deleted_meanwhile_is_deleted(tmp_path: Path) -> None:
    shelf = Shelf(own_folder(tmp_path / "runs" / "twice").parent)
    run = shelf.run("twice")
    shelf.delete(run)
    shelf.delete(run)
    assert list((tmp_path / "runs").iterdir()) == []


def test_links_out_of_a_run_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("x,y\n1,271828\n2,3\n")
    folder = own_folder(tmp_path / "runs" / "linked")
    for name in ("report.html", "equations.csv", "studio/table.csv", "studio/output.txt", "more.txt"):
        (folder / name).symlink_to(secret)
    (folder / "all").symlink_to(tmp_path)
    with serving(tmp_path / "runs") as client:
        answers = [client.get(f"/api/runs/linked{path}") for path in ("", "/report", "/equations.csv", "/folder.zip")]
        answers.append(client.post("/api/tables/run", json={"id": "linked"}))
        assert not any(b"271828" in answer.content for answer in answers)
        assert [answer.status_code for answer in answers] == [200, 409, 409, 200, 409]
        with zipfile.ZipFile(io.BytesIO(answers[3].content)) as archive:
            assert sorted(archive.namelist()) == ["linked/studio/events.jsonl", "linked/studio/question.json"]


def test_folders_that_are_damaged_or_something_else(tmp_path: Path, runs: Path) -> None:
    for name, content in {"broken": "{", "list": "[1]", "empty": "", "deep": "[" * 100_000}.items():
        (tmp_path / name / "studio").mkdir(parents=True)
        (tmp_path / name / "discovery.json").write_text(content)
        (tmp_path / name / "studio" / "question.json").write_text(content)
    (tmp_path / "nan").mkdir()
    (tmp_path / "nan" / "discovery.json").write_text('{"seconds": NaN, "target": "y"}')
    (tmp_path / "unfinished").mkdir()
    (tmp_path / "unfinished" / "run.json").write_text("{}")
    (tmp_path / "photos").mkdir()
    with serving(tmp_path) as client:
        found = {each["id"]: each["state"] for each in client.ask("GET", "/api/runs")}
        assert found == {
            "broken": "finished", "list": "finished", "empty": "finished", "deep": "finished", "nan": "finished",
            "unfinished": "stopped",
        }  # fmt: skip
        for name in found:
            answer = client.get(f"/api/runs/{name}/equations")
            assert answer.status_code in (400, 409)
            assert answer.json()["error"]
            client.ask("POST", f"/api/runs/{name}/resume", 409)
        assert "no equations yet" in client.ask("GET", "/api/runs/unfinished/equations", 409)["error"]


def test_one_run_folder_is_shown_alone(runs: Path) -> None:
    before = sorted(path.name for path in (runs / "revision").iterdir())
    with serving(runs / "revision") as client:
        (run,) = client.ask("GET", "/api/runs")
        assert run["kind"] == "revise"
        assert client.ask("GET", f"/api/runs/{run['id']}/equations")["steps"]
        assert "the folder above" in client.upload(TABLE, status=409)["error"]
        assert "does not delete" in client.ask("DELETE", f"/api/runs/{run['id']}", 409)["error"]
    assert sorted(path.name for path in (runs / "revision").iterdir()) == before


def test_requests_that_are_no_requests(client: Any) -> None:
    ask: Callable[..., Any] = client.ask
    assert "no JSON" in ask("POST", "/api/runs", 400, content=b"{")["error"]
    assert "no JSON" in ask("POST", "/api/runs", 400, content=b"[" * 100_000)["error"]
    assert "no JSON object" in ask("POST", "/api/runs", 400, content=b"[1]")["error"]
    assert "larger" in ask("POST", "/api/runs", 413, content=b" " * 2_000_001)["error"]
    ask("POST", "/api/formulas/check", 400, json={"text": 1})
    ask("POST", "/api/formulas/check", 400, json={"text": "x", "variables": [1]})
    half = b'{"text": "x + \\ud800", "kind": "formula", "variables": ["\\udfff"]}'  # of a character
    assert not ask("POST", "/api/formulas/check", content=half)["ok"]
    ask("POST", "/api/runs", 404, content=b'{"run": "\\ud800"}')
    ask("POST", "/api/space/between", 400, content=b'{"first": "\\ud800", "second": "\\u0000", "steps": 2}')
    ask("POST", "/api/tables/example", 404, json={"id": {}})
    ask("POST", "/api/setup", 405)
    ask("GET", "/api/none", 404)
