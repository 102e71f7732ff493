"""Kill -9 commands at random moments, resume them, and compare the end with that of a run that was never killed.

python tests/faults/kill_at_random.py [--kills 50] [--seed 0] > experiments/results/faults.md

A run is killed up to three times before it may end. No run that was finished before a kill may be lost, and at the end
all results have to be the same, to the byte, except for the seconds that they took. For `edhie fit` the work that a
kill loses is measured too: the time since the last checkpoint, or since the start of the search where there is none.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

KILLS_A_RUN = 3
SHARES = {"fit": 0.4, "train": 0.2, "bench": 0.2, "corpus build": 0.2}
"""Of the kills, by command."""
SECONDS, OUT = "seconds", "out"
Content = dict[str, object]


def without_seconds(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file without the column of seconds."""
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: text for name, text in row.items() if name != SECONDS} for row in csv.DictReader(file)]


def content_of_fit(folder: Path) -> Content:
    """Return the results of a fit: its equations, and all expressions that it has executed."""
    names = ("best.txt", "equations.csv", "candidates.jsonl", "front.csv", "symbols.json", "data.safetensors")
    found: Content = {name: (folder / name).read_bytes() for name in names}
    described = json.loads((folder / "discovery.json").read_text(encoding="utf-8"))
    return found | {
        "history": without_seconds(folder / "history.csv"),
        "discovery": {name: described[name] for name in ("index", "front", "counts", "stopped", "seed")},
    }


def content_of_model(folder: Path) -> Content:
    """Return what a model is; its history and its card have speeds in them."""
    return {name: (folder / name).read_bytes() for name in ("weights.safetensors", "symbols.json")}


def content_of_results(folder: Path) -> Content:
    """Return the table of a benchmark."""
    return {path.name: without_seconds(path) for path in folder.glob("*.csv")}


