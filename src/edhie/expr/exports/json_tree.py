"""An expression as JSON: its nodes in prefix order, each with the positions of its operands, and its library."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from edhie.errors import ExpressionError
from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.notation import to_infix
from edhie.expr.symbols import Symbol

FORMAT = 1


def to_json(expr: Expr, *, name: str, target: str) -> str:
    """Return the expression with its library, as `from_json` reads it; nodes are a flat list, whatever the depth."""
    head = {
        "format": FORMAT,
        "equation": f"{target} = {to_infix(expr)}",
        "target": target,
        "variables": expr.variables,
        "constants": expr.constants,
    }
    lines = [f"  {json.dumps(key)}: {_text(value)}," for key, value in head.items()]
    nodes = ",\n".join(f"    {_text(node)}" for node in _nodes(expr))
    library = expr.library.to_json().strip().replace("\n", "\n  ")
    return "\n".join(["{", *lines, '  "nodes": [', nodes, "  ],", f'  "library": {library}', "}"]) + "\n"


def from_json(text: str, *, operators: Iterable[Symbol] = ()) -> Expr:
    """Read an expression written by `export(expr, "json")`; `operators` are those that the user had added."""
    try:
        data = json.loads(text)
        version, nodes, library = data["format"], data["nodes"], data["library"]
        tokens = [str(node["symbol"]) for node in nodes]
        constants = [None if value is None else float(value) for value in data["constants"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        what = "this is not an exported expression"
        raise ExpressionError(f'{what}: {error!r}; write one by export(expr, "json")') from error
    if version != FORMAT:
        raise ExpressionError(f"the expression has format {version}; this edhie reads format {FORMAT}")
    expr = Expr(SymbolLibrary.from_json(json.dumps(library), operators=operators), tokens, constants)
    if _nodes(expr) != nodes:
        raise ExpressionError("the nodes of the exported expression do not agree with its symbols and constants")
    return expr


def _nodes(expr: Expr) -> list[dict[str, Any]]:
    """Return the nodes: each a symbol, with the positions of its operands or with its value."""
    nodes = []
    for (i, _, symbol), token, value in zip(expr.walk(), expr.tokens, expr.values, strict=True):
        node: dict[str, Any] = {"symbol": token}
        if symbol.arity:
            node["operands"] = list(expr.child_positions(i))
        elif symbol.kind != "variable":
            node["value"] = value
        nodes.append(node)
    return nodes


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
