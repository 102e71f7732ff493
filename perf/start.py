"""The first minute: seconds to the first result of a search and to the end of a fit, with and without compiled code.

python perf/start.py [--quick]

Every fit is a process of its own with max_time=5 on 200 rows and 3 columns, on two cores. "Cold" begins with an empty
cache of compiled code, "warm" with that of the fit before it. `edhie warm` begins with an empty cache too. --quick
leaves it out.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

from report import Report, arguments

CORES = 2
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
    with tempfile.TemporaryDirectory() as cache:
        for name in ("cold", "warm"):
            measure(report, name, cache)
    if not given.quick:
        with tempfile.TemporaryDirectory() as cache:
            seconds, processor, _ = timed([sys.executable, "-m", "edhie", "warm"], cache)
            report.row("edhie warm", f"{seconds:.1f}", f"{processor:.0f} s of processor time")
            report.figure("edhie_warm", seconds)
            measure(report, "after_edhie_warm", cache)
    report.close()


def measure(report: Report, name: str, cache: str) -> None:
    """Report the times of one fit."""
    began = time.time()
    _, processor, said = timed([sys.executable, "-c", FIT], cache)
    found = json.loads(said)
    spelled = name.replace("_", " ").replace("edhie warm", "`edhie warm`")
    wanted = f"; the goal is {MOST:g}" if name == "cold" else ""
    report.row(f"{spelled}: first result", f"{found['first'] - began:.1f}")
    report.row(
        f"{spelled}: end of the fit", f"{found['end'] - began:.1f}", f"{processor:.0f} s of processor time{wanted}"
    )
    report.row(f"{spelled}: compiled by the fit itself", f"{found['compiled']}")
    report.figure(f"{name}_first", found["first"] - began)
    report.figure(f"{name}_end", found["end"] - began)
    report.figure(f"{name}_compiled", found["compiled"])


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
