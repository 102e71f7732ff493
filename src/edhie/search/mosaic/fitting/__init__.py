"""Fitting: expressions are scored, refitted, shortened and improved."""
