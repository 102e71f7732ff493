"""Python functions of whole arrays: NumPy, PyTorch, JAX."""

from __future__ import annotations

from dataclasses import replace

from edhie.expr.exports.code import COMMON, calls
from edhie.expr.exports.python import ARITHMETIC, PythonLibrary, python_syntax
from edhie.expr.symbols import FUNCTIONS, OPERATORS

NUMPY_FUNCTIONS = {name: str(OPERATORS[name].numpy) for name in (*FUNCTIONS, "^2", "^")}
TORCH_FUNCTIONS = COMMON | {"abs": "abs", "^2": "square", "^": "pow"}
TORCH_HELPERS = {
    "_cbrt": "def _cbrt(a):\n    return torch.copysign(torch.abs(a) ** (1 / 3), a)",
    "_sign": "def _sign(a):\n    return torch.where(torch.isnan(a), a, torch.sign(a))",
}
# torch computes 2.5 / x as 2.5 * (1 / x), which is rounded twice, and has no minimum of a tensor and a number
TORCH_OF_TENSORS = {"/": ARITHMETIC["/"]} | calls({"min": "minimum", "max": "maximum"}, "torch.")

NUMPY = PythonLibrary(
    "NumPy",
    "import numpy as np",
    python_syntax("np", calls(NUMPY_FUNCTIONS, "np."), {}, wrap="np.float64({0})"),
    words=frozenset({"np", "float"}),
    convert="np.asarray({0}, dtype=float)",
    context='with np.errstate(all="ignore"):',
)
JAX = PythonLibrary(
    "JAX",
    "import jax.numpy as jnp",
    python_syntax("jnp", calls(NUMPY_FUNCTIONS, "jnp."), {}, wrap="jnp.asarray({0})"),
    words=frozenset({"jax", "jnp"}),
    convert="jnp.asarray({0})",
)
TORCH = PythonLibrary(
    "PyTorch",
    "import torch",
    python_syntax(
        "torch",
        {
            **calls(TORCH_FUNCTIONS, "torch."),
            **{name: replace(template, wraps_numbers=True) for name, template in TORCH_OF_TENSORS.items()},
            **calls({"cbrt": "_cbrt", "sign": "_sign"}),
        },
        TORCH_HELPERS,
        # a tensor without dimensions takes on the precision of those with some
        wrap="torch.tensor({0}, dtype=torch.float64)",
    ),
    words=frozenset({"torch"}),
    convert="torch.as_tensor({0})",
)
