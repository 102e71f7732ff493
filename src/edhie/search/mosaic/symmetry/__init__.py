"""Symmetries of the target, and the search in the fewer variables that they leave."""
