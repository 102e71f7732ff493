"""The page about the command line has every command and every option, and other pages use no others."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer.main

from docs.pages import DOCS, PAGES, blocks, hook
from edhie.cli import app

commands = hook("commands")
REFERENCE = commands.reference()
OPTIONS = {
    name: set(re.findall(r"(?<!\w)--?[a-z][\w-]*", commands.section(name, each))) for name, each in commands.commands()
}
"""By command: its options, as the reference spells them."""
SHELL = ("sh", "console")


def test_page_has_a_place_for_the_reference() -> None:
    assert (DOCS / commands.PAGE).read_text(encoding="utf-8").count(commands.MARK) == 1


def test_every_command_is_listed() -> None:
    names = set()
    for name, command in typer.main.get_command(app).commands.items():
        names |= {f"{name} {below}" for below in getattr(command, "commands", {})} or {name}
    assert set(OPTIONS) == names
    assert all(f"### edhie {name} " in REFERENCE for name in names)


def test_every_command_is_in_the_table_of_the_page() -> None:
    page = (DOCS / commands.PAGE).read_text(encoding="utf-8")
    assert all(f"(#{name.replace(' ', '-')})" in page for name in OPTIONS)


def test_every_option_is_listed() -> None:
    for name, command in typer.main.get_command(app).commands.items():
        for below, each in (getattr(command, "commands", None) or {"": command}).items():
            spelled = {
                text for parameter in each.params if parameter.param_type_name == "option" for text in parameter.opts
            }
            assert spelled - {"--help"} <= OPTIONS[f"{name} {below}".strip()]


def used(page: Path) -> list[list[str]]:
    """The commands of edhie in the blocks of a page, as words."""
    text = "\n".join(each.text for each in blocks(page) if each.language in SHELL)
    lines = re.findall(r"^(?:\$ )?edhie (.+)$", text, flags=re.MULTILINE)
    return [shlex.split(line.split("  #")[0]) for line in lines if not line[0].isupper()]


@pytest.mark.parametrize("page", [page for page in PAGES if used(page)], ids=lambda page: page.name)
def test_pages_use_commands_and_options_that_there_are(page: Path) -> None:
    for words in used(page):
        name = words[0] if words[0] in OPTIONS else " ".join(words[:2])
        assert name in OPTIONS, words
        given = {word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert given <= OPTIONS[name], words
