"""The models that come with edhie: small, whole, for one to six variables, and as good as their cards say."""

from __future__ import annotations

import re

import numpy as np
import pytest

from edhie.corpora import named_recipe
from edhie.errors import GeneratorError
from edhie.generators import load
from edhie.generators.saving import SHIPPED, folder_of, shipped_names
from edhie.generators.walks import reconstruct

EXPECTED = ["feynman-1", "feynman-2", *(f"general-{n}" for n in range(1, 7)), "nguyen-1", "nguyen-2"]


def test_names() -> None:
    assert shipped_names() == EXPECTED
    assert folder_of("Nguyen-1") == SHIPPED / "nguyen-1"
    with pytest.raises(GeneratorError, match="did you mean 'nguyen-1'"):
        load("nguyen-11")


@pytest.mark.parametrize("name", EXPECTED)
def test_a_model_is_small_and_as_good_as_its_card_says(name: str) -> None:
    folder = SHIPPED / name
    assert sum(file.stat().st_size for file in folder.iterdir()) < 2_000_000
    card = (folder / "README.md").read_text(encoding="utf-8")
    error = float(re.search(r"mean edit distance, in postfix tokens \| ([\d.]+)", card)[1])  # type: ignore[index]
    model, recipe = load(name), named_recipe(name)
    grammar = recipe.load_grammar()
    assert model.library == grammar.library
    assert model.latent_dim == 32
    drawn = grammar.sample(20_000, np.random.default_rng(99), max_height=recipe.max_height).unique()[-400:]
    assert reconstruct(model, drawn).edit_distance < 1.5 * error + 0.1
    samples = model.sample(1000, np.random.default_rng(0))
    assert len(samples.unique()) > 700
