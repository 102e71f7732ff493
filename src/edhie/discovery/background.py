"""A generator for more variables, or for other operators, than those that come along: trained once, in the background.

The fit that asks for it goes on with the nearest shipped one; the next fit finds what was trained. Run as a module,
this trains the one that it is told.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import logging
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import platformdirs

from edhie.corpora.recipes import Recipe
from edhie.expr import Forest, SymbolLibrary
from edhie.generators import TrainConfig, load, save
from edhie.generators.base import Model
from edhie.generators.shipped import SHIPPED

GRAMMAR, MAX_HEIGHT = "general", 7
EXPRESSIONS, EPOCHS = 30_000, 20
MOST_VARIABLES = 12
DRAWN_AT_ONCE, MOST_DRAWN = 50_000, 2_000_000
MARK = "training"
LOGGER = logging.getLogger("edhie")


@dataclass(frozen=True)
class Wanted:
    """Which generator: for so many variables, and of these operators."""

    n_variables: int
    operators: tuple[str, ...] | None = None
    """None for those of the general grammar."""

    @property
    def is_shipped(self) -> bool:
        """Whether one comes along."""
        return self.operators is None and (SHIPPED / f"general-{self.n_variables}").is_dir()

    @property
    def folder(self) -> Path:
        """In the user's cache; removing it makes the next fit train again."""
        digest = hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:16]
        return Path(platformdirs.user_cache_dir("edhie")) / "models" / f"general-{self.n_variables}-{digest}"

    @property
    def is_there(self) -> bool:
        """Whether it was trained already."""
        return (self.folder / "config.json").is_file()


def trained_or_begun(wanted: Wanted) -> Model | None:
    """The generator where it was trained before; else None, and its training begins, which is said."""
    if wanted.is_there:
        return load(wanted.folder)
    if wanted.n_variables > MOST_VARIABLES or importlib.util.find_spec("torch") is None or not sys.executable:
        return None
    try:
        wanted.folder.mkdir(parents=True, exist_ok=True)
        (wanted.folder / MARK).touch(exist_ok=False)
    except OSError:  # another process trains it, or there is no place to keep it
        return None
    what = (
        f"{wanted.n_variables} variables"
        if wanted.operators is None
        else f"the operators {', '.join(wanted.operators)}"
    )
    LOGGER.warning("a generator for %s is trained in the background (some minutes, once); the next fit uses it", what)
    command = [sys.executable, "-m", "edhie.discovery.background", json.dumps(asdict(wanted))]
    nowhere = subprocess.DEVNULL
    subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)
    return None


def train_now(wanted: Wanted, *, expressions: int = EXPRESSIONS, epochs: int = EPOCHS) -> Path:
    """Train it and keep it."""
    from edhie.generators.train import train

    try:
        forest = corpus_of(wanted, expressions)
        config = TrainConfig.of("hvae", epochs=epochs)
        model, history = train(forest, config)
        return save(wanted.folder, model, config, history=[asdict(epoch) for epoch in history])
    finally:
        (wanted.folder / MARK).unlink(missing_ok=True)


def corpus_of(wanted: Wanted, n: int) -> Forest:
    """Distinct expressions of the general grammar that have no other operators."""
    grammar = Recipe(GRAMMAR, 1, MAX_HEIGHT, variables=wanted.n_variables).load_grammar()
    library = _library(wanted, grammar.library)
    is_known = np.array([symbol.name in library for symbol in grammar.library.symbols])
    rng, found, drawn = np.random.default_rng(0), Forest.from_exprs([], library), 0
    while len(found) < n and drawn < MOST_DRAWN:
        some = grammar.sample(DRAWN_AT_ONCE, rng, max_height=MAX_HEIGHT)
        drawn += len(some)
        is_bad = np.add.reduceat(~is_known[some.tokens], some.offsets[:-1]) > 0
        found = Forest.concatenate([found, some.take(np.flatnonzero(~is_bad)).cast(library)]).unique()
    return found.take(np.arange(min(n, len(found))))


def _library(wanted: Wanted, general: SymbolLibrary) -> SymbolLibrary:
    names: Sequence[str] = wanted.operators or [s.name for s in general.symbols if s.kind == "operator"]
    return SymbolLibrary.of(list(names), wanted.n_variables, constant=True)


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(10)
    given = json.loads(sys.argv[1])
    operators = given["operators"]
    train_now(Wanted(int(given["n_variables"]), None if operators is None else tuple(operators)))
