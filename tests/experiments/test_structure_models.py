"""Models of the structure of formulas: codes that are right, and better the more they look at."""

from __future__ import annotations

import numpy as np
import pytest

import structure_prior
from edhie.corpora import formulas
from edhie.expr import Forest, parse
from edhie.generators import load
from edhie.selection.prior.structure_prior import StructurePrior
from formula_versions import versions
from structure_models import classes_of, grammar_model, over, plain, shipped_model, symbol_model


@pytest.fixture(scope="module")
def sides() -> tuple[Forest, Forest]:
    table = formulas()
    known = versions(table.without(fields=["chemistry"]).forest, 2, seed=0)
    return known, versions(table.of("chemistry").forest, 2, seed=1).cast(known.library)


def test_a_richer_model_codes_an_unseen_field_in_fewer_bits(sides: tuple[Forest, Forest]) -> None:
    known, coded = sides
    weights = np.full(len(known), 0.5)
    found = [model(known, weights, coded).mean() for model in (*map(symbol_model, range(4)), shipped_model)]
    assert found == sorted(found, reverse=True)
    assert found[0] == pytest.approx(coded.sizes.mean() * np.log2(len(set(classes_of(coded.library)))))


def test_the_prior_is_shipped_where_the_package_reads_it() -> None:
    text = structure_prior.SHIPPED_FILE.read_text(encoding="utf-8")
    assert StructurePrior.from_json(text).counts == StructurePrior.shipped().counts


def test_formulas_over_the_symbols_of_a_generator() -> None:
    library = load("general-1").library
    written = {
        "V*S/(K + S)": "x0*x0/(x0 + x0)",
        "2*a*log10(b)^4": "c*x0*log(x0)^c",
        "1/(1 + 3*x)": "c/(c*x0 + c)",
        "sqrt(a^5 + 1/2)": "sqrt(x0^c + c)",
    }
    for text, expected in written.items():
        assert str(plain(parse(text), library)) == expected
    assert plain(parse("max(a, b)"), library) is None


def test_a_grammar_codes_what_it_does_not_derive() -> None:
    library = load("general-1").library
    forest, is_written = over(Forest.from_exprs([parse("a*exp(b)"), parse("min(a, b)"), parse("a^(a^b)")]), library)
    assert is_written.tolist() == [True, False, True]
    for name in ("general", "universal"):
        bits = grammar_model(name)(forest, np.ones(2), forest)
        assert np.isfinite(bits).all()
        assert bits[0] < bits[1]
