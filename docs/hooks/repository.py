"""Files of the repository that the site shows beside those in `docs`: results, tables, the changelog.

They keep their paths, so what they link to is where they look for it. In a page of `docs`, `../perf/results/search.txt`
is right where the repository itself is read, and becomes `perf/results/search.txt` here.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCS = "docs"
PUBLISHED = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "examples/data/orbits.csv",
    "experiments/README.md",
    "experiments/results/*.*",
    "perf/results/*.*",
)
LINK = re.compile(r"(\]\()(?!\w+:|#|/)([^)\s#]+)")


def published() -> list[str]:
    """The paths, from the root of the repository on."""
    return sorted(path.relative_to(ROOT).as_posix() for pattern in PUBLISHED for path in ROOT.glob(pattern))


def relinked(markdown: str, path: str) -> str:
    """A text of the repository's file `path` with its links as the site has them."""
    here = posixpath.dirname(path)
    there = posixpath.dirname(path_on_site(path))

    def link(match: re.Match[str]) -> str:
        target = path_on_site(posixpath.normpath(posixpath.join(here, match[2])))
        return match[1] + posixpath.relpath(target, there or ".")

    return LINK.sub(link, markdown)


def path_on_site(path: str) -> str:
    """Where a file of the repository is on the site: what is in `docs` is at its top."""
    return path.removeprefix(f"{DOCS}/")


def on_files(files: Any, *, config: Any) -> Any:
    """Add what is published."""
    from mkdocs.structure.files import File

    for path in published():
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Links as the site has them."""
    source = Path(page.file.abs_src_path)
    return relinked(markdown, source.relative_to(ROOT).as_posix())
