"""What every generator of expressions promises, put to each of them: three autoencoders and a grammar."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from edhie.errors import ExpressionError, GeneratorError
from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.generators import Constraints, TrainConfig, load, save
from edhie.generators.base import Decoded, Generator, LatentGenerator, Model
from edhie.generators.saving import MODELS
from edhie.generators.train import train
from edhie.grammar import PCFG
from edhie.grammar import load as load_grammar

LATENT = 8
KINDS = tuple(MODELS)


def config(kind: str) -> TrainConfig:
    return TrainConfig.of(
        kind, hidden=24, latent=LATENT, epochs=25, batch=16, learning_rate=0.01, validation=0.0, device="cpu"
    )


@pytest.fixture(scope="module")
def grammar() -> PCFG:
    return load_grammar("trig")


@pytest.fixture(scope="module")
def corpus(grammar: PCFG) -> Forest:
    drawn = grammar.sample(600, np.random.default_rng(0), max_height=3).unique()
    return drawn[np.argsort(drawn.sizes, kind="stable")][:80]


@pytest.fixture(scope="module")
def models(corpus: Forest) -> dict[str, Model]:
    return {kind: train(corpus, config(kind))[0] for kind in KINDS}


@pytest.fixture(params=KINDS)
def model(request: pytest.FixtureRequest, models: dict[str, Model]) -> Model:
    return models[request.param]


@pytest.fixture(params=[*KINDS, "grammar"])
def generator(request: pytest.FixtureRequest, models: dict[str, Model], grammar: PCFG) -> Generator:
    return grammar if request.param == "grammar" else models[request.param]


def codes(n: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, LATENT)).astype(np.float32)


def check_whole(forest: Forest, library: SymbolLibrary) -> None:
    assert forest.library == library
    assert (forest.tokens.dtype, forest.offsets.dtype, forest.values.dtype) == (np.int16, np.int64, np.float64)
    Forest.checked(library, forest.tokens, forest.offsets, forest.values)


def check_decoded(decoded: Decoded, model: Model, n: int, per_code: int = 1) -> None:
    check_whole(decoded.forest, model.library)
    assert decoded.attempts == n * per_code
    assert len(decoded.forest) + decoded.invalid == decoded.attempts
    assert len(decoded.sources) == len(decoded.forest)
    assert decoded.sources.dtype == np.int64
    assert np.all(np.diff(decoded.sources) >= (1 if per_code == 1 else 0))
    assert np.all(np.bincount(decoded.sources, minlength=n) <= per_code)
    assert len(np.bincount(decoded.sources, minlength=n)) == n


# -- every generator ------------------------------------------------------------------


def test_it_keeps_to_its_interface(generator: Generator) -> None:
    assert isinstance(generator, Generator)
    assert isinstance(generator, (PCFG, LatentGenerator))


def test_same_seed_same_samples(generator: Generator) -> None:
    first, again, other = (list(generator.sample(60, np.random.default_rng(seed))) for seed in (3, 3, 4))
    assert first == again
    assert first != other


@pytest.mark.parametrize("n", [0, 1, 137])
def test_as_many_samples_as_asked_for_and_all_whole(generator: Generator, n: int) -> None:
    forest = generator.sample(n, np.random.default_rng(0))
    assert len(forest) == n
    check_whole(forest, generator.library)


def test_samples_go_on_from_the_state_of_the_generator_of_numbers(generator: Generator) -> None:
    rng = np.random.default_rng(0)
    assert list(generator.sample(60, rng)) != list(generator.sample(60, rng))


# -- autoencoders ---------------------------------------------------------------------


def test_codes_are_well_formed(model: Model, corpus: Forest) -> None:
    assert model.latent_dim == LATENT
    for part in model.encode(corpus):
        assert part.shape == (len(corpus), LATENT)
        assert part.dtype == np.float32
        assert np.isfinite(part).all()


def test_decoding_says_what_is_valid(model: Model, corpus: Forest) -> None:
    check_decoded(model.decode(model.encode(corpus)[0]), model, len(corpus))
    for scale in (1, 30):
        check_decoded(model.decode(scale * codes(500)), model, 500)


def test_decoding_at_a_temperature(model: Model) -> None:
    def warm(seed: int) -> Decoded:
        return model.decode(codes(50), temperature=1.5, per_code=4, rng=np.random.default_rng(seed))

    check_decoded(warm(0), model, 50, per_code=4)
    assert list(warm(0).forest) == list(warm(0).forest)
    assert list(warm(0).forest) != list(warm(1).forest)
    assert len(warm(0).forest.unique()) > len(model.decode(codes(50)).forest.unique())


def test_at_next_to_no_temperature_it_is_the_most_probable(model: Model) -> None:
    most_probable = model.decode(codes(50))
    for temperature in (1e-300, 1e-40, 1e-12):
        cold = model.decode(codes(50), temperature=temperature, rng=np.random.default_rng(0))
        assert list(cold.forest) == list(most_probable.forest)
        assert np.array_equal(cold.sources, most_probable.sources)


def test_codes_however_far_out_and_any_temperature(model: Model) -> None:
    for scale in (1e10, 1e30, 1e38):
        for temperature in (0.0, 1.0, 1e300):
            far = (scale * np.sign(codes(60))).astype(np.float32)
            decoded = model.decode(far, temperature=temperature, rng=np.random.default_rng(0))
            check_decoded(decoded, model, 60)


def test_a_code_decodes_alike_alone_and_among_others(model: Model) -> None:
    together = model.decode(codes(40))
    found = dict(zip(together.sources.tolist(), together.forest, strict=True))
    for k in range(0, 40, 7):
        assert list(model.decode(codes(40)[k : k + 1]).forest) == ([found[k]] if k in found else [])


def test_an_expression_encodes_alike_alone_and_among_others(model: Model, corpus: Forest) -> None:
    together = model.encode(corpus)[0]
    for k in (0, len(corpus) // 2, len(corpus) - 1):
        np.testing.assert_allclose(model.encode(corpus[[k]])[0][0], together[k], atol=1e-5)


def test_nothing_gives_nothing(model: Model) -> None:
    for part in model.encode(Forest.from_exprs([], model.library)):
        assert part.shape == (0, LATENT)
        assert part.dtype == np.float32
    check_decoded(model.decode(np.zeros((0, LATENT), dtype=np.float32)), model, 0)


def test_trees_of_one_node_and_the_largest(model: Model, corpus: Forest) -> None:
    leaves = [symbol.name for symbol in model.library.symbols if symbol.arity == 0]
    small = Forest.from_exprs([Expr(model.library, [leaf]) for leaf in leaves])
    means = model.encode(small)[0]
    assert len(np.unique(means, axis=0)) == len(leaves)
    check_decoded(model.decode(means), model, len(leaves))
    largest = corpus[[int(corpus.sizes.argmax())]]
    check_decoded(model.decode(model.encode(largest)[0]), model, 1)


def test_values_of_constants_leave_codes_alone(model: Model, corpus: Forest) -> None:
    fitted = Forest(corpus.library, corpus.tokens, corpus.offsets, np.full_like(corpus.values, 2.5))
    np.testing.assert_array_equal(model.encode(fitted)[0], model.encode(corpus)[0])


def test_saved_and_loaded_it_is_the_same(model: Model, corpus: Forest, tmp_path: Path) -> None:
    loaded = load(save(tmp_path / "model", model, config(model.kind)))
    assert type(loaded) is type(model)
    assert loaded.library == model.library
    assert (loaded.latent_dim, loaded.hidden_dim) == (model.latent_dim, model.hidden_dim) == (LATENT, 24)
    assert loaded.settings() == model.settings()
    assert loaded.weights.keys() == model.weights.keys()
    for name, weight in model.weights.items():
        np.testing.assert_array_equal(loaded.weights[name], weight)
    np.testing.assert_array_equal(loaded.encode(corpus)[0], model.encode(corpus)[0])
    assert list(loaded.sample(40, np.random.default_rng(0))) == list(model.sample(40, np.random.default_rng(0)))


def test_saved_models_work_where_torch_cannot_be_imported(models: dict[str, Model], tmp_path: Path) -> None:
    for kind, model in models.items():
        save(tmp_path / kind, model, config(kind))
    code = f"""
