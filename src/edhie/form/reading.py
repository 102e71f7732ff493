"""Parsing of templates: calls of unknown parts are found, and the rest is parsed like any formula."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from edhie.errors import ParseError, shortened
from edhie.expr import SymbolLibrary, parse
from edhie.expr.lexer import Token, tokenise
from edhie.expr.symbols import ALIASES, NAMED_LITERALS, OPERATORS, is_name, variable

MOST_CALLS = 100
TYPO = 0.8  # similarity to a function's name from which a name is taken for a misspelling


@dataclass(frozen=True)
class Call:
    """A call of an unknown part: its name, its variables and its position in the text."""

    name: str
    arguments: tuple[str, ...]
    start: int
    end: int
    """The slice of the template's text."""


def read_form(text: str, library: SymbolLibrary) -> tuple[tuple[Call, ...], tuple[str, ...]]:
    """Return the calls of unknown parts, and the tokens in prefix order, with '' in place of each call."""
    calls = _calls(text, library)
    if not calls:
        raise ParseError(
            "the template has no unknown part, such as f(x0); without one there is nothing to find", text, 0
        )
    first: dict[str, Call] = {}
    standing, written = _stand_ins(text, calls, library), text
    for call, name in zip(calls, standing, strict=True):
        other = first.setdefault(call.name, call)
        if len(other.arguments) != len(call.arguments):
            counts = f"{len(other.arguments)} variables before and with {len(call.arguments)} here"
            raise ParseError(f"the part {call.name!r} is called with {counts}", text, call.start)
        written = written[: call.start] + name + written[call.end :]
    try:
        expr = parse(written, library.extended(*map(variable, standing)))
    except ParseError as error:
        what = error.what
        for call, name in zip(calls, standing, strict=True):
            what = what.replace(name, text[call.start : call.end])
        raise ParseError(what, text, error.position) from None
    return calls, tuple("" if token in standing else token for token in expr.tokens)


def _calls(text: str, library: SymbolLibrary) -> tuple[Call, ...]:
    tokens, found = [*tokenise(text), Token("end", "", len(text))], list[Call]()
    at = 0
    while at < len(tokens) - 1:
        token = tokens[at]
        if token.kind == "name" and tokens[at + 1].text == "(" and _is_part(text, token, library):
            if len(found) == MOST_CALLS:
                raise ParseError(f"a template has at most {MOST_CALLS} unknown parts", text, token.position)
            call, at = _call(text, tokens, at, library)
            found.append(call)
        else:
            at += 1
    return tuple(found)


def _is_part(text: str, name: Token, library: SymbolLibrary) -> bool:
    known = ALIASES.get(name.text, name.text)
    if name.text in library or known in library or known in OPERATORS or known in NAMED_LITERALS:
        return False
    functions = [each for each in library.readable_names if is_name(each) and each not in library.variables]
    near = get_close_matches(name.text, functions, n=1, cutoff=TYPO)
    if near:
        what = (
            f"unknown function {shortened(name.text)!r}; did you mean {near[0]!r}? If it is an unknown part, rename it"
        )
        raise ParseError(what, text, name.position)
    return True


def _call(text: str, tokens: Sequence[Token], at: int, library: SymbolLibrary) -> tuple[Call, int]:
    """Return the call whose name is the token at an index, and the index after it."""
    name, opened, names = tokens[at], tokens[at + 1], []
    at += 2
    if tokens[at].text != ")":
        while True:
            names.append(_argument(text, tokens, at, library, name.text))
            if names[-1] in names[:-1]:
                raise ParseError(f"{names[-1]!r} is given to {name.text!r} twice", text, tokens[at].position)
            at += 1
            if tokens[at].text != ",":
                break
            at += 1
    closing = tokens[at]
    if closing.kind == "end":
        raise ParseError("this '(' is never closed", text, opened.position)
    if closing.text != ")":
        what = f"a part takes only variables; write '{name.text}({', '.join(names)})' and let the search find the rest"
        raise ParseError(what, text, closing.position)
    return Call(name.text, tuple(names), name.position, closing.position + 1), at + 1


def _argument(text: str, tokens: Sequence[Token], at: int, library: SymbolLibrary, part: str) -> str:
    token, after = tokens[at], tokens[at + 1] if at + 1 < len(tokens) else tokens[at]
    if token.text in library.variables:
        return token.text
    shown = shortened(token.text)
    if token.kind == "name" and after.text == "(" and _is_part(text, token, library):
        what = f"the part {shown!r} inside the part {part!r}: parts within parts are not supported"
    elif token.kind == "end":
        what = f"the variables of the part {part!r} are missing"
    else:
        there = shortened(", ".join(library.variables))
        what = f"an argument of the part {part!r} must be a variable, not {shown!r}; the variables are {there}"
    raise ParseError(what, text, token.position)


def _stand_ins(text: str, calls: Sequence[Call], library: SymbolLibrary) -> list[str]:
    """Return, for each call, a new name as long as its text, so that errors point to the right position."""
    taken = {*library.readable_names, *(token.text for token in tokenise(text))}
    found = []
    for call in calls:
        length, letters = call.end - call.start, "_0123456789abcdefghijklmnopqrstuvwxyz"
        choices = ("".join(["_", *each]) for each in itertools.product(letters, repeat=min(length - 1, 6)))
        name = next(each for word in choices if (each := word.ljust(length, "_")) not in taken)
        taken.add(name)
        found.append(name)
    return found
