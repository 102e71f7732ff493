"""A revision that was saved is the same when it is read back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edhie.errors import SearchError
from edhie.fit import Settings
from edhie.fit.revision import revise
from edhie.fit.run_folder import REVISION as DESCRIPTION
from edhie.fit.run_folder import load_revision as load
from edhie.fit.run_folder import save_revision as save
from revisions import SCENARIOS


def test_a_saved_revision_reads_back(tmp_path: Path) -> None:
    scenario = SCENARIOS["an offset"]
    found = revise(scenario.formula, scenario.data(), Settings(max_evaluations=300, max_time=None))
    again = load(save(found, tmp_path))
    assert again.as_json() == found.as_json()
    assert (str(again), again.columns, str(again.original)) == (str(found), found.columns, str(found.original))
    for one, other in zip(found.steps, again.steps, strict=True):
        assert str(one.changes) == str(other.changes)
        assert np.array_equal(one.equation.train.y, other.equation.train.y)
        assert one.equation.latex() == other.equation.latex()
    (tmp_path / DESCRIPTION).write_text("{}")
    with pytest.raises(SearchError, match=DESCRIPTION):
        load(tmp_path)
