"""Names that are not what they look like are named, and names of science and of other scripts are left in peace."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from edhie.errors import DataError, NameWarning
from edhie.evaluate import read_data
from edhie.evaluate.tables import open_table
from edhie.safe_text import skeleton, warn_of_lookalikes

A = "\u0430"  # Cyrillic


def told(*names: str) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_lookalikes("t.csv", names)
    assert all(each.category is NameWarning for each in caught)
    return [str(each.message) for each in caught]


@pytest.mark.parametrize(
    ("name", "character"),
    [
        (f"m{A}ss", "U+0430 CYRILLIC SMALL LETTER A"),
        ("\u0422emp (C)", "U+0422 CYRILLIC CAPITAL LETTER TE"),
        ("v\u03bflume", "U+03BF GREEK SMALL LETTER OMICRON"),
        ("mass\u200b", "U+200B ZERO WIDTH SPACE"),
        ("x\u202ey", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("x\u2066y\u2069", "U+2066 LEFT-TO-RIGHT ISOLATE, U+2069 POP DIRECTIONAL ISOLATE"),
        ("\ufeffx", "U+FEFF ZERO WIDTH NO-BREAK SPACE"),
        ("x\u00ad", "U+00AD SOFT HYPHEN"),
        ("x\x1b[2J", "U+001B CONTROL CHARACTER"),
        ("x\u3164", "U+3164 HANGUL FILLER"),
        ("x\ufe0f", "U+FE0F VARIATION SELECTOR-16"),
        ("x\u200d", "U+200D ZERO WIDTH JOINER"),
        ("x\U000e0041", "U+E0041 TAG LATIN CAPITAL LETTER A"),
    ],
)
def test_a_name_with_a_character_that_is_not_what_it_seems(name: str, character: str) -> None:
    (message,) = told("t", name)
    assert message.startswith("t.csv: column ")
    assert character in message
    assert message.isprintable()


@pytest.mark.parametrize(
    ("first", "second", "character"),
    [
        ("a", A, "U+0430 CYRILLIC SMALL LETTER A"),
        ("x y", "x\u00a0y", "U+00A0 NO-BREAK SPACE"),
        ("\u00b5", "\u03bc", "U+00B5 MICRO SIGN, U+03BC GREEK SMALL LETTER MU"),
        ("x", "\uff58", "U+FF58 FULLWIDTH LATIN SMALL LETTER X"),
        ("\u00e9", "e\u0301", "U+00E9 LATIN SMALL LETTER E WITH ACUTE, U+0301 COMBINING ACUTE ACCENT"),
        ("\u0421\u041e", "CO", "U+0421 CYRILLIC CAPITAL LETTER ES, U+041E CYRILLIC CAPITAL LETTER O"),
    ],
)
def test_two_columns_that_look_the_same(first: str, second: str, character: str) -> None:
    (message,) = told(first, "other", second)
    assert message.endswith(f"look the same: {character}; rename it if that is not meant")
    assert skeleton(first) == skeleton(second)


@pytest.mark.parametrize(
    "names",
    [
        ("x0", "petal length (cm)", "a\nb", "T [°C]", "naïve"),
        ("Δx", "ρ_air", "ρair", "µm", "kΩ", "α", "λ", "x̄", "H₂O", "m²"),  # noqa: RUF001
        ("масса", "время", "скорость"),
        ("μάζα", "χρόνος"),
        ("質量", "温度", "질량", "الكتلة", "می\u200cخواهم", "क्\u200dष"),  # noqa: RUF001
        ("A", "a", "l", "I", "1x", "O", "0x"),
    ],
)
def test_names_that_are_what_they_seem(names: tuple[str, ...]) -> None:
    assert told(*names) == []


def test_all_readers_warn(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"a,{A},y\n1,2,3\n", encoding="utf-8")
    with pytest.warns(NameWarning, match=r"t.csv: columns 'a' and '.' look the same: U\+0430"):
        open_table(path)
    with pytest.warns(NameWarning, match=r"X: columns 'a' and '.' look the same: U\+0430"):
        read_data({"a": [1.0, 2.0], A: [2.0, 1.0]}, np.array([1.0, 2.0]))


def test_half_a_character(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"a\\ud800": 1, "y": 2}\n', encoding="utf-8")
    with pytest.raises(DataError, match="holds half a character"):
        open_table(path)
