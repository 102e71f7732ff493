"""`edhie train`: a model from a corpus; stopped with Ctrl-C, it goes on when run again."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from edhie.cli.grammar import complete_name as complete_grammar
from edhie.cli.number_files import read_weights
from edhie.cli.options import complete_model
from edhie.cli.terminal import INTERRUPTED, is_interruption, noted_bar
from edhie.cli.trained import Done, tell, write
from edhie.cli.training_corpus import complete_corpus, training_corpus
from edhie.cli.unfinished import check_no_model, epochs_kept, unclaim
from edhie.console import error_console, help_of, say
from edhie.corpora import Corpus
from edhie.errors import GeneratorError
from edhie.generators import TrainConfig, load
from edhie.generators.base import Model
from edhie.generators.checkpoint import clear_state
from edhie.generators.config import MODEL_DEFAULTS, Device, ModelName
from edhie.generators.schedules import ScheduleName
from edhie.grammar import PCFG
from edhie.grammar import load as load_grammar

if TYPE_CHECKING:
    from edhie.generators.train import Epoch

FIELDS = {field.name for field in fields(TrainConfig)}


def _setting(name: str) -> Any:
    """An option for a field of the configuration, with the defaults of all kinds of model."""
    by_model = {model: getattr(TrainConfig.of(model), name) for model in MODEL_DEFAULTS}  # type: ignore[arg-type]
    common = by_model[TrainConfig.model]
    others = [f"{model}: {value}" for model, value in by_model.items() if value != common]
    return typer.Option(help=help_of(TrainConfig, name), show_default="; ".join([str(common), *others]))


@dataclass(frozen=True)
class _Inputs:
    """What a model learns from."""

    corpus: Corpus
    weights: NDArray[np.float64] | None
    grammar: PCFG | None


def train(
    context: typer.Context,
    corpus: Annotated[
        str,
        typer.Argument(help="A corpus folder, or a name from `edhie corpus list`.", autocompletion=complete_corpus),
    ],
    out: Annotated[Path, typer.Option(help="The folder to make.")],
    model: Annotated[
        ModelName | None, typer.Option(help=help_of(TrainConfig, "model"), show_default=TrainConfig.model)
    ] = None,
    hidden: Annotated[int | None, _setting("hidden")] = None,
    latent: Annotated[int | None, _setting("latent")] = None,
    epochs: Annotated[int | None, _setting("epochs")] = None,
    batch: Annotated[int | None, _setting("batch")] = None,
    learning_rate: Annotated[float | None, _setting("learning_rate")] = None,
    warm_up: Annotated[float | None, _setting("warm_up")] = None,
    schedule: Annotated[ScheduleName | None, _setting("schedule")] = None,
    divergence: Annotated[float | None, _setting("divergence")] = None,
    free_bits: Annotated[float | None, _setting("free_bits")] = None,
    validation: Annotated[float | None, _setting("validation")] = None,
    patience: Annotated[int | None, _setting("patience")] = None,
    seed: Annotated[int | None, _setting("seed")] = None,
    device: Annotated[Device | None, _setting("device")] = None,
    threads: Annotated[int | None, _setting("threads")] = None,
    grammar: Annotated[
        str | None,
        typer.Option(help="What a gvae writes with: a grammar's name or file.", autocompletion=complete_grammar),
    ] = None,
    start: Annotated[
        str | None, typer.Option(help="A model to go on from: fine-tuning.", autocompletion=complete_model)
    ] = None,
    weights: Annotated[
        Path | None, typer.Option(help="How much each expression counts: a number a line, or a CSV column `weight`.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the model that is in the folder.")] = False,
) -> None:
    """Train a model on a corpus. Stopped with Ctrl-C, it goes on when run again, and ends as if it had not been."""
    given = {name: value for name, value in context.params.items() if name in FIELDS and value is not None}
    begun = load(start) if start is not None else None
    config = _config(given, begun)
    if grammar is not None and config.model != "gvae":
        raise typer.BadParameter(f"--grammar is for --model gvae; {config.model} needs none")
    if grammar is not None and begun is not None:
        raise typer.BadParameter("the model to --start from has its own grammar")
    if not force:
        check_no_model(out)
    try:
        from edhie.generators.train import train as run

        inputs = _inputs(corpus, weights, grammar)
        with noted_bar() as progress:
            task = progress.add_task("epoch", total=config.epochs, completed=epochs_kept(out), note="")
            learnt, history = run(
                inputs.corpus.forest, config, weights=inputs.weights, start=begun, grammar=inputs.grammar, folder=out,
                on_epoch=lambda epoch, total: progress.update(task, completed=epoch.epoch + 1, note=_note(epoch)),
            )  # fmt: skip
        done = Done(learnt, config, inputs.corpus, [asdict(epoch) for epoch in history])
        write(done, out, more={"started from": start, "weights": weights, "grammar": grammar})
    except BaseException as error:  # whatever it was, no empty folder is left behind
        unclaim(out)
        if not is_interruption(error):
            raise
        _tell_stopped(out, config.epochs)
        raise typer.Exit(INTERRUPTED) from None
    clear_state(out)
    tell(done, out)


def _tell_stopped(out: Path, epochs: int) -> None:
    finished = epochs_kept(out)
    kept = f"what was learnt is kept in {out}: the same command goes on from there"
    say(f"stopped after {finished} of {epochs} epochs; {kept if finished else 'nothing is kept'}", to=error_console)


def _note(epoch: Epoch) -> str:
    parts = f"loss {epoch.loss:.3g}, rec. {epoch.reconstruction:.3g}, KL {epoch.divergence:.3g}"
    return f"{parts}, {epoch.trees_per_s:,.0f} trees/s"


def _inputs(corpus: str, weights: Path | None, grammar: str | None) -> _Inputs:
    found = training_corpus(corpus)
    return _Inputs(
        found,
        None if weights is None else read_weights(weights),
        None if grammar is None else load_grammar(grammar, found.library),
    )


def _config(given: dict[str, Any], start: Model | None) -> TrainConfig:
    """The configuration asked for; sizes that are not given are those of the model to start from."""
    if start is not None:
        given = {"model": start.kind, "hidden": start.hidden_dim, "latent": start.latent_dim} | given
    try:
        return TrainConfig.of(given.pop("model", TrainConfig.model), **given)
    except GeneratorError as error:
        raise typer.BadParameter(str(error)) from None
