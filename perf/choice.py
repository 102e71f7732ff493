"""How long the choice takes after a search: describing, refitting, rounding and rewriting the best equations; one core.

python perf/choice.py [--quick]

Every search has 60 s (--quick: 5 s). The choice is the time from the end of the search to the printed equation.
"""

from __future__ import annotations

import time

from report import Report, arguments, hold_one_core

hold_one_core()

import numpy as np  # noqa: E402 -- after the limits on threads

from edhie.bench.problem import chosen, load_problems  # noqa: E402
from edhie.evaluate import read_data  # noqa: E402
from edhie.events import Event, Finished  # noqa: E402
from edhie.fit import Settings, discover  # noqa: E402

SEED = 0
SECONDS, QUICK = 60.0, 5.0
PROBLEMS = ["I.6.2", "I.12.11", "I.24.6", "I.44.4", "II.6.15a", "III.10.19"]
NOISE, ROWS = 0.1, 1000  # standard deviation of the noise over that of the target
LIMIT = 2.0


def main() -> None:
    """Print the seconds that each choice took."""
    seconds = QUICK if arguments(__doc__).quick else SECONDS
    report, rows, took = Report("Choosing an equation after a search"), [], []
    for problem in chosen(load_problems("feynman120"), PROBLEMS):
        rng = np.random.default_rng([SEED, len(took)])
        X, y = (each[:ROWS] for each in problem.data("train", SEED))  # noqa: N806
        measured = y + NOISE * float(np.std(y)) * rng.standard_normal(len(y))
        ended = 0.0

        def listen(event: Event) -> None:
            nonlocal ended
            if isinstance(event, Finished):
                ended = time.perf_counter()

        settings = Settings(max_time=seconds, patience=None, seed=SEED)
        found = discover(read_data(X, measured), settings, on_event=listen)
        text = found.best.text()
        took.append(time.perf_counter() - ended)
        counts = f"{found.result.counts.executed:,}"
        rows.append([problem.id, f"{X.shape[0]:,} × {X.shape[1]}", counts, f"{took[-1]:.2f}", text])
    report.table(
        f"After {seconds:g} s, noise of {NOISE:.0%}",
        ["problem", "table", "expressions", "choice in s", "equation"],
        rows,
    )
    report.row("longest choice", f"{max(took):.2f} s", f"at most {LIMIT:g} s is the goal")
    report.figure("choice_seconds", max(took))
    report.close()


if __name__ == "__main__":
    main()
