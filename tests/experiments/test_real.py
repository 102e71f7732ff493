"""Measurements beside their laws: halves, rows of the table, verdicts, and the page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kept_searches import read_search, selected_again
from real import FIELDS, READ, answers, halves_of, main, read_verdicts, run_table, summary
from rows import Row, read_rows
from runs import RESULTS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    x = np.linspace(0.5, 5, 14)
    y = np.round(4 * x**2 + 0.5 * np.random.default_rng(0).normal(size=len(x)), 2)
    lines = ["x,y", *(f"{a:.6g},{b:.6g}" for a, b in zip(x, y, strict=True))]
    (tmp_path / "fall.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    laws = "name,target,features,law\nfall,y,x,c*x^2\nother,y,x,c*x\nalso,y,x,c\n"
    (tmp_path / "laws.csv").write_text(laws, encoding="utf-8")
    return tmp_path


def test_every_other_table_of_the_sorted_list_is_for_development(folder: Path) -> None:
    assert halves_of(folder) == {"also": "develop", "fall": "report", "other": "develop"}


def test_a_search_that_was_kept_gives_the_same_row_again(folder: Path) -> None:
    job = {"version": "now", "table": "fall", "half": "report"}
    done = job | run_table(job, folder=folder, max_time=0.5, keep=folder / "kept")
    assert tuple(done) == FIELDS
    assert done["law_shown"] == "yes"
    assert 0.8 < float(done["ratio"]) < 1.2
    again = job | run_table(job, folder=folder, max_time=0.0, keep=folder / "kept", judge=True)
    assert again | {"cpu": ""} == done | {"cpu": ""}
    path = folder / "kept" / "fall.safetensors"
    assert read_search(path).problem.train.n_rows == 14
    assert selected_again(path).best.right_side() == done["answer"].removeprefix("y = ")


def test_without_a_search_there_is_nothing_to_judge(folder: Path) -> None:
    with pytest.raises(SystemExit, match="name it with --keep"):
        main(["--data", str(folder), "--judge"])
    with pytest.raises(FileNotFoundError, match="run the search first"):
        run_table({"table": "fall"}, folder=folder, max_time=1, keep=folder / "none", judge=True)


def test_a_verdict_has_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "real.toml"
    path.write_text('[now.fall]\nverdict = "sign"\n', encoding="utf-8")
    with pytest.raises(SystemExit, match=r"\[now.fall\]: write why"):
        read_verdicts(path)


def row(table: str, ratio: float, law_weight: float) -> Row:
    known = {"version": "now", "table": table, "half": "develop", "rows": "20", "ratio": str(ratio), "shown": "5"}
    law = {"law_weight": str(law_weight), "law_shown": "yes", "is_law": "no", "fitted_law": "2*x", "weight": "0.5"}
    return dict.fromkeys(FIELDS, "") | known | law | {"answer": "y = x^2", "alternatives": '[[0.25, "y = 3*x"]]'}


def test_the_page_counts_ratios_and_laws_and_has_verdicts() -> None:
    rows = [row("a", 1.0, 0.2), row("b", 1.2, 0.01), row("c", 1.1, 0.0)]
    verdicts = {"b": {"verdict": "sign", "why": "Right."}}
    page = summary(rows, {"now": verdicts})
    assert "| now | 3 | 1.1 | 1 of 3 | 0 of 3 | 3 of 3 | 1 of 3 | 5 |" in page
    assert "0 × doubtful" in page
    line = next(each for each in answers(rows, verdicts).splitlines() if "| b" in each)
    assert line.endswith("| `y = x^2` |  | 50% | 25%: `y = 3*x` | sign: Right. |")


def test_the_page_is_up_to_date() -> None:
    table = RESULTS / "real.csv"
    if not table.exists():
        pytest.skip("there are no results yet")
    assert table.with_suffix(".md").read_text(encoding="utf-8") == summary(read_rows(table), read_verdicts(READ))
