"""The figure of reconstruction error against the size of the training set, on Trig5-15k.

python experiments/training_size.py --corpora corpora
"""

from __future__ import annotations

from figures import error_figure
from grid import Job, parser, run
from settings import FIGURE_SET, FOLDS, MODELS, TRAINING_SIZES


def jobs() -> list[Job]:
    """Return the jobs, the longest first."""
    sizes = sorted(TRAINING_SIZES, reverse=True)
    return [Job(FIGURE_SET, model, fold, size) for size in sizes for model in MODELS for fold in range(FOLDS)]


def main() -> None:
    """Run what is missing, then draw."""
    options = parser(__doc__).parse_args()
    rows = run(jobs(), options.results / "training_size.csv", options)
    figure = error_figure(rows, "training_size", f"expressions learnt from ({FIGURE_SET})")
    figure.savefig(options.results / "training_size.png")


if __name__ == "__main__":
    main()
