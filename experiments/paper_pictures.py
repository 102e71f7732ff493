"""Pictures on the page "The paper, reproduced", with the figures behind them and what the tests say of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from paper_items import RESULTS, Item, Run, Spread, read_runs, spread
from rows import Row, read_rows
from runs import markdown
from significance import CHANCE, holm, paired_t, rank_sum, shown, signed_rank

MODELS = {"hvae": "HVAE", "gvae": "GVAE", "cvae": "CVAE"}


def plus_minus(both: Spread | tuple[float, ...] | None, form: str) -> str:
    """Return a mean and its standard deviation as text; empty if there is none."""
    return "" if both is None else f"{form.format(both[0])} ± {form.format(both[1])}"


def picture(item: Item) -> str:
    """Return the pictures of an item, and for a picture of errors its figures and the comparison of the models."""
    pictures = [name for name in item.results if name.endswith(".png") and (RESULTS / name).is_file()]
    parts = [f"![{item.title}](../experiments/results/{name})" for name in pictures]
    for name in item.results:
        if name in SWEEPS and (rows := read_rows(RESULTS / name)):
            parts += [f"Mean edit distance by {SWEEPS[name].what}, five folds:", sweep(rows, SWEEPS[name].column)]
            parts.append(f"{paired(rows)} {compared_at(rows, SWEEPS[name])}")
    return "\n\n".join(parts)


# -- errors of autoencoders -----------------------------------------------------------


class Sweep(NamedTuple):
    """A setting of the autoencoders that is varied."""

    column: str
    what: str
    form: str
    """How a value of it is told."""
    own: str
    """The value with which HVAE is compared with the others."""
    others: tuple[str, ...]
    """The values of the others."""


SWEEPS = {
    "training_size.csv": Sweep(
        "training_size", "number of expressions for training", "trained on {} expressions", "2000", ("12000",)
    ),
    "latent_dimension.csv": Sweep(
        "latent", "dimension", "with {} dimensions", "16", ("16", "32", "64", "128", "256")
    ),
}  # fmt: skip
"""By table: what is varied in it."""


def sweep(rows: Sequence[Row], column: str) -> str:
    """Return the errors of the models by the values of a column."""
    values = sorted({int(row[column]) for row in rows})
    lines = []
    for model, name in MODELS.items():
        errors = [
            [float(row["edit_distance"]) for row in rows if (row["model"], int(row[column])) == (model, each)]
            for each in values
        ]
        lines.append([name, *(plus_minus(spread(each), "{:.3f}") for each in errors)])
    return markdown(["", *(f"{each:,}" for each in values)], lines)


def paired(rows: Sequence[Row]) -> str:
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


def compared_at(rows: Sequence[Row], over: Sweep) -> str:
    """Return how HVAE with one value of a setting compares with the others with some, by t-tests on the same folds."""
    errors = {
        (row["model"], row[over.column], row["fold"]): float(row["edit_distance"]) for row in rows
    }  # fmt: skip
    folds = sorted({row["fold"] for row in rows})
    gains = [
        [errors[other, value, fold] - errors["hvae", over.own, fold] for fold in folds]
        for other in ("gvae", "cvae")
        for value in over.others
    ]
    p = holm([paired_t(each) for each in gains])
    lower = sum(np.mean(each) > 0 and its < CHANCE for each, its in zip(gains, p, strict=True))
    higher = sum(np.mean(each) < 0 and its < CHANCE for each, its in zip(gains, p, strict=True))
    ends = dict.fromkeys((over.others[0], over.others[-1]))
    own, others = (over.form.format(" to ".join(f"{int(each):,}" for each in some)) for some in ((over.own,), ends))
    return (
        f"HVAE {own} against GVAE and CVAE {others}: its error is lower in {lower} and higher in {higher} of {len(p)} "
        f"comparisons (paired t-test on the folds, largest {shown(max(p))})."
    )


# -- learning curves ------------------------------------------------------------------

RISEN = 0.999  # mean R² that counts as reached
LABELS = {"proged": "ProGED", "hvar": "HVAR", "edhie": "EDHiE", "default": "default search"}
OWN, OTHERS = "edhie", ("proged", "hvar")


class Rise(NamedTuple):
    """A mean learning curve in two numbers; the smaller is the better."""

    until: float
    """Expressions executed until the mean R² reaches 0.999; infinite if it does not."""
    short: float
    """By how much the last mean R² falls short of 1; 0 if it reaches 0.999."""

    def __str__(self) -> str:
        return f"{1 - self.short:.2f} at the end" if self.short else f"{self.until:,.0f}"


def rises(rows: Sequence[Row]) -> dict[str, dict[str, Rise]]:
    """Return the mean learning curves in short, by equation and method."""
    found: dict[str, dict[str, Rise]] = {}
    for problem in dict.fromkeys(row["problem"] for row in rows):
        for method in dict.fromkeys(row["method"] for row in rows):
            curve = [
                (float(row["evaluated"]), float(row["r2"]))
                for row in rows
                if (row["problem"], row["method"]) == (problem, method)
            ]
            if curve:
                until = min((executed for executed, r2 in curve if r2 >= RISEN), default=np.inf)
                rise = Rise(until, 0.0 if until < np.inf else 1 - curve[-1][1])
                found.setdefault(problem, {})[method] = rise
    return found


def places(by_problem: dict[str, dict[str, Rise]]) -> dict[str, list[str]]:
    """Return the equations on which EDHiE is first of the paper's three methods, level with the best, or behind."""
    found: dict[str, list[str]] = {"first": [], "level": [], "behind": []}
    for problem, by_method in by_problem.items():
        own, best = by_method[OWN], min(by_method[each] for each in OTHERS)
        found["first" if own < best else "level" if own == best else "behind"].append(problem)
    return found


