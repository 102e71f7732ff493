"""The paper's drawings of the method, redrawn from real runs: overview, tree, encoding, decoding, decoding cell.

python experiments/model_figures.py

All numbers and colours are those of the shipped model nguyen-1, computed by the reference implementation, and of a
seeded run of EDHiE.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from edhie.bench.metrics import success_threshold
from edhie.bench.problem import chosen, load_problems
from edhie.evaluate import Evaluator
from edhie.expr import Expr, Forest, parse, to_infix, to_postfix, to_prefix
from edhie.expr.drawing import draw_figure
from edhie.expr.drawing.layout import math_labels, tree_layout
from edhie.generators import HVAE, load
from edhie.generators.hvae.reference import Reference
from edhie.generators.saving import SHIPPED
from edhie.plots import save
from edhie.plots.style import CURVE, FAINT, FITTED, HELD_OUT, QUIET, SMALL, new_figure, tidy
from edhie.search import Budget, run
from edhie.search.evolution import Evolve

RESULTS = Path(__file__).parent / "results"
MODEL, FORMULA, TREE = "nguyen-1", "x0 + cos(x0)", "c*x + sin(x/y)"
PROBLEM, SEED = "NG-2", 0
STAGES = 3
"""Generations of the overview: the first, one that improved on it, the last."""
FILLS = {"operator": "#d3e4f3", "function": "#d3e4f3", "variable": "#fdf3cd", "constant": "#e8cbc0"}
COLOURS = "RdBu_r"
BEST = "#c0241f"
Vector = np.ndarray


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw all figures into the folder of the results."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--results", type=Path, default=RESULTS, help="the folder of the figures")
    folder = options.parse_args(arguments).results
    steps = Steps.of(MODEL, FORMULA)
    figures = {
        "overview": overview(), "tree": tree(TREE), "encoding": encoding(steps), "decoding": decoding(steps),
        "decoding-cell": decoding_cell(steps),
    }  # fmt: skip
    for name, figure in figures.items():
        print(save(figure, folder / f"figure-{name}.png"))


# -- what a model computes ------------------------------------------------------------


class Steps(NamedTuple):
    """Everything that the model computes for one formula, with the paper's letters."""

    expr: Expr
    codes: list[Vector]
    """By node in prefix order: the code h of its subtree, from the encoding cell."""
    mu: Vector
    log_variance: Vector
    z: Vector
    """A point drawn from N(μ, σ²), which the decoder gets."""
    down: list[dict[str, Vector]]
    """By node in prefix order: h, x (the probabilities), u, n, h_l and h_r of the decoding cell."""
    names: tuple[str, ...]

    @classmethod
    def of(cls, name: str, formula: str) -> Steps:
        """Encode a formula and decode a point drawn from its distribution."""
        model = load(name)
        assert isinstance(model, HVAE)
        reference, expr = Reference(model.library, model.weights), parse(formula, model.library)
        mu, log_variance = reference.encode(Forest.from_exprs([expr]))
        noise = torch.from_numpy(np.random.default_rng(SEED).standard_normal(mu.shape, dtype=np.float32))
        z = mu + torch.exp(log_variance / 2) * noise
        assert str(model.decode(z.numpy()).forest[0]) == str(expr), "the model does not reconstruct the formula"
        codes = [reference.code(each).numpy() for each in _subtrees(expr)]
        root = z[0] @ reference.w["root_w"] + reference.w["root_b"]
        down, names = _down(reference, expr, root), expr.library.names
        return cls(expr, codes, mu[0].numpy(), log_variance[0].numpy(), z[0].numpy(), down, names)


def _subtrees(expr: Expr) -> list[Expr]:
    return [expr, *(each for child in expr.children for each in _subtrees(child))]


def _down(reference: Reference, expr: Expr, h: torch.Tensor) -> list[dict[str, Vector]]:
    """Return what the decoding cell computes at each node, and check that it chooses the node's symbol."""
    x = torch.softmax(reference.scores(h), 0)
    assert reference.library.names[int(x.argmax())] == expr.tokens[0]
    u, n = reference.gates("down", x, h)
    children = reference.gru12(x, h)
    values = {"h": h, "x": x, "u": u, "n": n, "h_l": children[0], "h_r": children[1]}
    found = [{name: value.numpy() for name, value in values.items()}]
    for child, code in zip(expr.children, children, strict=False):
        found += _down(reference, child, code)
    return found


