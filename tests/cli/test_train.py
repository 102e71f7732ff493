"""`edhie train`: a folder with all that it should hold; stopping and going on; what it refuses."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

import edhie as package
from edhie.cli import app
from edhie.corpora import Corpus
from edhie.corpora.corpus import expressions_text
from edhie.generators import TrainConfig, load
from edhie.generators.config import held_out_and_learnt
from edhie.generators.saving import STATE, epochs_done
from edhie.generators.train import train
from edhie.generators.walks import reconstruct
from edhie.storage import digest

SMALL = ["--hidden", 8, "--latent", 4, "--epochs", 3, "--batch", 16, "--validation", 0.2]
FILES = ["README.md", "config.json", "history.csv", "history.png", "symbols.json", "weights.safetensors"]
cli_train = import_module("edhie.cli.train")


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def weights(folder: Path) -> bytes:
    return (folder / "weights.safetensors").read_bytes()


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "made"


@pytest.fixture
def no_plot(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty file in place of the plot, which takes longer than a training of this size."""
    monkeypatch.setattr("edhie.generators.trained._plot", lambda done: b"")


def stop_at(epoch: int) -> Callable[[Any], str]:
    """In place of what the bar shows: Ctrl-C when an epoch has ended, before it is kept."""

    def note(record: Any) -> str:
        if record.epoch == epoch:
            raise KeyboardInterrupt
        return ""

    return note


# -- what it makes --------------------------------------------------------------------


def test_train(edhie: Callable[..., Any], corpus_folder: Path, out: Path) -> None:
    code, printed, err = edhie("train", corpus_folder, *SMALL, "--out", out)
    assert (code, err) == (0, "")
    first, second = printed.splitlines()
    assert first.startswith(f"{out}: hvae of 4 dimensions, trained on sixty (60 expressions) for 3 epochs in ")
    assert second.startswith("  on 12 held-out expressions: edit distance ")
    assert files(out) == FILES
    history = (out / "history.csv").read_text().splitlines()
    assert history[0] == "epoch,loss,reconstruction,divergence,weight,validation,trees_per_s"
    assert [row.split(",")[0] for row in history[1:]] == ["0", "1", "2"]
    assert (out / "history.png").read_bytes().startswith(b"\x89PNG")
    model = load(out)
    assert (model.kind, model.latent_dim) == ("hvae", 4)
    described = json.loads((out / "config.json").read_text())["training"]
    assert (described["hidden"], described["batch"], described["validation"]) == (8, 16, 0.2)


@pytest.mark.usefixtures("no_plot")
def test_the_card(edhie: Callable[..., Any], corpus_folder: Path, out: Path) -> None:
    edhie("train", corpus_folder, *SMALL, "--seed", 5, "--out", out)
    card = (out / "README.md").read_text(encoding="utf-8")
    corpus, model = Corpus.load(corpus_folder), load(out)
    config = TrainConfig(hidden=8, latent=4, epochs=3, batch=16, validation=0.2, seed=5)
    measured = reconstruct(model, corpus.forest.take(held_out_and_learnt(len(corpus), config)[0]))
    for line in (
        "| name | sixty |",
        "| expressions | 60 |",
        f"| sha256 of its expressions, one a line | `{digest(expressions_text(corpus.forest))}` |",
        "| seed | 5 |",
        f"| mean edit distance, in postfix tokens | {measured.edit_distance:.3f} |",
        f"| came back as no expression | {measured.invalid_percent:.1f} % |",
        f"`{model.library}`",
        f"edhie train {corpus_folder} {' '.join(map(str, SMALL))} --seed 5 --out {out}",
    ):
        assert line in card.splitlines()
    assert f"with edhie {package.__version__}." in card
    assert re.search(r"\| seconds \| \d+ \|", card)
    for field in fields(TrainConfig):
        assert f"| {field.name.replace('_', ' ')} | {getattr(config, field.name)} |" in card


def test_every_setting_is_an_option() -> None:
    options = {parameter.name for parameter in typer.main.get_command(app).commands["train"].params}  # type: ignore[attr-defined]
    assert {field.name for field in fields(TrainConfig)} <= options


