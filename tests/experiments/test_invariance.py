"""Laws in other units and orders, and over many decades: variants of one table, forms that are the same, and pages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import decades
import invariance
import textbook
from edhie.bench.problem import load_problems
from edhie.expr import parse
from edhie.expr.standard_libraries import everything
from invariance import FIRST, NOISE, OTHERS, VARIANTS, Law, in_first_units
from rows import Row, read_rows
from runs import RESULTS

LAWS = {each.id: Law(each) for each in load_problems(invariance.PROBLEMS)}
DECADES = {each.id: each for each in load_problems(decades.PROBLEMS)}


@pytest.mark.parametrize("names", [invariance.problem_names, decades.problem_names])
def test_laws_are_in_two_equal_halves(names: object) -> None:
    assert callable(names)
    assert len(names("develop")) == len(names("report"))
    assert sorted([*names("develop"), *names("report")]) == sorted(names(None))


def test_laws_are_none_of_the_textbook_formulas() -> None:
    formulas = {each.formula for each in load_problems(textbook.PROBLEMS)}
    assert len(LAWS) == 20
    assert not formulas & {each.problem.formula for each in LAWS.values()}


@pytest.mark.parametrize("name", VARIANTS)
def test_the_law_holds_in_every_variant(name: str) -> None:
    law, variant = LAWS["stokes"], VARIANTS[name]
    X, y, names = law.table(variant)  # noqa: N806
    columns = {each: column / variant.columns for each, column in zip(names, X.T, strict=True)}
    exact = 2.18 * (columns["sphere"] - columns["fluid"]) * columns["r"] ** 2 / columns["mu"]
    assert np.std(y / variant.target / exact - 1) == pytest.approx(NOISE, rel=0.3)
    assert len(names) == 4 + len(OTHERS) * variant.is_noisy
    first = law.table(VARIANTS[FIRST])
    assert sorted(y / variant.target) == pytest.approx(sorted(first[1]))
    assert (names != first[2]) == (variant.is_reversed or variant.is_noisy)


def test_equations_of_variants_are_compared_in_the_first_units() -> None:
    law, variant = LAWS["michaelis-menten"], VARIANTS["columns·1e6"]
    in_variant = law.parsed("1.7*S/(900000 + S)")
    in_first = in_first_units(in_variant, variant, law.problem.names)
    assert law.is_same(law.truth, in_first)
    assert law.difference(law.truth, in_first) < 1e-9
    assert law.difference(law.truth, law.parsed("1.03*1.7*S/(0.9 + S)")) == pytest.approx(1)
    assert law.difference(law.truth, law.parsed("log(-S)")) == np.inf
    assert law.is_same(law.truth, law.parsed("S/(1 + S)"))  # constants of 1 are not written
    assert not law.is_same(law.truth, law.parsed("1.7*S/(0.9 + S) + 0.01"))
    assert not law.is_same(law.truth, law.parsed("1.2*atan(S) + 0.1"))
    assert not law.is_same(law.truth, law.parsed("1.7*S/(0.9 + S) + 0.001*noise1"))


def test_forms_are_the_same_only_if_small_values_are_too() -> None:
    problem = DECADES["coulomb"]
    X, exact, y = decades.table_of(problem, 0)  # noqa: N806
    assert np.std(y / exact - 1) == pytest.approx(decades.NOISE, rel=0.5)
    texts = {"7e9*q2*q1/r^2": True, "9e9*q1*q2/r^2 + 1e-20": False, "9e9*q1*q2/r^2.1": False}
    exprs = [parse(text, everything(problem.names)) for text in texts]
    assert decades.has_law(exprs, problem, X, y) == list(texts.values())


@pytest.mark.parametrize("name", DECADES)
def test_values_span_decades_and_are_finite(name: str) -> None:
    X, exact, y = decades.table_of(DECADES[name], 1)  # noqa: N806
    assert len(y) == 30
    assert np.isfinite(X).all()
    assert (y > 0).all()
    assert max(np.ptp(np.log10(X), axis=0).max(), np.ptp(np.log10(exact))) > 2


def test_a_kept_search_gives_the_same_row_again(tmp_path: Path) -> None:
    job = {"version": "now", "problem": "photon", "seed": "0"}
    done = job | decades.run_problem(job, max_time=0.3, keep=tmp_path)
    assert tuple(done) == decades.FIELDS
    again = job | decades.run_problem(job, max_time=0.3, keep=tmp_path, judge=True)
    assert again | {"cpu": ""} == done | {"cpu": ""}


def test_variants_are_compared_with_the_first() -> None:
    def row(variant: str, expression: str) -> Row:
        known = {"version": "now", "problem": "kepler", "variant": variant, "expression": expression, "right": "yes"}
        return dict.fromkeys(invariance.FIELDS, "") | known

    rows = [
        row(FIRST, "a*sqrt(a/M)"), row("y·1e12", "1.03e12*sqrt(a^3/M)"), row("seed", "a^1.4/sqrt(M)"),
        row("row order", "a/M"),
    ]  # fmt: skip
    found = invariance.compared(rows)
    assert [each["same"] for each in found] == ["yes", "yes", "no", "no"]
    assert [float(each["difference"]) for each in found[:2]] == pytest.approx([0, 1])
    assert invariance.compared(found) == found
    page = invariance.summary(found)
    assert "| all but the first | 1 of 3 | 0 of 3 | 3 of 3 |" in page
    assert "| kepler | `" in page


@pytest.mark.parametrize("script", [invariance, decades])
def test_the_page_is_up_to_date(script: object) -> None:
    table = RESULTS / f"{script.__name__}.csv"  # type: ignore[attr-defined]
    if not table.exists():
        pytest.skip("there are no results yet")
    assert table.with_suffix(".md").read_text(encoding="utf-8") == script.summary(read_rows(table))  # type: ignore[attr-defined]
