"""Building a corpus from a grammar: draw, simplify, keep what is new; stop and go on at will.

Candidates come in rounds, each from a seed of its own, so a build that was stopped goes on
with the round it was in and ends with the same bytes as one that was not.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path

import numpy as np

import edhie
from edhie.corpora.corpus import Corpus, vacant
from edhie.corpora.recipes import Recipe
from edhie.corpora.unordered import unordered
from edhie.errors import CorpusError, EdhieError
from edhie.expr import Expr, Forest, SymbolLibrary, from_prefix, to_prefix
from edhie.expr.sympy_pool import SympyPool
from edhie.grammar import PCFG
from edhie.storage import replace_file

ROUND = 1000  # candidates drawn at once; a build that is stopped loses at most one round's work
DRAWN_SIZE = 127  # the most nodes a candidate may have, before it is simplified
HOPELESS_ROUNDS = 200  # rounds without anything new before giving up
TIME_LIMIT = 20.0  # seconds for one simplification
UNFINISHED = ".unfinished"
Progress = Callable[[int, int], None]
Outcome = Expr | str
"""A candidate, or the reason why it came to nothing."""


def build(
    recipe: Recipe,
    folder: str | Path,
    *,
    workers: int | None = None,
    time_limit: float = TIME_LIMIT,
    on_progress: Progress = lambda done, total: None,
) -> Corpus:
    """Build a corpus into `folder`, or go on with one that was stopped there.

    With `recipe.simplify`, SymPy runs in `workers` processes (all cores by default), and an
    expression that takes it longer than `time_limit` seconds is left out and counted; that
    has not been seen to happen.
    """
    grammar = recipe.load_grammar()
    folder = vacant(folder)
    if recipe.simplify:
        _open_log(folder / UNFINISHED, recipe, grammar)
        with SympyPool(workers or os.cpu_count() or 1, time_limit) as pool:
            rounds = _simplified_rounds(recipe, grammar, folder / UNFINISHED, pool)
            found, left_out = _collected(recipe, rounds, on_progress)
    else:
        found, left_out = _collected(recipe, _drawn_rounds(recipe, grammar), on_progress)
    provenance = {"made by": f"edhie {edhie.__version__}", **_versions(recipe), **recipe.as_provenance()}
    provenance |= {"most nodes drawn": DRAWN_SIZE, "left out": left_out, "grammar rules": str(grammar).splitlines()}
    corpus = Corpus(recipe.name or folder.resolve().name, Forest.from_exprs(found, grammar.library), provenance)
    corpus.save(folder)
    shutil.rmtree(folder / UNFINISHED, ignore_errors=True)
    return corpus


def _collected(
    recipe: Recipe, rounds: Iterable[Iterator[Outcome]], on_progress: Progress
) -> tuple[list[Expr], dict[str, int]]:
    """The first `recipe.size` distinct candidates, and how many were left out on the way, by reason."""
    found: dict[tuple[str, ...], Expr] = {}
    left_out: Counter[str] = Counter()
    fruitless = 0
    for candidates in rounds:
        before = len(found)
        for expr in candidates:
            if isinstance(expr, str):
                left_out[expr] += 1
            elif expr.tokens in found:
                left_out["repeated"] += 1
            elif expr.height > recipe.max_height:
                left_out["too high"] += 1
            else:
                found[expr.tokens] = expr
            if len(found) == recipe.size:
                break
        on_progress(len(found), recipe.size)
        if len(found) == recipe.size:
            break
        fruitless = fruitless + 1 if len(found) == before else 0
        if fruitless == HOPELESS_ROUNDS:
            raise CorpusError(
                f"the grammar {recipe.grammar!r} has given nothing new for {HOPELESS_ROUNDS} rounds, after "
                f"{len(found)} of {recipe.size} expressions of at most height {recipe.max_height}: "
                "ask for fewer or higher ones"
            )
    return list(found.values()), dict(sorted(left_out.items()))


def _versions(recipe: Recipe) -> dict[str, str]:
    """What a simplified corpus depends on besides its recipe."""
    if not recipe.simplify:
        return {}
    import sympy

    return {"simplified by": f"SymPy {sympy.__version__}"}


def _drawn_rounds(recipe: Recipe, grammar: PCFG) -> Iterator[Iterator[Outcome]]:
    """Round after round of candidates as they are drawn."""
    for index in count():
        yield iter(_drawn(recipe, grammar, index, recipe.max_height))


def _simplified_rounds(recipe: Recipe, grammar: PCFG, log: Path, pool: SympyPool) -> Iterator[Iterator[Outcome]]:
    """Round after round of simplified candidates; those of an earlier run are read back."""
    seen: set[str] = set()
    known: dict[Expr, Outcome] = {}
    for index in count():
        # simplification mostly makes trees lower; what is higher than this seldom comes down far enough
        candidates = {unordered(expr): expr for expr in _drawn(recipe, grammar, index, recipe.max_height + 1)}
        drawn = [candidates[key] for key in candidates if key not in seen]
        seen.update(candidates)
        path = log / f"round-{index:05}.txt"
        if not path.exists():
            once = list(_tidied(drawn, pool))
            # numbers have become constants, which SymPy orders otherwise: x0 + 1 to x0 + c, and then to c + x0
            fit = dict.fromkeys(each for each in once if isinstance(each, Expr) and each.height <= recipe.max_height)
            new = [each for each in fit if each not in known]
            known.update(zip(new, _tidied(new, pool), strict=True))
            _write_whole(path, map(_line, (known.get(each, each) if isinstance(each, Expr) else each for each in once)))
        yield _read_back(path, grammar.library)


def _drawn(recipe: Recipe, grammar: PCFG, index: int, max_height: int) -> list[Expr]:
    rng = np.random.default_rng([recipe.seed, index])
    return grammar.sample(ROUND, rng, max_height=max_height, max_size=DRAWN_SIZE).unique().to_exprs()


def _tidied(exprs: list[Expr], pool: SympyPool) -> Iterator[Outcome]:
    """Each expression as SymPy gives it back, with constants for numbers, or the reason why it has no such form."""
    from edhie.expr.sympy_tasks import expr_from, request

    for expr, answer in zip(exprs, pool.map(request("tidy", [expr]) for expr in exprs), strict=True):
        if "error" in answer:
            yield "timed out" if answer.get("timed_out") else "undefined"
            continue
        try:
            yield expr_from(answer, expr.library).numbers_to_constants().free().cast(expr.library)
        except EdhieError:
            yield "not in the library"


def _line(outcome: Outcome) -> str:
    """An expression in prefix, or `! reason`."""
    return to_prefix(outcome) if isinstance(outcome, Expr) else f"! {outcome}"


def _read_back(path: Path, library: SymbolLibrary) -> Iterator[Outcome]:
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            yield line[2:] if line.startswith("! ") else from_prefix(line, library)
    except (EdhieError, OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"{path} is damaged ({error}); remove {path.parent} and build again") from error


def _open_log(log: Path, recipe: Recipe, grammar: PCFG) -> None:
    """Make the folder of an unfinished build, or check that the one there is of this recipe."""
    # all that the rounds follow from; a build that proved too large may go on as a smaller one
    decides = recipe.as_provenance() | {"grammar": str(grammar), "made by": edhie.__version__} | _versions(recipe)
    description = json.dumps({key: value for key, value in decides.items() if key != "size"}, indent=2) + "\n"
    path = log / "recipe.json"
    try:
        log.mkdir(exist_ok=True)
        if not path.exists():
            _write_whole(path, iter(description.splitlines()))
        elif path.read_bytes() != description.encode("utf-8"):
            raise CorpusError(
                f"{log.parent} holds an unfinished build of another recipe; remove {log} or choose another folder"
            )
    except OSError as error:
        raise CorpusError(f"cannot write to {log.parent}: {error.strerror or error}") from error


def _write_whole(path: Path, lines: Iterable[str]) -> None:
    """Write a file that is there in full or not at all."""
    try:
        replace_file(path, "".join(f"{line}\n" for line in lines).encode())
    except OSError as error:
        raise CorpusError(f"cannot write {path}: {error.strerror or error}") from error
