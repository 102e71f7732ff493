"""What holds for every command: help, exit codes, plain output when piped, a quick start, and no tracebacks."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import edhie as package
from edhie.cli import app

HEAVY = {"sympy", "numba", "llvmlite", "matplotlib", "scipy", "mpmath", "torch", "pandas", "rapidfuzz"}


def commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    """The path and the object of every command and group."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), typer.main.get_command(app))]
    while waiting:
        path, command = waiting.pop()
        yield path, command
        waiting += [((*path, name), each) for name, each in getattr(command, "commands", {}).items()]


COMMANDS = dict(commands())


def test_the_commands() -> None:
    leaves = {" ".join(path) for path, command in COMMANDS.items() if not hasattr(command, "commands")}
    assert leaves == {
        "expr", "compare", "grammar list", "grammar show", "grammar sample",
        "corpus build", "corpus import", "corpus show", "corpus list",
        "train", "sample", "encode", "decode", "neighbours", "interpolate",
        "model list", "model show", "bench", "fit", "show", "predict", "export", "revise", "studio", "warm",
    }  # fmt: skip


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help(path: tuple[str, ...], edhie: Callable[..., Any]) -> None:
    code, out, err = edhie(*path, "--help")
    assert (code, err) == (0, "")
    command = COMMANDS[path]
    assert command.help.split(".")[0][:60] in out
    for name in getattr(command, "commands", {}):
        assert f" {name} " in out
    for parameter in command.params:
        spelled = max(parameter.opts, key=len) if parameter.param_type_name == "option" else parameter.name
        assert spelled in out
        assert parameter.help.split()[0] in out, f"{spelled} says nothing of itself"


@pytest.mark.parametrize(
    "path", [path for path, each in COMMANDS.items() if not hasattr(each, "commands")], ids=" ".join
)
def test_every_command_has_an_example_that_can_be_given(path: tuple[str, ...], edhie: Callable[..., Any]) -> None:
    out = edhie(*path, "--help").out
    words = shlex.split(out.rpartition("Example: ")[2])
    assert words[: 1 + len(path)] == ["edhie", *path]
    command, given = COMMANDS[path], words[1 + len(path) :]
    known = {name for each in command.params for name in each.opts}
    assert {word for word in given if word.startswith("-")} <= known
    command.make_context(path[-1], list(given))  # raises where an argument is missing, or one too many


def test_how_commands_end_is_told(edhie: Callable[..., Any]) -> None:
    assert (
        "Exit codes: 0 success, 1 an error, 2 wrong usage, 3 missing package, 130 stopped by Ctrl-C"
        in edhie("--help").out
    )


def test_version(edhie: Callable[..., Any], process: Callable[..., Any]) -> None:
    assert edhie("--version") == (0, f"edhie {package.__version__}\n", "")
    assert process("--version") == (0, f"edhie {package.__version__}\n", "")


@pytest.mark.parametrize("path", [(), ("corpus",), ("grammar",), ("model",)], ids=" ".join)
def test_a_group_alone_shows_its_help(path: tuple[str, ...], edhie: Callable[..., Any]) -> None:
    result = edhie(*path)
    assert result.code == 2
    assert "Usage: edhie" in result.out + result.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["--nonsense"],
        ["expr"],
        ["expr", "x", "y"],
        ["compare", "x"],
        ["compare", "x", "y", "--time-limit", "0"],
        ["corpus", "nonsense"],
        ["corpus", "build"],
        ["corpus", "build", "AE4-2k"],
        ["corpus", "show"],
        ["corpus", "import"],
        ["corpus", "import", "f", "--notation", "morse"],
        ["corpus", "import", "f", "--numbers", "some"],
        ["grammar", "show"],
        ["grammar", "sample", "ae", "-n", "0"],
        ["grammar", "sample", "ae", "-n", "many"],
        ["grammar", "sample", "ae", "--seed", "-1"],
        ["grammar", "sample", "ae", "--max-size", "0"],
        ["grammar", "sample", "ae", "--notation", "morse"],
        ["train"],
        ["train", "corpus"],
        ["train", "corpus", "--out", "m", "--model", "xvae"],
        ["train", "corpus", "--out", "m", "--epochs", "0"],
        ["train", "corpus", "--out", "m", "--hidden", "-1"],
        ["train", "corpus", "--out", "m", "--learning-rate", "2"],
        ["train", "corpus", "--out", "m", "--validation", "1"],
        ["train", "corpus", "--out", "m", "--seed", "-1"],
        ["train", "corpus", "--out", "m", "--device", "tpu"],
        ["train", "corpus", "--out", "m", "--schedule", "ramps"],
        ["train", "corpus", "--out", "m", "--grammar", "trig"],
        ["sample"],
        ["sample", "m", "-n", "0"],
        ["sample", "m", "-n", "-3"],
        ["sample", "m", "--temperature", "-1"],
        ["sample", "m", "--max-height", "0"],
        ["sample", "m", "--seed", "-1"],
        ["encode"],
        ["decode", "m"],
        ["decode", "m", "f", "--temperature", "-1"],
        ["neighbours", "m"],
        ["neighbours", "m", "x", "-n", "0"],
        ["neighbours", "m", "x", "--radius", "-1"],
        ["neighbours", "m", "x", "--nonsense"],
        ["interpolate", "m", "x"],
        ["interpolate", "m", "x", "y", "--steps", "0"],
        ["interpolate", "m", "x", "y", "z"],
        ["fit"],
        ["fit", "f.csv"],
        ["fit", "f.csv", "--target", "y", "--search", "guess"],
        ["fit", "f.csv", "--target", "y", "--evaluations", "0"],
        ["fit", "f.csv", "--target", "y", "--max-time", "-1"],
        ["fit", "f.csv", "--target", "y", "--seed", "-1"],
        ["fit", "f.csv", "--target", "y", "--seed", "10000000000000000000"],
        ["fit", "f.csv", "--target", "y", "--max-time", "nan"],
        ["fit", "f.csv", "--target", "y", "--selection", "luck"],
        ["fit", "f.csv", "--target", "y", "--resume"],
        ["show"],
        ["show", "run", "--index", "first"],
        ["predict"],
        ["predict", "run"],
        ["export"],
        ["export", "run"],
        ["export", "run", "--format", "cobol"],
    ],
    ids=" ".join,
)
def test_wrong_usage(arguments: list[str], edhie: Callable[..., Any]) -> None:
    result = edhie(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert "Usage: edhie" in result.err


def test_a_known_error_is_one_message_on_stderr(process: Callable[..., Any]) -> None:
    assert process("grammar", "show", "trigg") == (1, "", "error: unknown grammar 'trigg'; did you mean 'trig'?\n")


def test_errors_keep_their_brackets(edhie: Callable[..., Any]) -> None:
    assert "[/red]" in edhie("grammar", "show", "[/red]").err


def test_starts_at_once(environment: dict[str, str]) -> None:
    code = "import json, sys, time; began = time.perf_counter(); import edhie.cli; took = time.perf_counter() - began; "
    code += "print(json.dumps([took, list(sys.modules)]))"
    runs = [
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True) for _ in "123"
    ]
    took, modules = zip(*(json.loads(run.stdout) for run in runs), strict=True)
    assert not HEAVY & {name.partition(".")[0] for name in modules[0]}
    assert min(took) < 2.0  # 0.25 s on a free machine


