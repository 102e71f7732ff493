"""Equations as they are shown: refitted, in one normal form, with plain numbers and as few digits as they need."""

from edhie.finish.finish import POLISHED_ROWS, Finisher
from edhie.finish.form import Facts, normal_form, opened, tidied
from edhie.finish.redundant_constants import without_redundant_constants

__all__ = ["POLISHED_ROWS", "Facts", "Finisher", "normal_form", "opened", "tidied", "without_redundant_constants"]
