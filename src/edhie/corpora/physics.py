"""The formulas of physics that come with edhie: a real field to teach a generator."""

from __future__ import annotations

from importlib.resources import as_file, files

from edhie.corpora.corpus import Corpus
from edhie.corpora.importing import ImportOptions, import_file

NAME = "Physics"


def physics() -> Corpus:
    """120 laws of mechanics, electrodynamics and thermal physics, with variables x0, x1 and so on.

    >>> corpus = physics()
    >>> str(corpus.forest[0])
    'exp(-x0^2/2)/sqrt(2*pi)'
    """
    with as_file(files("edhie.corpora") / "data" / "physics.csv") as path:
        corpus, _ = import_file(path, ImportOptions(column="formula", generic_variables=True))
    return Corpus(NAME, corpus.forest, corpus.provenance)
