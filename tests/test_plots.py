"""Pictures of what was found: everything is in them, nothing lies on something else, any data can be drawn."""

from __future__ import annotations

import io
import itertools
import math
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from edhie.errors import EdhieError
from edhie.evaluate import Data, read_data
from edhie.expr import Forest, parse
from edhie.fit import Discovery, Equation, Problem, Settings, discover
from edhie.plots import plot_fit, plot_front, save
from edhie.plots.style import FITTED, HELD_OUT, padded, spans_decades
from edhie.plots.words import equation_text, r2_text
from edhie.results import Candidate, Candidates, Front, History, SearchCounts, SearchResult

SHORT = Settings(max_evaluations=100, max_time=None)
LONG_NAME = "the $averaged$ temperature of the whole & rather long sample_1, in kelvin"


@pytest.fixture(scope="session")
def cooling() -> Discovery:
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 30, 60)
    y = 20 + 60 * np.exp(-t / 7) + rng.normal(0, 0.5, 60)
    return discover(Problem.of(read_data(t, y, names=["time $t$"]), target="T"), SHORT)


@pytest.fixture(scope="session")
def forces() -> Discovery:
    """With rows that are held out."""
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 5, (1500, 3))  # noqa: N806
    y = X[:, 0] * X[:, 1] / X[:, 2] + rng.normal(0, 0.1, 1500)
    return discover(Problem.of(read_data(X, y, names=["m", "a", "温度"]), target=LONG_NAME), SHORT)


def equation(text: str, data: Data, validation: Data | None = None, constants: Sequence[float] = ()) -> Equation:
    expr = parse(text, variables=list(data.names))
    expr = expr.with_constants(list(constants))
    return Equation("y", Candidate(expr, 1.0, float(expr.size), 1), data, validation)


def made_up(losses: Sequence[float], *, target: str = "y") -> Discovery:
    """A discovery with a front of such losses, of growing complexity."""
    x = np.linspace(1, 2, 20)
    exprs = [parse("x" + " + x" * k, variables=["x"]) for k in range(len(losses))]
    sizes = np.arange(1.0, len(losses) + 1)
    forest = Forest.from_exprs(exprs)
    candidates = Candidates(forest, np.array(losses), sizes, np.arange(1, len(losses) + 1))
    result = SearchResult(Front(candidates), candidates, SearchCounts(executed=9), History(), 1.0, "finished", 0, "x")
    problem = Problem.of(read_data(x, 2 * x, names=["x"]), target=target)
    front = tuple(Equation(target, each, problem.train) for each in candidates)
    return Discovery(problem, Settings(), result, front, len(front) - 1)


# -- the front ------------------------------------------------------------------------


def test_all_of_the_front_is_drawn_and_the_chosen_one_marked(cooling: Discovery) -> None:
    panel = plot_front(cooling).axes[0]
    others, chosen = panel.collections
    drawn = {tuple(point) for point in np.concatenate([others.get_offsets(), chosen.get_offsets()]).tolist()}
    assert drawn == {(each.complexity, each.loss) for each in cooling.equations}
    assert chosen.get_offsets().tolist() == [[cooling.best.complexity, cooling.best.loss]]
    words = [text.get_text() for text in panel.texts] + [panel.get_title(loc="left")]
    assert any(equation_text(cooling.best, 56) in each and f"R² = {r2_text(cooling.best.r2)}" in each for each in words)
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("complexity", "loss")


