"""The tables and the figures of linear interpolation between two expressions, for the pairs of the paper.

python experiments/interpolation.py --corpora corpora --models models/experiments

Pairs whose table is in `interpolation.md` are not decoded again; the figures are drawn from the tables.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from edhie.expr import SymbolLibrary, parse
from edhie.generators.plots import walk_figure
from edhie.generators.walks import Step, interpolate
from kept import first_fold_model, options_of

STEPS = 4
NOTHING = "*no expression*"
LIBRARY = SymbolLibrary.of(["+", "-", "*", "/", "^", "sin", "cos"], ["x0"], constant=True)
"""The symbols of all pairs."""
TITLE = """\
# Linear interpolation in latent spaces

Two expressions, A and B, are encoded; the codes (1 − α)·A + α·B are decoded. The pairs are those of the paper: two for
all three models, six for HVAE alone. Made by `python experiments/interpolation.py`.
"""


def walks(pair: dict[str, Any], models: Path, corpora: Path) -> dict[str, list[Step]]:
    """Return the walk between the pair's expressions in each of its models."""
    found = {}
    for name in pair["models"]:
        model = first_fold_model(pair["dataset"], name, models, corpora)
        a, b = (parse(pair[side], model.library) for side in ("a", "b"))
        found[name] = interpolate(model, a, b, steps=STEPS)
    return found


def table(pair: dict[str, Any], found: dict[str, list[Step]]) -> str:
    """Return the walks side by side, with the given expressions above and below."""
    names = list(found)
    lines = [
        _heading(pair),
        f"| α | {' | '.join(name.upper() for name in names)} |",
        "|---|" + "---|" * len(names),
        "| A | " + " | ".join(f"`{pair['a']}`" for _ in names) + " |",
    ]
    for at in range(STEPS + 1):
        steps = [found[name][at] for name in names]
        cells = [NOTHING if step.expr is None else f"`{step.expr}`" for step in steps]
        lines.append(f"| {steps[0].alpha:.2f} | {' | '.join(cells)} |")
    lines.append("| B | " + " | ".join(f"`{pair['b']}`" for _ in names) + " |")
    return "\n".join(lines) + "\n"


def _heading(pair: dict[str, Any]) -> str:
    return f"## {pair['dataset']}: `{pair['a']}` to `{pair['b']}`\n"


def read_table(text: str, pair: dict[str, Any]) -> str | None:
    """Return the table of a pair in a text, as `table` writes it; None if it is not there."""
    _, heading, rest = text.partition(_heading(pair))
    return heading + rest.split("\n## ")[0].rstrip("\n") + "\n" if heading else None


def read_walk(written: str) -> list[Step]:
    """Return the walk of HVAE, the first column after α, from a table."""
    cells = [line.strip("| ").split(" | ")[:2] for line in written.splitlines() if re.match(r"\| \d", line)]
    return [Step(float(alpha), None if cell == NOTHING else parse(cell.strip("`"), LIBRARY)) for alpha, cell in cells]


def main() -> None:
    """Write the tables, and draw the pairs that ask for a figure."""
    options = options_of(__doc__)
    pairs = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["pairs"]
    pairs = [pair for pair in pairs if not options.dataset or pair["dataset"] in options.dataset]
    path = options.results / "interpolation.md"
    known = path.read_text(encoding="utf-8") if path.is_file() else ""
    tables = [read_table(known, pair) or table(pair, walks(pair, options.models, options.corpora)) for pair in pairs]
    text = "\n".join([TITLE, *tables])
    path.write_text(text, encoding="utf-8")
    print(text)
    for pair, written in zip(pairs, tables, strict=True):
        if "figure" in pair:
            walk_figure(read_walk(written)).savefig(options.results / pair["figure"])


if __name__ == "__main__":
    main()
