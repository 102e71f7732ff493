"""The choices that make up the structure of a formula in its normal form, and their code lengths.

A structure is coded from the root down: for each node its class (a sum, a product, another operator, a variable, a
constant or a number); for a sum the numbers of positive and negative terms, and whether one of them is a constant or a
number; for a product the numbers of factors in numerator and denominator; and for nodes outside of sums and products
their sign. A constant can have any sign, so a term with one counts as positive. The code lengths are those of choices
among the symbols that a library has.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from edhie.arrays import Flags, Indices, Numbers
from edhie.expr import SymbolLibrary
from edhie.expr.symbols import Symbol
from edhie.selection.prior.versions import CONSTANT, Node

Row = Mapping[str, float]
Counts = Mapping[tuple[str, str, str], Row]
"""Counts of outcomes by kind of choice, context and the context above it (empty for all kinds but classes)."""
ROOT, TERM, ABOVE, BELOW = "root", "term", "above", "below"
"""Contexts that are not the operand of an operator."""
VARIABLE, FIXED, NUMBER, SUM, PRODUCT = "<variable>", "<constant>", "<number>", "<sum>", "<product>"
"""Classes that are not the name of an operator."""
CLASSES = (VARIABLE, FIXED, NUMBER, SUM, PRODUCT)
ARITHMETIC = ("+", "-", "neg", "*", "/", "inv")
"""Operators that sums, products and signs are made of."""
COMMUTATIVE = ("min", "max")
MOST_POSITIVE, MOST_NEGATIVE = 5, 4
MOST_ABOVE, MOST_BELOW = 6, 5
"""Larger numbers of operands are counted as these."""
STRENGTHS = (5.0, 20.0, 20.0)
"""Number of formulas that the next simpler model counts as: the uniform one, the overall counts, those of a context."""
LEAST = 1.0
"""Added to the count of each class in the overall counts."""
SUM_FIXED = ("-", "c", "n")
PRODUCT_FIXED = ("-", "c", "n", "d", "nd")
"""The fixed parts of a shape: none, a constant, a number, a number as divisor, both."""


class Event(NamedTuple):
    """One choice: of a class, of the shape of a sum or product, or of a sign."""

    kind: str
    """class, sum, product or sign."""
    context: str
    """Place of the node: the root, a term, a factor of a numerator or denominator, or an operand of an operator."""
    above: str
    """Place of the sum, product or operator of which it is an operand."""
    outcome: str


def operand(symbol: Symbol, place: int) -> str:
    """Return the context of an operand; operands of a commutative operator share one."""
    return symbol.name if symbol.arity == 1 or symbol.name in COMMUTATIVE else f"{symbol.name} {place + 1}"


def class_of(node: Node) -> str:
    """Return the class of a node that is not a negation."""
    known = {"variable": VARIABLE, "constant": FIXED, "number": NUMBER, "sum": SUM, "product": PRODUCT}
    return known[node.kind] if node.symbol is None else node.symbol.name


def events(root: Node) -> Iterator[Event]:
    """Yield the choices that make up a structure, from the root down."""
    waiting: list[tuple[Node, str, str]] = [(root, ROOT, "")]
    while waiting:
        node, context, above = waiting.pop()
        if context not in (TERM, ABOVE, BELOW):
            sign = "-" if node.is_negation else "+"
            node = node.parts[0][1] if node.is_negation else node
            if not (node.has_constant or node.kind in ("sum", "number")):
                yield Event("sign", context, "", sign)
        yield Event("class", context, above, class_of(node))
        if node.symbol is not None:
            waiting += [(each, operand(node.symbol, i), context) for i, (_, each) in enumerate(node.parts)]
        elif node.kind == "sum":
            yield Event("sum", context, "", _shape_of_sum(node))
            waiting += [(each, TERM, context) for _, each in node.parts if not each.is_fixed]
        elif node.kind == "product":
            yield Event("product", context, "", _shape_of_product(node))
            places = {1: ABOVE, -1: BELOW}
            waiting += [(each, places[sign], context) for sign, each in node.parts if not each.is_fixed]


def _shape_of_sum(node: Node) -> str:
    """Return the shape of a sum: its fixed term, and the numbers of positive and negative other terms."""
    fixed = [each for _, each in node.parts if each.is_fixed]
    free = [sign > 0 or each.has_constant for sign, each in node.parts if not each.is_fixed]
    kind = "c" if CONSTANT in fixed else "n" if fixed else "-"
    return f"{kind} {min(sum(free), MOST_POSITIVE)} {min(len(free) - sum(free), MOST_NEGATIVE)}"


def _shape_of_product(node: Node) -> str:
    """Return the shape of a product: its fixed factors, and the numbers of others in numerator and denominator."""
    sides = (node.side(1), node.side(-1))
    numbers, divisors = (any(each.kind == "number" for each in side) for side in sides)
    above, below = (sum(not each.is_fixed for each in side) for side in sides)
    kind = "c" if node.has_constant else f"{'n' * numbers}{'d' * divisors}" or "-"
    return f"{kind} {min(above, MOST_ABOVE)} {min(below, MOST_BELOW)}"


# -- code lengths -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Tables:
    """Bits of each choice; contexts and classes by index."""

    classes: Numbers
    """By context, context above it and class."""
    sums: Numbers
    """By context, fixed term, number of positive and of negative terms."""
    products: Numbers
    """By context, fixed factors, number of factors above and below the fraction line."""
    signs: Numbers
    """By context and sign (0: positive, 1: negative)."""
    class_ids: Indices
    """By token: its class, or for the operators of sums and products -1 less their index in `ARITHMETIC`."""
    variable_bits: float
    """Bits that identify one of the variables."""


def free_operators(library: SymbolLibrary) -> list[Symbol]:
    """Return the operators that are neither part of sums nor of products; a class and two contexts each."""
    return [each for each in library.symbols if each.kind == "operator" and each.name not in ARITHMETIC]


def contexts_of(library: SymbolLibrary) -> list[str]:
    """Return the contexts by index; both operands of a commutative operator have the same name."""
    return [ROOT, TERM, ABOVE, BELOW, *(operand(each, place) for each in free_operators(library) for place in (0, 1))]


def tables_of(counts: Counts, library: SymbolLibrary) -> Tables:
    """Return the code lengths of choices among the symbols of a library."""
    classes = [*CLASSES, *(each.name for each in free_operators(library))]
    contexts = contexts_of(library)
    codes = {name: k for k, name in enumerate(classes)} | {name: -1 - k for k, name in enumerate(ARITHMETIC)}
    leaves = {"variable": VARIABLE, "constant": FIXED}
    ids = [codes[each.name if each.kind == "operator" else leaves.get(each.kind, NUMBER)] for each in library.symbols]
    sums, products = _shapes(library)
    return Tables(
        _class_bits(counts, contexts, classes, library),
        _shape_bits(counts, "sum", contexts, sums, (len(SUM_FIXED), MOST_POSITIVE + 1, MOST_NEGATIVE + 1)),
        _shape_bits(counts, "product", contexts, products, (len(PRODUCT_FIXED), MOST_ABOVE + 1, MOST_BELOW + 1)),
        _shape_bits(counts, "sign", contexts, ["+", "-"] if _has(library, "-", "neg") else ["", ""], (2,)),
        np.array(ids, dtype=np.int64),
        float(np.log2(max(len(library.variables), 1))),
    )


def add_events(total: dict[tuple[str, str, str], dict[str, float]], found: Iterable[Event], weight: float) -> None:
    """Add choices to the counts."""
    for kind, context, above, outcome in found:
        row = total.setdefault((kind, context, above), {})
        row[outcome] = row.get(outcome, 0.0) + weight


def _class_bits(counts: Counts, contexts: list[str], classes: list[str], library: SymbolLibrary) -> Numbers:
    allowed = _allowed(contexts, classes, library)
    overall, is_known = _frequencies(counts, classes)
    by_frequency = _normalised(overall * allowed)
    places: dict[str, list[int]] = {}
    for i, name in enumerate(contexts):
        places.setdefault(name, []).append(i)
    by_parent = np.zeros(allowed.shape)
    both: list[tuple[str, str, Numbers]] = []
    for (kind, context, above), row in counts.items():
        if kind != "class" or context not in places:
            continue
        counted = np.array([row.get(name, 0.0) for name in classes])
        by_parent[places[context]] += counted
        both.append((context, above, counted))
    by_parent = _smoothed(by_parent * allowed, by_frequency, STRENGTHS[1])
    found = np.repeat(by_parent[:, None, :], len(contexts), axis=1)
    for context, above, counted in both:
        for i, j in itertools.product(places[context], places.get(above, [0] if context == ROOT else [])):
            found[i, j] = _smoothed(counted * allowed[i], by_parent[i], STRENGTHS[2])
    found[:, :, ~is_known] = (by_frequency * allowed)[:, None, ~is_known]
    with np.errstate(divide="ignore"):
        bits: Numbers = -np.log2(_normalised(found))
    return np.where(np.isfinite(bits), bits, bits[np.isfinite(bits)].max(initial=0.0))


def _allowed(contexts: list[str], classes: list[str], library: SymbolLibrary) -> Flags:
    """Return by context and class whether the class can occur there, in normal form and with the library's symbols."""
    kinds = {symbol.kind for symbol in library.symbols}
    lacking = {
        VARIABLE: "variable" not in kinds,
        FIXED: "constant" not in kinds,
        NUMBER: not kinds & {"literal", "number"},
        SUM: not _has(library, "+", "-"),
        PRODUCT: not _has(library, "*", "/", "inv"),
    }
    inside = {TERM: (SUM, FIXED, NUMBER), ABOVE: (PRODUCT, FIXED, NUMBER), BELOW: (PRODUCT, FIXED, NUMBER)}
    return np.array(
        [
            [not lacking.get(name, False) and name not in inside.get(context, ()) for name in classes]
            for context in contexts
        ]
    )


