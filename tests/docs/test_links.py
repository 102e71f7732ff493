"""Every link within the documentation leads somewhere, and the table of contents has every page, once."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

import pytest

from docs.pages import DOCS, PAGES, ROOT, hook, prose

repository = hook("repository")
PUBLISHED = repository.published()
TARGET = re.compile(r"\]\((?!\w+:)([^)\s]+)\)")
NAV = re.compile(r"^ +- (?:[^:\n]+: )?(\S+\.md)$", flags=re.MULTILINE)


def slug(heading: str) -> str:
    """A heading's anchor, as Markdown's table of contents makes it."""
    plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def anchors(page: Path) -> set[str]:
    """The anchors of a page: of its headings, of what its directives list, and of the commands."""
    text = page.read_text(encoding="utf-8")
    found = {slug(each) for each in re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)}
    found |= set(re.findall(r"^::: (\S+)$", text, flags=re.MULTILINE))
    if page == DOCS / "cli.md":
        found |= {name.replace(" ", "-") for name, _ in hook("commands").commands()}
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target in TARGET.findall(prose(page)):
        path, _, anchor = target.partition("#")
        file = Path(posixpath.normpath(page.parent / path)) if path else page
        assert file.is_file(), f"{page.name}: {target}"
        inside = file.is_relative_to(DOCS)
        assert inside or file.relative_to(ROOT).as_posix() in PUBLISHED, f"{page.name}: {target} is not on the site"
        assert not anchor or anchor in anchors(file), f"{page.name}: {target} has no such anchor"


def test_contents_list_every_page_once() -> None:
    listed = NAV.findall((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert len(listed) == len(set(listed))
    assert {page.relative_to(DOCS).as_posix() for page in PAGES} <= set(listed)
    assert all((DOCS / each).is_file() or each in PUBLISHED for each in listed)


def test_included_scripts_are_there() -> None:
    included = [each for page in PAGES for each in re.findall(r'--8<-- "([^"]+)"', page.read_text(encoding="utf-8"))]
    assert included
    assert all((ROOT / each).is_file() for each in included)


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("docs/limits.md", "[a](../perf/results/search.txt)", "[a](perf/results/search.txt)"),
        ("docs/limits.md", "[a](budget.md#how-long)", "[a](budget.md#how-long)"),
        ("docs/reference/bench.md", "[a](../cli.md#bench)", "[a](../cli.md#bench)"),
        ("CONTRIBUTING.md", "[a](docs/architecture.md)", "[a](architecture.md)"),
        ("experiments/README.md", "[a](results/noise.md)", "[a](results/noise.md)"),
        ("experiments/README.md", "![b](../docs/assets/b.png)", "![b](../assets/b.png)"),
        ("docs/index.md", "[a](https://doi.org/10) [b](#install)", "[a](https://doi.org/10) [b](#install)"),
    ],
)
def test_links_are_those_of_the_site(path: str, text: str, expected: str) -> None:
    assert repository.relinked(text, path) == expected
