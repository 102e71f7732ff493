"""The page "The paper, reproduced", the index and the README's table say what the committed results say."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

import paper_page
from edhie.bench.report import paper
from headline import blackbox_line
from paper_items import RESULTS, Run, System, items, read_runs
from paper_sections import compared
from significance import holm, p_value, sign_p, verdict

ROOT = Path(__file__).parents[2]


def test_pages_are_up_to_date() -> None:
    old = [path.relative_to(ROOT).as_posix() for path in paper_page.outdated()]
    assert not old, f"run python experiments/paper_page.py; not up to date: {', '.join(old)}"


def test_a_changed_result_makes_the_page_outdated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper_page, "compared", lambda item: {"EDHiE": "changed"})
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


def test_an_item_alone_makes_the_models_that_it_uses() -> None:
    for item in items():
        for number, command in enumerate(item.quick):
            if "--model {out}/models/" in command:
                assert any("--models {out}/models" in each for each in item.quick[:number]), command


def test_p_is_that_of_fisher_on_one_equation_and_exact_on_several() -> None:
    for first, second in (((9, 10), (3, 10)), ((5, 10), (5, 10)), ((0, 10), (7, 12))):
        table = [[first[0], first[1] - first[0]], [second[0], second[1] - second[0]]]
        assert p_value({"a": first}, {"a": second}) == pytest.approx(fisher_exact(table).pvalue)
    # two equations, one run each: the four ways to divide one success on each are equally probable
    assert p_value({"a": (1, 1), "b": (1, 1)}, {"a": (0, 1), "b": (0, 1)}) == pytest.approx(0.5)
    assert p_value({"a": (1, 1), "b": (0, 1)}, {"a": (0, 1), "b": (1, 1)}) == 1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_corrected_p_are_as_sure_at_most_and_keep_their_order(p: list[float]) -> None:
    corrected = holm(p)
    assert all(before <= after <= 1 for before, after in zip(p, corrected, strict=True))
    assert [corrected[k] for k in np.argsort(p)] == sorted(corrected)
    assert min(corrected) == min(1, len(p) * min(p))


def test_paired_p_depends_on_the_runs_that_only_one_got_right() -> None:
    assert sign_p(0, 0) == 1
    assert sign_p(9, 1) == sign_p(1, 9) == pytest.approx(2 * 11 / 2**10)


def test_a_difference_is_called_one_below_chance_only() -> None:
    many, few = {"a": (9, 10)}, {"a": (2, 10)}
    assert verdict(many, few, 0.004) == "more (p = 0.004)"
    assert verdict(few, many, 0.004) == "fewer (p = 0.004)"
    assert verdict(many, few, 0.06) == "within chance (p = 0.06)"
    assert verdict(many, many, 1) == "as many"


def test_pooled_methods_are_compared_by_method_and_equation() -> None:
    item = next(each for each in items() if each.pool)
    names, counts = item.compare[0], {each.name: each.counts() for each in item.systems()}
    first, second = (
        {f"{k} {key}": both for k, each in enumerate(item.pool[name]) for key, both in counts[each].items()}
        for name in names
    )
    assert len(first) == 24
    told = next(each for name, each in compared(item).items() if name.startswith(" against ".join(names)))
    plain = verdict(first, second, p_value(first, second))
    assert told.split()[0] == plain.split()[0]


def test_what_only_looks_like_the_equation_is_not_found() -> None:
    def run(is_below: bool, is_equivalent: bool | None, rmse: float) -> Run:
        return Run("a", 0, is_below, is_equivalent, rmse, 1.0, None, None)

    assert run(True, True, 0).is_found
    assert run(True, None, 0).is_found
    assert not run(True, False, 0).is_found
    assert not run(False, True, 1e-3).is_found
    assert System("", {}, [run(True, True, 0)]).notes() == []
    notes = System("", {}, [run(True, False, 0), run(False, True, 1e-3), run(True, True, 1e-9)]).notes()
    assert [note[:9] for note in notes] == ["1 more re", "1 more ga", "Of ours, "]


def test_totals_of_runs() -> None:
    runs = read_runs(RESULTS / "nguyen-hvar.csv", {})
    system = System("HVAR", paper()["nguyen"]["hvar"], runs)
    assert len(runs) == 100
    assert sum(found for found, _ in system.counts().values()) == sum(system.by_run())
    without = System("HVAR", {}, runs[1:])  # the first run is there for nine equations only
    assert len(without.by_run()) == 9


def test_the_headline_has_the_black_box_problems_of_the_report_half() -> None:
    table = "| method | symbolic | R² | size | better |\n| --- | --- | --- | --- | --- |\n"
    table += "| trees | no | 0.96 | 900 | 1 of 5 (p = 0.3) |\n| **edhie** | yes | 0.95 | 31 |  |\n"
    for told, end in (("3 of 5 (p = 0.09)", "within chance)"), ("5 of 5 (p < 0.001)", "tuned)")):
        page = f"## Report half\n\n5 sets. More.\n\n{table}| X | yes | 0.93 | 49 | {told} |\n\n## Both halves\n"
        what, ours, best = blackbox_line(f"# T\n\n## Develop half\n\n9 sets.\n\n{page}")
        assert "5 sets kept aside" in what
        assert ours == "**0.95** with 31 nodes"
        assert best.startswith("0.93 with 49 nodes (X, tuned")
        assert best.endswith(end)


def test_markers() -> None:
    text = "a\n<!-- t: written by experiments/paper_page.py -->\nold\n<!-- end of t -->\nb\n"
    assert paper_page.replaced(text, "t", "new") == text.replace("old", "new")
    with pytest.raises(SystemExit, match="markers of u are missing"):
        paper_page.replaced(text, "u", "new")
