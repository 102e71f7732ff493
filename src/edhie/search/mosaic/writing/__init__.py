"""Writing: expressions for the target, from frames and from other models fitted in closed form."""
