"""The table of formats, names that a language has no room for, and what cannot be exported."""

from __future__ import annotations

import keyword
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.errors import ExpressionError
from edhie.expr import Expr, SymbolLibrary, parse
from edhie.expr.exports import FORMATS, export
from edhie.expr.exports.code import KEYWORDS, OWN_WORDS, PYTHON_WORDS, C, NameRules, renamed
from edhie.expr.exports.excel import EXCEL
from edhie.expr.exports.python import JAX, NUMPY, PYTHON, SYMPY, TORCH
from edhie.expr.mathml import MATHML
from edhie.expr.notation import LATEX, TEXT, TOKENS
from edhie.expr.symbols import OPERATORS
from edhie.expr.writer import Syntax, Template
from strategies import COLUMN_NAMES, GAUSS, HYPOT

CODE = ("python", "numpy", "torch", "jax", "c", "excel")
MISLEADING = [
    *COLUMN_NAMES, "lambda_", "double", "if", "class", "float", "math", "np", "torch", "_exp", "_divide", "exp", "f",
    "t0", "abs", "cube", "_", "__x", "_Bool", "x__1", "NAN", "CO2", "theta", "Θ", "ﬁ", "fi", "速度", "重量", "é", "y1",
    "gamma", "sympy", "jnp", "y", "__debug__",
]  # fmt: skip
GCC = shutil.which("gcc")


def columns_of(expr: Expr) -> dict[str, float]:
    return {name: 1.25 + i / 8 for i, name in enumerate(expr.variables)}


def sum_over(names: list[str]) -> Expr:
    """An expression that is another where two variables are taken for one another, or for a function."""
    operators = [name for name in ("+", "*", "/", "^5", "exp", "max") if name not in names]
    library = SymbolLibrary.of(operators, names, numbers=True)
    tokens = ["+"] * len(names) + ["/", "1", "^5", "exp" if "exp" in operators else "^5", names[0]]
    for i, name in enumerate(names):
        tokens += ["*", str(i + 2), name]
    return Expr(library, tokens)


def run(text: str, name: str = "f") -> Callable[..., Any]:
    names: dict[str, Any] = {}
    exec(text, names)
    return names[name]


@pytest.mark.parametrize("language", ["python", "numpy"])
@given(names=st.lists(st.sampled_from(MISLEADING), min_size=1, max_size=8, unique=True))
def test_any_names_can_be_exported(language: str, names: list[str]) -> None:
    expr = sum_over(names)
    columns = columns_of(expr)
    text = export(expr, language)
    assert float(run(text)(*columns.values())) == pytest.approx(float(expr(**columns)), rel=1e-12)
    for name in set(names) & set(keyword.kwlist):
        assert f"stands for {name}" in text


@given(names=st.lists(st.sampled_from(MISLEADING), min_size=1, max_size=8, unique=True))
def test_any_names_can_be_symbols_of_sympy(names: list[str]) -> None:
    expr = sum_over(names)
    space: dict[str, Any] = {}
    exec(export(expr, "sympy", target="outcome"), space)
    assert {symbol.name for symbol in space["outcome"].free_symbols} == set(names)


