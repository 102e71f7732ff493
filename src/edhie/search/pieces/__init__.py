"""Pieces of expressions: where they come from, how they are built, written and shortened.

Shared by the searches `mosaic`, `template` and `revision`.
"""
