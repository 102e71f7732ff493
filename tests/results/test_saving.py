"""A result on disk: what is loaded is what was saved, and what is damaged is told in one error."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptions import unsealed
from edhie.errors import SearchError
from edhie.expr import Forest, SymbolLibrary, operator, parse
from edhie.results import Candidates, Front, History, SearchCounts, SearchResult
from searches import assert_same
from strategies import LIBRARIES, forests

FILES = ("result.json", "symbols.json", "candidates.jsonl", "front.csv", "history.csv")


def result_of(forest: Forest, errors: list[float] | None = None) -> SearchResult:
    count = len(forest)
    given = np.arange(count, 0, -1) / 3 if errors is None else np.array(errors)
    candidates = Candidates(forest, given, forest.sizes.astype(np.float64), np.arange(1, count + 1))
    history = History().extended(np.array([1, 7]), np.array([0.1, 1 / 3]), screened=5, seconds=0.25)
    counts = SearchCounts(executed=count, screened=5, refits=1, asked=9)
    return SearchResult(Front.of(candidates, negligible=1e-9), candidates, counts, history, 1.5, "target", 3, "draw")


def small() -> SearchResult:
    return result_of(Forest.from_exprs([], SymbolLibrary.of(["+"], ["x"])))


@pytest.mark.parametrize("library", [name for name in LIBRARIES if "user" not in name])
@given(data=st.data())
def test_loaded_is_what_was_saved(library: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    forest = data.draw(forests(LIBRARIES[library]))
    errors = data.draw(st.lists(st.floats(0, np.inf), min_size=len(forest), max_size=len(forest)))
    result = result_of(forest, errors)
    folder = result.save(tmp_path_factory.mktemp("result") / "deep" / "er")
    loaded = SearchResult.load(folder)
    assert_same(loaded, result)
    assert loaded.seconds == result.seconds
    np.testing.assert_array_equal(loaded.history.seconds, result.history.seconds)


def test_a_folder_can_be_read_by_a_person(tmp_path: Path) -> None:
    library = SymbolLibrary.of(["+", "*"], ["x"], constant=True)
    fitted = parse("c*x + c", library).with_constants([2.0, 0.5])
    result = result_of(Forest.from_exprs([parse("x", library), fitted], library), [3.0, np.inf])
    folder = result.save(tmp_path)
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    rows = [json.loads(line) for line in (folder / "candidates.jsonl").read_text().splitlines()]
    assert rows[0] == {"infix": "x", "error": 3.0, "complexity": 1, "executed_at": 1, "constants": []}
    assert rows[1] == {"infix": "c*x + c", "error": None, "complexity": 5, "executed_at": 2, "constants": [2.0, 0.5]}
    assert (folder / "front.csv").read_text().splitlines() == ["complexity,error,executed_at,expression", "1,3.0,1,x"]
    assert (folder / "history.csv").read_text().splitlines()[1] == "1,5,0.25,0.1"


def test_a_user_s_operators_are_passed_again(tmp_path: Path) -> None:
    gauss = operator("gauss", 1, numpy=lambda a: np.exp(-np.square(a)))
    library = SymbolLibrary.of([gauss], ["x"])
    folder = result_of(Forest.from_exprs([parse("gauss(x)", library)])).save(tmp_path)
    assert str(SearchResult.load(folder, operators=[gauss]).candidates.forest[0]) == "gauss(x)"
    with pytest.raises(SearchError, match="operators="):
        SearchResult.load(folder)


@pytest.mark.parametrize("name", [name for name in FILES if name != "front.csv"])
def test_a_missing_file_is_told(name: str, tmp_path: Path) -> None:
    folder = small().save(tmp_path)
    (folder / name).unlink()
    with pytest.raises(SearchError, match=f"is not a result: it has no {name}"):
        SearchResult.load(folder)


@pytest.mark.parametrize("name", [name for name in FILES if name != "front.csv"])
@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b"[" * 5000, b"nonsense,1\n2"])
def test_a_damaged_file_is_told(name: str, content: bytes, tmp_path: Path) -> None:
    library = SymbolLibrary.of(["+"], ["x"])
    folder = result_of(Forest.from_exprs([parse("x + x", library)])).save(tmp_path)
    (folder / name).write_bytes(content)
    with pytest.raises(SearchError, match=r"damaged|cannot be read|format"):
        SearchResult.load(folder)


def test_another_format_is_told(tmp_path: Path) -> None:
    folder = small().save(tmp_path)
    description = unsealed(folder / "result.json")
    (folder / "result.json").write_text(json.dumps(description | {"format": 2}))
    with pytest.raises(SearchError, match="has format 2; this edhie reads format 1"):
        SearchResult.load(folder)
    (folder / "result.json").write_text(json.dumps(description | {"stopped": "bored"}))
    with pytest.raises(SearchError, match="bored"):
        SearchResult.load(folder)


def test_a_place_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SearchError, match="cannot write the result"):
        small().save(tmp_path / "file")
    if os.geteuid() != 0:
        tmp_path.chmod(0o500)
        with pytest.raises(SearchError, match="cannot write the result"):
            small().save(tmp_path / "new")


def test_counts_as_text() -> None:
    assert str(SearchCounts(executed=12_345, screened=7)) == "12,345 expressions tried"


def test_a_history_tells_the_best_so_far() -> None:
    history = History().extended(np.array([2, 5]), np.array([3.0, 1.0]), screened=0, seconds=0.0)
    assert history.best_at(np.array([1, 2, 4, 5, 99])).tolist() == [np.inf, 3.0, 3.0, 1.0, 1.0]
    assert (History().best, history.best) == (np.inf, 1.0)
