"""Pieces of expressions: their sources, and how they are varied, combined, written and shortened.

Shared by the searches `mosaic`, `template` and `revision`, which do not import one another.
"""
