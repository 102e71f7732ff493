"""Read a million malformed inputs of every kind that edhie reads.

python tests/fuzz/run.py [--thousands 1000] [--minutes 3] [--kind NAME] [--input NUMBER] [--out FILE]

Each input must be read, or refused by one of edhie's errors, within a second of processor time and 1 GiB of memory,
without running anything. Inputs are read by child processes with a limit on memory and a guard against forbidden acts
(`guard.py`). A child that dies is a crash of the input that it was reading, and the next one begins after it. Progress
is kept in out/fuzz, so that the same command resumes until all is read or the code is another; inputs depend on their
kind and number only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import mmap
import multiprocessing
import platform
import resource
import signal
import struct
import sys
import time
import traceback
from collections import Counter
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from fuzz import folders, formulas, grammars, problems, tables  # noqa: E402 -- the path comes first
from fuzz.guard import Guard  # noqa: E402
from fuzz.kind import Kind, temporary  # noqa: E402

DEADLINE = 1.0  # seconds of processor time for one input
KILLED_AFTER = 20.0  # seconds of processor time, where an input does not end
MEMORY = 1 << 30  # bytes beyond those of a process that has read a few inputs
WARM_UP = 300  # inputs that are read first: they compile and import what is needed
CHUNK = 20_000  # inputs of a child
SHOWN = 200  # characters of an input in the report
KINDS = {kind.name: kind for module in (formulas, grammars, tables, problems, folders) for kind in module.KINDS}
STATE = ROOT / "out" / "fuzz" / "state.json"


def read_chunk(
    kind: Kind, start: int, end: int, until: float, warm_up: int, progress: mmap.mmap, found: SimpleQueue[Any]
) -> None:
    """Read inputs from `start` to `end` in this process; the number under way is kept in `progress`."""
    counts: Counter[str] = Counter()
    faults, slowest = [], (0.0, -1)
    with temporary() as made:
        place = Path(made)
        kind.warm_up(place)
        for number in range(warm_up):  # of other numbers than those that count
            kind.outcome(-1 - number, place)
        guard = Guard(place)
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (_virtual_size() + MEMORY, hard))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began, number = time.process_time(), start
        for number in range(start, end):
            struct.pack_into("q", progress, 0, number)
            signal.setitimer(signal.ITIMER_PROF, KILLED_AFTER)  # it kills the process
            outcome = kind.outcome(number, place, guard)
            counts[outcome.verdict] += 1
            slowest = max(slowest, (outcome.seconds, number))
            if outcome.verdict == "crashed":
                last = traceback.extract_tb(outcome.error.__traceback__)[-1]
                where = f"{Path(last.filename).name}:{last.lineno}"
                faults.append((number, f"{type(outcome.error).__name__} in {where}: {str(outcome.error)[:SHOWN]}"))
            elif outcome.seconds > DEADLINE:
                counts["slow"] += 1
                faults.append((number, f"{outcome.seconds:.1f} s"))
            if time.monotonic() > until:
                break
        signal.setitimer(signal.ITIMER_PROF, 0)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    seconds = time.process_time() - began
    found.put((number + 1, dict(counts), faults, slowest, grown, seconds))


def _virtual_size() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def read_kind(kind: Kind, state: dict[str, Any], end: int, until: float, warm_up: int = WARM_UP) -> None:
    """Read inputs of a kind by children until all are read or the time is over."""
    context = multiprocessing.get_context("fork")
    while state["next"] < end and time.monotonic() < until:
        progress, found = mmap.mmap(-1, 8), context.SimpleQueue()
        struct.pack_into("q", progress, 0, -1)
        last = min(end, state["next"] + CHUNK)
        child = context.Process(target=read_chunk, args=(kind, state["next"], last, until, warm_up, progress, found))
        child.start()
        child.join()
        if not found.empty():
            state["next"], counts, faults, slowest, grown, seconds = found.get()
            for verdict, count in counts.items():
                state[verdict] = state.get(verdict, 0) + count
            state["faults"] = state.get("faults", []) + faults
            state["slowest"] = max(tuple(state.get("slowest", (0.0, -1))), slowest)
            state["memory"] = max(state.get("memory", 0.0), grown)
            state["seconds"] = state.get("seconds", 0.0) + seconds
        else:  # what it had counted is read again, except for the input that killed it
            number = struct.unpack_from("q", progress, 0)[0]
            if number < 0:
                raise SystemExit(f"{kind.name}: the child ended with {child.exitcode} before its first input")
            is_hang = child.exitcode == -signal.SIGPROF
            fault = f"no end within {KILLED_AFTER} s" if is_hang else f"the process ended with {child.exitcode}"
            skip(kind, state, number, fault, until, warm_up)


def skip(kind: Kind, state: dict[str, Any], number: int, fault: str, until: float, warm_up: int) -> None:
    """Count the inputs before one that killed the process, which is left out."""
    if number > state["next"]:
        read_kind(kind, state, number, until, warm_up)
    if state["next"] == number:
        state["next"] = number + 1
        state["crashed"] = state.get("crashed", 0) + 1
        state["faults"] = [*state.get("faults", []), (number, fault)]


def table(states: dict[str, Any]) -> str:
    """Return the report."""
    head = "| kind | inputs | accepted | refused | crashes | above 1 s | slowest, s | memory, MB | inputs/s |"
    lines = [head, "|---" + "|---:" * 8 + "|"]
    total: Counter[str] = Counter()
    for name, each in states.items():
        inputs = sum(each.get(verdict, 0) for verdict in ("accepted", "refused", "crashed"))
        cells = [inputs, *(each.get(key, 0) for key in ("accepted", "refused", "crashed", "slow"))]
        total.update(dict(zip(("inputs", "accepted", "refused", "crashed", "slow"), cells, strict=True)))
        rate = inputs / max(each.get("seconds", 0.0), 1e-9)
        shown = " | ".join(f"{cell:,}" for cell in cells)
        slowest, memory = each.get("slowest", (0.0,))[0], each.get("memory", 0.0)
        lines.append(f"| {name} | {shown} | {slowest:.2f} | {memory:.0f} | {rate:,.0f} |")
    lines.append("| **all** | " + " | ".join(f"{count:,}" for count in total.values()) + " | | | |")
    numbers: dict[str, list[int]] = {}
    for name, each in states.items():
        for number, fault in each.get("faults", []):
            numbers.setdefault(f"{name}: {fault}", []).append(number)
    faults = [f"- {fault} ({len(found)} inputs, such as {found[0]})" for fault, found in numbers.items()]
    return "\n".join([*lines, "", *faults, ""] if faults else [*lines, ""])


def report(states: dict[str, Any]) -> str:
    """Return the page with its introduction."""
    return (
        "# Malformed inputs\n\n"
        "`make fuzz` (`tests/fuzz/run.py`): valid seeds, changed at random, each read as the commands read it. An\n"
        "input is accepted or refused by one of edhie's errors; anything else is a crash, and so is an attempt to run\n"
        "code, to start a program, to open a socket or to write elsewhere. Times are of the processor, memory is what\n"
        f"a process of up to {CHUNK:,} inputs took beyond its start, of {MEMORY >> 20} MB allowed.\n\n"
        f"{table(states)}\nPython {platform.python_version()}, {platform.machine()}.\n"
    )


def digest_of_code() -> str:
    """Return a digest of what is tested, and of the tests."""
    files = sorted([*(ROOT / "src").rglob("*.py"), *Path(__file__).parent.glob("*.py")])
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def show(kind: Kind, number: int) -> None:
    """Print one input and what becomes of it."""
    made, _ = kind.input(number)
    print(f"{made!r:.3000}")
    with temporary() as place:
        outcome = kind.outcome(number, Path(place))
    print(outcome.verdict, f"{outcome.seconds:.2f} s")
    if outcome.error is not None:
        traceback.print_exception(outcome.error)


def main() -> None:
    """Read inputs, and print the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--thousands", type=float, default=1000.0, help="inputs of all kinds")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so long; the same command resumes")
    parser.add_argument("--kind", help="read inputs of this kind only")
    parser.add_argument("--input", type=int, help="show one input of this kind")
    parser.add_argument("--out", type=Path, help="file of the report")
    parser.add_argument("--state", type=Path, default=STATE, help="file of progress")
    given = parser.parse_args()
    if given.input is not None:
        show(KINDS[given.kind], given.input)
        return
    given.state.parent.mkdir(parents=True, exist_ok=True)
    code, states = digest_of_code(), {}
    if given.state.exists():
        kept = json.loads(given.state.read_text())
        states = kept["kinds"] if kept["code"] == code else {}
    until = time.monotonic() + 60 * given.minutes
    whole = sum(kind.thousands for kind in KINDS.values())
    for name, kind in KINDS.items():
        if given.kind in (None, name):
            end = round(1000 * given.thousands * kind.thousands / whole)
            read_kind(kind, states.setdefault(name, {"next": 0}), end, until)
            given.state.write_text(json.dumps({"code": code, "kinds": states}))
    is_over = sum(each["next"] for each in states.values()) >= round(1000 * given.thousands) - len(KINDS)
    if is_over:
        given.state.unlink()
    print(report(states) if is_over else table(states), end="")
    if is_over and given.out is not None:
        given.out.write_text(report(states), encoding="utf-8")
    if any(each.get("faults") for each in states.values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
