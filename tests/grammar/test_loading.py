from __future__ import annotations

import re
from pathlib import Path

import pytest

from edhie.errors import GrammarError, SymbolError
from edhie.expr import SymbolLibrary
from edhie.expr import standard_libraries as libraries
from edhie.grammar import PCFG, SHIPPED, load, names

EXPECTED = ["ae", "feynman-1", "feynman-2", "general", "gvae-ae", "gvae-trig", "nguyen-1", "nguyen-2", "trig"]


def test_names() -> None:
    assert names() == EXPECTED


@pytest.mark.parametrize("name", EXPECTED)
def test_shipped_grammars(name: str) -> None:
    grammar = load(name)
    assert PCFG.parse(str(grammar)) == grammar
    two = name.endswith("-2")
    assert grammar.library.variables == (("x0", "x1") if two else ("x0",))
    assert (grammar.library.constant == "c") == (not name.startswith("nguyen"))
    assert len(grammar.check()) == grammar.is_supercritical
    # what the file says of itself is so
    text = (SHIPPED / f"{name}.pcfg").read_text(encoding="utf-8")
    said = re.search(r"spectral radius is (\S+), a derivation ends with probability ([\d.]+)", text)
    assert (said is not None) == grammar.is_supercritical
    if said is not None:
        assert float(said[1]) == pytest.approx(grammar.spectral_radius, abs=5e-4)
        assert float(said[2]) == pytest.approx(grammar.termination_probability(), abs=5e-5)


def test_shipped_grammars_fit_the_papers_libraries() -> None:
    assert set(load("nguyen-2").library.names) == set(libraries.nguyen(2).names)
    assert set(load("feynman-1").library.names) == set(libraries.feynman(1).names)
    assert set(load("gvae-trig").library.names) == set(libraries.trig(1).names)
    assert load("ae", libraries.ae(1)).library == libraries.ae(1)


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "mine.pcfg"
    path.write_text(str(load("ae")), encoding="utf-8")
    assert load(path) == load(str(path)) == load("ae")
    path.write_text("E -> F [1.0]\n", encoding="utf-8")
    with pytest.raises(GrammarError, match=r"mine.pcfg, line 1: the nonterminal 'F' has no rules"):
        load(path)
    path.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(GrammarError, match="cannot be read"):
        load(path)


def test_unknown_names_and_files() -> None:
    with pytest.raises(GrammarError, match="unknown grammar 'nguyen1'; did you mean 'nguyen-1'"):
        load("nguyen1")
    with pytest.raises(GrammarError, match=r"unknown grammar 'zzz'; there are ae, .* the path of a .pcfg file"):
        load("zzz")
    with pytest.raises(GrammarError, match=r"no grammar file 'ae.pcfg'; the one that comes with edhie is load\('ae'\)"):
        load("ae.pcfg")
    with pytest.raises(GrammarError, match="no grammar file"):
        load(Path("nowhere"))


def test_with_variables() -> None:
    assert load("nguyen-1").with_variables(["x0", "x1"]) == load("nguyen-2")
    assert load("feynman-2").with_variables(["x0"]) == load("feynman-1")
    grammar = load("ae").with_variables(["mass", "x1", "x0"])
    assert [rule.probability for rule in grammar.rules[-3:]] == pytest.approx([0.125] * 3)
    assert grammar.library.variables == ("mass", "x1", "x0")
    assert PCFG.parse(str(grammar), grammar.library) == grammar


def test_with_variables_in_longer_rules_and_uneven_shares() -> None:
    grammar = PCFG.parse("E -> 'x0' '^2' [0.1] | 'x1' [0.2] | 'x0' [0.1] | 'x1' '*' 'x1' [0.1] | 'c' '+' E [0.5]")
    remade = grammar.with_variables(["a", "b"])
    assert str(remade) == (
        "E -> 'a' '^2' [0.05] | 'b' '^2' [0.05] | 'a' [0.15000000000000002] | 'b' [0.15000000000000002]"
        " | 'a' '*' 'a' [0.05] | 'b' '*' 'b' [0.05] | 'c' '+' E [0.5]\n"
    )


def test_with_variables_that_take_the_constants_name() -> None:
    grammar = load("ae").with_variables(["c", "t"])
    assert grammar.library.constant == "C"
    assert grammar.library.variables == ("c", "t")
    assert "'C' [0.375]" in str(grammar)


def test_with_variables_faults() -> None:
    with pytest.raises(GrammarError, match="several variables"):
        PCFG.parse("E -> 'x0' '+' 'x1' [1.0]").with_variables(["a"])
    with pytest.raises(GrammarError, match="no rules that make variables"):
        PCFG.parse("E -> 'c' [1.0]").with_variables(["a"])
    with pytest.raises(GrammarError, match="cannot be named 'sin': the grammar has that name already"):
        load("trig").with_variables(["sin"])
    with pytest.raises(GrammarError, match="at least one name"):
        load("trig").with_variables([])
    with pytest.raises(SymbolError, match="is given to two symbols"):
        load("trig").with_variables(["a", "a"])
    with pytest.raises(SymbolError, match="cannot name a variable"):
        load("trig").with_variables(["a b"])


def test_a_library_for_more_than_the_grammar_makes() -> None:
    library = SymbolLibrary.of(["+", "-", "*", "/", "tanh"], ["x0", "x1"], constant=True)
    assert load("ae", library).library == library
