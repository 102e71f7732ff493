"""The tables and the figure of the black-box problems: medians, ranks among methods, and what each choice costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox
from scipy.stats import rankdata

from rows import Row
from runs import HALVES, markdown, sections, versions_of
from significance import holm, signed_rank
from significance import shown as shown_p

CHOICES = ("mdl", "accuracy", "best", "score")
"""Selections that each fit is scored with, the default first."""
OURS = "edhie"
FRONTS = ("0", "0.45", "0.65", "0.8")  # greys of the first fronts
ROOM = 5.0  # ranks to the right of the last point, for its name
PLACES = (
    (5, 4, "left"), (5, -11, "left"), (-5, 4, "right"), (-5, -11, "right"), (0, 8, "center"), (0, -15, "center"),
)  # fmt: skip
"""Candidate places of a label: its offset from the point to the right and upwards, in points, and its alignment."""
MARKER = 8  # pixels around a point that no name covers
LEVEL = 1e-3  # R² are ranked to three digits
TITLE = "SRBench's black-box problems: R² on unseen rows, beside the published results"
ABOUT = """\
Each method has an R² on unseen rows and a size on each set; the tables have the medians over sets. On each set, methods
are ranked by R², rounded to three digits, and by size; the tables have the median ranks, among all methods and among
the symbolic ones. edhie: default settings, a search of at most {seconds} s on one core, {seeds}; its size is the number
of nodes of the SymPy expression. The others: results published with SRBench, medians of ten trials after tuning; sizes
as each method counts its nodes. A method is on the front if none is better in both R² and size. The last column has the
sets on which edhie's R² is higher, and p of the differences by Wilcoxon's signed-rank test, corrected for the number of
methods by Holm's method. It is only a guide, since many sets are similar.

About half of the sets are samples of Friedman's function with noise (`fri` in their names), which has a formula to be
found. So symbolic methods are also shown with these sets and the others apart."""
FRIEDMAN = "_fri_"
SHARED = frozenset({"195_auto_price", "573_cpu_act"})  # of the report half; their rows are in the develop half too
BETTER = "edhie better on"
CHOICES_NOTE = """\
What each choice costs (`selection=`), from the same fits. `lowest` is the lowest R² of a single fit. The last column
has the sets with a higher and with a lower R² than by the default choice, and p by Wilcoxon's signed-rank test,
corrected for three tests by Holm's method:"""


class Score(NamedTuple):
    """R² and size of a method on one set."""

    r2: float
    size: float


Scores = dict[str, dict[str, Score]]
"""Scores by method and set."""


def page(rows: Sequence[Row], published: Sequence[Row]) -> str:
    """Return the page of the results."""
    if not rows:
        return f"# {TITLE}\n"

    def tables(own: list[Row]) -> str:
        return "\n\n".join(
            [
                methods_table(own, published),
                *without_shared(own, published),
                "The symbolic methods on Friedman sets and on the others:",
                groups_table(own, published),
                CHOICES_NOTE,
                choices_table(own, published),
            ]
        )

    found = sections(TITLE, rows, lambda row: (row["set"], row["seed"]), lambda row: row["half"], tables)
    title, _, rest = found.partition("\n\n")
    seconds = max(float(row["seconds"]) for row in rows)
    counts = sorted(set(Counter((row["version"], row["set"]) for row in rows).values()))
    seeds = "one seed" if counts == [1] else f"medians of {' or '.join(map(str, counts))} seeds"
    about = ABOUT.format(seconds=f"{seconds:.0f}", seeds=seeds)
    figure = "![Ranks of R² and size](blackbox.png)"
    return f"{title}\n\n{about}\n\n{figure}\n\n{rest}"


