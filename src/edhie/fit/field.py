"""Formulas of a user's field: the generator is fine-tuned on them, and they are scored as candidates.

If names in a formula are columns of the data, they are these variables, and its other names are constants. If none is,
its names stand for the variables in order of appearance, and those left over are constants. Numbers become constants to
be fitted.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from edhie.corpora import Corpus
from edhie.corpora.corpus import EXPRESSIONS
from edhie.corpora.importing import TABLE_SUFFIXES, ImportOptions, import_file
from edhie.errors import CorpusError, EdhieError, ExpressionError, MissingExtraError
from edhie.evaluate import Evaluator
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.generators import Generator, TrainConfig, load
from edhie.generators.base import Codes, Decoded, LatentGenerator, Model, Renamed
from edhie.generators.saving import CONFIG
from edhie.generators.trained import train_and_save
from edhie.storage import digest

SHARE = 0.5  # share of samples that are formulas of the field
MOST_SCORED = 1000  # formulas that are scored before the search
OWN_SAMPLES = 2000  # samples of the generator, added to the formulas so that it does not forget its corpus
TRAINING = {"epochs": 40, "learning_rate": 0.01, "divergence": 1.0}
"""With a lower weight of the divergence, formulas are reconstructed as well, but seldom sampled."""
LOGGER = logging.getLogger("edhie")


class Field:
    """A generator fine-tuned on formulas; half of its samples are the formulas themselves."""

    def __init__(self, generator: LatentGenerator, formulas: Forest) -> None:
        self.generator = generator
        self.formulas = formulas

    @property
    def library(self) -> SymbolLibrary:
        """The symbols of its expressions."""
        return self.generator.library

    @property
    def latent_dim(self) -> int:
        """The number of dimensions of a code."""
        return self.generator.latent_dim

    def sample(self, n: int, rng: np.random.Generator) -> Forest:
        """Return `n` expressions, half of them formulas of the field."""
        count = int(rng.binomial(n, SHARE))
        chosen = self.formulas.take(rng.integers(0, len(self.formulas), count))
        both = Forest.concatenate([chosen, self.generator.sample(n - count, rng)])
        return both.take(rng.permutation(n))

    def encode(self, forest: Forest) -> tuple[Codes, Codes]:
        """Return mean and logarithm of the variance of each expression's code."""
        return self.generator.encode(forest)

    def decode(self, codes: Codes, **options: Any) -> Decoded:
        """Return the expressions that codes stand for."""
        return self.generator.decode(codes, **options)


def formulas_in(generator: Generator, library: SymbolLibrary) -> Forest:
    """Return the formulas on which a generator was fine-tuned, over a library, without those that it cannot write."""
    known = generator.generator if isinstance(generator, Renamed) else generator
    found: list[Expr] = []
    if isinstance(known, Field):
        names = dict(zip(known.library.variables, library.variables, strict=False))
        names |= dict.fromkeys(known.library.variables[len(library.variables) :], "")  # without a column
        if known.library.constant is not None:
            names[known.library.constant] = library.constant or ""
        for formula in known.formulas:
            try:
                found.append(Expr(library, [names.get(token, token) for token in formula.tokens]))
            except EdhieError:
                continue
    return Forest.from_exprs(found, library)


