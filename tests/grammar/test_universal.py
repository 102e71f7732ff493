"""The grammar that GVAE takes where none is given derives all of a library, and is the paper's for the paper's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.errors import GrammarError
from edhie.expr import SymbolLibrary
from edhie.expr import standard_libraries as standard
from edhie.grammar import PCFG, load, universal_grammar
from strategies import LIBRARIES, NUMBERS, exprs, random_libraries


@pytest.mark.parametrize(("name", "library"), [("gvae-ae", standard.ae()), ("gvae-trig", standard.trig())])
def test_for_the_libraries_of_the_paper_it_is_the_paper_s_grammar(name: str, library: SymbolLibrary) -> None:
    ours, paper = universal_grammar(library), load(name)
    assert {(rule.lhs, rule.rhs) for rule in ours.rules} == {(rule.lhs, rule.rhs) for rule in paper.rules}
    assert (ours.start, ours.library) == (paper.start, paper.library)


@given(st.data(), st.sampled_from(list(LIBRARIES.values())) | random_libraries())
def test_every_expression_of_a_library_can_be_derived(data: st.DataObject, library: SymbolLibrary) -> None:
    numbers = [float(number) for number in NUMBERS] if library.has_numbers else []
    grammar = universal_grammar(library, numbers)
    expr = data.draw(exprs(library, numbers=NUMBERS))
    assert grammar.expression(grammar.derivation(expr)) == expr


@pytest.mark.parametrize("name", sorted(LIBRARIES))
def test_its_text_reads_back_over_its_library(name: str) -> None:
    grammar = universal_grammar(LIBRARIES[name])
    assert PCFG.parse(str(grammar), LIBRARIES[name]) == grammar


def test_numbers_that_the_library_has_no_place_for_are_told() -> None:
    with pytest.raises(GrammarError, match="no numbers but those of its symbols"):
        universal_grammar(standard.ae(), [2.0])
