"""Fits with default settings, and the options, halves and tables that their scripts share.

Problems are divided into two halves: a method is developed on one and reported on the other. The half of each problem
was fixed before any run.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rows import Row, one_thread, read_rows, run_missing, write_rows
from significance import shown, sign_p

if TYPE_CHECKING:
    from edhie.fit import Discovery

Numbers = NDArray[np.float64]
RESULTS = Path(__file__).parent / "results"
HALVES = ("develop", "report")
MOST_SHIPPED = 6  # variables that a shipped generator is for
WARM_UP = 5.0  # seconds
HALVES_NOTE = """\
One half of the problems was for developing the method, the other for this report.
[Experiments](../README.md#how-the-searches-were-tuned) says what was seen before, and which versions of the code `now`
and `before` are."""


def parser(description: str | None, *, max_time: float | None, halves: bool = True) -> argparse.ArgumentParser:
    """Return a parser with the options that these scripts share; `--max-time` only if it has a default."""
    found = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    if halves:
        found.add_argument("--half", choices=HALVES, help="one half of the problems; both if not given")
    if max_time is not None:
        found.add_argument("--max-time", type=float, default=max_time, help="seconds for a fit (default: %(default)g)")
    found.add_argument("--label", default="now", help="version of the code, kept in each row (default: %(default)s)")
    found.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="fits at a time (default: all cores)")
    found.add_argument("--results", type=Path, default=RESULTS, help="folder of the tables")
    found.add_argument(
        "--again-below", type=float, default=0.0, metavar="SHARE",
        help="run fits again that had less than this share of a core, since the machine was busy (default: none)",
    )  # fmt: skip
    return found


class Fit(NamedTuple):
    """The result of a fit, and the time it took."""

    found: Discovery
    cpu: float
    """Seconds of processor time; much less than the seconds of the search where the machine was busy."""

    def columns(self) -> Row:
        """Return the columns on the chosen equation that all tables have."""
        best = self.found.best
        return {
            "size": str(best.expr.size), "seconds": f"{self.found.result.seconds:.1f}", "cpu": f"{self.cpu:.1f}",
            "noise_model": str(getattr(best, "noise", "")), "equation": f"{best.expr:.6g}",
        }  # fmt: skip


CHOSEN = ("size", "seconds", "cpu", "noise_model", "equation")


def fit(X: Numbers, y: Numbers, names: Sequence[str], *, max_time: float, seed: int, loss: str = "rmse") -> Fit:  # noqa: N803
    """Fit with default settings, except for the loss."""
    import pandas

    from edhie import EDHiERegressor
    from edhie.generators.saving import general_for

    # a fit of 30 s would otherwise train a generator in the background, beside the fits that are measured
    shipped = general_for(len(names)) if len(names) > MOST_SHIPPED else None
    model = EDHiERegressor(max_time=max_time, random_state=seed, generator=shipped, loss=loss)
    return timed(lambda: model.fit(pandas.DataFrame(X, columns=list(names)), y).discoveries_[0])


def timed(discovered: Callable[[], Discovery]) -> Fit:
    """Return the result of a function, with its processor time."""
    began = time.process_time()
    found = discovered()
    return Fit(found, time.process_time() - began)


def prepare() -> None:
    """Prepare a process: one thread, and compiled kernels loaded, so that this does not count as time of a fit."""
    one_thread()
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 3, (40, 1))
    fit(x, 2 * np.exp(-0.5 * x[:, 0]) + 0.02 * rng.normal(size=40), ["x"], max_time=WARM_UP, seed=0)


def half_of_position(position: int) -> str:
    """Return the half of a problem by its position in a file, from 0: every other one is for development."""
    return HALVES[position % 2]


def run_fits(
    run: Callable[[Row], Row], jobs: Sequence[Row], path: Path, fields: Sequence[str], options: argparse.Namespace
) -> list[Row]:
    """Run the jobs that have no row yet, with the given options, and return all rows."""
    rows = read_rows(path)
    asked = {tuple(job.values()) for job in jobs}
    key = tuple(jobs[0]) if jobs else ()
    kept = [row for row in rows if tuple(map(row.get, key)) not in asked or not is_starved(row, options.again_below)]
    if len(kept) < len(rows):
        write_rows(kept, path, fields)
    return run_missing(run, jobs, path, fields, workers=options.workers, prepare=prepare)


def is_starved(row: Row, share: float) -> bool:
    """Return whether a fit had less than this share of a core; False if that is unknown."""
    return bool(row["cpu"]) and float(row["cpu"]) < share * float(row["seconds"])


# -- tables ---------------------------------------------------------------------------


def sections(
    title: str,
    rows: Sequence[Row],
    key: Callable[[Row], Hashable],
    half_of: Callable[[Row], str],
    table: Callable[[list[Row]], str],
    doc: str | None = None,
) -> str:
    """Return a page: all runs of the first version, then each other beside it, on the runs that both have.

    There is a table for each half and for both.

    `key` identifies a run. The page begins with the notes of `doc` and a note on the halves.
    """
    first, *others = versions_of(rows)
    pages = {"": [row for row in rows if row["version"] == first]}
    for other in others:
        pages[f", {first} and {other}"] = common([row for row in rows if row["version"] in (first, other)], key)
    parts = [f"# {title}", *([notes(doc), HALVES_NOTE] if doc else [])]
    for name, its_rows in pages.items():
        halves = {half: [row for row in its_rows if half_of(row) == half] for half in HALVES}
        parts += [f"## {half.capitalize()} half{name}\n\n{table(its)}" for half, its in halves.items() if its]
        if all(halves.values()):
            parts.append(f"## Both halves{name}\n\n{table(its_rows)}")
    return "\n\n".join(parts) + "\n"


def notes(doc: str) -> str:
    """Return the docstring of a script as notes on its results: all after the title and the command."""
    _, command, *rest = doc.strip().split("\n\n")
    return "\n\n".join([f"Made by `{command.splitlines()[0]}`.", *rest])


def markdown(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *lines))


def versions_of(rows: Sequence[Row]) -> list[str]:
    """Return the versions in the order in which they were run first."""
    return list(dict.fromkeys(row["version"] for row in rows))


def common(rows: Sequence[Row], key: Callable[[Row], Hashable]) -> list[Row]:
    """Return the runs that every version has, so that versions can be compared."""
    keys = [{key(row) for row in rows if row["version"] == each} for each in versions_of(rows)]
    return [row for row in rows if all(key(row) in each for each in keys)]


def version_p(rows: Sequence[Row], key: Callable[[Row], Hashable], column: str) -> str:
    """Return p of the difference between two versions in a column of yes and no, on the runs that both have."""
    first, second = ({key(row): row[column] for row in rows if row["version"] == each} for each in versions_of(rows))
    pairs = [(first[each], second[each]) for each in first.keys() & second.keys()]
    return shown(sign_p(pairs.count(("yes", "no")), pairs.count(("no", "yes"))))


def share(rows: Sequence[Row], column: str) -> str:
    """Return `3 of 20`: the rows that say yes in a column."""
    return f"{sum(row[column] == 'yes' for row in rows)} of {len(rows)}"