def glance_at_curves(item: Item) -> list[str]:
    """Return what the paper says of its curves, and what ours show."""
    where = {key: listed(names) for key, names in places(rises(_curve_rows())).items() if names}
    words = {"first": "EDHiE is first on", "level": "level with the best on", "behind": "behind on"}
    return ["", item.claim, ", ".join(f"{words[key]} {names}" for key, names in where.items()), ""]


def curves(item: Item) -> str:
    """Return the picture of the learning curves, their figures, and the tests of the runs behind them."""
    by_problem = rises(_curve_rows())
    methods = [each for each in LABELS if any(each in by_method for by_method in by_problem.values())]
    lines = [
        [problem, *(str(by_method.get(each, "")) for each in methods)] for problem, by_method in by_problem.items()
    ]
    table = markdown(["", *(LABELS[each] for each in methods)], lines)
    where = places(by_problem)
    summary = (
        f"Of the paper's three methods, EDHiE is first on {listed(where['first'])}, level with the best on "
        f"{listed(where['level'])} and behind on {listed(where['behind'])}."
    )
    head = f"Expressions executed until the mean R² over runs reaches {RISEN}, or its value at the end:"
    return "\n\n".join([picture(item), head, table, f"{summary} {ranked_runs(list(by_problem))}"])


def ranked_runs(problems: Sequence[str]) -> str:
    """Return on which equations the runs of EDHiE are better or worse than those of the others.

    Runs are ordered by the expressions executed until the equation was found, and those without it by R².
    """
    runs = {each: read_runs(RESULTS / f"nguyen-{each}.csv", {}) for each in (OWN, *OTHERS)}
    pairs = [(other, problem) for other in OTHERS for problem in problems]
    both = [
        [[_place(run) for run in runs[each] if run.problem == problem] for each in (OWN, other)]
        for other, problem in pairs
    ]
    p = holm([rank_sum(*each) for each in both])
    parts = []
    for other in OTHERS:
        told: dict[str, list[str]] = {"better": [], "worse": []}
        for (method, problem), (own, its), each in zip(pairs, both, p, strict=True):
            if method == other and each < CHANCE:
                told["better" if np.median(own) < np.median(its) else "worse"].append(problem)
        name, better, worse = LABELS[other], listed(told["better"]), listed(told["worse"])
        parts.append(f"better than {name} on {better} and worse on {worse}")
    return (
        "With runs ordered by the expressions executed until the equation was found, and those that did not find it by "
        f"R², EDHiE is {'; '.join(parts)} (Mann-Whitney test, corrected for {len(pairs)} tests). The other differences "
        "are within chance."
    )


def _place(run: Run) -> float:
    """Return a number that is the smaller, the better the run is."""
    return run.evaluated if run.evaluated is not None else LATE * (2 - (run.r2 or 0.0))


LATE = 1e9  # later than any run ends


def listed(names: Sequence[str]) -> str:
    """Return names as text.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]])) or "none"


def _curve_rows() -> list[Row]:
    return read_rows(RESULTS / "learning_curves.csv")
