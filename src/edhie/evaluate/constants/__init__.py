"""The constants of expressions: fitted, polished, told how certain they are, rounded."""
