"""The table of formulas of science: readable, sourced, without repetition."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from edhie.corpora import formulas
from edhie.corpora.importing import with_generic_variables
from edhie.errors import CorpusError
from edhie.expr import parse

TABLE = formulas()
TEXTBOOK = Path(__file__).parents[2] / "experiments" / "textbook.toml"
MOST_ALIKE = 6
"""How many formulas may be the same but for the names of their variables."""


def test_the_table_is_large_enough() -> None:
    counts = Counter(row.field for row in TABLE.rows)
    assert len(TABLE) >= 1400
    assert len(counts) == 16
    assert min(counts.values()) >= 60
    assert tuple(counts) == TABLE.fields


def test_names_are_unique_and_nothing_is_blank() -> None:
    assert len({row.name for row in TABLE.rows}) == len(TABLE)
    assert all(part.strip() for row in TABLE.rows for part in (row.field, row.name, row.target, row.text, row.source))


def test_every_formula_is_readable_and_does_not_hold_its_target() -> None:
    for row in TABLE.rows:
        expr = parse(row.text)
        assert not expr.constants, row  # no c, which would be fitted
        assert expr.variables, row
        assert row.target not in expr.variables, row
        assert str(parse(str(expr))) == str(expr), row


def test_every_formula_has_values() -> None:
    rng = np.random.default_rng(0)
    for row in TABLE.rows:
        expr = parse(row.text)
        scale = 10.0 ** rng.uniform(-2, 3, (len(expr.variables), 3000))
        with np.errstate(all="ignore"):
            values = expr(**dict(zip(expr.variables, scale, strict=True)))
        assert np.isfinite(values).any(), row
        assert len(np.unique(values[np.isfinite(values)])) > 1, row


def test_few_formulas_are_alike() -> None:
    counts = Counter(TABLE.forms)
    assert max(counts.values()) <= MOST_ALIKE
    assert len(counts) > 0.85 * len(TABLE)


def test_the_forest_is_in_the_order_of_the_table() -> None:
    assert len(TABLE.forest) == len(TABLE)
    for i in (0, 100, len(TABLE) - 1):
        assert str(TABLE.forest[i]) == str(with_generic_variables(parse(TABLE.rows[i].text)))


def test_fields_can_be_chosen_and_left_out() -> None:
    optics = TABLE.of("optics and waves")
    assert optics.fields == ("optics and waves",)
    assert len(optics) + len(TABLE.without(fields=["optics and waves"])) == len(TABLE)
    with pytest.raises(CorpusError, match="unknown field 'optik'"):
        TABLE.of("optik")


def test_problems_can_be_left_out() -> None:
    asked = {each for row in TABLE.rows for each in row.problems}
    assert sum(each.startswith("feynman/") for each in asked) == 120
    rest = TABLE.without(problems="textbook/")
    assert not any(each.startswith("textbook/") for row in rest.rows for each in row.problems)
    assert len(TABLE.without(problems=["feynman/", "textbook/"])) < len(rest) < len(TABLE)
    names = {row.name for row in rest.rows}
    assert "Reflectance at normal incidence" not in names
    assert "Acoustic reflection" not in names  # the same in other letters
    assert "Photoelectric effect" in names


def test_the_laws_of_the_textbook_problems_are_marked() -> None:
    ids = {f"textbook/{each['id']}" for each in tomllib.loads(TEXTBOOK.read_text(encoding="utf-8"))["problem"]}
    marked = {each for row in TABLE.rows for each in row.problems if each.startswith("textbook/")}
    assert marked == ids
