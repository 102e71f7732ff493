"""`edhie sample`: expressions from a model, within limits, in any notation."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edhie.expr import from_postfix, from_prefix, parse
from edhie.generators import load


def test_sample(edhie: Callable[..., Any], model_folder: Path) -> None:
    code, out, err = edhie("sample", model_folder, "-n", 20, "--seed", 3)
    assert (code, err) == (0, "")
    expected = load(model_folder).sample(20, np.random.default_rng(3))
    assert out.splitlines() == [str(expr) for expr in expected]
    assert edhie("sample", model_folder, "--count", 20, "--seed", 3).out == out


def test_limits(edhie: Callable[..., Any], model_folder: Path) -> None:
    limits = ["--max-height", 3, "--max-size", 5, "--forbid", "sin", "--forbid", "/"]
    code, out, err = edhie("sample", model_folder, "-n", 100, "--temperature", 3, *limits)
    assert (code, err) == (0, "")
    exprs = [parse(line, load(model_folder).library) for line in out.splitlines()]
    assert len(exprs) == 100
    assert max(expr.height for expr in exprs) <= 3
    assert max(expr.size for expr in exprs) <= 5
    tokens = {token for expr in exprs for token in expr.tokens}
    assert not {"sin", "/"} & tokens
    assert "cos" in tokens


def test_temperature_frees(edhie: Callable[..., Any], model_folder: Path) -> None:
    drawn = [edhie("sample", model_folder, "-n", 200, "--temperature", t).out.splitlines() for t in (0, 0.2, 5)]
    distinct = [len(set(lines)) for lines in drawn]
    assert distinct[0] <= distinct[1] <= distinct[2]
    assert distinct[0] < distinct[2]
    again = edhie("sample", model_folder, "-n", 200, "--temperature", 5).out
    assert again.splitlines() == drawn[2]


def test_notations_and_json(edhie: Callable[..., Any], model_folder: Path) -> None:
    def lines(*options: object) -> list[str]:
        result: list[str] = edhie("sample", model_folder, "-n", 5, "--temperature", 1, *options).out.splitlines()
        return result

    library = load(model_folder).library
    exprs = [parse(line, library) for line in lines()]
    assert [from_prefix(line, library) for line in lines("--notation", "prefix")] == exprs
    assert [from_postfix(line, library) for line in lines("--notation", "postfix")] == exprs
    assert lines("--notation", "latex") == [expr.latex() for expr in exprs]
    rows = [json.loads(line) for line in lines("--json")]
    assert rows == [{"expression": str(expr), "size": expr.size, "height": expr.height} for expr in exprs]


def test_a_decoder_that_often_fails(model_folder: Path) -> None:
    from edhie.generators.base import Decoded

    model = load(model_folder)

    class Failing:
        library, latent_dim = model.library, model.latent_dim

        def __init__(self, every: int) -> None:
            self.every = every

        def decode(self, codes: Any, **options: Any) -> Decoded:
            kept = np.arange(0, len(codes) if self.every else 0, self.every or 1)
            return Decoded(model.decode(codes[kept], **options).forest, kept, len(codes))

    drawn = import_module("edhie.cli.latent").drawn
    assert len(drawn(Failing(3), 50, np.random.default_rng(0), 1.0)) == 50
    with pytest.raises(Exception, match="0 of 50 expressions came, then none"):
        drawn(Failing(0), 50, np.random.default_rng(0), 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--forbid", "sinn"], "unknown symbol 'sinn'; did you mean 'sin'?"),
        (["--forbid", "x0", "--forbid", "c"], "every variable and constant is forbidden"),
    ],
    ids=["unknown", "all"],
)
def test_faults(options: list[str], message: str, edhie: Callable[..., Any], model_folder: Path) -> None:
    code, out, err = edhie("sample", model_folder, *options)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {message}")


def test_folders_that_are_no_models(edhie: Callable[..., Any], model_folder: Path, tmp_path: Path) -> None:
    commands = [
        ("sample",),
        ("encode", "x0"),
        ("decode", "codes.csv"),
        ("neighbours", "x0"),
        ("interpolate", "x0", "c"),
    ]
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    for file in model_folder.iterdir():
        (damaged / file.name).write_bytes(file.read_bytes())
    (damaged / "weights.safetensors").write_bytes(b"nonsense")
    for name, *rest in commands:
        for folder, message in (("nowhere", "there is no model"), (tmp_path, "is not a model"), (damaged, "damaged")):
            code, out, err = edhie(name, folder, *rest)
            assert (code, out) == (1, "")
            assert err.startswith("error: ")
            assert message in err
            assert len(err.splitlines()) == 1


@pytest.mark.parametrize("command", [("sample",), ("grammar", "sample")])
def test_a_pipe_that_is_closed_ends_it_quietly(
    command: tuple[str, ...], environment: dict[str, str], model_folder: Path
) -> None:
    source = model_folder if command == ("sample",) else "trig"
    arguments = [sys.executable, "-m", "edhie", *command, str(source), "-n", str(10**15)]  # more than memory holds
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().strip()
        process.stdout.close()
        assert process.wait(60) in (0, 1)
        assert process.stderr.read() == b""


def test_parts_are_those_of_one_draw(
    edhie: Callable[..., Any], model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = edhie("sample", model_folder, "-n", 40).out
    monkeypatch.setattr("edhie.cli.options.AT_ONCE", 7)
    assert edhie("sample", model_folder, "-n", 40).out == whole


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk to write to")
def test_a_full_disk_is_told(environment: dict[str, str], model_folder: Path) -> None:
    with Path("/dev/full").open("w") as full:
        arguments = [sys.executable, "-m", "edhie", "sample", str(model_folder), "-n", "20000"]
        ended = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, env=environment, check=False)
    assert ended.stderr.decode().startswith("error: [Errno 28] No space left on device")
    assert b"Traceback" not in ended.stderr


def test_too_little_memory_is_told(
    edhie: Callable[..., Any], model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr(import_module("edhie.cli.latent"), "drawn", fail)
    code, out, err = edhie("sample", model_folder)
    assert (code, out, err) == (1, "", "error: there is too little memory for this; ask for less\n")


def test_ctrl_c_inside_compiled_code_ends_it_quietly(
    edhie: Callable[..., Any], model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*arguments: object) -> None:
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr(import_module("edhie.cli.latent"), "drawn", stop)
    assert edhie("sample", model_folder) == (130, "", "")


def test_names_of_emoji_are_names(edhie: Callable[..., Any], tmp_path: Path) -> None:
    assert edhie("sample", ":smile:").err.startswith("error: there is no model folder :smile:")


def test_extreme_numbers(edhie: Callable[..., Any], model_folder: Path) -> None:
    limits = ["--max-height", 10**30, "--max-size", 10**30]
    for options in (["--temperature", "1e-300"], ["--temperature", "inf"], limits):
        code, out, err = edhie("sample", model_folder, "-n", 4, *options)
        assert (code, len(out.splitlines()), err) == (0, 4, "")
    assert edhie("sample", model_folder, "--temperature", "nan").code == 2
