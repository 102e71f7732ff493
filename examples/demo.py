"""What `make demo` runs: from measurements of a cooling cup to equations, their constants and a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from edhie.evaluate import THOROUGH, Evaluator, Scores, fit_constants, values
from edhie.evaluate.constants.rounding import readable
from edhie.evaluate.constants.uncertainty import uncertainty
from edhie.expr import Expr, Forest
from edhie.generators import load

OUT = Path("out")
SEED, EXPRESSIONS, MOST_NODES = 0, 30_000, 15
NOISE = 0.3  # degrees


def measurements() -> tuple[np.ndarray, np.ndarray]:
    """A cup of tea that cools from 90 °C in a room of 21 °C, by Newton's law with a time constant of 25 minutes."""
    rng = np.random.default_rng(SEED)
    minutes = np.sort(rng.uniform(0, 90, 60))
    return minutes, 21 + 69 * np.exp(-minutes / 25) + NOISE * rng.normal(size=len(minutes))


def front(scores: Scores) -> list[int]:
    """The places of the expressions that no other beats in both error and size, from small to large."""
    best, found = np.inf, []
    for k in np.lexsort((scores.errors, scores.complexities)):
        if scores.errors[k] < 0.98 * best and scores.complexities[k] <= MOST_NODES:
            best = scores.errors[k]
            found.append(int(k))
    return found


def picture(minutes: np.ndarray, degrees: np.ndarray, best: Expr, errors: list[float], sizes: list[float]) -> Figure:
    """The data with the best equation, and the front."""
    figure = Figure(figsize=(9, 3.6), layout="constrained", dpi=130)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    fine = np.linspace(minutes.min(), minutes.max(), 300)
    left.plot(minutes, degrees, "o", color="#8aa7c4", markersize=4, label="measured")
    left.plot(fine, values(Forest.from_exprs([best]), fine[np.newaxis])[0], color="#b5502a", label=str(best))
    left.set(xlabel="minutes", ylabel="°C")
    left.legend(frameon=False)
    right.step(sizes, errors, where="post", marker="o", color="#1f5f99")
    right.axhline(NOISE, color="grey", linewidth=0.8, linestyle=":")
    right.annotate("noise", (min(sizes), NOISE), va="bottom", color="grey")
    right.set(xlabel="nodes", ylabel="error, °C", yscale="log")
    for panel in (left, right):
        panel.spines[["top", "right"]].set_visible(False)
    return figure


def main() -> None:
    """Draw expressions from a model that comes along, score them, and show what is left."""
    console = Console()
    minutes, degrees = measurements()
    model = load("general-1")
    evaluator = Evaluator(model.library, minutes, degrees)
    console.print(f"{EXPRESSIONS:,} expressions drawn from the model general-1, scored on 60 measurements:")
    scores = evaluator.score(model.sample(EXPRESSIONS, np.random.default_rng(SEED)))
    chosen = front(scores)
    fitted = fit_constants(scores.forest.take(chosen), evaluator.data, config=THOROUGH)
    errors = np.sqrt(fitted.squared_errors / len(degrees)).tolist()
    sizes = scores.complexities[chosen].tolist()
    table = Table("nodes", "error, °C", "equation")
    shown = [readable(expr, evaluator.data, slack=0.001) for expr in fitted.forest]
    for size, error, expr in zip(sizes, errors, shown, strict=True):
        table.add_row(f"{size:.0f}", f"{error:.3g}", str(expr))
    console.print(table)
    within = next((k for k, error in enumerate(errors) if error < 1.1 * min(errors)), len(errors) - 1)
    best = fitted.forest[within]
    told = uncertainty(best, evaluator.data)
    constants = ", ".join(f"{c:.4g} ± {s:.2g}" for c, s in zip(told.values, told.standard_errors, strict=True))
    console.print(f"The simplest within a tenth of the best: {shown[within]}", highlight=False)
    console.print(f"its constants: {constants}", highlight=False)
    OUT.mkdir(exist_ok=True)
    path = OUT / "demo.png"
    picture(minutes, degrees, shown[within], errors, sizes).savefig(path)
    counts = evaluator.counts
    console.print(f"{counts.executed:,} of them were distinct. The picture is in {path}.", highlight=False)


if __name__ == "__main__":
    main()
