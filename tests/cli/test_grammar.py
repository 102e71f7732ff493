"""`edhie grammar`: list, show, sample."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from edhie.expr import parse
from edhie.grammar import PCFG, load, names


def test_list(edhie: Callable[..., Any]) -> None:
    code, out, err = edhie("grammar", "list")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines()[1:]]
    assert [row[0] for row in rows] == names()
    assert rows[0] == ["ae", str(len(load("ae").rules)), "1.000", f"{load('ae').expected_size():.1f}"]
    assert ["nguyen-1", "0.302", "infinite"] in [[row[0], *row[2:]] for row in rows]


@pytest.mark.parametrize("name", names())
def test_show_prints_what_can_be_read_back(name: str, edhie: Callable[..., Any]) -> None:
    code, out, err = edhie("grammar", "show", name)
    assert (code, err) == (0, "")
    rules, *notes = out.split("\n\n")
    assert PCFG.parse(rules).rules == load(name).rules
    assert ("note: the grammar is supercritical" in out) == load(name).is_supercritical
    assert all(len(note.strip().splitlines()) == 1 for note in notes if note.strip())  # not broken by a width


def test_sample(edhie: Callable[..., Any]) -> None:
    code, out, err = edhie("grammar", "sample", "nguyen-2", "-n", 50, "--max-height", 4, "--seed", 3)
    assert (code, err) == (0, "")
    exprs = [parse(line, load("nguyen-2").library) for line in out.splitlines()]
    assert len(exprs) == 50
    assert max(expr.height for expr in exprs) <= 4
    again = ("grammar", "sample", "nguyen-2", "--count", 50, "--max-height", 4)
    assert edhie(*again, "--seed", 3).out == out
    assert edhie(*again, "--seed", 4).out != out


def test_long_expressions_stay_on_their_lines(edhie: Callable[..., Any]) -> None:
    out = edhie("grammar", "sample", "gvae-ae", "-n", 200, "--max-size", 1000).out
    assert len(out.splitlines()) == 200
    assert max(map(len, out.splitlines())) > 200


def test_a_file(edhie: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "[odd] name.pcfg"
    path.write_text("E -> 'tanh' '(' E ')' [0.5] | 'speed' [0.5]\n", encoding="utf-8")
    assert edhie("grammar", "sample", path, "-n", 1, "--max-size", 1).out == "speed\n"
    path.write_text("E -> E [1.0]\n", encoding="utf-8")
    code, out, err = edhie("grammar", "show", path)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {path}, ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "nguyen1"], "unknown grammar 'nguyen1'; did you mean 'nguyen-1'?"),
        (["show", "nowhere/a.pcfg"], "there is no grammar file 'nowhere/a.pcfg'"),
        (["show", "/"], "the grammar file '/' cannot be read"),
        (["sample", "[bold]"], "unknown grammar '[bold]'; there are ae, "),
    ],
    ids=" ".join,
)
def test_faults(arguments: list[str], message: str, edhie: Callable[..., Any]) -> None:
    code, out, err = edhie("grammar", *arguments)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {message}")


def test_limits_that_nothing_is_within(edhie: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "high.pcfg"
    path.write_text("E -> 'sin' '(' 'x0' ')' [1.0]\n", encoding="utf-8")
    code, out, err = edhie("grammar", "sample", path, "--max-height", 1)
    assert (code, out) == (1, "")
    assert err == "error: no expression has height 1: the lowest has 2; raise max_height\n"
