"""The sections of the page "The paper, reproduced": tables and sentences, from the committed results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from edhie.bench.report import paper
from paper_items import PAPER_RUNS, RESULTS, Item, Run, Spread, System, items, spread
from paper_pictures import MODELS, paired, plus_minus
from rows import Row, read_rows
from runs import markdown
from significance import Counts, holm, p_value, shown, verdict

LEVELS = ("0.01", "0.02", "0.05", "0.1", "0.2")
NOISE_METHODS = {"edhie": "EDHiE", "default": "default search"}
FOLDS = 5
COLUMNS = {
    "found": "Number of runs, of ten, that found the equation:",
    "r2": "R² on test data, mean ± standard deviation over runs:",
    "evaluated": "Expressions executed until the equation was found, over the runs that found it:",
    "invalid": "Share of sampled points that give no expression:",
    "unusable": "Invalid expressions in a run. Ours also counts expressions that are not a number on some row, such as "
    "the\nlogarithm of a negative value, so the two cannot be compared:",
}
LAST = {"found": ["total"], "r2": ["mean"], "invalid": ["mean"], "unusable": ["mean"]}
"""The last column of a table, if it has one; a mean is over the equations, ± the standard deviation over them."""
PAPER_SAMPLES = 100_000  # points of a run of random sampling


def systems(item: Item) -> str:
    """Return how many runs of each method found the equations, and what can be said of their differences."""
    lines = [f"- {each}" for each in (*sentences(item), *pairs(item))]
    return "\n\n".join([by_equation(item, "found"), "\n".join(lines)])


def details(item: Item) -> str:
    """Return the other tables of methods on equations."""
    return "\n\n".join(by_equation(item, column) for column in item.columns if column != "found")


def by_equation(item: Item, column: str) -> str:
    """Return one table of methods on equations, the paper's figures above ours."""
    found, rows = item.systems(), {}
    names = list(dict.fromkeys(each for system in found for each in system.problems))
    for system in found:
        theirs, ours = (cells(system, column, names) for cells in (_paper_cells, _our_cells))
        if any(theirs[: len(names)]) and not system.is_recount:
            rows[f"{system.name}, paper"] = theirs
        if any(ours[: len(names)]):
            rows[f"**{system.name}, here**"] = ours
    return f"{COLUMNS[column]}\n\n{oriented(rows, [*names, *LAST.get(column, [])])}"


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
                sign + plus_minus(tuple(figures[each][key]), form) for sign, each in zip(below, sets, strict=True)
            ]
            lines[f"**{label}, here**"] = [plus_minus(spread(each), form) for each in own]
    lower, cells, p = beside_paper()
    note = (
        f"Our edit distance is lower than the paper's in {lower} of {cells} cells (Welch's test, largest {shown(p)})."
    )
    return f"{oriented(lines, sets)}\n\n{note}\n\n{paired(rows)}"


def beside_paper() -> tuple[int, int, float]:
    """Return in how many cells our edit distance is lower than the paper's, how many there are, and the largest p."""
    from scipy.stats import ttest_ind_from_stats

    p: list[float] = []
    rows, lower = read_rows(RESULTS / "reconstruction.csv"), 0
    for model in MODELS:
        for name, figures in paper()["reconstruction"][model].items():
            own = [float(row["edit_distance"]) for row in rows if (row["dataset"], row["model"]) == (name, model)]
            mean, deviation = figures["distance"]
            test = ttest_ind_from_stats(np.mean(own), np.std(own, ddof=1), len(own), mean, deviation, FOLDS, False)
            lower, p = lower + (np.mean(own) < mean), [*p, float(test.pvalue)]
    return lower, len(p), max(holm(p))


def noise(item: Item) -> str:
    """Return the totals by level of noise: the paper's EDHiE beside our methods."""
    rows = read_rows(RESULTS / "noise.csv")
    methods = [each for each in NOISE_METHODS if any(row["method"] == each for row in rows)]
    heads = ["noise", "EDHiE, paper: found", "rank"]
    heads += [head for each in methods for head in (f"{NOISE_METHODS[each]}, here: found", "rank", "chosen")]
    lines = []
    for level in LEVELS:
        figures = paper()["noise"][level]
        line = [f"{100 * float(level):g} %", f"{sum(each['successes'] for each in figures.values())} of 100"]
        line.append(plus_minus(_pooled(figures.values()), "{:.1f}"))
        for method in methods:
            total = next((row for row in _at_level(rows, method, level) if row["problem"] == "total"), None)
            line += ["", "", ""] if total is None else _noise_cells(total)
        lines.append(line)
    told = [_noise_sentence(rows, method) for method in methods]
    return "\n\n".join(["Runs that found and chose the equation, and its rank:", markdown(heads, lines), *told])