def methods_table(rows: Sequence[Row], published: Sequence[Row]) -> str:
    """Return medians and median ranks by method, the best R² first."""
    scores = all_scores(rows, published)
    symbolic = symbolic_methods(scores, published)
    everywhere = median_ranks(scores)
    among = median_ranks({name: scores[name] for name in symbolic})
    medians = {name: medians_of(own) for name, own in scores.items()}
    front = set(front_of({name: medians[name] for name in symbolic}))
    tests = beside(scores)
    lines = [
        [
            shown(name), "yes" if name in symbolic else "no", f"{medians[name].r2:.3f}",
            nodes_text(medians[name].size), f"{among[name].r2:.3g}" if name in symbolic else "",
            f"{everywhere[name].r2:.3g}", f"{everywhere[name].size:.3g}", "yes" if name in front else "",
            tests.get(name, ""),
        ]
        for name in sorted(scores, key=lambda name: -medians[name].r2)
    ]  # fmt: skip
    heads = ["method", "symbolic", "R²", "size", "rank of R², symbolic", "rank of R²", "rank of size", "front", BETTER]
    return f"{standing(scores, symbolic)}\n\n{markdown(heads, lines)}"


def beside(scores: Scores) -> dict[str, str]:
    """Return, by other method, on how many sets edhie's R² is higher, with p."""
    ours = scores[[name for name in scores if is_ours(name)][-1]]
    gains = {
        name: [own.r2 - others[each].r2 for each, own in ours.items() if each in others]
        for name, others in scores.items()
        if not is_ours(name)
    }
    p = holm([signed_rank(each) for each in gains.values()])
    return {
        name: f"{sum(gain > 0 for gain in each)} of {len(each)} ({shown_p(least)})"
        for (name, each), least in zip(gains.items(), p, strict=True)
    }


def groups_table(rows: Sequence[Row], published: Sequence[Row]) -> str:
    """Return medians and median ranks of the symbolic methods on the Friedman sets and on the others."""
    scores = all_scores(rows, published)
    names = sorted(symbolic_methods(scores, published), key=lambda name: -medians_of(scores[name]).r2)
    heads, lines = ["method"], {name: [shown(name)] for name in names}
    for group, is_friedman in (("Friedman", True), ("other", False)):
        own = {
            name: {each: score for each, score in scores[name].items() if (FRIEDMAN in each) == is_friedman}
            for name in names
        }
        ranks = median_ranks(own)
        heads += [f"R², {len({each for some in own.values() for each in some})} {group} sets", "size", "rank of R²"]
        for name in names:
            if own[name]:
                medians = medians_of(own[name])
                lines[name] += [f"{medians.r2:.3f}", nodes_text(medians.size), f"{ranks[name].r2:.3g}"]
            else:
                lines[name] += [""] * 3
    return markdown(heads, list(lines.values()))


def standing(scores: Scores, symbolic: set[str]) -> str:
    """Return, in words, on how many sets edhie has the best R² of the symbolic methods, or is dominated by one."""
    ours = [name for name in scores if is_ours(name)][-1]
    others = [scores[name] for name in symbolic if not is_ours(name)]
    first = beaten = 0
    for each, own in scores[ours].items():
        theirs = [score[each] for score in others if each in score]
        first += all(own.r2 >= one.r2 for one in theirs)
        beaten += any(one.r2 > own.r2 and one.size < own.size for one in theirs)
    total = len(scores[ours])
    better = f"On {beaten} of the {total}, another symbolic method is better in both R² and size."
    return f"{total} sets. {ours} has the best R² of the symbolic methods on {first}. {better}"


def without_shared(rows: Sequence[Row], published: Sequence[Row]) -> list[str]:
    """Return, in words, edhie's medians without the sets whose rows are in both halves; nothing if there are none."""
    kept = [row for row in rows if row["set"] not in SHARED]
    if len(kept) == len(rows) or len({row["half"] for row in rows}) > 1:
        return []
    scores = all_scores(kept, published)
    ours = [name for name in scores if is_ours(name)][-1]
    ranks = median_ranks({name: scores[name] for name in symbolic_methods(scores, published)})
    r2, size = medians_of(scores[ours])
    names = " and ".join(sorted(SHARED))
    return [
        f"Without {names}, whose rows are in the develop half too: R² {r2:.3f} with {nodes_text(size)} nodes,\n"
        f"median rank {ranks[ours].r2:.3g} of the symbolic methods."
    ]


