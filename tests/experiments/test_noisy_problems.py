"""Problems under noise: halves, noise that follows from a name and a seed, and tables of several versions."""

from __future__ import annotations

import numpy as np
import pytest

import feynman_noise
import more_time
import pure_noise
import textbook
from classics import CLASSICS, SPACINGS


@pytest.mark.parametrize(("names", "count"), [(textbook.problem_names, 20), (feynman_noise.problem_names, 120)])
def test_problems_are_in_two_equal_halves(names: object, count: int) -> None:
    assert callable(names)
    assert len(names("develop")) == len(names("report")) == count // 2
    assert sorted([*names("develop"), *names("report")]) == sorted(names(None))


def test_more_time_takes_as_many_of_either_half() -> None:
    for half in ("develop", "report"):
        names = more_time.problem_names("feynman", half)
        assert len(names) == 10
        assert set(names) <= set(feynman_noise.problem_names(half))


def test_noise_is_a_share_of_the_root_mean_square() -> None:
    y = np.full(20_000, 3.0)
    noise = feynman_noise.with_noise(y, "I.6.2", 0.1, 0) - y
    assert np.std(noise) == pytest.approx(0.3, rel=0.02)
    np.testing.assert_allclose(feynman_noise.with_noise(y, "I.6.2", 0.01, 0) - y, noise / 10)
    assert not np.allclose(feynman_noise.with_noise(y, "I.6.2", 0.1, 1) - y, noise)


def test_tables_of_noise_are_within_their_limits() -> None:
    for number in range(pure_noise.TABLES):
        X, y, _ = pure_noise.noise_table(number)  # noqa: N806
        assert 10 <= len(y) == len(X) <= 200
        assert 1 <= X.shape[1] <= 5
        assert np.isfinite(X).all()
        assert np.std(y) > 0


def test_tables_of_versions_count_the_runs_that_both_have() -> None:
    def row(version: str, seed: int, found: str) -> dict[str, str]:
        return {
            "version": version, "problem": "rate", "rows": "20", "noise": "0.05", "seed": str(seed),
            "found": found, "listed": "yes", "formula": "exp(x)",
        }  # fmt: skip

    page = textbook.summary([row("before", 0, "no"), row("before", 1, "no"), row("after", 0, "yes")])
    assert "| 20 | 5% | 0 of 1 | 1 of 1 | 1 of 1 | 1 of 1 |" in page


def test_versions_are_compared_on_the_runs_that_both_have() -> None:
    common = {"problem": "I.6.2", "noise": "0.1", "lost": ""}
    rows = [
        common | {"version": version, "seed": str(seed), "right": right, "on_front": right}
        for version, right in (("now", "yes"), ("before", "no"))
        for seed in range(5)
    ]
    assert "| 0.1 | before | 0 of 5 (p = 0.062) | 0 of 5 |" in feynman_noise.summary(rows)


def test_tables_by_noise_say_where_forms_are_lost() -> None:
    common = {"version": "now", "problem": "I.6.2", "noise": "0.1"}
    rows = [
        common | {"seed": "0", "right": "yes", "on_front": "yes", "lost": ""},
        common | {"seed": "1", "right": "no", "on_front": "no", "lost": "never built"},
    ]
    assert "| 0.1 | now | 1 of 2 | 1 of 2 | 0 | 0 | 1 |" in feynman_noise.summary(rows)


def test_shares_of_constants_and_of_time() -> None:
    rows = [
        {"version": "now", "table": "0", "rows": "10", "columns": "1", "target": "normal", "constant": "yes"},
        {"version": "now", "table": "1", "rows": "50", "columns": "2", "target": "normal", "constant": "no"},
    ]
    assert "| all | 1 of 2 |" in pure_noise.summary(rows)
    row = {"version": "now", "kind": "measurements", "problem": "ENSO", "time": "5", "ratio": "1.25", "right": ""}
    assert "| now | 5 | 1.25 | 0 of 0 | 0 of 0 |" in more_time.summary([row])


@pytest.mark.parametrize("name", CLASSICS)
def test_classics_follow_from_seed_and_spacing(name: str) -> None:
    even, random = (CLASSICS[name](0, spacing) for spacing in SPACINGS)
    assert np.isfinite(even.y).all()
    assert even.X.shape == (len(even.y), 1)
    assert even.y.tolist() == CLASSICS[name](0, "even").y.tolist()
    if name != "planets":
        assert even.y.tolist() != CLASSICS[name](1, "even").y.tolist()
        assert even.x.tolist() != random.x.tolist()
