"""The paper's baselines GVAE and CVAE in use: encoding, decoding and sampling in NumPy.

A convolutional encoder and a recurrent decoder, after GVAE; layers and weights have the names of `generators.network`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from edhie.errors import GeneratorError
from edhie.expr import Forest, SymbolLibrary
from edhie.generators.base import Codes, Decoded, Weights, checked_codes, checked_weights, prior_codes, tempered
from edhie.generators.sequence.notation import SHORTEST, InfixNotation, Mask, Notation, RuleNotation, Sequences, padded
from edhie.grammar import PCFG

Floats = NDArray[np.float32]
KERNELS = (2, 3, 4)
CHANNELS = 128  # of a convolution; 32 and 64 were worse, on corpora like AE4-2k and Trig4-2k of another seed
AT_ONCE = 1024  # expressions; it bounds the memory to about 100 MB
TRIES = 100  # codes drawn for each expression that is asked for, before sampling gives up
LEAST_DRAWN = 50  # codes at a time, where few expressions are missing
ALIKE = 128  # sequences of about the same length that are convolved together
BETWEEN = 6  # steps of the decoder after which finished sequences are left out


@dataclass(frozen=True, eq=False)
class SequenceModel(ABC):
    """An autoencoder of sequences; codes that decode to no expression are left out and counted."""

    kind: ClassVar[str]
    notation: Notation
    weights: Weights

    @property
    def library(self) -> SymbolLibrary:
        """The symbols of its expressions."""
        return self.notation.library

    @property
    def latent_dim(self) -> int:
        """The number of dimensions of a code."""
        return int(self.weights["mean.weight"].shape[0])

    @property
    def hidden_dim(self) -> int:
        """The size of the recurrent state."""
        return int(self.weights["mean.weight"].shape[1])

    def encode(self, forest: Forest) -> tuple[Codes, Codes]:
        """Return mean and logarithm of the variance of each expression's code; both (expressions, latent_dim).

        Of an expression longer than the model's sequences only the beginning is seen.
        """
        symbols, offsets = self.notation.spelled(forest.cast(self.library))
        length, count = self.notation.length, self.notation.symbols
        mean = np.empty((len(forest), self.latent_dim), dtype=np.float32)
        log_variance = np.empty_like(mean)
        for s in range(0, len(forest), AT_ONCE):
            part = slice(s, s + AT_ONCE)
            sequences = padded((symbols, offsets[s : s + AT_ONCE + 1]), length, padding=count - 1)
            mean[part], log_variance[part] = encode(self.weights, sequences, count)
        return mean, log_variance

    def decode(
        self, codes: Codes, *, temperature: float = 0.0, per_code: int = 1, rng: np.random.Generator | None = None
    ) -> Decoded:
        """Decode the most probable symbol at every step, or one drawn at a temperature; leave out non-expressions."""
        codes = checked_codes(codes, self.latent_dim, temperature=temperature, per_code=per_code, rng=rng)
        forests, sources = [Forest.from_exprs([], self.library)], [np.zeros(0, np.int64)]
        for s in range(0, len(codes), AT_ONCE):
            is_drawn = rng is not None and temperature > 0
            is_over = None if is_drawn else self.notation.is_over
            scores = decode(self.weights, codes[s : s + AT_ONCE], self.notation.length, is_over)
            if rng is not None and is_drawn:
                scores = tempered(scores, temperature, rng)
            forest, places = self.notation.read(scores)
            forests.append(forest)
            sources.append(s + places)
        return Decoded(Forest.concatenate(forests), np.concatenate(sources) // per_code, len(codes))

    def sample(self, n: int, rng: np.random.Generator) -> Forest:
        """Return expressions decoded from codes drawn from the prior N(0, I); codes that give none are drawn anew."""
        if n < 0:
            raise GeneratorError(f"cannot draw {n} expressions")
        found, drawn = Forest.from_exprs([], self.library), 0
        while len(found) < n:
            if drawn >= TRIES * max(n, 10):
                raise GeneratorError(
                    f"of {drawn} codes only {len(found)} gave an expression, {n} were asked for; "
                    "train the model longer, or on more expressions"
                )
            codes = prior_codes(max(n - len(found), LEAST_DRAWN), self.latent_dim, rng)
            found = Forest.concatenate([found, self.decode(codes).forest])
            drawn += len(codes)
        return found[:n]

    def settings(self) -> dict[str, Any]:
        """Return the settings of the notation."""
        return self.notation.settings()

    @classmethod
    def restored(cls, library: SymbolLibrary, weights: Weights, settings: Mapping[str, Any]) -> Self:
        """Return the model of these weights, which must fit library and settings."""
        try:
            notation = cls.notation_of(library, settings)
            latent, hidden = weights["mean.weight"].shape
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise GeneratorError(f"these are not the parts of a model of kind {cls.kind!r}: {error!r}") from error
        expected = shapes(notation.symbols, notation.length, hidden, latent)
        return cls(notation, checked_weights(weights, expected, cls.kind))

    @staticmethod
    @abstractmethod
    def notation_of(library: SymbolLibrary, settings: Mapping[str, Any]) -> Notation:
        """Return the notation that settings describe."""


class GVAE(SequenceModel):
    """The grammar variational autoencoder; a derivation that does not end in time is no expression."""

    kind: ClassVar[str] = "gvae"

    @staticmethod
    def notation_of(library: SymbolLibrary, settings: Mapping[str, Any]) -> RuleNotation:
        """Return the notation of the grammar's text and the length."""
        return RuleNotation(PCFG.parse(str(settings["grammar"]), library), int(settings["length"]))