class Watched(Evolve):
    """EDHiE's evolution, with the codes and errors of every generation kept."""

    def step(self, rng: np.random.Generator) -> bool:
        """Do one generation and keep it."""
        goes_on = super().step(rng)
        vars(self).setdefault("generations", []).append((self._living.codes.copy(), self._living.errors.copy()))
        return goes_on


# -- figures --------------------------------------------------------------------------


def overview() -> Figure:
    """Return the two steps of EDHiE: the training of the model, then evolution in its latent space."""
    problem, model = chosen(load_problems("nguyen"), [PROBLEM])[0], load(MODEL)
    X, y = problem.data("train", SEED)  # noqa: N806
    strategy, evaluator = Watched(), Evaluator(model.library, X, y)
    result = run(
        model, evaluator, strategy=strategy, budget=Budget(100_000, target_error=success_threshold(y)), rng=SEED
    )
    generations: list[Any] = vars(strategy)["generations"]
    best_errors = [errors.min() for _, errors in generations]
    better = [k for k in range(1, len(generations)) if best_errors[k] < best_errors[k - 1]]
    chosen_ones = [0, better[(len(better) - 1) // 2], len(generations) - 1]
    every = np.concatenate([generations[k][0] for k in chosen_ones])
    axes = np.linalg.svd(every - every.mean(0), full_matrices=False)[2][:2].T  # the two directions that vary most
    figure = new_figure(10.4, 3.1)
    first, *others = figure.subplots(1, 1 + STAGES, width_ratios=(1.15, *[1] * STAGES))
    _training(first)
    for panel, k in zip(others, chosen_ones, strict=True):
        codes, errors = generations[k]
        flat, best = (codes - every.mean(0)) @ axes, int(np.argmin(errors))
        panel.scatter(*flat.T, s=4, color=FITTED, alpha=0.5, linewidth=0)
        panel.scatter(*flat[best], s=60, color=BEST, zorder=3)
        text = str(model.decode(codes[[best]]).forest[0]).replace("x0", "x")
        panel.set_title(f"generation {k + 1}\nbest: {text}", fontsize=SMALL)
        panel.set_xlabel(
            f"RMSE {errors[best]:.0f}" if errors[best] > 10 else f"RMSE {errors[best]:.2g}", fontsize=SMALL, color=BEST
        )
        panel.set_xticks([])
        panel.set_yticks([])
        panel.spines[:].set_color(FAINT)
    assert result.best is not None
    formula = problem.formula.replace("*", "·")
    figure.suptitle(
        f"1. train an HVAE          2. evolution in its latent space, here for {formula}, "
        f"found after {result.counts.executed:,} expressions",
        fontsize=9, ha="left", x=0.01,
    )  # fmt: skip
    return figure


def _training(panel: Axes) -> None:
    with (SHIPPED / MODEL / "history.csv").open(encoding="utf-8", newline="") as file:
        history = list(csv.DictReader(file))
    epochs = [int(row["epoch"]) + 1 for row in history]
    for column, label, colour in (
        ("reconstruction", "reconstruction", FITTED),
        ("validation", "held out", HELD_OUT),
    ):
        panel.plot(epochs, [float(row[column]) for row in history], color=colour, linewidth=1.2, label=label)
    panel.set_yscale("log")
    panel.set_xlabel("epoch", fontsize=SMALL)
    panel.set_title("loss on 20,000 formulas\n(cross-entropy, nats)", fontsize=SMALL)
    panel.legend(frameon=False, fontsize=SMALL)
    tidy(panel)


def tree(formula: str) -> Figure:
    """Return a tree of height four and its three notations."""
    expr = parse(formula)
    assert expr.height == 4
    figure = new_figure(6.4, 2.6)
    left, right = figure.subplots(1, 2, width_ratios=(1.3, 1))
    draw_figure(expr, titles=[""], axes=left)
    right.set_axis_off()
    for k, (name, text) in enumerate(
        (("infix", to_infix(expr)), ("prefix", to_prefix(expr)), ("postfix", to_postfix(expr)))
    ):
        right.text(0, 0.75 - 0.25 * k, name, fontsize=9, color=QUIET, transform=right.transAxes)
        right.text(0.3, 0.75 - 0.25 * k, text, fontsize=10, family="monospace", transform=right.transAxes)
    return figure


def encoding(steps: Steps) -> Figure:
    """Return the way from the leaves to the code of the tree: an encoding cell (EC) at each node."""
    figure = new_figure(7.2, 4.6)
    panel = _canvas(figure, height=6.2)
    places = _places(steps.expr, top=4.0)
    for k, (x, y, parent) in enumerate(places):
        symbol = _shown(steps.expr.tokens[k])
        _box(panel, x, y, f"EC  {symbol}", FILLS[steps.expr.library[steps.expr.tokens[k]].kind])
        _strip(panel, x, y - 0.45, steps.codes[k])
        panel.text(x, y - 0.72, f"|h| = {np.linalg.norm(steps.codes[k]):.2f}", ha="center", fontsize=7, color=QUIET)
        if parent is not None:
            _arrow(panel, (x, y + 0.25), (places[parent][0], places[parent][1] - 0.8))
        if not steps.expr.library[steps.expr.tokens[k]].arity:
            panel.text(x, y - 1.0, "children: zeros", ha="center", fontsize=7, color=FAINT)
    x, y, _ = places[0]
    for side, name, value in ((-1, "μ", steps.mu), (1, "log σ²", steps.log_variance)):
        _arrow(panel, (x, y + 0.25), (x + 1.6 * side, y + 1.0))
        _strip(panel, x + 1.6 * side, y + 1.15, value)
        panel.text(x + 1.6 * side, y + 1.4, f"{name}: {len(value)} numbers", ha="center", fontsize=8)
    panel.set_title(
        f"Encoding of {_shown(str(steps.expr))}, from the leaves to the root; strips are codes "
        "(blue below 0, red above), |h| their lengths",
        fontsize=8,
    )
    return figure


def decoding(steps: Steps) -> Figure:
    """Return the way from a code to the tree: a decoding cell (DC) at each node, and what it chooses from."""
    figure = new_figure(7.2, 5.0)
    panel = _canvas(figure, height=6.6)
    places = _places(steps.expr, top=4.6)
    x, y, _ = places[0]
    _strip(panel, x, y + 1.45, steps.z)
    panel.text(x, y + 1.65, "z: a point drawn from N(μ, σ²)", ha="center", fontsize=8)
    _arrow(panel, (x, y + 1.35), (x, y + 0.95))
    for k, (x, y, parent) in enumerate(places):
        values, token = steps.down[k], steps.expr.tokens[k]
        _strip(panel, x, y + 0.75, values["h"])
        _arrow(panel, (x, y + 0.65), (x, y + 0.28))
        _box(panel, x, y, f"DC  → {_shown(token)}", FILLS[steps.expr.library[token].kind])
        order = np.argsort(-values["x"])[:3]
        shown = "   ".join(f"{_shown(steps.names[i])} {_percent(values['x'][i])}" for i in order)
        panel.text(x, y - 0.45, shown, ha="center", fontsize=7, color=QUIET)
        if parent is not None:
            _arrow(panel, (places[parent][0], places[parent][1] - 0.55), (x, y + 0.95))
    panel.set_title(
        f"Decoding of {_shown(str(steps.expr))}, from the root to the leaves; "
        "below each cell its three most probable symbols",
        fontsize=8,
    )
    return figure


def decoding_cell(steps: Steps) -> Figure:
    """Return the decoding cell at the root: probabilities of the symbols, then GRU12."""
    values = steps.down[0]
    figure = new_figure(7.2, 5.2)
    panel = _canvas(figure, height=7.0)
    _strip(panel, 0, 6.2, values["h"])
    panel.text(0, 6.42, f"h: the code of the node, {len(values['h'])} numbers", ha="center", fontsize=8)
    _arrow(panel, (0, 6.1), (-2.4, 5.45))
    _box(panel, -2.4, 5.2, "fully connected, softmax", "#eeeeee")
    _arrow(panel, (-2.4, 4.95), (-2.4, 4.6))
    _bars(panel, values["x"], steps.names, left=-4.2, width=3.6, bottom=3.1, height=1.2)
    panel.text(-2.4, 4.42, "x: probabilities of the symbols", ha="center", fontsize=8)
    _arrow(panel, (-0.5, 3.7), (1.25, 2.95))
    _arrow(panel, (0.3, 6.1), (1.9, 3.05))
    _box(panel, 1.9, 2.8, "GRU12", "#eeeeee")
    for k, name in enumerate(("u", "n")):
        _strip(panel, 4.2, 3.1 - 0.55 * k, values[name])
        panel.text(3.0, 3.1 - 0.55 * k, name, ha="center", va="center", fontsize=8)
    _arrow(panel, (2.55, 2.8), (2.9, 2.8))
    for side, name, label in ((-1, "h_l", "left"), (1, "h_r", "right")):
        _arrow(panel, (1.9, 2.55), (1.9 + 1.6 * side, 1.45))
        _strip(panel, 1.9 + 1.6 * side, 1.25, values[name])
        panel.text(1.9 + 1.6 * side, 0.9, f"code of the {label} child", ha="center", fontsize=8)
    panel.text(-2.4, 2.35, f"chosen: {_shown(steps.expr.tokens[0])}", ha="center", fontsize=9)
    panel.set_title(f"The decoding cell at the root of {_shown(str(steps.expr))}", fontsize=8)
    return figure


# -- drawing --------------------------------------------------------------------------


def _canvas(figure: Figure, height: float) -> Axes:
    panel = figure.subplots()
    panel.set_axis_off()
    panel.set_xlim(-5.2, 5.8)
    panel.set_ylim(0, height)
    return panel


def _places(expr: Expr, top: float) -> list[tuple[float, float, int | None]]:
    """Return x, y and the parent of each node in prefix order."""
    nodes = sorted(tree_layout(expr, math_labels(expr), gap=1.0), key=lambda node: node.position)
    middle = nodes[0].x
    scale = 2.4 / max(abs(node.x - middle) for node in nodes)
    return [(scale * (node.x - middle), top - 1.75 * (node.depth - 1), node.parent) for node in nodes]


def _box(panel: Axes, x: float, y: float, text: str, fill: str) -> None:
    box = {"boxstyle": "round,pad=0.4", "facecolor": fill, "edgecolor": QUIET, "linewidth": 0.8}
    panel.text(x, y, text, ha="center", va="center", fontsize=9, color=CURVE, bbox=box)


def _strip(panel: Axes, x: float, y: float, values: Vector, width: float = 2.0) -> None:
    """Draw a vector as a strip of colours, blue below zero and red above."""
    most = float(np.abs(values).max())
    panel.imshow(
        values[np.newaxis], aspect="auto", cmap=COLOURS, vmin=-most, vmax=most, interpolation="nearest",
        extent=(x - width / 2, x + width / 2, y - 0.08, y + 0.08),
    )  # fmt: skip


def _bars(
    panel: Axes, values: Vector, names: Sequence[str], *, left: float, width: float, bottom: float, height: float
) -> None:
    step = width / len(values)
    for k, (value, name) in enumerate(zip(values, names, strict=True)):
        x = left + (k + 0.5) * step
        panel.bar(x, height * value, width=0.7 * step, bottom=bottom, color=FITTED)
        panel.text(x, bottom - 0.1, _shown(name), ha="center", va="top", fontsize=6, rotation=60)


def _arrow(panel: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    panel.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": QUIET, "linewidth": 0.9})


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share >= 0.0005 else "< 0.1 %"


def _shown(text: str) -> str:
    return text.replace("x0", "x").replace("*", "·")


if __name__ == "__main__":
    main()
