from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.expr.standard_libraries import everything
from edhie.grammar import PCFG, Nonterminal, load
from edhie.grammar.patterns import Hole, Leaf, Pattern


def test_probabilities_sum_to_the_size_distribution(
    small: PCFG, all_trees: Callable[[SymbolLibrary, int], Forest]
) -> None:
    sizes = small.size_distribution(5)
    for size in range(1, 6):
        trees = all_trees(small.library, size)
        assert np.exp(small.log_probabilities(trees)).sum() == pytest.approx(sizes[size], abs=1e-14)


def derivations_from_the_top(grammar: PCFG, least: float) -> list[tuple[float, tuple[int, ...]]]:
    """Every leftmost derivation of probability `least` and more, by plain search over rules."""
    found = []
    heap: list[tuple[float, tuple[int, ...], tuple[str, ...]]] = [(-1.0, (), (grammar.start,))]
    while heap:
        p, rules, waiting = heapq.heappop(heap)
        if not waiting:
            found.append((-p, rules))
            continue
        for index, rule in enumerate(grammar.rules):
            if rule.lhs == waiting[0] and -p * rule.probability >= least:
                heapq.heappush(heap, (p * rule.probability, (*rules, index), rule.nonterminals + waiting[1:]))
    return found


def test_agrees_with_a_search_over_derivations(small: PCFG) -> None:
    """The search leaves long derivations out, so its sums come from below; its best ones are the best."""
    sums: dict[Expr, float] = {}
    best: dict[Expr, float] = {}
    for p, rules in derivations_from_the_top(small, 2e-6):
        expr = small.expression(rules)
        sums[expr] = sums.get(expr, 0.0) + p
        best[expr] = max(best.get(expr, 0.0), p)
    frequent = sorted(sums, key=lambda expr: -sums[expr])[:20]
    for expr in frequent:
        assert sums[expr] <= math.exp(small.log_probability(expr)) * (1 + 1e-12)
        spelled = small.derivation(expr)
        assert small.expression(spelled) == expr
        assert math.prod(small.rules[rule].probability for rule in spelled) == pytest.approx(best[expr])


@cache
def plainly(grammar: PCFG, nonterminal: str, expr: Expr, depth: int) -> float:
    """The probability of derivations with at most `depth` unit rules in a row, straight from the rules."""
    total = 0.0
    for rule, pattern in zip(grammar.rules, grammar._patterns, strict=True):
        if rule.lhs == nonterminal and pattern is not None:
            total += rule.probability * matched(grammar, pattern, expr, depth)
    return total


def matched(grammar: PCFG, pattern: Pattern, expr: Expr, depth: int) -> float:
    if isinstance(pattern, Hole):
        return plainly(grammar, pattern.name, expr, depth - 1) if depth else 0.0
    if isinstance(pattern, Leaf):
        return float(expr.tokens == (pattern.name,))
    p = operator_probability(grammar, pattern.operator, expr.tokens[0])
    if p == 0 or len(pattern.operands) != len(expr.children):
        return 0.0
    for operand, child in zip(pattern.operands, expr.children, strict=True):
        is_fresh = isinstance(operand, Hole)  # unit rules are counted anew below a node
        p *= matched(grammar, operand, child, DEPTH if is_fresh else depth)
    return p


def operator_probability(grammar: PCFG, operator: str | Hole, token: str) -> float:
    if isinstance(operator, str):
        return float(operator == token)
    own = [rule for rule in grammar.rules if rule.lhs == operator.name]
    parts = [(Hole(rule.rhs[0].name, 0) if isinstance(rule.rhs[0], Nonterminal) else rule.rhs[0]) for rule in own]
    pairs = zip(own, parts, strict=True)
    return sum(rule.probability * operator_probability(grammar, part, token) for rule, part in pairs)


DEPTH = 60  # leaves out less than 1e-9 of the probability


def test_agrees_with_the_rules_taken_one_by_one(small: PCFG) -> None:
    drawn = small.sample(60, np.random.default_rng(11), max_size=6).unique()
    for expr, log_probability in zip(drawn, small.log_probabilities(drawn), strict=True):
        assert math.exp(log_probability) == pytest.approx(plainly(small, small.start, expr, DEPTH), rel=1e-9)


def test_unit_circles_are_summed_exactly() -> None:
    grammar = PCFG.parse("E -> F [0.9] | 'x0' [0.1]\nF -> '(' E ')' [0.8] | 'c' [0.2]")
    # E = 0.1 x0 + 0.9 F and F = 0.2 c + 0.8 E
    assert math.exp(grammar.log_probability(grammar.expression([1]))) == pytest.approx(0.1 / 0.28)
    assert math.exp(grammar.log_probability(grammar.expression([0, 3]))) == pytest.approx(0.18 / 0.28)


def test_what_cannot_be_derived_has_no_probability() -> None:
    grammar = load("ae")
    assert grammar.log_probability(parse("x0^c")) == -math.inf
    assert grammar.log_probability(parse("x0 + x1")) == -math.inf
    assert grammar.log_probability(parse("x0 - 2*c")) == -math.inf
    assert grammar.log_probability(parse("x0 - c*(x0 + c)")) > -math.inf


def test_any_library_will_do() -> None:
    grammar = PCFG.parse("E -> E '+' '2' [0.2] | E '*' 'pi' [0.2] | 'c' [0.6]")
    assert math.exp(grammar.log_probability(parse("c*pi + 2"))) == pytest.approx(0.2 * 0.2 * 0.6)
    assert grammar.log_probability(parse("c*pi + 3")) == -math.inf


def test_numbers_count_by_their_values() -> None:
    library = SymbolLibrary.of(["+"], 1, constant="k", numbers=True)
    grammar = PCFG.parse("E -> E '+' N [0.2] | 'k' [0.8]\nN -> '2' [0.7] | '0.5' [0.3]", library)
    fitted = Expr(library, ["+", "k", "0.5"], [3.25])
    assert math.exp(grammar.log_probability(fitted)) == pytest.approx(0.8 * 0.2 * 0.3)
    assert math.exp(grammar.log_probability(parse("c + 2"))) == pytest.approx(0.8 * 0.2 * 0.7)
    assert grammar.log_probability(Expr(library, ["+", "k", "3"])) == -math.inf
    literals = SymbolLibrary.of(["+"], 0, constant=True, literals=["2"])
    assert math.exp(grammar.log_probability(parse("c + 2", literals))) == pytest.approx(0.8 * 0.2 * 0.7)


def test_long_expressions_do_not_underflow() -> None:
    grammar = load("ae")
    chain = Expr(grammar.library, ["+"] * 2000 + ["x0"] * 2001)
    single = parse("x0", grammar.library)
    step = grammar.log_probability(parse("x0 + x0", grammar.library)) - grammar.log_probability(single)
    expected = grammar.log_probability(single) + 2000 * step
    assert grammar.log_probability(chain) == pytest.approx(expected, rel=0.2)
    assert grammar.log_probability(chain) < -1000


def test_forest_of_nothing() -> None:
    grammar = load("ae")
    nothing = Forest.from_exprs([], everything(1))
    assert grammar.log_probabilities(nothing).shape == (0,)
    rules, offsets = grammar.derivations(nothing)
    assert len(rules) == 0
    assert offsets.tolist() == [0]
