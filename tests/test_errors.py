"""Errors say what, where and what next; they travel between processes and never grow out of hand."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie import errors
from edhie.errors import (
    DataError,
    EdhieError,
    MissingExtraError,
    ParseError,
    caret_line,
    raised_as,
    shortened,
    suggestion,
)


def test_one_base_class():
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    raised = [kind for kind in kinds if not issubclass(kind, Warning)]
    assert len(raised) > 5
    assert all(issubclass(kind, EdhieError) for kind in raised)


def test_a_parse_error_shows_what_where_and_a_caret():
    error = ParseError("unknown symbol 'y'", "x + y", 4)
    assert (error.what, error.text, error.position) == ("unknown symbol 'y'", "x + y", 4)
    assert str(error) == "unknown symbol 'y' at 4 in 'x + y'\n  x + y\n      ^"


@pytest.mark.parametrize(
    "error", [ParseError("what", "x +", 3), MissingExtraError("LaTeX", "latex"), EdhieError("plain")]
)
def test_errors_travel_between_processes(error):
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert (str(copy), vars(copy)) == (str(error), vars(error))


def test_a_missing_extra_says_how_to_install_it():
    assert "pip install 'edhie[latex]'" in str(MissingExtraError("reading LaTeX", "latex"))


@given(st.text(max_size=300), st.data())
def test_the_caret_stands_below_its_character(text, data):
    position = data.draw(st.integers(0, len(text)))
    shown, caret = caret_line(text, position).split("\n")
    assert caret.strip(" \u3000") == "^"
    assert len(shown) < 90
    if position < len(text):
        assert shown[len(caret) - 1] == (text[position] if text[position].isprintable() else " ")


def test_wide_characters_take_two_columns_above_the_caret():
    assert caret_line("速度 + y", 5) == "  速度 + y\n  \u3000\u3000   ^"


def test_long_texts_are_cut():
    error = ParseError("what", "x + " * 100_000, 200_000)
    assert len(str(error)) < 400
    assert error.text == "x + " * 100_000
    assert shortened("x" * 50, 10) == "x" * 9 + "…"
    assert shortened("x" * 10, 10) == "x" * 10


def test_near_misses_are_suggested():
    assert suggestion("sinn", ["sin", "cos"]) == "; did you mean 'sin'?"
    assert suggestion("temprature", ["pressure", "temperature"]) == "; did you mean 'temperature'?"
    assert suggestion("qqq", ["sin", "cos"]) == ""
    assert suggestion("s" * 60, ["s" * 61]) != ""
    assert suggestion("s" * 61, ["s" * 61]) == ""  # it would take seconds for a text of millions


def test_faults_of_files_are_told_as_errors(tmp_path):
    with (
        pytest.raises(DataError, match=r"^it cannot be read: No such file or directory$"),
        raised_as(DataError, "it cannot be read"),
    ):
        (tmp_path / "nowhere").read_text()
    with pytest.raises(DataError, match=r"^it cannot be read: .*invalid"), raised_as(DataError, "it cannot be read"):
        b"\xff".decode()
    with pytest.raises(KeyError), raised_as(DataError, "it cannot be read"):
        raise KeyError("another fault")
