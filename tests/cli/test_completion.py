"""Shell completion: the scripts that typer writes, run as the shells run them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from edhie.corpora import recipe_names
from edhie.expr.exports import FORMATS
from edhie.generators.saving import shipped_names as models
from edhie.grammar import names

COMPLETIONS = {
    "edhie ": [
        "expr",
        "compare",
        "corpus",
        "grammar",
        "train",
        "sample",
        "encode",
        "decode",
        "neighbours",
        "interpolate",
        "model",
        "bench",
        "fit",
        "show",
        "studio",
        "predict",
        "export",
        "revise",
        "warm",
    ],
    "edhie co": ["compare", "corpus"],
    "edhie corpus ": ["build", "import", "show", "list"],
    "edhie corpus build ": [*recipe_names(), "Physics"],
    "edhie corpus build A": ["AE4-2k", "AE5-15k", "AE7-20k"],
    "edhie corpus build trig": ["trig4-2k", "trig5-15k", "trig7-20k"],
    "edhie corpus build p": ["physics"],
    "edhie corpus build --grammar n": ["nguyen-1", "nguyen-2"],
    "edhie corpus import f.txt --notation ": ["auto", "infix", "latex", "sympy"],
    "edhie corpus import f.txt --num": ["--numbers"],
    "edhie grammar show ": names(),
    "edhie grammar sample gvae-t": ["gvae-trig"],
    "edhie train Ng": ["Nguyen-1", "Nguyen-2"],
    "edhie train x --model ": ["hvae", "gvae", "cvae"],
    "edhie train x --grammar gvae-t": ["gvae-trig"],
    "edhie train x --device c": ["cpu", "cuda"],
    "edhie sample m --notation p": ["prefix", "postfix"],
    "edhie neighbours m --ra": ["--radius"],
    "edhie model ": ["list", "show"],
    "edhie sample ": models(),
    "edhie train x --start ": models(),
    "edhie fit f.csv --model ": models(),
    "edhie fit f.csv --search ": ["mosaic", "evolve", "draw"],
    "edhie fit f.csv --selection ": ["mdl", "best", "accuracy", "score"],
    "edhie export run --format ": list(FORMATS),
}


@pytest.mark.parametrize("typed", COMPLETIONS)
def test_bash_words(typed: str, edhie: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_EDHIE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split(" ")) - 1))
    code, out, err = edhie()
    assert (code, err) == (0, "")
    assert sorted(out.split()) == sorted(COMPLETIONS[typed])


@pytest.mark.parametrize(
    ("shell", "variables"), [("zsh", {}), ("fish", {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}), ("powershell", {})]
)
def test_other_shells(
    shell: str, variables: dict[str, str], edhie: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    variables |= {"_EDHIE_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": "edhie corpus build A"}
    variables |= {"_TYPER_COMPLETE_WORD_TO_COMPLETE": "A"}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    code, out, err = edhie()
    assert (code, err) == (0, "")
    assert [name for name in recipe_names() if name in out] == ["AE4-2k", "AE5-15k", "AE7-20k"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here")
def test_in_bash(tmp_path: Path, environment: dict[str, str]) -> None:
    command = tmp_path / "edhie"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from edhie.cli import main; main()" "$@"\n')
    command.chmod(0o755)
    script = """
        set -e
        eval "$(edhie --show-completion)"
        complete -p edhie
        COMP_WORDS=(edhie corpus build Tr); COMP_CWORD=3
        _edhie_completion edhie
        echo "${COMPREPLY[@]}"
    """
    path = f"{tmp_path}:{environment['PATH']}"
    run = subprocess.run(
        ["bash", "-c", script], env=environment | {"PATH": path}, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [
        "complete -o default -F _edhie_completion edhie",
        "Trig4-2k Trig5-15k Trig7-20k",
    ]
