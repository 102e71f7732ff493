"""Reproduce the paper's tables and figures with the commands of `paper_items.toml`.

python experiments/reproduce.py                                    (make reproduce)
python experiments/reproduce.py --profile full --item noise        (make reproduce PROFILE=full ITEM=noise)

The quick profile runs everything with small budgets, in some minutes, into out/reproduce. The full one makes the
committed results in experiments/results; it runs only what is missing there, and resumes after an interruption.

A command that needs a package which is not installed (the extra `peers`, Julia for PySR) says so in one line, and the
others go on. The exit code is 1 if a command failed, else 0; a missing package is not a failure.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from edhie.cli.terminal import UNAVAILABLE
from paper_items import RESULTS, items

ROOT = Path(__file__).parents[1]
SCRATCH = Path("out/reproduce")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the commands, each once, and say how each ended."""
    options = _parser().parse_args(arguments)
    ids = options.item or [item.id for item in items()]
    out = options.out or (SCRATCH if options.profile == "quick" else RESULTS.relative_to(ROOT))
    chosen = [command for item in items() if item.id in ids for command in getattr(item, options.profile)]
    commands = [command.replace("{out}", shlex.quote(str(out))) for command in dict.fromkeys(chosen)]
    if options.list:
        print("\n".join(commands))
        return
    (ROOT / out).mkdir(parents=True, exist_ok=True)
    failed: list[str] = []
    left_out: list[str] = []
    for number, command in enumerate(commands, start=1):
        print(f"[{number} of {len(commands)}] {command}", flush=True)
        began = time.perf_counter()
        code = subprocess.run(_words(command), cwd=ROOT, env=_environment(), check=False).returncode
        if code:
            (left_out if code == UNAVAILABLE else failed).append(command)
        print(f"{time.perf_counter() - began:.0f} s", flush=True)
    print(f"results are in {out}")
    if left_out:
        print("\n".join(["left out, since a package is missing:", *left_out]))
    if failed:
        raise SystemExit("\n".join(["these commands failed:", *failed]))


def _words(command: str) -> list[str]:
    """Return the words of a command, with this Python for `python` and `edhie`."""
    first, *rest = shlex.split(command)
    known = {"python": [sys.executable], "edhie": [sys.executable, "-m", "edhie"]}
    return [*known.get(first, [first]), *rest]


def _environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--profile", choices=("quick", "full"), default="quick", help="small budgets, or the real ones")
    found.add_argument("--item", nargs="*", choices=[item.id for item in items()], help="only these items")
    found.add_argument("--out", type=Path, help="the folder of the results, from the root of the repository")
    found.add_argument("--list", action="store_true", help="print the commands, and end")
    return found


if __name__ == "__main__":
    main()