def choices_table(rows: Sequence[Row], published: Sequence[Row]) -> str:
    """Return medians, and ranks among the published symbolic methods, by the choice among the equations of a fit."""
    newest = versions_of(rows)[-1]
    own = [row for row in rows if row["version"] == newest]
    by_choice = {choice: all_scores([_as_chosen(row, choice) for row in own], published) for choice in CHOICES}
    r2 = {choice: np.array([each.r2 for each in scores[OURS].values()]) for choice, scores in by_choice.items()}
    gains = {choice: r2[choice] - r2[CHOICES[0]] for choice in CHOICES[1:]}
    p = dict(zip(gains, holm([signed_rank(each.tolist()) for each in gains.values()]), strict=True))
    lines = []
    for choice, scores in by_choice.items():
        ranks = median_ranks({name: scores[name] for name in symbolic_methods(scores, published)})
        medians = medians_of(scores[OURS])
        low = np.quantile(r2[choice], 0.1, method="lower")
        least = min(float(_as_chosen(row, choice)["r2"]) for row in own)
        gain = gains.get(choice)
        lines.append(
            [
                choice, f"{medians.r2:.3f}", f"{low:.3f}", f"{least:.3g}", nodes_text(medians.size),
                f"{ranks[OURS].r2:.3g}",
                "" if gain is None else f"{(gain > 0).sum()} and {(gain < 0).sum()} ({shown_p(p[choice])})",
            ]
        )  # fmt: skip
    heads = ["choice", "R²", "tenth percentile", "lowest", "size", "rank of R², symbolic", "higher and lower than mdl"]
    return markdown(heads, lines)


def ranks_figure(rows: Sequence[Row], published: Sequence[Row]) -> Figure:
    """Return a figure of median ranks of R² against those of size, as SRBench draws it; one panel for each half.

    Dotted lines are Pareto fronts.
    """
    halves = {half: own for half in HALVES if (own := [row for row in rows if row["half"] == half])}
    figure = Figure(figsize=(6.2 * max(len(halves), 1), 5.4), layout="constrained", dpi=130)
    named = []
    for place, (half, own) in enumerate(halves.items(), 1):
        panel = figure.add_subplot(1, len(halves), place)
        newest = versions_of(own)[-1]
        scores = all_scores([row for row in own if row["version"] == newest], published)
        ranks, symbolic = median_ranks(scores), symbolic_methods(scores, published)
        _draw_ranks(panel, ranks, symbolic)
        panel.set_title(f"{half} half, {len(scores[OURS])} sets", fontsize=10)
        named.append((panel, ranks, symbolic))
    figure.draw_without_rendering()  # so that the panels are where they will be
    for panel, ranks, symbolic in named:
        _write_names(panel, ranks, symbolic)
    return figure


def _draw_ranks(panel: Axes, ranks: Mapping[str, Score], symbolic: set[str]) -> None:
    """Draw a point for each method, and dotted lines through the first Pareto fronts."""
    left = dict(ranks)
    for grey in FRONTS:
        front = sorted(front_of(left, least=True), key=lambda name: left[name].size)
        panel.plot([left[name].size for name in front], [left[name].r2 for name in front], ":", color=grey, zorder=1)
        left = {name: rank for name, rank in left.items() if name not in front}
    for name, rank in ranks.items():
        colour = _colour(name, symbolic)
        panel.scatter(rank.size, rank.r2, s=55, color=colour, marker="o" if name in symbolic else "s", zorder=2)
    panel.set_xlim(0, max(rank.size for rank in ranks.values()) + ROOM)
    panel.set_ylim(0)
    panel.set_xlabel("median rank of model size")
    panel.set_ylabel("median rank of R² on unseen rows")
    panel.spines[["top", "right"]].set_visible(False)


