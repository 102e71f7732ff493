"""The sections of the page "The paper, reproduced": tables and sentences, from the committed results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from edhie.bench.report import paper
from paper_items import PAPER_RUNS, RESULTS, Item, Run, Spread, System, spread
from rows import read_rows
from runs import markdown
from significance import Counts, holm, p_value, shown, signed_rank, verdict

LEVELS = ("0.01", "0.02", "0.05", "0.1", "0.2")
FOLDS = 5
MODELS = {"hvae": "HVAE", "gvae": "GVAE", "cvae": "CVAE"}
COLUMNS = {
    "found": "Number of runs, of ten, that found the equation:",
    "r2": "R² on test data, mean ± standard deviation over runs:",
    "evaluated": "Expressions executed until the equation was found, over the runs that found it:",
    "invalid": "Share of sampled points that give no expression:",
}


def picture(item: Item) -> str:
    """Return the pictures of an item, and for a picture of errors its figures and the comparison of the models."""
    pictures = [name for name in item.results if name.endswith(".png") and (RESULTS / name).is_file()]
    shown = [f"![{item.title}](../experiments/results/{name})" for name in pictures]
    for name in item.results:
        if name in SWEEPS and (rows := read_rows(RESULTS / name)):
            shown += [
                f"Mean edit distance by {SWEEPS[name][1]}, five folds:",
                sweep(rows, SWEEPS[name][0]),
                paired(rows),
            ]
    return "\n\n".join(shown)


SWEEPS = {
    "training_size.csv": ("training_size", "number of expressions for training"),
    "latent_dimension.csv": ("latent", "dimension"),
}
"""By table: the column that is varied, and its name."""


def sweep(rows: Sequence[dict[str, str]], column: str) -> str:
    """Return the errors of the models by the values of a column."""
    values = sorted({int(row[column]) for row in rows})
    lines = []
    for model, name in MODELS.items():
        errors = [
            [float(row["edit_distance"]) for row in rows if (row["model"], int(row[column])) == (model, each)]
            for each in values
        ]
        lines.append([name, *(_plus_minus(spread(each), "{:.3f}") for each in errors)])
    return markdown(["", *(f"{each:,}" for each in values)], lines)


def systems(item: Item) -> str:
    """Return how many runs of each method found the equations, and what can be said of their differences."""
    return "\n\n".join([by_equation(item, "found"), "\n".join(f"- {each}" for each in sentences(item))])


def details(item: Item) -> str:
    """Return the other tables of methods on equations."""
    return "\n\n".join(by_equation(item, column) for column in item.columns if column != "found")


def by_equation(item: Item, column: str) -> str:
    """Return one table of methods on equations, the paper's figures above ours."""
    found, cells, rows = item.systems(), CELLS[column], {}
    for system in found:
        theirs = [cells[0](system.paper.get(each, {})) for each in _problems(found)]
        ours = [cells[1](system.of(each)) for each in _problems(found)]
        if any(theirs):
            rows[f"{system.name}, paper"] = [*theirs, *([paper_total(system)] if column == "found" else [])]
        if any(ours):
            rows[f"**{system.name}, here**"] = [*ours, *([total(system)] if column == "found" else [])]
    heads = [*_problems(found), *(["total"] if column == "found" else [])]
    return f"{COLUMNS[column]}\n\n{oriented(rows, heads)}"


def reconstruction(item: Item) -> str:
    """Return the table of reconstruction errors."""
    rows = read_rows(RESULTS / "reconstruction.csv")
    sets = list(dict.fromkeys(name for model in MODELS for name in paper()["reconstruction"][model]))
    lines: dict[str, list[str]] = {}
    for model, name in MODELS.items():
        figures = paper()["reconstruction"][model]
        for column, key, form in (("edit_distance", "distance", "{:.3f}"), ("invalid_percent", "invalid", "{:.1f}")):
            label = f"{name}, {'edit distance' if key == 'distance' else 'invalid, %'}"
            own = [
                [float(row[column]) for row in rows if (row["dataset"], row["model"]) == (each, model)] for each in sets
            ]
            below = ["< " if key in figures[each].get("below", ()) else "" for each in sets]
            lines[f"{label}, paper"] = [
                sign + _plus_minus(tuple(figures[each][key]), form) for sign, each in zip(below, sets, strict=True)
            ]
            lines[f"**{label}, here**"] = [_plus_minus(spread(each), form) for each in own]
    lower, cells, p = beside_paper()
    note = (
        f"Our edit distance is lower than the paper's in {lower} of {cells} cells (Welch's test, largest {shown(p)})."
    )
    return f"{oriented(lines, sets)}\n\n{note}\n\n{paired(rows)}"


