"""Runs and tables that tests of the studio share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx")

from edhie.fit import Settings, discover, read_file
from edhie.fit.revision import revise
from edhie.fit.run_folder import save, save_revision
from revisions import SCENARIOS
from serving import Client, serving


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a fit and a revision, as the command line makes them."""
    folder = tmp_path_factory.mktemp("studio")
    rng = np.random.default_rng(0)
    rows = rng.uniform(0.5, 4.0, (60, 2))
    y = 2 * rows[:, 0] * np.exp(-0.5 * rows[:, 1]) + 0.01 * rng.standard_normal(60)
    table = folder / "decay.csv"
    np.savetxt(table, np.column_stack([rows, y]), delimiter=",", header="x,dose (mg),y", comments="")
    found = discover(read_file(table, "y").problem, Settings(max_evaluations=400, max_time=None))
    save(found, folder / "Fit <b>one")
    scenario = SCENARIOS["an offset"]
    settings = Settings(max_evaluations=300, max_time=None)
    save_revision(revise(scenario.formula, scenario.data(), settings), folder / "revision")
    return folder


@pytest.fixture(scope="session")
def client(runs: Path) -> Iterator[Client]:
    """A client of a studio with these runs."""
    with serving(runs) as found:
        yield found
