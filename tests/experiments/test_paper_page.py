"""The page "The paper, reproduced", the index and the README's table say what the committed results say."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest

import dso
import paper_page
import paper_sections
import rivals
from edhie.bench.report import paper
from headline import blackbox_line, published
from paper_items import RESULTS, Item, Run, System, items, read_runs
from paper_pictures import SWEEPS, Rise, compared_at, listed, places, ranked_runs, rises
from paper_sections import by_equation, pairs, sentences, strict_total, strictly_compared, total
from rows import read_rows
from significance import p_value, verdict

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


def test_pooled_methods_are_compared_by_method_and_equation() -> None:
    item = next(each for each in items() if each.pool)
    names, counts = item.compare[0], {each.name: each.counts() for each in item.systems()}
    first, second = (
        {f"{k} {key}": both for k, each in enumerate(item.pool[name]) for key, both in counts[each].items()}
        for name in names
    )
    assert len(first) == 24
    told = next(each for each in pairs(item) if each.startswith(" against ".join(names)))
    plain = verdict(first, second, p_value(first, second))
    assert told.split(": ")[2].split()[0] == plain.split()[0]
    assert "; in the paper 93 of 240 against 71 of 240: more" in told


def test_methods_of_other_tables_are_compared_where_the_page_speaks_of_them() -> None:
    by_id = {item.id: pairs(item) for item in items()}
    assert any(
        each.startswith("EDHiE against HVAR, both here: 74 of 100 against 43") for each in by_id["edhie-dso-pysr"]
    )
    assert any(each.startswith("EDHiE against ProGED, both here:") for each in by_id["edhie-dso-pysr"])
    assert any(each.startswith("GVAE Evo against GVAE 64, both here:") for each in by_id["gvae-evo"])


def test_what_only_looks_like_the_equation_is_not_found() -> None:
    def run(is_below: bool, is_equivalent: bool | None, rmse: float) -> Run:
        return Run("a", 0, is_below, is_equivalent, rmse)

    assert run(True, True, 0).is_found
    assert run(True, None, 0).is_found
    assert not run(True, False, 0).is_found
    assert not run(False, True, 1e-3).is_found
    assert System("", {}, [run(True, True, 0)]).notes() == []
    notes = System("", {}, [run(True, False, 0), run(False, True, 1e-3), run(True, True, 1e-9)]).notes()
    assert [note[:9] for note in notes] == ["1 more re", "1 more ga"]


def test_successes_by_the_printed_limit_are_shown_beside_ours() -> None:
    runs = [Run("a", 0, True, True, 1e-12), Run("a", 1, True, True, 1e-9), Run("a", 2, False, None, 1.0)]
    system = System("", {}, runs)
    assert (system.counts(), system.strict_counts()) == ({"a": (2, 3)}, {"a": (1, 3)})
    assert strict_total(system) == "1"
    assert strict_total(System("", {}, [Run("a", 0, True, None)])) == "not recorded"
    item = _item("edhie-dso-pysr")
    strict = {system.name: system.strict_counts() for system in item.systems()}["EDHiE"]
    rows = read_rows(RESULTS / "nguyen-edhie.csv")
    assert strict is not None
    assert sum(found for found, _ in strict.values()) == sum(
        float(row["rmse"]) < 1e-10 and row["equivalent"] == "yes" for row in rows
    )
    assert strictly_compared(item)["EDHiE"].startswith("64 of 100, within chance")
    assert any("By the printed limit: 64 of 100" in each for each in sentences(item))


def test_a_method_that_was_not_run_says_why() -> None:
    missing = [(item, system) for item in items() for system in item.systems() if not system.runs]
    assert {system.name for _, system in missing} <= {"PySR"}
    for item, system in missing:
        assert system.reason, f"{system.name} has no runs and no reason"
        row = next(line for line in paper_page.index().splitlines() if f"`{item.id}`" in line)
        assert total(system) == f"not run here ({system.reason})"
        assert f"{system.name}: {total(system)}" in row
        assert total(system) in paper_page.glance()
    kept = {name for item in items() for name in item.results}
    not_there = {name for name in kept if not (RESULTS / name).is_file()}
    assert not_there <= {each["results"] for item in items() for each in item.system if "reason" in each}


def test_packages_with_a_time_limit_are_marked() -> None:
    for item in items():
        limited = [command for command in item.full if "--max-time 15" in command]
        marked = [each for each in item.system if "(15 s" in each["name"]]
        assert len(limited) == len(marked)


def test_runs_within_another_limit_are_counted_anew() -> None:
    by_name = {system.name: system for item in items() for system in item.systems() if item.benchmark == "nguyen"}
    every = by_name["DSO, all expressions counted"]
    rows = [row for row in read_rows(RESULTS / "dso.csv") if row["variant"] == "all"]
    found = sum(row["success"] == "True" and int(row["asked"]) <= 100_000 for row in rows)
    assert sum(run.is_found for run in every.runs) == found < sum(run.is_found for run in by_name["DSO"].runs)
    assert every.is_recount
    tables = by_equation(_item("edhie-dso-pysr"), "found")
    assert "DSO, all expressions counted, here" in tables
    assert "DSO, all expressions counted, paper" not in tables
    # the runs of dso.csv are those of nguyen-dso.csv, from which the errors are
    others = {(row["problem"], row["run"]): row["evaluated"] for row in read_rows(RESULTS / "nguyen-dso.csv")}
    assert all(others[row["problem"], row["run"]] == row["executed"] for row in rows)


def test_printed_means_are_those_of_the_rows() -> None:
    for name, columns in paper()["means"].items():
        benchmark, system = name.split(".")
        for column, (mean, deviation) in columns.items():
            rows = [each[column][0] for each in paper()[benchmark][system].values()]
            assert mean == pytest.approx(np.mean(rows), rel=1e-4, abs=0.011 if column == "r2" else 1), name
            assert deviation == pytest.approx(np.std(rows), rel=0.05, abs=0.012 if column == "r2" else 1), name


def test_tables_end_with_the_mean_over_equations() -> None:
    item = _item("random-sampling")
    for column, shown in (("r2", "0.81 ± 0.33"), ("invalid", "15.9 ± 0.0 %")):
        lines = by_equation(item, column).splitlines()
        assert lines[2].endswith("| mean |")
        assert next(line for line in lines if line.startswith("| GVAE 32, paper")).endswith(f"| {shown} |")
    runs = [Run("a", 0, True, None, r2=1.0), Run("a", 1, True, None, r2=0.5), Run("b", 0, True, None, r2=0.25)]
    cells = by_equation(_with([System("X", {}, runs)]), "r2").splitlines()[-1]
    assert cells == "| **X, here** | 0.75 ± 0.25 | 0.25 ± 0.00 | 0.50 ± 0.25 |"


class _Given(Item):
    """An item with given methods."""

    def systems(self, folder: Path = RESULTS) -> list[System]:
        return self.found  # type: ignore[attr-defined,no-any-return]


def _with(systems: list[System]) -> Item:
    item = _Given("", "", "", "systems", [], [], [], "")
    object.__setattr__(item, "found", systems)
    return item


def _item(name: str) -> Item:
    return next(each for each in items() if each.id == name)


def test_learning_curves_are_ranked_by_one_criterion() -> None:
    rows = [
        {"method": method, "problem": problem, "evaluated": str(executed), "r2": str(r2)}
        for problem, curves in {
            "A": {"proged": [(5, 0.9995)], "hvar": [(9, 1.0)], "edhie": [(2, 0.5), (7, 1.0)]},
            "B": {"proged": [(5, 0.4)], "hvar": [(9, 0.5)], "edhie": [(2, 0.6)]},
            "C": {"proged": [(5, 0.4)], "hvar": [(9, 1.0)], "edhie": [(9, 0.999)]},
            "D": {"proged": [(5, 0.9)], "hvar": [(9, 0.5)], "edhie": [(80_000, 1.0)]},
        }.items()
        for method, curve in curves.items()
        for executed, r2 in curve
    ]
    found = rises(rows)
    assert found["A"]["edhie"] == Rise(7, 0)
    assert [str(found[name]["edhie"]) for name in "ABCD"] == ["7", "0.60 at the end", "9", "80,000"]
    assert places(found) == {"first": ["B", "D"], "level": ["C"], "behind": ["A"]}
    assert (listed([]), listed(["a"]), listed(["a", "b", "c"])) == ("none", "a", "a, b and c")
    section = paper_page.section(_item("learning-curves"))
    where = places(rises(read_rows(RESULTS / "learning_curves.csv")))
    assert f"EDHiE is first on {listed(where['first'])}" in section
    assert f"EDHiE is first on {listed(where['first'])}" in paper_page.glance()
    assert "corrected for 12 tests" in ranked_runs(["NG-1", "NG-5", "NG-6", "NG-8", "NG-9", "NG-10"])


def test_a_claim_on_one_dimension_is_tested_as_it_is_made() -> None:
    over, rng = SWEEPS["latent_dimension.csv"], np.random.default_rng(0)
    rows = [
        {"model": model, "latent": latent, "fold": str(fold), "edit_distance": str(error + rng.normal(0, 1e-3))}
        for model, errors in {"hvae": [0.1] * 5, "gvae": [0.3] * 5, "cvae": [0.3, 0.3, 0.05, 0.1, 0.3]}.items()
        for latent, error in zip(over.others, errors, strict=True)
        for fold in range(5)
    ]
    told = compared_at(rows, over)
    assert told.startswith("HVAE with 16 dimensions against GVAE and CVAE with 16 to 256 dimensions")
    assert "lower in 8 and higher in 1 of 10 comparisons" in told


def test_pages_of_dso_and_of_other_packages_are_up_to_date() -> None:
    assert (RESULTS / "dso.md").read_text(encoding="utf-8") == dso.summary(read_rows(RESULTS / "dso.csv"))
    assert (RESULTS / "rivals.md").read_text(encoding="utf-8") == rivals.page()


def test_published_figures_name_their_source() -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    for name, each in published().items():
        assert name in page
        assert each["title"] in page
        assert each.get("link", "") in page
        assert each["source"].split(", ")[0] in page


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
        assert "5 sets not used for development" in what
        assert ours == "**0.95** with 31 nodes"
        assert best.startswith("0.93 with 49 nodes (X, tuned")
        assert best.endswith(end)


def test_markers() -> None:
    text = "a\n<!-- t: written by experiments/paper_page.py -->\nold\n<!-- end of t -->\nb\n"
    assert paper_page.replaced(text, "t", "new") == text.replace("old", "new")
    with pytest.raises(SystemExit, match="markers of u are missing"):
        paper_page.replaced(text, "u", "new")


def test_each_method_under_noise_is_compared_with_the_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    def row(method: str, problem: str, successes: int, runs: int) -> dict[str, str]:
        known = {"mean_rank": "2.00", "rank_deviation": "0.50", "selected": str(successes)}
        return {
            "method": method, "noise": "0.01", "problem": problem, "successes": str(successes), "runs": str(runs)
        } | known  # fmt: skip

    rows = [row("edhie", "NG-3", 1, 3), row("edhie", "total", 1, 3)]
    rows += [row("default", "NG-10", 10, 10), row("default", "total", 10, 10)]
    monkeypatch.setattr(paper_sections, "read_rows", lambda path: rows)
    text = paper_sections.noise(next(item for item in items() if item.kind == "noise"))
    assert "| 1 % | 67 of 100 | 7.3 ± 18.4 | 1 of 3 | 2.0 ± 0.5 | 1 | 10 of 10 | 2.0 ± 0.5 | 10 |" in text
    assert "| 2 % | 59 of 100 | 7.4 ± 16.1 |  |  |  |  |  |  |" in text  # nothing was run there
    assert "EDHiE here, beside the paper's EDHiE, by level: 1 % within chance (p = 1)." in text  # 1 of 3, 5 of 10
    assert "Default search here, beside the paper's EDHiE, by level: 1 % more (p < 0.001)." in text  # 10 and 1 of 10
