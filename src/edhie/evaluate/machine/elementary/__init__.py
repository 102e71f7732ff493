"""Elementary functions over blocks of float64, as vector code: `sin(a, out)`, `power(a, b, out)`.

Only compiled code can call them. Arrays are of one dimension, contiguous and equally long; `out` overlaps
no argument. Elements are right to 2 units in the last place and never depend on their neighbours. A few
go to the C library one by one: denormal arguments of log and power, results close to the ends of the
range, angles above 2^30; all others do not depend on the width of a machine's vectors. Zeros, infinities
and NaN cost nothing extra.
"""

from __future__ import annotations

from edhie.evaluate.machine.elementary.exponential import cbrt, exp, log, log10, power
from edhie.evaluate.machine.elementary.trigonometric import acos, asin, atan, cos, cosh, sin, sinh, tan, tanh

__all__ = ["acos", "asin", "atan", "cbrt", "cos", "cosh", "exp", "log", "log10", "power", "sin", "sinh", "tan", "tanh"]
