"""The default search: pieces of expressions, screened in closed form and combined."""

from edhie.search.mosaic.config import MosaicConfig
from edhie.search.mosaic.search import Mosaic

__all__ = ["Mosaic", "MosaicConfig"]
