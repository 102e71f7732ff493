"""Islands: searches of one kind beside each other that exchange their best expressions after each epoch."""

from edhie.search.islands.islands import Islands

__all__ = ["Islands"]
