"""Building a corpus from a grammar: draw, simplify, keep what is new; stop and go on at will.

Candidates come in rounds, each from a seed of its own, so a build that was stopped goes on
with the round it was in and ends with the same bytes as one that was not.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np

import edhie
from edhie.corpora.corpus import DESCRIPTION, Corpus
from edhie.corpora.recipes import Recipe
from edhie.errors import CorpusError, EdhieError
from edhie.expr import Expr, Forest, SymbolLibrary, from_prefix, to_prefix
from edhie.expr.sympy_pool import SympyPool
from edhie.grammar import PCFG

ROUND = 4000  # candidates drawn at once
DRAWN_SIZE = 127  # the most nodes a candidate may have before it is simplified
HOPELESS_ROUNDS = 50  # rounds without anything new before giving up
UNFINISHED = ".unfinished"
Progress = Callable[[int, int], None]


def build(
    recipe: Recipe,
    folder: str | Path,
    *,
    workers: int | None = None,
    time_limit: float = 20.0,
    on_progress: Progress = lambda done, total: None,
) -> Corpus:
    """Build a corpus into `folder`, or go on with one that was stopped there.

    With `recipe.simplify`, SymPy runs in `workers` processes (all cores by default), and an
    expression that takes it longer than `time_limit` seconds is left out and counted; that
    has not been seen to happen.
    """
    folder = Path(folder)
    if (folder / DESCRIPTION).exists():
        raise CorpusError(f"{folder} holds a corpus already; choose another folder or remove it")
    grammar = recipe.load_grammar()
    name = recipe.name or folder.name
    counts: Counter[str] = Counter()
    found: dict[tuple[str, ...], Expr] = {}
    for _, candidates in _rounds(recipe, grammar, folder, workers or os.cpu_count() or 1, time_limit):
        before = len(found)
        for expr, why_not in candidates:
            if expr is None or expr.tokens in found:
                counts[why_not if expr is None else "repeated"] += 1
            elif expr.height > recipe.max_height:
                counts["too high"] += 1
            else:
                found[expr.tokens] = expr
            if len(found) == recipe.size:
                break
        on_progress(len(found), recipe.size)
        if len(found) == recipe.size:
            break
        counts["fruitless rounds"] = counts["fruitless rounds"] + 1 if len(found) == before else 0
        if counts["fruitless rounds"] == HOPELESS_ROUNDS:
            raise CorpusError(
                f"the grammar {recipe.grammar!r} has given nothing new for {HOPELESS_ROUNDS} rounds, after "
                f"{len(found)} of {recipe.size} expressions of height {recipe.max_height}: ask for fewer or higher ones"
            )
    counts.pop("fruitless rounds", None)
    provenance = {"made by": f"edhie {edhie.__version__}", **_versions(recipe), **recipe.as_provenance()}
    provenance |= {"left out": dict(sorted(counts.items())), "grammar rules": str(grammar).splitlines()}
    corpus = Corpus(name, Forest.from_exprs(found.values(), grammar.library), provenance)
    corpus.save(folder)
    shutil.rmtree(folder / UNFINISHED, ignore_errors=True)
    return corpus


def _versions(recipe: Recipe) -> dict[str, str]:
    """What a simplified corpus depends on besides its recipe."""
    if not recipe.simplify:
        return {}
    import sympy

    return {"simplified by": f"SymPy {sympy.__version__}"}


Candidates = Iterator[tuple[Expr | None, str]]


def _rounds(
    recipe: Recipe, grammar: PCFG, folder: Path, workers: int, time_limit: float
) -> Iterator[tuple[int, Candidates]]:
    """Round after round of candidates; those simplified in an earlier run are read back."""
    if not recipe.simplify:
        for index in range(1_000_000):
            yield index, ((expr, "") for expr in _drawn(recipe, grammar, index, recipe.max_height))
        return
    log = folder / UNFINISHED
    _open_log(log, recipe)
    seen: set[tuple[str, ...]] = set()
    with SympyPool(workers, time_limit) as pool:
        for index in range(1_000_000):
            # simplification mostly makes trees lower; what is higher than this seldom comes down far enough
            candidates = _drawn(recipe, grammar, index, recipe.max_height + 1)
            drawn = [expr for expr in candidates if expr.tokens not in seen]
            seen.update(expr.tokens for expr in drawn)
            path = log / f"round-{index:05}.txt"
            if not path.exists():
                _write_whole(path, _simplified(drawn, pool))
            yield index, _read_back(path, grammar.library)


def _drawn(recipe: Recipe, grammar: PCFG, index: int, max_height: int) -> list[Expr]:
    rng = np.random.default_rng([recipe.seed, index])
    return grammar.sample(ROUND, rng, max_height=max_height, max_size=DRAWN_SIZE).unique().to_exprs()


def _simplified(drawn: list[Expr], pool: SympyPool) -> Iterator[str]:
    """One line for each candidate: its simplified form in prefix, or `! reason`."""
    from edhie.expr.sympy_tasks import expr_from, request

    for expr, answer in zip(drawn, pool.map(request("tidy", [expr]) for expr in drawn), strict=True):
        if "error" in answer:
            yield "! timed out" if answer.get("timed_out") else "! undefined"
            continue
        try:
            result = expr_from(answer, expr.library).numbers_to_constants().free().cast(expr.library)
        except EdhieError:
            yield "! not in the library"
            continue
        yield to_prefix(result)


def _read_back(path: Path, library: SymbolLibrary) -> Candidates:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("! "):
            yield None, line[2:]
        else:
            try:
                yield from_prefix(line, library), ""
            except EdhieError as error:
                raise CorpusError(f"{path} is damaged ({error}); remove {path.parent} and build again") from error


def _open_log(log: Path, recipe: Recipe) -> None:
    """Make the folder of an unfinished build, or check that the one there is of this recipe."""
    description = json.dumps(asdict(recipe) | {"name": ""}, sort_keys=True)
    try:
        log.mkdir(parents=True, exist_ok=True)
        path = log / "recipe.json"
        if not path.exists():
            path.write_text(description, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != description:
            raise CorpusError(
                f"{log.parent} holds an unfinished build of another recipe; remove {log} or choose another"
            )
    except OSError as error:
        raise CorpusError(f"cannot write to {log.parent}: {error.strerror or error}") from error


def _write_whole(path: Path, lines: Iterator[str]) -> None:
    """Write a file that is there in full or not at all."""
    text = "".join(f"{line}\n" for line in lines)
    beside = path.with_suffix(".part")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise CorpusError(f"cannot write {path}: {error.strerror or error}") from error
