"""The one way that edhie compiles a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compile with numba, kept on disk between runs; the type checker sees the plain function.

    Modules that use it are imported inside the functions that need them, since numba
    takes longer to import than the rest of edhie together.
    """
    return cast(F, numba.njit(cache=True, nogil=True)(function))
