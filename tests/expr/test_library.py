"""Libraries are values: hashable, picklable, saved as JSON; every clash and every unknown name is a clear error."""

import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.errors import SymbolError
from edhie.expr import Expr, SymbolLibrary, operator
from edhie.expr.library import MAX_SYMBOLS, natural_order, numbered_first
from edhie.expr.standard_libraries import everything, feynman, nguyen
from edhie.expr.symbols import NUMBER, OPERATORS, constant, literal
from strategies import GAUSS, HYPOT, LIBRARIES, random_libraries

any_kind = st.sampled_from(list(LIBRARIES.values())) | random_libraries()


# -- laws -----------------------------------------------------------------------------


@given(any_kind)
def test_json_round_trip(library):
    text = library.to_json()
    read = SymbolLibrary.from_json(text, operators=[GAUSS, HYPOT])
    assert read == library
    assert hash(read) == hash(library)
    assert read.to_json() == text
    assert json.loads(text)["format"] == 1


@given(any_kind, any_kind)
def test_equality_is_by_symbols_in_order(a, b):
    assert (a == b) == (a.names == b.names)
    assert a != a.extended(operator("another", 1, numpy=np.sin))
    assert SymbolLibrary(a.symbols[::-1]) != a or len(a) == 1


@given(any_kind)
def test_tables_agree_with_symbols(library):
    for i, symbol in enumerate(library.symbols):
        assert library.id_of(symbol.name) == library.ids[symbol.name] == i
        assert library[symbol.name] is symbol
        assert symbol.name in library
        assert (library.arities[i], library.opcodes[i]) == (symbol.arity, symbol.opcode)
        assert library.has_slot[i] == (symbol.kind in ("constant", "number"))
        np.testing.assert_equal(library.literal_values[i], symbol.value)
    assert str(library).split() == list(library.names)
    assert library.has_numbers == (NUMBER in library.symbols)


@given(any_kind)
def test_extending_keeps_the_ids(library):
    extended = library.extended(*OPERATORS.values()).with_numbers()
    assert extended.names[: len(library)] == library.names
    assert extended.has_numbers
    assert extended.with_numbers() is extended


def test_nothing_in_a_library_can_be_changed():
    library = nguyen()
    with pytest.raises(AttributeError):
        library.symbols = ()
    with pytest.raises(ValueError, match="read-only"):
        library.arities[0] = 5


def test_a_pickled_library_is_the_same_in_another_process():
    library = everything(["x", "速度"])
    hash(library)  # now it is cached, and holds for this process only
    code = """
import pickle, sys
from edhie.expr.standard_libraries import everything
library = pickle.load(sys.stdin.buffer)
assert library == everything(["x", "速度"])
assert len({library, everything(["x", "速度"])}) == 1
assert not library.arities.flags.writeable
"""
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", code], input=pickle.dumps(library), check=True, env=environment)


# -- building -------------------------------------------------------------------------


def test_order_is_operators_variables_constant_literals_numbers():
    library = SymbolLibrary.of(["+", "ln"], ["a", "b"], constant=True, literals=("pi", 1), numbers=True)
    assert library.names == ("+", "log", "a", "b", "c", "pi", "1", "#")
    assert (library.variables, library.constant) == (("a", "b"), "c")


def test_variables_by_count_or_by_name():
    assert SymbolLibrary.of([], 3).variables == SymbolLibrary.of([], np.int64(3)).variables == ("x0", "x1", "x2")
    assert SymbolLibrary.of([], np.array(["a", "b"])).variables == ("a", "b")
    assert SymbolLibrary.of([], 0).variables == ()


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        (["c"], "C"),
        (["c", "C"], "k"),
        (["c", "C", "k", "const"], "c0"),
        (["c", "C", "k", "const", "c0", "c1"], "c2"),
    ],
)
def test_a_variable_wins_over_the_constant_of_its_name(variables, expected):
    assert SymbolLibrary.of(["+"], variables, constant=True).constant == expected


def test_a_variable_wins_over_literals_and_functions_of_its_name():
    library = everything(["e", "max", "pi", "lambda"])
    assert [library[name].kind for name in ("e", "max", "pi", "lambda")] == ["variable"] * 4
    assert "min" in library


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: SymbolLibrary.of(["+", "+"]), "'\\+' is given to two symbols, an operator and an operator"),
        (lambda: SymbolLibrary.of(["sin"], ["sin"]), "'sin' is given to two symbols, an operator and a variable"),
        (lambda: SymbolLibrary.of([], ["x", "x"]), "'x' is given to two symbols"),
        (lambda: SymbolLibrary.of([], ["c"], constant="c"), "'c' is given to two symbols, a variable and a constant"),
        (lambda: SymbolLibrary.of([], 1, literals=("1", 1.0)), "'1' is given to two symbols"),
        (lambda: SymbolLibrary.of(["sinn"]), "unknown operator 'sinn'; did you mean 'sin'?"),
        (lambda: SymbolLibrary.of(["pi"]), "unknown operator 'pi'"),
        (lambda: SymbolLibrary.of([3]), "unknown operator 3"),
        (lambda: SymbolLibrary.of([], -1), "cannot have -1 variables"),
        (lambda: SymbolLibrary.of([], "speed"), r"such as \['speed'\]"),
        (lambda: SymbolLibrary.of([], [0, 1]), "0 cannot name a variable"),
        (lambda: SymbolLibrary.of([], [f"v{i}" for i in range(MAX_SYMBOLS + 1)]), "at most 32767"),
        (lambda: SymbolLibrary((NUMBER, literal("1"), NUMBER)), "two symbols, a number and a number"),
        (lambda: feynman().extended(constant("another")), "at most one constant"),
        (lambda: nguyen(2).with_variables("ab"), "is one text"),
    ],
)
def test_what_cannot_be_a_library(make, complaint):
    with pytest.raises(SymbolError, match=complaint):
        make()