def _frequencies(counts: Counts, classes: list[str]) -> tuple[Numbers, Flags]:
    """Return overall frequencies of classes, and which of them were seen; others are as frequent as the rarest."""
    total: dict[str, float] = {}
    for (kind, _, _), row in counts.items():
        if kind == "class":
            for name, count in row.items():
                total[name] = total.get(name, 0.0) + count
    rarest = min((count for name, count in total.items() if name not in CLASSES), default=0.0)
    found = np.array([total.get(name, rarest) + LEAST for name in classes])
    return found / found.sum(), np.array([name in total or name in CLASSES for name in classes])


def _shapes(library: SymbolLibrary) -> tuple[list[str], list[str]]:
    """Return the shapes of sums and products that the library can write, in the order of the tables; others empty."""
    kinds = {symbol.kind for symbol in library.symbols}
    fixed = {"-": True, "c": "constant" in kinds, "n": bool(kinds & {"literal", "number"})}
    fixed["d"] = fixed["nd"] = fixed["n"] and _has(library, "/", "inv")
    sums, products = [], []
    for name, p, q in itertools.product(SUM_FIXED, range(MOST_POSITIVE + 1), range(MOST_NEGATIVE + 1)):
        is_sum = p + q + (name != "-") >= 2 and (q == 0 or _has(library, "-", "neg"))
        sums.append(f"{name} {p} {q}" if is_sum and fixed[name] else "")
    for name, p, q in itertools.product(PRODUCT_FIXED, range(MOST_ABOVE + 1), range(MOST_BELOW + 1)):
        is_inverse = name == "-" and p == 0 and q == 1
        is_product = p + q >= 1 and p + q + (name != "-") >= 2
        is_written = (q == 0 or _has(library, "/", "inv")) and (p + (name in "cn") <= 1 or _has(library, "*"))
        products.append(f"{name} {p} {q}" if (is_inverse or is_product) and is_written and fixed[name] else "")
    return sums, products


