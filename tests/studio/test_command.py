"""What is asked becomes arguments of the command, whatever columns are called; and events are read back as written."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.safe_text import from_line
from edhie.studio.question import Refused, read_question
from edhie.studio.queue import arguments_of
from edhie.studio.runs import Run, Shelf
from edhie.studio.tail import Tail

NAMES = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1).map(str.strip)


def run_of(folder: Path, **asked: Any) -> Run:
    question = read_question({"target": "y"} | asked)
    return Run("r", folder, {"kind": question.pop("kind"), "question": question, "table": "table.csv"})


@given(st.lists(NAMES.filter(bool), min_size=1))
def test_columns_of_any_name(names: list[str]) -> None:
    (features,) = [each for each in arguments_of(run_of(Path("run"), features=names)) if each.startswith("--features=")]
    assert list(from_line(features.removeprefix("--features="))) == names


@given(NAMES.filter(bool))
def test_no_text_is_an_option(text: str) -> None:
    for asked in ({"target": text}, {"sigma": text}, {"guesses": [text]}, {"template": text}):
        usual, found = (arguments_of(run_of(Path("run"), **each)) for each in ({}, asked))
        (new,) = set(found) - set(usual) or {"--target=y"}
        assert new == f"--{'guess' if 'guesses' in asked else next(iter(asked))}={text}"
    *_, separator, formula, table = arguments_of(run_of(Path("run"), kind="revise", formula=text))
    assert (separator, formula, table) == ("--", text, str(Path("run/studio/table.csv")))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists) | st.just({}))
def test_a_question_is_read_or_refused(value: Any) -> None:
    for field in ("kind", "target", "features", "operators", "max_time", "seed", "options", "guesses", "noise"):
        with suppress(Refused):
            question = read_question({"target": "y", field: value})
            assert read_question(question) == question
            json.dumps(question, allow_nan=False)


def test_a_new_run_is_found_again(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    run = shelf.new("../<b>Ä name</b>", "fit", {"target": "y"})
    run.note["table"] = "table.csv"
    shelf.add(run)
    assert run.folder.parent == tmp_path
    again = Shelf(tmp_path).run(run.id)
    assert (again.note["name"], again.state) == ("../<b>Ä name</b>", "waiting")
    with pytest.raises(Refused, match="no such run"):
        shelf.run("..")


def test_events_are_followed(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    tail = Tail(path)
    tail.read()
    path.write_text('{"event": "started"}\n{"event": "front", "front": [{"text": "x"}, {"text": "y"}], "chosen": 0}\n')
    tail.read()
    assert (tail.n_starts, tail.best, tail.progress) == (1, {"text": "x"}, None)
    with path.open("a") as file:
        file.write('no JSON\n[1]\n{"event": "progressed", "executed": 5}\n{"event": "progressed", "exe')
    tail.read()
    assert tail.progress is not None
    assert (tail.progress["executed"], tail.progress["chosen"], tail.progress["rate"]) == (5, 0, None)
    with path.open("a") as file:
        file.write('cuted": 6}\n{"event": "finished", "reason": "seconds"}\n')
    tail.read()
    assert (tail.progress["executed"], tail.finished) == (
        6, {"reason": "seconds", "executed": None, "seconds": None},
    )  # fmt: skip
    path.write_text('{"event": "started"}\n')  # written anew
    tail.read()
    assert (tail.n_starts, tail.progress, tail.finished) == (1, None, None)


def test_of_a_huge_file_of_events_the_end_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edhie.studio.tail.CHUNK", 1000)
    monkeypatch.setattr("edhie.studio.tail.LONGEST_LINE", 3000)
    monkeypatch.setattr("edhie.studio.tail.MOST", 50_000)
    path = tmp_path / "events.jsonl"
    line = '{"event": "progressed", "executed": %d}\n'
    path.write_text('{"event": "started"}\n' + (line % 1) * 3000)
    tail = Tail(path)
    tail.read()
    assert (tail.n_starts, tail.place, tail.progress and tail.progress["executed"]) == (0, path.stat().st_size, 1)
    with path.open("a") as file:  # a line that is too long, and holds what looks like an event
        file.write('{"event": "started", "a": "' + "x" * 5000 + '"}\n' + line % 2)
    tail.read()
    assert (tail.n_starts, tail.progress and tail.progress["executed"]) == (0, 2)
