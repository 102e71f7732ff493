"""SymPy's processes: in order, in time, back after a death, and gone when closed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from edhie.errors import EdhieError
from edhie.expr import parse
from edhie.expr import sympy_pool as module
from edhie.expr.standard_libraries import everything
from edhie.expr.sympy_pool import ENDED, TIMED_OUT, SympyPool, SympyWorker, shared_worker
from edhie.expr.sympy_tasks import expr_from, request

LIBRARY = everything(["x", "y"])
HOSTILE = "(x + y + 1)^1000"  # minutes of expanding
SLACK = 5.0


def tidy(text: str) -> dict[str, Any]:
    return request("tidy", [parse(text, LIBRARY)])


def hostile() -> dict[str, Any]:
    return request("prove_zero", [parse(HOSTILE, LIBRARY), parse("1", LIBRARY)], constants=[])


def text_of(answer: dict[str, Any]) -> str:
    return str(expr_from(answer, LIBRARY))


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def pid_of(worker: SympyWorker) -> int:
    assert worker._process is not None
    return worker._process.pid


def pids_of(pool: SympyPool) -> list[int]:
    return [process.pid for each in pool._workers if (process := each._process) is not None]


@pytest.fixture(scope="module")
def worker() -> Iterator[SympyWorker]:
    worker = SympyWorker()
    yield worker
    worker.close()


def test_one_question_one_answer(worker: SympyWorker) -> None:
    assert text_of(worker.ask(tidy("x + x"), 20)) == "2*x"
    first = pid_of(worker)
    assert text_of(worker.ask(tidy("c*x*2"), 20)) == "c*x"
    assert pid_of(worker) == first


def test_the_time_limit_holds_and_the_next_question_is_answered(worker: SympyWorker) -> None:
    worker.ask(tidy("x"), 20)
    before = pid_of(worker)
    start = time.monotonic()
    assert worker.ask(hostile(), 0.5) == TIMED_OUT
    assert time.monotonic() - start < 0.5 + SLACK
    assert not is_alive(before)
    assert text_of(worker.ask(tidy("x + x"), 20)) == "2*x"
    assert worker.ask(tidy("x + x"), 0) == TIMED_OUT
    assert text_of(worker.ask(tidy("y + y"), 20)) == "2*y"


def test_a_killed_process_is_an_error_and_is_replaced(worker: SympyWorker) -> None:
    worker.ask(tidy("x"), 20)
    os.kill(pid_of(worker), signal.SIGKILL)
    worker._process.wait()  # type: ignore[union-attr]
    assert text_of(worker.ask(tidy("x + x"), 20)) == "2*x"
    killer = threading.Timer(0.5, os.kill, (pid_of(worker), signal.SIGKILL))
    killer.start()
    start = time.monotonic()
    assert worker.ask(hostile(), 60) == ENDED  # not `timed out`: no time limit was reached
    assert time.monotonic() - start < 20
    assert text_of(worker.ask(tidy("x + x"), 20)) == "2*x"


def test_bad_questions_are_answered_with_errors(worker: SympyWorker) -> None:
    worker.ask(tidy("x"), 20)
    before = pid_of(worker)
    assert "KeyError" in worker.ask({}, 20)["error"]
    assert "KeyError" in worker.ask({**tidy("x"), "task": "dance"}, 20)["error"]
    assert "error" in worker.ask({**tidy("x"), "exprs": [[["+"], []]]}, 20)
    assert "error" in worker.ask(tidy("min(x, sqrt(-1))"), 20)
    assert "error" in worker.ask(request("tidy", [parse("9^9^9^9", LIBRARY)]), 20)
    assert pid_of(worker) == before


def test_an_interrupted_question_leaves_no_answer_behind(worker: SympyWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(process: Any, message: dict[str, Any]) -> None:
        print(json.dumps(message), file=process.stdin, flush=True)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module, "ask_process", interrupted)
        with pytest.raises(KeyboardInterrupt):
            worker.ask(tidy("x + 1"), 20)
    assert text_of(worker.ask(tidy("y + y"), 20)) == "2*y"


def test_threads_share_a_worker(worker: SympyWorker) -> None:
    with ThreadPoolExecutor(4) as threads:
        answers = threads.map(lambda n: text_of(worker.ask(tidy(f"x + {n}*x"), 20)), range(1, 9))
        assert list(answers) == [f"{n + 1}*x" for n in range(1, 9)]
    assert shared_worker() is shared_worker()


def test_noise_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A start-up file that prints, and SymPy functions that print: neither gets between the answers."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nprint('hello')\nprint('warning', file=sys.stderr)\n"
        "import sympy\nplain = sympy.factor_terms\n"
        "sympy.factor_terms = lambda value: (print('{}'), print('x' * 100_000, file=sys.stderr), plain(value))[-1]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    worker = SympyWorker()
    try:
        assert [text_of(worker.ask(tidy(text), 30)) for text in ("x + x", "y + y")] == ["2*x", "2*y"]
    finally:
        worker.close()


def test_a_process_that_cannot_start_is_an_error_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(EdhieError, match="did not start"):
        SympyWorker().ask(tidy("x"), 20)


def test_a_pool_keeps_order_and_survives() -> None:
    questions = [tidy(f"x + {n}*x") for n in range(1, 13)]
    questions[3] = hostile()
    with SympyPool(2, time_limit=1.0) as pool:
        answers = pool.map(iter(questions))
        found = [next(answers) for _ in range(6)]
        pids = pids_of(pool)
        os.kill(pids[0], signal.SIGKILL)
        found += answers
        pids += pids_of(pool)
    assert len(found) == len(questions)
    assert found[3] == TIMED_OUT
    texts = {n: text_of(answer) for n, answer in enumerate(found) if "error" not in answer}
    assert texts == {n: f"{n + 2}*x" for n in texts}
    assert len(texts) == 11  # a question whose process was killed is asked again
    assert not any(is_alive(pid) for pid in pids)


def test_closing_in_the_middle_leaves_nothing_behind() -> None:
    pool = SympyPool(2, time_limit=60)
    answers = pool.map(hostile() for _ in range(12))
    found: list[dict[str, Any]] = []
    puller = threading.Thread(target=lambda: found.extend(answers))
    puller.start()
    deadline = time.monotonic() + 30
    while len(pids := pids_of(pool)) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    start = time.monotonic()
    pool.close()
    assert time.monotonic() - start < SLACK
    puller.join(SLACK)
    assert not puller.is_alive()
    assert found == [ENDED] * 12
    assert not any(is_alive(pid) for pid in pids)
    assert pids_of(pool) == []


def test_a_closed_pool_answers_that_it_ended() -> None:
    pool = SympyPool(1, time_limit=60)
    pool.close()
    assert list(pool.map([tidy("x"), tidy("y")])) == [ENDED, ENDED]
    pool.close()


SCRIPT = """
import os
from edhie.expr import parse
from edhie.expr.equivalence import simplify
from edhie.expr.standard_libraries import everything
from edhie.expr.sympy_pool import SympyPool, shared_worker
from edhie.expr.sympy_tasks import expr_from, request

