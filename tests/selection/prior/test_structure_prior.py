"""The structure prior: cheap for what formulas of science look like, dear for what they never do."""

from __future__ import annotations

import time

import numpy as np
import pytest

from edhie.corpora import formulas
from edhie.errors import EdhieError
from edhie.expr import Expr, Forest, SymbolLibrary, operator, parse
from edhie.selection.prior.structure_prior import StructurePrior
from edhie.selection.prior.tables import (
    CLASSES,
    PRODUCT_FIXED,
    SUM_FIXED,
    contexts_of,
    events,
    free_operators,
    tables_of,
)
from edhie.selection.prior.versions import normal_form
from formula_versions import versions

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


@pytest.mark.parametrize(
    "writings",
    [
        ("x + c*y", "c*y + x"),
        ("x*(y + c)", "(c + y)*x"),
        ("x*y*c + exp(x)", "exp(x) + y*(c*x)"),
        ("x + y + x^2 + c", "(x + y) + (x^2 + c)", "x + (y + (c + x^2))"),
        ("x*y/(c + x)", "x/(c + x)*y", "x/((c + x)/y)", "1/(c + x)*(x*y)"),
        ("x - y", "x + (-1)*y", "x + (-y)", "-(y - x)", "-y + x", "x - 1*y", "0 - (y - x)"),
        ("x - c", "x + c", "x + (-c)", "-(c - x)"),
        ("exp(-x)", "exp(0 - x)", "exp((-1)*x)", "exp(x/(-1))"),
        ("exp(c*x)", "exp(-c*x)", "exp(-(c*x))", "exp(-(x/c))"),
        ("c - x*y", "c + (-x)*y", "c - x/(1/y)", "c + x*(-y)"),
        ("sin(x)/y", "sin(x)*(1/y)", "1*sin(x)/y"),
    ],
)
def test_what_is_the_same_but_for_its_writing_costs_the_same(writings: tuple[str, ...]) -> None:
    found = bits(*writings)
    assert found == pytest.approx([found[0]] * len(found))


def test_the_order_of_operands_matters_elsewhere() -> None:
    assert bits("x^c") != pytest.approx(bits("c^x"))


def test_a_redundant_constant_costs_more() -> None:
    plain, redundant = bits("c*x", "c*c*x")
    assert plain < redundant


@pytest.mark.parametrize("n_variables", [1, 2, 9])
def test_a_power_is_not_dearer_than_a_repeated_factor(n_variables: int) -> None:
    library = SymbolLibrary.of(OPERATORS, n_variables, constant=True)
    square, twice, cube, thrice = bits("c*x0^2", "c*x0*x0", "c*x0^3", "c*x0*x0*x0", library=library)
    assert square < twice < square + 4
    assert cube < thrice < cube + 6


def reference(forest: Forest, prior: StructurePrior = PRIOR) -> list[float]:
    """Bits of expressions in normal form, choice by choice."""
    tables = tables_of(prior.counts, forest.library)
    contexts = contexts_of(forest.library)
    classes = [*CLASSES, *(each.name for each in free_operators(forest.library))]
    found = []
    for expr in forest:
        total = 0.0
        for kind, context, above, outcome in events(normal_form(expr)):
            i = contexts.index(context)
            if kind == "class":
                total += tables.classes[i, contexts.index(above) if above else 0, classes.index(outcome)]
                total += tables.variable_bits * (outcome == "<variable>")
            elif kind == "sign":
                total += tables.signs[i, "+-".index(outcome)]
            else:
                fixed, first, second = outcome.split()
                table, names = (tables.sums, SUM_FIXED) if kind == "sum" else (tables.products, PRODUCT_FIXED)
                total += table[i, names.index(fixed), int(first), int(second)]
        found.append(total)
    return found


def test_the_kernel_agrees_with_the_choices_one_by_one() -> None:
    forest = versions(formulas().forest, 2, seed=7)
    has_many = np.array([max(map(abs, _operands(expr))) > 6 for expr in forest])
    few = forest.take(~has_many)
    assert len(few) > 0.98 * len(forest)
    assert PRIOR.bits(few) == pytest.approx(np.array(reference(few)))


def _operands(expr: Expr) -> list[int]:
    waiting, found = [normal_form(expr)], [0]
    while waiting:
        node = waiting.pop()
        if node.kind == "sum":
            found.append(len(node.parts) + 1)
        elif node.kind == "product":
            found += [len(node.side(1)), len(node.side(-1)) + 1]
        waiting += [each for _, each in node.parts]
    return found


@pytest.mark.parametrize("names", [OPERATORS, ["+", "*", "exp"], ["-", "/", "sin", "^"], ["exp", "sin"]])
@pytest.mark.parametrize("has_constant", [True, False])
def test_probabilities_add_up_to_one(names: list[str], has_constant: bool) -> None:
    library = SymbolLibrary.of(names, ["x", "y"], constant=has_constant, numbers=has_constant)
    tables = tables_of(PRIOR.counts, library)
    worst = tables.classes.max()  # of what cannot be, which has no probability
    for table in (tables.classes, tables.signs):
        total = np.where(table < worst, np.exp2(-table), 0).sum(axis=-1)
        assert total.max() <= 1 + 1e-9 if table is tables.classes else True
    assert np.exp2(-tables.classes[0, 0]).sum() == pytest.approx(1, abs=0.01)
    if "-" in names or "neg" in names:
        assert np.exp2(-tables.signs).sum(axis=1) == pytest.approx(1)


def test_a_lone_leaf_is_a_possible_equation() -> None:
    lone, linear, odd = bits("c", "c*x + c", "sin(exp(x))")
    assert 3 < lone < linear < odd


def test_a_variable_costs_its_choice_among_the_variables() -> None:
    many = SymbolLibrary.of(OPERATORS, [f"x{i}" for i in range(16)], constant=True, numbers=True)
    one = SymbolLibrary.of(OPERATORS, ["x0"], constant=True, numbers=True)
    for text, count in (("x0", 1), ("c*exp(x0) + x0", 2)):
        (few,), (more,) = bits(text, library=one), bits(text, library=many)
        assert more - few == pytest.approx(4 * count)


def test_values_do_not_matter() -> None:
    forest = forest_of("c*x + c")
    fitted = forest.with_values(np.array([2.5, 1e9]))
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
    gains = []
    for field in ("biology and ecology", "optics and waves", "statistics"):
        prior = StructurePrior.learnt([table.without(fields=[field]).forest])
        own = table.of(field).forest
        order = np.random.default_rng(0).permutation(len(own))
        seen, held_out = own.take(order[::2]), own.take(order[1::2])
        shifted = prior.shifted(seen)
        gains.append(
            [(prior.bits(each) - shifted.bits(each)).mean() for each in (versions(seen, 2), versions(held_out, 2))]
        )
    of_seen, of_held_out = np.array(gains).T
    assert (of_seen > 0.5).all()
    assert (of_held_out > 0).all()
    assert of_held_out.mean() > 0.3


def test_a_shift_to_one_form_makes_that_form_cheap() -> None:
    own = forest_of("c*x^2*exp(c*x)", "c*x^2*exp(c*y)", "c*x^3*exp(c*x)")
    assert (PRIOR.shifted(own).bits(own) < PRIOR.bits(own) - 0.5).all()


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
    for text in ("", "[]", '{"format": 1}', '{"format": 99, "counts": {}}', '{"format": 2, "counts": {"a": {}}}'):
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
    assert time.perf_counter() - start < 2  # 0.2 s when nothing else runs