import sys
sys.modules["torch"] = None
import numpy as np
from edhie.generators import load
for kind in {KINDS!r}:
    model = load({str(tmp_path)!r} + "/" + kind)
    forest = model.sample(20, np.random.default_rng(0))
    assert len(model.encode(forest)[0]) == 20
    print(*forest, sep="; ")
"""
    out = subprocess.check_output([sys.executable, "-c", code], text=True).splitlines()
    assert out == ["; ".join(map(str, models[kind].sample(20, np.random.default_rng(0)))) for kind in KINDS]


def test_torch_s_threads_change_no_sample(model: Model) -> None:
    before = torch.get_num_threads()
    drawn = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        drawn.append(list(model.sample(60, np.random.default_rng(0))))
    torch.set_num_threads(before)
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda model: model.decode(np.zeros((3, LATENT + 1))), ExpressionError, r"shape \(n, 8\), not \(3, 9\)"),
        (lambda model: model.decode(np.full((1, LATENT), np.nan)), ExpressionError, "finite"),
        (lambda model: model.decode(codes(1), temperature=1.0), GeneratorError, "needs an rng"),
        (lambda model: model.decode(codes(1), temperature=-1.0), GeneratorError, "at least 0"),
        (lambda model: model.decode(codes(1), per_code=2), GeneratorError, "temperature above 0"),
        (lambda model: model.decode(codes(1), temperature=np.nan, rng=np.random.default_rng(0)), GeneratorError, "nan"),
        (lambda model: model.decode(np.full((1, LATENT), 1e300)), ExpressionError, "finite"),
        (lambda model: model.sample(-1, np.random.default_rng(0)), GeneratorError, "cannot draw -1 expressions"),
    ],
    ids=["shape", "nan", "no rng", "negative temperature", "several of one", "no temperature", "far", "less than none"],
)
def test_bad_requests_are_told_alike(
    model: Model, ask: Callable[[Model], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ask(model)


def test_an_hvae_never_fails(models: dict[str, Model]) -> None:
    """What tells it from the baselines, whatever the code and within any limits."""
    hvae = models["hvae"].constrained(Constraints(max_height=4, max_size=9))  # type: ignore[attr-defined]
    assert hvae.decode(30 * codes(500)).invalid == 0
