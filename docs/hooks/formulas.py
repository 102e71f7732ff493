"""Blocks of the language `formula` as mathematics that browsers set by themselves."""

from __future__ import annotations

import html
from typing import Any


def mathml(line: str) -> str:
    """`y = c*exp(-x)` as a row of MathML; what stands before the equals sign is a name."""
    from edhie.expr import parse
    from edhie.expr.mathml import mathml_name, to_mathml

    left, _, right = line.rpartition("=")
    head = f"{mathml_name(left.strip())}<mo>=</mo>" if left else ""
    return f'<math display="block" aria-label="{html.escape(line)}"><mrow>{head}{to_mathml(parse(right))}</mrow></math>'


def fence(source: str, language: str, css_class: str, options: Any, md: Any, **more: Any) -> str:
    """What such a block becomes: a row for each of its lines."""
    rows = "".join(mathml(line) for line in source.splitlines() if line.strip())
    return f'<div class="{css_class}">{rows}</div>'


def on_config(config: Any) -> Any:
    """Make the language known."""
    fences = config.mdx_configs.setdefault("pymdownx.superfences", {}).setdefault("custom_fences", [])
    fences.append({"name": "formula", "class": "formula", "format": fence})
    return config
