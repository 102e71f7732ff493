"""Python functions of whole arrays: NumPy, PyTorch, JAX."""

from __future__ import annotations

from dataclasses import replace

from edhie.expr.exports.python_text import (
    BY_NUMBER,
    POWER_HELPERS,
    POWERS,
    POWERS_OF_VARIABLES,
    SUMS_AND_PRODUCTS,
    Frame,
    python_function,
)
from edhie.expr.exports.writer import Dialect, Spelling, call, helped
from edhie.expr.expression import Expr

NUMPY_NAMES = {
    **{name: name for name in ("sqrt", "cbrt", "exp", "log", "log10", "abs", "sin", "cos", "tan")},
    **{name: name for name in ("sinh", "cosh", "tanh", "sign")},
    "^2": "square",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
}
NUMPY_NAMES_OF_TWO = {"^": "power", "min": "minimum", "max": "maximum"}

TORCH_NAMES = {
    **{name: name for name in ("sqrt", "exp", "log", "log10", "abs", "sin", "cos", "tan", "asin", "acos", "atan")},
    **{name: name for name in ("sinh", "cosh", "tanh")},
    "^2": "square",
}
TORCH_CBRT = """\
def _cbrt(a):
    return torch.copysign(torch.abs(a) ** (1 / 3), a)"""
TORCH_SIGN = """\
def _sign(a):
    return torch.where(torch.isnan(a), a, torch.sign(a))"""


def _like_numpy(module: str, wrap: str) -> Dialect:
    operators: dict[str, Spelling] = {
        **SUMS_AND_PRODUCTS,
        **POWERS,
        **{name: call(f"{module}.{spelled}") for name, spelled in NUMPY_NAMES.items()},
        **{name: call(f"{module}.{spelled}", arity=2) for name, spelled in NUMPY_NAMES_OF_TWO.items()},
    }
    return Dialect(
        operators,
        literals={"pi": f"{module}.pi", "e": f"{module}.e"},
        of_variable=POWERS_OF_VARIABLES,
        by_number=BY_NUMBER,
        wrap=wrap,
        assign="{0} = {1}",
        helpers=POWER_HELPERS,
    )


NUMPY = _like_numpy("np", wrap="np.float64({0})")
JAX = _like_numpy("jnp", wrap="jnp.asarray({0})")
TORCH = Dialect(
    {
        **SUMS_AND_PRODUCTS,
        **POWERS,
        **{name: call(f"torch.{spelled}") for name, spelled in TORCH_NAMES.items()},
        # of 2.5 / x torch makes 2.5 * (1 / x), which is rounded twice
        "/": replace(SUMS_AND_PRODUCTS["/"], wraps_all=True),
        "^": call("torch.pow", arity=2),
        "min": call("torch.minimum", arity=2, wraps_all=True),
        "max": call("torch.maximum", arity=2, wraps_all=True),
        "cbrt": helped("_cbrt"),
        "sign": helped("_sign"),
    },
    literals={"pi": "torch.pi", "e": "torch.e"},
    of_variable=POWERS_OF_VARIABLES,
    by_number=BY_NUMBER,
    # a tensor without dimensions takes on the precision of those with some
    wrap="torch.tensor({0}, dtype=torch.float64)",
    assign="{0} = {1}",
    helpers={**POWER_HELPERS, "_cbrt": TORCH_CBRT, "_sign": TORCH_SIGN},
)

NUMPY_FRAME = Frame(
    "NumPy",
    "import numpy as np",
    frozenset({"np", "float"}),
    convert="np.asarray({0}, dtype=float)",
    context='with np.errstate(all="ignore"):',
)
JAX_FRAME = Frame("JAX", "import jax.numpy as jnp", frozenset({"jax", "jnp"}), convert="jnp.asarray({0})")
TORCH_FRAME = Frame("PyTorch", "import torch", frozenset({"torch"}), convert="torch.as_tensor({0})")


def to_numpy(expr: Expr, *, name: str, target: str) -> str:
    """A Python function of NumPy arrays, or of anything that NumPy makes arrays of."""
    return python_function(expr, NUMPY, NUMPY_FRAME, name=name, target=target)


def to_jax(expr: Expr, *, name: str, target: str) -> str:
    """A Python function of JAX arrays, to be differentiated and compiled as any other."""
    return python_function(expr, JAX, JAX_FRAME, name=name, target=target)


def to_torch(expr: Expr, *, name: str, target: str) -> str:
    """A Python function of PyTorch tensors, which gradients go through."""
    return python_function(expr, TORCH, TORCH_FRAME, name=name, target=target)
