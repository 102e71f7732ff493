"""Expressions as trees for the page: nodes at unit distance, the root on top."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edhie.expr import Expr
from edhie.expr.difference import Difference
from edhie.expr.drawing.layout import MINUS, tree_layout
from edhie.expr.notation import to_prefix_tokens
from edhie.expr.numerals import is_numeral

LABELS = {
    "-": MINUS, "neg": MINUS, "*": "×", "/": "÷", "^": "^", "inv": "1/·", "sqrt": "√", "cbrt": "∛", "abs": "|·|",
    "log": "ln", "log10": "log₁₀", "^2": "·²", "^3": "·³", "^4": "·⁴", "^5": "·⁵",
}  # fmt: skip
FEW_DIGITS = ".4g"
LETTER_WIDTH, GAP = 0.16, 0.35  # of the space that a node takes: letters, and between two boxes
NARROWEST = 0.65


def tree(expr: Expr, marks: Mapping[int, str] | None = None, *, number_format: str = FEW_DIGITS) -> dict[str, Any]:
    """Return the nodes and edges of an expression; `marks` are by node, in prefix order."""
    texts = to_prefix_tokens(expr, number_format=number_format)
    kinds = ["number" if symbol.kind == "literal" else symbol.kind for _, _, symbol in expr.walk()]
    labels = [_label(kind, text) for kind, text in zip(kinds, texts, strict=True)]
    placed = tree_layout(expr, labels, width=lambda label: max(NARROWEST, LETTER_WIDTH * len(label) + 0.3), gap=GAP)
    nodes = [
        {"id": node.position, "label": node.label, "x": round(node.x, 3), "y": node.depth - 1, "kind": kind}
        | ({"mark": marks.get(node.position, "kept")} if marks is not None else {})
        for node, kind in zip(placed, kinds, strict=True)
    ]
    return {
        "nodes": nodes,
        "edges": [[node.parent, node.position] for node in placed if node.parent is not None],
        "width": round(max(node.x + node.width / 2 for node in placed), 3),
        "height": max(node.depth for node in placed),
    }


def compared(changes: Difference) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the trees of two expressions, with marks for the nodes that changed."""
    before, after = (dict.fromkeys((pair[side] for pair in changes.replaced), "changed") for side in (0, 1))
    before |= dict.fromkeys(changes.deleted, "removed")
    after |= dict.fromkeys(changes.inserted, "added")
    return tree(changes.before, before), tree(changes.after, after)


def _label(kind: str, text: str) -> str:
    if kind == "operator":
        return LABELS.get(text, text)
    return text.replace("-", MINUS) if is_numeral(text) else text