@pytest.mark.parametrize("found", ["cooling", "forces"])
def test_no_label_lies_on_another_or_leaves_the_panel(
    found: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    figure = plot_front(request.getfixturevalue(found))
    save(figure, tmp_path / "front.png")  # the layout is done
    (panel,) = figure.axes
    boxes = [text.get_window_extent() for text in panel.texts]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    assert all(panel.bbox.x0 <= box.x0 and box.x1 <= panel.bbox.x1 + 1 for box in boxes)


@pytest.mark.parametrize(
    ("losses", "scale"),
    [
        ([3.0, 2.0, 1.0], "linear"),
        ([3.0, 1e-3, 1e-16], "log"),
        ([3.0, 1e-3, 0.0], "log"),
        ([0.0], "linear"),
        ([2.5], "linear"),
        ([1e-300, 1e-310], "log"),
        ([1e150, 1e140], "log"),
    ],
)
def test_any_losses(losses: list[float], scale: str) -> None:
    figure = plot_front(made_up(losses))
    figure.savefig(io.BytesIO())
    assert figure.axes[0].get_yscale() == scale
    shown = np.concatenate([each.get_offsets() for each in figure.axes[0].collections])
    low, high = figure.axes[0].get_ylim()
    assert len(shown) == len(losses)
    assert ((low <= shown[:, 1]) & (shown[:, 1] <= high)).all()


def test_many_equations_have_few_labels() -> None:
    figure = plot_front(made_up([2.0 / (k + 1) for k in range(40)]))
    assert len(figure.axes[0].texts) <= 5


# -- the fit --------------------------------------------------------------------------


def test_one_variable_has_a_curve(cooling: Discovery) -> None:
    above, below = plot_fit(cooling).axes
    (curve,) = above.lines
    x, y = curve.get_data()
    assert (x[0], x[-1]) == (cooling.train.columns.min(), cooling.train.columns.max())
    np.testing.assert_allclose(y, cooling.best.predict(np.asarray(x)[np.newaxis]))
    points = above.collections[0]
    np.testing.assert_array_equal(points.get_offsets(), np.stack([cooling.train.columns[0], cooling.train.y], axis=1))
    left = cooling.train.y - cooling.best.predict(cooling.train.columns)
    np.testing.assert_allclose(below.collections[0].get_offsets()[:, 1], left)
    assert (above.get_ylabel(), below.get_xlabel(), below.get_ylabel()) == ("T", "time $t$", "residual")
    assert above.get_title(loc="left") == f"{equation_text(cooling.best)}\nR² = {r2_text(cooling.best.r2)}"


def test_several_variables_stand_against_the_prediction(forces: Discovery) -> None:
    above, below = plot_fit(forces).axes
    fitted, held_out = above.collections
    assert [len(part.get_offsets()) for part in (fitted, held_out)] == [1200, 300]
    np.testing.assert_allclose(fitted.get_offsets()[:, 0], forces.best.predict(forces.train.columns))
    np.testing.assert_array_equal(held_out.get_offsets()[:, 1], forces.validation.y)
    colours = [part.get_facecolor()[0] for part in (fitted, held_out)]
    assert not np.allclose(*colours)
    (diagonal,) = above.lines
    assert np.array_equal(*diagonal.get_data())
    assert "held out" in above.get_title(loc="left")
    assert below.get_ylim()[0] == -below.get_ylim()[1]


def test_any_equation_of_the_front_and_one_alone(cooling: Discovery) -> None:
    title = plot_fit(cooling, 0).axes[0].get_title(loc="left")
    assert title.startswith(equation_text(cooling.equations[0]))
    assert plot_fit(cooling.equations[0]).axes[0].get_title(loc="left") == title
    assert plot_fit(cooling, titled=False).axes[0].get_title(loc="left") == ""
    with pytest.raises(IndexError):
        plot_fit(cooling, 999)


def test_many_rows_are_thinned_always_the_same_way() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, 20_000)
    data, held_out = read_data(x, x, names=["x"]), read_data(x[:5000], x[:5000], names=["x"])
    found = equation("x", data, held_out)
    once, again = ([np.asarray(part.get_offsets()) for part in plot_fit(found).axes[0].collections] for _ in range(2))
    assert [len(part) for part in once] == [4000, 1000]
    assert all(np.array_equal(one, other) for one, other in zip(once, again, strict=True))


@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("tan(x)", np.linspace(0, 9, 50)),  # poles
        ("1/x", np.linspace(-1, 1, 50)),
        ("log(x)", np.linspace(-1, 5, 30)),  # no value in some rows
        ("3*x^2", np.geomspace(1e-4, 1e5, 40)),
        ("1e+100*x", np.linspace(1e-9, 2e-9, 10)),
        ("x", np.array([1.0])),
        ("2", np.linspace(0, 1, 5)),
    ],
)
def test_odd_functions(text: str, x: np.ndarray) -> None:
    with np.errstate(all="ignore"):
        y = parse(text, variables=["x"])(x=x)
    y = np.where(np.isfinite(y), y, 0.0) * np.ones(len(x))
    figure = plot_fit(equation(text, Data(x[np.newaxis], y, None, ("x",))))
    figure.savefig(io.BytesIO())
    low, high = figure.axes[0].get_ylim()
    assert low < y.min() <= y.max() < high
    if text == "log(x)":
        assert "have no value" in figure.axes[0].get_title(loc="left")
    if text == "tan(x)":
        assert np.isnan(figure.axes[0].lines[0].get_ydata()).any()


