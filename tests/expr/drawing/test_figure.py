import io
import subprocess
import sys

import pytest
from hypothesis import given, settings
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch

from edhie.expr import SymbolLibrary, parse, to_infix
from edhie.expr.drawing.figure import draw_figure
from edhie.expr.drawing.layout import math_labels
from strategies import exprs

LIBRARY = SymbolLibrary.of(
    ["+", "*", "^", "max", "sin", "neg", "^2", "sqrt"], ["x", "x1", "temperature"], constant=True, numbers=True
)


trees = exprs(LIBRARY, numbers=["-1.5e-7"])

FORMULAS = ["x", "x*sin(y) + 1", "sqrt(x^2 + y^2)/(c - exp(-z))", "sin(cos(exp(log(x))))", "a + b + d", "-1e-9*x"]
few = settings(max_examples=10, deadline=None)


def boxes(panel):
    return [patch.get_window_extent() for patch in panel.patches if isinstance(patch, PathPatch)]


def pixels_per_unit(panel):
    (x0, y0), (x1, y1) = panel.transData.transform([(0, 0), (1, 1)])
    return x1 - x0, y1 - y0


@few
@given(trees)
def test_each_node_has_its_label_inside_its_box(expr):
    figure = draw_figure(expr)
    renderer = FigureCanvasAgg(figure).get_renderer()
    (panel,) = figure.axes
    assert [text.get_text() for text in panel.texts] == math_labels(expr, number_format=".4g")
    for text, box in zip(panel.texts, boxes(panel), strict=True):
        label = text.get_window_extent(renderer)
        assert box.x0 < label.x0
        assert label.x1 < box.x1


@few
@given(trees)
def test_boxes_stay_apart_and_within_the_figure(expr):
    figure = draw_figure(expr)
    (panel,) = figure.axes
    drawn = boxes(panel)
    for i, one in enumerate(drawn):
        assert not any(one.overlaps(other) for other in drawn[i + 1 :])
        assert panel.bbox.x0 < one.x0
        assert panel.bbox.y0 < one.y0
        assert panel.bbox.x1 > one.x1
        assert panel.bbox.y1 > one.y1


@few
@given(trees)
def test_lines_touch_only_the_boxes_that_they_join(expr):
    (panel,) = draw_figure(expr).axes
    (lines,) = panel.collections
    assert len(lines.get_segments()) == expr.size - 1
    for (_, start), (_, end) in lines.get_segments():
        assert start - end == pytest.approx(0.8)  # all lie in the lane between two rows of boxes


@few
@given(trees)
def test_the_title_is_the_infix_and_fits(expr):
    figure = draw_figure(expr)
    (panel,) = figure.axes
    title = panel.get_title()
    assert "".join(title.split()) == "".join(to_infix(expr, number_format=".4g").split())
    extent = panel.title.get_window_extent(FigureCanvasAgg(figure).get_renderer())
    assert extent.x0 >= 0
    assert extent.x1 <= figure.bbox.x1
    assert extent.y1 <= figure.bbox.y1
    assert extent.y0 >= max(box.y1 for box in boxes(panel))


def test_nodes_look_the_same_in_every_panel():
    figure = draw_figure([parse(text) for text in FORMULAS])
    assert len(figure.axes) == len(FORMULAS)
    first = pixels_per_unit(figure.axes[0])
    assert first[0] == pytest.approx(first[1])
    for panel in figure.axes:
        assert pixels_per_unit(panel) == pytest.approx(first)
        assert {text.get_fontsize() for text in panel.texts} == {figure.axes[0].texts[0].get_fontsize()}


@pytest.mark.parametrize(
    ("count", "columns", "shape"),
    [(1, None, (1, 1)), (5, None, (1, 5)), (6, None, (2, 3)), (6, 4, (2, 4)), (10, None, (2, 5)), (3, 8, (1, 3))],
)
def test_panels_stand_in_a_grid(count, columns, shape):
    figure = draw_figure([parse(FORMULAS[i % len(FORMULAS)]) for i in range(count)], columns=columns)
    corners = [panel.get_position() for panel in figure.axes]
    rows, lefts = {round(box.y0, 6) for box in corners}, {round(box.x0, 6) for box in corners}
    assert (len(rows), len(lefts)) == shape


def test_kinds_differ_in_colour_lightness_and_shape():
    (panel,) = draw_figure(parse("sin(x) + c*2*pi", variables=["x"])).axes
    looks = {text.get_text(): patch for text, patch in zip(panel.texts, panel.patches, strict=True)}
    fills = [looks[label].get_facecolor()[:3] for label in ("sin", "$x$", "$c$")]
    lightness = sorted(0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in fills)
    assert lightness[2] - lightness[1] > 0.04
    assert lightness[1] - lightness[0] > 0.04
    assert looks["$c$"].get_facecolor() == looks["2"].get_facecolor() == looks[r"$\pi$"].get_facecolor()
    assert looks["+"].get_facecolor() == looks["sin"].get_facecolor()


def test_titles_of_ones_own_may_hold_mathematics():
    figure = draw_figure([parse("x"), parse("y")], titles=[r"$t = \frac{1}{2}$", ""])
    assert [panel.get_title() for panel in figure.axes] == [r"$t = \frac{1}{2}$", ""]


@pytest.mark.parametrize("shape", [(1, 3), (3, 1)])
def test_drawing_into_given_axes_shrinks_to_fit(shape):
    figure = Figure(figsize=(5, 5))
    panels = figure.subplots(*shape)
    trees = [parse(text) for text in FORMULAS[2:5]]
    assert draw_figure(trees, axes=panels) is figure
    for panel, tree in zip(panels, trees, strict=True):
        assert len(panel.texts) == tree.size
        assert all(panel.bbox.y0 < box.y0 and panel.bbox.x0 < box.x0 and box.x1 < panel.bbox.x1 for box in boxes(panel))
    assert panels[0].texts[0].get_fontsize() < draw_figure(trees).axes[0].texts[0].get_fontsize()


def test_one_axes_of_a_subfigure_gives_the_whole_figure():
    figure = Figure()
    panel = figure.subfigures(1, 2)[0].subplots()
    assert draw_figure(parse("x + 1"), axes=panel) is figure


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_it_saves_without_a_display(kind):
    file = io.BytesIO()
    draw_figure([parse(text) for text in FORMULAS]).savefig(file, format=kind)
    assert file.tell() > 1000


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"titles": ["a", "b"]}, "1 expressions were given and 2 titles"),
        ({"axes": []}, "1 expressions were given and 0 axes"),
        ({"columns": 0}, "0 columns"),
    ],
)
def test_counts_that_disagree_are_refused(options, complaint):
    with pytest.raises(ValueError, match=complaint):
        draw_figure([parse("x")], **options)


def test_nothing_to_draw_is_refused():
    with pytest.raises(ValueError, match="no expression"):
        draw_figure([])


def test_matplotlib_is_loaded_on_use_and_pyplot_never():
    code = """
import sys
from edhie.expr import parse
from edhie.expr.drawing.figure import draw_figure
assert "matplotlib" not in sys.modules
draw_figure(parse("x + 1")).canvas.draw()
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
