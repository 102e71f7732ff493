"""Figures of reconstruction errors, shared by experiments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

DISTANCES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
LOOKS = {"hvae": ("#1f5f99", "o", "HVAE"), "gvae": ("#d1662b", "s", "GVAE"), "cvae": ("#5b8c3e", "^", "CVAE")}


def error_figure(rows: Sequence[dict[str, str]], column: str, label: str, *, log: bool = False) -> Figure:
    """Plot the mean edit distance over folds by model, with a band from the least to the greatest."""
    figure = Figure(figsize=(5.6, 4.0), layout="constrained", dpi=150)
    panel = figure.subplots()
    for model, (colour, marker, name) in LOOKS.items():
        own = [row for row in rows if row["model"] == model]
        places = sorted({int(row[column]) for row in own})
        if not places:
            continue
        by_place = [[float(row["edit_distance"]) for row in own if int(row[column]) == place] for place in places]
        panel.plot(places, [np.mean(each) for each in by_place], color=colour, marker=marker, label=name)
        low, high = [min(each) for each in by_place], [max(each) for each in by_place]
        panel.fill_between(places, low, high, color=colour, alpha=0.2, linewidth=0)
    panel.set_yscale("log")
    panel.set_ylabel("edit distance, held out")
    panel.set_xlabel(label)
    ticks = sorted({int(row[column]) for row in rows})
    if log:
        panel.set_xscale("log", base=2)
    panel.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    panel.minorticks_off()
    low, high = panel.get_ylim()
    panel.set_yticks([tick for tick in DISTANCES if low <= tick <= high], minor=False)
    panel.yaxis.set_major_formatter("{x:g}")
    panel.grid(axis="y", alpha=0.3)
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(frameon=False)
    return figure
