"""Expressions up to the order of their terms and factors, which SymPy chooses anew anyway."""

from __future__ import annotations

from edhie.expr import Expr

CHAINS = {"+": "+", "-": "+", "*": "*", "/": "*"}
FLIPPED = {"": "~", "~": ""}  # a term with a minus sign, a factor below the line


def unordered(expr: Expr) -> str:
    """A text that is the same for expressions which differ in the order of terms and factors alone.

    >>> from edhie.expr import parse
    >>> unordered(parse("x - (y - c*x)")) == unordered(parse("x*c + x - y"))
    True
    """
    stack: list[tuple[str, list[tuple[str, str]]]] = []  # sums, products and others: their signs and parts
    for token in reversed(expr.tokens):
        operands = [stack.pop() for _ in range(expr.library[token].arity)]
        chain = CHAINS.get(token)
        if chain is None:
            inside = ", ".join(_joined(*operand) for operand in operands)
            stack.append(("", [("", f"{token}({inside})")]))
        else:
            left, right = (parts if kind == chain else [("", _joined(kind, parts))] for kind, parts in operands)
            flipped = [(FLIPPED[sign], part) for sign, part in right] if token in ("-", "/") else right
            stack.append((chain, left + flipped))
    return _joined(*stack.pop())


def _joined(kind: str, parts: list[tuple[str, str]]) -> str:
    return f"{kind}[{' '.join(sorted(sign + part for sign, part in parts))}]" if kind else parts[0][1]
