"""Models of the structure of formulas, for `structure_prior.py`: each gives code lengths of expressions in bits.

All of them code operators and the classes of leaves (variable, constant, number). Which variable a leaf is would cost
the same in all of them, and is left out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.selection.prior.structure_prior import StructurePrior
from edhie.selection.prior.tables import add_events, events
from edhie.selection.prior.versions import normal_form
from formula_versions import written

Numbers = NDArray[np.float64]
Model = Callable[[Forest, Numbers, Forest], Numbers]
"""From formulas to learn from, their weights, and formulas to code: bits of the latter."""
COMMUTATIVE = ("+", "*", "min", "max")
STRENGTHS = (5.0, 20.0, 20.0)
ESCAPE = 0.1
"""The share of the uniform model in the code of a grammar, which does not derive every formula."""
SAMPLES, STEPS, NOISES = 256, 150, 4
"""Samples of the bound on an HVAE's likelihood; steps, and samples per step, that fit the posterior of each code."""


# -- symbols one by one, each given what stands above it ----------------------------------


def classes_of(library: SymbolLibrary) -> list[str]:
    """Return by token the operator's name, or the class of the leaf."""
    return [each.name if each.kind == "operator" else each.kind for each in library.symbols]


def contexts(forest: Forest, depth: int) -> Iterator[list[tuple[tuple[Any, ...], ...]]]:
    """Yield by expression the `depth` contexts of each node (1: overall, 2: parent, …), from general to special."""
    names = classes_of(forest.library)
    left, right = forest.left, forest.right
    place: list[tuple[Any, ...]] = [("root",)] * len(forest.tokens)
    above: list[tuple[Any, ...]] = [()] * len(forest.tokens)
    for i, token in enumerate(forest.tokens.tolist()):
        for k, child in enumerate((int(left[i]), int(right[i]))):
            if child >= 0:
                name = names[token]
                place[child] = (name,) if name in COMMUTATIVE else (name, k)
                above[child] = place[i]
    for start, end in zip(forest.offsets[:-1].tolist(), forest.offsets[1:].tolist(), strict=True):
        yield [(("all",), ("parent", place[i]), ("both", place[i], above[i]))[:depth] for i in range(start, end)]