def content_of_corpus(folder: Path) -> Content:
    """Return all files of a corpus."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@dataclass
class Command:
    """A command that is killed, and what happened."""

    name: str
    arguments: list[str]
    content: Callable[[Path], Content]
    finished: Callable[[Path], set[str]] = field(default=lambda folder: set())
    """What must not be lost any more, such as rows of a table."""
    is_done: Callable[[Path], bool] = field(default=lambda folder: False)
    """Whether the command has ended, so that it refuses to run again."""
    to_resume: list[str] = field(default_factory=list)
    kills: int = 0
    runs: int = 0
    seconds: float = 0.0
    """That one run takes without a fault."""
    first: list[float] = field(default_factory=list)
    """Seconds from the start of a search to its first checkpoint."""
    lost: list[float] = field(default_factory=list)
    """Seconds of work that kills have lost."""
    faults: list[str] = field(default_factory=list)

    def start(self, folder: Path, *, resume: bool) -> subprocess.Popen[bytes]:
        """Start the command in a process of its own."""
        more = self.to_resume if resume else []
        command = [sys.executable, "-m", "edhie", *self.arguments, "--out", str(folder), *more]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def finish(self, folder: Path, *, resume: bool) -> None:
        """Let the command end, and note an error."""
        process = self.start(folder, resume=resume)
        _, err = process.communicate()
        if process.returncode:
            self.faults.append(f"exit code {process.returncode}: {err.decode().strip()}")

    def kill(self, folder: Path, rng: random.Random, *, resume: bool) -> bool:
        """Start the command and kill it at a random moment; return whether it was still running then."""
        process = self.start(folder, resume=resume)
        until, seen = time.perf_counter() + rng.uniform(0, self.seconds), set(self.finished(folder))
        is_first = not (folder / "checkpoint.npz").exists()
        while time.perf_counter() < until and process.poll() is None:
            time.sleep(0.01)
            seen |= self.finished(folder)
            if is_first and (folder / "checkpoint.npz").exists():
                is_first = False
                self.first.append(_changed(folder / "checkpoint.npz") - _changed(folder / "run.json"))
        killed_at, is_running = time.time(), process.poll() is None
        process.kill()
        process.communicate()
        if is_running:
            self.kills += 1
            self._note_lost(folder, killed_at)
            missing = seen - self.finished(folder)
            if missing:
                self.faults.append(f"lost after a kill: {sorted(missing)}")
        return is_running

    def _note_lost(self, folder: Path, killed_at: float) -> None:
        kept = [path for path in (folder / "checkpoint.npz", folder / "run.json") if path.exists()]
        if kept and not (folder / "result.json").exists():
            self.lost.append(killed_at - max(map(_changed, kept)))


def _changed(path: Path) -> float:
    return path.stat().st_mtime


def rows_of(folder: Path) -> set[str]:
    """Return the finished runs in a folder of results, without the seconds that they took."""
    found: set[str] = set()
    for path in folder.glob("*.csv"):
        *lines, _ = path.read_text(encoding="utf-8").split("\n")  # what follows the last line's end is not finished
        found |= {",".join(line.split(",")[:3]) for line in lines[1:]}
    return found


def commands(place: Path) -> list[Command]:
    """Return the commands to kill; each takes some seconds."""
    rng = np.random.default_rng(0)
    table = rng.uniform(1, 5, (4, 200))
    table[3] = table[0] * np.exp(-table[1] / 2) + table[2] ** 2 + 0.1 * rng.normal(size=200)
    data, corpus = place / "data.csv", place / "corpus"
    data.write_text("\n".join(["a,b,d,y", *(",".join(map(repr, row)) for row in table.T.tolist())]), encoding="utf-8")
    drawn = ["corpus", "build", "--grammar", "trig", "--size", "2000", "--max-height", "5"]
    subprocess.run([sys.executable, "-m", "edhie", *drawn, "--out", str(corpus)], check=True, capture_output=True)
    simplified = ["--grammar", "trig", "--size", "1500", "--max-height", "4", "--simplify", "--workers", "2"]
    shown = ["--quiet", "--no-report"]
    return [
        Command(
            "fit",
            ["fit", str(data), "--target", "y", "--evaluations", "25000", *shown],
            content_of_fit,
            lambda folder: {"discovery.json"} if (folder / "discovery.json").exists() else set(),
            to_resume=["--resume"],
        ),
        Command(
            "train",
            ["train", str(corpus), "--hidden", "32", "--epochs", "25"],
            content_of_model,
            is_done=lambda folder: (folder / "config.json").exists() and not (folder / "training.safetensors").exists(),
        ),
        Command(
            "bench",
            "bench nguyen --method hvar --problems NG-1,NG-5,NG-9 --runs 4 --evaluations 3000".split(),
            content_of_results,
            rows_of,
        ),
        Command(
            "corpus build",
            ["corpus", "build", *simplified],
            content_of_corpus,
            is_done=lambda folder: (folder / "corpus.json").exists() and not (folder / ".unfinished").exists(),
        ),
    ]


def check(command: Command, place: Path, kills: int, rng: random.Random) -> None:
    """Kill a command so many times, in as many runs as it needs, and compare how each run ends."""
    command.finish(place / "warm" / OUT, resume=False)  # whatever has to be compiled
    began = time.perf_counter()
    command.finish(place / "whole" / OUT, resume=False)
    command.seconds = time.perf_counter() - began
    whole = command.content(place / "whole" / OUT)
    while command.kills < kills:
        folder, killed, attempts = place / f"run-{command.runs}" / OUT, 0, 0
        while killed < KILLS_A_RUN and command.kills < kills and attempts < 2 * KILLS_A_RUN:
            killed += command.kill(folder, rng, resume=attempts > 0)
            attempts += 1
        if not command.is_done(folder):
            command.finish(folder, resume=True)
        found = command.content(folder)
        different = [name for name in {**whole, **found} if whole.get(name) != found.get(name)]
        if different:
            command.faults.append(f"run {command.runs} ended with other {', '.join(different)}")
        command.runs += 1


def report(checked: list[Command]) -> str:
    """Return what happened as Markdown."""
    total = sum(command.kills for command in checked)
    lines = [
        "# Kills at random moments",
        "",
        f"`python tests/faults/kill_at_random.py --kills {total}`, on {os.cpu_count()} cores. Each run was killed "
        "(kill -9) up to three times and resumed; its end was compared with that of a run that was never killed.",
        "",
        "| command | seconds without a fault | kills | runs | lost or different at the end |",
        "|---|---|---|---|---|",
        *(
            f"| `edhie {each.name}` | {each.seconds:.1f} | {each.kills} | {each.runs} | {len(each.faults) or 'none'} |"
            for each in checked
        ),
        "",
    ]
    for each in checked:
        if each.lost:
            parts = [f"median {np.median(each.lost):.1f} s, most {max(each.lost):.1f} s ({len(each.lost)} kills)"]
            if each.first:
                soon, late = np.median(each.first), max(each.first)
                parts.append(f"the first checkpoint came after {soon:.1f} s, at the latest after {late:.1f} s")
            lines += [f"Work that a kill of `edhie {each.name}` lost: {'; '.join(parts)}.", ""]
        lines += [f"- `edhie {each.name}`: {fault}" for fault in each.faults]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rng = random.Random(asked.seed)
    with tempfile.TemporaryDirectory() as place:
        checked = commands(Path(place))
        for command in checked:
            folder = Path(place) / command.name.replace(" ", "-")
            folder.mkdir()
            check(command, folder, round(SHARES[command.name] * asked.kills), rng)
            print(f"{command.name}: {command.kills} kills, {command.faults}", file=sys.stderr, flush=True)
    print(report(checked))
    sys.exit(any(command.faults for command in checked))


if __name__ == "__main__":
    main()
