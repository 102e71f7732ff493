"""Events as JSON lines: they say what the listener hears, and change nothing."""

from __future__ import annotations

import errno
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edhie.errors import EdhieError
from edhie.evaluate import Data
from edhie.event_log import EventLog
from edhie.events import Event, Finished, Glimpsed, Improved, Progressed, Started
from edhie.expr import parse
from edhie.fit import Discovery, Settings, discover
from edhie.fit.revision import revise
from revisions import SCENARIOS


def searched(log: EventLog | None = None) -> tuple[Discovery, list[Event]]:
    rng = np.random.default_rng(0)
    columns = rng.uniform(0.5, 3.0, (2, 40))
    data = Data(columns, columns[0] / columns[1] + 0.01 * rng.standard_normal(40), None, ("a", "b"))
    events: list[Event] = []

    def hear(event: Event) -> None:
        events.append(event)
        if log is not None:
            log(event)

    return discover(data, Settings(max_evaluations=150, max_time=None), on_event=hear), events


def lines_of(path: Path) -> list[dict[str, Any]]:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    return [json.loads(line, parse_constant=refuse) for line in path.read_text(encoding="utf-8").splitlines() if line]


def test_events_are_written_and_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with EventLog(path) as log:
        found, heard = searched(log)
    without, _ = searched()
    assert [each.text(None) for each in found.equations] == [each.text(None) for each in without.equations]
    lines = lines_of(path)
    kinds = [line["event"] for line in lines if line["event"] != "front"]
    assert kinds == [type(event).__name__.lower() for event in heard]
    assert kinds[:2] == ["glimpsed", "started"]
    last = next(event for event in reversed(heard) if isinstance(event, Progressed))
    front = next(line for line in reversed(lines) if line["event"] == "front")
    kept = [each for each in front["front"] if not each.get("is_beaten")]
    assert [each["error"] for each in kept] == last.front.errors.tolist()
    assert last.chosen is not None
    assert front["front"][front["chosen"]]["expression"] == str(last.chosen.expr)
    assert all(parse(each["expression"]) for each in front["front"])
    end = lines[-1]
    assert isinstance(heard[-1], Finished)
    assert (end["reason"], end["executed"]) == (heard[-1].reason, heard[-1].executed)


def test_a_front_is_written_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    _, heard = searched()
    last = next(event for event in reversed(heard) if isinstance(event, Progressed))
    with EventLog(path) as log:
        log(last)
        log(last)
    assert [line["event"] for line in lines_of(path)] == ["front", "progressed", "progressed"]


def test_a_revision_tells_distances(tmp_path: Path) -> None:
    path, scenario = tmp_path / "events.jsonl", SCENARIOS["an offset"]
    settings = Settings(max_evaluations=300, max_time=None)
    with EventLog(path) as log:
        found = revise(scenario.formula, scenario.data(), settings, on_event=log)
    told = next(line for line in reversed(lines_of(path)) if line["event"] == "front")
    front = told["front"]
    distances, errors = ([each[name] for each in front] for name in ("distance", "error"))
    assert distances[0] == 0
    assert distances == sorted(set(distances))
    assert errors == sorted(set(errors), reverse=True)
    assert not any("complexity" in each for each in front)
    assert front[told["chosen"]]["distance"] == found.chosen.distance
    assert found.chosen.distance > 0


def test_numbers_that_are_not_finite_are_null(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with EventLog(path) as log:
        log(Glimpsed(parse("2.5*x"), math.inf))
        log(Improved(parse("x"), math.nan, 1.0, 2, 3.0))
    assert [line["error"] for line in lines_of(path)] == [None, None]


def test_resuming_adds_to_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    started = Started("mosaic", 0, None, 60.0, None, 0)
    path.write_text('{"event": "half a li')
    with EventLog(path, resume=True) as log:
        log(started)
    half, line = path.read_text().splitlines()
    assert (half, json.loads(line)["event"]) == ('{"event": "half a li', "started")
    with EventLog(path) as log:
        log(started)
    with EventLog(path, resume=True) as log:
        log(started)
    assert len(path.read_text().splitlines()) == 2


def test_a_full_disk_loses_lines_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with EventLog(path) as log:
        whole = log._file
        assert whole is not None

        class Full:
            def write(self, text: str) -> None:
                raise OSError(errno.ENOSPC, "No space left on device")

        log._file = Full()  # type: ignore[assignment]
        log(Started("mosaic", 0, None, 60.0, None, 0))
        log._file = whole
        log(Finished("seconds", 1, 2.0))
    assert [line["event"] for line in lines_of(path)] == ["finished"]
    with pytest.raises(EdhieError, match="cannot write events to"):
        EventLog(tmp_path / "none" / "events.jsonl")


@pytest.mark.parametrize("resume", [False, True])
def test_a_file_of_the_user_is_kept(tmp_path: Path, resume: bool) -> None:
    path = tmp_path / "data.csv"
    path.write_text("x,y\n1,2\n")
    with pytest.raises(EdhieError, match="holds something else than events"):
        EventLog(path, resume=resume)
    assert path.read_text() == "x,y\n1,2\n"


def test_events_of_an_earlier_search_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    for _ in range(2):
        with EventLog(path) as log:
            log(Finished("seconds", 1, 2.0))
    assert [line["event"] for line in lines_of(path)] == ["finished"]
