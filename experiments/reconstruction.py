"""The table of out-of-sample reconstruction errors: five folds, six sets, three models.

python experiments/reconstruction.py --corpora corpora
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from edhie.bench.report import paper
from grid import Job, parser, run
from settings import DATASETS, FOLDS, MODELS


def jobs() -> list[Job]:
    """Return the jobs, the longest first, so that none is left to run alone at the end."""
    return [Job(name, model, fold) for name in reversed(DATASETS) for model in MODELS for fold in range(FOLDS)]


TITLE = """\
# Reconstruction of held-out expressions

Mean edit distance, in postfix notation, between held-out expressions and their reconstructions; mean ± standard
deviation over five folds. Invalid: codes that give no expression, left out of the distance. Exact: expressions that are
reconstructed unchanged. Made by `python experiments/reconstruction.py`;
[how the models were trained](../README.md#how-the-settings-were-chosen).
"""


def table(rows: Sequence[dict[str, str]]) -> str:
    """Return mean and standard deviation over the folds, with the paper's figures."""
    lines = [
        TITLE,
        "| set | model | folds | edit distance | paper | invalid % | paper | exact % |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for dataset in DATASETS:
        for model in MODELS:
            own = [row for row in rows if (row["dataset"], row["model"]) == (dataset, model)]
            if own:
                errors, invalid, exact = (
                    np.array([float(row[name]) for row in own])
                    for name in ("edit_distance", "invalid_percent", "exact_percent")
                )
                figures = paper()["reconstruction"][model][dataset]
                below = "< " if "invalid" in figures.get("below", ()) else ""
                lines.append(
                    f"| {dataset} | {model.upper()} | {len(own)} | {errors.mean():.3f} ± {errors.std():.3f} "
                    f"| {figures['distance'][0]:.3f} | {invalid.mean():.2f} | {below}{figures['invalid'][0]:.1f} "
                    f"| {exact.mean():.1f} |"
                )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run what is missing, then write the table."""
    options = parser(__doc__).parse_args()
    rows = run(jobs(), options.results / "reconstruction.csv", options)
    text = table(rows)
    Path(options.results / "reconstruction.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
