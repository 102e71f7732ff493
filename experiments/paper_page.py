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
from paper_items import RESULTS, Item, items
from paper_pictures import MODELS, curves, glance_at_curves, picture
from paper_sections import (
    LEVELS,
    NOISE_METHODS,
    beside_paper,
    compared,
    details,
    noise,
    paper_total,
    reconstruction,
    strict_total,
    systems,
    total,
)
from rows import read_rows
from runs import markdown

ROOT = Path(__file__).parents[1]
INTRODUCTION = """\
# The paper, reproduced

<!-- Written by `python experiments/paper_page.py` from the committed results; edits here are lost. -->

Every table and figure of the paper (Mežnar, Džeroski and Todorovski,
[*Machine Learning* 112, 2023](https://doi.org/10.1007/s10994-023-06400-2)), reproduced with this package, beside the
paper's figures. Tables and figures are numbered in the order in which they appear in the paper.

[At a glance](#at-a-glance) has the totals. Each section has the details, what differs from the paper, the files of the
results and the commands. `make reproduce` runs small versions of all of this in some minutes; `make reproduce
PROFILE=full ITEM=…` makes the committed results.

## How to read the tables

- **A run has found an equation** if its best expression has a root-mean-square error below 10⁻¹⁰ and is equivalent to
  the equation, as in the paper. There, equivalence was checked by hand; here, by a program, in high precision at random
  points. Where the standard deviation of the target is above 1, the limit is multiplied by it: the targets of NG-3 and
  NG-4 go up to 3·10⁶ and 7·10⁷, and rounding alone exceeds 10⁻¹⁰.
- **By 10⁻¹⁰** is the number of runs that succeed by the printed limit. Our runs end at the first expression within
  their own limit, so the number may be smaller than if they had gone on.
- **Run *k*** has the seed *k* for its data and its search. Unless said otherwise, a method is run ten times on each
  equation.
- **±** is the standard deviation over runs; after a total, that of the number of equations that one run finds; after a
  mean over the equations, that over the equations, as in the paper.
- **p** is from an exact test that compares two methods equation by equation (Fisher's test, stratified by equation,
  two-sided). It is corrected by Holm's method for the number of comparisons in the section, separately for those with
  the paper, among our own methods, and among the paper's. If it is 0.05 or more, the difference is *within chance*. The
  test assumes that runs are independent. Each autoencoder was trained once, so p does not include the variation between
  trainings.
- **Other packages** and searches that are not in the paper are shown beside its methods. *(15 s)* means that a run ends
  after 15 seconds; edhie's runs have no time limit. SRToolkit is symbolic-regression-toolkit, by the paper's authors.
- **Not run here** means that no runs of ours are committed; the reason is given.
"""


def page() -> str:
    """Return the whole page."""
    parts = [INTRODUCTION, glance(), *(section(item) for item in items())]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def glance() -> str:
    """Return the table of all totals."""
    lines = []
    for item in items():
        head = f"[{item.number}](#{_anchor(item)}): {item.title}"
        if item.kind != "systems":
            cells = GLANCES[item.kind](item) if item.kind in GLANCES else ["", item.claim, item.seen, ""]
            lines.append([head, *cells[:-1], "", *cells[-1:]])
            continue
        verdicts = compared(item)
        for system in item.systems():
            cells = [system.name, paper_total(system), total(system), strict_total(system) if system.runs else ""]
            lines.append([head, *cells, verdicts.get(system.name, "")])
            head = ""
    return "## At a glance\n\n" + markdown(["", "method", "paper", "here", "by 10⁻¹⁰", "comparison"], lines)


def _glance_at_reconstruction(item: Item) -> list[str]:
    """Return the mean edit distance over the six sets, the paper's and ours."""
    figures, rows = paper()["reconstruction"], read_rows(RESULTS / "reconstruction.csv")
    theirs, ours = [], []
    for model, name in MODELS.items():
        own = [float(row["edit_distance"]) for row in rows if row["model"] == model]
        theirs.append(f"{name} {np.mean([each['distance'][0] for each in figures[model].values()]):.2f}")
        ours.append(f"{name} {np.mean(own):.2f}")
    return [
        "mean edit distance",
        ", ".join(theirs),
        ", ".join(ours),
        "lower in {} of {} sets and models".format(*beside_paper()),
    ]


def _glance_at_noise(item: Item) -> list[str]:
    """Return the successes at the levels of noise, the paper's and ours."""
    theirs = [sum(each["successes"] for each in paper()["noise"][level].values()) for level in LEVELS]
    totals = [row for row in read_rows(RESULTS / "noise.csv") if row["problem"] == "total"]
    ours = []
    for method, name in NOISE_METHODS.items():
        own = {row["noise"]: row for row in totals if row["method"] == method}
        if own:
            runs = dict.fromkeys(row["runs"] for row in own.values())
            found = ", ".join(own[level]["successes"] for level in LEVELS if level in own)
            ours.append(f"{name}: {found} of {' or '.join(runs)}")
    levels = "noise of 1, 2, 5, 10 and 20 %"
    return [levels, f"EDHiE: {', '.join(map(str, theirs))} of 100", "; ".join(ours), "tests in the section"]


GLANCES: dict[str, Callable[[Item], list[str]]] = {
    "reconstruction": _glance_at_reconstruction,
    "noise": _glance_at_noise,
    "curves": glance_at_curves,
    "link": lambda item: ["", "", "the same equations", ""],
}
"""By kind of item: method, the paper's figures, ours and their comparison in the first table."""


def section(item: Item) -> str:
    """Return the section of an item."""
    kinds: dict[str, Callable[[Item], str]] = {
        "systems": systems, "reconstruction": reconstruction, "noise": noise, "picture": picture,
        "curves": curves,
    }  # fmt: skip
    body = kinds[item.kind](item) if item.kind in kinds else ""
    rest = details(item) if item.kind == "systems" else ""
    files = ", ".join(f"[{name}](../experiments/results/{name})" for name in item.results if (RESULTS / name).is_file())
    commands = "\n".join(command.replace("{out}", "experiments/results") for command in item.full)
    made = f"Results: {files}\n\n```sh\n{commands}\n```" if files else ""
    return "\n\n".join(filter(None, [f"## {item.number}: {item.title}", body, item.remark, rest, made]))


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
        results += "".join(f"; {system.name}: {total(system)}" for system in item.systems() if not system.runs)
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
