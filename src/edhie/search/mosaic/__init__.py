"""The default search: pieces of expressions, weighed in closed form and put together."""

from edhie.search.mosaic.config import MosaicConfig
from edhie.search.mosaic.search import Mosaic

__all__ = ["Mosaic", "MosaicConfig"]
