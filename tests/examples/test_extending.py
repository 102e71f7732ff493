"""The examples of extending edhie do what they say: the law is found, the budget kept, a stopped search goes on."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edhie import Evaluator, equivalent
from edhie.bench.execute import execute
from edhie.bench.own_methods import resolve_method
from edhie.bench.trial import Trial
from edhie.events import Event, Improved
from edhie.generators import Generator, load
from edhie.search import Budget, run

EXTENDING = Path(__file__).parents[2] / "examples" / "extending"


def script(name: str, run_name: str = "__main__") -> dict[str, Any]:
    return runpy.run_path(str(EXTENDING / f"{name}.py"), run_name=run_name)


def test_own_operator_is_in_the_equation_that_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    model = script("own_operator")["model"]
    found = model.best_
    # flow = 0.35*(es(leaf) - humidity*es(air)), however it is written
    assert found.expr.tokens.count("es") == 2
    assert [abs(value) for value in found.uncertainty.values] == pytest.approx([0.35], abs=0.001)
    assert found.loss < 0.03
    assert model.discoveries_[0].result.counts.executed <= 500
    told = dict(line.split(":", 1) for line in capsys.readouterr().out.splitlines())
    assert "es(leaf)" in told["found"]
    assert "es(air)" in told["found"]
    assert "e_s" in told["LaTeX"]
    assert "243.5" in told["SymPy"]
    assert told["with"].count("±") == 1


def test_own_generator_satisfies_the_interface() -> None:
    oscillations = script("own_generator")["Oscillations"]()
    assert isinstance(oscillations, Generator)
    drawn, again = (oscillations.sample(50, np.random.default_rng(0)) for _ in range(2))
    assert [str(each) for each in drawn] == [str(each) for each in again]
    assert len(drawn) == 50


def test_own_generator_finds_what_the_general_one_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    script("own_generator")
    own, general = capsys.readouterr().out.splitlines()
    assert own.startswith("oscillations: 60 executed")
    assert general.startswith("general-1: 60 executed")
    r2 = [float(re.search(r"R² = (-?[\d.]+)", line)[1]) for line in (own, general)]  # type: ignore[index]
    assert r2[0] > 0.99 > 0.5 > r2[1]
    free = re.sub(r"-?\d+(\.\d+)?", "c", own.split("angle = ")[1])
    assert equivalent(free, "c + c*exp(c*t)*cos(c*t)").verdict == "yes"


def test_own_search_beats_drawing_within_the_same_budget(capsys: pytest.CaptureFixture[str]) -> None:
    script("own_search", "example")["compare"](runs=3)
    told = capsys.readouterr().out
    assert "draw found it in 0 of 3 runs" in told
    assert "climb found it in 3 of 3 runs" in told
    assert all(int(n.replace(",", "")) <= 10_000 for n in re.findall(r"([\d,]+) executed", told))


@pytest.mark.parametrize(("problem", "is_found"), [("NG-1", True), ("NG-5", False), ("NG-8", True), ("NG-9", False)])
def test_own_tool_is_run_on_the_benchmarks(problem: str, is_found: bool) -> None:
    method = resolve_method(f"{EXTENDING / 'own_tool.py'}:sparse")
    row = execute(Trial("nguyen", problem, method, 0)).row
    assert (row["method"], row["success"], row["equivalent"]) == ("sparse", is_found, "yes" if is_found else "no")
    assert 1 <= row["evaluated"] <= 5


@pytest.fixture(name="task")
def make_task() -> tuple[Generator, Evaluator]:
    generator = load("nguyen-1")
    x = np.linspace(0.1, 4, 60)
    return generator, Evaluator(generator.library, x[:, None], np.sin(x) + np.exp(x) / 7)


def test_own_search_goes_on_where_it_was_stopped(tmp_path: Path, task: tuple[Generator, Evaluator]) -> None:
    climb, (generator, evaluator) = script("own_search", "example")["Climb"], task
    library, data = evaluator.library, (evaluator.data.columns.T, evaluator.data.y)
    whole = run(generator, evaluator, strategy=climb(), budget=Budget(4_000), rng=3)
    for evaluations, resume in ((1_500, False), (4_000, True)):
        parts = run(
            generator, Evaluator(library, *data), strategy=climb(), budget=Budget(evaluations), rng=3,
            folder=tmp_path, resume=resume,
        )  # fmt: skip
    assert parts.counts.executed == whole.counts.executed == 4_000
    assert np.array_equal(parts.candidates.errors, whole.candidates.errors)


def test_own_search_can_be_interrupted(task: tuple[Generator, Evaluator]) -> None:
    told: list[Event] = []

    def stop(event: Event) -> None:
        told.append(event)
        if sum(isinstance(each, Improved) for each in told) == 5 and isinstance(event, Improved):
            raise KeyboardInterrupt

    result = run(*task, strategy=script("own_search", "example")["Climb"](), budget=Budget(10**9), on_event=stop)
    assert result.stopped == "interrupted"
    assert result.strategy == "climb"
