"""The table at the top of the README, from the committed results."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from statistics import median
from typing import Any

from edhie.bench.report import paper
from paper_items import RESULTS
from rows import read_rows
from significance import CHANCE

HEADS = "| benchmark, one core | edhie | [published](docs/benchmarks.md#published-figures) |\n|---|---|---|"
PUBLISHED = Path(__file__).with_name("published.toml")


def headline() -> str:
    """Return the table in Markdown."""
    nguyen = ", ".join(f"{_published('nguyen', each)} ({name})" for each, name in SYSTEMS.items())
    lines = [
        ("Nguyen, ten equations, ten runs each", f"**{_found('nguyen-default')}**", nguyen),
        (
            "the paper's 16 Feynman equations, ten runs each",
            f"**{_found('feynman16-default')}**",
            f"{_published('feynman16', 'edhie')} (EDHiE)",
        ),
        ("all 120 Feynman equations, 1,000 rows, 60 s, two runs", f"{_feynman120()} exactly", _others()),
        (
            "[all 120 under noise](experiments/results/feynman-noise.md) of 0, 0.1, 1 and 10 %, 1,000 rows, 30 s: "
            "right form chosen",
            f"**{_feynman_noise()}** of 120",
            _others_with_noise(),
        ),
        (
            "[20 textbook formulas](experiments/results/textbook.md), 20 s, three runs each: chosen from 200 rows with "
            "1 and 5 % noise, from 20 rows with 5 %",
            f"**{_textbook(200, 0.01)}, {_textbook(200, 0.05)}** and **{_textbook(20, 0.05)}** of 60",
            "",
        ),
        (
            "[13 of NIST's regression sets](experiments/results/small.md), 30 s: error on unseen rows over that of the "
            "certified model, median",
            f"**{_small():.1f}**",
            "",
        ),
        blackbox_line((RESULTS / "blackbox.md").read_text(encoding="utf-8")),
    ]
    return "\n".join([HEADS, *(f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in lines)])


def published() -> dict[str, dict[str, Any]]:
    """Return the published figures of other methods, with their sources."""
    return tomllib.loads(PUBLISHED.read_text(encoding="utf-8"))


def _others() -> str:
    found = {name: each for name, each in published().items() if "feynman" in each}
    shares = [f"{each['feynman']} ({name})" for name, each in found.items()]
    return "; ".join([*shares, f"{' to '.join(dict.fromkeys(each['time'] for each in found.values()))} each"])


def _others_with_noise() -> str:
    """Return the published shares under noise, the best first."""
    found = sorted((each["noise"][-1], name, each) for name, each in published().items() if "noise" in each)
    return "; ".join(
        f"{', '.join(map(str, each['noise']))} % {each.get('levels', 'with noise')} ({name}, {each['conditions']})"
        for _, name, each in sorted(found, key=lambda each: -each[0])
    )


SYSTEMS = {"edhie": "EDHiE", "dso": "DSO", "pysr": "PySR"}


def _published(benchmark: str, system: str) -> int:
    """Return the total of the paper's rows."""
    return sum(each["successes"] for each in paper()[benchmark][system].values())


def _found(table: str) -> str:
    rows = read_rows(RESULTS / f"{table}.csv")
    return f"{sum(row['success'] == '1' for row in rows)} of {len(rows)}"


def _feynman120() -> str:
    rows = read_rows(RESULTS / "feynman120-default.csv")
    runs = sorted({int(row["run"]) for row in rows})
    found = [sum(row["equivalent"] == "yes" for row in rows if int(row["run"]) == run) for run in runs]
    return " and ".join(f"**{each}**" for each in found)


def _feynman_noise() -> str:
    rows = [row for row in read_rows(RESULTS / "feynman-noise.csv") if row["version"] == "now"]
    levels = sorted({float(row["noise"]) for row in rows})
    return ", ".join(str(sum(row["right"] == "yes" for row in rows if float(row["noise"]) == each)) for each in levels)


def _textbook(rows: int, noise: float) -> int:
    table = [row for row in read_rows(RESULTS / "textbook.csv") if row["version"] == "now"]
    return sum(row["found"] == "yes" for row in table if int(row["rows"]) == rows and float(row["noise"]) == noise)


def blackbox_line(page: str) -> tuple[str, str, str]:
    """Return the line of the black-box problems: ours and the best symbolic method published, on the report half."""
    half = page.split("## Report half\n")[1].split("\n## ")[0].strip()
    table = [line.strip("|").split("|") for line in half.split("\n\n")[1].splitlines()[2:]]  # the best R² first
    methods = [[cell.strip() for cell in line] for line in table]
    ours = next(line for line in methods if line[0].startswith("**"))
    best = next(line for line in methods if line[1] == "yes" and line is not ours)
    p = re.search(r"\(p = ([\d.]+)\)", best[-1])
    within = "; the difference is within chance" if p and float(p[1]) >= CHANCE else ""
    what = (
        f"[SRBench's black-box problems](experiments/results/blackbox.md), {half.split()[0]} sets not used for "
        "development, 60 s: median R² on unseen rows"
    )
    return what, f"**{ours[2]}** with {ours[3]} nodes", f"{best[2]} with {best[3]} nodes ({best[0]}, tuned{within})"


def _small() -> float:
    """Return the median over sets of the median over splits."""
    rows = [row for row in read_rows(RESULTS / "small.csv") if row["version"] == "now"]
    sets = sorted({row["set"] for row in rows})
    return median(median(float(row["ratio"]) for row in rows if row["set"] == each) for each in sets)
