import pytest

from edhie.generators.config import SCHEDULES


def test_the_printed_schedule_is_zero_to_machine_precision() -> None:
    assert max(SCHEDULES["printed"](i, 10_000, 1.0) for i in range(10_000)) == 0.0


def test_the_ramp_rises_and_then_stays() -> None:
    values = [SCHEDULES["ramp"](i, 10_000, 0.0045) for i in range(3000)]
    assert values == sorted(values)
    assert values[0] < 0.0002
    assert values[1800] == values[-1] == pytest.approx(0.0045)


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_schedule_stays_between_zero_and_its_top(name: str) -> None:
    values = [SCHEDULES[name](i, 500, 0.02) for i in range(500)]
    assert min(values) >= 0
    assert max(values) <= 0.02 + 1e-12


def test_those_that_rise_reach_the_top() -> None:
    for name in ("linear", "constant", "cyclical"):
        assert max(SCHEDULES[name](i, 500, 0.02) for i in range(500)) == pytest.approx(0.02, rel=0.02)
