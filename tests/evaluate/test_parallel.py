"""Laws of the threads of a search."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from edhie.errors import EdhieError
from edhie.evaluate.parallel import core_count, parallel_for, parallel_map, thread_count, using_threads


@pytest.mark.parametrize("threads", [1, 2, 3, None])
def test_results_come_in_order_and_every_part_once(threads: int | None) -> None:
    with using_threads(threads):
        assert parallel_map(lambda k: k * k, range(100)) == [k * k for k in range(100)]
        counts = np.zeros(1000, np.int64)

        def work(start: int, end: int) -> None:
            counts[start:end] += 1

        parallel_for(work, len(counts))
    assert (counts == 1).all()


def test_the_count_holds_inside_of_the_context_alone_and_loops_do_not_nest() -> None:
    assert thread_count() == 1
    with using_threads(None):
        assert thread_count() == core_count()
    with using_threads(2):
        assert thread_count() == 2
        assert parallel_map(lambda _: thread_count(), range(4)) == [1] * 4
    assert thread_count() == 1
    with pytest.raises(EdhieError, match="at least 1, not 0"), using_threads(0):
        pass


def test_threads_have_the_context_of_their_caller() -> None:
    with using_threads(2), np.errstate(divide="raise"):
        assert {each["divide"] for each in parallel_map(lambda _: np.geterr(), range(4))} == {"raise"}


def test_an_error_is_raised_once_nothing_runs_any_more() -> None:
    running = threading.Semaphore(0)

    def work(k: int) -> None:
        if k == 0:
            raise ValueError("first")
        time.sleep(0.01)
        running.release()

    with using_threads(2), pytest.raises(ValueError, match="first"):
        parallel_map(work, range(20))
    before = running._value
    time.sleep(0.05)
    assert running._value == before