def symbol_model(depth: int) -> Model:
    """Return a model of symbols given their parent (2) or parent and grandparent (3), smoothed towards simpler ones."""

    def bits(known: Forest, weights: Numbers, forest: Forest) -> Numbers:
        names = classes_of(forest.library)
        counts: dict[Any, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for expr, weight, chains in zip(known, weights, contexts(known, depth), strict=True):
            for token, chain in zip(expr.tokens, chains, strict=True):
                for context in chain:
                    counts[context][_class(known.library, token)] += weight
        totals = {context: sum(row.values()) for context, row in counts.items()}
        found = []
        for expr, chains in zip(forest, contexts(forest, depth), strict=True):
            length = 0.0
            for token, chain in zip(expr.tokens, chains, strict=True):
                probability = 1 / len(set(names))
                for strength, context in zip(STRENGTHS, chain, strict=False):
                    if context in totals:
                        counted = counts[context].get(_class(forest.library, token), 0.0)
                        probability = (counted + strength * probability) / (totals[context] + strength)
                length -= math.log2(probability)
            found.append(length)
        return np.array(found)

    return bits


def _class(library: SymbolLibrary, token: str) -> str:
    symbol = library[token]
    return symbol.name if symbol.kind == "operator" else symbol.kind


def shipped_model(known: Forest, weights: Numbers, forest: Forest) -> Numbers:
    """Code with sums and products as wholes: the model that comes with edhie."""
    total: dict[tuple[str, str, str], dict[str, float]] = {}
    for expr, weight in zip(known, weights, strict=True):
        add_events(total, events(normal_form(expr)), float(weight))
    prior = StructurePrior(total)
    is_variable = np.array([symbol.kind == "variable" for symbol in forest.library.symbols])
    variables = np.add.reduceat(is_variable[forest.tokens].astype(float), forest.offsets[:-1])
    return prior.bits(forest) - variables * math.log2(len(forest.library.variables))


# -- grammars -----------------------------------------------------------------------------


def grammar_model(name: str) -> Model:
    """Return the code of a grammar as it is, `general` or `universal`, with an escape for what it does not derive."""

    def bits(known: Forest, weights: Numbers, forest: Forest) -> Numbers:
        from edhie.grammar import load, universal_grammar

        grammar = universal_grammar(forest.library) if name == "universal" else load(name, forest.library)
        uniform = symbol_model(0)(known, weights, forest)
        shares = (1 - ESCAPE) * np.exp(grammar.log_probabilities(forest)) + ESCAPE * np.exp2(-uniform)
        return np.asarray(-np.log2(shares))

    return bits


# -- autoencoders -------------------------------------------------------------------------


def hvae_model(*, is_trained: bool) -> Model:
    """Return bounds on the code of the shipped HVAE, or of one trained further on the formulas, without free bits."""

    def bits(known: Forest, weights: Numbers, forest: Forest) -> Numbers:
        from edhie.generators import TrainConfig, load
        from edhie.generators.train import train

        model: Any = load("general-1")
        if is_trained:
            distinct, places = known.grouped()
            counted = np.bincount(places, weights=weights)
            config = TrainConfig.of(
                "hvae", hidden=model.hidden_dim, latent=model.latent_dim, divergence=1.0, learning_rate=0.01, epochs=60,
                validation=0.0,
            )  # fmt: skip
            model, _ = train(known.take(distinct), config, weights=counted / counted.mean(), start=model)
        distinct, places = forest.grouped()
        parts = forest.take(distinct)
        found = [_bound(model, parts[start : start + 128], start) for start in range(0, len(parts), 128)]
        return np.asarray(np.concatenate(found)[places])

    return bits


def _bound(model: Any, forest: Forest, seed: int) -> Numbers:
    """Return bits by the importance-weighted bound; the posterior of each code is fitted, from the encoder's on."""
    import torch

    from edhie.generators.hvae.layout import down_layout, up_layout
    from edhie.generators.hvae.network import HVAENetwork

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    network = HVAENetwork(model.library, model.hidden_dim, model.latent_dim)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            parameter.copy_(torch.tensor(np.asarray(model.weights[name])))
        mean, log_variance = network.encode(up_layout(forest))
    for parameter in network.parameters():
        parameter.requires_grad_(requires_grad=False)
    mean, log_variance = mean.clone().requires_grad_(), log_variance.clone().requires_grad_()

    def log_weights(samples: int) -> torch.Tensor:
        layout = down_layout(forest.take(np.repeat(np.arange(len(forest)), samples)))
        spread, centre = log_variance.repeat_interleave(samples, 0), mean.repeat_interleave(samples, 0)
        noise = torch.randn_like(centre)
        codes = centre + noise * torch.exp(spread / 2)
        scores = torch.log_softmax(network.decode(codes, layout), 1)
        nodes = scores[torch.arange(len(layout.symbols)), torch.tensor(layout.symbols)]
        trees = torch.zeros(len(codes)).index_add(0, torch.tensor(layout.trees), nodes)
        return (trees - (codes**2).sum(1) / 2 + ((noise**2 + spread) / 2).sum(1)).view(-1, samples)

    optimiser = torch.optim.Adam([mean, log_variance], lr=0.05)
    for _ in range(STEPS):
        optimiser.zero_grad()
        (-log_weights(NOISES).mean(1).sum()).backward()
        optimiser.step()
    with torch.no_grad():
        found = torch.logsumexp(log_weights(SAMPLES), 1) - math.log(SAMPLES)
    return np.asarray(-found.numpy() / math.log(2), dtype=np.float64)


# -- formulas over the symbols of the shipped generators ----------------------------------

REWRITTEN = {"^4": ("^", "c"), "^5": ("^", "c"), "cbrt": ("^", "c"), "log10": ("* c log",), "inv": ("/ c",)}


def plain(expr: Expr, library: SymbolLibrary) -> Expr | None:
    """Return an expression with constants for numbers and one variable; None where the library cannot write it."""
    leaf = {"variable": library.variables[0]}
    stack: list[list[str]] = []
    for token in reversed(expr.tokens):
        symbol = expr.library[token]
        operands = [stack.pop() for _ in range(symbol.arity)]
        if symbol.kind != "operator":
            stack.append([leaf.get(symbol.kind, "c")])
        elif token in REWRITTEN:
            before, *after = REWRITTEN[token]
            stack.append([*before.split(), *operands[0], *after])
        else:
            stack.append([token, *(each for tokens in operands for each in tokens)])
    tokens = stack.pop()
    if any(token not in library for token in tokens):
        return None
    merged = written(normal_form(Expr(library, tokens)), library.with_numbers())
    return Expr(library, ["c" if token == "1" else token for token in merged])


def over(forest: Forest, library: SymbolLibrary) -> tuple[Forest, NDArray[np.bool_]]:
    """Return the expressions that a library can write, with constants for numbers, and which these are."""
    found: Sequence[Expr | None] = [plain(expr, library) for expr in forest]
    return (
        Forest.from_exprs([each for each in found if each is not None], library),
        np.array([each is not None for each in found]),
    )
