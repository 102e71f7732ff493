"""Islands: parallel searches of one kind that exchange their best expressions after each epoch."""

from edhie.search.islands.islands import Islands

__all__ = ["Islands"]
