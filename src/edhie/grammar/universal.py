"""A grammar of every expression over a library, in the form of the paper's for GVAE."""

from __future__ import annotations

from collections.abc import Iterable

from edhie.errors import GrammarError
from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import numeral
from edhie.expr.symbols import Symbol
from edhie.grammar.pcfg import PCFG
from edhie.grammar.rules import Nonterminal, Part, Rule

S, T = Nonterminal("S"), Nonterminal("T")


def universal_grammar(library: SymbolLibrary, numbers: Iterable[float] = ()) -> PCFG:
    """Return a grammar with two levels, infix operators above all else, that derives every tree over a library.

    Probabilities are uniform. Where a library allows any number, the grammar has those
    that are given, since its rules are finitely many.

    >>> print(universal_grammar(SymbolLibrary.of(["+", "sin", "^2"], ["x"])), end="")
    S -> S '+' T [0.5] | T [0.5]
    T -> '(' S ')' [0.25] | 'sin' '(' S ')' [0.25] | '(' S ')' '^2' [0.25] | 'x' [0.25]
    """
    infix = [symbol for symbol in library.symbols if symbol.style == "infix"]
    others = [symbol for symbol in library.symbols if symbol.style != "infix" and symbol.kind != "number"]
    above: list[tuple[Part, ...]] = [(S, symbol.name, T) for symbol in infix]
    below: list[tuple[Part, ...]] = [("(", S, ")")] if infix else []
    below += [_operand(symbol) for symbol in others]
    spelled = dict.fromkeys(numeral(number) for number in numbers)
    if spelled and not library.has_numbers:
        raise GrammarError(f"the library has no numbers but those of its symbols ({library})")
    below += [(text,) for text in spelled if text not in library]
    return PCFG([*_alternatives(S, [*above, (T,)]), *_alternatives(T, below)], start=S.name, library=library)


def _operand(symbol: Symbol) -> tuple[Part, ...]:
    """Return the right-hand side of T that makes a symbol."""
    if symbol.style == "prefix":
        return ("-", T)
    if symbol.style == "postfix":
        return ("(", S, ")", symbol.name)
    if symbol.arity == 2:
        return (symbol.name, "(", S, ",", S, ")")
    return (symbol.name, "(", S, ")") if symbol.arity else (symbol.name,)


def _alternatives(lhs: Nonterminal, sides: list[tuple[Part, ...]]) -> list[Rule]:
    return [Rule(lhs.name, side, 1 / len(sides)) for side in sides]
