"""What `make demo` runs: draw ten expressions from a grammar and show them in every form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.columns import Columns
from rich.console import Console
from rich.table import Table
from rich.text import Text

from edhie.expr import Forest, to_infix, to_postfix, to_prefix
from edhie.expr.drawing import draw_figure, draw_text
from edhie.grammar import load

OUT = Path("out")
WANTED = 10
SIZES = range(5, 14)  # large enough to be of interest, small enough to draw


def ten_expressions() -> Forest:
    """Ten distinct expressions of the paper's Nguyen grammar for two variables."""
    drawn = load("nguyen-2").sample(2000, np.random.default_rng(7), max_height=6, max_size=SIZES.stop).unique()
    return drawn[np.isin(drawn.sizes, SIZES)][:WANTED]


def main() -> None:
    """Print the notations and the trees, and draw all ten into a picture."""
    console = Console()
    console.print("Ten expressions drawn from the grammar nguyen-2:\n")
    table = Table("infix", "prefix", "postfix")
    exprs = ten_expressions().to_exprs()
    for expr in exprs:
        table.add_row(to_infix(expr), to_prefix(expr), to_postfix(expr))
    console.print(table)
    console.print("\nThe same as trees:\n")
    trees = [Text(f"{to_infix(expr)}\n\n{draw_text(expr)}\n") for expr in exprs]
    console.print(Columns(trees, padding=(0, 4)))
    OUT.mkdir(exist_ok=True)
    picture = OUT / "demo-trees.png"
    draw_figure(exprs, columns=5).savefig(picture, dpi=110)
    console.print(f"\nAll ten trees are drawn in {picture}.", highlight=False)


if __name__ == "__main__":
    main()
