"""A method of one's own runs on the benchmarks on the same terms as those of the table."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from edhie.bench import METHODS, Method, Plan, ProblemError, TrialSettings, run_benchmark
from edhie.bench.execute import execute
from edhie.bench.own_methods import resolve_method
from edhie.bench.records import read_rows_of
from edhie.bench.trial import Trial
from edhie.bench.workers import WORKER
from edhie.errors import SearchError
from edhie.search import strategy_named
from edhie.search.sampling import Draw
from edhie.search.strategies import text_of

CLIMB = str(Path(__file__).parents[2] / "examples" / "extending" / "own_search.py") + ":Climb"
SETTINGS = TrialSettings(evaluations=300)
METHODS_OF_MINE = """
import os
from edhie.bench import Method
from edhie.search.mosaic import Mosaic
from edhie.search.sampling import Draw, DrawConfig

class Faulty(Draw):
    def begin(self, task):
        raise ValueError("nothing to begin with")

class Unfinished(Draw):
    def __init__(self, config):
        pass

def small():
    return Draw(DrawConfig(batch=7))

def line(X, y, budget, rng):
    os.write(1, b"a word from a tool written in C\\n")
    print("another")
    return f"{(y @ X[:, 0]) / (X[:, 0] @ X[:, 0])}*x0", min(17, budget.evaluations)

def root(X, y, budget, rng):
    return "sqrt(x0)"

def wrong(X, y, budget, rng):
    return 3.0

def unreadable(X, y, budget, rng):
    return "sqrt(x0"

number = 3
of_grammar = Method("edhie.search.sampling:Draw", "grammar")
edhie = small
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a module of methods, where one works."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "methods_of_mine.py").write_text(METHODS_OF_MINE)
    yield tmp_path
    sys.modules.pop("methods_of_mine", None)


def row_of(method: Any, problem: str = "NG-8", noise: float = 0.0) -> dict[str, Any]:
    found = resolve_method(method)
    return execute(Trial("nguyen", problem, found, 0, noise, SETTINGS)).row


def test_the_same_search_under_another_name_gives_the_same(mine: Path) -> None:
    drawn, own = row_of("hvar", "NG-5"), row_of("edhie.search.sampling:Draw", "NG-5")
    assert own["method"] == "Draw"
    for row in (drawn, own):
        del row["method"], row["seconds"]
    assert own == drawn


def test_whatever_number_of_workers(tmp_path: Path) -> None:
    plan = Plan("nguyen", CLIMB, runs=2, ids=("NG-8",), settings=SETTINGS)
    ended = run_benchmark(plan, tmp_path, workers=2)
    assert ended.failures == []
    assert ended.path.name == "nguyen-Climb.csv"
    assert [(row["method"], row["run"]) for row in ended.rows] == [("Climb", "0"), ("Climb", "1")]
    assert len(list((tmp_path / "curves").iterdir())) == 2
    here = execute(plan.trials()[1]).row
    assert all(str(here[name]) == ended.rows[1][name] for name in ("rmse", "evaluated", "expression"))
    before = ended.path.read_bytes()
    run_benchmark(plan, tmp_path, workers=2)
    assert ended.path.read_bytes() == before  # nothing is run again
    with pytest.raises(ProblemError, match=r"holds runs with method = .*own_search.py:Climb over hvae, strict, not "):
        run_benchmark(replace(plan, method=Method(CLIMB, "grammar")), tmp_path)


def test_what_a_method_may_be(mine: Path) -> None:
    sources = {
        "methods_of_mine:small": "hvae", "methods_of_mine.py:small": "hvae", "methods_of_mine:of_grammar": "grammar",
        "methods_of_mine:line": "none",
    }  # fmt: skip
    for text, source in sources.items():
        method = resolve_method(text)
        assert (method.name, method.source, method.is_own) == (text.rpartition(":")[2], source, True)
    assert resolve_method(Draw) == resolve_method("edhie.search.sampling:Draw")
    assert resolve_method(METHODS["hvar"]) is METHODS["hvar"]
    assert resolve_method(Method("draw", "grammar", strict=False, name="free-draw")).name == "free-draw"


