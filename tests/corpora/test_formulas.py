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


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("Body surface by Mosteller", {"H": 180, "W": 80}, 2.0),
        ("Creatinine clearance", {"A": 40, "W": 72, "Cr": 1.0}, 100.0),
        ("Saturation vapour pressure", {"T": 20.0}, 23.33),  # hPa
        ("Dew point", {"P": 23.33}, 20.0),
        ("Clear-sky radiation", {"S": 1361, "tau": 0.7, "m": 1, "z": 0.0}, 952.7),
        ("Membrane potential of an ion", {"R": 8.314, "T": 310, "z": 1, "F": 96485, "C_o": 5, "C_i": 140}, -0.0890),
        ("Kepler's third law in solar units", {"a": 5.2028, "M": 1.0}, 11.867),  # Jupiter's year
        ("Wien's displacement law", {"b": 2.8978e-3, "T": 5772}, 5.0204e-7),
        ("Escape velocity", {"G": 6.674e-11, "M": 5.972e24, "r": 6.371e6}, 11186),
        ("Loudness in sones", {"L": 60}, 4.0),
        ("Equal-tempered pitch", {"n": 60}, 261.63),  # middle C
        ("Mortgage payment", {"L": 200_000, "r": 0.005, "n": 360}, 1199.10),
        ("Black-Scholes distance", {"S": 100, "K": 100, "r": 0.05, "s": 0.2, "t": 1}, 0.35),
        ("Great-circle distance", {"R": 6371, "p1": 0, "p2": 0, "l1": 0, "l2": np.pi / 2}, 10007.5),
        ("Buckling load of a column", {"Y": 2e11, "J": 1e-6, "K": 1, "L": 3}, 219_325),
        ("Turbulent heat transfer in tubes", {"Re": 1e4, "Pr": 0.7}, 31.6),
        ("Binding energy of a nucleus", {"a_v": 15.8, "a_s": 18.3, "a_c": 0.714, "a_a": 23.2, "A": 56, "Z": 26}, 489.6),
        ("Wet-bulb temperature", {"T": 20.0, "RH": 50.0}, 13.70),
        ("Sound speed in sea water", {"T": 10, "S": 35, "z": 0}, 1490.0),
        ("Glomerular filtration by CKD-EPI", {"Cr": 0.9, "A": 50}, 99.2),
        ("Oxygen saturation by Severinghaus", {"P": 100.0}, 0.977),
        ("Wind chill temperature", {"T": -10.0, "v": 30.0}, -19.5),
        ("Hill radius", {"a": 1.496e8, "m": 5.972e24, "M": 1.989e30}, 1.4966e6),
        ("Air mass", {"z": np.radians(60)}, 1.994),
        ("Entropy of a Gaussian", {"s": 1.0}, 1.4189),
    ],
)
def test_known_values(name: str, values: dict[str, float], expected: float) -> None:
    text = next(row.text for row in TABLE.rows if row.name == name)
    found = parse(text)(**{key: np.array([float(value)]) for key, value in values.items()})
    assert found[0] == pytest.approx(expected, rel=5e-3)
