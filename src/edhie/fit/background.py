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
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import platformdirs

from edhie.corpora.recipes import Recipe
from edhie.errors import EdhieError
from edhie.expr import Forest, SymbolLibrary
from edhie.fit.mark import Mark
from edhie.generators import TrainConfig, load, save
from edhie.generators.shipped import SHIPPED

GRAMMAR, MAX_HEIGHT = "general", 7
EXPRESSIONS, EPOCHS = 30_000, 20
MOST_VARIABLES = 12
DRAWN_AT_ONCE, MOST_DRAWN = 50_000, 2_000_000
MARK, FAILED = "training", "failed.txt"
FAILED_SECONDS = 86_400.0  # before it is tried again
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
    def has_failed(self) -> bool:
        """Whether its training ended with an error, not long ago."""
        try:
            return time.time() - (self.folder / FAILED).stat().st_mtime < FAILED_SECONDS
        except OSError:
            return False

    @property
    def mark(self) -> Mark:
        """Whose training it is."""
        return Mark(self.folder / MARK)

    def __str__(self) -> str:
        if self.operators is None:
            return f"{self.n_variables} variables"
        return f"the operators {', '.join(self.operators)}"

    @property
    def is_there(self) -> bool:
        """Whether it was trained already."""
        return (self.folder / "config.json").is_file()


def trained_or_begun(wanted: Wanted) -> Path | None:
    """The folder of the generator where it was trained before; else None, and its training begins, which is said."""
    if wanted.is_there:
        try:
            load(wanted.folder)
        except EdhieError as error:  # a fit is not to end for it
            LOGGER.warning("a generator that was trained before is not used: %s; remove %s", error, wanted.folder)
            return None
        return wanted.folder
    if wanted.n_variables > MOST_VARIABLES or not sys.executable:
        return None
    if importlib.util.find_spec("torch") is None:
        LOGGER.info("with torch (pip install 'edhie[train]') a generator for %s would be trained", wanted)
        return None
    if wanted.has_failed:
        LOGGER.info("a generator for %s could not be trained; the reason is in %s", wanted, wanted.folder / FAILED)
        return None
    if not wanted.mark.take():
        return None
    try:
        _start([sys.executable, "-m", "edhie.fit.background", json.dumps(asdict(wanted))])
    except (OSError, subprocess.SubprocessError):  # no more processes, say: then the next fit tries again
        wanted.mark.give_back()
        return None
    LOGGER.warning("a generator for %s is trained in the background (some minutes, once); the next fit uses it", wanted)
    return None


def _start(command: Sequence[str]) -> None:
    """A process that outlives this one, and that nobody has to wait for: its parent ends at once."""
    between = (
        "import subprocess, sys; nowhere = subprocess.DEVNULL; "
        "subprocess.Popen(sys.argv[1:], stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)"
    )
    subprocess.run([sys.executable, "-S", "-c", between, *command], check=True, start_new_session=True)


def train_now(wanted: Wanted, *, expressions: int = EXPRESSIONS, epochs: int = EPOCHS) -> Path:
    """Train it and keep it; what goes wrong is written where the next fit looks."""
    wanted.folder.mkdir(parents=True, exist_ok=True)
    wanted.mark.sign()
    try:
        from edhie.generators.train import train

        forest = corpus_of(wanted, expressions)
        config = TrainConfig.of("hvae", epochs=epochs)
        model, history = train(forest, config, on_epoch=lambda epoch, total: wanted.mark.sign())
        folder = save(wanted.folder, model, config, history=[asdict(epoch) for epoch in history])
        (folder / FAILED).unlink(missing_ok=True)
        return folder
    except Exception as error:
        with suppress(OSError):
            (wanted.folder / FAILED).write_text(f"{error!r}\n", encoding="utf-8")
        raise
    finally:
        wanted.mark.give_back()


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
