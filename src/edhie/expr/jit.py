"""Compilation of functions with numba, cached on disk."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar, cast

import llvmlite.binding
import numba
import numpy as np
import platformdirs
from numba.core import config, types

F = TypeVar("F", bound=Callable[..., Any])
_called_by_address: dict[str, Any] = {}
OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
KEPT_BUILDS = 4
NOTE = "compiled"  # the file that marks a folder with all kernels of a search
FIRST_BUILD = "edhie compiles its kernels for this machine; this takes about half a minute on two cores, once"


def jit(function: F) -> F:
    """Compile with numba, with a cache on disk; the type checker sees the plain function.

    Division by zero gives inf or NaN, as in NumPy. Modules that use it are imported inside
    the functions that need them, since numba takes longer to import than all the rest.
    """
    return cast(F, _kept(partial(numba.njit, function, **OPTIONS)))


def jit_inner(function: F) -> F:
    """As `jit`, for a function that only compiled functions call: Python cannot, and the process would crash.

    To be called from Python a function needs code that reads Python's objects, which takes long to compile.
    """
    return cast(F, _kept(partial(numba.njit, function, no_cpython_wrapper=True, **OPTIONS)))


def jit_inline(function: F) -> F:
    """As `jit`, for a function that is compiled only as a part of its callers."""
    return cast(F, numba.njit(nogil=True, error_model="numpy", inline="always")(function))


@jit_inline
def copy_to(out: Any, values: Any) -> None:
    """Copy a row of numbers to the start of another that is at least as long.

    For `out[:] = values` numba also compiles an error message about shapes, which takes longer than most kernels.
    """
    for i in range(len(values)):
        out[i] = values[i]


def jit_once(signature: Any) -> Callable[[F], F]:
    """Compile a function of numbers and pointers at once, to be called by its address.

    numba compiles a function made by `jit` anew into each of its callers; one made by this is compiled once, which
    saves most of the time to the first result for a long function.
    """

    def compile_it(function: F) -> F:
        made = _kept(lambda **options: numba.cfunc(signature, error_model="numpy", **options)(function))
        symbol = f"{function.__module__}.{function.__qualname__}"
        _called_by_address[symbol] = made  # keeps its code alive
        llvmlite.binding.add_symbol(symbol, made.address)
        return cast(F, types.ExternalFunction(symbol, made._sig))

    return compile_it


def _kept(make: Callable[..., Any]) -> Any:
    """Compile by `make`, with a cache on disk if a folder can be written to."""
    outside = config.CACHE_DIR
    config.CACHE_DIR = outside or str(_build_folder())
    try:
        return make(cache=True)
    except RuntimeError:  # no folder to write to: every process compiles for itself
        return make()
    finally:
        config.CACHE_DIR = outside


def typed(number: int) -> int:
    """Return a constant for compiled code; numba would compile a function anew for each plain integer passed to it."""
    return cast(int, np.int64(number))


@cache
def say_compiling() -> None:
    """Log once that kernels are being compiled."""
    logging.getLogger("edhie").warning(FIRST_BUILD)


def can_keep() -> bool:
    """Return whether compiled code can be kept for other processes."""
    try:
        compiled_folder().mkdir(parents=True, exist_ok=True)
        return os.access(compiled_folder(), os.W_OK)
    except OSError:
        return False


def is_compiled() -> bool:
    """Return True where the kernels of the current sources are noted as compiled on this machine."""
    return (compiled_folder() / NOTE).exists()


def note_compiled() -> None:
    """Note for `is_compiled` that the kernels are compiled; do nothing where nothing can be written."""
    with suppress(OSError):
        compiled_folder().mkdir(parents=True, exist_ok=True)
        (compiled_folder() / NOTE).touch()


def compiled_folder() -> Path:
    """Return the folder that compiled code is kept in."""
    return Path(config.CACHE_DIR or _build_path())


@cache
def _build_folder() -> Path:
    """Return the cache folder for exactly this state of all compiled sources.

    numba looks only at the file of a function, so it would miss a change in another file that the function calls.
    """
    folder = _build_path()
    if not os.path.exists(folder):  # noqa: PTH110 -- False also where one may not look
        say_compiling()
        _prune(folder.parent)
    return folder


def _build_path() -> Path:
    return Path(platformdirs.user_cache_dir("edhie")) / "kernels" / _digest()


@cache
def _digest() -> str:
    """Return a checksum of all sources with compiled functions."""
    package = Path(__file__).parents[1]
    sources = sorted(path for path in package.rglob("*.py") if b"expr.jit import" in path.read_bytes())
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()[:16]


def _prune(root: Path) -> None:
    """Remove all but the newest builds, so that with the coming one there are `KEPT_BUILDS`."""
    try:
        builds = sorted((path for path in root.iterdir() if path.is_dir()), key=os.path.getmtime, reverse=True)
    except OSError:  # there are none yet, or another process removes them too
        return
    for build in builds[KEPT_BUILDS - 1 :]:
        shutil.rmtree(build, ignore_errors=True)
