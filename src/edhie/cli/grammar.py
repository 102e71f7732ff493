"""`edhie grammar`: the grammars that come with edhie, and those in files."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer
from rich.table import Table

from edhie.cli.options import Count, Json, Seed, Written, completing, print_expressions, print_json
from edhie.console import console, say
from edhie.grammar import load, names

app = typer.Typer(help="Look at probabilistic grammars and draw expressions from them.", no_args_is_help=True)
complete_grammar = completing(names)
Grammar = Annotated[
    str, typer.Argument(help="The name of a grammar, or the path of a .pcfg file.", autocompletion=complete_grammar)
]


@app.command("list", epilog="Example: `edhie grammar list`")
def list_grammars(as_json: Json = False) -> None:
    """List the grammars that come with edhie."""
    table = Table("name", "rules", "derivations end with probability", "mean size", box=None)
    for name in names():
        grammar = load(name)
        rules, ending, size = len(grammar.rules), grammar.termination_probability(), grammar.expected_size()
        is_finite = bool(np.isfinite(size))
        if as_json:
            print_json({"name": name, "rules": rules, "ending": ending, "mean_size": size if is_finite else None})
        else:
            table.add_row(name, str(rules), f"{ending:.3f}", f"{size:.1f}" if is_finite else "infinite")
    if not as_json:
        console.print(table)


@app.command("show", epilog="Example: `edhie grammar show trig`")
def show_grammar(grammar: Grammar) -> None:
    """Print a grammar, and notes on properties that its author may not expect."""
    loaded = load(grammar)
    say(str(loaded))
    for remark in loaded.check():
        say(f"note: {remark}")


@app.command("sample", epilog="Example: `edhie grammar sample trig -n 20 --max-height 6`")
def sample_grammar(
    grammar: Grammar,
    count: Count = 10,
    max_height: Annotated[int | None, typer.Option(min=1, help="The greatest height, counted in nodes.")] = None,
    max_size: Annotated[int, typer.Option(min=1, help="The most nodes.")] = 100,
    seed: Seed = 0,
    notation: Written = "infix",
    as_json: Json = False,
) -> None:
    """Draw expressions from the grammar's distribution, conditional on the limits."""
    loaded, rng = load(grammar), np.random.default_rng(seed)
    within = {"max_height": max_height, "max_size": max_size}
    print_expressions(count, lambda part: loaded.sample(part, rng, **within), notation, as_json=as_json)