def beside_paper() -> tuple[int, int, float]:
    """Return in how many cells our edit distance is lower than the paper's, how many there are, and the largest p."""
    from scipy.stats import ttest_ind_from_stats

    rows, lower, p = read_rows(RESULTS / "reconstruction.csv"), 0, []
    for model in MODELS:
        for name, figures in paper()["reconstruction"][model].items():
            own = [float(row["edit_distance"]) for row in rows if (row["dataset"], row["model"]) == (name, model)]
            mean, deviation = figures["distance"]
            test = ttest_ind_from_stats(np.mean(own), np.std(own, ddof=1), len(own), mean, deviation, FOLDS, False)
            lower, p = lower + (np.mean(own) < mean), [*p, float(test.pvalue)]
    return lower, len(p), max(holm(p))


def noise(item: Item) -> str:
    """Return the totals by level of noise."""
    rows = [row for row in read_rows(RESULTS / "noise.csv") if row["method"] == "default"]
    lines, p = [], []
    for level in LEVELS:
        figures = paper()["noise"][level]
        own = {row["problem"]: row for row in rows if row["noise"] == level}
        ours = {each: (int(own[each]["successes"]), int(own[each]["runs"])) for each in figures if each in own}
        theirs = {each: (figures[each]["successes"], PAPER_RUNS) for each in figures}
        p.append(p_value(ours, theirs))
        total = own["total"]
        lines.append([
            f"{100 * float(level):g} %", str(sum(found for found, _ in theirs.values())), total["successes"],
            _plus_minus(_pooled(figures.values()), "{:.1f}"),
            f"{float(total['mean_rank']):.1f} ± {float(total['rank_deviation']):.1f}", total["selected"],
        ])  # fmt: skip
    heads = ["noise", "found, paper", "found, here", "rank, paper", "rank, here", "chosen, here"]
    worst = shown(max(holm(p)))
    return (
        "Number of runs, of 100, that found and chose the equation, and its rank:\n\n"
        f"{markdown(heads, lines)}\n\nAt each level, more are found here than in the paper ({worst})."
    )


def _pooled(figures: Iterable[dict[str, Any]]) -> Spread:
    """Return mean and standard deviation of the paper's ranks over all successful runs."""
    ranked = [(each["successes"], *each["rank"]) for each in figures if "rank" in each]
    runs, means, deviations = (np.array(column) for column in zip(*ranked, strict=True))
    mean = np.average(means, weights=runs)
    return float(mean), float(np.sqrt(np.average(deviations**2 + (means - mean) ** 2, weights=runs)))


# -- sentences ------------------------------------------------------------------------


def compared(item: Item) -> dict[str, str]:
    """Return how ours compares with the paper's, by method, and how pairs of ours compare, by sentence."""
    found = {system.name: system for system in item.systems()}
    counts = {name: system.counts() for name, system in found.items()}
    for name, members in item.pool.items():
        counts[name] = {f"{k} {key}": both for k, each in enumerate(members) for key, both in counts[each].items()}
    beside_paper = [
        (name, counts[name], system.paper_counts(), " than in the paper")
        for name, system in found.items()
        if system.paper and system.runs
    ]
    among_ours = [
        (f"{first} against {second}, both here: {_share(counts[first])} against {_share(counts[second])}",
         counts[first], counts[second], "")
        for first, second in item.compare
        if _runs(counts[first]) and _runs(counts[second])
    ]  # fmt: skip
    verdicts = {}
    for pairs in (beside_paper, among_ours):
        p = holm([p_value(first, second) for _, first, second, _ in pairs])
        for (name, first, second, end), each in zip(pairs, p, strict=True):
            verdicts[name] = verdict(first, second, each, f"more{end}", f"fewer{end}")
    return verdicts


