"""The black-box problems: SRBench's protocol, halves, sizes, ranks and fronts."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas
import pytest

from blackbox import (
    FIELDS,
    LACKING,
    MOST_ROWS,
    halves_of,
    judged_again,
    main,
    most_predictive,
    nodes,
    r2_of,
    read_set,
    run_set,
    split_set,
)
from blackbox_tables import (
    OURS,
    SHARED,
    Score,
    front_of,
    groups_table,
    median_ranks,
    methods_table,
    nodes_text,
    page,
    ranks_figure,
    without_shared,
)
from edhie import EDHiERegressor

METHODS = (("good", "1", 0.9, 50), ("small", "1", 0.5, 5), ("poor", "1", 0.4, 60), ("trees", "0", 0.95, 900))
PUBLISHED = [
    {"algorithm": name, "is_symbolic": symbolic, "dataset": each, "r2_test": str(r2), "model_size": str(size)}
    for each in ("one", "two", "three")
    for name, symbolic, r2, size in METHODS
]


def row(name: str, seed: int, r2: float, size: int, version: str = "now") -> dict[str, str]:
    known = {"version": version, "set": name, "half": "develop", "seed": str(seed), "r2": str(r2), "size": str(size)}
    others = {"r2_accuracy": str(r2 + 0.01), "size_accuracy": str(2 * size), "seconds": "60.0"}
    return dict.fromkeys(FIELDS, "0") | known | others


def our_line(rows: list[dict[str, str]]) -> str:
    return next(each for each in methods_table(rows, PUBLISHED).splitlines() if f"**{OURS}**" in each)


def test_other_methods_are_tested_on_the_sets_that_both_have() -> None:
    sets = [f"set {k}" for k in range(12)]
    published = [each | {"dataset": name} for each in PUBLISHED[:4] for name in sets[:10]]
    table = methods_table([row(name, 0, 0.7 + k / 1000, 20) for k, name in enumerate(sets)], published)
    lines = {each.split(" | ")[0].removeprefix("| "): each for each in table.splitlines()}
    assert lines["small"].endswith("| 10 of 10 (p = 0.0078) |")  # 2/2**10, four methods
    assert lines["good"].endswith("| 0 of 10 (p = 0.0078) |")
    assert lines[f"**{OURS}**"].endswith("|  |")


def test_three_quarters_are_fitted_and_standardised_by_themselves() -> None:
    rng = np.random.default_rng(1)
    given = rng.normal(5, 3, (400, 2))
    given[:, 1] = 7.0
    split = split_set(("a", "b"), given, given[:, 0] * 2, seed=3)
    assert len(split.y) == 300
    assert len(split.y_test) == 100
    np.testing.assert_allclose([split.y.mean(), split.y.std()], [0, 1], atol=1e-12)
    np.testing.assert_allclose(split.X[:, 0], split.y)
    np.testing.assert_allclose(split.X_test[:, 0], split.y_test)  # by the same mean and spread
    assert not split.X[:, 1].any()  # a column that does not vary is not divided by 0
    again, other = (split_set(("a", "b"), given, given[:, 0], seed=seed) for seed in (3, 4))
    np.testing.assert_array_equal(again.X, split.X)
    assert not np.array_equal(other.X, split.X)


def test_of_large_sets_so_many_rows_are_fitted_and_a_quarter_predicted() -> None:
    rows = np.arange(20_000.0)
    split = split_set(("a",), rows[:, None], rows, seed=0)
    assert len(split.y) == MOST_ROWS
    assert len(split.y_test) == 5_000
    assert set(split.y).isdisjoint(split.y_test)


def test_every_other_set_of_the_sorted_list_is_for_development() -> None:
    known = [{"dataset": name} for name in ("c", "a", "b", "a", *LACKING)]
    assert halves_of(known) == {"a": "develop", "b": "report", "c": "develop"}


def test_size_and_r2_are_those_of_the_printed_equation(tmp_path: Path) -> None:
    x = np.linspace(1, 5, 80)
    pandas.DataFrame({"x": x, "target": 3 * x}).to_csv(tmp_path / "line.tsv.gz", sep="\t", index=False)
    split = split_set(*read_set(tmp_path, "line"), seed=0)
    best = EDHiERegressor(max_time=None, max_evaluations=200).fit(split.X, split.y).best_
    assert nodes(best) == len(str(best.sympy()).replace("*", " * ").split())  # x, or a number times x
    assert r2_of(best, split) == pytest.approx(1)


def test_sets_seeds_and_halves_give_the_jobs_and_the_page_and_figure_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[tuple[str, str]] = []

    def run_fits(run: object, asked: list[dict[str, str]], *_: object) -> list[dict[str, str]]:
        jobs[:] = [(each["set"], each["seed"]) for each in asked]
        return [row(each["set"], int(each["seed"]), 0.8, 20) for each in asked]

    monkeypatch.setattr("blackbox.run_fits", run_fits)
    published = tmp_path / "published.csv"
    pandas.DataFrame(PUBLISHED).to_csv(published, index=False)
    options = ["--data", str(tmp_path), "--published", str(published), "--results", str(tmp_path)]
    main([*options, "--half", "develop", "--seeds", "0", "5"])
    assert jobs == [("one", "0"), ("two", "0"), ("one", "5"), ("two", "5")]  # sorted: one, three, two
    main([*options, "--sets", "two", "three"])
    assert jobs == [("three", "0"), ("two", "0")]
    assert f"**{OURS}**" in (tmp_path / "blackbox.md").read_text(encoding="utf-8")
    assert (tmp_path / "blackbox.png").stat().st_size > 10_000
    with pytest.raises(SystemExit, match="no set is named four"):
        main([*options, "--sets", "four"])
    with pytest.raises(SystemExit, match=r"srbench_blackbox.csv is missing; say with --published"):
        main(["--data", str(tmp_path)])


def test_medians_are_over_seeds_then_over_sets() -> None:
    rows = [row("one", seed, r2, 20) for seed, r2 in enumerate((0.1, 0.93, 0.99))] + [row("two", 0, 0.97, 30)]
    line = our_line(rows)
    assert [cell.strip() for cell in line.split("|")[1:5]] == [f"**{OURS}**", "yes", "0.950", "25"]
    assert line.split("|")[5].strip() == "1"  # first among symbolic methods on both
    assert line.split("|")[6].strip() == "1.5"  # with the trees in between


def test_an_equation_without_a_value_on_unseen_rows_is_the_last() -> None:
    split = split_set(("a",), np.arange(8.0)[:, None], np.arange(8.0), seed=0)
    for values, expected in (([0, np.nan], -np.inf), ([0, np.inf], -np.inf), (split.y_test, 1)):
        equation: Any = SimpleNamespace(predict=lambda X, values=values: np.array(values))  # noqa: N803
        assert r2_of(equation, split) == expected
    line = our_line([row("one", 0, -np.inf, 20), row("two", 0, -np.inf, 20)])
    assert [cell.strip() for cell in line.split("|")[3:7]] == ["-inf", "20", "4", "5"]


def test_the_page_tells_how_many_seeds_there_are() -> None:
    rows = [row("one", 0, 0.9, 20), row("two", 0, 0.9, 20)]
    assert "one seed;" in page(rows, PUBLISHED)
    assert "medians of 2 seeds;" in page([*rows, row("one", 1, 0.8, 9), row("two", 1, 0.8, 9)], PUBLISHED)
    assert "medians of 1 or 2 seeds;" in page([*rows, row("one", 1, 0.8, 9)], PUBLISHED)


def test_friedman_sets_and_others_are_shown_apart() -> None:
    published = [*PUBLISHED, *(each | {"dataset": "9_fri_c0"} for each in PUBLISHED[:4])]
    table = groups_table([row("one", 0, 0.7, 20), row("9_fri_c0", 0, 0.95, 30)], published)
    heads = ["method", "R², 1 Friedman sets", "size", "rank of R²", "R², 1 other sets", "size", "rank of R²"]
    assert table.splitlines()[0] == f"| {' | '.join(heads)} |"
    assert f"| **{OURS}** | 0.950 | 30 | 1 | 0.700 | 20 | 2 |" in table
    assert "trees" not in table
    assert f"| **{OURS}** |  |  |  | 0.700 | 20 | 2 |" in groups_table([row("one", 0, 0.7, 20)], published)


def test_first_places_and_sets_on_which_a_method_is_better_in_both_are_counted() -> None:
    rows = [row("one", 0, 0.93, 20), row("two", 0, 0.85, 60), row("three", 0, 0.85, 20)]
    counted = methods_table(rows, PUBLISHED).splitlines()[0]
    assert "3 sets" in counted
    assert "best R² of the symbolic methods on 1." in counted
    assert "On 1 of the 3, another symbolic method is better in both" in counted


def test_names_in_the_figure_cover_neither_each_other_nor_points() -> None:
    near = [("A long name", 0.5, 10), ("Another long name", 0.5, 20), ("The same", 0.5, 20), ("Fourth", 0.49, 15)]
    published = [
        {"dataset": "one", "algorithm": name, "r2_test": str(r2), "model_size": str(size), "is_symbolic": "1"}
        for name, r2, size in near
    ]
    figure = ranks_figure([row("one", 0, 0.495, 12)], published)
    figure.draw_without_rendering()
    panel = figure.axes[0]
    assert {label.get_text() for label in panel.texts} >= {"A long name", "Another long name, The same", "Fourth"}
    boxes = [label.get_window_extent() for label in panel.texts]
    points = [panel.transData.transform(points.get_offsets()[0]) for points in panel.collections]
    assert len(boxes) == 4
    assert all(box.count_overlaps(boxes) == 1 for box in boxes)  # only with itself
    assert not any(box.contains(*point) for box in boxes for point in points)


def test_choices_are_compared_on_the_same_fits() -> None:
    rows = [row("one", 0, 0.8, 20), row("one", 1, 0.8, 20), row("two", 0, 0.8, 20)]
    rows[1]["r2_accuracy"] = "-7"
    cells = {line.split("|")[1].strip(): line for line in page(rows, PUBLISHED).splitlines() if line.startswith("| ")}
    assert "| 0.800 | 0.800 | 0.8 | 20 | 2 |  |" in cells["mdl"]
    assert "| -7 | 40 |" in cells["accuracy"]  # the lowest R² of a single fit
    assert "1 and 1 (p = 1)" in cells["accuracy"]  # medians over seeds: -3.1 and 0.81, against 0.8


def test_results_without_sets_that_are_in_both_halves_are_told() -> None:
    shared = sorted(SHARED)[0]
    published = [*PUBLISHED, *(each | {"dataset": shared} for each in PUBLISHED[:4])]
    rows = [row("one", 0, 0.9, 20), row(shared, 0, 0.1, 90)]
    assert without_shared(rows[:1], published) == []
    (told,) = without_shared(rows, published)
    assert "R² 0.900 with 20 nodes" in told


def test_sizes_are_shown_as_plain_numbers() -> None:
    assert [nodes_text(size) for size in (9.0, 30.5, 999.75, 121086.4)] == ["9", "30.5", "999.75", "121,086"]


def test_ranks_share_ties_and_the_front_has_what_none_beats() -> None:
    scores = {"a": {"s": Score(0.9, 10)}, "b": {"s": Score(0.9, 20)}, "c": {"s": Score(0.2, 5), "t": Score(0.5, 1)}}
    assert median_ranks(scores) == {"a": Score(1.5, 2), "b": Score(1.5, 3), "c": Score(2, 1)}
    assert front_of({name: own["s"] for name, own in scores.items()}) == ["a", "c"]
    assert front_of({"a": Score(1, 2), "b": Score(2, 3), "c": Score(3, 1)}, least=True) == ["a", "c"]


def test_one_run_has_all_columns_and_its_equations_can_be_judged_again(tmp_path: Path) -> None:
    x = np.linspace(1, 5, 40)
    noisy = np.round(x**2 + np.random.default_rng(0).normal(size=40), 3)
    pandas.DataFrame({"a": x, "target": noisy}).to_csv(tmp_path / "parabola.tsv.gz", sep="\t", index=False)
    job = {"version": "now", "set": "parabola", "half": "develop", "seed": "0"}
    done = job | run_set(job, folder=tmp_path, max_time=0.2, keep=tmp_path / "kept")
    assert set(done) == set(FIELDS)
    assert float(done["r2"]) > 0.8
    changed = done | dict.fromkeys(("r2_accuracy", "size_accuracy", "equation_accuracy"), "")
    assert judged_again(changed, folder=tmp_path, keep=tmp_path / "kept") == done


def test_the_choice_for_accuracy_is_that_of_the_regressor() -> None:
    x = np.linspace(0.5, 4, 60)
    y = np.sqrt(x) + 0.05 * np.random.default_rng(1).normal(size=60)
    settings: dict[str, Any] = {"max_time": None, "max_evaluations": 1500, "random_state": 0}
    mdl, accuracy = (EDHiERegressor(selection=each, **settings).fit(x[:, None], y) for each in ("mdl", "accuracy"))
    assert most_predictive(mdl.discoveries_[0]).expr == accuracy.best_.expr
