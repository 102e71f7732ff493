"""Methods of a benchmark: a strategy, its generator, and the symbols that answers may use."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np
import platformdirs

from edhie.bench.problem import BenchmarkProblem
from edhie.bench.problem_files import ProblemError
from edhie.corpora import build
from edhie.corpora.recipes import LIBRARIES, Recipe, named_recipe, recipe_names
from edhie.errors import suggestion
from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.expr.standard_libraries import everything
from edhie.fit.generator import answer_library as answer_library
from edhie.generators import Generator, TrainConfig, load
from edhie.generators.base import Model
from edhie.generators.config import Device, ModelName
from edhie.generators.saving import CONFIG, shipped_names
from edhie.generators.trained import train_and_save
from edhie.grammar import PCFG

Source = Literal["hvae", "grammar", "gvae", "cvae", "none"]
GENERAL = "general"
SHIPPED_LATENT = 32
SHIPPED_EPOCHS = 120
"""Training epochs of the shipped models for the Nguyen and Feynman equations."""


@dataclass(frozen=True)
class Method:
    """One way to search."""

    strategy: str
    """Name of a search strategy, or where to import a user's own: `module:Climb`, `path/to/file.py:Climb`."""
    source: Source
    """Source of expressions: an hvae, the grammar of its corpus, or a baseline (gvae, cvae).

    An hvae of 32 dimensions is shipped; other autoencoders are trained once and kept.

    "none" if the method is a function of the data, not a strategy.
    """
    latent: int = SHIPPED_LATENT
    """Number of dimensions of the latent space."""
    strict: bool = True
    """Use the problem's own symbols only, unless the settings say otherwise."""
    about: str = ""
    """One line on the method, for lists."""
    name: str = ""
    """Name in tables; by default the part of the strategy after the colon."""
    package: str = ""
    """Module of another package that the method calls, in a separate process."""
    digits: int = 15
    """Decimal digits that the method computes with."""
    paper: str = ""
    """The paper's system that it is compared with, if that has another name."""
    label: str = ""
    """The paper's name of the system, if it is not in capitals."""

    @property
    def is_own(self) -> bool:
        """True for a user's own method, which is sent to the workers."""
        return self.name not in METHODS

    @property
    def is_shipped(self) -> bool:
        """True if its autoencoder comes with edhie."""
        return self.source == "hvae" and self.latent == SHIPPED_LATENT

    def with_latent(self, latent: int) -> Method:
        """Return the method with another number of latent dimensions, which is appended to its name in tables."""
        if self.source in ("grammar", "none"):
            raise ProblemError(f"{self.name} has no latent space, so its number of dimensions cannot be set")
        if latent < 1:
            raise ProblemError(f"a latent space has at least one dimension, not {latent}")
        return self if latent == self.latent else replace(self, latent=latent, name=f"{self.name}-{latent}")


TABLE = (files("edhie.bench") / "methods.toml").read_text(encoding="utf-8")
METHODS = {name: Method(name=name, **row) for name, row in tomllib.loads(TABLE).items()}
"""Methods by name, from `methods.toml`."""


def method_named(name: str) -> Method:
    """Return the method of that name."""
    if name not in METHODS:
        hint = suggestion(name, METHODS) or f"; there are {', '.join(METHODS)}"
        raise ProblemError(f"unknown method {name!r}{hint}")
    return METHODS[name]


def has_generator(method: Method, problem: BenchmarkProblem, model: str | None = None) -> bool:
    """Return whether the method has a generator for the problem's number of variables."""
    return _loader(method, problem, model) is not None


def needed_training(method: Method, problems: Iterable[BenchmarkProblem]) -> list[Baseline]:
    """Return the baselines that have to be trained before these problems can be run."""
    wanted = dict.fromkeys(_baseline(method, problem) for problem in problems)
    return [each for each in wanted if each is not None and not each.is_trained]


def generator_for(method: Method, problem: BenchmarkProblem, model: str | None = None) -> Generator:
    """Return the generator of a method for a problem, over x0, x1, …; a given `model` takes precedence."""
    make = _loader(method, problem, model)
    if make is None:
        if method.source == "none":
            raise ProblemError(f"{method.name} is a function of the data, so it has no use for the model {model}")
        count = "1 variable" if len(problem.variables) == 1 else f"{len(problem.variables)} variables"
        what = f"there is no {method.source} for" if model is None else f"the model {model} does not fit"
        raise ProblemError(
            f"{what} {problem.id}, which has {count} and the library {problem.library!r}; "
            "leave it out, give another model, or draw from a grammar: proged or default"
        )
    return make()


@dataclass(frozen=True, eq=False)
class NoGenerator:
    """An empty generator, for methods that need none."""

    library: SymbolLibrary

    def sample(self, n: int, rng: np.random.Generator) -> Forest:
        """Return no expressions."""
        return Forest.from_exprs([], self.library)


