"""`edhie search`: equations over the data's columns; stopping and going on; one message for whatever is wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from edhie.evaluate import Evaluator
from edhie.events import Improved
from edhie.results import SearchResult
from edhie.search import Budget
from searches import assert_same

NOISE = np.random.default_rng(1).normal(size=60)  # in which nothing is to be found, so that nothing ends a search early
FILES = {"result.json", "symbols.json", "candidates.jsonl", "front.csv", "history.csv", "run.json", "best.txt"}
cli_search = import_module("edhie.cli.search")


def table(folder: Path, name: str = "cup.csv", rows: int = 60, **columns: Any) -> Path:
    """A file of a cup that cools, and of whatever else is given."""
    t = np.random.default_rng(rows).uniform(0, 30, rows)
    named = {"t": t, "T": 20 + 60 * np.exp(-t / 7)} | columns
    lines = [",".join(named), *(",".join(map(str, row)) for row in zip(*named.values(), strict=True))]
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    return table(tmp_path)


def small(strategy: str = "draw", evaluations: int = 300) -> list[Any]:
    return ["--strategy", strategy, "--evaluations", evaluations]


# -- what it finds --------------------------------------------------------------------


def test_search(edhie: Callable[..., Any], cup: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    code, printed, err = edhie("search", cup, "--target", "T", "--evaluations", 5000, "--out", out)
    assert code == 0
    assert err.splitlines()[0] == "searching (mosaic, seed 0) until 5,000 expressions"
    lines = printed.splitlines()
    assert lines[0].split() == ["complexity", "error", "R²", "train", "T", "="]
    assert lines[-1].startswith(f"{out}: ")
    assert lines[-2].startswith("T = ")
    assert float(lines[-4].split()[2]) == 1.0
    assert {path.name for path in out.iterdir()} - {"checkpoint.npz"} == FILES
    assert (out / "best.txt").read_text().startswith("T = ")
    found = SearchResult.load(out)
    assert found.candidates.forest.library.variables == ("t",)
    assert len(found.front) == len(lines) - 4


def test_rows_are_held_out(edhie: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    made = cli_search.Evaluator

    def noted(library: Any, X: Any, y: Any) -> Evaluator:  # noqa: N803
        seen.append(len(y))
        return made(library, X, y)

    monkeypatch.setattr(cli_search, "Evaluator", noted)
    path = table(tmp_path, rows=1000)
    code, out, err = edhie("search", path, "--target", "T", *small(), "--seed", 1)
    assert (code, seen) == (0, [800])
    assert err.splitlines()[0] == "200 of 1,000 rows are held out for validation"
    assert out.splitlines()[0].split() == ["complexity", "error", "R²", "train", "R²", "valid.", "T", "="]
    assert all(len(line.split(maxsplit=4)) == 5 for line in out.splitlines()[:-2])


def test_columns_are_chosen_and_others_may_hold_text(edhie: Callable[..., Any], tmp_path: Path) -> None:
    path = table(tmp_path, site=["lab"] * 60, c=np.linspace(1, 2, 60))
    options = ["--target", "T", "--features", "t, c", *small(evaluations=500), "--quiet", "--json"]
    code, out, err = edhie("search", path, *options)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["target"], found["strategy"], found["stopped"]) == ("T", "draw", "evaluations")
    assert found["counts"]["executed"] == 500
    assert found["selected"].keys() == found["front"][0].keys() == {
        "complexity", "error", "r2", "r2_validation", "expression",
    }  # fmt: skip
    errors = [each["error"] for each in found["front"]]
    assert errors == sorted(errors, reverse=True)
    assert any("c" in each["expression"] for each in found["front"])  # the column of that name


def test_quiet_prints_the_equation_alone(edhie: Callable[..., Any], cup: Path) -> None:
    code, out, err = edhie("search", cup, "--target", "T", *small(), "--quiet")
    assert (code, err, len(out.splitlines())) == (0, "", 1)
    assert out.startswith("T = ")


def test_more_columns_than_any_model_has_variables(edhie: Callable[..., Any], tmp_path: Path) -> None:
    columns = dict(zip((f"v{k}" for k in range(8)), np.random.default_rng(0).uniform(1, 2, (8, 80)), strict=True))
    columns["y"] = columns["v0"] * columns["v7"] / columns["v3"]
    path = table(tmp_path, rows=80, **columns)
    options = ["--target", "y", "--features", ",".join(f"v{k}" for k in range(8))]
    code, out, _ = edhie("search", path, *options, *small("mosaic", 2000), "--quiet")
    assert (code, sorted(set(out.split("= ")[1].strip()) & set("037v"))) == (0, ["0", "3", "7", "v"])
    code, out, err = edhie("search", path, *options, *small("evolve"))
    assert (code, out) == (1, "")
    assert err.startswith("error: the strategy 'evolve' needs a model for 8 variables, and this one has 6; use")


@pytest.mark.parametrize("model", ["nguyen-1", "nguyen-2"])
def test_strict_is_the_model_s_own_symbols(model: str, edhie: Callable[..., Any], cup: Path, tmp_path: Path) -> None:
    options = ["--target", "T", "--model", model, *small("mosaic"), "--quiet"]
    assert edhie("search", cup, *options, "--strict", "--out", tmp_path / "strict").code == 0
    assert edhie("search", cup, *options, "--out", tmp_path / "free").code == 0
    strict, free = (SearchResult.load(tmp_path / name).candidates.forest.library for name in ("strict", "free"))
    assert strict.constant is None
    assert free.constant is not None
    assert set(strict.names) < set(free.names)
    assert "tanh" not in strict
    assert "tanh" in free


def test_a_target_error_ends_it(edhie: Callable[..., Any], cup: Path) -> None:
    code, _, err = edhie("search", cup, "--target", "T", "--target-error", 1e9)
    assert code == 0
    assert "stopped by target" in err


def test_a_limit_of_time_begins_after_what_is_compiled_first(
    edhie: Callable[..., Any], cup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    budgets: list[Budget] = []
    run = cli_search.run

    def noted(*given: Any, budget: Budget, **options: Any) -> SearchResult:
        budgets.append(budget)
        result: SearchResult = run(*given, budget=budget, **options)
        return result

    monkeypatch.setattr(cli_search, "run", noted)
    assert edhie("search", cup, "--target", "T", "--seconds", 0.5).code == 0
    assert budgets == [cli_search.WARM_UP, Budget(None, 0.5)]
    for options, seconds in (([], 60.0), (["--seconds", 0], None), (["--evaluations", 50], None)):
        budgets.clear()
        assert edhie("search", cup, "--target", "T", "--target-error", 1e9, *options).code == 0
        assert budgets[-1].seconds == seconds


def test_a_model_of_the_user_s(edhie: Callable[..., Any], cup: Path, model_folder: Path) -> None:
    assert edhie("search", cup, "--target", "T", "--model", model_folder, *small("mosaic")).code == 0


# -- stopping and going on ------------------------------------------------------------


@pytest.mark.parametrize(
    ("strategy", "first", "more"), [("draw", 300, 2500), ("evolve", 700, 1500), ("mosaic", 60, 900)]
)
def test_gone_on_with_it_ends_as_at_once(
    strategy: str, first: int, more: int, edhie: Callable[..., Any], tmp_path: Path
) -> None:
    path = table(tmp_path, T=NOISE)
    options = ["search", path, "--target", "T", "--seed", 3, "--quiet"]
    assert edhie(*options, *small(strategy, first), "--out", tmp_path / "parts").code == 0
    assert SearchResult.load(tmp_path / "parts").counts.executed == first
    resumed = edhie(*options, *small(strategy, more), "--out", tmp_path / "parts", "--resume")
    at_once = edhie(*options, *small(strategy, more), "--out", tmp_path / "whole")
    assert resumed == at_once
    assert_same(SearchResult.load(tmp_path / "parts"), SearchResult.load(tmp_path / "whole"))
    again = edhie(*options, *small(strategy, more), "--out", tmp_path / "parts", "--resume")
    assert again == at_once
    assert (tmp_path / "parts" / "best.txt").read_text() == (tmp_path / "whole" / "best.txt").read_text()


def test_going_on_begins_at_the_last_whole_step(
    edhie: Callable[..., Any], cup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edhie.search.checkpoint.WRITE_SECONDS", 0.0)
    monkeypatch.setattr("edhie.search.watching.PROGRESS_SECONDS", 0.0)
    options = ["search", cup, "--target", "T", "--out", tmp_path / "run"]
    assert edhie(*options, *small("evolve", 1200)).code == 0
    err = edhie(*options, *small("evolve", 2000), "--resume").err
    after = int(err.splitlines()[0].rpartition("going on after ")[2].replace(",", ""))
    assert 0 < after < 1200
    assert edhie("search", cup, "--target", "T", "--out", tmp_path / "at-once", *small("evolve", 2000)).code == 0
    assert_same(SearchResult.load(tmp_path / "run"), SearchResult.load(tmp_path / "at-once"))


def test_going_on_where_there_is_nothing_begins(edhie: Callable[..., Any], cup: Path, tmp_path: Path) -> None:
    assert edhie("search", cup, "--target", "T", *small(), "--out", tmp_path / "new", "--resume").code == 0


def test_ctrl_c_shows_and_keeps_what_was_found(environment: dict[str, str], tmp_path: Path) -> None:
    path, out = table(tmp_path, T=NOISE), tmp_path / "run"
    options = ["search", str(path), "--target", "T", "--seconds", "0", "--strategy", "evolve", "--out", str(out)]
    command = [sys.executable, "-m", "edhie", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stderr is not None
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            line = process.stderr.readline()
            if b"  error " in line or not line:
                break
        time.sleep(1)  # a step that has not ended is undone
        process.send_signal(signal.SIGINT)
        printed, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert printed.decode().splitlines()[-2].startswith("T = ")
    kept = f"{out} keeps it: the same command with --resume goes on from there"
    assert err.decode().splitlines()[-1] == f"stopped: this was found so far; {kept}"
    assert SearchResult.load(out).stopped == "interrupted"
    assert (out / "best.txt").exists()


def test_ctrl_c_in_the_first_step(
    edhie: Callable[..., Any], cup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(self: Any, event: Any) -> None:
        if isinstance(event, Improved):
            raise KeyboardInterrupt

    monkeypatch.setattr(cli_search.SearchView, "__call__", stop)
    options = ["search", cup, "--target", "T", *small(), "--out"]
    code, out, err = edhie(*options, tmp_path / "run")
    assert (code, out) == (130, "")
    assert err.startswith("stopped: nothing was found yet; ")
    monkeypatch.undo()
    assert edhie(*options, tmp_path / "run", "--resume").code == 0
    assert edhie(*options, tmp_path / "whole").code == 0
    assert_same(SearchResult.load(tmp_path / "run"), SearchResult.load(tmp_path / "whole"))


def test_ctrl_c_before_the_search(edhie: Callable[..., Any], cup: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*arguments: object, **options: object) -> None:
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    stopped = 130, "", "stopped before anything was found\n"
    monkeypatch.setattr(cli_search, "run", stop)
    assert edhie("search", cup, "--target", "T", "--seconds", 5) == stopped
    warming = SimpleNamespace(stopped="interrupted")  # while it compiles
    monkeypatch.setattr(cli_search, "run", lambda *arguments, **options: warming)
    assert edhie("search", cup, "--target", "T", "--seconds", 5) == stopped


# -- what is refused ------------------------------------------------------------------

GOOD = "a,b,y\n1,2,3\n2,3,5\n4,1,5.5\n3,3,1\n"


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (None, [], "there is no file {path}"),
        ("", [], "{path} is empty; write a row of names"),
        ("1,2,3\n4,5,6\n", [], "{path}: the first row must name each column, and it holds only numbers (1, 2, 3)"),
        (GOOD.replace("y", "yield_"), ["--target", "yeld_"], "{path} has no column 'yeld_'; did you mean 'yield_'?"),
        (GOOD, ["--target", "speed"], "{path} has no column 'speed'; it has a, b, y"),
        (GOOD, ["--features", "a,bb"], "{path} has no column 'bb'; did you mean 'b'?"),
        (GOOD, ["--features", "a,a"], "--features names 'a' twice; name it once"),
        (GOOD, ["--features", "a,y"], "'y' is the --target and among the --features too"),
        (GOOD.replace("2,3,5", "2,lab,5"), [], "{path}, line 3: 'lab' is not a number; choose other columns, or turn"),
        (GOOD.replace("2,3,5", "2,nan,5"), [], "{path}, line 3 holds a number that is not finite: nan in column 'b'"),
        (GOOD.replace("2,3,5", "2,,5"), [], "{path}, line 3: column 'b' is empty; drop such rows or fill them"),
        (GOOD.replace("2,3,5", "2,3"), [], "{path}, line 3 has 2 columns, the first 3"),
        ("a,b,y\n1,2,3\n", [], "{path} has 1 row of numbers; give at least 2"),
        ("a,b,y\n", [], "{path} has no rows of numbers; give at least 2"),
        ("y\n1\n2\n", [], "{path} has no column besides 'y'; give at least one to explain it with"),
        ("a,y\n1,7\n2,7\n3,7\n", [], "{path}: column 'y' is 7 in every row, so there is nothing to explain"),
        ("a,a,y\n1,2,3\n2,3,4\n", [], "{path}: the first row must name each column differently, and 'a' is there 2"),
        ("a,b,d,y\n1,2,3,4\n2,3,4,6\n", [], "{path} has more variables (3) than rows (2); give more rows, or choose"),
        (GOOD.replace("a,", "sin,"), [], "{path}, names of columns: the name 'sin' is given to two symbols"),
        (GOOD.replace("a,", "a (m),"), [], "{path}, names of columns: 'a (m)' cannot name a variable"),
        (GOOD, ["--model", "nowhere"], "there is no model folder nowhere"),
        (GOOD, ["--model", "nguyen-1", "--strategy", "draw"], "the strategy 'draw' needs a model for 2 variables"),
    ],
)  # fmt: skip
def test_faults(text: str | None, options: list[str], message: str, edhie: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    if text is not None:
        path.write_text(text)
    code, out, err = edhie("search", path, "--target", "y", *options, "--out", tmp_path / "out")
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {message.format(path=path)}")
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_taken(edhie: Callable[..., Any], cup: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    options = ["search", cup, "--target", "T", *small(), "--out"]
    assert edhie(*options, out).code == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    taken = f"error: {out} holds a search already; go on with it (--resume), or choose another folder\n"
    assert edhie(*options, out) == (1, "", taken)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    (tmp_path / "other").mkdir()
    assert edhie(*options, tmp_path / "other", "--quiet").code == 0
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("")
    assert edhie(*options, tmp_path / "notes").err.startswith(f"error: {tmp_path / 'notes'} is not empty; choose")
    assert "holds something else than a search" in edhie(*options, tmp_path / "notes", "--resume").err
    assert edhie(*options, cup).err == f"error: {cup} is a file; choose a folder\n"
    assert edhie(*options, cup / "run").err.startswith("error: cannot ")


def test_going_on_with_other_data(edhie: Callable[..., Any], cup: Path, tmp_path: Path) -> None:
    options = ["--target", "T", *small(), "--out", tmp_path / "run", "--quiet"]
    assert edhie("search", cup, *options).code == 0
    other = table(tmp_path, "other.csv", rows=61)
    code, out, err = edhie("search", other, *options, "--resume")
    assert (code, out) == (1, "")
    assert "had another data; pass the same, or another folder" in err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is read-only to root")
def test_a_folder_that_cannot_be_written_to(edhie: Callable[..., Any], cup: Path, tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    code, out, err = edhie("search", cup, "--target", "T", *small(), "--out", tmp_path / "locked" / "run")
    assert (code, out) == (1, "")
    assert err.startswith(f"error: cannot keep the search in {tmp_path / 'locked' / 'run'}: Permission denied")


def test_going_on_needs_a_folder(edhie: Callable[..., Any], cup: Path) -> None:
    code, out, err = edhie("search", cup, "--target", "T", "--resume")
    assert (code, out) == (2, "")
    assert "--resume needs the folder of the search that is to go on; give it with --out" in err


def test_nothing_found_is_told(edhie: Callable[..., Any], tmp_path: Path) -> None:
    path = table(tmp_path, T=NOISE)
    options = ["--target", "T", "--seconds", 1e-9]
    code, out, err = edhie("search", path, *options)
    assert (code, out) == (1, "")
    assert err.splitlines()[-1].startswith("error: nothing was found: none of 0 expressions has a value in every row")
