"""Kill -9 commands at random moments, resume them, and compare the end with that of a run that was never killed.

python tests/faults/kill_at_random.py [--kills 50] [--seed 0] > experiments/results/faults.md

A run is killed up to three times before it may end. No run that was finished before a kill may be lost, and at the end
all results have to be the same, to the byte, except for the seconds that they took. For `edhie fit` the work that a
kill loses is measured too: the time since the last checkpoint, or since the start of the search where there is none.

On a Dask cluster of a scheduler and two workers, each of them is killed too. Without a worker, the command ends as if
nothing had happened. Without the scheduler, it ends within a minute, and its error names the address. After a kill of
the command, scheduler and workers forget its tasks.
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

sys.path.append(str(Path(__file__).parents[1]))

from dask_processes import DaskProcesses

SHARES = {
    ("fit", "command"): 0.3, ("train", "command"): 0.14, ("bench", "command"): 0.14, ("corpus build", "command"): 0.14,
    ("fit --cluster", "command"): 0.1, ("fit --cluster", "worker"): 0.08, ("fit --cluster", "scheduler"): 0.06,
    ("bench --cluster", "worker"): 0.04,
}  # fmt: skip
"""Of the kills, by command and by what is killed."""
END_SECONDS = 60  # in which a command notices that the scheduler is gone, and the cluster that the command is
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
    kills_a_run: int = 3
    victim: str = "command"
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
        seen = self._wait(folder, process, rng)
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

    def _wait(self, folder: Path, process: subprocess.Popen[bytes], rng: random.Random) -> set[str]:
        """Wait for a random moment; return what was finished until then."""
        until, seen = time.perf_counter() + rng.uniform(0, self.seconds), set(self.finished(folder))
        is_first = not (folder / "checkpoint.npz").exists()
        while time.perf_counter() < until and process.poll() is None:
            time.sleep(0.01)
            seen |= self.finished(folder)
            if is_first and (folder / "checkpoint.npz").exists():
                is_first = False
                self.first.append(_changed(folder / "checkpoint.npz") - _changed(folder / "run.json"))
        return seen

    def _note_lost(self, folder: Path, killed_at: float) -> None:
        kept = [path for path in (folder / "checkpoint.npz", folder / "run.json") if path.exists()]
        if kept and not (folder / "result.json").exists():
            self.lost.append(killed_at - max(map(_changed, kept)))


@dataclass
class OnCluster(Command):
    """A command on a cluster, with a kill of the command, of a worker or of the scheduler."""

    cluster: DaskProcesses = None  # type: ignore[assignment]
    ends: list[float] = field(default_factory=list)
    """Seconds from the kill of the scheduler to the end of the command."""

    def start(self, folder: Path, *, resume: bool) -> subprocess.Popen[bytes]:
        """Start the command in a process of its own, with a scheduler and two workers."""
        if self.cluster.scheduler.poll() is not None:
            self.cluster.close()
            self.cluster.start(2)
        return super().start(folder, resume=resume)

    def kill(self, folder: Path, rng: random.Random, *, resume: bool) -> bool:
        """Start the command and kill the victim at a random moment."""
        if self.victim == "command":
            is_running = super().kill(folder, rng, resume=resume)
            if not self.cluster.is_empty(END_SECONDS):
                self.faults.append("the cluster still holds tasks of a command that was killed")
            return is_running
        process = self.start(folder, resume=resume)
        self._wait(folder, process, rng)
        is_running = process.poll() is None
        if is_running:
            self.kills += 1
            if self.victim == "worker":
                self.cluster.workers.pop(rng.randrange(2)).kill()
                self.cluster.add_worker()
            else:
                self.cluster.scheduler.kill()
        self._finish(process, is_scheduler_gone=is_running and self.victim == "scheduler")
        return is_running

    def _finish(self, process: subprocess.Popen[bytes], *, is_scheduler_gone: bool) -> None:
        since = time.perf_counter()
        try:
            _, err = process.communicate(timeout=END_SECONDS if is_scheduler_gone else None)
        except subprocess.TimeoutExpired:
            process.kill()
            _, err = process.communicate()
            self.faults.append(f"it went on for {END_SECONDS} s without a scheduler: {err.decode().strip()}")
            return
        last = err.decode().strip().rpartition("\n")[2]
        if is_scheduler_gone and process.returncode:
            self.ends.append(time.perf_counter() - since)
            if process.returncode != 1 or not last.startswith("error: ") or self.cluster.address not in last:
                self.faults.append(f"exit code {process.returncode} without a scheduler: {err.decode().strip()}")
        elif process.returncode:
            self.faults.append(f"exit code {process.returncode}: {err.decode().strip()}")


def _changed(path: Path) -> float:
    return path.stat().st_mtime


def rows_of(folder: Path) -> set[str]:
    """Return the finished runs in a folder of results, without the seconds that they took."""
    found: set[str] = set()
    for path in folder.glob("*.csv"):
        *lines, _ = path.read_text(encoding="utf-8").split("\n")  # what follows the last line's end is not finished
        found |= {",".join(line.split(",")[:3]) for line in lines[1:]}
    return found


BENCH = "bench nguyen --method hvar --problems NG-1,NG-5,NG-9 --runs 4 --evaluations 3000"


def has_equations(folder: Path) -> bool:
    """Return whether a fit is finished."""
    return (folder / "discovery.json").exists()


def commands(place: Path) -> list[Command]:
    """Return the commands to kill; each takes some seconds."""
    corpus = place / "corpus"
    drawn = ["corpus", "build", "--grammar", "trig", "--size", "2000", "--max-height", "5"]
    subprocess.run([sys.executable, "-m", "edhie", *drawn, "--out", str(corpus)], check=True, capture_output=True)
    simplified = ["--grammar", "trig", "--size", "1500", "--max-height", "4", "--simplify", "--workers", "2"]
    return [
        Command(
            "fit",
            fit_of(place, "25000"),
            content_of_fit,
            lambda folder: {"discovery.json"} if has_equations(folder) else set(),
            to_resume=["--resume"],
        ),
        Command(
            "train",
            ["train", str(corpus), "--hidden", "32", "--epochs", "25"],
            content_of_model,
            is_done=lambda folder: (folder / "config.json").exists() and not (folder / "training.safetensors").exists(),
        ),
        Command("bench", BENCH.split(), content_of_results, rows_of),
        Command(
            "corpus build",
            ["corpus", "build", *simplified],
            content_of_corpus,
            is_done=lambda folder: (folder / "corpus.json").exists() and not (folder / ".unfinished").exists(),
        ),
    ]


def fit_of(place: Path, evaluations: str) -> list[str]:
    """Return the arguments of a fit of a small table."""
    rng, data = np.random.default_rng(0), place / "data.csv"
    table = rng.uniform(1, 5, (4, 200))
    table[3] = table[0] * np.exp(-table[1] / 2) + table[2] ** 2 + 0.1 * rng.normal(size=200)
    data.write_text("\n".join(["a,b,d,y", *(",".join(map(repr, row)) for row in table.T.tolist())]), encoding="utf-8")
    return ["fit", str(data), "--target", "y", "--evaluations", evaluations, "--quiet", "--no-report"]


def commands_on(cluster: DaskProcesses, place: Path) -> list[Command]:
    """Return the commands on a cluster, with the kills of the command, of a worker and of the scheduler."""
    there = ["--cluster", cluster.address]
    fit, resume = [*fit_of(place, "20000"), "--islands", "2", *there], ["--resume"]
    bench = [*BENCH.split(), *there]

    def command(victim: str, arguments: list[str], content: Callable[[Path], Content], **more: object) -> OnCluster:
        name = f"{arguments[0]} --cluster"
        return OnCluster(name, arguments, content, cluster=cluster, victim=victim, **more)  # type: ignore[arg-type]

    return [
        command("command", fit, content_of_fit, to_resume=resume),
        command("worker", fit, content_of_fit, is_done=has_equations, to_resume=resume, kills_a_run=1),
        command("scheduler", fit, content_of_fit, is_done=has_equations, to_resume=resume),
        command("worker", bench, content_of_results, kills_a_run=1),
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
        while killed < command.kills_a_run and command.kills < kills and attempts < 2 * command.kills_a_run:
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
        "(kill -9) up to three times and resumed; its end was compared with that of a run that was never killed. Some "
        "ran on a Dask cluster of two workers on the same machine; there a worker or the scheduler was killed too.",
        "",
        "| command | killed | seconds without a fault | kills | runs | lost or different at the end |",
        "|---|---|---|---|---|---|",
        *(
            f"| `edhie {each.name}` | {'a' if each.victim == 'worker' else 'the'} {each.victim} | {each.seconds:.1f} "
            f"| {each.kills} | {each.runs} | {len(each.faults) or 'none'} |"
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
        if isinstance(each, OnCluster) and each.ends:
            most = f"at the latest {max(each.ends):.1f} s after the kill"
            lines += [f"Without its scheduler, `edhie {each.name}` ended with an error {most}.", ""]
        lines += [f"- `edhie {each.name}`: {fault}" for fault in each.faults]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rng = random.Random(asked.seed)
    with tempfile.TemporaryDirectory() as name:
        place, cluster = Path(name), DaskProcesses(2)
        try:
            checked = [*commands(place), *commands_on(cluster, place)]
            for number, command in enumerate(checked):
                folder = place / str(number)
                folder.mkdir()
                check(command, folder, round(SHARES[command.name, command.victim] * asked.kills), rng)
                print(
                    f"{command.name}, {command.victim}: {command.kills} kills, {command.faults}",
                    file=sys.stderr,
                    flush=True,
                )
        finally:
            cluster.close()
    print(report(checked))
    sys.exit(any(command.faults for command in checked))


if __name__ == "__main__":
    main()
