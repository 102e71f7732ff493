"""Equation discovery: from measurements to formulas that a scientist can read, trust and use."""

from __future__ import annotations

__version__ = "0.1.0"
