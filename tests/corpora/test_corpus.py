"""A corpus is a folder that loads as it was saved; whatever is wrong with one is a clear error."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from descriptions import unsealed
from edhie.corpora import Corpus
from edhie.errors import CorpusError
from edhie.expr import Forest, SymbolLibrary, parse
from edhie.expr import standard_libraries as libraries
from strategies import GAUSS, HYPOT, any_library, exprs

LIBRARY = libraries.trig(2)
FORMULAS = ["c*sin(x0) + x1", "x0^c", "(x0 - x1)/(c + x0)"]


def corpus_of(*formulas: str, library: SymbolLibrary = LIBRARY, **provenance: Any) -> Corpus:
    return Corpus("mine", Forest.from_exprs([parse(each, library) for each in formulas], library), provenance)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return corpus_of(*FORMULAS, seed=3).save(tmp_path / "mine")


def edited(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "corpus.json"
    description = unsealed(path)
    change(description)
    path.write_text(json.dumps(description), encoding="utf-8")


# -- laws -----------------------------------------------------------------------------

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=5,
)
texts = st.text(st.characters(codec="utf-8"))


@settings(max_examples=60)
@given(st.data(), any_library, texts, st.dictionaries(texts, json_values, max_size=3))
def test_load_gives_what_was_saved_to_the_byte(
    data: st.DataObject, library: SymbolLibrary, name: str, provenance: dict[str, Any]
) -> None:
    trees = data.draw(st.lists(exprs(library), max_size=5))
    corpus = Corpus(name, Forest.from_exprs(trees, library), provenance)
    with TemporaryDirectory() as folder:
        corpus.save(f"{folder}/one")
        loaded = Corpus.load(f"{folder}/one", operators=[GAUSS, HYPOT])
        loaded.save(f"{folder}/two")
        assert loaded.name == name
        assert loaded.provenance == provenance
        assert loaded.library == library
        assert loaded.forest.to_exprs() == trees
        for file in ("corpus.json", "expressions.txt"):
            assert Path(folder, "one", file).read_bytes() == Path(folder, "two", file).read_bytes()


def test_the_folder_is_for_people(saved: Path) -> None:
    assert (saved / "expressions.txt").read_bytes().decode().splitlines() == FORMULAS
    description = json.loads((saved / "corpus.json").read_text(encoding="utf-8"))
    keys = ["kind", "format", "name", "count", "sha256", "provenance", "library", "files", "checksum"]
    assert list(description) == keys
    assert (description["format"], description["count"], description["provenance"]) == (1, 3, {"seed": 3})
    assert sorted(path.name for path in saved.iterdir()) == ["corpus.json", "expressions.txt"]


def test_an_empty_corpus(tmp_path: Path) -> None:
    assert len(Corpus.load(corpus_of().save(tmp_path / "none"))) == 0


def test_a_users_operators_come_from_the_user(tmp_path: Path) -> None:
    corpus = corpus_of("gauss(x) + x", library=SymbolLibrary.of(["+", GAUSS], ["x"]))
    corpus.save(tmp_path)
    with pytest.raises(CorpusError, match=r"the operator 'gauss' that a user added.*operators="):
        Corpus.load(tmp_path)
    assert Corpus.load(tmp_path, operators=[GAUSS]).forest.to_exprs() == corpus.forest.to_exprs()


# -- what cannot be saved -------------------------------------------------------------


def test_fitted_constants_have_no_place(tmp_path: Path) -> None:
    fitted = parse("c*x0", LIBRARY).with_constants([2.5])
    with pytest.raises(CorpusError, match=r"2\.5\*x0 has some: save its \.free\(\) form"):
        Corpus("fitted", Forest.from_exprs([fitted])).save(tmp_path / "fitted")
    assert not (tmp_path / "fitted").exists()


@pytest.mark.parametrize("value", [object(), {1, 2}, "\udcff"])
def test_a_provenance_that_is_no_json(tmp_path: Path, value: object) -> None:
    with pytest.raises(CorpusError, match="the corpus cannot be written as text"):
        corpus_of("x0", odd=value).save(tmp_path / "odd")
    assert not (tmp_path / "odd").exists()


def test_folders_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / ("long" * 100), Path("/proc/edhie")):
        with pytest.raises(CorpusError, match="cannot write the corpus to"):
            corpus_of("x0").save(folder)


# -- what cannot be loaded ------------------------------------------------------------


def test_missing_folders_and_files(saved: Path) -> None:
    with pytest.raises(CorpusError, match=r"there is no corpus folder .*nowhere"):
        Corpus.load(saved / "nowhere")
    with pytest.raises(CorpusError, match="there is no corpus folder"):
        Corpus.load(saved / "corpus.json")
    with pytest.raises(CorpusError, match="there is no corpus folder"):
        Corpus.load(saved / ("long" * 100))
    (saved / "expressions.txt").unlink()
    with pytest.raises(CorpusError, match=r"is not a corpus: it has no expressions\.txt"):
        Corpus.load(saved)
    (saved / "corpus.json").unlink()
    with pytest.raises(CorpusError, match=r"is not a corpus: it has no corpus\.json"):
        Corpus.load(saved)


@pytest.mark.parametrize("file", ["corpus.json", "expressions.txt"])
@pytest.mark.parametrize("garbage", [b"\xff\xfe\x00\x80", bytes(range(256)) * 50])
def test_binary_garbage(saved: Path, file: str, garbage: bytes) -> None:
    (saved / file).write_bytes(garbage)
    with pytest.raises(CorpusError, match=r"is damaged: .*utf-8"):
        Corpus.load(saved)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "damaged: Expecting value"),
        ('{"format": 1,', "damaged: Expecting property name"),
        ("[" * 100_000, "damaged: it is nested too deeply"),
        ("[1, 2]", "damaged: TypeError"),
        ("null", "damaged: TypeError"),
        ("{}", "damaged: KeyError"),
        ('{"format": 2}', "has format 2; this edhie reads format 1"),
        ('{"format": "1"}', "has format '1'"),
        ('{"format": 1}', "damaged: 'name' is 'missing'"),
    ],
)
def test_broken_descriptions(saved: Path, text: str, message: str) -> None:
    (saved / "corpus.json").write_text(text, encoding="utf-8")
    with pytest.raises(CorpusError, match=message):
        Corpus.load(saved)


@pytest.mark.parametrize("key", ["name", "count", "sha256", "provenance", "library"])
@pytest.mark.parametrize("value", [None, [1], 1.5])
def test_wrong_types(saved: Path, key: str, value: object) -> None:
    edited(saved, lambda description: description.update({key: value}))
    with pytest.raises(CorpusError, match=rf"corpus\.json is damaged: '{key}' is .*; delete it and build it again"):
        Corpus.load(saved)


@pytest.mark.parametrize(
    "library",
    [
        {},
        {"format": 1},
        {"format": 9, "symbols": []},
        {"format": 1, "symbols": 7},
        {"format": 1, "symbols": ["+"]},
        {"format": 1, "symbols": [{"name": 3, "kind": "variable"}]},
        {"format": 1, "symbols": [{"name": ["+"], "kind": "operator"}]},
        {"format": 1, "symbols": [{"name": "sinn", "kind": "operator"}]},
        {"format": 1, "symbols": [{"name": "x", "kind": "fruit"}]},
    ],
)
def test_wrong_libraries(saved: Path, library: dict[str, Any]) -> None:
    edited(saved, lambda description: description.update(library=library))
    with pytest.raises(CorpusError, match=r"corpus\.json (cannot be read|is damaged): \w"):
        Corpus.load(saved)


def test_a_library_that_lacks_a_symbol(saved: Path) -> None:
    edited(saved, lambda description: description["library"]["symbols"].remove({"name": "sin", "kind": "operator"}))
    with pytest.raises(CorpusError, match=r"expressions\.txt, line 1: .*'sin'"):
        Corpus.load(saved)


def test_a_wrong_count(saved: Path) -> None:
    edited(saved, lambda description: description.update(count=4))
    with pytest.raises(CorpusError, match=r"counts 4 expressions, not 3"):
        Corpus.load(saved)


@pytest.mark.parametrize(
    "change", [lambda text: text + "x0\n", lambda text: text.replace("\n", "\r\n"), lambda text: ""]
)
def test_edited_expressions(saved: Path, change: Callable[[str], str]) -> None:
    path = saved / "expressions.txt"
    path.write_bytes(change(path.read_text(encoding="utf-8")).encode())
    with pytest.raises(CorpusError, match=r"it was edited or damaged; make a corpus of it with: edhie corpus import"):
        Corpus.load(saved)
