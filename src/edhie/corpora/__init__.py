"""Corpora: sets of expressions that a generator learns from."""

from edhie.corpora.build import build
from edhie.corpora.corpus import Corpus
from edhie.corpora.formulas import Formula, Formulas, formulas, physics
from edhie.corpora.importing import BadLine, ImportOptions, import_file
from edhie.corpora.recipes import Recipe, named_recipe, recipe_names

__all__ = [
    "BadLine", "Corpus", "Formula", "Formulas", "ImportOptions", "Recipe", "build", "formulas", "import_file",
    "named_recipe", "physics", "recipe_names",
]  # fmt: skip
