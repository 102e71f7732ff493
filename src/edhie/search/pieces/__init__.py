"""Pieces of expressions: where they come from, how they are combined, written and shortened.

Shared by the searches `mosaic`, `template` and `revision`, which do not import one another.
"""
