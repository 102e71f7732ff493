"""Examples in docstrings as code: without a fence, Markdown takes their `>>>` for quotations."""

from __future__ import annotations

from typing import Any

import griffe

PROMPTS = (">>> ", "... ", ">>>")


def fenced(text: str) -> str:
    """The text with a fence around each example, which ends where a line is empty."""
    lines: list[str] = []
    is_inside = False
    for line in text.splitlines():
        if not is_inside and line.lstrip().startswith(PROMPTS[0]):
            lines += ["", "```pycon"] if lines and lines[-1].strip() else ["```pycon"]
            is_inside = True
        elif is_inside and not line.strip():
            lines.append("```")
            is_inside = False
        lines.append(line.replace("<BLANKLINE>", "") if is_inside else line)
    return "\n".join([*lines, "```"] if is_inside else lines)


class Doctests(griffe.Extension):
    """Puts fences around the examples of all docstrings."""

    def on_instance(self, *, obj: Any, **more: Any) -> None:
        """One docstring."""
        if obj.docstring is not None and PROMPTS[0] in obj.docstring.value:
            obj.docstring.value = fenced(obj.docstring.value)
