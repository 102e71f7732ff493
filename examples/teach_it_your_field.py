"""Teach it your field: 14 formulas of pharmacology, and what a generator that was fine-tuned on them is worth.

The same data, seeds and budget with and without `corpus=`. The law behind the data is not in the corpus: it is a
product of two parts that are. Needs torch (`pip install "edhie[train]"`). `python examples/teach_it_your_field.py`
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from edhie import EDHiERegressor
from edhie.fit import Discovery
from edhie.plots import save

FIELD = [  # dose and time are columns of the data, so they are these; all other names stand for constants
    "dose*exp(-k*time)/V",  # a dose into the blood, and its elimination
    "dose*(exp(-k*time) - exp(-a*time))/V",  # … after it was absorbed
    "dose/(V*k)*(1 - exp(-k*time))",  # an infusion
    "A*exp(-k*time) + B*exp(-q*time)",  # two compartments
    "dose*k*time*exp(-k*time)/V",  # absorption as fast as elimination
    "dose*exp(-k*time)*time",
    "dose*exp(-k*time) + B",
    "A*(1 - exp(-k*time))",
    "dose - k*time",  # elimination at a constant rate, as of alcohol
    "E*dose/(K + dose)",  # the effect of a dose levels off
    "E*dose^n/(K + dose^n)",  # … steeply, after Hill
    "B + E*dose/(K + dose)",
    "E*dose/(K + dose) - k*time",
    "dose/(V + A*dose)",
]
NOISE = 0.01
SEARCHES = {"draw": "expressions drawn at random", "evolve": "evolution in the latent space"}
PLAIN, TAUGHT = "as it comes", "taught the field"
COLOURS = {PLAIN: "#6b6b6b", TAUGHT: "#1f5f99"}


def measurements(seed: int) -> tuple[pd.DataFrame, pd.Series, float]:
    """Doses, times, effects, and the error that the law itself leaves: an effect that levels off, and fades."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"dose": rng.uniform(0.5, 8, 80), "time": rng.uniform(0.2, 12, 80)})  # noqa: N806
    law = 5 * X["dose"] / (2 + X["dose"]) * np.exp(-0.3 * X["time"])
    effect = law * (1 + NOISE * rng.normal(size=80))
    return X, effect.rename("effect"), float(np.sqrt(np.mean(np.square(effect - law))))


def searched(seed: int, search: str, corpus: list[str] | None, evaluations: int) -> tuple[Discovery, float]:
    """What one search found, and the error of the law on its data."""
    X, effect, noise = measurements(seed)  # noqa: N806
    model = EDHiERegressor(
        max_time=None, max_evaluations=evaluations, corpus=corpus, search=search, random_state=seed
    )  # fmt: skip
    return model.fit(X, effect).discoveries_[0], noise


def miss_beyond(found: Discovery) -> float:
    """By which share the chosen equation misses the law, in the median, on doses of up to four times those it saw."""
    rng = np.random.default_rng(0)
    dose, hours = rng.uniform(8, 32, 200), rng.uniform(0.2, 12, 200)
    law = 5 * dose / (2 + dose) * np.exp(-0.3 * hours)
    return float(np.median(np.abs(found.best.predict(np.array([dose, hours])) / law - 1)))


def compared(search: str, seeds: int, evaluations: int) -> dict[str, np.ndarray]:
    """By generator: the error in units of the law's own, of every seed (rows) after every expression (columns)."""
    curves: dict[str, np.ndarray] = {}
    for name, corpus in ((PLAIN, None), (TAUGHT, FIELD)):
        runs = [searched(seed, search, corpus, evaluations) for seed in range(seeds)]
        steps = np.arange(1, evaluations + 1)
        curves[name] = np.array([found.result.history.best_at(steps) / noise for found, noise in runs])
        is_found = curves[name][:, -1] < 1.05  # as good as the law, or better: constants are fitted to the noise
        missed = np.median([miss_beyond(found) for found, _ in runs])
        print(f"  {name}: the law's own error was reached in {is_found.sum()} of {seeds} runs; for larger doses the")
        print(f"    chosen equations miss the law by {missed:.0%} in the median. Seed 0: {runs[0][0].best.text(3)}")
    return curves


def picture(all_curves: dict[str, dict[str, np.ndarray]]) -> Figure:
    """How the error falls: the median of all seeds, and from the worst to the best of them."""
    figure = Figure(figsize=(4.2 * len(all_curves) + 0.6, 3.6), layout="constrained", dpi=150)
    panels = figure.subplots(1, len(all_curves), sharey=True, squeeze=False)[0]
    for panel, (search, curves) in zip(panels, all_curves.items(), strict=True):
        for name, errors in curves.items():
            steps = np.arange(1, errors.shape[1] + 1)
            finite = np.where(np.isfinite(errors), errors, np.nan)
            panel.fill_between(steps, finite.min(axis=0), finite.max(axis=0), color=COLOURS[name], alpha=0.2, lw=0)
            panel.loglog(steps, np.median(finite, axis=0), color=COLOURS[name], label=name)
        panel.axhline(1, color="#d1662b", lw=1, ls="--", label="the law itself")
        panel.set_title(SEARCHES[search], fontsize=10)
        panel.set(xlabel="expressions executed", xlim=(20, errors.shape[1]), ylim=(0.5, 300))
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("error, in units of the noise")
    panels[-1].legend(frameon=False, fontsize=8)
    return figure


def main() -> None:
    """Compare, draw, and say how the default search does."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer seeds, and one search less")
    parser.add_argument("--out", type=Path, default=Path("out/examples/teach_it_your_field"), help="a folder")
    options = parser.parse_args()
    seeds, evaluations, searches = (3, 3_000, ["evolve"]) if options.quick else (10, 3_000, list(SEARCHES))
    since = time.perf_counter()
    searched(0, "draw", FIELD, 50)
    print(
        f"The generator is ready after {time.perf_counter() - since:.0f} s; the first time it is fine-tuned, then kept."
    )
    curves = {}
    for search in searches:
        print(f"{SEARCHES[search]}, at most {evaluations:,} expressions:")
        curves[search] = compared(search, seeds, evaluations)
    print("The default search, at most 500 expressions:")
    compared("mosaic", seeds, 500)
    print("It explains the data either way. What it was taught decides which of the equations that do are tried.")
    print(f"The picture is {save(picture(curves), options.out / 'field.png')}.")


if __name__ == "__main__":
    main()