def score_formulas(evaluator: Evaluator, formulas: Forest, evaluations: int | None) -> None:
    """Score the first formulas before the search, with half of the evaluations at most."""
    most = MOST_SCORED if evaluations is None else min(MOST_SCORED, evaluations // 2)
    with evaluator.limited(evaluations):
        evaluator.score(formulas.take(np.arange(min(len(formulas), most))))


def field_of(corpus: str | Path | Sequence[str], generator: Model, names: Sequence[str]) -> Field:
    """Return a generator with its field: fine-tuned if torch is installed, else with the formulas alone."""
    formulas = formulas_of(corpus, generator.library, names)
    try:
        return Field(_tuned(generator, formulas), formulas)
    except MissingExtraError:
        LOGGER.warning(
            "the generator is not fine-tuned on the corpus, since torch is not installed (pip install 'edhie[train]'); "
            "its formulas are used as they are"
        )
        return Field(generator, formulas)


def formulas_of(corpus: str | Path | Sequence[str], library: SymbolLibrary, names: Sequence[str]) -> Forest:
    """Return the formulas of a file or a list that a generator's library can write; report the others."""
    found: list[Expr] = []
    left_out: list[str] = []
    for expr in _read(corpus):
        try:
            found.append(_over(expr, library, names))
        except EdhieError as error:
            left_out.append(f"{expr} ({error})")
    if not found:
        raise CorpusError(f"none of the formulas can be used; the first: {left_out[0]}")
    if left_out:
        total = len(found) + len(left_out)
        LOGGER.warning("%d of %d formulas are left out; the first: %s", len(left_out), total, left_out[0])
    return Forest.from_exprs(found, library).unique()


def _read(corpus: str | Path | Sequence[str]) -> list[Expr]:
    """Return the formulas of a list, of a file with one per line, or of a corpus folder; report unreadable lines."""
    if not isinstance(corpus, str | Path):
        if not (texts := [str(each) for each in corpus]):
            raise CorpusError("the corpus is empty; give at least one formula")
        return [parse(text).numbers_to_constants().free() for text in texts]
    path = Path(corpus)
    if path.is_dir():
        if not (path / EXPRESSIONS).is_file():
            raise CorpusError(f"{path} is not a corpus: it has no {EXPRESSIONS}; make one with: edhie corpus import")
        path = path / EXPRESSIONS
    if path.suffix.lower() in TABLE_SUFFIXES:
        raise CorpusError(
            f"{path} is a table; give a file with one formula per line, or the folder that this makes: "
            f"edhie corpus import {path} --column NAME --out FOLDER"
        )
    found, bad = import_file(path, ImportOptions(numbers="constants", skip_bad=True))
    if bad:
        first = str(bad[0]).partition("\n")[0]
        LOGGER.warning("%d formulas of %s cannot be read and are left out; the first: %s", len(bad), path, first)
    return list(found.forest)


def _over(expr: Expr, library: SymbolLibrary, names: Sequence[str]) -> Expr:
    """Return an expression over the variables of a library, as the module's docstring says."""
    used = list(dict.fromkeys(token for token in expr.tokens if expr.library[token].kind == "variable"))
    placed = {name: library.variables[names.index(name)] for name in used if name in names[: len(library.variables)]}
    if not placed:
        placed = dict(zip(used, library.variables, strict=False))
    constant = library.constant
    if constant is None and len(placed) < len(used):
        raise ExpressionError("it has more variables than the generator, which has no constants to stand for them")
    others = dict.fromkeys([*used, expr.library.constant], constant)
    tokens = [placed.get(token) or others.get(token) or token for token in expr.tokens]
    return Expr(library, tokens)


def _tuned(generator: Model, formulas: Forest) -> Model:
    """Return the generator fine-tuned on formulas; it is cached by a digest of its inputs."""
    weights = (generator.weights[name] for name in sorted(generator.weights))
    key = digest(generator.library.to_json(), *weights, formulas.tokens, formulas.offsets)[:16]
    folder = Path(platformdirs.user_cache_dir("edhie")) / "models" / f"field-{key}"
    if (folder / CONFIG).is_file():
        return load(folder)
    LOGGER.info("fine-tuning the generator on %d formulas", len(formulas))
    own = generator.sample(OWN_SAMPLES, np.random.default_rng(0))
    corpus = Corpus("formulas of a field", Forest.concatenate([formulas, own]))
    counts = np.concatenate([np.full(len(formulas), len(own) / len(formulas)), np.ones(len(own))])
    config = TrainConfig.of("hvae", hidden=generator.hidden_dim, latent=generator.latent_dim, **TRAINING)
    try:
        return train_and_save(folder, corpus, config, weights=counts, start=generator).model
    except MissingExtraError:
        raise
    except EdhieError as error:
        LOGGER.info("the fine-tuned generator is not kept: %s", error)
    from edhie.generators.train import train

    return train(corpus.forest, config, weights=counts, start=generator)[0]
