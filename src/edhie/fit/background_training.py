"""Train a generator in the background for more variables, or for other operators, than the shipped ones have.

The fit that asks for it uses the nearest shipped generator; a later fit finds the trained one in the user's cache. Run
as a module, this trains the given generator.
"""

from __future__ import annotations

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

from edhie.corpora import Corpus
from edhie.corpora.recipes import Recipe
from edhie.errors import EdhieError, InUseError
from edhie.expr import Forest, SymbolLibrary
from edhie.generators import TrainConfig, load
from edhie.generators.saving import CONFIG, TRAINING, shipped_names
from edhie.generators.trained import train_and_save
from edhie.processes import command_of, import_path
from edhie.storage import digest

GRAMMAR, MAX_HEIGHT = "general", 7
EXPRESSIONS, EPOCHS = 30_000, 20
MOST_VARIABLES = 12
DRAWN_AT_ONCE, MOST_DRAWN = 50_000, 2_000_000
FAILED = "failed.txt"
FAILED_SECONDS = 86_400.0  # before a training that failed is tried again
LOGGER = logging.getLogger("edhie")


@dataclass(frozen=True)
class Wanted:
    """Variables and operators of a generator to train; None for the operators of the general grammar."""

    n_variables: int
    operators: tuple[str, ...] | None = None

    @property
    def is_shipped(self) -> bool:
        """True if such a generator is shipped."""
        return self.operators is None and f"{GRAMMAR}-{self.n_variables}" in shipped_names()

    @property
    def folder(self) -> Path:
        """Folder in the user's cache; remove it to train again."""
        key = digest(json.dumps(asdict(self)))[:16]
        return Path(platformdirs.user_cache_dir("edhie")) / "models" / f"{GRAMMAR}-{self.n_variables}-{key}"

    def __str__(self) -> str:
        if self.operators is None:
            return f"{self.n_variables} variables"
        return f"the operators {', '.join(self.operators)}"


def trained_or_started(wanted: Wanted) -> Path | None:
    """Return the folder of the trained generator; if there is none yet, start its training and return None."""
    folder = wanted.folder
    if (folder / CONFIG).is_file():
        try:
            load(folder)
        except EdhieError as error:  # it must not end the fit
            LOGGER.warning("a trained generator is not used: %s; delete %s to train it again", error, folder)
            return None
        return folder
    if wanted.n_variables > MOST_VARIABLES or not sys.executable:
        return None
    if importlib.util.find_spec("torch") is None:
        LOGGER.info("with torch (pip install 'edhie[train]') a generator for %s would be trained", wanted)
        return None
    with suppress(OSError):
        if 0 <= time.time() - (folder / FAILED).stat().st_mtime < FAILED_SECONDS:  # less than 0: the clock was changed
            LOGGER.info("a generator for %s could not be trained; the reason is in %s", wanted, folder / FAILED)
            return None
    try:
        with TRAINING.in_use(folder):  # raises if another process trains it, or the folder cannot be written
            pass
        _start([*command_of("edhie.fit.background_training"), json.dumps(asdict(wanted))])
    except (EdhieError, OSError, subprocess.SubprocessError):  # the next fit tries again
        return None
    LOGGER.warning("a generator for %s is trained in the background (some minutes, once); the next fit uses it", wanted)
    return None


def _start(command: Sequence[str]) -> None:
    """Start a process that outlives this one and need not be waited for, since its parent ends at once."""
    between = (
        "import subprocess, sys; nowhere = subprocess.DEVNULL; "
        "subprocess.Popen(sys.argv[1:], stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)"
    )
    subprocess.run(
        [sys.executable, "-P", "-S", "-c", between, *command], check=True, start_new_session=True, env=import_path()
    )


def train_now(wanted: Wanted, *, expressions: int = EXPRESSIONS, epochs: int = EPOCHS) -> Path:
    """Train and save the generator; the reason of a failure is written for the next fit."""
    folder = wanted.folder
    try:
        corpus = Corpus(f"{GRAMMAR}-{wanted.n_variables}", corpus_of(wanted, expressions))
        train_and_save(folder, corpus, TrainConfig.of("hvae", epochs=epochs))
    except InUseError:
        raise
    except Exception as error:
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / FAILED).write_text(f"{error!r}\n", encoding="utf-8")
        raise
    (folder / FAILED).unlink(missing_ok=True)
    return folder


def corpus_of(wanted: Wanted, n: int) -> Forest:
    """Return distinct expressions of the general grammar that have no other operators."""
    grammar = Recipe(GRAMMAR, 1, MAX_HEIGHT, variables=wanted.n_variables).load_grammar()
    names = wanted.operators or [symbol.name for symbol in grammar.library.symbols if symbol.kind == "operator"]
    library = SymbolLibrary.of(list(names), wanted.n_variables, constant=True)
    is_known = np.array([symbol.name in library for symbol in grammar.library.symbols])
    rng, found, drawn = np.random.default_rng(0), Forest.from_exprs([], library), 0
    while len(found) < n and drawn < MOST_DRAWN:
        some = grammar.sample(DRAWN_AT_ONCE, rng, max_height=MAX_HEIGHT)
        drawn += len(some)
        is_bad = np.add.reduceat(~is_known[some.tokens], some.offsets[:-1]) > 0
        found = Forest.concatenate([found, some.take(np.flatnonzero(~is_bad)).cast(library)]).unique()
    return found.take(np.arange(min(n, len(found))))


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(10)
    given = json.loads(sys.argv[1])
    operators = given["operators"]
    with suppress(InUseError):  # two fits started it at once
        train_now(Wanted(int(given["n_variables"]), None if operators is None else tuple(operators)))
