"""The path from a table to equations, shared by the regressor, the command line and the benchmarks.

`Problem` (a checked table) → `discover` with `Settings` (generator, search, selection) → `Discovery` (equations).
"""

from edhie.fit.discover import discover
from edhie.fit.equation import Equation
from edhie.fit.measured import read_file
from edhie.fit.problem import Problem
from edhie.fit.result import Discovery
from edhie.fit.settings import Settings

__all__ = ["Discovery", "Equation", "Problem", "Settings", "discover", "read_file"]
