"""What methods search with, and what their answers are made of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from edhie.bench import BenchmarkProblem, ProblemError, load_problems, methods
from edhie.bench.methods import (
    METHODS,
    Baseline,
    LimitedGrammar,
    answer_library,
    generator_for,
    has_generator,
    in_problem_names,
    method_named,
    needed_training,
)
from edhie.bench.problem_files import Variable
from edhie.corpora import Corpus, Recipe, build
from edhie.expr import parse
from edhie.generators import HVAE, TrainConfig
from edhie.search import STRATEGIES

NGUYEN, FEYNMAN = load_problems("nguyen"), load_problems("feynman")


def test_every_strategy_is_known() -> None:
    assert {method.strategy for method in METHODS.values() if not method.package} <= set(STRATEGIES)


def test_unknown() -> None:
    with pytest.raises(ProblemError, match="unknown method 'edhi'; did you mean 'edhie'"):
        method_named("edhi")


@pytest.mark.parametrize("problem", [NGUYEN[0], NGUYEN[8], *load_problems("feynman16")[:2], *FEYNMAN[:5]])
def test_generators_fit_problems(problem: BenchmarkProblem) -> None:
    count = len(problem.variables)
    for name, kind in (("hvar", HVAE), ("proged", LimitedGrammar)):
        if name == "hvar" and count > 6:
            continue
        generator = generator_for(METHODS[name], problem)
        assert isinstance(generator, kind)
        assert generator.library.variables == tuple(f"x{k}" for k in range(count))
        assert len(generator.sample(5, np.random.default_rng(0))) == 5
    if problem.library != "general":
        both = [set(generator_for(METHODS[name], problem).library.names) for name in ("hvar", "proged")]
        assert both[0] == both[1]


def test_without_a_model_for_so_many_variables() -> None:
    many = next(problem for problem in FEYNMAN if len(problem.variables) == 9)
    assert isinstance(generator_for(METHODS["default"], many), LimitedGrammar)
    assert not has_generator(METHODS["edhie"], many)  # evolution needs a latent space
    with pytest.raises(ProblemError, match=r"there is no hvae for I\.9\.18, which has 9 variables and the library"):
        generator_for(METHODS["edhie"], many)
    with pytest.raises(ProblemError, match="the model nguyen-1 does not fit"):
        generator_for(METHODS["edhie"], many, "nguyen-1")
    three = BenchmarkProblem("p", "y", tuple(Variable(name, 0, 1) for name in "abc"), formula="a*b*c", library="nguyen")
    assert not any(has_generator(method, three) for method in METHODS.values() if not method.package)


def test_answers() -> None:
    generator = generator_for(METHODS["edhie"], NGUYEN[0])
    assert answer_library(generator, strict=True) == generator.library
    free = answer_library(generator, strict=False)
    assert free.symbols[: len(generator.library)] == generator.library.symbols
    assert free.constant is not None
    assert {"asin", "tanh", "^"} <= set(free.names)
    of_feynman = generator_for(METHODS["edhie"], load_problems("feynman16")[0])
    assert answer_library(of_feynman, strict=False).constant == "c"


def test_names_of_the_problem() -> None:
    problem = BenchmarkProblem("p", "y", (Variable("c", 0, 1), Variable("t", 0, 1)), formula="c*t")
    expr = parse("c*x1 + x0", variables=["x0", "x1"]).with_constants([2.5])
    assert str(in_problem_names(expr, problem)) == "2.5*t + c"


# -- baselines ------------------------------------------------------------------------


def test_baselines_are_trained_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(methods.platformdirs, "user_cache_dir", lambda name: str(tmp_path / name))
    small = Recipe("nguyen-1", size=60, max_height=3)
    sizes: list[int] = []

    def build_small(recipe: Recipe, folder: str) -> Corpus:
        sizes.append(recipe.size)
        return build(small, folder)

    monkeypatch.setattr(methods, "build", build_small)
    config = TrainConfig.of("gvae", latent=3, hidden=4, epochs=2, batch=32)
    monkeypatch.setattr(Baseline, "config", property(lambda self: config))
    method, problems = METHODS["gvae"], NGUYEN[:3]
    (wanted,) = needed_training(method, problems)
    assert wanted == Baseline("gvae", "Nguyen-1", 32)
    assert tmp_path in wanted.folder.parents
    seen: list[tuple[int, int]] = []
    wanted.train(lambda epoch, total: seen.append((epoch, total)))
    assert seen == [(1, 2), (2, 2)]
    assert needed_training(method, problems) == []
    generator = generator_for(method, problems[0])
    assert generator.library.variables == ("x0",)
    assert needed_training(METHODS["edhie"], problems) == []
    replace(wanted, latent=16).train(epochs=1, expressions=500)
    assert sizes == [20_000, 500]


def test_baselines_have_the_papers_sizes() -> None:
    sizes = {name: METHODS[name].latent for name in ("gvae", "gvae-evo", "cvae")}
    assert sizes == {"gvae": 32, "gvae-evo": 64, "cvae": 32}
    found = [Baseline("gvae", "Nguyen-1", 32), Baseline("gvae", "Nguyen-1", 64), Baseline("cvae", "Nguyen-2", 32)]
    assert len({each.folder for each in found}) == 3
    assert found[1].config == TrainConfig.of("gvae", latent=64)


def test_other_dimensions_are_trained_here() -> None:
    hvar = METHODS["hvar"]
    assert needed_training(hvar.with_latent(32), NGUYEN) == []
    wide = hvar.with_latent(128)
    assert (wide.name, wide.is_own, wide.is_shipped) == ("hvar-128", True, False)
    wanted = [Baseline("hvae", "Nguyen-1", 128), Baseline("hvae", "Nguyen-2", 128)]
    assert needed_training(wide, NGUYEN) == [each for each in wanted if not each.is_trained]
    assert all(each.config.hidden >= 128 for each in wanted)
    with pytest.raises(ProblemError, match="proged has no latent space"):
        METHODS["proged"].with_latent(64)
    with pytest.raises(ProblemError, match="at least one dimension, not 0"):
        hvar.with_latent(0)
