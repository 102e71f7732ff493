"""Write the page "The paper, reproduced", the index of the experiments and the README's table, all from the results.

python experiments/paper_page.py            writes docs/reproduced.md and the marked parts of both READMEs
python experiments/paper_page.py --check    only says whether they are up to date
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from edhie.bench.report import paper
from headline import headline
from paper_items import PAPER_RUNS, RESULTS, Item, Run, Spread, System, items, p_value, read_rows, spread

ROOT = Path(__file__).parents[1]
LEVELS = ("0.01", "0.02", "0.05", "0.1", "0.2")
MODELS = {"hvae": "HVAE", "gvae": "GVAE", "cvae": "CVAE"}
CHANCE = 0.05  # p below which a difference is called one
COLUMNS = {
    "found": "Runs that found the equation, of ten:",
    "r2": "R² on test data, mean ± standard deviation over runs:",
    "evaluated": "Distinct expressions executed until the equation was found, over the runs that found it:",
    "invalid": "Share of sampled points that give no expression:",
}
INTRODUCTION = """\
# The paper, reproduced

<!-- Written by `python experiments/paper_page.py` from the committed results; edits here are lost. -->

Every table and figure of the paper (Mežnar, Džeroski and Todorovski,
[*Machine Learning* 112, 2023](https://doi.org/10.1007/s10994-023-06400-2)), made again by this package, beside the
paper's figures. Tables and figures are numbered in the order in which they appear in the paper.

- **A run has found an equation** if the root-mean-square error of its best expression is below 10⁻¹⁰ (times the
  standard deviation of the target where that is above 1, since rounding alone is larger for some equations). Run *k*
  uses the seed *k* for its data and its search.
- **± is the standard deviation over runs**; behind a total, that of the number of equations that one run finds.
- **p** is that of an exact test by equation: the chance of a total at least as improbable as the one seen if both
  methods found each equation equally often. A difference is *within chance* if p is 0.05 or more. The paper's runs and
  ours have different data, so nothing is paired between them. There are many comparisons on this page; a few of
  them would be below 0.05 by chance alone.
- **"Not run here"** means that there are no committed runs of ours.

`make reproduce` runs small versions of all of this in some minutes; `make reproduce PROFILE=full ITEM=…` makes the
committed results. The commands are in [experiments](../experiments/README.md).
"""


def page() -> str:
    """Return the whole page."""
    parts = [INTRODUCTION, glance(), *(section(item) for item in items())]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def glance() -> str:
    """Return the table of all totals."""
    lines = []
    for item in items():
        link = f"[{item.number}](#{_anchor(item)})"
        if item.kind != "systems":
            lines.append([link, item.title, *GLANCES.get(item.kind, lambda: ["", "below"])()])
            continue
        for system in item.systems():
            verdict = versus_paper(system) if system.paper and system.runs else ""
            lines.append(
                [link, system.name, _paper_total(system), _total(system) + (f"; {verdict}" if verdict else "")]
            )
    return "## At a glance\n" + markdown(["item", "", "paper", "here"], lines)


def _glance_at_reconstruction() -> list[str]:
    """Return the mean edit distance over the six sets, the paper's and ours."""
    figures, rows = paper()["reconstruction"], read_rows(RESULTS / "reconstruction.csv")
    theirs, ours = [], []
    for model, name in MODELS.items():
        own = [float(row["edit_distance"]) for row in rows if row["model"] == model]
        theirs.append(f"{name} {np.mean([each['distance'][0] for each in figures[model].values()]):.2f}")
        ours.append(f"{name} {np.mean(own):.2f}")
    return [f"mean edit distance: {', '.join(theirs)}", ", ".join(ours)]


def _glance_at_noise() -> list[str]:
    """Return the successes at the levels of noise, the paper's and ours."""
    theirs = [sum(each["successes"] for each in paper()["noise"][level].values()) for level in LEVELS]
    rows = [row for row in read_rows(RESULTS / "noise.csv") if row["method"] == "default"]
    totals = [row for row in rows if row["problem"] == "total"]
    ours = [next(row["successes"] for row in totals if row["noise"] == level) for level in LEVELS]
    return [f"{', '.join(map(str, theirs))} of 100 (EDHiE)", f"{', '.join(ours)} of 100 (default search)"]


GLANCES: dict[str, Callable[[], list[str]]] = {
    "reconstruction": _glance_at_reconstruction,
    "noise": _glance_at_noise,
    "link": lambda: ["", ""],
}
"""By kind of item: the cells of the first table."""


def section(item: Item) -> str:
    """Return the section of an item."""
    kinds: dict[str, Callable[[Item], str]] = {
        "systems": systems, "reconstruction": reconstruction, "noise": noise, "picture": picture,
    }  # fmt: skip
    body = kinds[item.kind](item) if item.kind in kinds else ""
    files = ", ".join(f"[{name}](../experiments/results/{name})" for name in item.results if (RESULTS / name).is_file())
    commands = "\n".join(command.replace("{out}", "experiments/results") for command in item.full)
    made = f"Results: {files}\n\n```sh\n{commands}\n```" if files else ""
    return "\n\n".join(filter(None, [f"## {item.number}: {item.title}", body, item.remark, made]))


# -- sections -------------------------------------------------------------------------


def picture(item: Item) -> str:
    """Return the pictures of an item, and for a picture of errors the comparison of the models."""
    pictures = [name for name in item.results if name.endswith(".png") and (RESULTS / name).is_file()]
    shown = [f"![{item.title}](../experiments/results/{name})" for name in pictures]
    tables = [name for name in item.results if name in ("training_size.csv", "latent_dimension.csv")]
    return "\n\n".join([*shown, *(paired(read_rows(RESULTS / name)) for name in tables)])


def systems(item: Item) -> str:
    """Return the tables of methods on equations, and what can be said of their differences."""
    found = item.systems()
    parts = []
    for column in item.columns:
        cells = CELLS[column]
        rows = {}
        for system in found:
            theirs = [cells[0](system.paper.get(each, {})) for each in _problems(found)]
            ours = [cells[1](system.of(each)) for each in _problems(found)]
            if any(theirs):
                rows[f"{system.name}, paper"] = [*theirs, *([_paper_total(system)] if column == "found" else [])]
            if any(ours):
                rows[f"**{system.name}, here**"] = [*ours, *([_total(system)] if column == "found" else [])]
        if rows:
            heads = [*_problems(found), *(["total"] if column == "found" else [])]
            parts.append(f"{COLUMNS[column]}\n\n{oriented(rows, heads)}")
    sentences = [f"- {system.name}: {comparison(system)}" for system in found]
    known = {system.name: system for system in found}
    for first, second in item.compare:
        sentences += [f"- {between(known[first], known[second])}"] if known[first].runs and known[second].runs else []
    return "\n\n".join([*parts, "\n".join(sentences)])


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
            lines[f"{label}, paper"] = [_plus_minus(tuple(figures[each][key]), form) for each in sets]
            lines[f"**{label}, here**"] = [_plus_minus(spread(each), form) for each in own]
    return f"{oriented(lines, sets)}\n\n{paired(rows)}"


def noise(item: Item) -> str:
    """Return the totals by level of noise."""
    rows = [row for row in read_rows(RESULTS / "noise.csv") if row["method"] == "default"]
    lines = []
    for level in LEVELS:
        figures = paper()["noise"][level]
        own = {row["problem"]: row for row in rows if row["noise"] == level}
        ours = {each: (int(own[each]["successes"]), int(own[each]["runs"])) for each in figures if each in own}
        theirs = {each: (figures[each]["successes"], PAPER_RUNS) for each in figures}
        ranked = [each for each in figures.values() if "rank" in each]
        rank = np.average([each["rank"][0] for each in ranked], weights=[each["successes"] for each in ranked])
        total = own["total"]
        lines.append([
            f"{100 * float(level):g} %", str(sum(found for found, _ in theirs.values())), total["successes"],
            _p(p_value(ours, theirs)), f"{rank:.1f}",
            f"{float(total['mean_rank']):.1f} ± {float(total['rank_deviation']):.1f}", total["selected"],
        ])  # fmt: skip
    heads = ["noise", "found, paper", "found, here", "p", "mean rank, paper", "mean rank, here", "chosen, here"]
    return f"Runs of 100 that met the right equation:\n\n{markdown(heads, lines)}"


# -- sentences ------------------------------------------------------------------------


def comparison(system: System) -> str:
    """Return one sentence on ours and the paper's."""
    if not system.runs:
        return f"not run here; the paper has {_paper_total(system)}." if system.paper else "not run here."
    if not system.paper:
        return f"{_total(system)} here; not in the paper."
    return f"{_total(system)} here, {_paper_total(system)} in the paper: {versus_paper(system)}."


def versus_paper(system: System) -> str:
    """Return whether ours finds more than the paper's."""
    return _verdict(system.counts(), system.paper_counts(), "more than in the paper", "fewer than in the paper")


def between(first: System, second: System) -> str:
    """Return which of two methods of ours finds more."""
    verdict = _verdict(first.counts(), second.counts(), "more", "fewer")
    return f"{first.name} against {second.name}, both here: {_total(first)} against {_total(second)}: {verdict}."


def paired(rows: Sequence[dict[str, str]]) -> str:
    """Return how the errors of HVAE compare with those of the others on the same folds, by a signed-rank test."""
    from scipy.stats import wilcoxon

    key = ("dataset", "fold", "training_size", "latent")
    by_model: dict[str, dict[tuple[str, ...], float]] = {model: {} for model in MODELS}
    for row in rows:
        by_model[row["model"]][tuple(row[name] for name in key)] = float(row["edit_distance"])
    sentences = []
    for other in ("gvae", "cvae"):
        same = sorted(by_model["hvae"].keys() & by_model[other].keys())
        gains = np.array([by_model[other][each] - by_model["hvae"][each] for each in same])
        p = float(wilcoxon(gains).pvalue)
        sentences.append(f"lower than {MODELS[other]}'s in {(gains > 0).sum()} of {len(gains)} trainings ({_p(p)})")
    return f"HVAE's error is {' and '.join(sentences)}; same folds, Wilcoxon's signed-rank test."


def _verdict(first: dict[str, tuple[int, int]], second: dict[str, tuple[int, int]], more: str, fewer: str) -> str:
    shared = first.keys() & second.keys()
    rates = [
        sum(each[name][0] for name in shared) / max(1, sum(each[name][1] for name in shared))
        for each in (first, second)
    ]
    p = p_value(first, second)
    if p >= CHANCE:
        return "as many" if rates[0] == rates[1] else f"within chance ({_p(p)})"
    return f"{more if rates[0] > rates[1] else fewer} ({_p(p)})"


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def _total(system: System) -> str:
    if not system.runs:
        return "not run here"
    found, by_run = sum(run.is_found for run in system.runs), system.by_run()
    total = f"{found} of {len(system.runs)}"
    return f"{total} ({_plus_minus(spread(by_run), '{:.1f}')} a run)" if len(by_run) > 1 else total


def _paper_total(system: System) -> str:
    if not system.paper:
        return "not in the paper"
    counts = system.paper_counts().values()
    return f"{sum(found for found, _ in counts)} of {sum(runs for _, runs in counts)}"


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


def markdown(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *lines))


def _anchor(item: Item) -> str:
    """Return the anchor that Markdown gives the heading of an item."""
    text = f"{item.number}: {item.title}".lower()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", text)).strip("-")


# -- files ----------------------------------------------------------------------------


def index() -> str:
    """Return the table of items for the README of the experiments."""
    lines = []
    for item in items():
        commands = "<br>".join(f"`{command.replace('{out}', 'R')}`" for command in item.full)
        results = ", ".join(f"[{name}](results/{name})" for name in item.results if (RESULTS / name).is_file())
        lines.append([item.number, item.title, f"`{item.id}`", commands, results])
    return markdown(["in the paper", "item", "`ITEM`", "command (`R` is `experiments/results`)", "results"], lines)


def replaced(text: str, name: str, part: str) -> str:
    """Return a text with the part between the markers of that name replaced."""
    begin, end = f"<!-- {name}: written by experiments/paper_page.py -->\n", f"\n<!-- end of {name} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise SystemExit(f"the markers of {name} are missing")
    return text[: text.index(begin) + len(begin)] + part + text[text.index(end) :]


def files() -> dict[Path, str]:
    """Return the text that each file should have."""
    readme, experiments = ROOT / "README.md", ROOT / "experiments" / "README.md"
    return {
        ROOT / "docs" / "reproduced.md": page(),
        readme: replaced(readme.read_text(encoding="utf-8"), "headline", headline()),
        experiments: replaced(experiments.read_text(encoding="utf-8"), "index", index()),
    }


def outdated() -> list[Path]:
    """Return the files that are not as the results say."""
    return [path for path, text in files().items() if not path.is_file() or path.read_text(encoding="utf-8") != text]


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the files, or check them."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--check", action="store_true", help="write nothing; fail if something is not up to date")
    if options.parse_args(arguments).check:
        old = [path.relative_to(ROOT).as_posix() for path in outdated()]
        sys.exit(f"not up to date: {', '.join(old)}; run python experiments/paper_page.py" if old else 0)
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
