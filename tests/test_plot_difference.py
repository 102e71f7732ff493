"""The picture of what changed: two trees, marked without relying on colour."""

from __future__ import annotations

import pytest

from edhie.expr import parse
from edhie.plots.style import png
from edhie.plots.trees import DELETED, INSERTED, KEPT, REPLACED, plot_difference

CASES = {
    "an offset": ("c*x0*exp(-c*x1)", "2*x0*exp(-0.5*x1) + 1.3"),
    "all kinds": ("sin(x) + c*y", "cos(x*y)"),
    "nothing": ("x", "x"),
    "other letters": ("तापमान + 速度", "तापमान*速度"),
    "constants first": ("c*exp(-c*t)", "20 + 60*exp(-t/7)"),
}


@pytest.mark.parametrize("name", CASES)
def test_nodes_are_marked_by_border_and_by_colour(name: str) -> None:
    before, after = map(parse, CASES[name])
    figure = plot_difference(before, after)
    assert png(figure).startswith(b"\x89PNG")
    left, right = figure.axes
    assert [len(left.patches), len(right.patches)] == [before.size, after.size]
    words = {text.get_text() for legend in figure.legends for text in legend.get_texts()}
    assert "kept" in words
    if name == "an offset":
        assert words == {"kept", "inserted"}
        assert [patch.get_linewidth() for patch in right.patches].count(INSERTED.width) == 2
    if name == "nothing":
        assert words == {"kept"}


def test_marks_differ_without_colour() -> None:
    looks = {(mark.width, str(mark.style)) for mark in (KEPT, REPLACED, INSERTED, DELETED)}
    assert len(looks) == 4
