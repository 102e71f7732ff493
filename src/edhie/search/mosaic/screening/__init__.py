"""Screening: pieces compared in closed form, frame by frame."""
