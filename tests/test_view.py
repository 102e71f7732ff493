"""What a search looks like: live on a terminal, plain lines elsewhere, and never in its way."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from rich.console import Console

from edhie import view as search_view
from edhie.events import Finished, Improved, Progressed
from edhie.expr import Forest, parse
from edhie.results import Candidates, Front
from edhie.search import Budget, run
from edhie.view import SearchView, duration, stopped
from searches import HVAE, assert_same, evaluator

BUDGET = Budget(600)


def shown(*, terminal: bool, width: int = 100) -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=width, color_system=None)
    with SearchView(console) as view:
        watched = run(HVAE, evaluator(), strategy="draw", budget=BUDGET, on_event=view)
    assert_same(watched, run(HVAE, evaluator(), strategy="draw", budget=BUDGET))
    return out.getvalue()


def test_plain_lines_where_there_is_no_terminal() -> None:
    lines = shown(terminal=False).splitlines()
    assert lines[0] == "searching (draw, seed 0) until 600 expressions"
    assert lines[-1].startswith("stopped by evaluations after 600 expressions, ")
    improved = [line for line in lines if "  error " in line]
    errors = [float(line.split("error")[1].split()[0]) for line in improved]
    assert errors == sorted(errors, reverse=True)
    assert "\x1b" not in "".join(lines)


def test_progress_in_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_view, "LINE_SECONDS", 0.0)
    assert any("600 executed" in line and "100%" in line for line in shown(terminal=False).splitlines())


@pytest.mark.parametrize("width", [20, 40, 100])
def test_a_live_view_shows_best_front_rate_and_time_left(width: int) -> None:
    text = shown(terminal=True, width=width)
    if width == 100:
        for word in ("600 executed", "100%", "/s", "left", "complexity", "expression", "error"):
            assert word in text


def live(front: Front, width: int) -> list[str]:
    """The table in the last picture of a live view, by lines."""
    out = io.StringIO()
    with SearchView(Console(file=out, force_terminal=True, width=width, color_system=None), target="T") as view:
        view(Progressed(600, 0, 0, 1.0, front.errors[-1], front, 600.0, 0.5, 1.0))
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "\n", out.getvalue()).splitlines()
    lines = [line.strip() for line in lines if line.strip()]
    return lines[max(k for k, line in enumerate(lines) if line.startswith("complexity")) :]


def test_the_clock_of_a_live_view_goes_on_without_events(monkeypatch: pytest.MonkeyPatch) -> None:
    front = run(HVAE, evaluator(), strategy="draw", budget=BUDGET).front
    now, out = [100.0], io.StringIO()
    monkeypatch.setattr(search_view.time, "monotonic", lambda: now[0])
    with SearchView(Console(file=out, force_terminal=True, width=200, color_system=None)) as view:
        view(Progressed(600, 0, 0, 3.0, front.errors[-1], front, 600.0, 0.5, 1.0))
        now[0] += 14
        assert view._live is not None
        assert view._live.auto_refresh
        view._live.refresh()  # as rich does each second
    assert re.findall(r"([\d.]+) s · 600 executed", out.getvalue())[-1] == "17.0"


def test_errors_are_seen_whatever_the_length_of_expressions() -> None:
    front = run(HVAE, evaluator(), strategy="draw", budget=BUDGET).front
    title, *rows = live(front, 46)
    assert title.split() == ["complexity", "error", "T", "="]
    assert len(rows) == min(len(front), search_view.SHOWN)
    assert rows[-1].split()[:2] == [f"{front.complexities[-1]:g}", f"{front.errors[-1]:.4g}"]


def test_a_long_front_shows_where_the_error_falls() -> None:
    model = Forest.from_exprs([parse(" + ".join(["x0"] * k), HVAE.library) for k in range(1, 21)])
    errors = np.array([10.0, 9.9, 9.8, 1.0, *np.linspace(0.99, 0.8, 16)])
    front = Front(Candidates(model, errors, model.sizes.astype(float), np.arange(20)))
    shown = [line.split()[1] for line in live(front, 60)[1:]]
    assert len(shown) == search_view.SHOWN
    assert {"1", "0.8"} <= set(shown)


def test_progress_shows_what_would_be_chosen() -> None:
    out = io.StringIO()
    front = run(HVAE, evaluator(), strategy="draw", budget=BUDGET).front
    short, long = front[0], front[len(front) - 1]
    assert short.complexity < long.complexity
    with SearchView(Console(file=out, width=200), target="T") as view:
        view(Improved(long.expr, long.error, long.complexity, 7, 1.0, chosen=short))
        view(Improved(long.expr, long.error / 2, long.complexity, 9, 1.0, chosen=short))  # the same is told once
        view(Improved(long.expr, long.error / 3, long.complexity, 11, 1.0))
        view(Progressed(12, 0, 0, 1.0, long.error, front, 600.0, 0.5, 1.0, chosen=short))  # the choice has changed
    first, second, third = out.getvalue().splitlines()
    assert third.split()[0] == "12"
    assert first.split() == ["7", "error", f"{short.error:.4g}", *f"{short.expr:.4g}".split()]
    assert second.endswith(f"{long.expr:.4g}")
    live = io.StringIO()
    with SearchView(Console(file=live, force_terminal=True, width=200, color_system=None), target="T") as view:
        view(Progressed(600, 0, 0, 1.0, long.error, front, 600.0, 0.5, 1.0, chosen=short))
    assert f"now: T = {short.expr:.4g}, error {short.error:.4g}" in live.getvalue()


def test_quiet_shows_nothing() -> None:
    out = io.StringIO()
    with SearchView(Console(file=out, force_terminal=True), is_quiet=True) as view:
        run(HVAE, evaluator(), strategy="draw", budget=Budget(100), on_event=view)
    assert out.getvalue() == ""


def test_the_cursor_comes_back_after_an_error() -> None:
    out = io.StringIO()
    with pytest.raises(KeyError), SearchView(Console(file=out, force_terminal=True)):
        raise KeyError
    assert out.getvalue().endswith("\x1b[?25h") or "\x1b[?25h" in out.getvalue()


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0.0 s"), (8.24, "8.2 s"), (185.2, "3 min 05 s"), (7800, "2 h 10 min"), (59.99, "60.0 s")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_an_early_end_is_told_in_words() -> None:
    out = io.StringIO()
    with SearchView(Console(file=out, width=200)) as view:
        view(Finished("patience", 1200, 8.2, idle=120))
    assert out.getvalue() == "stopped early: no better equation for 120 rounds, after 1,200 expressions, 8.2 s\n"
    assert stopped("patience") == "stopped early: no better equation for many rounds,"  # of a folder


def test_limits_are_told() -> None:
    out = io.StringIO()
    with SearchView(Console(file=out, width=200)) as view:
        run(HVAE, evaluator(), strategy="draw", budget=Budget(5, 90.0, 0.25), on_event=view)
        used = evaluator()
        used.score(HVAE.sample(3, np.random.default_rng(0)))
        run(HVAE, used, strategy="draw", budget=Budget(None, target_error=1e9), on_event=view)
    assert "until 5 expressions or 1 min 30 s or error 0.25\n" in out.getvalue()
    assert "going on after 3" in out.getvalue()
