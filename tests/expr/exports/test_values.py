"""What is exported computes what edhie does: on any tree, in any of the languages, to the edges of the doubles.

Sums, products and quotients are rounded alike everywhere, so trees of them agree to the bit. Sines, exponentials and
powers differ in the last bit from one library to another, and a tree may make much of that: 1e-12 is asked for
wherever a shake of their results by 1e-15 does not move the value by a tenth of it, nor takes it away.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from edhie.evaluate.values import values
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.expr.exports import export
from edhie.expr.interpret import numpy_function
from edhie.expr.standard_libraries import everything
from edhie.expr.symbols import OPERATORS
from edhie.grammar import universal_grammar
from strategies import TAME_NUMBERS, exprs

Numbers = NDArray[np.float64]
Language = Callable[[Expr, Numbers], Numbers]
LIBRARY = everything(["x", "y"])
INEXACT = (
    "^", "cbrt", "exp", "log", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
    "sqrt",  # exact by IEEE 754, but torch's is not
)  # fmt: skip
EXACT = [name for name in LIBRARY.names if name not in INEXACT and name != "#"]
HOSTILE = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1e308, -1e308, 5e-324, -1e-310, np.inf, -np.inf, np.nan])
PAIRS = np.ascontiguousarray(np.array(np.meshgrid(HOSTILE, HOSTILE)).reshape(2, -1))
POINTS = np.random.default_rng(0).uniform(-3, 3, (2, 40))
EDGES_AND_POINTS = np.hstack([PAIRS, POINTS])
GCC = shutil.which("gcc")
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2"]


def by_python(exported: Expr, columns: Numbers) -> Numbers:
    function = run(export(exported, "python"))
    rows = zip(*arguments(exported, columns), strict=True) if exported.variables else [()] * columns.shape[1]
    found = [function(*row) for row in rows]
    assert all(type(value) is float for value in found)
    return np.array(found)


def by_numpy(exported: Expr, columns: Numbers) -> Numbers:
    return whole(run(export(exported, "numpy"))(*arguments(exported, columns)), columns)


def by_torch(exported: Expr, columns: Numbers) -> Numbers:
    import torch

    return whole(run(export(exported, "torch"))(*map(torch.from_numpy, arguments(exported, columns))).numpy(), columns)


def by_jax(exported: Expr, columns: Numbers) -> Numbers:
    with in_double_precision():
        return whole(run(export(exported, "jax"))(*arguments(exported, columns)), columns)


@contextmanager
def in_double_precision() -> Iterator[None]:
    """JAX computes with single precision unless it is told otherwise."""
    import jax

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        yield
    finally:
        jax.config.update("jax_enable_x64", before)


def run(text: str) -> Callable[..., Any]:
    names: dict[str, Any] = {}
    exec(text, names)
    return names["f"]


def arguments(expr: Expr, columns: Numbers) -> list[Numbers]:
    return [columns[LIBRARY.variables.index(name)].copy() for name in expr.variables]


def whole(found: object, columns: Numbers) -> Numbers:
    return np.array(np.broadcast_to(np.asarray(found, dtype=float), columns.shape[1:]))


def by_c(trees: Sequence[Expr], columns: Numbers, folder: Path) -> list[Numbers]:
    """All trees in one file: what two of them have in common, blocks between empty lines, stands there once."""
    texts = [export(expr, "c", name=f"f{k}") for k, expr in enumerate(trees)]
    blocks = dict.fromkeys(block for text in texts for block in text.strip().split("\n\n"))
    source, library = folder / "all.c", folder / "all.so"
    source.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
    command = [str(GCC), *FLAGS, "-shared", "-fPIC", "-o", str(library), str(source), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
    loaded = ctypes.CDLL(str(library))
    found = []
    for k, expr in enumerate(trees):
        function = loaded[f"f{k}"]
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * len(expr.variables)
        rows = zip(*arguments(expr, columns), strict=True) if expr.variables else [()] * columns.shape[1]
        found.append(np.array([function(*row) for row in rows]))
    return found


needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
needs_jax = pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")
LANGUAGES = [
    pytest.param(by_python, id="python"),
    pytest.param(by_numpy, id="numpy"),
    pytest.param(by_torch, id="torch", marks=needs_torch),
    pytest.param(by_jax, id="jax", marks=needs_jax),
]
needs_gcc = pytest.mark.skipif(GCC is None, reason="there is no gcc on this machine")

# -- what they must agree with --------------------------------------------------------


def by_edhie(expr: Expr, columns: Numbers) -> Numbers:
    return values(Forest.from_exprs([expr]), columns)[0]


def shaken(expr: Expr, columns: Numbers, rng: np.random.Generator) -> Numbers:
    """The values with the results of inexact operators moved by a relative 1e-15, up or down."""
    constants, stack = list(expr.constants), []
    with np.errstate(all="ignore"):
        for token in reversed(expr.tokens):
            symbol = expr.library[token]
            if symbol.arity:
                result = numpy_function(symbol)(*[stack.pop() for _ in range(symbol.arity)])
                moved = 1 + 1e-15 * rng.choice([-1, 0, 1], columns.shape[1]) if token in INEXACT else 1.0
                stack.append(result * moved)
            elif symbol.kind == "variable":
                stack.append(columns[LIBRARY.variables.index(token)])
            elif symbol.kind == "constant":
                stack.append(np.float64(constants.pop()))
            else:
                stack.append(np.float64(symbol.value if symbol.kind == "literal" else token))
    return whole(stack.pop(), columns)


def settled(expr: Expr, columns: Numbers, expected: Numbers) -> NDArray[np.bool_]:
    """Where rounding neither decides whether there is a value nor moves it much."""
    rng = np.random.default_rng(0)
    others = np.array([shaken(expr, columns, rng) for _ in range(8)])
    with np.errstate(all="ignore"):
        is_close = np.abs(others - expected).max(0) <= 1e-13 * np.abs(expected)
    return np.where(np.isfinite(expected), np.isfinite(others).all(0) & is_close, ~np.isfinite(others).any(0))


def check(expr: Expr, columns: Numbers, found: Numbers) -> int:
    """Raise where they do not agree; at how many points they could be asked to."""
    expected = by_edhie(expr, columns)
    asked = settled(expr, columns, expected)
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(np.isfinite(found)[asked], finite[asked], err_msg=str(expr))
    both = asked & finite
    np.testing.assert_allclose(found[both], expected[both], rtol=1e-12, atol=0, err_msg=str(expr))
    return int(asked.sum())


def drawn(n: int, library: SymbolLibrary = LIBRARY) -> list[Expr]:
    rng = np.random.default_rng(7)
    forest = universal_grammar(library).sample(n, rng, max_height=9)
    return list(Forest(library, forest.tokens, forest.offsets, rng.normal(0, 3, len(forest.values)).round(3)))


def is_normal(columns: Numbers) -> NDArray[np.bool_]:
    """By point: whether no number has lost digits for being tiny."""
    sizes = np.abs(columns)
    return ~((sizes > 0) & (sizes < np.finfo(float).tiny)).any(axis=0)


# -- the laws -------------------------------------------------------------------------

any_tree = exprs(LIBRARY, numbers=TAME_NUMBERS, values=st.floats(-3, 3), max_symbols=20)
exact_trees = exprs(LIBRARY, names=EXACT, values=st.floats(allow_nan=False, allow_infinity=False))


@pytest.mark.parametrize("language", LANGUAGES)
@given(expr=any_tree)
def test_any_tree_has_the_same_values(language: Language, expr: Expr) -> None:
    check(expr, POINTS, language(expr, POINTS))


@pytest.mark.parametrize("language", LANGUAGES)
@given(expr=exact_trees)
def test_trees_of_exact_operators_agree_to_the_bit(language: Language, expr: Expr) -> None:
    np.testing.assert_array_equal(language(expr, POINTS), by_edhie(expr, POINTS))


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_operator_at_the_edges(language: Language, name: str) -> None:
    expr = Expr(LIBRARY, (name, "x", "y")[: OPERATORS[name].arity + 1])
    expected = by_edhie(expr, PAIRS)
    # JAX takes numbers below the smallest normal one for 0
    asked = np.ones(len(expected), np.bool_) if language is not by_jax else is_normal(np.vstack([PAIRS, expected]))
    np.testing.assert_allclose(language(expr, PAIRS)[asked], expected[asked], rtol=1e-13)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("value", [0.0, -2.0, 3.5, 1e308, -1e-310])
def test_every_operator_of_numbers_alone(language: Language, name: str, value: float) -> None:
    if language is by_jax and not is_normal(np.array([[value]]))[0]:
        pytest.skip("JAX takes it for 0")
    arity = OPERATORS[name].arity
    expr = Expr(LIBRARY, (name, "c", "c")[: arity + 1], [value] * arity)
    np.testing.assert_allclose(language(expr, POINTS), by_edhie(expr, POINTS), rtol=1e-13)


@pytest.mark.parametrize("name", [name for name, symbol in OPERATORS.items() if symbol.arity == 2])
@pytest.mark.parametrize("operands", [("x", "c"), ("c", "x")], ids=" ".join)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_operator_of_a_variable_and_a_number(language: Language, operands: tuple[str, str], name: str) -> None:
    for value in (0.0, -2.0, 3.5):
        expr = Expr(LIBRARY, (name, *operands), [value])
        np.testing.assert_allclose(language(expr, POINTS), by_edhie(expr, POINTS), rtol=1e-13)


@needs_gcc
def test_c_has_the_same_values(tmp_path: Path) -> None:
    trees = drawn(600)
    asked = [check(expr, POINTS, found) for expr, found in zip(trees, by_c(trees, POINTS, tmp_path), strict=True)]
    assert sum(asked) > 0.9 * len(trees) * POINTS.shape[1]  # the law is of nearly all points, or says nothing


@needs_gcc
def test_c_at_the_edges_and_to_the_bit(tmp_path: Path) -> None:
    operators = [Expr(LIBRARY, (name, "x", "y")[: symbol.arity + 1]) for name, symbol in OPERATORS.items()]
    exact = drawn(300, SymbolLibrary.of([name for name in EXACT if name in OPERATORS], ["x", "y"], numbers=True))
    found = by_c(operators + exact, EDGES_AND_POINTS, tmp_path)
    for expr, ours in zip(operators, found, strict=False):
        np.testing.assert_allclose(ours, by_edhie(expr, EDGES_AND_POINTS), rtol=1e-13, err_msg=str(expr))
    for expr, ours in zip(exact, found[len(operators) :], strict=True):
        np.testing.assert_array_equal(ours, by_edhie(expr, EDGES_AND_POINTS), err_msg=str(expr))


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_tree_is_too_deep(language: Language) -> None:
    for tokens in (["+", "x", "neg"] * 700 + ["y"], ["-"] * 2000 + ["x"] + ["y"] * 2000):
        expr = Expr(LIBRARY, tokens)
        np.testing.assert_array_equal(language(expr, POINTS), by_edhie(expr, POINTS))


@needs_torch
def test_gradients_go_through_torch() -> None:
    import torch

    expr = parse("2.5*x^2*exp(-y/2)/(1.5 + cbrt(x)^4) + max(x, 0.5)^y - sin(2*pi*y)*log(x)", LIBRARY)
    function = run(export(expr, "torch"))
    points = [torch.rand(6, dtype=torch.float64, requires_grad=True) + 0.6 for _ in "xy"]
    assert torch.autograd.gradcheck(function, points)
    assert function(*(point.detach().float() for point in points)).dtype == torch.float32


@needs_jax
def test_jax_compiles_it() -> None:
    import jax

    with in_double_precision():
        for expr in drawn(60):
            function = jax.jit(run(export(expr, "jax")))
            check(expr, POINTS, whole(function(*arguments(expr, POINTS)), POINTS))


@needs_jax
def test_gradients_go_through_jax() -> None:
    import jax
    from jax.test_util import check_grads

    expr = parse("2.5*x^2*exp(-y/2)/(1.5 + cbrt(x)^4) + max(x, 0.5)^y - sin(2*pi*y)*log(x)", LIBRARY)
    function = run(export(expr, "jax"))
    points = np.random.default_rng(0).uniform(0.6, 1.6, (2, 6))
    with in_double_precision():
        check_grads(function, tuple(points), order=2, modes=["fwd", "rev"], rtol=1e-4)
        slope = jax.vmap(jax.grad(run(export(parse("x^3 + sin(2*x)", LIBRARY), "jax"))))
        np.testing.assert_allclose(slope(points[0]), 3 * points[0] ** 2 + 2 * np.cos(2 * points[0]), rtol=1e-12)
    assert function(*(point.astype(np.float32) for point in points)).dtype == np.float32
