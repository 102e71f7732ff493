"""The reference of the command line, written from the commands themselves, so that it cannot go stale."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from typer.main import get_command

PAGE, MARK = "cli.md", "<!-- commands -->"
NOUNS = {int: "N", float: "NUMBER", Path: "PATH"}


@dataclass(frozen=True)
class Parameter:
    """An argument or an option of a command."""

    name: str
    kind: Any
    """What it is, without `None` and `list` around it."""
    is_many: bool
    default: Any
    """`inspect.Parameter.empty` where it has to be given."""
    info: Any
    """What Typer is told of it."""

    @property
    def is_option(self) -> bool:
        """Whether it is one, and no argument."""
        return type(self.info).__name__ == "OptionInfo"

    @property
    def is_required(self) -> bool:
        """Whether it has to be given."""
        return self.default is inspect.Parameter.empty

    @property
    def spelled(self) -> str:
        """`--seed N`, `--report / --no-report`, or `DATA`."""
        if not self.is_option:
            name = f"{self.name.upper()}{'...' if self.is_many else ''}"
            return name if self.is_required else f"[{name}]"
        # in an annotation Typer keeps the first spelling where a default would be
        declared = [each for each in (self.info.default, *(self.info.param_decls or ())) if isinstance(each, str)]
        own = self.name.replace("_", "-")
        declared = declared or [f"--{own}/--no-{own}" if self.kind is bool else f"--{own}"]
        if self.kind is bool:
            return ", ".join(declared).replace("/", " / ")
        return f"{', '.join(sorted(declared))} {self.noun}"

    @property
    def noun(self) -> str:
        """What stands for its value."""
        if get_origin(self.kind) is Literal:
            return "|".join(map(str, get_args(self.kind)))
        return NOUNS.get(self.kind, "TEXT")

    @property
    def about(self) -> str:
        """Its help, its limits and its default."""
        shown, parts = self.info.show_default, [_plain(self.info.help)]
        if isinstance(shown, str):
            parts.append(f"*Default:* {shown}.")
        elif self.is_required and self.is_option:
            parts.append("**Required.**")
        elif self.kind is bool and isinstance(self.default, bool) and "/" in self.spelled:
            parts.append(f"*Default:* `{self.spelled.split(' / ')[0 if self.default else 1]}`.")
        elif self.kind is not bool and not self.is_required and self.default not in (None, ""):
            parts.append(f"*Default:* `{self.default}`.")
        return " ".join(filter(None, parts))

    @property
    def row(self) -> str:
        """A row of a table."""
        return f"| `{_in_table(self.spelled)}` | {_in_table(self.about)} |"


def commands(group: Any = None, name: str = "") -> Iterator[tuple[str, Callable[..., Any]]]:
    """Each command that does something, by what is typed: `corpus build`, not `corpus`."""
    if group is None:
        from edhie.cli import app

        group = get_command(app)
    for own, each in group.commands.items():
        typed = f"{name} {own}".strip()
        if hasattr(each, "commands"):
            yield from commands(each, typed)
        else:
            yield typed, inspect.unwrap(each.callback)


def parameters(command: Callable[..., Any]) -> list[Parameter]:
    """What a command takes."""
    hints = get_type_hints(command, include_extras=True)
    found = []
    for name, parameter in inspect.signature(command).parameters.items():
        if not hasattr(hints[name], "__metadata__"):
            continue  # Typer's context, which nobody types
        kind, info, *_ = get_args(hints[name])
        kinds = [each for each in get_args(kind) if each is not type(None)] if _is_union(kind) else [kind]
        is_many = get_origin(kinds[0]) is list
        found.append(Parameter(name, get_args(kinds[0])[0] if is_many else kinds[0], is_many, parameter.default, info))
    return found


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType)


def reference() -> str:
    """Markdown: a heading for each command, its help, its arguments and its options."""
    return "\n".join(section(name, command) for name, command in commands())


def section(name: str, command: Callable[..., Any]) -> str:
    """One command."""
    given = parameters(command)
    arguments, options = [e for e in given if not e.is_option], [e for e in given if e.is_option]
    required = [each.spelled for each in options if each.is_required]
    usage = " ".join(
        ["edhie", name, *(each.spelled for each in arguments), *required, *(["[OPTIONS]"] * bool(options))]
    )
    parts = [
        f"### edhie {name} {{ #{name.replace(' ', '-')} }}",
        "",
        _plain(command.__doc__),
        "",
        "```text",
        usage,
        "```",
    ]
    if arguments:
        parts += ["", "| argument | |", "|---|---|", *(each.row for each in arguments)]
    if options:
        parts += ["", "| option | |", "|---|---|", *(each.row for each in options)]
    return "\n".join([*parts, ""])


def _plain(text: str | None) -> str:
    return re.sub(r"\s+", " ", (text or "").strip())


def _in_table(text: str) -> str:
    return text.replace("|", "\\|")


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Put the reference in its place."""
    return markdown.replace(MARK, reference()) if page.file.src_uri == PAGE else markdown