def _write_names(panel: Axes, ranks: Mapping[str, Score], symbolic: set[str]) -> None:
    """Write the methods' names beside their points, without overlaps where possible."""
    points: dict[Score, list[str]] = {}
    for name, rank in ranks.items():
        points.setdefault(rank, []).append(name)
    pixels = panel.transData.transform([(rank.size, rank.r2) for rank in points])
    taken = [Bbox([pixel, pixel]).padded(MARKER) for pixel in pixels]
    for rank, names in points.items():
        for place, (right, up, near) in enumerate(PLACES):
            label = panel.annotate(
                ", ".join(names), (rank.size, rank.r2), xytext=(right, up), textcoords="offset points", ha=near,
                fontsize=8.5, color=_colour(names[0], symbolic), weight="bold" if is_ours(names[0]) else "normal",
            )  # fmt: skip
            label.set_in_layout(False)  # it takes no room from the panel
            box = label.get_window_extent()
            if box.count_overlaps(taken) == 0 or place == len(PLACES) - 1:
                taken.append(box)
                break
            label.remove()


def _colour(name: str, symbolic: set[str]) -> str:
    return "#c0392b" if is_ours(name) else "#1f5f99" if name in symbolic else "#8a8a8a"


# -- scores and ranks ---------------------------------------------------------------------


def all_scores(rows: Sequence[Row], published: Sequence[Row]) -> Scores:
    """Return the scores of every method on the sets of the rows.

    edhie's are medians over seeds; each version counts as a method.
    """
    versions = versions_of(rows)
    found: Scores = {}
    for version in versions:
        name = OURS if len(versions) == 1 else f"{OURS} ({version})"
        own = [row for row in rows if row["version"] == version]
        found[name] = {
            each: Score(
                *(float(np.median([float(row[what]) for row in own if row["set"] == each])) for what in Score._fields)
            )
            for each in dict.fromkeys(row["set"] for row in own)
        }
    sets = {row["set"] for row in rows}
    for row in published:
        if row["dataset"] in sets:
            score = Score(float(row["r2_test"]), float(row["model_size"]))
            found.setdefault(row["algorithm"], {})[row["dataset"]] = score
    return found


def symbolic_methods(scores: Scores, published: Sequence[Row]) -> set[str]:
    """Return the methods that find equations."""
    others = {row["algorithm"] for row in published if row["is_symbolic"] == "1"}
    return {name for name in scores if is_ours(name) or name in others}


def median_ranks(scores: Scores) -> dict[str, Score]:
    """Return the median over sets of each method's rank by R² and by size, from 1; ties share their mean rank."""
    ranks: dict[str, list[Score]] = {name: [] for name in scores}
    for each in dict.fromkeys(name for own in scores.values() for name in own):
        there = [name for name in scores if each in scores[name]]
        r2 = rankdata([-np.round(scores[name][each].r2 / LEVEL) for name in there])
        size = rankdata([scores[name][each].size for name in there])
        for name, *rank in zip(there, r2.tolist(), size.tolist(), strict=True):
            ranks[name].append(Score(*rank))
    return {name: medians_of(dict(enumerate(own))) for name, own in ranks.items() if own}


def medians_of(scores: Mapping[str, Score] | Mapping[int, Score]) -> Score:
    """Return the medians of R² and size."""
    return Score(*np.median(np.array(list(scores.values())), axis=0).tolist())


def front_of(points: Mapping[str, Score], *, least: bool = False) -> list[str]:
    """Return the methods on the Pareto front of R² and size: no other is as good in both, and better in one.

    With `least`, smaller values of R² are better, as for ranks.
    """
    sign = 1.0 if least else -1.0
    plane = {name: (sign * each.r2, each.size) for name, each in points.items()}
    return [
        name
        for name, (r2, size) in plane.items()
        if not any((one <= r2 and other <= size) and (one, other) != (r2, size) for one, other in plane.values())
    ]


def nodes_text(size: float) -> str:
    """Return a median size as text: large ones as whole numbers."""
    return f"{size:,.0f}" if size >= 1000 else f"{size:.5g}"


def is_ours(name: str) -> bool:
    """Return whether a method is edhie, of any version."""
    return name.startswith(OURS)


def shown(name: str) -> str:
    """Return a method's name in tables, ours in bold."""
    return f"**{name}**" if is_ours(name) else name


def _as_chosen(row: Row, choice: str) -> Row:
    """Return a row as if this were the default choice."""
    return row if choice == CHOICES[0] else row | {what: row[f"{what}_{choice}"] for what in Score._fields}
