"""Ctrl-C: what it looks like, and the exit code it ends with."""

from __future__ import annotations

from edhie.errors import is_interruption

__all__ = ["INTERRUPTED", "is_interruption"]

INTERRUPTED = 130
