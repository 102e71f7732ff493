"""The structure prior: code lengths of the structure of equations, learnt from scientific formulas."""
