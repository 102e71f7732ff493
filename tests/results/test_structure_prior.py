"""The structure prior: cheap for what formulas of science look like, dear for what they never do."""

from __future__ import annotations

import time

import numpy as np
import pytest

from edhie.corpora import formulas
from edhie.errors import EdhieError
from edhie.expr import Forest, SymbolLibrary, operator, parse
from edhie.results.leaf_versions import versions
from edhie.results.structure_prior import StructurePrior

OPERATORS = "+ - * / neg ^ ^2 ^3 sqrt exp log sin cos tan asin acos atan tanh abs".split()
LIBRARY = SymbolLibrary.of(OPERATORS, ["x", "y"], constant=True, numbers=True)
PRIOR = StructurePrior.shipped()


def forest_of(*texts: str, library: SymbolLibrary = LIBRARY) -> Forest:
    return Forest.from_exprs([parse(text, library) for text in texts], library)


def bits(*texts: str, prior: StructurePrior = PRIOR, library: SymbolLibrary = LIBRARY) -> list[float]:
    return prior.bits(forest_of(*texts, library=library)).tolist()


def test_the_shipped_table_is_what_the_corpus_gives() -> None:
    assert PRIOR.as_json() == StructurePrior.learnt([formulas().forest]).as_json()


@pytest.mark.parametrize("usual", ["c*exp(c*x)", "c*x/(c + x)", "c*x^c", "sqrt(x^2 + y^2)", "c*x*y", "c + c*x", "x/y"])
@pytest.mark.parametrize(
    "odd", ["exp(sin(exp(x)))", "sin(cos(x) + tan(y))", "log(exp(x) + sin(y)^x)", "asin(tanh(x))*abs(y)", "x^(y^x)^x"]
)
def test_usual_forms_are_cheaper_than_odd_nestings(usual: str, odd: str) -> None:
    cheap, dear = bits(usual, odd)
    assert cheap + 2 < dear


def test_a_symbol_of_a_usual_form_is_cheaper_than_uniform() -> None:
    usual = ("c*exp(c*x)", "c*x/(c + x)", "c*x^c", "sqrt(x^2 + y^2)", "c*x*y/(c + x)^2")
    assert (np.array(bits(*usual)) < StructurePrior.uniform().bits(forest_of(*usual))).all()


def test_the_order_of_operands_of_sums_and_products_does_not_matter() -> None:
    pairs = [("x + c*y", "c*y + x"), ("x*(y + c)", "(c + y)*x"), ("x*y*c + exp(x)", "exp(x) + y*(c*x)")]
    for one, other in pairs:
        assert bits(one) == pytest.approx(bits(other))


def test_the_order_of_operands_matters_elsewhere() -> None:
    assert bits("x^c") != pytest.approx(bits("c^x"))


def test_probabilities_add_up_to_one() -> None:
    # leaves, and operators over leaves and so on: the code lengths of all trees of height 2 and the rest
    library = SymbolLibrary.of(["+", "exp"], ["x", "y"], constant=True)
    leaves = ["x", "y", "c"]
    trees = leaves + [f"exp({a})" for a in leaves] + [f"{a} + {b}" for a in leaves for b in leaves]
    share = np.exp2(-np.array(bits(*trees, library=library))).sum()
    assert 0 < share < 1


def test_a_variable_costs_its_choice_among_the_variables() -> None:
    many = SymbolLibrary.of(OPERATORS, [f"x{i}" for i in range(16)], constant=True, numbers=True)
    one = SymbolLibrary.of(OPERATORS, ["x0"], constant=True, numbers=True)
    for text, count in (("x0", 1), ("c*exp(x0) + x0", 2)):
        (few,), (more,) = bits(text, library=one), bits(text, library=many)
        assert more - few == pytest.approx(4 * count)


def test_values_do_not_matter() -> None:
    forest = forest_of("c*x + c")
    fitted = Forest(LIBRARY, forest.tokens, forest.offsets, np.array([2.5, 1e9]))
    assert PRIOR.bits(fitted) == pytest.approx(PRIOR.bits(forest))


def test_a_symbol_that_a_library_lacks_costs_nothing_there() -> None:
    small = SymbolLibrary.of(["+", "*"], ["x"], constant=True)
    assert bits("c*x + c", library=small)[0] < bits("c*x + c")[0]


def test_an_unknown_operator_is_as_rare_as_the_rarest() -> None:
    own = operator("bessel", 1, numpy=np.sin)
    library = SymbolLibrary.of([*OPERATORS, own], ["x", "y"], constant=True)
    known, unknown, usual = bits("c*abs(x)", "c*bessel(x)", "c*exp(x)", library=library)
    assert np.isfinite(unknown)
    assert unknown > usual
    assert unknown < known + 8


def test_the_uniform_prior_counts_symbols() -> None:
    forest = forest_of("c*exp(x)", "x")
    assert StructurePrior.uniform().bits(forest) == pytest.approx(np.array([4, 1]) * np.log2(len(LIBRARY)))


def test_a_shift_makes_the_field_cheaper_and_what_is_held_out_of_it_too() -> None:
    table = formulas()
    for field in ("biology and ecology", "optics and waves"):
        prior = StructurePrior.learnt([table.without(fields=[field]).forest])
        own = table.of(field).forest
        order = np.random.default_rng(0).permutation(len(own))
        seen, held_out = own.take(order[::2]), own.take(order[1::2])
        shifted = prior.shifted(seen)
        for forest in (seen, held_out):
            coded = versions(forest, 4, seed=1)
            assert shifted.bits(coded).mean() < prior.bits(coded).mean() - 0.3


def test_weights_of_formulas() -> None:
    one, other = forest_of("exp(x)"), forest_of("sin(x)")
    even = StructurePrior.learnt([one, other])
    heavy = StructurePrior.learnt([one, other], weights=[5.0, 1.0])
    assert heavy.bits(one) < even.bits(one)
    assert StructurePrior.learnt([one, other], weights=[[2.0], [2.0]]).counts != even.counts


def test_json_round_trip() -> None:
    again = StructurePrior.from_json(PRIOR.as_json())
    forest = forest_of("c*exp(c*x)", "sin(x)")
    assert again.bits(forest) == pytest.approx(PRIOR.bits(forest))
    assert again.as_json() == PRIOR.as_json()
    for text in ("", "[]", '{"format": 1}', '{"format": 99, "counts": {}}'):
        with pytest.raises(EdhieError):
            StructurePrior.from_json(text)


def test_an_empty_forest() -> None:
    assert PRIOR.bits(Forest.from_exprs([], LIBRARY)).shape == (0,)


def test_it_is_fast() -> None:
    few = versions(formulas().forest, 4)
    forest = Forest.concatenate([few] * (100_000 // len(few)))
    PRIOR.bits(few)
    start = time.perf_counter()
    PRIOR.bits(forest)
    assert time.perf_counter() - start < 2  # 0.1 s when nothing else runs
