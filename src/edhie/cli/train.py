"""`edhie train`: a model from a corpus; stopped with Ctrl-C, it resumes when run again."""

from __future__ import annotations

import shlex
import sys
from dataclasses import Field, fields
from inspect import Parameter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, get_type_hints

import typer

from edhie.cli.corpus import complete_corpus, complete_grammar
from edhie.cli.latent import read_weights
from edhie.cli.options import complete_model, option_of, with_options
from edhie.cli.outputs import MODEL, own_folder
from edhie.cli.terminal import exit_on_interrupt, noted_bar
from edhie.console import say
from edhie.corpora import Corpus, build, named_recipe, physics, recipe_names
from edhie.corpora.formulas import PHYSICS
from edhie.errors import CorpusError, GeneratorError, suggestion
from edhie.generators import TrainConfig, load
from edhie.generators.base import Model
from edhie.generators.config import MODEL_DEFAULTS
from edhie.generators.saving import FORMAT, STATE, Epoch, epochs_done
from edhie.generators.trained import Trained, train_and_save
from edhie.grammar import load as load_grammar
from edhie.view import duration


def _setting(field: Field[Any]) -> Parameter:
    """Return an option for a field of the configuration, with the defaults of all kinds of model."""
    by_model = {model: getattr(TrainConfig.of(model), field.name) for model in MODEL_DEFAULTS}  # type: ignore[arg-type]
    common = TrainConfig.model if field.name == "model" else by_model[TrainConfig.model]
    others = [f"{model}: {value}" for model, value in by_model.items() if value != common and field.name != "model"]
    option = option_of(TrainConfig, field.name, show_default="; ".join([str(common), *others]))
    kind: Any = Annotated[get_type_hints(TrainConfig)[field.name] | None, option]
    return Parameter(field.name, Parameter.KEYWORD_ONLY, default=None, annotation=kind)


@with_options(map(_setting, fields(TrainConfig)))
def train(
    corpus: Annotated[
        str, typer.Argument(help="A corpus folder, or a name from `edhie corpus list`.", autocompletion=complete_corpus)
    ],
    out: Annotated[Path, typer.Option(help="The folder to make.")],
    grammar: Annotated[
        str | None, typer.Option(help="The grammar of a gvae: a name or a file.", autocompletion=complete_grammar)
    ] = None,
    start: Annotated[str | None, typer.Option(help="A model to fine-tune.", autocompletion=complete_model)] = None,
    weights: Annotated[
        Path | None,
        typer.Option(help="Weights of the expressions: a file with one per line, or a CSV column `weight`."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the model that is in the folder.")] = False,
    **given: Any,
) -> None:
    """Train a model on a corpus. Stopped with Ctrl-C, it resumes when run again, and ends with the same weights."""
    begun = load(start) if start is not None else None
    config = _config({name: value for name, value in given.items() if value is not None}, begun)
    if grammar is not None and config.model != "gvae":
        raise typer.BadParameter(f"--grammar is for --model gvae; {config.model} needs none")
    if grammar is not None and begun is not None:
        raise typer.BadParameter("the model to --start from has its own grammar")

    def when_stopped() -> str:
        finished, kept = epochs_done(out), f"what was learnt is kept in {out}: the same command resumes from there"
        return f"stopped after {finished} of {config.epochs} epochs; {kept if finished else 'nothing is kept'}"

    with own_folder(out, MODEL, force=force), exit_on_interrupt(when_stopped):
        if not force and FORMAT.is_whole(out) and not (out / STATE).exists():
            raise GeneratorError(f"{out} holds a model already; choose another folder, or overwrite it with --force")
        found = training_corpus(corpus)
        with noted_bar() as progress:
            task = progress.add_task("epoch", total=config.epochs, completed=epochs_done(out), note="")
            done = train_and_save(
                out, found, config,
                weights=None if weights is None else read_weights(weights),
                start=begun,
                grammar=None if grammar is None else load_grammar(grammar, found.library),
                on_epoch=lambda epoch, total: progress.update(task, completed=epoch.epoch + 1, note=_note(epoch)),
                command=shlex.join(["edhie", *sys.argv[1:]]),
                notes={"started from": start, "weights": weights, "grammar": grammar},
                plot=True,
            )  # fmt: skip
    _print_quality(done, out)


def _note(epoch: Epoch) -> str:
    parts = f"loss {epoch.loss:.3g}, rec. {epoch.reconstruction:.3g}, KL {epoch.divergence:.3g}"
    return f"{parts}, {epoch.trees_per_s:,.0f} trees/s"


def _config(given: dict[str, Any], start: Model | None) -> TrainConfig:
    """Return the configuration asked for; sizes that are not given are those of the model to start from."""
    if start is not None:
        given = {"model": start.kind, "hidden": start.hidden_dim, "latent": start.latent_dim} | given
    try:
        return TrainConfig.of(given.pop("model", TrainConfig.model), **given)
    except GeneratorError as error:
        raise typer.BadParameter(str(error)) from None


def training_corpus(name: str) -> Corpus:
    """Return the corpus of a folder, or a named one where building it is quick."""
    known = {each.lower(): each for each in (*recipe_names(), PHYSICS)}
    if Path(name).exists() or "/" in name or "\\" in name:
        corpus = Corpus.load(name)
        if len(corpus) == 0:
            raise CorpusError(f"the corpus {name} is empty: there is nothing to learn from")
        return corpus
    if name.lower() not in known:
        hint = suggestion(name, known.values()) or f"; the named ones are {', '.join(known.values())}"
        raise CorpusError(f"there is no corpus folder {name!r}, and no corpus of that name{hint}")
    if known[name.lower()] == PHYSICS:
        return physics()
    recipe = named_recipe(name)
    if recipe.simplify:
        folder = f"corpora/{recipe.name.lower()}"
        raise CorpusError(
            f"{recipe.name} takes SymPy a while; build it once, then train on its folder:\n"
            f"  edhie corpus build {recipe.name} --out {folder}\n  edhie train {folder} ..."
        )
    with TemporaryDirectory() as folder:
        return build(recipe, folder)


def _print_quality(done: Trained, folder: Path) -> None:
    count, measured, model = len(done.history), done.measured, done.model
    epochs = "1 epoch" if count == 1 else f"{count} epochs"
    learnt_from = f"{done.corpus.name} ({len(done.corpus)} expressions) for {epochs} in {duration(done.seconds)}"
    say(f"{folder}: {model.kind} of {model.latent_dim} dimensions, trained on {learnt_from}")
    of = "held-out expressions" if len(done.held_out) else "expressions that it was trained on"
    distance = measured.distance_text if measured.invalid == measured.n else f"edit distance {measured.distance_text}"
    shares = f"{100 * measured.exact:.1f} % exact, {measured.invalid_percent:.1f} % invalid"
    say(f"  on {measured.n} {of}: {distance}, {shares}")
