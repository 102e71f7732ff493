"""Using a model needs no torch; training one says how to get it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import contextlib, io, json, sys

class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ImportError("torch is not here")

sys.meta_path.insert(0, NoTorch())
from edhie.cli import main

results = []
for command in json.loads(sys.argv[1]):
    sys.argv = ["edhie", *command]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    results.append([code, out.getvalue(), err.getvalue()])
assert "torch" not in sys.modules
print(json.dumps(results))
"""


def test_all_but_training(environment: dict[str, str], model_folder: Path, corpus_folder: Path, tmp_path: Path) -> None:
    model, codes = str(model_folder), str(tmp_path / "codes.csv")
    commands = [
        ["sample", model, "-n", "3"],
        ["encode", model, "x0", "sin(c)", "--out", codes],
        ["decode", model, codes],
        ["neighbours", model, "x0", "-n", "5"],
        ["interpolate", model, "x0", "sin(c)", "--steps", "1", "--figure", str(tmp_path / "walk.png")],
        ["train", str(corpus_folder), "--out", str(tmp_path / "made")],
    ]
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(commands)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    *used, trained = json.loads(run.stdout)
    assert [(code, err) for code, _, err in used] == [(0, "")] * 5
    assert [len(out.splitlines()) for _, out, _ in used[:3]] == [3, 1, 2]
    assert trained[:2] == [3, ""]
    assert trained[2].startswith("error: training a model needs an optional package; ")
    assert "pip install 'edhie[train]'" in trained[2]
    assert not (tmp_path / "made").exists()