def _loader(method: Method, problem: BenchmarkProblem, model: str | None) -> Callable[[], Generator] | None:
    """Return a function that loads the generator, if there is one; a search that needs no codes uses the grammar."""
    n_variables = len(problem.variables)
    if method.source == "none":
        return partial(NoGenerator, everything(n_variables)) if model is None else None  # a formula may use any symbol
    if model is not None:
        return partial(load, model) if len(load(model).library.variables) == n_variables else None
    name = f"{problem.library}-{n_variables}"
    if method.is_shipped and name in shipped_names():
        return partial(load, name)
    baseline = _baseline(method, problem)
    if baseline is not None:
        return baseline.load
    recipe = _recipe(problem)
    if recipe is None or method.source in ("gvae", "cvae") or method.strategy == "evolve":
        return None
    return partial(LimitedGrammar.of, recipe)


@dataclass(frozen=True, eq=False)
class LimitedGrammar:
    """A grammar with a limit on height, as in the corpora; ProGED samples from it."""

    grammar: PCFG
    max_height: int

    @classmethod
    def of(cls, recipe: Recipe) -> LimitedGrammar:
        """Return the grammar of a recipe, with the height limit of the corpora."""
        return cls(recipe.load_grammar(), recipe.max_height)

    @property
    def library(self) -> SymbolLibrary:
        """Symbols of the grammar."""
        return self.grammar.library

    def sample(self, n: int, rng: np.random.Generator) -> Forest:
        """Return `n` expressions."""
        return self.grammar.sample(n, rng, max_height=self.max_height)


@dataclass(frozen=True)
class Baseline:
    """An autoencoder of the paper that is not shipped; it is trained once and kept."""

    kind: ModelName
    corpus: str
    latent: int
    models: Path | None = None
    """Parent folder; the user's cache by default."""

    @property
    def folder(self) -> Path:
        """Folder of the model; remove it to train again."""
        models = self.models or Path(platformdirs.user_cache_dir("edhie")) / "models"
        return models / f"{self.kind}-{self.corpus.lower()}-{self.latent}"

    @property
    def config(self) -> TrainConfig:
        """The paper's settings, except for the latent dimensions; an hvae is trained as the shipped ones are."""
        if self.kind == "hvae":
            hidden = max(TrainConfig.hidden, self.latent)  # no narrower than the latent space
            return TrainConfig.of("hvae", latent=self.latent, hidden=hidden, epochs=SHIPPED_EPOCHS)
        return TrainConfig.of(self.kind, latent=self.latent)

    @property
    def is_trained(self) -> bool:
        """True if the model exists."""
        return (self.folder / CONFIG).is_file()

    def load(self) -> Model:
        """Return the trained model."""
        return load(self.folder)

    def train(
        self,
        on_epoch: Callable[[int, int], None] = lambda epoch, total: None,
        *,
        device: Device = "auto",
        epochs: int | None = None,
        expressions: int | None = None,
    ) -> None:
        """Train and save the model; an interrupted training is resumed. Fewer epochs and expressions are for trials."""
        recipe = named_recipe(self.corpus)
        with TemporaryDirectory() as folder:
            corpus = build(replace(recipe, size=expressions or recipe.size), folder)
        config = replace(self.config, device=device, epochs=epochs or self.config.epochs)
        train_and_save(self.folder, corpus, config, on_epoch=lambda epoch, total: on_epoch(epoch.epoch + 1, total))


def _recipe(problem: BenchmarkProblem) -> Recipe | None:
    """Return the recipe of the corpus on which models for such a problem are trained."""
    name = f"{problem.library}-{len(problem.variables)}"
    if name in map(str.lower, recipe_names()):
        return named_recipe(name)
    if problem.library == GENERAL:
        return Recipe(GENERAL, size=1, max_height=7, variables=len(problem.variables), name=name)
    return None


def _baseline(method: Method, problem: BenchmarkProblem) -> Baseline | None:
    recipe = _recipe(problem)
    if method.source == "grammar" or method.source == "none" or method.is_shipped:
        return None
    if recipe is None or recipe.name not in recipe_names():
        return None
    return Baseline(method.source, recipe.name, method.latent)


def problem_symbols(problem: BenchmarkProblem) -> SymbolLibrary:
    """Return the problem's own symbols, over the variables x0, x1 and so on."""
    n, recipe = len(problem.variables), _recipe(problem)
    if problem.library in LIBRARIES or recipe is None:
        return LIBRARIES.get(problem.library, everything)(n)
    return recipe.load_grammar().library


def in_problem_names(expr: Expr, problem: BenchmarkProblem) -> Expr:
    """Return an expression over x0, x1, … with the problem's names for them."""
    library = everything(problem.names).extended(*(s for s in expr.library.symbols if s.is_custom))
    names = dict(zip(expr.library.variables, problem.names, strict=True))
    if expr.library.constant is not None and library.constant is not None:
        names[expr.library.constant] = library.constant
    return Expr(library, [names.get(token, token) for token in expr.tokens], expr.constants)
