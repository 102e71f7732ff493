"""Symmetries of the target, and the search in reduced variables."""
