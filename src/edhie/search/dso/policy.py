"""The policy: a recurrent network (LSTM) that generates expressions in prefix order, token by token.

Its input is the parent and the sibling of the next token. It is written in NumPy: at its size, with all expressions of
a batch in one array, a deep learning library would not be faster.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest
from edhie.search.arrays import Mask, Numbers
from edhie.search.dso.priors import Context, Priors

Weights = dict[str, Numbers]
"""parent and sibling (tokens + 1, 4·units), recurrent (units, 4·units), bias (4·units), output (units, tokens),
output_bias (tokens). Columns are grouped by gate: input, forget, cell, output."""
FORGET = 1.0  # initial bias of the forget gate, so that the state is kept


class Cell(NamedTuple):
    """The state and the gates of the LSTM after one token; all of shape (rows, units)."""

    inputs: Numbers
    forgets: Numbers
    news: Numbers
    outputs: Numbers
    c: Numbers
    h: Numbers


def initial_weights(n_tokens: int, units: int, rng: np.random.Generator) -> Weights:
    """Return random weights; those of the output are 0, so the first samples follow the priors alone (our choice)."""
    shapes = {"parent": n_tokens + 1, "sibling": n_tokens + 1, "recurrent": units}
    limit = 1 / np.sqrt(units)
    weights = {name: rng.uniform(-limit, limit, (rows, 4 * units)) for name, rows in shapes.items()}
    bias = np.zeros((4, units))
    bias[1] = FORGET
    return weights | {
        "bias": bias.ravel(),
        "output": np.zeros((units, n_tokens)),
        "output_bias": np.zeros(n_tokens),
    }


def first_cell(rows: int, units: int) -> Cell:
    """Return the state before the first token."""
    zeros = np.zeros((rows, units))
    return Cell(zeros, zeros, zeros, zeros, zeros, zeros)


def next_cell(weights: Weights, seen: Context, before: Cell) -> Cell:
    """Return the state of the LSTM after it has seen the next token's parent and sibling."""
    gates = weights["parent"][seen.parent] + weights["sibling"][seen.sibling] + weights["bias"]  # one-hot inputs
    gates += before.h @ weights["recurrent"]
    a, b, g, o = np.split(gates, 4, axis=1)
    inputs, forgets, outputs, news = _sigmoid(a), _sigmoid(b), _sigmoid(o), np.tanh(g)
    c = forgets * before.c + inputs * news
    return Cell(inputs, forgets, news, outputs, c, outputs * np.tanh(c))


def log_probabilities(weights: Weights, cell: Cell, prior: Numbers, allowed: Mask) -> Numbers:
    """Return the log-probability of each token, (rows, tokens); -inf for those not allowed."""
    logits = np.where(allowed, cell.h @ weights["output"] + weights["output_bias"] + prior, -np.inf)
    shifted = logits - logits.max(axis=1, keepdims=True)
    scaled: Numbers = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return scaled


def sample(weights: Weights, priors: Priors, n: int, rng: np.random.Generator) -> Forest:
    """Sample `n` expressions."""
    tokens: NDArray[np.int16] = np.full((n, priors.max_length), -1, np.int16)
    cell = first_cell(n, len(weights["output"]))
    for t in range(priors.max_length):
        seen = priors.context(tokens, t)
        if not seen.missing.any():
            break
        cell = next_cell(weights, seen, cell)
        chances = log_probabilities(weights, cell, priors.logits[t], seen.allowed)
        drawn = np.argmax(chances + rng.gumbel(size=chances.shape), axis=1)
        tokens[:, t] = np.where(seen.missing > 0, drawn, -1)
    return priors.as_forest(tokens)


def _sigmoid(values: Numbers) -> Numbers:
    return 0.5 * (1 + np.tanh(0.5 * values))  # no overflow