def test_help_and_completion_load_nothing_heavy(environment: dict[str, str]) -> None:
    code = "import sys; from edhie.cli import main\n"
    code += "try: main()\nfinally: print(list(sys.modules), file=sys.stderr)"
    for arguments, variables in (
        (["corpus", "build", "--help"], {}),
        (["train", "--help"], {}),
        (["fit", "--help"], {}),
        ([], {"_EDHIE_COMPLETE": "complete_bash", "COMP_WORDS": "edhie corpus build ", "COMP_CWORD": "3"}),
    ):
        command = [sys.executable, "-c", code, *arguments]
        run = subprocess.run(command, env=environment | variables, capture_output=True, text=True, check=True)
        loaded = {name.partition(".")[0] for name in run.stderr.strip("[]\n").replace("'", "").split(", ")}
        assert "edhie" in loaded
        assert not HEAVY & loaded


def test_a_reader_that_has_read_enough(environment: dict[str, str]) -> None:
    command = [sys.executable, "-c", "from edhie.cli import main; main()", "grammar", "sample", "ae", "-n", "100000"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=120) != 0
    assert "Traceback" not in errors


def test_terminals_that_know_few_letters(process: Callable[..., Any]) -> None:
    for variables in ({"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "latin-1"}):
        code, out, err = process("expr", "速度 + x", **variables)
        assert (code, err) == (0, "")
        assert r"infix    \u901f\u5ea6 + x" in out
        assert process("corpus", "import", "--help", **variables).code == 0


def test_warnings_show_no_source(process: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "mine.pcfg"
    path.write_text("E -> 'x0' [1.0]\nF -> 'x1' [1.0]\n", encoding="utf-8")
    result = process("grammar", "sample", path, "-n", "2")
    assert result == (0, "x0\nx0\n", "warning: no derivation from the start uses 'F'\n")


@pytest.mark.parametrize(
    ("arguments", "keys"),
    [
        (["expr", "x0^2 + 1"], {"infix", "prefix", "postfix", "latex", "sympy", "size", "height"}),
        (["compare", "x", "x + 0"], {"equivalent", "reason", "same_domain", "edit_distance", "tree_distance"}),
        (["model", "list"], {"name", "kind", "dimensions", "symbols"}),
        (["grammar", "list"], {"name", "rules", "ending", "mean_size"}),
        (["corpus", "list"], {"name", "size"}),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_json_is_one_object_a_line(arguments: list[str], keys: set[str], edhie: Callable[..., Any]) -> None:
    code, out, err = edhie(*arguments, "--json")
    assert (code, err) == (0, "")
    assert all(keys <= json.loads(line).keys() for line in out.splitlines())


SAME = {
    "seed": "--seed", "out": "--out", "as_json": "--json", "quiet": "--quiet", "seconds": "--max-time",
    "max_time": "--max-time", "evaluations": "--evaluations", "strict": "--strict", "count": "--count",
    "notation": "--notation", "figure": "--figure", "index": "--index",
    "force": "--force",
}  # fmt: skip


def test_the_same_name_for_the_same_thing() -> None:
    options = [each for command in COMMANDS.values() for each in command.params if each.name in SAME]
    assert {each.name for each in options} == set(SAME)
    assert all(SAME[each.name] in each.opts for each in options)