def test_a_function_of_the_data_is_judged_like_any_other(mine: Path) -> None:
    row = row_of("methods_of_mine:root")
    assert (row["success"], row["equivalent"], row["selected_equivalent"]) == (True, "yes", "yes")
    assert row["evaluated"] is row["evaluated_to_success"] is None  # it does not say
    row = row_of("methods_of_mine:line")
    assert (row["success"], row["equivalent"], row["evaluated"]) == (False, "no", 17)
    assert 0 < row["r2_test"] < 1
    assert row_of("methods_of_mine:root", noise=0.1)["rank"] == 1


def test_what_tools_print_is_no_answer(mine: Path) -> None:
    ended = run_benchmark(Plan("nguyen", "methods_of_mine:line", runs=1, ids=("NG-8",)), mine / "out")
    assert [row["evaluated"] for row in ended.rows] == ["17"]
    assert ended.failures == []


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("nowhere_at_all:Climb", "there is no module 'nowhere_at_all', which 'nowhere_at_all:Climb' names, in "),
        ("nowhere/at_all.py:Climb", "there is no file nowhere/at_all.py"),
        ("methods_of_mine:smal", "there is no 'smal' in methods_of_mine; did you mean 'small'?"),
        ("methods_of_mine:number", "number: 'methods_of_mine:number' is 3, not a subclass of Strategy"),
        ("methods_of_mine:Unfinished", "'methods_of_mine:Unfinished' returns no Strategy: .* missing 1 required"),
        ("methods_of_mine:edhie", "cannot be called 'edhie', since there is a method of that name"),
        (Method("draw", "hvae", strict=False, name="a/b"), "cannot be called 'a/b', since tables and files are named"),
        (lambda X, y, budget, rng: "x0", "cannot be imported by another process; define it at the top"),  # noqa: N803
    ],
)
def test_what_is_no_method(method: Any, message: str, mine: Path) -> None:
    with pytest.raises((ProblemError, SearchError), match=message):
        run_benchmark(Plan("nguyen", method), mine / "out")
    assert not (mine / "out").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Faulty", r"Faulty raised ValueError: nothing to begin with \(methods_of_mine.py, line 9\)"),
        ("wrong", "wrong: the answer is 3.0; it has to be a formula as a text"),
        ("unreadable", r"unreadable: .* at \d in 'sqrt\(x0'"),
    ],
)
def test_what_a_method_raises_names_it(name: str, message: str, mine: Path) -> None:
    with pytest.raises(ProblemError, match=message):
        row_of(f"methods_of_mine:{name}")


def test_a_function_takes_no_model(mine: Path) -> None:
    plan = Plan("nguyen", "methods_of_mine:root", ids=("NG-8",), settings=TrialSettings(model="nguyen-1"))
    with pytest.raises(ProblemError, match="root is a function of the data, so it has no use for the model nguyen-1"):
        run_benchmark(plan, mine / "out")


SCRIPT = """
from pathlib import Path
from edhie.bench import Plan, run_benchmark

def root(X, y, budget, rng):
    return "sqrt(x0)"

{guard}
ended = run_benchmark(Plan("nguyen", root, runs=1, ids=("NG-8",)), Path("out"))
print(len(ended.rows), *(failure.reason for failure in ended.failures))
"""


def test_a_script_with_its_method_in_it(mine: Path) -> None:
    """Workers import the script, which must not start the benchmark again."""
    guarded = SCRIPT.replace("\nended", "\n    ended").replace("\nprint", "\n    print")
    texts = {"guarded": guarded.format(guard="if __name__ == '__main__':"), "bare": SCRIPT.format(guard="")}
    told = {}
    for name, text in texts.items():
        (mine / f"{name}.py").write_text(text)
        told[name] = subprocess.check_output([sys.executable, f"{name}.py"], text=True, cwd=mine)
        (mine / "out").rename(mine / f"out of {name}")
    assert told["guarded"].split() == ["1"]
    assert told["bare"].startswith("0 root: ")
    assert "put that under: if __name__ == '__main__'" in told["bare"]
    assert len(read_rows_of(mine / "out of guarded" / "nguyen-root.csv")) == 1


def test_no_benchmark_within_a_worker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(WORKER, "1")
    with pytest.raises(ProblemError, match="every worker imports"):
        run_benchmark(Plan("nguyen", "hvar"), tmp_path)


def test_texts_of_objects() -> None:
    assert strategy_named(text_of(Draw)).name == "draw"
    for name in ("draw:", ":Draw", "climb"):
        with pytest.raises(SearchError, match="unknown strategy"):
            strategy_named(name)
