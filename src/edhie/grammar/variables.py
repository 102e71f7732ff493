"""A grammar for other variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from edhie.errors import GrammarError
from edhie.expr.library import FALLBACK_CONSTANT_NAMES, SymbolLibrary
from edhie.expr.symbols import Symbol, constant, variable
from edhie.grammar.rules import Part, Rule, fault


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
