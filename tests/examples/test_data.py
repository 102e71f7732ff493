"""The data of the examples are what they are said to be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

DATA = Path(__file__).parents[2] / "examples" / "data"
HYDROGEN = 10_967_758.3  # Rydberg's constant for hydrogen, per metre


def refraction(vacuum: np.ndarray) -> np.ndarray:
    """The refractive index of air at a wavelength in nm, by Edlén's formula of 1966."""
    wave_number = np.square(1000 / vacuum)
    return 1 + 1e-8 * (8342.13 + 2_406_030 / (130 - wave_number) + 15_997 / (38.9 - wave_number))


def test_lines_of_hydrogen_are_right_to_their_last_digit() -> None:
    lines = pd.read_csv(DATA / "hydrogen.csv")
    vacuum = 1e9 / HYDROGEN / (1 / lines["lower"] ** 2 - 1 / lines["upper"] ** 2)
    expected = np.where(vacuum < 200, vacuum, vacuum / refraction(vacuum))
    unit = np.where(lines["lower"] <= 2, 0.01, 0.1)
    assert (np.abs(lines["wavelength"] - expected) <= unit).all()
    assert not lines.duplicated(["lower", "upper"]).any()