@pytest.mark.skipif(GCC is None, reason="there is no gcc on this machine")
@pytest.mark.parametrize("standard", ["c99", "gnu17"])
def test_any_names_can_be_c(standard: str, tmp_path: Path) -> None:
    expr = sum_over(MISLEADING)
    text = export(expr, "c")
    arguments = ", ".join(map(repr, columns_of(expr).values()))
    main = f'#include <stdio.h>\nint main(void) {{ printf("%.17g", f({arguments})); return 0; }}\n'
    (tmp_path / "a.c").write_text(text + main, encoding="utf-8")
    command = [str(GCC), f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-O2", "a.c", "-o", "a", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    found = subprocess.run([tmp_path / "a"], check=True, capture_output=True, text=True).stdout
    assert float(found) == pytest.approx(float(expr(**columns_of(expr))), rel=1e-12)
    for told in ("theta_ stands for θ", "double_ stands for double", "CO2_ stands for CO₂"):
        assert told in text
    assert all(line.isascii() for line in text.split("\n") if not line.startswith(("/*", " *")))


@given(st.lists(st.sampled_from(MISLEADING), unique=True))
def test_names_are_kept_where_they_fit_and_never_two_alike(names: list[str]) -> None:
    for rules in (NameRules(PYTHON_WORDS), NameRules(KEYWORDS | OWN_WORDS, is_ascii=True)):
        found = renamed(names, rules, taken={"f"})
        assert len({*found.values(), "f"}) == len(names) + 1
        assert all(rules.fits(name) for name in found.values())
        assert all(found[name] == name for name in names if rules.fits(name) and name != "f")


CODE_DIALECTS = [*(library.syntax for library in (PYTHON, NUMPY, JAX, TORCH)), C, EXCEL, SYMPY]


@pytest.mark.parametrize("syntax", [*CODE_DIALECTS, TEXT, TOKENS, LATEX, MATHML])
def test_every_dialect_has_every_operator(syntax: Syntax) -> None:
    assert syntax.operators.keys() == OPERATORS.keys()
    for _, rules in syntax.variants:
        assert rules.keys() <= OPERATORS.keys()


@pytest.mark.parametrize("syntax", CODE_DIALECTS)
def test_every_helper_that_templates_call_is_defined(syntax: Syntax) -> None:
    tables = [syntax.operators, *(rules for _, rules in syntax.variants)]
    called = {rule.function for table in tables for rule in table.values() if isinstance(rule, Template)}
    assert {name for name in called if name.startswith("_")} <= syntax.helpers.keys()


@pytest.mark.parametrize("format", CODE)
def test_what_cannot_be_computed_is_refused(format: str) -> None:
    with pytest.raises(ExpressionError, match=r"2 constants have no values.*with_constants"):
        export(parse("c*x + c"), format)
    with pytest.raises(ExpressionError, match="1 constant has no value"):
        export(parse("c*x + c").with_constants([1.0, None]), format)
    expr = parse("gauss(x)", SymbolLibrary.of([GAUSS], ["x"]))
    with pytest.raises(ExpressionError, match=r"'gauss'.*built-in operators"):
        export(expr, format)


def test_users_operators_are_no_sympy_text() -> None:
    with pytest.raises(ExpressionError, match=r"'gauss'.*SymPy"):
        export(parse("gauss(x)", SymbolLibrary.of([GAUSS], ["x"])), "sympy")


def test_formats_names_and_targets_are_checked() -> None:
    expr = parse("x + 1")
    with pytest.raises(ExpressionError, match="did you mean 'python'"):
        export(expr, "pyton")
    for name in ("my model", "lambda", "", "math", "_exp"):
        with pytest.raises(ExpressionError, match="try name="):
            export(expr, "python", name=name)
    for name in ("double", "main", "exp", "y1", "größe", "cube"):
        with pytest.raises(ExpressionError, match="try name="):
            export(expr, "c", name=name)
    with pytest.raises(ExpressionError, match="target"):
        export(expr, "python", target='y"""\nimport os')
    assert float(run(export(expr, "numpy", name="model"), "model")(2)) == 3


def test_helpers_are_written_only_where_used() -> None:
    text = export(parse("x^2 + 3*x/2 - 1"), "python")
    assert text == (
        'import math\n\n\ndef f(x):\n    """y = x^2 + 3*x/2 - 1"""\n    x = float(x)\n'
        "    return x * x + 3.0 * x / 2.0 - 1.0\n"
    )
    assert "def _exp" in export(parse("exp(x)"), "python")


def test_the_table_of_formats() -> None:
    expr = parse("2.5*x^2 - exp(-y/2)")
    assert list(FORMATS) == ["python", "numpy", "torch", "jax", "c", "excel", "latex", "sympy", "json"]
    for name, (write, extension, description) in FORMATS.items():
        assert export(expr, name) == write(expr, name="f", target="y")
        assert extension.startswith(".")
        assert description == description.strip()


def test_latex_is_an_equation() -> None:
    library = SymbolLibrary.of(["/", "+", HYPOT], ["theta_1", "x"], constant=True)
    expr = parse("x/theta_1 + c", library)
    assert export(expr, "latex", target="v_max") == r"v_{max} = \frac{x}{\theta_{1}} + c"
    assert "hypot" in export(parse("hypot(x, x)", library), "latex")


def test_lists_and_integers_are_taken() -> None:
    expr = parse("x^(-1) + y^2/3")
    np.testing.assert_allclose(run(export(expr, "numpy"))([1, 2, 4], 3), [4, 3.5, 3.25])
    assert run(export(expr, "python"))(2, 10**200) == np.inf


def test_nothing_heavy_is_imported() -> None:
    code = (
        "import sys; from edhie.expr import parse; from edhie.expr.exports import export\n"
        "for each in ('python', 'numpy', 'torch', 'jax', 'c', 'excel', 'latex', 'json'): export(parse('x + 1'), each)\n"
        "assert not {'torch', 'jax', 'sympy'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
