"""Tables of interpolation: written, read again, and not made twice."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

import interpolation
from edhie.expr import parse
from edhie.generators.walks import Step
from interpolation import LIBRARY, STEPS, read_table, read_walk, table

COMMITTED = Path(interpolation.__file__).parent / "results" / "interpolation.md"


def test_a_table_is_read_as_it_was_written() -> None:
    exprs = [parse(text, LIBRARY) for text in ("x0 + c", "sin(x0)", "c*x0^c - x0", "cos(c)/x0")]
    walk = [Step(0.25 * k, each) for k, each in enumerate([*exprs, None])]
    pairs = [{"dataset": name, "a": "x0", "b": "x0 + c"} for name in ("one", "two")]
    written = [table(pair, {"hvae": walk[::order], "cvae": walk}) for pair, order in zip(pairs, (1, -1), strict=True)]
    text = "\n".join(["# Title\n", *written])
    for pair, its in zip(pairs, written, strict=True):
        assert read_table(text, pair) == its
    assert read_walk(written[0]) == walk
    assert read_table(text, pairs[0] | {"b": "x0"}) is None


def test_pairs_that_are_in_the_results_need_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(COMMITTED, tmp_path)
    monkeypatch.setattr(interpolation, "first_fold_model", lambda *_: pytest.fail("a model was asked for"))
    monkeypatch.setattr(sys, "argv", ["interpolation.py", "--results", str(tmp_path)])
    interpolation.main()
    text = (tmp_path / COMMITTED.name).read_text(encoding="utf-8")
    assert text == COMMITTED.read_text(encoding="utf-8")
    assert len(re.findall(r"^\| \d", text, re.MULTILINE)) == (STEPS + 1) * text.count("\n## ")
    assert len(list(tmp_path.glob("*.png"))) == 2
