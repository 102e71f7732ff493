"""`import edhie` is light: it loads nothing heavy, and fast."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("torch", "numba", "sympy", "matplotlib", "pandas", "numpy")


def test_import_edhie_loads_nothing_heavy() -> None:
    code = f"import sys, edhie; print([name for name in {HEAVY} if name in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_import_edhie_takes_less_than_half_a_second() -> None:
    code = "import time; t = time.perf_counter(); import edhie; print(time.perf_counter() - t)"
    assert min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(3)) < 0.5


def test_every_public_name_is_there() -> None:
    import edhie

    for name in edhie.__all__:
        assert getattr(edhie, name) is not None
        assert name in dir(edhie)
