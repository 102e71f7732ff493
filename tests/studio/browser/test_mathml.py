"""Mathematics enters the page through one function, which lets only mathematics in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from browsing import Server

SHOW = """async (inside) => {
    const { math } = await import("/static/js/mathml.js");
    return math(inside)?.outerHTML ?? null;
}"""


@pytest.fixture(scope="module")
def own_tab(server: Server, contexts: Callable[..., Any]) -> Iterator[Any]:
    """A tab that may complain of scripts, since these are what is tried here."""
    tab = contexts().new_page()
    tab.goto(server.address)
    yield tab
    tab.close()


@pytest.mark.parametrize(
    ("inside", "shown"),
    [
        ("<msup><mi>x</mi><mn>2</mn></msup>", "<msup><mi>x</mi><mn>2</mn></msup>"),
        ('<mi onclick="f()" class="constant" style="x">c</mi>', '<mi class="constant">c</mi>'),
        ('<mi href="javascript:f()">c</mi><script>f()</script>', "<mi>c</mi>"),
        ("<annotation-xml><img src='x'/></annotation-xml><mn>1</mn>", "<mn>1</mn>"),
        ('<mi>a</mi><img xmlns="http://www.w3.org/1999/xhtml" src="x"/>', "<mi>a</mi>"),
        ("<mtext>&lt;b&gt;</mtext>", "<mtext>&lt;b&gt;</mtext>"),
    ],
)
def test_only_known_elements_and_attributes_are_copied(own_tab: Any, inside: str, shown: str) -> None:
    assert own_tab.evaluate(SHOW, inside) == f'<math displaystyle="true">{shown}</math>'


def test_what_is_not_well_formed_is_not_shown(own_tab: Any) -> None:
    assert own_tab.evaluate(SHOW, "<mi>x") is None
    assert own_tab.evaluate(SHOW, "<mi>&nbsp;</mi>") is None
