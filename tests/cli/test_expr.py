"""`edhie expr` and `edhie compare`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def test_every_notation(edhie: Callable[..., Any]) -> None:
    code, out, err = edhie("expr", "3*x0^2 + sin(x1)/c")
    assert (code, err) == (0, "")
    assert out.splitlines()[:7] == [
        "infix    3*x0^2 + sin(x1)/c",
        "prefix   + * 3 ^2 x0 / sin x1 c",
        "postfix  3 x0 ^2 * x1 sin c / +",
        r"LaTeX    3 \cdot x_{0}^{2} + \frac{\sin\left(x_{1}\right)}{c}",
        "SymPy    3*x0**2 + sin(x1)/c0",
        "size     9 nodes, height 4",
        "",
    ]
    assert "sin" in out.splitlines()[-3]


def test_one_node(edhie: Callable[..., Any]) -> None:
    assert "size     1 node, height 1\n" in edhie("expr", "x").out


def test_long_formulas_stay_on_their_lines(edhie: Callable[..., Any]) -> None:
    formula = " + ".join(f"x{i}" for i in range(100))
    assert edhie("expr", formula).out.splitlines()[0] == f"infix    {formula}"


def test_a_leading_minus_is_no_option(edhie: Callable[..., Any]) -> None:
    assert edhie("expr", "-x + 1").out.startswith("infix    -x + 1\n")
    assert edhie("expr", "--simplify", "-x - x").out.startswith("infix    -2*x\n")
    assert edhie("compare", "-x", "-1*x").out.startswith("equivalent: yes\n")


def test_latex(edhie: Callable[..., Any]) -> None:
    assert edhie("expr", "--latex", r"\frac{x_{1}}{2}").out.startswith("infix    x1/2\n")


def test_simplify(edhie: Callable[..., Any]) -> None:
    assert edhie("expr", "sin(x)^2 + cos(x)^2 + x + x", "--simplify").out.startswith("infix    2*x + 1\n")


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_figure(suffix: str, edhie: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / f"[bold]tree.{suffix}"
    code, out, err = edhie("expr", "x + sin(y)", "--figure", path)
    assert (code, err) == (0, "")
    assert out.endswith(f"tree drawn in {path}\n")
    assert path.stat().st_size > 1000


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [("x + x", "2*x", "yes"), ("(x + 1)^2", "x^2 + 2*x + 1", "yes"), ("x", "y", "no"), ("x^2", "x^2 + 0.001", "no")],
)
def test_compare(first: str, second: str, verdict: str, edhie: Callable[..., Any]) -> None:
    code, out, err = edhie("compare", first, second)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == f"equivalent: {verdict}"
    assert lines[1].startswith("  ")
    assert lines[-1].startswith("edit distance ")


def test_compare_tells_of_domains_and_distances(edhie: Callable[..., Any]) -> None:
    out = edhie("compare", "x*y/y", "x").out
    assert "equivalent: yes" in out
    assert edhie("compare", "x + y", "x + sin(y)").out.endswith("edit distance 1, tree distance 1\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["expr", "x +"], "the expression ends where an operand should be at 3 in 'x +'\n  x +\n     ^"),
        (["expr", ""], "an expression is missing"),
        (["expr", "sinn(x)"], "unknown function 'sinn'; did you mean 'sin'?"),
        (["expr", "x[0]"], "unexpected character '['"),
        (["expr", "--latex", r"\frac{1}{"], "this '{' is never closed at 8"),
        (["compare", "x", "y +"], "the expression ends where an operand should be"),
        (["compare", "x", "(" * 3000], ""),
        (["expr", "x", "--figure", "nowhere/at/all.png"], "cannot draw into nowhere/at/all.png: "),
        (["expr", "x", "--figure", "tree.exe"], "cannot draw into tree.exe: Format 'exe' is not supported"),
        (["expr", "x", "--figure", "/"], "cannot draw into /: "),
    ],
    ids=lambda each: " ".join(each)[:40] if isinstance(each, list) else "",
)
def test_faults(arguments: list[str], message: str, edhie: Callable[..., Any]) -> None:
    result = edhie(*arguments)
    assert result.code == 1
    assert result.err.startswith(f"error: {message}")


def test_a_mistyped_option(edhie: Callable[..., Any]) -> None:
    assert edhie("expr", "x", "--simplfy").code == 2


def test_figures_without_a_suffix_are_png(edhie: Callable[..., Any], tmp_path: Path) -> None:
    assert edhie("expr", "x", "--figure", tmp_path / "tree").out.endswith(f"tree drawn in {tmp_path / 'tree.png'}\n")
    assert (tmp_path / "tree.png").exists()


@pytest.mark.parametrize("formula", ["9^9^9^9", "1/0", "log(-1)", "sqrt(-x^2)", "x^(1e300)", "2^10000000", "0/0"])
def test_odd_values_are_shown_all_the_same(formula: str, edhie: Callable[..., Any]) -> None:
    code, out, err = edhie("expr", formula)
    assert (code, err) == (0, "")
    assert len(out.splitlines()) > 7
