"""Corpora: sets of expressions that a generator learns from."""

from edhie.corpora.build import build
from edhie.corpora.corpus import Corpus
from edhie.corpora.importing import BadLine, ImportOptions, import_file
from edhie.corpora.physics import physics
from edhie.corpora.recipes import Recipe, named_recipe, recipe_names

__all__ = [
    "BadLine",
    "Corpus",
    "ImportOptions",
    "Recipe",
    "build",
    "import_file",
    "named_recipe",
    "physics",
    "recipe_names",
]
