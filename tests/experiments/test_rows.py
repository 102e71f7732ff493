"""Tables that grow row by row: nothing is run twice, and a line that was cut off does no harm."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

import rows
from edhie.processes import import_path
from rows import Row, append_row, read_rows, run_missing, write_rows
from runs import common, is_starved, markdown, sections

FIELDS = ("name", "seed", "value")
SLEEPING = """
import sys, time
from pathlib import Path
from rows import run_missing

def sleep(job):
    print("asleep", file=sys.stderr, flush=True)
    time.sleep(60)

if __name__ == "__main__":
    run_missing(sleep, [{"name": "a"}], Path(sys.argv[1], "table.csv"), ("name", "value"), workers=1)
"""


def run(job: Row) -> Row:
    if job["name"] == "bad":
        raise ValueError("no such job")
    return {"value": job["name"] * 2}


@pytest.fixture(autouse=True)
def threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads in the place of processes, which take a second to start."""

    def pool(workers: int, **_: Any) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(workers)

    monkeypatch.setattr(rows, "ProcessPoolExecutor", pool)
    for name in rows.THREADS:
        monkeypatch.setenv(name, "1")


def job(name: str) -> Row:
    return {"name": name, "seed": "0"}


def test_only_missing_jobs_are_run(tmp_path: Path) -> None:
    path = tmp_path / "some" / "table.csv"
    assert run_missing(run, [job("a")], path, FIELDS, workers=1) == [job("a") | {"value": "aa"}]
    write_rows([job("a") | {"value": "kept"}], path, FIELDS)
    found = run_missing(run, [job("a"), job("b")], path, FIELDS, workers=2)
    assert [row["value"] for row in found] == ["kept", "bb"]
    assert run_missing(run, [], path, FIELDS, workers=1) == found


def test_a_failed_job_ends_the_command_after_the_others(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="1 of 2 jobs failed"):
        run_missing(run, [job("bad"), job("b")], tmp_path / "table.csv", FIELDS, workers=1)
    assert [row["name"] for row in read_rows(tmp_path / "table.csv")] == ["b"]


def killed(_: Row) -> Row:
    raise BrokenProcessPool


def test_a_killed_process_ends_the_command(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="run the command again"):
        run_missing(killed, [job("a"), job("b")], tmp_path / "table.csv", FIELDS, workers=1)


def test_processes_end_when_the_command_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "sleeping.py"
    script.write_text(SLEEPING)
    command = [sys.executable, str(script), str(tmp_path)]
    with subprocess.Popen(command, env=import_path(), stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"asleep\n"  # written by the worker, which has this pipe too
        process.kill()
        process.communicate(timeout=30)  # until all processes that have the pipe are gone


@pytest.mark.parametrize("cut", ["b,", "b,0,b", 'b,0,"max(x, ', "b,0,\N{GREEK SMALL LETTER ALPHA}"])
def test_a_cut_line_is_left_out(tmp_path: Path, cut: str) -> None:
    path = tmp_path / "table.csv"
    before = b"name,seed,value\na,0,aa\n"
    path.write_bytes(before + cut.encode()[: None if cut.isascii() else -1])
    assert [row["name"] for row in read_rows(path)] == ["a"]
    append_row(job("c") | {"value": "cc"}, path, FIELDS)
    assert path.read_bytes() == before + b"c,0,cc\n"


def test_a_table_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    write_rows([job("a") | {"value": "aa"}], path, FIELDS)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="unknown"):
        write_rows([job("b") | {"value": "bb"}, {"unknown": "column"}], path, FIELDS)
    assert path.read_bytes() == before


def test_other_columns_are_refused_before_the_first_job(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    write_rows([], path, ("name", "value"))
    with pytest.raises(SystemExit, match="use another --results"):
        append_row(job("c"), path, FIELDS)
    with pytest.raises(SystemExit, match="use another --results"):
        run_missing(killed, [job("a")], path, FIELDS, workers=1)


def test_versions_are_compared_on_the_same_runs() -> None:
    table = [{"version": version, "run": name} for version, name in ("ax", "ay", "bx")]
    assert common(table, lambda row: row["run"]) == [table[0], table[2]]
    assert common([], lambda row: row["run"]) == []


def test_a_page_has_a_section_for_each_half() -> None:
    table = [{"version": "now", "half": half, "run": half} for half in ("develop", "report")]

    def count(rows: list[Row]) -> str:
        return markdown(["n"], [[str(len(rows))]])

    def page(rows: list[Row]) -> list[str]:
        text = sections("Title", rows, lambda row: row["run"], lambda row: row["half"], count)
        return [line for line in text.splitlines() if line.startswith("#") or line[2:3].isdigit()]

    heads = ["# Title", "## Develop half", "| 1 |", "## Report half", "| 1 |", "## Both halves", "| 2 |"]
    assert page(table) == heads
    assert page(table[:1]) == heads[:3]
    assert page([*table, table[0] | {"version": "before"}]) == [*heads, "## Develop half, now and before", "| 2 |"]


@pytest.mark.parametrize(("cpu", "starved"), [("", False), ("4.0", True), ("9.5", False)])
def test_a_fit_without_processor_time_is_starved(cpu: str, starved: bool) -> None:
    assert is_starved({"cpu": cpu, "seconds": "10"}, 0.5) == starved
