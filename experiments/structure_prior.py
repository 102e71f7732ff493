"""Learn the structure prior and compare models of the structure of formulas on fields that they have not seen.

python experiments/structure_prior.py ship      # write the tables that come with edhie
"""

from __future__ import annotations

import sys
from pathlib import Path

import edhie.results
from edhie.corpora import formulas
from edhie.results.structure_prior import SHIPPED, StructurePrior


def ship() -> None:
    """Write the tables that `StructurePrior.shipped` reads."""
    path = Path(edhie.results.__file__).with_name(SHIPPED)
    path.write_text(StructurePrior.learnt([formulas().forest]).as_json(), encoding="utf-8")
    print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__" and sys.argv[1:] == ["ship"]:
    ship()
