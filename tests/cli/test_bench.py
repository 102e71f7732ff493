"""`edhie bench`: tables that grow, and one message for whatever is wrong."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from edhie.bench.records import read_rows_of

SMALL = ["--method", "hvar", "--runs", 2, "--evaluations", 300, "--problems", "NG-1,NG-8"]


def test_bench(edhie: Callable[..., Any], tmp_path: Path) -> None:
    code, out, err = edhie("bench", "nguyen", *SMALL, "--out", tmp_path, "--figures")
    assert (code, err) == (0, "")
    assert out.splitlines()[0].startswith("nguyen, hvar (HVAR, paper)")
    assert [line.split()[0] for line in out.splitlines()[2:5]] == ["NG-1", "NG-8", "total"]
    rows = read_rows_of(tmp_path / "nguyen-hvar.csv")
    assert [(row["problem"], row["run"]) for row in rows] == [
        (name, str(run)) for name in ("NG-1", "NG-8") for run in (0, 1)
    ]
    assert {path.name for path in tmp_path.glob("*.png")} == {"nguyen-hvar.png", "nguyen-hvar-curves.png"}
    before = (tmp_path / "nguyen-hvar.csv").read_bytes()
    again = edhie("bench", "nguyen", *SMALL, "--out", tmp_path)
    assert again.code == 0
    assert (tmp_path / "nguyen-hvar.csv").read_bytes() == before  # not a second of it was run again


def test_a_cluster_that_is_not_there(
    edhie: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("edhie.dask_cluster.CONNECT_SECONDS", 0.4)
    code, out, err = edhie("bench", "nguyen", *SMALL, "--cluster", "tcp://127.0.0.1:1", "--out", tmp_path)
    assert (code, out) == (1, "")
    assert err.startswith("error: no Dask scheduler answers at tcp://127.0.0.1:1")
    assert len(err.splitlines()) == 1


def test_noise(edhie: Callable[..., Any], tmp_path: Path) -> None:
    options = ["--method", "hvar", "--runs", 1, "--evaluations", 300, "--problems", "NG-8", "--noise", 0.05]
    code, out, _ = edhie("bench", "nguyen", *options, "--out", tmp_path)
    assert code == 0
    assert "noise 0.05" in out.splitlines()[0]
    assert out.splitlines()[1].split() == ["problem", "found", "equal", "chosen", "R²", "rank", "secs"]


def test_problems_of_the_users(edhie: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('[[problem]]\nid = "line"\ntarget = "v"\nformula = "2*t"\nvariables = { t = [0, 1] }\n')
    options = ["--method", "proged", "--runs", 1, "--evaluations", 200, "--out", tmp_path / "out"]
    code, out, _ = edhie("bench", path, *options)
    assert code == 0
    assert out.splitlines()[0].split() == ["own,", "proged"]
    (row,) = read_rows_of(tmp_path / "out" / "own-proged.csv")
    assert (row["success"], row["equivalent"]) == ("1", "yes")
    assert "t" in row["expression"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nguyn"], "unknown benchmark 'nguyn'; did you mean 'nguyen'?"),
        (["none.toml"], "there is no file none.toml"),
        (["nguyen", "--method", "hvarr"], "unknown method 'hvarr'; did you mean 'hvar'?"),
        (["nguyen", "--problems", "NG-99"], "unknown problem 'NG-99'; did you mean 'NG-9'?"),
        (["nguyen", "--evaluations", "0"], "a run without limit would not end"),
        (["nguyen", "--model", "nowhere"], "there is no model folder nowhere"),
        (["feynman", "--method", "edhie", "--problems", "B1"], "there is no hvae for B1, which has 7 variables"),
    ],
)
def test_faults(arguments: list[str], message: str, edhie: Callable[..., Any], tmp_path: Path) -> None:
    code, out, err = edhie("bench", *arguments, "--out", tmp_path / "out")
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {message}")
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_runs_that_fail_are_told(edhie: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    text = (
        '[[problem]]\nid = "bad"\ntarget = "v"\nformula = "log(t - 0.005)"\nvariables = { t = [0, 1] }\nn_train = 5\n'
    )
    path.write_text(text)  # of five points none is below 0.005, of a thousand some are
    code, out, err = edhie("bench", path, "--method", "proged", "--runs", 2, "--out", tmp_path / "out")
    assert code == 1
    assert "0 runs" in out
    assert err.startswith("error: bad, run 0 and 1 more: bad: log(t - 0.005) has no finite value at ")
    assert len(err.splitlines()) == 1


def test_a_method_of_the_users(edhie: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from edhie.search.sampling import Draw\n"
        "class Faulty(Draw):\n    def begin(self, task):\n        raise ValueError('nothing to begin with')\n"
        "def root(X, y, budget, rng):\n    return 'sqrt(x0)', 1\n"
    )
    options = ["--runs", 2, "--problems", "NG-1,NG-8", "--out", tmp_path / "out"]
    code, out, err = edhie("bench", "nguyen", "--method", f"{tmp_path / 'mine.py'}:Faulty", *options)
    assert code == 1
    assert "0 runs" in out
    assert err.splitlines() == [  # one fault, told once
        "error: NG-1, run 0 and 3 more: Faulty raised ValueError: nothing to begin with (mine.py, line 4)"
    ]
    code, out, err = edhie("bench", "nguyen", "--method", f"{tmp_path / 'mine.py'}:root", *options, "--figures")
    assert (code, err) == (0, "")
    assert out.splitlines()[0].split() == ["nguyen,", "root"]
    assert [line.split()[:2] for line in out.splitlines()[2:4]] == [["NG-1", "0/2"], ["NG-8", "2/2"]]


def test_a_formula_without_values_is_told_before_the_first_run(edhie: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('[[problem]]\nid = "bad"\ntarget = "v"\nformula = "log(t)"\nvariables = { t = [-2, -1] }\n')
    code, out, err = edhie("bench", path, "--method", "proged", "--out", tmp_path / "out")
    assert (code, out) == (1, "")
    assert err.startswith("error: bad: log(t) has no finite value at 1000 of 1000 points, such as t = -1.")
    assert not (tmp_path / "out").exists()


def test_a_baseline_is_trained_first(
    edhie: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from edhie.bench.methods import Baseline

    trained: list[Baseline] = []

    def stop(self: Baseline, on_epoch: Callable[[int, int], None]) -> None:
        trained.append(self)
        on_epoch(1, 150)
        raise KeyboardInterrupt

    monkeypatch.setattr(Baseline, "train", stop)
    monkeypatch.setattr(Baseline, "folder", property(lambda self: tmp_path / "model"))
    code, _, err = edhie("bench", "nguyen", "--method", "cvae", "--out", tmp_path / "out")
    assert code == 130
    assert err.startswith(f"training a cvae of 32 dimensions on Nguyen-1, once; it is kept in {tmp_path / 'model'}")
    code, _, err = edhie("bench", "nguyen", "--method", "hvar", "--latent", 64, "--out", tmp_path / "out")
    assert code == 130
    assert trained == [Baseline("cvae", "Nguyen-1", 32), Baseline("hvae", "Nguyen-1", 64)]


def test_ctrl_c_keeps_what_is_finished(environment: dict[str, str], tmp_path: Path) -> None:
    arguments = ["bench", "nguyen", "--method", "hvar", "--problems", "NG-5", "--runs", "500", "--evaluations", "200"]
    command = [sys.executable, "-m", "edhie", *arguments, "--out", str(tmp_path)]
    table = tmp_path / "nguyen-hvar.csv"
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        deadline = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < deadline:
            if table.is_file() and table.read_bytes().count(b"\n") >= 3:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert err.decode() == f"stopped; finished runs are kept in {tmp_path}; the same command resumes\n"
    assert 2 <= len(read_rows_of(table)) < 500


def test_ctrl_c_inside_compiled_code(
    edhie: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*arguments: object, **options: object) -> None:
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr(import_module("edhie.cli.bench"), "run_benchmark", stop)
    assert edhie("bench", "nguyen", *SMALL, "--out", tmp_path).code == 130


def test_completion() -> None:
    cli = import_module("edhie.cli.bench")
    assert cli.complete_benchmark("fey") == ["feynman120", "feynman16"]
    assert [name for name, _ in cli.complete_method("gv")] == ["gvae", "gvae-evo"]
