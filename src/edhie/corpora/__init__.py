"""Corpora: sets of expressions that a generator learns from."""
