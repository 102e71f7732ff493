"""Building: what a recipe says, to the byte, however it was run, stopped and gone on with."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
import sympy

from edhie.corpora import Corpus, Recipe, build, named_recipe
from edhie.corpora.corpus import expressions_text
from edhie.corpora.recipes import known_checksum
from edhie.errors import CorpusError, GrammarError
from edhie.expr import Expr, parse
from edhie.expr.sympy_tasks import answer, expr_from, request
from edhie.storage import digest

builder = import_module("edhie.corpora.build")  # the module, which the function of its name hides
SMALL = Recipe("trig", 300, 4, simplify=True, name="small")  # which `small` is built from
PLAIN = Recipe("nguyen-2", 500, 5, name="plain")
RUN_SMALL = """
import sys
from edhie.corpora import Recipe, build
build(Recipe("trig", 300, 4, simplify=True, name="small"), sys.argv[1], workers=2)
"""


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, those of an unfinished build among them."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def tidied(expr: Expr) -> Expr:
    found = expr_from(answer(request("tidy", [expr])), expr.library)
    return found.numbers_to_constants().free().cast(expr.library)


def assert_is_what_was_asked_for(corpus: Corpus, recipe: Recipe) -> None:
    assert len(corpus) == recipe.size
    assert len(corpus.forest.unique()) == recipe.size
    assert corpus.forest.heights.max() <= recipe.max_height
    assert corpus.library == recipe.load_grammar().library
    assert all(None is value for expr in corpus.forest for value in expr.constants)


# -- laws -----------------------------------------------------------------------------


def test_simplified(small: Path) -> None:
    corpus = Corpus.load(small)
    assert_is_what_was_asked_for(corpus, SMALL)
    assert sorted(bytes_of(small)) == ["corpus.json", "expressions.txt"]
    powers = [expr for expr in corpus.forest if "^" in expr.tokens]
    assert parse("x0^c", corpus.library) in powers
    assert len(powers) > 10
    told = corpus.provenance
    assert told["simplified by"] == f"SymPy {sympy.__version__}"
    assert Recipe(*(told[key] for key in ("grammar", "size", "max_height", "simplify", "seed")), "small") == SMALL
    assert set(told["left out"]) >= {"repeated", "too high"}
    assert "\n".join(told["grammar rules"]) in str(SMALL.load_grammar())


def test_simplified_expressions_are_in_their_simplest_form(small: Path) -> None:
    exprs = list(Corpus.load(small).forest)
    again = [tidied(expr) for expr in exprs]
    # a few sums of fractions go back and forth: the order that SymPy gives them follows their constants' numbers
    assert sum(new != old for new, old in zip(again, exprs, strict=True)) <= len(exprs) // 50
    assert parse("c + x0", exprs[0].library) in exprs
    assert parse("x0 + c", exprs[0].library) not in exprs


def test_one_worker_builds_the_same_bytes(small: Path, tmp_path: Path) -> None:
    build(SMALL, tmp_path, workers=1)
    assert bytes_of(tmp_path) == bytes_of(small)


def test_a_stopped_build_goes_on_to_the_same_bytes(small: Path, tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        assert 0 < done < total
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(SMALL, tmp_path, workers=2, on_progress=stop)
    assert sorted(bytes_of(tmp_path)) == [".unfinished/recipe.json", ".unfinished/round-00000.txt"]
    seen: list[tuple[int, int]] = []
    build(SMALL, tmp_path, workers=2, on_progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (300, 300)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert bytes_of(tmp_path) == bytes_of(small)


def test_a_killed_build_goes_on_to_the_same_bytes_with_any_hash_seed(small: Path, tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONHASHSEED": "123"}
    command = [sys.executable, "-c", RUN_SMALL, str(tmp_path)]
    process = subprocess.Popen(command, env=environment)
    log = tmp_path / ".unfinished"
    try:
        while not (log / "round-00000.txt").exists():
            assert process.poll() is None
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not (tmp_path / "corpus.json").exists()
    (log / "round-00001.part").write_text("half a li")  # as a kill in the middle of writing leaves it
    subprocess.run(command, env=environment | {"PYTHONHASHSEED": "321"}, check=True)
    assert bytes_of(tmp_path) == bytes_of(small)


def test_work_done_is_not_done_again(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(done: int, total: int) -> None:
        if done > 200:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(SMALL, tmp_path, workers=2, on_progress=stop)
    # what is left has only to be read: SymPy is not there to be asked
    monkeypatch.setattr(builder, "_tidied", lambda exprs, pool: pytest.fail("asked SymPy"))
    fewer = replace(SMALL, size=150)
    corpus = build(fewer, tmp_path, workers=2)
    assert_is_what_was_asked_for(corpus, fewer)
    assert corpus.forest.to_exprs() == Corpus.load(small).forest[:150].to_exprs()


@pytest.mark.parametrize("recipe", [PLAIN, Recipe("ae", 300, 6), Recipe("feynman-2", 300, 9, seed=5)])
def test_drawn(recipe: Recipe, tmp_path: Path) -> None:
    corpus = build(recipe, tmp_path / "one")
    again = build(replace(recipe, name="one"), tmp_path / "two")
    assert_is_what_was_asked_for(corpus, recipe)
    assert "simplified by" not in corpus.provenance
    assert corpus.name == (recipe.name or "one")
    assert corpus.forest.to_exprs() == again.forest.to_exprs() == Corpus.load(tmp_path / "one").forest.to_exprs()


def test_fewer_are_the_first_of_more(tmp_path: Path) -> None:
    more, fewer = (build(replace(PLAIN, size=size), tmp_path / str(size)) for size in (1500, 700))
    assert fewer.forest.to_exprs() == more.forest[:700].to_exprs()


def test_other_seeds_give_other_corpora(tmp_path: Path) -> None:
    one, two = (build(replace(PLAIN, seed=seed), tmp_path / str(seed)) for seed in (0, 1))
    assert set(one.forest) != set(two.forest)


def test_the_name_is_the_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert build(replace(PLAIN, name=""), ".").name == "here"


def test_grammars_without_constants_can_be_simplified(tmp_path: Path) -> None:
    recipe = Recipe("nguyen-1", 60, 3, simplify=True)
    corpus = build(recipe, tmp_path, workers=2)
    assert_is_what_was_asked_for(corpus, recipe)
    assert {"x0^2", "x0^c", "c"} <= set(map(str, corpus.forest))


# -- the paper's sets -----------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Trig4-2k"])  # AE4-2k takes twice as long, and has nothing else
def test_the_papers_small_sets(name: str, tmp_path: Path) -> None:
    recipe = named_recipe(name)
    corpus = build(recipe, tmp_path)
    assert_is_what_was_asked_for(corpus, recipe)
    assert len(corpus) == 2000
    assert corpus.forest.heights.max() == 4
    used = {token for expr in corpus.forest for token in expr.tokens}
    assert used == set(corpus.library.names) >= {"+", "-", "*", "/", "^", "x0", "c"}
    assert ("sin" in used) == name.startswith("Trig")
    if sympy.__version__.startswith("1.14") and known_checksum(name):
        assert digest(expressions_text(corpus.forest)) == known_checksum(name)


# -- faults ---------------------------------------------------------------------------


def test_a_folder_that_holds_a_corpus(small: Path) -> None:
    before = bytes_of(small)
    for recipe in (SMALL, PLAIN):
        with pytest.raises(CorpusError, match="holds a corpus already; choose another folder or remove it"):
            build(recipe, small)
    assert bytes_of(small) == before


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"max_height": 3}, {"grammar": "ae"}, {"grammar": "gvae-trig"}], ids=str
)
def test_an_unfinished_build_of_another_recipe(tmp_path: Path, change: dict[str, object]) -> None:
    start(tmp_path, SMALL)
    before = bytes_of(tmp_path)
    with pytest.raises(
        CorpusError, match=r"unfinished build of another recipe; remove .*\.unfinished or choose another"
    ):
        build(replace(SMALL, **change), tmp_path)  # type: ignore[arg-type]
    assert bytes_of(tmp_path) == before


def start(folder: Path, recipe: Recipe) -> None:
    """Begin a build and leave it before its first round."""
    log = folder / ".unfinished"
    builder._open_log(log, recipe, recipe.load_grammar())


def test_an_unfinished_build_whose_grammar_file_has_changed(tmp_path: Path) -> None:
    grammar = tmp_path / "mine.pcfg"
    grammar.write_text("E -> E '+' E [0.3] | 'x0' [0.7]\n", encoding="utf-8")
    recipe = Recipe(str(grammar), 10, 4, simplify=True)
    start(tmp_path, recipe)
    grammar.write_text("E -> E '+' E [0.4] | 'x0' [0.6]\n", encoding="utf-8")
    with pytest.raises(CorpusError, match="unfinished build of another recipe"):
        build(recipe, tmp_path)


def test_a_damaged_round_is_done_again(small: Path, tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(SMALL, tmp_path, workers=2, on_progress=stop)
    path = tmp_path / ".unfinished" / "round-00000.txt"
    for damaged in (path.read_bytes().replace(b"x0", b"x1", 1), path.read_bytes()[:-90], b"\xff\xfe", b""):
        path.write_bytes(damaged)
        assert builder._read_round(path) is None
    build(SMALL, tmp_path, workers=2)
    assert bytes_of(tmp_path) == bytes_of(small)


def test_a_build_that_was_killed_at_its_very_end_is_whole(small: Path, tmp_path: Path) -> None:
    shutil.copytree(small, tmp_path, dirs_exist_ok=True)
    start(tmp_path, SMALL)
    assert len(build(SMALL, tmp_path)) == SMALL.size
    assert bytes_of(tmp_path) == bytes_of(small)


@pytest.mark.parametrize("recipe", [SMALL, PLAIN], ids=["simplified", "drawn"])
def test_folders_that_cannot_be_made(tmp_path: Path, recipe: Recipe) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / ("long" * 100), Path("/proc/edhie")):
        with pytest.raises(CorpusError, match="cannot write the corpus to"):
            build(recipe, folder)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_is_read_only(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(CorpusError, match=r"cannot write the corpus to .*: Permission denied"):
        build(SMALL, tmp_path / "below")


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    start(tmp_path, SMALL)
    monkeypatch.setattr(builder, "_tidied", lambda exprs, pool: iter(exprs))
    monkeypatch.setattr(builder, "replace_file", full)
    with pytest.raises(CorpusError, match=r"cannot write .*round-00000\.txt: No space left on device"):
        build(SMALL, tmp_path)


@pytest.mark.parametrize("simplify", [False, True])
def test_a_hopeless_request(tmp_path: Path, simplify: bool) -> None:
    recipe = Recipe("nguyen-1", 10, 1, simplify)
    with pytest.raises(
        CorpusError,
        match=r"'nguyen-1' has given nothing new for 200 rounds, after [12] of 10 expressions of at most height 1: ask",
    ):
        build(recipe, tmp_path, workers=1)
    assert not (tmp_path / "corpus.json").exists()


def test_more_than_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "few.pcfg"
    path.write_text("E -> 'sin' '(' E ')' [0.5] | 'x0' [0.5]\n", encoding="utf-8")
    assert len(build(Recipe(str(path), 4, 4), tmp_path / "all")) == 4
    monkeypatch.setattr(builder, "HOPELESS_ROUNDS", 3)
    with pytest.raises(CorpusError, match="nothing new for 3 rounds, after 4 of 5 expressions"):
        build(Recipe(str(path), 5, 4), tmp_path / "more")


def test_grammars_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(GrammarError, match="unknown grammar 'trigg'; did you mean 'trig'"):
        build(replace(SMALL, grammar="trigg"), tmp_path / "never")
    assert not (tmp_path / "never").exists()
    path = tmp_path / "high.pcfg"
    path.write_text("E -> 'sin' '(' 'cos' '(' 'x0' ')' ')' [1.0]\n", encoding="utf-8")
    with pytest.raises(GrammarError, match="no expression has height 2: the lowest has 3"):
        build(Recipe(str(path), 1, 2), tmp_path / "high")


def test_what_takes_too_long_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "one.pcfg"
    path.write_text("E -> 'x0' [1.0]\n", encoding="utf-8")
    monkeypatch.setattr(builder, "HOPELESS_ROUNDS", 2)
    with pytest.raises(CorpusError, match="after 0 of 1 expressions"):
        build(Recipe(str(path), 1, 1, simplify=True), tmp_path, workers=1, time_limit=1e-6)
    assert (tmp_path / ".unfinished" / "round-00000.txt").read_text().startswith("! timed out\n# ")
