"""The first minute: seconds to the first result of a search and to the end of a fit, with and without compiled code.

python perf/start.py [--quick]

Every fit is a process of its own with max_time=5 on 200 rows and 3 columns, on two cores. "Cold" begins with an empty
cache of compiled code, "warm" with that of the fit before it; of three cold fits the one with the median time is
reported. `edhie warm` begins with an empty cache too. --quick leaves it out, and has one cold fit.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from typing import Any

from report import Report, arguments

CORES = 2
COLD_FITS = 3
MOST = 35.0
FIT = """
import json, time
import numpy as np
from numba.core import event
from edhie.evaluate import read_data
from edhie.events import Improved
from edhie.fit import Settings, discover

rng = np.random.default_rng(0)
X = rng.uniform(0.5, 3, (200, 3))
y = X[:, 2] ** 2 + X[:, 0] * np.exp(-0.5 * X[:, 1]) + 0.01 * rng.normal(size=200)
first = []
def note(happened):
    if isinstance(happened, Improved):
        first.append(time.time())
with event.install_recorder("numba:compile") as compiled:
    discover(read_data(X, y), Settings(max_time=5), on_event=note)
print(json.dumps({"first": first[0], "end": time.time(), "compiled": len(compiled.buffer) // 2}))
"""


def main() -> None:
    """Measure fits in processes of their own."""
    given = arguments(__doc__ or "")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:CORES]))
    report = Report("The first minute, in seconds, on two cores")
    cold: list[dict[str, Any]] = []
    warm: dict[str, Any] = {}
    for _ in range(1 if given.quick else COLD_FITS):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(measured(cache))
            warm = warm or measured(cache)
    cold.sort(key=lambda each: each["end"])
    ends = ", ".join(f"{each['end']:.1f}" for each in cold)
    tell(report, "cold", cold[len(cold) // 2], f"; all: {ends}; the goal is {MOST:g}")
    tell(report, "warm", warm)
    if not given.quick:
        with tempfile.TemporaryDirectory() as cache:
            seconds, processor, _ = timed([sys.executable, "-m", "edhie", "warm"], cache)
            report.row("edhie warm", f"{seconds:.1f}", f"{processor:.0f} s of processor time")
            report.figure("edhie_warm", seconds)
            tell(report, "after_edhie_warm", measured(cache))
    report.close()


def measured(cache: str) -> dict[str, Any]:
    """Return the seconds of a fit to its first result and its end, its processor time, and what it compiled."""
    began = time.time()
    _, processor, said = timed([sys.executable, "-c", FIT], cache)
    found = json.loads(said)
    return found | {"first": found["first"] - began, "end": found["end"] - began, "processor": processor}


def tell(report: Report, name: str, found: dict[str, Any], remark: str = "") -> None:
    """Report the times of one fit."""
    spelled = name.replace("_", " ").replace("edhie warm", "`edhie warm`")
    report.row(f"{spelled}: first result", f"{found['first']:.1f}")
    report.row(
        f"{spelled}: end of the fit", f"{found['end']:.1f}", f"{found['processor']:.0f} s of processor time{remark}"
    )
    report.row(f"{spelled}: compiled by the fit itself", f"{found['compiled']}")
    for figure in ("first", "end", "compiled"):
        report.figure(f"{name}_{figure}", found[figure])


def timed(command: list[str], cache: str) -> tuple[float, float, str]:
    """Run a command with a cache folder; return its seconds, its processor time with its children, and its output."""
    environment = os.environ | {"XDG_CACHE_HOME": cache}
    environment.pop("NUMBA_CACHE_DIR", None)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True)
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, done.stdout


if __name__ == "__main__":
    main()
