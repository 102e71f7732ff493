"""The policy: a recurrent network (LSTM) that generates expressions in prefix order, token by token.

Its input is the parent and the sibling of the next token. It is written in NumPy: at its size, with all expressions of
a batch in one array, a deep learning library would not be faster.

It is trained by the risk-seeking policy gradient, with the hierarchical entropy bonus, and Adam. The objective is the
mean, over the expressions τ of a training set, of

    (R(τ) - R_ε)·log p(τ) + λ·Σ_t decay^t·H_t,

where R_ε is the (1 - ε)-quantile of the rewards of the policy's samples, and H_t is the entropy of the policy at
position t.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest
from edhie.search.arrays import Mask, Numbers
from edhie.search.dso.priors import Context, Priors, Tokens

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
    return weights | {"bias": bias.ravel(), "output": np.zeros((units, n_tokens)), "output_bias": np.zeros(n_tokens)}


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


# -- the policy gradient ---------------------------------------------------------------

FIRST, SECOND, TINY = 0.9, 0.999, 1e-8  # Adam's β₁, β₂ and ε, with their usual values


def objective_and_gradient(
    weights: Weights, priors: Priors, tokens: Tokens, advantages: Numbers, bonus: tuple[float, float]
) -> tuple[float, Weights]:
    """Return the objective for a matrix of expressions, one advantage R(τ) - R_ε for each, and its gradient.

    `bonus` has λ, and the factor from one position to the next: choices near the root count more.
    """
    n, units = len(tokens), len(weights["output"])
    cells, seen, errors, objective = [first_cell(n, units)], [], [], 0.0
    for t in range(int((tokens >= 0).sum(axis=1).max(initial=0))):
        seen.append(priors.context(tokens, t))
        cells.append(next_cell(weights, seen[t], cells[t]))
        log_p = log_probabilities(weights, cells[-1], priors.logits[t], seen[t].allowed)
        value, error = _at_place(log_p, tokens[:, t], advantages, bonus[0] * bonus[1] ** t)
        objective += value / n
        errors.append(error / n)
    return objective, _backward(weights, cells, seen, errors)


def _at_place(log_p: Numbers, chosen: Tokens, advantages: Numbers, bonus: float) -> tuple[float, Numbers]:
    """Return the contribution of one position to the objective, and its gradient by logits, (rows, tokens)."""
    p = np.exp(log_p)
    log_p = np.where(p > 0, log_p, 0.0)
    entropy = -(p * log_p).sum(axis=1, keepdims=True)
    rows = np.flatnonzero(chosen >= 0)  # the others have ended
    gradient = -bonus * p * (log_p + entropy) - advantages[:, np.newaxis] * p
    gradient[rows, chosen[rows]] += advantages[rows]
    gradient[chosen < 0] = 0
    value = advantages[rows] @ log_p[rows, chosen[rows]] + bonus * entropy[rows].sum()
    return float(value), gradient


def _backward(weights: Weights, cells: list[Cell], seen: list[Context], errors: list[Numbers]) -> Weights:
    """Return the gradient by all weights, by backpropagation through time from the gradients by logits."""
    gradient = {name: np.zeros_like(each) for name, each in weights.items()}
    by_h, by_c = np.zeros_like(cells[0].h), np.zeros_like(cells[0].c)
    for t in range(len(errors) - 1, -1, -1):
        before, cell = cells[t], cells[t + 1]
        gradient["output"] += cell.h.T @ errors[t]
        gradient["output_bias"] += errors[t].sum(axis=0)
        by_h = by_h + errors[t] @ weights["output"].T
        squashed = np.tanh(cell.c)
        by_c = by_c + by_h * cell.outputs * (1 - squashed**2)
        by_gates = np.concatenate(
            [
                by_c * cell.news * cell.inputs * (1 - cell.inputs),
                by_c * before.c * cell.forgets * (1 - cell.forgets),
                by_c * cell.inputs * (1 - cell.news**2),
                by_h * squashed * cell.outputs * (1 - cell.outputs),
            ],
            axis=1,
        )  # (rows, 4·units)
        np.add.at(gradient["parent"], seen[t].parent, by_gates)
        np.add.at(gradient["sibling"], seen[t].sibling, by_gates)
        gradient["recurrent"] += before.h.T @ by_gates
        gradient["bias"] += by_gates.sum(axis=0)
        by_h, by_c = by_gates @ weights["recurrent"].T, by_c * cell.forgets
    return gradient


@dataclass(frozen=True, eq=False)
class Adam:
    """The state of Adam: the number of steps, and the moments of the gradient."""

    steps: int
    first: Weights
    second: Weights

    @classmethod
    def at_start(cls, weights: Weights) -> Adam:
        """Return the state before the first step."""
        return cls(0, *({name: np.zeros_like(each) for name, each in weights.items()} for _ in range(2)))

    def ascend(self, weights: Weights, gradient: Weights, rate: float) -> tuple[Weights, Adam]:
        """Return the weights after one step of gradient ascent, and the state after it."""
        steps = self.steps + 1
        first = {name: FIRST * self.first[name] + (1 - FIRST) * each for name, each in gradient.items()}
        second = {name: SECOND * self.second[name] + (1 - SECOND) * each**2 for name, each in gradient.items()}
        mean = {name: each / (1 - FIRST**steps) for name, each in first.items()}
        spread = {name: np.sqrt(each / (1 - SECOND**steps)) + TINY for name, each in second.items()}
        moved = {name: each + rate * mean[name] / spread[name] for name, each in weights.items()}
        return moved, Adam(steps, first, second)