def _noise_cells(total: Row) -> list[str]:
    """Return the runs that found the equation, its rank, and the runs that chose it."""
    mean, deviation = total["mean_rank"], total["rank_deviation"]
    rank = f"{float(mean):.1f} ± {float(deviation):.1f}" if mean else ""
    return [f"{total['successes']} of {total['runs']}", rank, total["selected"]]


def _noise_sentence(rows: Sequence[Row], method: str) -> str:
    """Return how often a method found the equations at each level, compared with the paper's EDHiE."""
    both: dict[str, tuple[Counts, Counts]] = {}
    for level in LEVELS:
        figures = paper()["noise"][level]
        ours = {row["problem"]: (int(row["successes"]), int(row["runs"])) for row in _at_level(rows, method, level)}
        if ours:
            theirs = {each: (figures[each]["successes"], PAPER_RUNS) for each in figures}
            both[f"{100 * float(level):g} %"] = {each: ours[each] for each in figures if each in ours}, theirs
    told = ", ".join(f"{level} {each}" for level, each in _verdicts(both).items())
    name = NOISE_METHODS[method]
    return f"{name[0].upper()}{name[1:]} here, beside the paper's EDHiE, by level: {told}."


def _at_level(rows: Sequence[Row], method: str, level: str) -> list[Row]:
    return [row for row in rows if (row["method"], row["noise"]) == (method, level)]


def _pooled(figures: Iterable[dict[str, Any]]) -> Spread:
    """Return mean and standard deviation of the paper's ranks over all successful runs."""
    ranked = [(each["successes"], *each["rank"]) for each in figures if "rank" in each]
    runs, means, deviations = (np.array(column) for column in zip(*ranked, strict=True))
    mean = np.average(means, weights=runs)
    return float(mean), float(np.sqrt(np.average(deviations**2 + (means - mean) ** 2, weights=runs)))


# -- sentences ------------------------------------------------------------------------


def compared(item: Item) -> dict[str, str]:
    """Return how ours compares with the paper's, by method."""
    both = [system for system in item.systems() if system.paper and system.runs]
    return _verdicts({each.name: (each.counts(), each.paper_counts()) for each in both}, " than in the paper")


def pairs(item: Item) -> list[str]:
    """Return a sentence on each pair of our methods that is compared, with the paper's figures of the same pair."""
    ours, theirs = _counts(item, System.counts), _counts(item, System.paper_counts)
    run = [(first, second) for first, second in item.compare if _runs(ours[first]) and _runs(ours[second])]
    here = _verdicts({(first, second): (ours[first], ours[second]) for first, second in run})
    there = _verdicts({
        (first, second): (theirs[first], theirs[second]) for first, second in run if theirs[first] and theirs[second]
    })  # fmt: skip
    lines = []
    for first, second in run:
        told = f"{_share(ours[first])} against {_share(ours[second])}: {here[first, second]}"
        if (first, second) in there:
            shares = f"{_share(theirs[first])} against {_share(theirs[second])}"
            told += f"; in the paper {shares}: {there[first, second]}"
        lines.append(f"{first} against {second}, both here: {told}.")
    return lines


def strictly_compared(item: Item) -> dict[str, str]:
    """Return the successes by the paper's limit, and how they compare with the paper's, where the limit matters."""
    found = [(system, counts) for system in item.systems() if (counts := system.strict_counts())]
    verdicts = _verdicts(
        {system.name: (counts, system.paper_counts()) for system, counts in found if system.paper}, " than in the paper"
    )
    return {
        system.name: _share(counts) + (f", {verdicts[system.name]}" if system.paper else "")
        for system, counts in found
        if counts != system.counts()
    }


def _counts(item: Item, of: Callable[[System], Counts]) -> dict[str, Counts]:
    """Return the counts of all methods on the benchmark, and of the item's pools of methods."""
    others = [each for each in items() if each.benchmark == item.benchmark]
    counts = {system.name: of(system) for each in others for system in each.systems()}
    for name, members in item.pool.items():
        counts[name] = {f"{k} {key}": both for k, each in enumerate(members) for key, both in counts[each].items()}
    return counts


