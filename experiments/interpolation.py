"""The tables and the figure of linear interpolation between two expressions, for the pairs of the paper.

python experiments/interpolation.py --corpora corpora --models models/experiments
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from edhie.expr import parse
from edhie.generators.plots import walk_figure
from edhie.generators.walks import Step, interpolate
from kept import first_fold_model, options_of

STEPS = 4
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
        f"## {pair['dataset']}: `{pair['a']}` to `{pair['b']}`\n",
        f"| α | {' | '.join(name.upper() for name in names)} |",
        "|---|" + "---|" * len(names),
        "| A | " + " | ".join(f"`{pair['a']}`" for _ in names) + " |",
    ]
    for at in range(STEPS + 1):
        steps = [found[name][at] for name in names]
        cells = ["*no expression*" if step.expr is None else f"`{step.expr}`" for step in steps]
        lines.append(f"| {steps[0].alpha:.2f} | {' | '.join(cells)} |")
    lines.append("| B | " + " | ".join(f"`{pair['b']}`" for _ in names) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the tables, and draw the pairs that ask for a figure."""
    options = options_of(__doc__)
    pairs = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["pairs"]
    tables = [TITLE]
    for pair in pairs:
        if options.dataset and pair["dataset"] not in options.dataset:
            continue
        found = walks(pair, options.models, options.corpora)
        tables.append(table(pair, found))
        if "figure" in pair:
            walk_figure(found["hvae"]).savefig(options.results / pair["figure"])
    text = "\n".join(tables)
    (options.results / "interpolation.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
