"""The figure of reconstruction error against the number of latent dimensions, on Trig5-15k.

python experiments/latent_dimension.py --corpora corpora
"""

from __future__ import annotations

from figures import error_figure
from grid import Job, parser, run
from settings import FIGURE_SET, FOLDS, LATENT_DIMENSIONS, MODELS


def jobs() -> list[Job]:
    """Return a job for each model, number of dimensions and fold."""
    return [
        Job(FIGURE_SET, model, fold, latent=latent)
        for latent in LATENT_DIMENSIONS
        for model in MODELS
        for fold in range(FOLDS)
    ]


def main() -> None:
    """Run what is missing, then draw."""
    options = parser(__doc__).parse_args()
    rows = run(jobs(), options.results / "latent_dimension.csv", options)
    figure = error_figure(rows, "latent", f"dimensions of the latent space ({FIGURE_SET})", log=True)
    figure.savefig(options.results / "latent_dimension.png")


if __name__ == "__main__":
    main()
