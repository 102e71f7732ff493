"""Probabilistic grammars of expressions: the text format, drawing, probabilities and derivations."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

from edhie.errors import GrammarError, suggestion
from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import numeral
from edhie.expr.symbols import Symbol
from edhie.grammar.pcfg import PCFG
from edhie.grammar.rules import Nonterminal, Part, Rule

__all__ = ["PCFG", "Nonterminal", "Rule", "load", "names", "universal_grammar"]


SUFFIX = ".pcfg"
SHIPPED = files("edhie.grammar") / "library"


def names() -> list[str]:
    """Return the names of the grammars that come with edhie."""
    return sorted(each.name.removesuffix(SUFFIX) for each in SHIPPED.iterdir() if each.name.endswith(SUFFIX))


def load(name_or_path: str | Path, library: SymbolLibrary | None = None) -> PCFG:
    """Load a grammar that comes with edhie by its name, or one from a file.

    >>> load("nguyen-1").library.variables
    ('x0',)
    """
    name = str(name_or_path)
    is_path = isinstance(name_or_path, Path) or name.endswith(SUFFIX) or "/" in name or "\\" in name
    if not is_path and name in names():
        return PCFG.parse((SHIPPED / f"{name}{SUFFIX}").read_text(encoding="utf-8"), library)
    if not is_path:
        hint = suggestion(name, names()) or f"; there are {', '.join(names())}, or give the path of a {SUFFIX} file"
        raise GrammarError(f"unknown grammar {name!r}{hint}")
    try:
        text = Path(name_or_path).read_text(encoding="utf-8")
    except FileNotFoundError:
        stem = Path(name).name.removesuffix(SUFFIX)
        hint = f"; the one that comes with edhie is load({stem!r})" if stem in names() else ""
        raise GrammarError(f"there is no grammar file {name!r}{hint}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise GrammarError(f"the grammar file {name!r} cannot be read: {error}") from error
    try:
        return PCFG.parse(text, library)
    except GrammarError as error:
        raise GrammarError(f"{name}, {error}") from error


# -- a grammar of every expression over a library, in the form of the paper's for GVAE ---

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
