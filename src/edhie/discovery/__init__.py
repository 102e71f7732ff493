"""From a table to equations: what a search needs is put together from plain settings, and its result is judged.

The estimator and the command line are both a few lines around `discover`.
"""

from edhie.discovery.discover import discover
from edhie.discovery.discovery import Discovery
from edhie.discovery.equation import Equation
from edhie.discovery.settings import Settings

__all__ = ["Discovery", "Equation", "Settings", "discover"]
