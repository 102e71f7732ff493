"""No command replaces a file unless it is told to, and never one that belongs to a run, a model or a corpus."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from edhie.cli.outputs import KINDS, check_output
from edhie.errors import EdhieError

MINE = "587;1,674\n"


@pytest.fixture
def new(tmp_path: Path) -> Path:
    path = tmp_path / "new.csv"
    path.write_text("L (cm),age\n2.0,1.5\n")
    return path


@pytest.fixture
def command(
    request: pytest.FixtureRequest, run_folder: Path, model_folder: Path, new: Path
) -> tuple[list[object], str]:
    """A command up to the option that names its file, and the end of that name."""
    commands: dict[str, tuple[list[object], str]] = {
        "export": (["export", run_folder, "--format", "c", "--out"], ".csv"),
        "predict": (["predict", run_folder, new, "--out"], ".csv"),
        "encode": (["encode", model_folder, "x0", "--out"], ".csv"),
        "encode .npy": (["encode", model_folder, "x0", "--out"], ".npy"),
        "expr": (["expr", "x", "--figure"], ".png"),
        "interpolate": (["interpolate", model_folder, "x0", "c", "--figure"], ".svg"),
    }
    return commands[request.param]


EVERY = pytest.mark.parametrize(
    "command", ["export", "predict", "encode", "encode .npy", "expr", "interpolate"], indirect=True
)


@EVERY
def test_an_existing_file_needs_force(
    command: tuple[list[object], str], edhie: Callable[..., Any], tmp_path: Path
) -> None:
    arguments, suffix = command
    path = tmp_path / f"mine{suffix}"
    path.write_text(MINE)
    told = f"error: {path} already exists; choose another file, or replace it with --force\n"
    assert edhie(*arguments, path) == (1, "", told)
    assert path.read_text() == MINE
    assert edhie(*arguments, path, "--force").code == 0
    assert path.read_bytes() != MINE.encode()
    path.unlink()
    assert edhie(*arguments, path).code == 0
    assert path.exists()


@EVERY
@pytest.mark.parametrize("more", [[], ["--force"]])
def test_files_of_a_run_are_never_replaced(
    command: tuple[list[object], str], more: list[str], edhie: Callable[..., Any], run_folder: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(run_folder, run)
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    for name in before:
        code, out, err = edhie(*command[0], run / name, *more)
        assert (code, out) == (1, "")
        assert err == f"error: {run / name} belongs to the run in {run}; choose another file\n"
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


def test_a_figure_is_judged_by_the_name_that_it_gets(edhie: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "tree.png"
    path.write_text(MINE)
    told = f"error: {path} already exists; choose another file, or replace it with --force\n"
    assert edhie("expr", "x", "--figure", tmp_path / "tree") == (1, "", told)
    assert path.read_text() == MINE


def test_the_table_of_a_prediction_is_kept_even_with_force(
    edhie: Callable[..., Any], run_folder: Path, new: Path
) -> None:
    before = new.read_text()
    told = f"error: {new} is the table that is read; choose another file for the predictions\n"
    assert edhie("predict", run_folder, new, "--out", new, "--force") == (1, "", told)
    assert new.read_text() == before


def test_every_file_that_edhie_writes_belongs_to_its_folder(
    run_folder: Path, model_folder: Path, corpus_folder: Path
) -> None:
    for what, folder in {"run": run_folder, "model": model_folder, "corpus": corpus_folder}.items():
        for path in folder.iterdir():
            with pytest.raises(EdhieError, match=f"belongs to the {what} in"):
                check_output(path, force=True)
        check_output(folder / "mine.csv", force=False)


def test_names_alone_are_nobody_s(tmp_path: Path) -> None:
    for name in {file for kind in KINDS for file in kind.files}:
        check_output(tmp_path / name, force=False)


def test_a_file_that_is_still_to_come_belongs_to_its_run(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")  # a search that was stopped
    for name in ("discovery.json", "Discovery.JSON", "checkpoint.npz"):
        with pytest.raises(EdhieError, match="belongs to the run in"):
            check_output(tmp_path / name, force=True)


def test_links_are_followed(run_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").symlink_to(run_folder / "discovery.json")
    with pytest.raises(EdhieError, match="belongs to the run in"):
        check_output(tmp_path / "mine.csv", force=True)


def test_devices_may_be_written_to() -> None:
    check_output(Path("/dev/null"), force=False)