@pytest.mark.usefixtures("no_plot")
def test_nothing_held_out(edhie: Callable[..., Any], corpus_folder: Path, out: Path) -> None:
    printed = edhie("train", corpus_folder, *SMALL, "--validation", 0, "--out", out).out
    assert "  on 60 expressions that it was trained on: " in printed
    assert "since none were held out" in (out / "README.md").read_text()


@pytest.mark.usefixtures("no_plot")
def test_a_named_corpus(edhie: Callable[..., Any], out: Path) -> None:
    code, printed, err = edhie("train", "physics", *SMALL, "--out", out)
    assert (code, err) == (0, "")
    assert "trained on Physics (111 expressions)" in printed


@pytest.mark.usefixtures("no_plot")
def test_a_corpus_that_is_quick_is_built(
    edhie: Callable[..., Any], out: Path, corpus_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = []
    monkeypatch.setattr(cli_train, "build", lambda recipe, _: built.append(recipe.name) or Corpus.load(corpus_folder))
    assert edhie("train", "nguyen-1", *SMALL, "--out", out).code == 0
    assert built == ["Nguyen-1"]


@pytest.mark.usefixtures("no_plot")
def test_fine_tuning_takes_the_sizes_of_its_start(
    edhie: Callable[..., Any], corpus_folder: Path, model_folder: Path, out: Path
) -> None:
    assert edhie("train", corpus_folder, "--epochs", 1, "--start", model_folder, "--out", out).code == 0
    assert load(out).hidden_dim == load(model_folder).hidden_dim == 8
    assert f"| started from | {model_folder} |" in (out / "README.md").read_text()
    assert not np.array_equal(load(out).weights["mean_w"], load(model_folder).weights["mean_w"])


@pytest.mark.usefixtures("no_plot")
@pytest.mark.parametrize("form", ["lines", "column", "npy"])
def test_weights(form: str, edhie: Callable[..., Any], corpus_folder: Path, out: Path, tmp_path: Path) -> None:
    numbers = [1.0] * 30 + [0.25] * 30
    file = tmp_path / ("w.npy" if form == "npy" else "w.csv")
    if form == "npy":
        np.save(file, numbers)
    elif form == "lines":
        file.write_text("".join(f"{number}\n" for number in numbers))
    else:
        file.write_text("name,weight\n" + "".join(f"a,{number}\n" for number in numbers))
    settings = ["--epochs", 1, "--hidden", 4, "--latent", 2]
    assert edhie("train", corpus_folder, *settings, "--weights", file, "--out", out).code == 0
    forest = Corpus.load(corpus_folder).forest
    expected = train(forest, TrainConfig(epochs=1, hidden=4, latent=2), weights=np.array(numbers))[0].weights
    assert all(np.array_equal(array, expected[name]) for name, array in load(out).weights.items())


@pytest.mark.usefixtures("no_plot")
@pytest.mark.parametrize("kind", ["gvae", "cvae"])
def test_the_other_models(kind: str, edhie: Callable[..., Any], corpus_folder: Path, out: Path) -> None:
    settings = ["--hidden", 8, "--latent", 4, "--epochs", 2, "--batch", 16]
    grammar = ["--grammar", "trig"] if kind == "gvae" else []
    code, printed, err = edhie("train", corpus_folder, "--model", kind, *settings, *grammar, "--out", out)
    assert (code, err) == (0, "")
    assert printed.startswith(f"{out}: {kind} of 4 dimensions, ")
    assert load(out).kind == kind
    assert edhie("interpolate", out, "sin(x0)", "c", "--steps", 2).code == 0
    limited = edhie("sample", out, "--max-height", 3)
    assert limited.code == 2
    assert f"supported by HVAE only; this model is a {kind}" in limited.err
    if kind == "gvae":
        assert "| grammar | trig |" in (out / "README.md").read_text()
        twice = edhie("train", corpus_folder, "--start", out, *grammar, "--out", out.with_name("tuned"))
        assert twice.code == 2
        assert "has its own grammar" in twice.err


# -- stopping and going on ------------------------------------------------------------


@pytest.mark.usefixtures("no_plot")
def test_stopped_by_ctrl_c_it_ends_as_if_it_had_not_been(
    edhie: Callable[..., Any], corpus_folder: Path, out: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("train", corpus_folder, *SMALL)
    whole = out.with_name("whole")
    edhie(*command, "--out", whole)
    with monkeypatch.context() as patched:
        patched.setattr(cli_train, "_note", stop_at(2))
        code, printed, err = edhie(*command, "--out", out)
    message = f"stopped after 2 of 3 epochs; what was learnt is kept in {out}: the same command resumes from there\n"
    assert (code, printed, err) == (130, "", message)
    assert files(out) == ["training.safetensors"]
    other = edhie("train", "physics", *SMALL, "--out", out)
    assert (other.code, other.out) == (1, "")
    assert other.err.startswith(f"error: {out} holds an unfinished training with another corpus; ")
    other = edhie(*command, "--start", model_folder, "--out", out)
    assert other.err.startswith(f"error: {out} holds an unfinished training with another start; ")
    other = edhie(*command, "--seed", 1, "--out", out)
    assert other.err.startswith(f"error: {out} holds an unfinished training with another configuration; ")
    seen: list[int] = []
    with monkeypatch.context() as patched:
        patched.setattr(cli_train, "_note", lambda epoch: seen.append(epoch.epoch) or "")
        assert edhie(*command, "--out", out).code == 0
    assert seen == [2]
    assert weights(out) == weights(whole)
    assert files(out) == FILES


def test_stopped_before_anything_was_learnt(
    edhie: Callable[..., Any], corpus_folder: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_train, "_note", stop_at(0))
    result = edhie("train", corpus_folder, *SMALL, "--out", out)
    assert result == (130, "", "stopped after 0 of 3 epochs; nothing is kept\n")
    assert not out.exists()


@pytest.mark.slow
def test_stopped_by_a_signal(environment: dict[str, str], corpus_folder: Path, out: Path) -> None:
    command = [sys.executable, "-c", "from edhie.cli import main; main()", "train", corpus_folder, "--hidden", "8"]
    running = subprocess.Popen(
        [*command, "--epochs", "1000000", "--out", out],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (out / STATE).exists():
        assert running.poll() is None
        time.sleep(0.02)
    os.kill(running.pid, signal.SIGINT)
    printed, err = running.communicate(timeout=60)
    assert (running.returncode, printed) == (130, "")
    assert re.fullmatch(r"stopped after \d+ of 1000000 epochs; what was learnt is kept in .*\n", err)
    assert epochs_done(out) >= 1


@pytest.mark.usefixtures("no_plot")
def test_a_finished_model_is_overwritten_only_by_force(
    edhie: Callable[..., Any], corpus_folder: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("train", corpus_folder, *SMALL, "--out", out)
    edhie(*command)
    before = weights(out)
    message = f"error: {out} holds a model already; choose another folder, or overwrite it with --force\n"
    assert edhie(*command, "--seed", 1) == (1, "", message)
    assert weights(out) == before
    with monkeypatch.context() as patched:
        patched.setattr(cli_train, "_note", stop_at(1))
        assert edhie(*command, "--seed", 1, "--force").code == 130
    assert weights(out) == before  # it stays until there is another
    load(out)
    assert edhie(*command, "--seed", 1, "--force").code == 0
    assert weights(out) != before
    assert files(out) == FILES


# -- what it refuses ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("corpus", "options", "message"),
    [
        ("nowhere/none", [], "there is no corpus folder nowhere/none"),
        ("Nguyen-3", [], "there is no corpus folder 'Nguyen-3', and no corpus of that name; did you mean 'Nguyen-"),
        ("trig5-15k", [], "Trig5-15k takes SymPy a while; build it once, then train on its folder:\n  edhie corpus bu"),
        ("Physics", ["--start", "nowhere"], "there is no model folder nowhere"),
        ("Physics", ["--weights", "nowhere.csv"], "there is no file nowhere.csv"),
        ("Physics", ["--model", "gvae", "--grammar", "trigg"], "unknown grammar 'trigg'; did you mean 'trig'?"),
    ],
    ids=["folder", "name", "slow", "start", "weights", "grammar"],
)
def test_faults(corpus: str, options: list[str], message: str, edhie: Callable[..., Any], out: Path) -> None:
    code, printed, err = edhie("train", corpus, *options, "--out", out)
    assert (code, printed) == (1, "")
    assert err.startswith(f"error: {message}")
    assert not out.exists()


def test_an_empty_corpus(edhie: Callable[..., Any], corpus_folder: Path, out: Path, tmp_path: Path) -> None:
    empty = Corpus("none", Corpus.load(corpus_folder).forest[:0]).save(tmp_path / "none")
    result = edhie("train", empty, "--out", out)
    assert result == (1, "", f"error: the corpus {empty} is empty: there is nothing to learn from\n")
    assert not out.exists()


def test_a_grammar_of_other_symbols(edhie: Callable[..., Any], corpus_folder: Path, out: Path) -> None:
    code, _, err = edhie("train", corpus_folder, "--model", "gvae", "--grammar", "nguyen-1", "--out", out)
    assert code == 1
    assert "unknown symbol '^2'" in err
    assert not out.exists()


def test_a_start_over_other_symbols(edhie: Callable[..., Any], model_folder: Path, out: Path) -> None:
    code, _, err = edhie("train", "physics", "--start", model_folder, "--out", out)
    assert code == 1
    assert err.startswith("error: the model to start from is over (")
    assert not out.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\n2\n", "weights must be 60 numbers"),
        ("1,2\n" * 60, "has 2 columns; name that of the weights 'weight'"),
        ("1\n-x\n", "line 2: '-x' is not a number"),
        ("", "is empty"),
    ],
    ids=["few", "columns", "text", "empty"],
)
def test_bad_weights(
    text: str, message: str, edhie: Callable[..., Any], corpus_folder: Path, out: Path, tmp_path: Path
) -> None:
    file = tmp_path / "w.csv"
    file.write_text(text)
    code, _, err = edhie("train", corpus_folder, "--weights", file, "--out", out)
    assert code == 1
    assert message in err
    assert not out.exists()


def test_where_nothing_can_be_made(edhie: Callable[..., Any], corpus_folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for folder in (file, file / "below", "/proc/edhie"):
        code, _, err = edhie("train", corpus_folder, *SMALL, "--out", folder)
        assert code == 1
        assert err.startswith((f"error: cannot write to {folder}: ", f"error: {folder} is a file; choose a folder"))
    assert file.read_text() == ""


def test_a_failed_training_is_told_and_leaves_nothing(
    edhie: Callable[..., Any], corpus_folder: Path, out: Path
) -> None:
    code, _, err = edhie("train", corpus_folder, *SMALL, "--divergence", "1e38", "--out", out)
    assert code == 1
    assert err.startswith("error: the training failed in epoch 1 of 3: the loss is inf; lower learning_rate")
    assert not out.exists()


@pytest.mark.usefixtures("no_plot")
def test_a_folder_whose_name_is_no_text(edhie: Callable[..., Any], corpus_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    assert edhie("train", corpus_folder, *SMALL, "--out", folder).code == 0
    assert files(folder) == FILES


@pytest.mark.usefixtures("no_plot")
def test_a_seed_of_any_size(edhie: Callable[..., Any], corpus_folder: Path, out: Path) -> None:
    assert edhie("train", corpus_folder, *SMALL, "--seed", 10**30, "--out", out).code == 0


def test_a_training_that_ends_in_an_unknown_error_leaves_nothing(
    edhie: Callable[..., Any], corpus_folder: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr("edhie.generators.train._Loop.epoch", fail)
    code, _, err = edhie("train", corpus_folder, *SMALL, "--out", out)
    assert (code, err) == (1, "error: there is too little memory for this; ask for less\n")
    assert not out.exists()