def _verdicts(pairs: dict[Any, tuple[Counts, Counts]], end: str = "") -> dict[Any, str]:
    """Return what can be said of each pair of counts, corrected for the number of pairs."""
    p = holm([p_value(first, second) for first, second in pairs.values()])
    return {
        name: verdict(first, second, each, f"more{end}", f"fewer{end}")
        for (name, (first, second)), each in zip(pairs.items(), p, strict=True)
    }


def sentences(item: Item) -> list[str]:
    """Return a sentence on each method."""
    verdicts, strict, lines = compared(item), strictly_compared(item), []
    for system, given in zip(item.systems(), item.system, strict=True):
        printed = paper()["totals"].get(f"{item.benchmark}.{given.get('paper')}")
        theirs = f"{paper_total(system)} in the paper" if system.paper else "not in the paper"
        theirs += f", which prints {printed}" if printed else ""
        ours = f"{total(system)} here" if system.runs else total(system)
        verdict_of = f": {verdicts[system.name]}" if system.name in verdicts else ""
        notes = [*system.notes(), *([f"By the printed limit: {strict[system.name]}"] if system.name in strict else [])]
        lines.append(f"{system.name}: {ours}, {theirs}{verdict_of}.{''.join(f' {note}.' for note in notes)}")
    return lines


def _runs(counts: Counts) -> int:
    return sum(runs for _, runs in counts.values())


def _share(counts: Counts) -> str:
    return f"{sum(found for found, _ in counts.values())} of {_runs(counts)}"


def total(system: System) -> str:
    """Return how many of our runs found an equation."""
    if not system.runs:
        return f"not run here ({system.reason})" if system.reason else "not run here"
    by_run = system.by_run()
    mean = f" ({plus_minus(spread(by_run), '{:.1f}')} a run)" if len(by_run) > 1 else ""
    return f"{sum(run.is_found for run in system.runs)} of {len(system.runs)}{mean}"


def strict_total(system: System) -> str:
    """Return how many of our runs found an equation by the paper's limit on the error."""
    counts = system.strict_counts()
    return "not recorded" if counts is None else str(sum(found for found, _ in counts.values()))


def paper_total(system: System) -> str:
    """Return the total of the paper's rows."""
    return _share(system.paper_counts()) if system.paper else "not in the paper"


# -- cells ----------------------------------------------------------------------------


FORMS: dict[str, Callable[[Spread | None], str]] = {
    "r2": lambda both: plus_minus(both, "{:.2f}"),
    "evaluated": lambda both: plus_minus(both, "{:,.0f}"),
    "invalid": lambda both: plus_minus(both, "{:.1%}").replace("%", "", 1).replace("%", " %"),
    "unusable": lambda both: plus_minus(both, "{:,.0f}"),
}
"""By column: how a mean and its standard deviation are shown."""


def _paper_cells(system: System, column: str, names: Sequence[str]) -> list[str]:
    """Return the paper's figures of a method on these equations, and in all."""
    if column == "found":
        return [*(str(system.paper.get(each, {}).get("successes", "")) for each in names), paper_total(system)]
    figures = [system.paper.get(each, {}) for each in names] + ([system.means] if column in LAST else [])
    return [FORMS[column](_in_paper(each, column)) for each in figures]


def _in_paper(figures: dict[str, Any], column: str) -> Spread | None:
    both = figures.get("invalid" if column == "unusable" else column)
    if column == "invalid" and both:
        both = [each / PAPER_SAMPLES for each in both]
    return (both[0], both[1]) if both else None


def _our_cells(system: System, column: str, names: Sequence[str]) -> list[str]:
    """Return our figures of a method on these equations, and in all."""
    if column == "found":
        return [*(_found(system.of(each)) for each in names), total(system)]
    numbers = [[each for run in system.of(name) if (each := getattr(run, column)) is not None] for name in names]
    spreads = [spread(each) for each in numbers]
    if column in LAST:
        spreads.append(spread([float(np.mean(each)) for each in numbers if each]))
    return [FORMS[column](each) for each in spreads]


def _found(runs: Sequence[Run]) -> str:
    found = sum(run.is_found for run in runs)
    return f"{found}" if len(runs) == PAPER_RUNS else f"{found} of {len(runs)}" if runs else ""


def oriented(rows: dict[str, list[str]], heads: Sequence[str]) -> str:
    """Return a table in Markdown, turned so that it has fewer columns than rows."""
    if len(heads) <= len(rows) or len(heads) <= 11:
        return markdown(["", *heads], [[name, *cells] for name, cells in rows.items()])
    return markdown(["", *rows], [[head, *(cells[k] for cells in rows.values())] for k, head in enumerate(heads)])