def test_the_band_is_two_standard_deviations() -> None:
    x = np.linspace(0, 1, 30)
    found = equation("c*x + c", read_data(x, 2 * x + np.sin(50 * x), names=["x"]), constants=[2.0, 0.0])
    above = plot_fit(found).axes[0]
    outline = above.collections[1].get_paths()[0].vertices
    grid = np.asarray(above.lines[0].get_xdata())[np.newaxis]
    reach, curve = 2 * found.standard_deviations(grid), found.predict(grid)
    assert outline[:, 1].max() == pytest.approx((curve + reach).max())
    assert outline[:, 1].min() == pytest.approx((curve - reach).min())


def test_without_rows_to_tell_the_noise_there_is_no_band() -> None:
    x = np.array([1.0, 2.0])
    found = equation("c*x + c", read_data(x, np.array([1.0, 3.0]), names=["x"]), constants=[2.0, -1.0])
    labels = plot_fit(found).axes[0].get_legend_handles_labels()[1]
    assert labels == ["fitted rows", "equation"]


def test_far_apart_values_are_drawn_by_their_logarithms() -> None:
    x = np.geomspace(1e-3, 1e4, 50)
    above, below = plot_fit(equation("x^2", read_data(x, 1.1 * x**2, names=["x"]))).axes
    assert (above.get_xscale(), above.get_yscale(), below.get_yscale()) == ("log", "log", "linear")
    np.testing.assert_allclose(below.collections[0].get_offsets()[:, 1], 0.1)
    assert "predicted" in below.get_ylabel()


# -- files and words ------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_same_picture_is_the_same_file(suffix: str, forces: Discovery, tmp_path: Path) -> None:
    paths = [save(plot(forces), tmp_path / f"{k}{suffix}") for k, plot in enumerate([plot_front, plot_front])]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert save(plot_fit(forces), tmp_path / "fit" / f"fit{suffix}").stat().st_size > 1000


def test_a_name_without_an_end_is_a_png(cooling: Discovery, tmp_path: Path) -> None:
    path = save(plot_front(cooling), tmp_path / "front")
    assert path.name == "front.png"
    assert path.read_bytes().startswith(b"\x89PNG")


def test_what_cannot_be_written(cooling: Discovery, tmp_path: Path) -> None:
    with pytest.raises(EdhieError, match=r"cannot draw into .*front\.hat"):
        save(plot_front(cooling), tmp_path / "front.hat")


def test_neither_matplotlib_before_a_picture_nor_pyplot_after() -> None:
    code = """
import sys, edhie.plots, edhie.estimator
print('matplotlib' in sys.modules)
import numpy as np
from edhie.fit import Equation
from edhie.evaluate import read_data
from edhie.expr import parse
from edhie.results import Candidate
x = np.linspace(0, 1, 9)
edhie.plots.plot_fit(Equation('y', Candidate(parse('x'), 0.0, 1.0, 1), read_data(x, x, names=['x'])))
print('matplotlib.pyplot' in sys.modules)
"""
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\nFalse\n"


def test_words() -> None:
    assert r2_text(None) == ""
    assert r2_text(-3.25) == "−3.250"
    assert [r2_text(r2) for r2 in (0.5, 0.9985, 0.99985, 1 - 1e-5, -math.inf)] == [
        "0.500", "0.9985", "0.99985", "1 − 1e-05", "−∞",
    ]  # fmt: skip
    data = read_data([1.0, 2.0], [1.0, 2.0], names=["x"])
    long = equation(" + ".join(["x"] * 99), data)
    assert len(equation_text(long)) < 80
    assert equation_text(Equation("a\nb  " * 30, long.candidate, data)).startswith("a b a b")


def test_limits() -> None:
    assert padded(np.array([1.0, np.nan, 3.0]), share=0.5) == (0.0, 4.0)
    assert padded(np.array([np.nan])) == (0.0, 1.0)
    low, high = padded(np.array([5.0]))
    assert low < 5 < high
    assert not spans_decades(np.array([-1.0, 1e9]))
    assert spans_decades(np.array([1e-9, 1.0, np.nan]))
    assert FITTED != HELD_OUT
