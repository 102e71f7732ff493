"""Settings of a training, its schedules and held-out part; and limits on what is decoded."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from edhie.errors import GeneratorError, SymbolError, suggestion
from edhie.expr import SymbolLibrary

ModelName = Literal["hvae", "gvae", "cvae"]
Device = Literal["auto", "cpu", "cuda"]
Backend = Literal["fast", "reference"]
ScheduleName = Literal["printed", "ramp", "linear", "constant", "cyclical"]


@dataclass(frozen=True)
class TrainConfig:
    """Settings of a training."""

    model: ModelName = "hvae"
    """Autoencoder: hvae (trees), gvae (a grammar's rules) or cvae (tokens of text)."""
    hidden: int = 64
    """The size of the recurrent state: in an hvae, of a node's code."""
    latent: int = 32
    """The number of dimensions of the latent space."""
    epochs: int = 60
    """Passes over the corpus."""
    batch: int = 256
    """Expressions in a step."""
    learning_rate: float = 0.015
    """Of Adam, at its peak; after it, the rate falls to zero along a cosine."""
    warm_up: float = 0.3
    """The share of the steps in which the learning rate rises to its peak."""
    schedule: ScheduleName = "constant"
    """Schedule of the weight of the divergence: printed, ramp, linear, constant or cyclical."""
    divergence: float = 0.03
    """The weight of the divergence (λ) that the schedule reaches."""
    free_bits: float = 0.0
    """Divergence, in nats, that each dimension of the latent space has free of charge."""
    validation: float = 0.05
    """The share of the corpus that is held out to measure the reconstruction error."""
    patience: int = 0
    """Stop after so many epochs without a better validation loss; 0 for never."""
    seed: int = 0
    """Of the weights, the order of the corpus and the noise."""
    device: Device = "auto"
    """Device: cpu, cuda, or auto, which uses a GPU if there is one."""
    threads: int = 1
    """Threads on the CPU; for models of this size one is fastest, and other work is left in peace."""
    backend: Backend = "fast"
    """Code of an hvae: fast, or reference: the paper's recursion, node by node, and hundreds of times slower."""

    def __post_init__(self) -> None:
        for name, (least, below) in RANGES.items():
            value = getattr(self, name)
            if not least <= value < below:
                most = "" if below == math.inf else f" and below {below}"
                raise GeneratorError(f"{name} must be a finite number, at least {least}{most}, not {value}")
        if not 0 < self.learning_rate < 1:
            raise GeneratorError(f"learning_rate must lie between 0 and 1, and is {self.learning_rate}")
        for name, known in (("model", MODEL_DEFAULTS), ("schedule", SCHEDULES), ("backend", ("fast", "reference"))):
            value = getattr(self, name)
            if value not in known:
                raise GeneratorError(f"unknown {name} {value!r}{suggestion(value, known)}")
        if self.backend == "reference" and self.model != "hvae":
            raise GeneratorError(f"the reference backend is that of an hvae; a {self.model} has none")

    @classmethod
    def of(cls, model: ModelName, **changes: Any) -> TrainConfig:
        """Return the defaults of a model, with changes: for the baselines those of the paper."""
        return cls(model=model, **{**MODEL_DEFAULTS.get(model, {}), **changes})


RANGES = {
    **dict.fromkeys(("hidden", "latent", "epochs", "batch", "threads"), (1, math.inf)),
    **dict.fromkeys(("divergence", "free_bits", "patience", "seed"), (0, math.inf)),
    **dict.fromkeys(("warm_up", "validation"), (0, 1)),
}
"""By setting: the least value, and one above the greatest."""
BASELINE = {
    "latent": 128, "hidden": 128, "batch": 64, "epochs": 150,
    "learning_rate": 0.003, "warm_up": 0.1, "divergence": 0.01,
}  # fmt: skip
MODEL_DEFAULTS: dict[str, dict[str, Any]] = {"hvae": {}, "gvae": BASELINE, "cvae": BASELINE}


def held_out_and_learnt(n: int, config: TrainConfig) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of the held-out expressions and of the others; they follow from the seed alone."""
    order = np.random.default_rng([config.seed, 0]).permutation(n)
    held_out = int(config.validation * n) if n > 1 else 0
    return order[:held_out], order[held_out:]


def _annealed(iteration: int, divisor: float) -> float:
    """Return the paper's λ_i = 0.5·(tanh((i - 4500)/2) + 1) for another divisor; constant after 1,800 iterations.

    As printed it is 0 to machine precision: a plain autoencoder. With a divisor of 1000 it is the gentle rise that
    the text describes, up to 0.0045.
    """
    return 0.5 * (math.tanh((min(iteration, 1800) - 4500) / divisor) + 1)


def _cyclical(iteration: int, total: int, top: float) -> float:
    period = max(total / 4, 1.0)
    return top * min(1.0, 2 * (iteration % period) / period)


SCHEDULES: dict[str, Callable[[int, int, float], float]] = {
    "printed": lambda iteration, total, top: _annealed(iteration, 2.0),
    "ramp": lambda iteration, total, top: top * _annealed(iteration, 1000.0) / _annealed(1800, 1000.0),
    "linear": lambda iteration, total, top: top * min(1.0, 2 * iteration / max(total, 1)),
    "constant": lambda iteration, total, top: top,
    "cyclical": _cyclical,
}
"""Weight of the divergence by iteration, of so many in all, up to `top`.

printed: the paper's formula to the letter, whatever the top. ramp: the formula as it is meant, scaled to end at the
top. linear: up to the top over the first half. cyclical: four times up to the top over half a cycle.
"""


# -- limits on decoded expressions, as masks over symbols: nothing is rejected afterwards

Mask = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Constraints:
    """Limits on decoded expressions."""

    max_height: int = 16
    """The greatest height of a tree, counted in nodes."""
    max_size: int = 128
    """The most nodes of a tree."""
    forbidden: Collection[str] = ()
    """Symbols that must not appear."""
    forbidden_nestings: Collection[tuple[str, str]] = ()
    """Pairs (outer, inner): inner must not appear anywhere below outer."""
    operands: Mapping[str, Collection[str]] = field(default_factory=dict)
    """For an operator, the only variables that may appear below it."""

    def __post_init__(self) -> None:
        for name in ("max_height", "max_size"):
            if getattr(self, name) < 1:
                raise SymbolError(f"{name} must be at least 1, not {getattr(self, name)}")

    def masks(self, library: SymbolLibrary) -> tuple[Mask, Mask]:
        """Return the symbols allowed at all, (symbols,), and by symbol those barred below it, (symbols, symbols)."""
        # a number of any value is nothing without one, and a decoder gives symbols only
        allowed = np.array([symbol.kind != "number" for symbol in library.symbols], dtype=np.bool_)
        for name in self.forbidden:
            allowed[library.id_of(name)] = False
        barred = np.zeros((len(library), len(library)), dtype=np.bool_)
        for outer, inner in self.forbidden_nestings:
            barred[_inner_symbol(library, outer), library.id_of(inner)] = True
        for name, variables in self.operands.items():
            for each in variables:
                if library[each].kind != "variable":
                    raise SymbolError(f"{each!r} is not a variable of the library ({library})")
            for variable in library.variables:
                barred[_inner_symbol(library, name), library.id_of(variable)] |= variable not in variables
        if not allowed[library.arities == 0].any():
            raise SymbolError("every variable and constant is forbidden, so no expression can end")
        return allowed, barred


def allowed_at(allowed: Mask, nesting: Mask, arities: Ints, barred: Mask | None, *, only_leaves: bool) -> Mask:
    """Return the symbols that each node of one depth may have; (nodes or 1, symbols).

    `allowed` and `nesting` are those of `Constraints.masks`; `barred` (nodes, symbols) holds what symbols above bar,
    and is None where there are no nestings.
    """
    mask: Mask = (allowed & (arities == 0) if only_leaves else allowed)[None, :]
    if barred is None:
        return mask
    leaves = np.flatnonzero(allowed & (arities == 0))
    # an operator is allowed only if some leaf is left for its operands
    dead_end = (barred[:, None, leaves] | nesting[None, :, leaves]).all(axis=2) & (arities > 0)
    result: Mask = mask & ~barred & ~dead_end
    return result


def _inner_symbol(library: SymbolLibrary, name: str) -> int:
    if not library[name].arity:
        raise SymbolError(f"nothing stands below {name!r}: it is no operator")
    return library.id_of(name)
