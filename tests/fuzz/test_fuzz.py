"""A few hundred malformed inputs of each kind; `make fuzz` reads a million. Children that are killed are counted."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fuzz import run
from fuzz.kind import Kind

FEW = 300
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the limits on children are Linux's"),
    pytest.mark.filterwarnings("ignore:.*fork"),
]


def ends_of(kind: Kind, count: int, warm_up: int = 0) -> dict[str, Any]:
    state: dict[str, Any] = {"next": 0}
    run.read_kind(kind, state, count, time.monotonic() + 60, warm_up)
    return state


@pytest.mark.parametrize("name", run.KINDS)
def test_malformed_inputs_are_read_or_refused(name: str, tmp_path: Path) -> None:
    kind = run.KINDS[name]
    kind.warm_up(tmp_path)
    state = ends_of(kind, FEW)
    assert state["faults"] == [], run.report({name: state})
    assert state["accepted"] + state["refused"] == FEW
    assert state["memory"] < 200


def test_an_input_is_the_same_in_every_run() -> None:
    for kind in run.KINDS.values():
        assert kind.input(7)[0] == kind.input(7)[0]
        assert any(kind.input(7)[0] != kind.input(number)[0] for number in range(6))


def bad(number: int, act: Callable[[Path], object]) -> Kind:
    """Return a kind of which one input does something bad."""

    def read(made: int, rng: random.Random, place: Path) -> None:
        if made == number:
            act(place)

    numbers = iter(range(100))
    return Kind("bad", 1, lambda rng: next(numbers), read)


ACTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "error": (lambda place: [][0], "IndexError in test_fuzz.py"),
    "code": (lambda place: eval("1 + 1"), "Forbidden in guard.py:.*compile"),
    "program": (lambda place: os.system("true"), "Forbidden in guard.py:.*os.system"),
    "child": (lambda place: subprocess.run(["true"], check=True), "Forbidden in guard.py:.*subprocess.Popen"),
    "file": (lambda place: (place.parent / "edhie-fuzz").write_text(""), "Forbidden in guard.py:.*open"),
    "memory": (lambda place: bytearray(2 << 30), "MemoryError"),
    "death": (lambda place: os._exit(3), "the process ended with 3"),
    "hang": (lambda place: sum(1 for _ in iter(int, 1)), "no end within 0.2 s"),
}


@pytest.mark.parametrize("act", ACTS)
def test_a_crash_is_counted_and_the_next_inputs_are_read(act: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "KILLED_AFTER", 0.2)
    does, told = ACTS[act]
    state = ends_of(bad(3, does), 6)
    assert state["next"] == 6
    assert (state["accepted"], state["crashed"]) == (5, 1)
    [(number, fault)] = state["faults"]
    assert number == 3
    assert re.search(told, fault)
    assert "such as 3" in run.report({"bad": state})


def test_an_input_that_takes_longer_than_its_deadline_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "DEADLINE", 0.05)
    state = ends_of(bad(1, lambda place: sum(range(10_000_000))), 3)
    assert (state["accepted"], state["slow"]) == (3, 1)
    assert state["faults"][0][0] == 1


def test_a_forbidden_act_is_told_even_where_its_error_is_caught(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from fuzz.guard import Forbidden, Guard
guard = Guard(Path({str(tmp_path)!r}))
try:
    with guard.on():
        try:
            exec("x = 1")
        except BaseException:
            pass
except Forbidden as error:
    print(error)
"""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert ended.stdout.startswith("compile")
