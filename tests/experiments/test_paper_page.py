"""The page "The paper, reproduced", the index and the README's table say what the committed results say."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from scipy.stats import fisher_exact

import paper_page
from edhie.bench.report import paper
from paper_items import RESULTS, System, items, p_value, read_runs

ROOT = Path(__file__).parents[2]


def test_pages_are_up_to_date() -> None:
    old = [path.relative_to(ROOT).as_posix() for path in paper_page.outdated()]
    assert not old, f"run python experiments/paper_page.py; not up to date: {', '.join(old)}"


def test_a_changed_result_makes_the_page_outdated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper_page, "versus_paper", lambda system: "changed")
    assert ROOT / "docs" / "reproduced.md" in paper_page.outdated()


def test_every_figure_of_the_paper_has_its_table_and_its_item() -> None:
    sections = {f"{name}.{system}" for name in ("nguyen", "feynman16") for system in paper()[name]}
    assert sections | {"reconstruction", "noise"} == set(paper()["tables"])
    shown = {f"{item.benchmark}.{each['paper']}" for item in items() for each in item.system if "paper" in each}
    main = {name for name in sections if name not in shown}
    assert not main, f"not on the page: {main}"


def test_items_name_files_that_are_there() -> None:
    for item in items():
        for command in (*item.quick, *item.full):
            words = shlex.split(command)
            assert words[0] in ("python", "edhie", "cp")
            assert "{out}" in command
            if words[0] == "python":
                assert (ROOT / words[1]).is_file(), command
        written = [command for command in item.quick if not command.startswith("cp ")]
        assert not any("experiments/results" in command for command in written)


def test_p_is_that_of_fisher_on_one_equation_and_exact_on_several() -> None:
    for first, second in (((9, 10), (3, 10)), ((5, 10), (5, 10)), ((0, 10), (7, 12))):
        table = [[first[0], first[1] - first[0]], [second[0], second[1] - second[0]]]
        assert p_value({"a": first}, {"a": second}) == pytest.approx(fisher_exact(table).pvalue)
    # two equations, one run each: the four ways to divide one success on each are equally probable
    assert p_value({"a": (1, 1), "b": (1, 1)}, {"a": (0, 1), "b": (0, 1)}) == pytest.approx(0.5)
    assert p_value({"a": (1, 1), "b": (0, 1)}, {"a": (0, 1), "b": (1, 1)}) == 1


def test_totals_of_runs() -> None:
    runs = read_runs(RESULTS / "nguyen-hvar.csv", {})
    system = System("HVAR", paper()["nguyen"]["hvar"], runs)
    assert len(runs) == 100
    assert sum(found for found, _ in system.counts().values()) == sum(system.by_run())
    without = System("HVAR", {}, runs[1:])  # the first run is there for nine equations only
    assert len(without.by_run()) == 9


def test_markers() -> None:
    text = "a\n<!-- t: written by experiments/paper_page.py -->\nold\n<!-- end of t -->\nb\n"
    assert paper_page.replaced(text, "t", "new") == text.replace("old", "new")
    with pytest.raises(SystemExit, match="markers of u are missing"):
        paper_page.replaced(text, "u", "new")
