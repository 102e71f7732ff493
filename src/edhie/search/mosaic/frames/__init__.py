"""Frames: ways of looking at the target."""
