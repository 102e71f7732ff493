"""The corpus that a model is to learn from: a folder, or one of the named ones where drawing it is quick."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from edhie.corpora import Corpus, build, named_recipe, physics, recipe_names
from edhie.corpora.formulas import PHYSICS
from edhie.errors import CorpusError, suggestion


def complete_corpus(incomplete: str) -> list[str]:
    """The names of corpora that go on from what is typed."""
    known = [name for name in (*recipe_names(), PHYSICS) if name.lower().startswith(incomplete.lower())]
    return [incomplete + name[len(incomplete) :] for name in known]  # capitals as typed, which do not matter


def training_corpus(name: str) -> Corpus:
    """A corpus with something in it."""
    corpus = _found(name)
    if len(corpus) == 0:
        raise CorpusError(f"the corpus {name} is empty: there is nothing to learn from")
    return corpus


def _found(name: str) -> Corpus:
    if Path(name).exists() or "/" in name or "\\" in name:
        return Corpus.load(name)
    if name.lower() == PHYSICS.lower():
        return physics()
    known = [*recipe_names(), PHYSICS]
    if name.lower() not in {each.lower() for each in known}:
        hint = suggestion(name, known) or f"; the named ones are {', '.join(known)}"
        raise CorpusError(f"there is no corpus folder {name!r}, and no corpus of that name{hint}")
    recipe = named_recipe(name)
    if recipe.simplify:
        folder = f"corpora/{recipe.name.lower()}"
        raise CorpusError(
            f"{recipe.name} takes SymPy a while; build it once, then train on its folder:\n"
            f"  edhie corpus build {recipe.name} --out {folder}\n  edhie train {folder} ..."
        )
    with TemporaryDirectory() as folder:
        return build(recipe, folder)
