"""What `make demo` runs: from measurements of a cooling cup to its equation, its constants and a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from edhie.evaluate import Evaluator, values
from edhie.evaluate.constants.rounding import readable
from edhie.evaluate.constants.uncertainty import uncertainty
from edhie.expr import Expr, Forest
from edhie.generators import load
from edhie.results.description import shortest_description
from edhie.search import Budget, run

OUT = Path("out")
SEED, EVALUATIONS, MOST_NODES = 0, 20_000, 15
NOISE = 0.3  # degrees
SLACK = 0.01  # the share by which the error may rise for plainer numbers


def measurements() -> tuple[np.ndarray, np.ndarray]:
    """A cup of tea that cools from 90 °C in a room of 21 °C, by Newton's law with a time constant of 25 minutes."""
    rng = np.random.default_rng(SEED)
    minutes = np.sort(rng.uniform(0, 90, 60))
    return minutes, 21 + 69 * np.exp(-minutes / 25) + NOISE * rng.normal(size=len(minutes))


def picture(minutes: np.ndarray, degrees: np.ndarray, best: Expr, sizes: np.ndarray, errors: np.ndarray) -> Figure:
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
    """Search with a model that comes along, and show what is found."""
    console = Console()
    minutes, degrees = measurements()
    model = load("general-1")
    evaluator = Evaluator(model.library, minutes, degrees)
    console.print("Searching for an equation of 60 measurements, with the model general-1 as the source of its pieces:")
    result = run(model, evaluator, budget=Budget(EVALUATIONS), rng=SEED)
    front = [each for each in result.front if each.complexity <= MOST_NODES]
    table = Table("nodes", "error, °C", "equation")
    for each in front:
        table.add_row(
            f"{each.complexity:.0f}", f"{each.error:.3g}", str(readable(each.expr, evaluator.data, slack=SLACK))
        )
    console.print(table)
    chosen = shortest_description(result.candidates, evaluator.data)
    assert chosen is not None
    told = uncertainty(chosen.expr, evaluator.data)
    shown = readable(chosen.expr, evaluator.data, slack=SLACK)
    constants = ", ".join(f"{c:.4g} ± {s:.2g}" for c, s in zip(told.values, told.standard_errors, strict=True))
    console.print(f"The shortest description of the data: {shown}", highlight=False)
    console.print(f"its constants: {constants}", highlight=False)
    console.print(f"{result.counts}; {result.seconds:.1f} s", highlight=False)
    OUT.mkdir(exist_ok=True)
    path = OUT / "demo.png"
    sizes, errors = (np.array([getattr(each, name) for each in front]) for name in ("complexity", "error"))
    picture(minutes, degrees, shown, sizes, errors).savefig(path)
    console.print(f"The picture is in {path}.", highlight=False)


if __name__ == "__main__":
    main()
