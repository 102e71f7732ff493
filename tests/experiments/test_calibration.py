"""The reliability diagram counts equations by their weight."""

from __future__ import annotations

import pytest

from calibration import by_weight


def test_equations_are_counted_by_weight() -> None:
    rows = [{"weight": weight, "found": found} for weight, found in (("0.1", "no"), ("0.7", "yes"), ("0.75", "no"))]
    rows += [{"weight": "1.0", "found": "yes"}]
    found = by_weight(rows)
    assert [n for _, _, n in found] == [1, 2, 1]
    assert [share for _, share, _ in found] == pytest.approx([0.0, 0.5, 1.0])
    assert [mean for mean, _, _ in found] == pytest.approx([0.1, 0.725, 1.0])