def test_renamed_variables_keep_their_ids():
    library = nguyen(2).with_variables(["speed", "lambda"])
    assert library.variables == ("speed", "lambda")
    assert [library.ids["speed"], library.ids["lambda"]] == [nguyen(2).ids["x0"], nguyen(2).ids["x1"]]
    assert nguyen(1).with_variables(["a", "b"]).names == (*nguyen(1).names[:-1], "a", "b")
    assert nguyen(2).with_variables(["a"]).variables == ("a",)


# -- looking up -----------------------------------------------------------------------


def test_numbers_resolve_to_a_literal_or_to_any_number():
    library = SymbolLibrary.of(["+"], literals=("1", "pi"), numbers=True)
    assert library["1.0"].name == "1"
    assert library["1e0"].kind == "literal"
    assert library["2"] is NUMBER


@pytest.mark.parametrize(
    ("token", "complaint"),
    [
        ("sinn", "unknown symbol 'sinn'; did you mean 'sin'?"),
        ("ln", "unknown symbol 'ln'; did you mean 'log'?"),
        ("2", r"the number 2 is not in the library .*literals= or numbers=True"),
        ("1e400", "must be finite"),
        ("", "unknown symbol ''"),
        ("y" * 100_000, "unknown symbol 'yyy"),
        ("9" * 300, "the number 9999"),
    ],
)
def test_unknown_tokens(token, complaint):
    with pytest.raises(SymbolError, match=complaint) as caught:
        nguyen().id_of(token)
    assert len(str(caught.value)) < 400


# -- saving ---------------------------------------------------------------------------


def test_a_saved_library_asks_for_the_operator_that_a_user_added():
    text = SymbolLibrary.of(["+", GAUSS], 1).to_json()
    with pytest.raises(SymbolError, match=r"the operator 'gauss' that a user added.*operators="):
        SymbolLibrary.from_json(text)
    with pytest.raises(SymbolError, match="'gauss' takes 1 operands, not 2"):
        SymbolLibrary.from_json(text, operators=[operator("gauss", 2, numpy=np.hypot)])
    read = SymbolLibrary.from_json(text, operators=[HYPOT, GAUSS])
    assert Expr(read, ["gauss", "x0"])(x0=0.0) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "[]",
        "5",
        "{}",
        '{"format": 1}',
        '{"format": 1, "symbols": 5}',
        '{"format": 1, "symbols": {"name": "x"}}',
        '{"format": 1, "symbols": [{"name": "x"}]}',
        '{"format": 1, "symbols": [{"name": null, "kind": "variable"}]}',
        '{"format": 1, "symbols": [{"name": ["x"], "kind": "operator"}]}',
        '{"format": 1, "symbols": [{"name": "x", "kind": "planet"}]}',
        '{"format": 1, "symbols": [{"name": "x", "kind": ["variable"]}]}',
        '{"format": 1, "symbols": [{"name": "x y", "kind": "variable"}]}',
        '{"format": 1, "symbols": [{"name": "f", "kind": "operator", "custom": true}]}',
        '{"format": 1, "symbols": [{"name": "1e999", "kind": "literal"}]}',
        '{"format": 1, "symbols": [{"name": "x", "kind": "variable"}, {"name": "x", "kind": "variable"}]}',
        '{"format": 2, "symbols": []}',
        "[" * 100_000,
    ],
)
def test_damaged_files_are_refused(text):
    with pytest.raises(SymbolError):
        SymbolLibrary.from_json(text)


def test_a_newer_format_is_named():
    with pytest.raises(SymbolError, match="has format 99; this edhie reads format 1"):
        SymbolLibrary.from_json('{"format": 99, "symbols": []}')


def test_ids_in_another_library():
    ours = SymbolLibrary.of(["+", "sin"], ["x", "e"], constant="k", literals=("2",))
    theirs = SymbolLibrary.of(["sin", "+"], ["x"], constant="c", literals=("e",), numbers=True)
    found = dict(zip(ours.names, ours.ids_in(theirs).tolist(), strict=True))
    assert found == {"+": 1, "sin": 0, "x": 2, "e": -1, "k": 3, "2": -1}  # e is a number there, and 2 a value of #


def test_numbered_names_come_first():
    assert numbered_first(["b", "x10", "x2", "a", "b"]) == ["x2", "x10", "b", "a"]


def test_names_are_sorted_by_their_numbers_however_many_digits() -> None:
    names = ["x10", "x2", "y1", "x01", "x" + "1" * 5000, "x", "a2b10", "a2b9"]
    expected = ["a2b9", "a2b10", "x", "x01", "x2", "x10", "x" + "1" * 5000, "y1"]
    assert sorted(names, key=natural_order) == expected
    assert numbered_first(["b", f"x{'9' * 5000}", "x10", "x9"]) == ["x9", "x10", f"x{'9' * 5000}", "b"]
