"""Options and arguments that several commands share, and how they print expressions."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields
from inspect import Parameter
from typing import Annotated, Any, Literal, TypeVar, get_type_hints

import typer

from edhie.console import help_of, say
from edhie.expr import Expr, to_infix, to_postfix, to_prefix
from edhie.generators import HVAE, Constraints, load
from edhie.generators.base import Model
from edhie.generators.saving import shipped_names

Command = TypeVar("Command", bound=Callable[..., None])
Notation = Literal["infix", "prefix", "postfix", "latex"]
WRITERS: dict[Notation, Callable[[Expr], str]] = {
    "infix": to_infix,
    "prefix": to_prefix,
    "postfix": to_postfix,
    "latex": Expr.latex,
}
OPTION = "option"  # in the metadata of a field
NO_EXPRESSION = "(no expression)"
AT_ONCE = 10_000  # expressions drawn before they are printed: any number of them takes little memory
MOST_POINTS = 1_000_000  # of a latent space in one request: all of them are held in memory


def completing(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return a function that completes names, whatever their capitals; the shell itself completes files."""

    def complete(incomplete: str) -> list[str]:
        known = [name for name in names() if name.lower().startswith(incomplete.lower())]
        return [incomplete + name[len(incomplete) :] for name in known]

    return complete


complete_model = completing(shipped_names)
ModelFolder = Annotated[
    str, typer.Argument(help="A model folder, or a name from `edhie model list`.", autocompletion=complete_model)
]
Count = Annotated[int, typer.Option("-n", "--count", min=1, help="How many expressions.")]
Seed = Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Random seed.")]
Written = Annotated[Notation, typer.Option("--notation", help="How to write expressions.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON: one object per line.")]
Temperature = Annotated[float, typer.Option(min=0.0, help="Sampling temperature; 0 decodes greedily.")]


def option_of(config: type, field: str, *names: str, **more: Any) -> Any:
    """Return an option whose help is the docstring of a field."""
    return typer.Option(*names, help=help_of(config, field), **more)


MaxHeight = Annotated[int, option_of(Constraints, "max_height", min=1)]
MaxSize = Annotated[int, option_of(Constraints, "max_size", min=1)]
Forbid = Annotated[list[str] | None, typer.Option(help=help_of(Constraints, "forbidden") + " Give it once for each.")]


def parameters_of(asked: type) -> list[Parameter]:
    """Return an option for each field of a dataclass: the one in its metadata, or one whose help is its docstring."""
    hints, found = get_type_hints(asked), []
    for each in fields(asked):
        names = [f"--{each.name.replace('_', '-')}"] if hints[each.name] is bool else []  # without its opposite
        option = each.metadata.get(OPTION) or option_of(asked, each.name, *names)
        kind: Any = Annotated[hints[each.name], option]
        default = Parameter.empty if each.default is MISSING else each.default
        found.append(Parameter(each.name, Parameter.KEYWORD_ONLY, default=default, annotation=kind))
    return found


def with_options(options: Iterable[Parameter]) -> Callable[[Command], Command]:
    """Return a decorator that gives a command these options in place of its `**given`.

    In the help they stand behind what has to be given, and before the command's other options.
    """

    def decorate(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        own = [
            each.replace(kind=Parameter.KEYWORD_ONLY) for each in signature.parameters.values() if each.name != "given"
        ]
        needed = [each for each in own if each.default is Parameter.empty]
        parameters = [*needed, *options, *(each for each in own if each not in needed)]
        # Typer reads both
        vars(command)["__signature__"] = signature.replace(parameters=parameters)
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return command

    return decorate


def load_within(folder: str, max_height: int, max_size: int, forbid: Iterable[str] | None) -> Model:
    """Return the model, decoding within limits."""
    model = load(folder)
    constraints = Constraints(max_height=max_height, max_size=max_size, forbidden=tuple(forbid or ()))
    if constraints == Constraints():
        return model
    if not isinstance(model, HVAE):
        raise typer.BadParameter(
            f"--max-height, --max-size and --forbid are supported by HVAE only; this model is a {model.kind}"
        )
    return model.constrained(constraints)


def print_expressions(count: int, draw: Callable[[int], Iterable[Expr]], notation: Notation, *, as_json: bool) -> None:
    """Print expressions, one a line; `draw` is given the size of each part of the count."""
    for start in range(0, count, AT_ONCE):
        for expr in draw(min(AT_ONCE, count - start)):
            print_expression(expr, notation, as_json=as_json)


def print_expression(expr: Expr | None, notation: Notation, *, as_json: bool, before: str = "", **more: Any) -> None:
    """Print one line: the expression, after `before`; or a JSON object with its size, height and `more`."""
    text = NO_EXPRESSION if expr is None else WRITERS[notation](expr)
    if not as_json:
        say(f"{before}{text}")
    elif expr is None:
        print_json({**more, "expression": None})
    else:
        print_json({**more, "expression": text, "size": expr.size, "height": expr.height})


def print_json(row: dict[str, Any]) -> None:
    """Print one JSON object on a line."""
    say(json.dumps(row, ensure_ascii=False))
