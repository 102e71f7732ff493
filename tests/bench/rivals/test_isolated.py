"""A rival that crashes, hangs or answers nonsense gives a row with the reason, and the next run goes on."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from edhie.bench import METHODS, Method, Plan, ProblemError, TrialSettings, run_benchmark
from edhie.bench.execute import execute
from edhie.bench.problem import load_problems
from edhie.bench.report import notes_on
from edhie.bench.rivals import isolated
from edhie.bench.trial import NO_ANSWER, Trial
from edhie.errors import MissingExtraError
from edhie.processes import start_process

RIVALS = """
import os, signal, subprocess, sys, time
from pathlib import Path

def right(question):
    assert question.X.shape == (len(question.y), 1) and question.symbols[:4] == ("+", "-", "*", "/")
    return "sqrt(x0)", 17

def segfault(question):
    os.kill(os.getpid(), signal.SIGSEGV)

def hang(question):
    time.sleep(1000)

def leave(question):
    sys.exit(3)

def abort(question):
    os._exit(4)

def garbage(question):
    os.write(1, b'{"formula": "x0", "evaluated": 1}\\n' * 1000)
    print("{" * 1000)
    return right(question)

def broken(question):
    raise ValueError("no luck\\ntoday")

def unprintable(question):
    raise ValueError("no \\x1b[31m luck \\ud800")

def panic(question):
    raise KeyboardInterrupt("panic")

class Wordless(Exception):
    def __str__(self):
        raise RuntimeError

def wordless(question):
    raise Wordless

def real_time(question):
    os.kill(os.getpid(), 40)

def nan(question):
    return float("nan"), 3

def nan_text(question):
    return "nan*x0", 3

def unfinished(question):
    return "sqrt(x0", 3

def undefined(question):
    return "sqrt(-1 - x0)", 3

def large(question):
    held = bytearray(1 << 28)
    time.sleep(1000)

def each(question):
    return BEHAVIOURS[question.seed](question)

BEHAVIOURS = [
    right, segfault, garbage, hang, leave, abort, broken, unprintable, panic, wordless, real_time, nan, nan_text,
    unfinished, undefined, right,
]

def parent(question):
    with open(Path(__file__).with_name("pipe"), "w") as pipe:
        subprocess.Popen(["sleep", "60"], stdout=pipe)
    time.sleep(1000)

def prepare_prepared(question):
    Path(__file__).with_name("pid").write_text(str(os.getpid()))

def prepared(question):
    return right(question)

def prepare_unprepared(question):
    raise RuntimeError("its engine is missing")

def unprepared(question):
    return right(question)

def by_seed(question):
    return right(question) if question.seed else segfault(question)
