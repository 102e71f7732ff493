"""A search on disk: killed, damaged, foreign or read-only, it goes on as it was or says why not."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disks import Disk
from edhie.errors import SearchError, UnkeptWarning
from edhie.results import SearchResult
from edhie.search import Budget, checkpoint, run
from edhie.search.evolution import Evolve, EvolveConfig
from edhie.search.sampling import Draw, DrawConfig
from searches import HVAE, StopAfter, Wrapped, assert_same, evaluator, whole

BUDGET = Budget(150)
CONFIG = EvolveConfig(population=30, offspring=30)


def stopped_in(folder: Path, calls: int = 25) -> SearchResult:
    model = Wrapped(valid=whole, before=StopAfter(calls))
    return run(model, evaluator(), strategy=Evolve(CONFIG), budget=BUDGET, folder=folder)


def gone_on(folder: Path) -> SearchResult:
    return run(HVAE, evaluator(), strategy=Evolve(CONFIG), budget=BUDGET, folder=folder, resume=True)


def test_a_checkpoint_is_that_of_the_last_step_s_end(tmp_path: Path) -> None:
    partial = stopped_in(tmp_path / "run")
    assert partial.stopped == "interrupted"
    with np.load(tmp_path / "run" / "checkpoint.npz", allow_pickle=False) as kept:
        assert kept["steps"] == kept["strategy.generation"] > 3
        assert kept["evaluator.counts"][1] == partial.counts.executed > 0
        assert kept["history.error"].tolist() == partial.history.error.tolist()


def test_checkpoints_are_written_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    write = checkpoint.Checkpoints.write

    def noted(self: checkpoint.Checkpoints, snapshot: checkpoint.Snapshot, used: object) -> None:
        written.append(snapshot.n_steps)
        write(self, snapshot, used)  # type: ignore[arg-type]

    monkeypatch.setattr(checkpoint.Checkpoints, "write", noted)
    strategy = Draw(DrawConfig(batch=20, attempts=100))
    run(HVAE, evaluator(), strategy=strategy, folder=tmp_path / "rarely")
    assert written == [1, 5]
    monkeypatch.setattr(checkpoint, "WRITE_SECONDS", 0.0)
    run(HVAE, evaluator(), strategy=strategy, folder=tmp_path / "often")
    assert written == [1, 5, 1, 2, 3, 4, 5, 5]


KILLED = """
import sys
sys.path.insert(0, {tests!r})
from searches import HVAE, evaluator
from edhie.search import Budget, checkpoint, run
from edhie.search.evolution import Evolve, EvolveConfig
checkpoint.WRITE_SECONDS = 0.0
print("ready", flush=True)
strategy = Evolve(EvolveConfig(population=30, offspring=30))
run(HVAE, evaluator(), strategy=strategy, budget=Budget(4000), folder={folder!r})
"""


def test_killed_and_gone_on_with_it_ends_the_same(tmp_path: Path) -> None:
    folder, budget = tmp_path / "run", Budget(4000)
    code = KILLED.format(tests=str(Path(__file__).parents[1]), folder=str(folder))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as child:
        deadline = time.monotonic() + 60
        while not (folder / "checkpoint.npz").exists() and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(0.05)
        child.send_signal(signal.SIGKILL)
    assert not (folder / "result.json").exists()
    strategy = Evolve(CONFIG)
    ended = run(HVAE, evaluator(), strategy=strategy, budget=budget, folder=folder, resume=True)
    assert_same(ended, run(HVAE, evaluator(), strategy=Evolve(CONFIG), budget=budget))


def test_time_goes_on_too(tmp_path: Path) -> None:
    stopped_in(tmp_path / "run")
    with np.load(tmp_path / "run" / "checkpoint.npz", allow_pickle=False) as kept:
        seconds = float(kept["seconds"])
    assert gone_on(tmp_path / "run").seconds > seconds > 0


def test_a_search_may_go_on_with_a_larger_budget(tmp_path: Path) -> None:
    strategy = Draw(DrawConfig(batch=20))
    run(HVAE, evaluator(), strategy=strategy, budget=Budget(50), folder=tmp_path / "run")
    more = run(HVAE, evaluator(), strategy=strategy, budget=Budget(90), folder=tmp_path / "run", resume=True)
    assert (more.counts.executed, more.stopped) == (90, "evaluations")


def test_where_nothing_is_kept_yet_it_begins(tmp_path: Path) -> None:
    plain = run(HVAE, evaluator(), strategy=Evolve(CONFIG), budget=BUDGET)
    assert_same(gone_on(tmp_path / "new"), plain)
    (tmp_path / "empty").mkdir()
    assert_same(gone_on(tmp_path / "empty"), plain)


def test_a_search_goes_on_with_its_own_seed(tmp_path: Path) -> None:
    run(HVAE, evaluator(), strategy="draw", budget=Budget(30), rng=5, folder=tmp_path / "run")
    assert run(HVAE, evaluator(), strategy="draw", budget=Budget(60), folder=tmp_path / "run", resume=True).seed == 5


# -- what cannot be gone on with ------------------------------------------------------


def test_another_strategy_is_refused(tmp_path: Path) -> None:
    stopped_in(tmp_path / "run")
    with pytest.raises(SearchError, match=r"has the strategy 'evolve' with .*, not 'draw'"):
        run(HVAE, evaluator(), strategy="draw", folder=tmp_path / "run", resume=True)
    with pytest.raises(SearchError, match="pass the same, or another folder"):
        run(HVAE, evaluator(), strategy=Evolve(), folder=tmp_path / "run", resume=True)


@pytest.mark.parametrize("name", ["run.json", "checkpoint.npz"])
@pytest.mark.parametrize("damage", ["empty", "cut", "other", "bits"])
def test_a_damaged_folder_is_told(name: str, damage: str, tmp_path: Path) -> None:
    stopped_in(tmp_path / "run")
    path = tmp_path / "run" / name
    content = bytearray(path.read_bytes())
    half = len(content) // 2
    content[half : half + 60] = bytes(byte ^ 0xFF for byte in content[half : half + 60])
    path.write_bytes({"empty": b"", "cut": bytes(content[:half]), "other": b"[1, 2]", "bits": bytes(content)}[damage])
    with pytest.raises(SearchError, match=f"{name} is damaged"):
        gone_on(tmp_path / "run")


def test_a_checkpoint_without_its_parts_is_told(tmp_path: Path) -> None:
    stopped_in(tmp_path / "run")
    path = tmp_path / "run" / "checkpoint.npz"
    with np.load(path) as kept:
        arrays = {name: kept[name] for name in kept.files}
    for missing in ("steps", "strategy.living.codes", "evaluator.forms", "history.error"):
        np.savez(path, **{name: array for name, array in arrays.items() if name != missing})
        with pytest.raises(SearchError, match=r"checkpoint.npz is damaged: .*; delete the folder and start again"):
            gone_on(tmp_path / "run")


def test_another_format_is_told(tmp_path: Path) -> None:
    stopped_in(tmp_path / "run")
    path = tmp_path / "run" / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 9}))
    with pytest.raises(SearchError, match="has format 9; this edhie reads format 5"):
        gone_on(tmp_path / "run")


def test_a_foreign_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(SearchError, match=r"holds something other than a search: it has no run.json"):
        gone_on(tmp_path)
    run(HVAE, evaluator(), strategy="draw", budget=Budget(5)).save(tmp_path / "result")
    with pytest.raises(SearchError, match="holds something other"):
        run(HVAE, evaluator(), strategy="draw", folder=tmp_path / "result")


def test_a_place_that_cannot_be_written_to_is_told_before_the_search(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    used = evaluator()
    with pytest.raises(SearchError, match=r"cannot (write|look)"):
        run(HVAE, used, strategy="draw", folder=tmp_path / "file" / "run")
    if os.geteuid() != 0:
        (tmp_path / "locked").mkdir(mode=0o500)
        with pytest.raises(SearchError, match="cannot write the search to"):
            run(HVAE, used, strategy="draw", folder=tmp_path / "locked" / "run")
    assert used.counts.asked == 0


@pytest.mark.parametrize("value", [object(), [[1], [2, 3]], {"a": 1}])
def test_a_state_that_is_no_array_is_told(value: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Draw, "state", lambda self: {"mine": value})
    with pytest.raises(SearchError, match=r"the state 'mine' of a strategy is a .* that an array cannot hold"):
        run(HVAE, evaluator(), strategy="draw", budget=Budget(10), folder=tmp_path / "run")


# -- a disk that is full --------------------------------------------------------------


def test_a_full_disk_loses_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = run(HVAE, evaluator(), strategy=Evolve(CONFIG), budget=BUDGET)

    with monkeypatch.context() as patched:
        Disk(patched).is_full_for = lambda path: path.name != "run.json.part"
        with pytest.warns(UnkeptWarning) as told:
            result = run(HVAE, evaluator(), strategy=Evolve(CONFIG), budget=BUDGET, folder=tmp_path / "run")
    assert_same(result, plain)
    where = f"{tmp_path / 'run'}: No space left on device"
    assert [str(each.message) for each in told] == [
        f"cannot write the search to {where}; results are kept in memory only",
        f"cannot write the result to {where}; it is returned, and saved nowhere else",
    ]
    assert not (tmp_path / "run" / "checkpoint.npz.part").exists()
    assert_same(gone_on(tmp_path / "run"), plain)


def test_ctrl_c_on_a_full_disk_gives_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object, **arrays: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(np, "savez", full)
    with pytest.warns(UnkeptWarning, match="results are kept in memory only"):
        assert stopped_in(tmp_path / "run").stopped == "interrupted"


def test_what_is_asked_has_to_be_the_same(tmp_path: Path) -> None:
    def asked(what: dict[str, object], evaluations: int = 30, **options: Any) -> SearchResult:
        budget, folder = Budget(evaluations), tmp_path / "run"
        return run(HVAE, evaluator(**options), strategy="draw", budget=budget, folder=folder, resume=True, asked=what)

    asked({"guesses": ["x0"], "generator": "a", "corpus": "here", "corpus_sha256": "1"})
    for other, message in (
        ({"guesses": ["x0^2"]}, r'the saved search has guesses \["x0"\], not guesses \["x0\^2"\]; pass the same'),
        ({"guesses": ["x0"], "corpus_sha256": "2"}, "the corpus differs from that of the saved search"),
        ({"guesses": ["x0"]}, "the saved search has a corpus, not no corpus"),
    ):
        with pytest.raises(SearchError, match=message):
            asked(other)
    same = {"guesses": ["x0"], "generator": "b", "corpus": "there", "corpus_sha256": "1"}
    with pytest.raises(SearchError, match='the saved search has loss "rmse", not loss "mae"'):
        asked(same, loss="mae")
    assert asked(same, 60).counts.executed == 60
