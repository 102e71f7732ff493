"""Fitting: constants refitted, expressions scored, shortened and improved."""