def _shape_bits(counts: Counts, kind: str, contexts: list[str], shapes: list[str], size: tuple[int, ...]) -> Numbers:
    """Return the bits of each shape or sign by context; an empty name means that the library cannot write it."""
    allowed = np.array([bool(shape) for shape in shapes])
    if not allowed.any():
        return np.zeros((len(contexts), *size))
    rows = {
        context: np.array([row.get(shape, 0.0) for shape in shapes]) * allowed
        for (each, context, _), row in counts.items()
        if each == kind
    }
    everywhere = _smoothed(sum(rows.values(), np.zeros(len(shapes))), _normalised(allowed.astype(float)), STRENGTHS[0])
    nothing = np.zeros(len(shapes))
    found = np.array([_smoothed(rows.get(name, nothing), everywhere, STRENGTHS[1]) for name in contexts])
    with np.errstate(divide="ignore"):
        bits: Numbers = -np.log2(found)
    bits = np.where(allowed, bits, bits[:, allowed].max(axis=1, keepdims=True))
    return bits.reshape(len(contexts), *size)


def _has(library: SymbolLibrary, *names: str) -> bool:
    return any(name in library and library[name].kind == "operator" for name in names)


def _smoothed(counted: Numbers, simpler: Numbers, strength: float) -> Numbers:
    """Return probabilities by counts, smoothed towards those of a simpler model."""
    found: Numbers = (counted + strength * simpler) / (counted.sum(axis=-1, keepdims=True) + strength)
    return found


def _normalised(shares: Numbers) -> Numbers:
    total = shares.sum(axis=-1, keepdims=True)
    found: Numbers = shares / np.where(total > 0, total, 1.0)
    return found
