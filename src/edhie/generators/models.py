"""The models by name, for using them; none needs torch."""

from __future__ import annotations

from edhie.generators.base import Model
from edhie.generators.hvae.hvae import HVAE
from edhie.generators.sequence.cvae import CVAE
from edhie.generators.sequence.gvae import GVAE

MODELS: dict[str, type[Model]] = {model.kind: model for model in (HVAE, GVAE, CVAE)}
