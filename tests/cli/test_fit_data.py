"""The data of a fit: what a file says of them beyond the numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from edhie.cli.fit_data import read_measured


@pytest.mark.parametrize(
    ("cells", "step"),
    [
        (["1.5", "2.25", "3.125"], 0.001),
        (["1.50", "2.00", "3.50"], 0.01),  # zeros at the end count
        (["1,50", "2,00", "3,50"], 0.01),
        (["1500", "2000", "3500"], 1.0),
        (["0.333333333333333314", "0.5", "0.25"], 0.0),
    ],
)
def test_the_resolution_of_the_target(cells: list[str], step: float, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("x;y\n" + "".join(f"{k};{cell}\n" for k, cell in enumerate(cells)))
    measured = read_measured(path, "y", "", validation=path)
    assert measured.validation is not None
    assert (measured.train.step, measured.validation.step) == (step, step)
