"""What constraints say of a forest is what they say of each expression, node by node; what they cannot mean is told."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie import Constraints
from edhie.errors import EdhieError, SymbolError
from edhie.evaluate import Evaluator
from edhie.evaluate.constraints import Rules
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.expr.symbols import OPERATORS
from strategies import any_library, forests

LIBRARY = SymbolLibrary.of(["+", "-", "*", "/", "^2", "sin", "cos", "exp", "log", "neg"], 2, constant=True)
X = np.random.default_rng(0).uniform(0.5, 3, (40, 2))
Y = X[:, 0] * np.sin(X[:, 1])


def forest_of(*texts: str, library: SymbolLibrary = LIBRARY) -> Forest:
    return Forest.from_exprs([parse(text, library) for text in texts], library)


def functions(library: SymbolLibrary) -> set[str]:
    return {s.name for s in library.symbols if s.arity == 1 and s.style == "function"}


def meant(names: Sequence[str], library: SymbolLibrary) -> set[str]:
    return {name for each in names for name in (functions(library) if each == "*" else {each})}


def is_allowed_as_part(expr: Expr, constraints: Constraints) -> bool:
    """The same by walking over one tree."""
    if constraints.max_size is not None and expr.size > constraints.max_size:
        return False
    for position, _, symbol in expr.walk():
        within = [child.tokens for child in expr.subtree(position).children]
        inside = {token for tokens in within for token in tokens}
        for key, banned in constraints.nested.items():
            if symbol.name in meant([key], expr.library) and inside & meant(banned, expr.library):
                return False
        for key, wanted in constraints.only_on.items():
            if symbol.name in meant([key], expr.library) and inside & set(expr.library.variables) - set(wanted):
                return False
    return True


def is_allowed(expr: Expr, constraints: Constraints) -> bool:
    has_all = not constraints.all_variables or set(expr.variables) == set(expr.library.variables)
    asked = constraints.forbidden
    return is_allowed_as_part(expr, constraints) and has_all and not (asked is not None and asked(expr.free()))


@st.composite
def constraints_over(draw: st.DrawFn, library: SymbolLibrary) -> Constraints:
    own = [s.name for s in library.symbols if s.kind == "operator"]
    names = st.sampled_from([*own, *OPERATORS, "*"])
    listed = st.lists(names, max_size=3)
    n = len(library.variables)
    all_variables = draw(st.booleans())
    return Constraints(
        max_size=draw(st.none() | st.integers(2 * n - 1 if all_variables else 1, 15)),
        nested=draw(st.dictionaries(names.filter(lambda name: name not in library.variables), listed, max_size=3)),
        only_on=draw(st.dictionaries(names, st.lists(st.sampled_from(library.variables), max_size=2), max_size=2)),
        all_variables=all_variables,
        forbidden=draw(st.sampled_from([None, None, lambda expr: expr.size % 3 == 0])),
    )


@given(st.data())
def test_a_forest_is_held_against_them_as_each_of_its_trees(data: st.DataObject) -> None:
    library = data.draw(any_library.filter(lambda each: not set(OPERATORS) & set(each.variables)))
    constraints, forest = data.draw(constraints_over(library)), data.draw(forests(library))
    rules = Rules(constraints, library)
    assert rules.allowed(forest).tolist() == [is_allowed(expr, constraints) for expr in forest]
    assert rules.allowed_as_part(forest).tolist() == [is_allowed_as_part(expr, constraints) for expr in forest]


@given(st.data())
def test_what_is_no_part_is_in_nothing_larger(data: st.DataObject) -> None:
    constraints = data.draw(constraints_over(LIBRARY))
    forest = data.draw(forests(LIBRARY))
    rules = Rules(constraints, LIBRARY)
    for expr, is_part in zip(forest, rules.allowed_as_part(forest), strict=True):
        parts = Forest.from_exprs([expr.subtree(k) for k in range(expr.size)], LIBRARY)
        assert not is_part or rules.allowed_as_part(parts).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nested": {"sinn": ["cos"]}}, "unknown operator 'sinn' in nested of the constraints; did you mean 'sin'"),
        ({"nested": {"sin": ["coss"]}}, "unknown operator 'coss'"),
        ({"nested": {"sin": ["x0"]}}, "unknown operator 'x0'"),
        ({"only_on": {"log": ["x1_"]}}, "unknown variable 'x1_' in only_on of the constraints; did you mean 'x1'"),
        ({"only_on": {"log": ["speed"]}}, "there are x0, x1"),
        ({"only_on": {"lg": ["x0"]}}, "unknown operator 'lg' in only_on"),
        ({"nested": {"sin": "cos"}}, "give a list of names"),
        ({"nested": ["sin"]}, "nested is a table of lists by operator"),
        ({"max_size": 0}, "max_size must be a whole number"),
        ({"max_size": 2, "all_variables": True}, "no equation of 2 nodes has all 2 variables"),
        ({"all_variables": 3}, "all_variables is True or False"),
        ({"forbidden": 3}, "forbidden is a function"),
    ],
)
def test_what_they_cannot_mean_is_told(options: dict[str, object], message: str) -> None:
    with pytest.raises((SymbolError, EdhieError), match=message):
        Rules(Constraints(**options), LIBRARY)  # type: ignore[arg-type]


def test_a_known_operator_that_the_library_lacks_is_no_fault() -> None:
    constraints = Constraints(nested={"tanh": ["sinh"], "ln": ["sqrt", "ln"]})
    assert constraints.allowed(forest_of("x0", "log(log(x0))")).tolist() == [True, False]


def test_they_can_be_kept_and_compared() -> None:
    some = Constraints(3, {"sin": ["cos"]}, {"log": ["x0"]}, True)
    assert pickle.loads(pickle.dumps(some)) == some
    assert some != Constraints(3, {"sin": ["sin"]}, {"log": ["x0"]}, True)
    assert some.renamed({"x0": "t"}).only_on == {"log": ("t",)}


def test_a_function_is_asked_last_and_of_each_tree_once() -> None:
    asked: list[str] = []

    def forbidden(expr: Expr) -> bool:
        asked.append(str(expr))
        return "exp" in expr.tokens

    used = Evaluator(LIBRARY, X, Y, constraints=Constraints(max_size=4, forbidden=forbidden))
    for _ in range(2):
        scores = used.score(forest_of("exp(x0)", "c*x0", "x0 + x1 + x0 + x1", "c*x0"))
    assert asked == ["exp(x0)", "c*x0"]
    assert np.isfinite(scores.errors).tolist() == [False, True, False, True]


# -- the evaluator --------------------------------------------------------------------


def test_a_writing_is_judged_by_itself_and_not_by_its_form() -> None:
    long, short = "x0*sin(x1) + (x1 - x1)", "x0*sin(x1)"
    for constraints, good, bad in (
        (Constraints(max_size=4), short, long),
        (Constraints(forbidden=lambda expr: expr.size == 4), long, short),
    ):
        for order in ([good, bad], [bad, good]):
            used = Evaluator(LIBRARY, X, Y, constraints=constraints)
            for text in order:
                error = used.score(forest_of(text)).errors[0]
                assert (error < 1e-12) if text == good else error == np.inf
            together = used.score(forest_of(*order))
            assert [str(e) for e in together.forest] == order
            assert np.isfinite(together.errors).tolist() == [text == good for text in order]
            assert [str(e) for e in used.explored.forest] == [good]
            counts = used.counts
            assert (counts.asked, counts.executed, counts.forbidden) == (4, 1, 2)


def test_the_forbidden_take_nothing_of_the_budget() -> None:
    used = Evaluator(LIBRARY, X, Y, constraints=Constraints(nested={"*": ["*"]}), budget=1)
    scores = used.score(forest_of("sin(cos(x0))", "exp(sin(x0))", "x0 + x1", "x0*x1"))
    assert np.isfinite(scores.errors).tolist() == [False, False, True, False]
    assert scores.is_scored.tolist() == [False, False, True, False]
    assert scores.forms[:2].tolist() == [0, 0]
    assert scores.complexities.tolist() == [3, 3, 3, 3]
    assert len(used.unseen(forest_of("sin(cos(x1))", "sin(x1)"))) == 1


@given(st.data())
def test_what_is_allowed_scores_as_without_the_others(data: st.DataObject) -> None:
    constraints, forest = data.draw(constraints_over(LIBRARY)), data.draw(forests(LIBRARY))
    used = Evaluator(LIBRARY, X, Y, constraints=constraints)
    is_fine = used.score(forest).errors
    allowed = constraints.allowed(forest)
    alone = Evaluator(LIBRARY, X, Y).score(forest.take(allowed))
    np.testing.assert_array_equal(is_fine[allowed], alone.errors)
    assert (is_fine[~allowed] == np.inf).all()
    assert constraints.allowed(used.explored.forest).all()


def test_settings_tell_them_and_are_as_before_without() -> None:
    assert "constraints" not in Evaluator(LIBRARY, X, Y).settings()
    told = Evaluator(LIBRARY, X, Y, constraints=Constraints(7, forbidden=is_large)).settings()["constraints"]
    assert told["max_size"] == 7
    assert told["forbidden"].endswith("is_large")


def is_large(expr: Expr) -> bool:
    return expr.size > 5


def test_a_state_with_them_goes_on() -> None:
    first, second = (Evaluator(LIBRARY, X, Y, constraints=Constraints(max_size=3)) for _ in range(2))
    first.score(forest_of("x0 + x1", "x0 + x1 + x0"))
    second.restore(first.state())
    assert second.counts == first.counts
