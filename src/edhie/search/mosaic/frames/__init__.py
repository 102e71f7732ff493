"""Frames: linear models of the transformed target."""