class CVAE(SequenceModel):
    """The variational autoencoder of infix tokens; what they spell need not be an expression."""

    kind: ClassVar[str] = "cvae"

    @staticmethod
    def notation_of(library: SymbolLibrary, settings: Mapping[str, Any]) -> InfixNotation:
        """Return the notation of the length; the tokens must be the library's."""
        notation = InfixNotation(library, int(settings["length"]))
        if list(settings["tokens"]) != list(notation.vocabulary):
            raise GeneratorError(f"the tokens {settings['tokens']} are not those of the library ({library})")
        return notation


def _product(x: Floats, weight: Floats, bias: Floats) -> Floats:
    """Apply a linear layer to the last axis; weights are kept as torch keeps them, (outputs, inputs)."""
    rows = x.reshape(-1, x.shape[-1])  # one large product: NumPy would make one for each of the n
    out: Floats = rows @ weight.T
    out += bias
    return out.reshape(*x.shape[:-1], len(weight))


def _dense(w: Weights, name: str, x: Floats) -> Floats:
    return _product(x, w[f"{name}.weight"], w[f"{name}.bias"])


def _convolution(w: Weights, name: str, x: Floats) -> Floats:
    """Convolve the steps of (n, steps, channels), without padding: windows, then one product."""
    weight = w[f"{name}.weight"]  # (outputs, channels, kernel)
    windows = sliding_window_view(x, weight.shape[2], axis=1)  # (n, steps, channels, kernel)
    flat = np.ascontiguousarray(windows).reshape(*windows.shape[:2], -1)
    return _product(flat, weight.reshape(len(weight), -1), w[f"{name}.bias"])


def _relu(x: Floats) -> Floats:
    return np.maximum(x, 0, out=x)


def encode(w: Weights, sequences: Sequences, symbols: int) -> tuple[Floats, Floats]:
    """Return mean and logarithm of the variance of each sequence's code; both (n, latent)."""
    steps, sizes = sequences.shape[1] + 1 - SHORTEST, (sequences != symbols - 1).sum(axis=1)
    x = np.empty((len(sequences), steps, CHANNELS), dtype=np.float32)
    x[:] = _convolved(w, np.full((1, SHORTEST), symbols - 1), symbols)  # the same at each step behind the end
    order = np.argsort(sizes, kind="stable")
    for rows in (order[s : s + ALIKE] for s in range(0, len(order), ALIKE)):
        used = min(steps, max(1, int(sizes[rows].max())))
        x[rows, :used] = _convolved(w, sequences[rows, : used + SHORTEST - 1], symbols)
    summary = _relu(_dense(w, "summary", x.reshape(len(x), -1)))
    return _dense(w, "mean", summary), _dense(w, "log_variance", summary)


def _convolved(w: Weights, sequences: Sequences, symbols: int) -> Floats:
    """Return the sequences after all convolutions, (n, steps, channels): of `SHORTEST` symbols one step is left."""
    x: Floats = np.eye(symbols, dtype=np.float32)[sequences]
    for kernel in KERNELS:
        x = _relu(_convolution(w, f"convolution_{kernel}", x))
    return x


def decode(w: Weights, codes: Floats, length: int, is_over: Callable[[Floats], Mask] | None = None) -> Floats:
    """Return the scores of every symbol at every step; (n, length, symbols).

    With `is_over`, which tells from the scores so far whose later ones do not matter, these may be left at 0.
    """
    opened = _relu(_dense(w, "opening", codes))  # the input of every step
    i = _product(opened, w["recurrent.weight_ih_l0"], w["recurrent.bias_ih_l0"])
    state, rows = np.zeros_like(opened), np.arange(len(codes))  # of those that go on
    scores = np.zeros((len(codes), length, len(w["scores.weight"])), dtype=np.float32)
    for begin in range(0, length, BETWEEN):
        end = min(begin + BETWEEN, length)
        states = np.empty((len(rows), end - begin, state.shape[1]), dtype=np.float32)
        for step in range(end - begin):
            state = _recurrent(w, i, state)
            states[:, step] = state
        scores[rows, begin:end] = _dense(w, "scores", states)
        if is_over is not None and end < length:
            goes_on = ~is_over(scores[rows, :end])
            rows, i, state = rows[goes_on], i[goes_on], state[goes_on]
    return scores


def _recurrent(w: Weights, i: Floats, state: Floats) -> Floats:
    """Return the next state of a gated recurrent unit as torch has it; `i` is the product with its input."""
    hidden = state.shape[1]
    h = _product(state, w["recurrent.weight_hh_l0"], w["recurrent.bias_hh_l0"])
    ru = 0.5 * np.tanh(0.5 * (i[:, : 2 * hidden] + h[:, : 2 * hidden])) + 0.5  # the sigmoid, without overflow
    n = np.tanh(i[:, 2 * hidden :] + ru[:, :hidden] * h[:, 2 * hidden :])
    following: Floats = n + ru[:, hidden:] * (state - n)
    return following


def shapes(symbols: int, length: int, hidden: int, latent: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes that a model's weights must have."""
    weights: dict[str, tuple[int, ...]] = {
        "summary": (hidden, CHANNELS * (length + 1 - SHORTEST)), "mean": (latent, hidden),
        "log_variance": (latent, hidden), "opening": (hidden, latent), "scores": (symbols, hidden),
    }  # fmt: skip
    for kernel, inputs in zip(KERNELS, (symbols, CHANNELS, CHANNELS), strict=True):
        weights[f"convolution_{kernel}"] = (CHANNELS, inputs, kernel)
    expected = {f"{name}.weight": shape for name, shape in weights.items()}
    expected |= {f"{name}.bias": shape[:1] for name, shape in weights.items()}
    for gate in ("ih", "hh"):
        expected[f"recurrent.weight_{gate}_l0"] = (3 * hidden, hidden)
        expected[f"recurrent.bias_{gate}_l0"] = (3 * hidden,)
    return expected
