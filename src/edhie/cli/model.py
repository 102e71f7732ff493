"""`edhie model`: the models that come with edhie, and those in folders."""

from __future__ import annotations

import typer

from edhie.cli.options import Json, ModelFolder, print_json
from edhie.console import say
from edhie.errors import GeneratorError, raised_as
from edhie.generators import load
from edhie.generators.saving import CARD, folder_of, shipped_names

app = typer.Typer(help="Look at trained models.", no_args_is_help=True)


@app.command("list", epilog="Example: `edhie model list`")
def list_models(as_json: Json = False) -> None:
    """List the models that come with edhie."""
    width = max(map(len, ("name", *shipped_names())))
    if not as_json:
        say(f"{'name':{width}}  kind  dimensions  symbols")
    for name in shipped_names():
        model = load(name)
        kind, dimensions, library = model.kind, model.latent_dim, model.library
        if as_json:
            print_json({"name": name, "kind": kind, "dimensions": dimensions, "symbols": library.names})
        else:  # symbols come last: there may be many, and a line is never broken
            say(f"{name:{width}}  {kind:4}  {dimensions:10}  {library}")


@app.command("show", epilog="Example: `edhie model show general-2`")
def show_model(model: ModelFolder) -> None:
    """Print a model's card: what it learnt from, how, and how well."""
    loaded = load(model)
    path = folder_of(model) / CARD
    with raised_as(GeneratorError, f"the card of {model} cannot be read"):
        card = path.read_text(encoding="utf-8") if path.exists() else ""
    without = f"{model}: {loaded.kind} of {loaded.latent_dim} dimensions over {loaded.library}; it has no card"
    say(card.strip() or without)