library = everything(["x"])
with SympyPool(1, 30) as pool:
    for answer in pool.map([request("tidy", [parse("x + x", library)])]):
        print(expr_from(answer, library))
print(simplify(parse("sin(x)^2 + cos(x)^2", library)), flush=True)
child = os.fork()
if child == 0:
    print(simplify(parse("cos(x)^2 + sin(x)^2 + x", library)), flush=True)
    raise SystemExit
os.waitpid(child, 0)
print(simplify(parse("x + x + x", library)), flush=True)
print(shared_worker()._process.pid)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the script forks")
def test_a_plain_script_in_a_folder_of_traps(tmp_path: Path) -> None:
    """No `if __name__ == "__main__"`, modules of the standard library's names beside it, and a fork."""
    for name in ("signal.py", "json.py", "sympy.py", "resource.py"):
        (tmp_path / name).write_text("raise SystemExit('the wrong module')")
    (tmp_path / "elsewhere").mkdir()
    script = tmp_path / "elsewhere" / "script.py"
    script.write_text(SCRIPT)
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=os.environ | {"PYTHONPATH": paths},
        capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    *lines, pid = done.stdout.split("\n")[:-1]
    assert done.returncode == 0, done.stderr
    assert lines == ["2*x", "1", "x + 1", "3*x"]
    assert not is_alive(int(pid))
