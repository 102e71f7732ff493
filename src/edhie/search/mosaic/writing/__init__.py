"""Writing: expressions for the target from what was found in closed form."""
