"""Screening: the share of the residual that pieces, pairs and products explain, in closed form."""