def sentences(item: Item) -> list[str]:
    """Return a sentence on each method and on each pair that is compared."""
    verdicts, lines = compared(item), []
    for system, given in zip(item.systems(), item.system, strict=True):
        printed = paper()["totals"].get(f"{item.benchmark}.{given.get('paper')}")
        theirs = f"{paper_total(system)} in the paper" if system.paper else "not in the paper"
        theirs += f", which prints {printed}" if printed else ""
        ours = f"{total(system)} here" if system.runs else total(system)
        verdict_of = f": {verdicts[system.name]}" if system.name in verdicts else ""
        notes = "".join(f" {note}." for note in system.notes())
        lines.append(f"{system.name}: {ours}, {theirs}{verdict_of}.{notes}")
    return [*lines, *(f"{name}: {each}." for name, each in verdicts.items() if "both here" in name)]


def paired(rows: Sequence[dict[str, str]]) -> str:
    """Return how the errors of HVAE compare with those of the others on the same folds, by a signed-rank test."""
    key = ("dataset", "fold", "training_size", "latent")
    by_model: dict[str, dict[tuple[str, ...], float]] = {model: {} for model in MODELS}
    for row in rows:
        by_model[row["model"]][tuple(row[name] for name in key)] = float(row["edit_distance"])
    parts = []
    for other in ("gvae", "cvae"):
        same = sorted(by_model["hvae"].keys() & by_model[other].keys())
        gains = [by_model[other][each] - by_model["hvae"][each] for each in same]
        lower = sum(gain > 0 for gain in gains)
        parts.append(f"lower than {MODELS[other]}'s in {lower} of {len(gains)} trainings ({shown(signed_rank(gains))})")
    return (
        f"HVAE's error is {' and '.join(parts)}, by Wilcoxon's signed-rank test on the same folds. "
        "Folds share expressions, so this p is only a guide."
    )


def _runs(counts: Counts) -> int:
    return sum(runs for _, runs in counts.values())


def _share(counts: Counts) -> str:
    return f"{sum(found for found, _ in counts.values())} of {_runs(counts)}"


def total(system: System) -> str:
    """Return how many of our runs found an equation."""
    if not system.runs:
        return "not run here"
    by_run = system.by_run()
    mean = f" ({_plus_minus(spread(by_run), '{:.1f}')} a run)" if len(by_run) > 1 else ""
    return f"{sum(run.is_found for run in system.runs)} of {len(system.runs)}{mean}"


def paper_total(system: System) -> str:
    """Return the total of the paper's rows."""
    return _share(system.paper_counts()) if system.paper else "not in the paper"


# -- cells ----------------------------------------------------------------------------


def _plus_minus(both: Spread | tuple[float, ...] | None, form: str) -> str:
    return "" if both is None else f"{form.format(both[0])} ± {form.format(both[1])}"


def _ours(numbers: Sequence[float | None], form: str) -> str:
    return _plus_minus(spread([each for each in numbers if each is not None]), form)


def _invalid_in_paper(figures: dict[str, Sequence[float]]) -> str:
    return (
        _plus_minus(tuple(each / 1000 for each in figures["invalid"]), "{:.1f}") + " %" if "invalid" in figures else ""
    )


def _invalid_here(runs: Sequence[Run]) -> str:
    shares = [100 * run.invalid for run in runs if run.invalid is not None]
    return _ours(shares, "{:.1f}") + " %" if shares else ""


def _found(runs: Sequence[Run]) -> str:
    found = sum(run.is_found for run in runs)
    return f"{found}" if len(runs) == PAPER_RUNS else f"{found} of {len(runs)}" if runs else ""


CELLS: dict[str, tuple[Callable[..., str], Callable[[list[Run]], str]]] = {
    "found": (lambda f: str(f.get("successes", "")), _found),
    "r2": (lambda f: _plus_minus(f.get("r2"), "{:.2f}"), lambda runs: _ours([run.r2 for run in runs], "{:.2f}")),
    "evaluated": (
        lambda f: _plus_minus(f.get("evaluated"), "{:,.0f}"),
        lambda runs: _ours([run.evaluated for run in runs], "{:,.0f}"),
    ),
    "invalid": (_invalid_in_paper, _invalid_here),
}
"""By column: the cell of the paper's figures, and that of our runs."""


def _problems(found: Sequence[System]) -> list[str]:
    return list(dict.fromkeys(each for system in found for each in system.problems))


def oriented(rows: dict[str, list[str]], heads: Sequence[str]) -> str:
    """Return a table in Markdown, turned so that it has fewer columns than rows."""
    if len(heads) <= len(rows) or len(heads) <= 11:
        return markdown(["", *heads], [[name, *cells] for name, cells in rows.items()])
    return markdown(["", *rows], [[head, *(cells[k] for cells in rows.values())] for k, head in enumerate(heads)])
