"""Symbols of a grammar's terminals, in a given library or in one derived from them; rules for other variables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from edhie.errors import GrammarError, SymbolError, suggestion
from edhie.expr.library import FALLBACK_CONSTANT_NAMES, SymbolLibrary, numbered_first
from edhie.expr.numerals import is_numeral, numeral
from edhie.expr.symbols import ALIASES, NAMED_LITERALS, NUMBER, OPERATORS, Symbol, constant, is_name, literal, variable
from edhie.grammar.patterns import PUNCTUATION, Hole, Leaf, Pattern
from edhie.grammar.rules import Part, Rule, fault

CONSTANT = "c"


def canonical(rule: Rule, library: SymbolLibrary | None) -> Rule:
    """Return the rule with one spelling for each terminal: `ln` becomes `log`, 2.0 becomes 2."""
    known = () if library is None else library.ids

    def one(part: Part) -> Part:
        if not isinstance(part, str) or part in known:
            return part
        return numeral(float(part)) if is_numeral(part) else ALIASES.get(part, part)

    return replace(rule, rhs=tuple(one(part) for part in rule.rhs))


def resolve(rules: Iterable[Rule], library: SymbolLibrary | None) -> dict[str, Symbol]:
    """Return the symbol of every terminal but punctuation, and `neg` if it is known."""
    known = OPERATORS if library is None else library.ids
    symbols = {"neg": OPERATORS["neg"]} if "neg" in known else {}
    for rule in rules:
        for at, part in enumerate(rule.rhs):
            is_operator = rule.rhs == (part,)
            if not isinstance(part, str) or part in PUNCTUATION or (part in symbols and not is_operator):
                continue
            is_sign = part == "-" and part not in known and not is_operator
            try:
                if library is None:
                    symbols[part] = _invented(part)
                else:  # a '-' that is not in the library may yet be the sign of `neg`
                    symbols[part] = _known("neg" if is_sign and "neg" in known else part, library)
            except SymbolError as error:
                raise fault(rule, str(error), at) from None
    return symbols


def derived_library(
    rules: Iterable[Rule], patterns: Iterable[Pattern | None], choices: Iterable[frozenset[Symbol]],
    symbols: dict[str, Symbol],
) -> SymbolLibrary:  # fmt: skip
    """Return a library of the symbols that trees can hold: operators as in the table, then leaves as they appear."""
    present = {symbol.name for choice in choices for symbol in choice}
    waiting = [pattern for pattern in patterns if pattern is not None]
    while waiting:
        pattern = waiting.pop()
        if isinstance(pattern, Leaf):
            present.add(pattern.name)
        elif not isinstance(pattern, Hole):
            waiting.extend(pattern.operands)
            present |= {pattern.operator} if isinstance(pattern.operator, str) else set()
    listed = [part for rule in rules for part in rule.rhs if isinstance(part, str) and part in present]
    leaves = [symbols[name] for name in dict.fromkeys(listed) if not symbols[name].arity]
    variables = [symbol.name for symbol in leaves if symbol.kind == "variable"]
    rows = [symbol for name, symbol in OPERATORS.items() if name in present]
    rows += [symbols[name] for name in numbered_first(variables)]
    rows += [symbol for kind in ("constant", "literal") for symbol in leaves if symbol.kind == kind]
    return SymbolLibrary(tuple(rows))


def _known(name: str, library: SymbolLibrary) -> Symbol:
    if name == NUMBER.name:
        raise SymbolError(f"{name!r} stands for any number: write the number itself")
    try:
        return library[name]
    except SymbolError as error:
        raise SymbolError(f"{error}; the library has: {library}") from None


def _invented(name: str) -> Symbol:
    """Return the symbol of a terminal if no library is given."""
    if name in OPERATORS:
        return OPERATORS[name]
    if name == CONSTANT:
        return constant(name)
    if name in NAMED_LITERALS or is_numeral(name):
        return literal(name)
    if not is_name(name):
        raise SymbolError(f"{name!r} is no symbol and cannot name a variable{suggestion(name, OPERATORS)}")
    return variable(name)


def with_variables(
    rules: Sequence[Rule], library: SymbolLibrary, names: Sequence[str]
) -> tuple[list[Rule], SymbolLibrary]:
    """Return the rules and the library for variables of these names.

    Rules of one nonterminal that differ only in their variable share the sum of their
    probabilities equally. A constant whose name a variable takes gets the next free one.
    """
    names = [names] if isinstance(names, str) else list(names)
    if not names:
        raise GrammarError("with_variables() needs at least one name")
    if not any(part in library.variables for rule in rules for part in rule.rhs):
        raise GrammarError("the grammar has no rules that make variables; write one, such as V -> 'x0' [1.0]")
    new_library, renamed = _library(library, names)
    sums: dict[tuple[str, tuple[Part | None, ...]], float] = {}
    for rule in rules:
        template = _template(rule, library)
        sums[rule.lhs, template] = sums.get((rule.lhs, template), 0.0) + rule.probability
    remade = []
    for rule in rules:
        template = _template(rule, library)
        if None not in template:
            remade.append(replace(rule, rhs=tuple(renamed.get(part, part) for part in rule.rhs)))
        elif (rule.lhs, template) in sums:
            share = sums.pop((rule.lhs, template)) / len(names)
            for name in names:
                rhs = tuple(name if part is None else renamed.get(part, part) for part in template)
                remade.append(replace(rule, rhs=rhs, probability=share))
    return remade, new_library


def _template(rule: Rule, library: SymbolLibrary) -> tuple[Part | None, ...]:
    present = {part for part in rule.rhs if part in library.variables}
    if len(present) > 1:
        what = "a rule with several variables cannot be remade for others"
        raise fault(rule, f"{what}; write a nonterminal in their place, with a rule such as V -> 'x0' [1.0]")
    return tuple(None if part in present else part for part in rule.rhs)


def _library(library: SymbolLibrary, names: Sequence[str]) -> tuple[SymbolLibrary, dict[Part, Part]]:
    """Return the library with new variables in place of the old, and the constant's new name where it needs one."""
    rest = [symbol for symbol in library.symbols if symbol.kind != "variable"]
    renamed: dict[Part, Part] = {}
    if library.constant is not None and library.constant in names:
        taken = {*names, *(symbol.name for symbol in rest)}
        free = next(name for name in FALLBACK_CONSTANT_NAMES if name not in taken)
        renamed = {library.constant: free}
        rest = [constant(free) if symbol.kind == "constant" else symbol for symbol in rest]
    for symbol in rest:
        if symbol.name in names:
            raise GrammarError(
                f"a variable cannot be named {symbol.name!r}: the grammar has that name already ({symbol.kind})"
            )
    at = min(i for i, symbol in enumerate(library.symbols) if symbol.kind == "variable")
    new: list[Symbol] = [*rest[:at], *map(variable, names), *rest[at:]]
    return SymbolLibrary(tuple(new)), renamed
