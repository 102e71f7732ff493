"""States of searches as arrays: what is written is read again, and what does not fit is refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from edhie.errors import SearchError
from edhie.expr import Forest, parse
from edhie.search import Tally
from edhie.search.arrays import Kept, read, written

FOREST = Forest.from_exprs([parse("x0*exp(c*x1)")])


@dataclass
class Inner(Kept):
    """An object with a state of its own: its other fields are none of it."""

    KEPT = ("_seen", "rate")

    rate: float = 1.0
    task: object = Tally
    _seen: set[int] = field(default_factory=set)


class Outer(Kept):
    """An object with values of every kind."""

    KEPT = ("name", "is_over", "best_at", "formula", "forest", "codes", "table", "tally", "_inner")

    def __init__(self) -> None:
        self.name, self.is_over, self.best_at = "", False, None
        self.formula, self.forest, self.codes = parse("c*x0"), FOREST[:0], np.zeros((0, 2))
        self.table, self.tally, self._inner = {"weights": np.zeros(3)}, Tally(), Inner()


def test_an_object_is_restored_from_its_state() -> None:
    given: Any = Outer()
    given.name, given.is_over, given.best_at = "late", True, 7
    given.formula, given.forest, given.codes = parse("c*x0").with_constants([2.5]), FOREST, np.ones((4, 2))
    given.table, given.tally = {"weights": np.arange(3.0)}, Tally(refits=5)
    given._inner._seen, given._inner.rate = {3, 1 << 63}, np.inf
    again: Any = Outer()
    again.restore(given.state())
    assert (again.name, again.is_over, again.best_at) == ("late", True, 7)
    assert (str(again.formula), str(again.forest), again.tally) == (str(given.formula), str(FOREST), given.tally)
    assert (again._inner._seen, again._inner.rate) == ({3, 1 << 63}, np.inf)
    np.testing.assert_array_equal(again.codes, given.codes)
    np.testing.assert_array_equal(again.table["weights"], given.table["weights"])
    assert again.state().keys() == given.state().keys()


@pytest.mark.parametrize("array", [np.zeros((4, 3)), np.zeros(4)])
def test_arrays_of_another_shape_are_refused(array: Any) -> None:
    state = Outer().state()
    with pytest.raises(SearchError, match="codes has shape"):
        Outer().restore({**state, "codes": array})
    with pytest.raises(SearchError, match="weights has shape"):
        read({"weights": np.zeros(3)}, "table", written({"table": {"weights": np.zeros(4)}}))
