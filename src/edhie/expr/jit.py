"""The one way that edhie compiles a function."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
import platformdirs
from numba.core import config

F = TypeVar("F", bound=Callable[..., Any])
KEPT_BUILDS = 4


def jit(function: F) -> F:
    """Compile with numba, kept on disk between runs; the type checker sees the plain function.

    Division by zero gives inf or NaN, as in NumPy. Modules that use it are imported inside
    the functions that need them, since numba takes longer to import than all the rest.
    """
    outside = config.CACHE_DIR
    config.CACHE_DIR = outside or str(_build_folder())
    try:
        return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy")(function))
    except RuntimeError:  # no folder to write to: every process compiles for itself
        return cast(F, numba.njit(nogil=True, error_model="numpy")(function))
    finally:
        config.CACHE_DIR = outside


def typed(number: int) -> int:
    """A constant for compiled code; for a plain integer numba would compile each function it is passed to anew."""
    return cast(int, np.int64(number))


@cache
def _build_folder() -> Path:
    """A cache folder for exactly this state of all compiled sources.

    numba looks only at the file of the function itself, so a change in a function that it
    calls, in another file, would go on running the old machine code.
    """
    package = Path(__file__).parents[1]
    sources = sorted(path for path in package.rglob("*.py") if b"jit import jit" in path.read_bytes())
    digest = hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    root = Path(platformdirs.user_cache_dir("edhie")) / "kernels"
    folder = root / digest
    if not os.path.exists(folder):  # noqa: PTH110 -- False also where one may not look
        _prune(root)
    return folder


def _prune(root: Path) -> None:
    """Remove all but the newest builds, so that with the coming one there are `KEPT_BUILDS`."""
    try:
        builds = sorted((path for path in root.iterdir() if path.is_dir()), key=os.path.getmtime, reverse=True)
    except OSError:  # there are none yet, or another process removes them too
        return
    for build in builds[KEPT_BUILDS - 1 :]:
        shutil.rmtree(build, ignore_errors=True)
