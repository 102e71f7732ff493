"""Compiling before a timed search."""

from __future__ import annotations

import gc
import logging
import subprocess
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from edhie.expr import jit
from edhie.fit import warm_up as module
from edhie.generators import load
from edhie.processes import command_of, import_path


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Searches that a process that has done nothing yet is asked for, with whether garbage was collected."""
    found: list[str] = []

    def run(*given: Any, strategy: str, **more: Any) -> SimpleNamespace:
        assert not gc.isenabled()
        found.append(strategy)
        return SimpleNamespace(stopped="evaluations")

    monkeypatch.setattr(module, "run", run)
    monkeypatch.setattr(module, "_warm", set())
    return found


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The parts that each process is asked to compile, this one last."""
    found: list[list[str]] = []

    class Process:
        def __init__(self, command: list[str], **more: Any) -> None:
            found.append(command[4:])
            self.has_ended = False

        def wait(self) -> None:
            self.has_ended = True

        def terminate(self) -> None:
            assert self.has_ended

    monkeypatch.setattr(module.subprocess, "Popen", Process)
    monkeypatch.setattr(module, "_compile", lambda parts: found.append(list(parts)))
    return found


def test_a_process_warms_up_once_for_each_search(searched: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    generator = load("general-1")
    for strategy in ("mosaic", "mosaic", "draw", "mosaic"):
        module.warm_up(generator, generator.library, strategy)
    assert searched == ["mosaic", "draw"]
    assert gc.isenabled()
    monkeypatch.setattr(module, "run", lambda *given, **more: SimpleNamespace(stopped="interrupted"))
    with pytest.raises(KeyboardInterrupt):
        module.warm_up(generator, generator.library, "evolve")
    assert len(module._warm) == 2
    assert gc.isenabled()


def test_only_a_machine_without_compiled_code_compiles_in_parts_and_says_so(
    searched: list[str],
    compiled: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    jit.say_compiling.cache_clear()
    generator = load("general-1")
    monkeypatch.setattr(module, "core_count", lambda: 2)
    with caplog.at_level(logging.WARNING, "edhie"):
        monkeypatch.setattr(jit, "is_compiled", lambda: True)
        module.warm_up(generator, generator.library, "draw")
        assert not compiled
        assert not caplog.messages
        monkeypatch.setattr(jit, "is_compiled", lambda: False)
        module.warm_up(generator, generator.library, "mosaic")
    assert len(compiled) == 2
    assert caplog.messages == [jit.FIRST_BUILD]


@pytest.mark.parametrize("cores", [1, 2, 3, 64])
def test_processes_compile_every_part_once(cores: int, compiled: list[list[str]]) -> None:
    module.compile_parts(cores)
    assert len(compiled) == min(cores, 3)
    assert sorted(part for share in compiled for part in share) == sorted(module.PARTS)


KERNELS = {
    "generator": ("edhie.generators.hvae.recursion_kernels", ["up_codes", "next_codes", "choose"]),
    "trees": ("edhie.expr.canonical.tokens", ["canonical_arrays"]),
    "prior": ("edhie.selection.prior.kernels", ["structure_bits"]),
    "fitting": ("edhie.evaluate.constants.least_squares", ["fit"]),
    "scoring": ("edhie.evaluate.machine.kernels", ["squared_errors", "values"]),
    "search": ("edhie.search.mosaic.screening.pair_kernels", ["best_pairs_of", "best_with_one_of_few"]),
    "description": ("edhie.selection.description_kernels", ["code_lengths"]),
}


@pytest.mark.parametrize("part", module.PARTS)
def test_each_part_calls_its_kernels(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    called: set[str] = set()
    place, names = KERNELS[part]

    def noted(name: str, kernel: Any, *given: Any) -> Any:
        called.add(name)
        return kernel(*given)

    for name in names:
        monkeypatch.setattr(f"{place}.{name}", partial(noted, name, getattr(import_module(place), name)))
    module.PARTS[part]()
    assert called == set(names)


@pytest.mark.parametrize(("part", "code"), [("trees", 0), ("leaves", 1)])
def test_a_process_compiles_what_it_is_given(part: str, code: int) -> None:
    command = [*command_of("edhie.fit.warm_up"), part]
    assert subprocess.run(command, env=import_path(), capture_output=True, check=False).returncode == code


def test_a_process_that_cannot_start_is_no_error(compiled: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any, **more: Any) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(module.subprocess, "Popen", refuse)
    module.compile_parts(2)
    assert compiled == [list(module.SHARES[2][0])]