"""
REASONS = (
    "",
    "its process crashed (SIGSEGV)",
    "",  # garbage that it prints is no answer
    "killed, since it had not answered after 0.5 s",
    "SystemExit: 3",
    "its process ended with code 4",
    "ValueError: no luck today",
    r"ValueError: no \u001b[31m luck \ud800",
    "KeyboardInterrupt: panic",
    "its process ended with code 1",
    "its process crashed (signal 40)",
    "its answer is (nan, 3), not a formula and a number of evaluations",
    "unknown symbol 'nan'",
    "this '(' is never closed",
    "its formula has no finite value in some row",
    "",
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rivals_of_mine.py"
    path.write_text(RIVALS)
    return path


def rival(file: Path, name: str) -> Method:
    return Method(f"{file}:{name}", "none", strict=False, name=name, package="json")


def row_of(method: Method, run: int = 1, seconds: float | None = None) -> dict[str, Any]:
    return execute(Trial("nguyen", "NG-8", method, run, settings=TrialSettings(300, seconds))).row


def test_whatever_a_rival_does_is_a_row(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolated, "GRACE", 0.3)
    for run, reason in enumerate(REASONS):
        row = row_of(rival(file, "each"), run, 0.2 if "killed" in reason else None)
        if reason:
            assert row["stopped"].startswith(f"{NO_ANSWER}{reason}")
            assert (row["success"], row["equivalent"], row["expression"], row["r2_test"]) == (False, "no", "", 0)
        else:
            assert (row["success"], row["equivalent"], row["evaluated"], row["stopped"]) == (True, "yes", 17, "target")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no groups of processes")
def test_what_a_rival_starts_is_killed_with_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolated, "GRACE", 0.3)
    os.mkfifo(file.with_name("pipe"))
    reading = os.open(file.with_name("pipe"), os.O_RDONLY | os.O_NONBLOCK)
    assert "killed" in row_of(rival(file, "parent"), seconds=1.5)["stopped"]
    assert select.select([reading], [], [], 10)[0]  # it is readable once no process can write to it
    os.close(reading)


def test_a_process_that_is_killed_while_it_starts_is_replaced(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: Any, **options: Any) -> subprocess.Popen[str]:
        started.append(start_process(*arguments, **options))
        if len(started) == 1:
            started[0].kill()
        return started[-1]

    monkeypatch.setattr(isolated, "start_process", start)
    first, second = (row_of(rival(file, "right")) for _ in range(2))
    assert first["stopped"] == f"{NO_ANSWER}its process crashed (SIGKILL)"
    assert (second["success"], len(started)) == (True, 2)


def test_the_process_of_the_preparation_is_ended(file: Path) -> None:
    isolated.prepare_rival(rival(file, "prepared"), load_problems("nguyen")[:1])
    with pytest.raises(ProcessLookupError):
        os.kill(int(file.with_name("pid").read_text()), 0)


def test_memory_is_limited(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not Path("/proc/self/statm").exists():
        pytest.skip("the system does not tell how much memory a process has")
    monkeypatch.setattr(isolated, "MEMORY", 200 << 20)
    assert row_of(rival(file, "large"))["stopped"] == f"{NO_ANSWER}killed, since it took more than 0 GiB of memory"


def test_a_crash_is_a_row_and_the_next_run_goes_on(file: Path, tmp_path: Path) -> None:
    plan = Plan("nguyen", rival(file, "by_seed"), runs=2, ids=("NG-8",))
    ended = run_benchmark(plan, tmp_path / "out")
    assert ended.failures == []
    assert [(row["success"], row["evaluated"]) for row in ended.rows] == [("0", ""), ("1", "17")]
    assert f"{NO_ANSWER}its process crashed (SIGSEGV) (1 run)" in notes_on(ended.rows)
    before = ended.path.read_bytes()
    run_benchmark(plan, tmp_path / "out")
    assert ended.path.read_bytes() == before  # nothing is run again


def test_a_package_that_cannot_be_used_ends_the_benchmark_before_its_first_run(file: Path, tmp_path: Path) -> None:
    with pytest.raises(ProblemError, match=r"^unprepared cannot be run here: RuntimeError: its engine is missing$"):
        run_benchmark(Plan("nguyen", rival(file, "unprepared"), ids=("NG-8",)), tmp_path / "out")


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.package])
def test_a_missing_package_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolated, "find_spec", lambda package: None)
    message = rf"^{name}( \({METHODS[name].package}\))? needs an optional package; .* pip install 'edhie\[peers\]'$"
    with pytest.raises(MissingExtraError, match=message):
        run_benchmark(Plan("nguyen", name), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_finished_runs_need_no_package(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan("nguyen", rival(file, "by_seed"), runs=2, ids=("NG-8",))
    rows = run_benchmark(plan, tmp_path / "out").rows
    monkeypatch.setattr(isolated, "find_spec", lambda package: None)
    assert run_benchmark(plan, tmp_path / "out").rows == rows
    with pytest.raises(MissingExtraError):
        run_benchmark(replace(plan, runs=3), tmp_path / "out")
