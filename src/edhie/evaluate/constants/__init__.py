"""The constants of expressions: fitted, polished, with standard errors, rounded."""
