"""Counts in the documentation are those of the committed results."""

from __future__ import annotations

import csv
import re

import pytest

from docs.pages import DOCS, ROOT

ROW = re.compile(r"^\| (?P<what>[^|]+) \| (?P<found>[^|]+) \|.*\(\.\./(?P<file>\S+\.csv)\) \|$", flags=re.MULTILINE)
TABLE = [match.groupdict() for match in ROW.finditer((DOCS / "how-it-works.md").read_text(encoding="utf-8"))]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["file"])
def test_successes(row: dict[str, str]) -> None:
    with (ROOT / row["file"]).open(encoding="utf-8", newline="") as file:
        runs = list(csv.DictReader(file))
    equivalent = sum(run["equivalent"] == "yes" for run in runs)
    numbers = [int(each) for each in re.findall(r"(?<!⁻)\b\d+\b(?!⁻)", row["found"].replace("10⁻¹⁰", ""))]
    assert equivalent in numbers
    assert "of" not in row["found"].split() or "them" in row["found"] or len(runs) in numbers


def test_there_are_rows() -> None:
    assert len(TABLE) >= 7


# -- speed, as `make perf` printed it -------------------------------------------------

COMPARISON = (DOCS / "comparison.md").read_text(encoding="utf-8")
RATES = [
    ("evaluate.txt", "edhie, 200 rows"),
    ("evaluate.txt", "edhie, 5,000 rows"),
    ("search.txt", "plain EDHiE, evaluations"),
    ("search.txt", "… symbolic-regression-toolkit, population 40"),
    ("train.txt", "… edhie, hidden 32, batch 256"),
    ("train.txt", "… edhie, hidden 32, batch 32"),
    ("train.txt", "symbolic-regression-toolkit, hidden 32"),
    ("expr.txt", "… distinct ones, ≤ 50 nodes"),
    ("expr.txt", "… by symbolic-regression-toolkit"),
]


def printed(file: str) -> list[list[str]]:
    """The rows of the tables in a file of results."""
    lines = (ROOT / "perf" / "results" / file).read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines if line.startswith("│")]


@pytest.mark.parametrize(("file", "what"), RATES)
def test_rates_are_those_that_were_printed(file: str, what: str) -> None:
    rate = next(row[1] for row in printed(file) if row[0] == what)
    number = float(re.sub(r"[^\d.]", "", rate))
    assert f"{float(f'{number:.3g}'):,.0f}" in COMPARISON


def test_laws_are_those_that_were_printed() -> None:
    rows = [row for row in printed("search.txt") if row[0].startswith("NG-")]
    assert len(rows) == 10
    assert all(f"| {' | '.join(row)} |" in COMPARISON for row in rows)


# -- SRBench's black-box problems and the Feynman equations ---------------------------

BENCHMARKS = (DOCS / "benchmarks.md").read_text(encoding="utf-8")


def test_black_box_figures_are_those_of_the_report_half() -> None:
    page = (ROOT / "experiments" / "results" / "blackbox.md").read_text(encoding="utf-8")
    half = page.split("## Report half\n")[1].split("\n## ")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in half.splitlines() if line[:1] == "|"]
    ours, others = ([line for line in lines if line[0] == name] for name in ("**edhie**", "Operon"))
    table = next(line for line in BENCHMARKS.splitlines() if line.startswith("| [SRBench's black-box problems]"))
    assert f"**{ours[0][2]}** with {ours[0][3]} nodes, median rank {ours[0][4]} of the symbolic methods" in table
    assert f"{others[0][2]} with {others[0][3]} nodes, rank {others[0][4]}" in table
    assert f"edhie is better on {others[0][-1].replace(' (', ' sets (')}" in table
    text = " ".join(BENCHMARKS.split())
    for name, (r2, size, rank) in (("edhie has a median R² of", ours[1][-3:]), ("Operon", others[1][-3:])):
        assert f"{name} {r2} with {size} nodes and rank {rank}" in text


def test_all_feynman_equations_that_were_found_are_counted() -> None:
    with (ROOT / "experiments" / "results" / "feynman120-default.csv").open(encoding="utf-8", newline="") as file:
        runs = list(csv.DictReader(file))
    found = [sum(run["equivalent"] == "yes" for run in runs if run["run"] == number) for number in ("0", "1")]
    assert "**{}** and **{}** of 120 exactly".format(*found) in BENCHMARKS
    missed = {run["problem"] for run in runs if run["equivalent"] != "yes"}
    hard = BENCHMARKS.split("## Feynman equations that are hard")[1].split("\n## ")[0]
    assert missed <= set(re.findall(r"^\| (\S+) \|", hard, flags=re.MULTILINE))
