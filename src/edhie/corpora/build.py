"""Building of a corpus from a grammar: sample, simplify, keep new expressions; a stopped build can be resumed.

Candidates come in rounds, each with its own seed, so a resumed build continues with the round that was interrupted and
ends with the same bytes as an uninterrupted one.
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
from edhie.corpora.corpus import FORMAT, Corpus, vacant
from edhie.corpora.recipes import Recipe
from edhie.errors import CorpusError, EdhieError, raised_as
from edhie.expr import Expr, Forest, SymbolLibrary, from_prefix, to_prefix
from edhie.expr.symbols import Symbol
from edhie.expr.sympy_pool import SympyPool
from edhie.files import replace_file
from edhie.grammar import PCFG
from edhie.storage import digest

ROUND = 1000  # candidates drawn at once; a build that is stopped loses at most one round's work
DRAWN_SIZE = 127  # the most nodes a candidate may have, before it is simplified
HOPELESS_ROUNDS = 200  # rounds without anything new before giving up
TIME_LIMIT = 20.0  # seconds for one simplification
UNFINISHED = ".unfinished"
CHAINS = {"+": "+", "-": "+", "*": "*", "/": "*"}
FLIPPED = {"": "~", "~": ""}  # a term with a minus sign, a factor below the line
Parts = tuple[str, list[tuple[str, str]]]
"""A sum, a product or something else: its signs and parts."""
Progress = Callable[[int, int], None]
Outcome = Expr | str
"""A candidate, or the reason why it was left out."""


def build(
    recipe: Recipe,
    folder: str | Path,
    *,
    workers: int | None = None,
    time_limit: float = TIME_LIMIT,
    on_progress: Progress = lambda done, total: None,
) -> Corpus:
    """Build a corpus into `folder`, or resume a build that was stopped there.

    With `recipe.simplify`, SymPy runs in `workers` processes (all cores by default), and an expression that takes it
    longer than `time_limit` seconds is left out and counted; that has not been seen to happen.
    """
    folder = Path(folder)
    with FORMAT.in_use(folder):
        log = folder / UNFINISHED
        if recipe.simplify and log.is_dir() and FORMAT.is_whole(folder):  # it was stopped just before the end
            _open_log(log, recipe, recipe.load_grammar())
            corpus = Corpus.load(folder)
        else:
            corpus = _built(recipe, vacant(folder), workers, time_limit, on_progress)
        shutil.rmtree(log, ignore_errors=True)
        return corpus


def _built(recipe: Recipe, folder: Path, workers: int | None, time_limit: float, on_progress: Progress) -> Corpus:
    grammar = recipe.load_grammar()
    if recipe.simplify:
        _open_log(folder / UNFINISHED, recipe, grammar)
        with SympyPool(workers or os.cpu_count() or 1, time_limit) as pool:
            rounds = _simplified_rounds(recipe, grammar, folder / UNFINISHED, pool)
            found, left_out = _collected(recipe, rounds, on_progress)
    else:
        sampled = (iter(_drawn(recipe, grammar, index, recipe.max_height)) for index in count())
        found, left_out = _collected(recipe, sampled, on_progress)
    provenance = {"made by": f"edhie {edhie.__version__}", **_versions(recipe), **recipe.as_provenance()}
    provenance |= {"most nodes drawn": DRAWN_SIZE, "left out": left_out, "grammar rules": str(grammar).splitlines()}
    corpus = Corpus(recipe.name or folder.resolve().name, Forest.from_exprs(found, grammar.library), provenance)
    corpus.save(folder)
    return corpus


def _collected(
    recipe: Recipe, rounds: Iterable[Iterator[Outcome]], on_progress: Progress
) -> tuple[list[Expr], dict[str, int]]:
    """Return the first `recipe.size` distinct candidates, and the number of those left out by reason."""
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
    """Return the versions that a simplified corpus depends on besides its recipe."""
    if not recipe.simplify:
        return {}
    import sympy

    return {"simplified by": f"SymPy {sympy.__version__}"}


def _simplified_rounds(recipe: Recipe, grammar: PCFG, log: Path, pool: SympyPool) -> Iterator[Iterator[Outcome]]:
    """Yield rounds of simplified candidates; those of an earlier run are read back."""
    seen: set[str] = set()
    known: dict[Expr, Outcome] = {}
    for index in count():
        # simplification mostly makes trees lower; higher trees seldom become low enough
        candidates = {unordered(expr): expr for expr in _drawn(recipe, grammar, index, recipe.max_height + 1)}
        drawn = [candidates[key] for key in candidates if key not in seen]
        seen.update(candidates)
        path = log / f"round-{index:05}.txt"
        lines = _read_round(path)
        if lines is None:
            once = list(_tidied(drawn, pool))
            # numbers have become constants, which SymPy orders otherwise: x0 + 1 to x0 + c, and then to c + x0
            fit = dict.fromkeys(each for each in once if isinstance(each, Expr) and each.height <= recipe.max_height)
            new = [each for each in fit if each not in known]
            known.update(zip(new, _tidied(new, pool), strict=True))
            lines = [_line(known.get(each, each) if isinstance(each, Expr) else each) for each in once]
            _write_whole(path, [*lines, _seal(lines)])
        yield _outcomes(path, lines, grammar.library)


def _drawn(recipe: Recipe, grammar: PCFG, index: int, max_height: int) -> list[Expr]:
    rng = np.random.default_rng([recipe.seed, index])
    return grammar.sample(ROUND, rng, max_height=max_height, max_size=DRAWN_SIZE).unique().to_exprs()


def _tidied(exprs: list[Expr], pool: SympyPool) -> Iterator[Outcome]:
    """Yield each expression simplified by SymPy, with constants for numbers, or the reason why it is left out."""
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
    return to_prefix(outcome) if isinstance(outcome, Expr) else f"! {outcome}"


def _read_round(path: Path) -> list[str] | None:
    """Return the lines of a finished round; None if it was not finished or its file is damaged: it is done again."""
    try:
        *lines, seal = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return None
    return lines if seal == _seal(lines) else None


def _seal(lines: Iterable[str]) -> str:
    return f"# {digest(*(line + chr(10) for line in lines))}"


def _outcomes(path: Path, lines: Iterable[str], library: SymbolLibrary) -> Iterator[Outcome]:
    try:
        for line in lines:
            yield line[2:] if line.startswith("! ") else from_prefix(line, library)
    except EdhieError as error:
        raise CorpusError(f"{path} is damaged ({error}); remove {path.parent} and build again") from error


def _open_log(log: Path, recipe: Recipe, grammar: PCFG) -> None:
    """Make the folder of an unfinished build, or check that an existing one belongs to this recipe."""
    # everything that determines the rounds; the size does not, so a build may be resumed with a smaller one
    decides = recipe.as_provenance() | {"grammar": str(grammar), "made by": edhie.__version__} | _versions(recipe)
    description = json.dumps({key: value for key, value in decides.items() if key != "size"}, indent=2) + "\n"
    path = log / "recipe.json"
    with raised_as(CorpusError, f"cannot write to {log.parent}"):
        log.mkdir(exist_ok=True)
        if not path.exists():
            _write_whole(path, iter(description.splitlines()))
        elif path.read_bytes() != description.encode("utf-8"):
            raise CorpusError(
                f"{log.parent} holds an unfinished build of another recipe; remove {log} or choose another folder"
            )


def _write_whole(path: Path, lines: Iterable[str]) -> None:
    with raised_as(CorpusError, f"cannot write {path}"):
        replace_file(path, "".join(f"{line}\n" for line in lines).encode())


# -- expressions up to the order of their terms and factors, which SymPy chooses anyway ---


def unordered(expr: Expr) -> str:
    """Return a text that is equal for expressions that differ in the order of terms and factors alone.

    >>> from edhie.expr import parse
    >>> unordered(parse("x - (y - c*x)")) == unordered(parse("x*c + x - y"))
    True
    """
    return _joined(*expr.fold(lambda symbol, token, value: ("", [("", f"{token}()")]), _chained))


def _chained(symbol: Symbol, operands: list[Parts]) -> Parts:
    chain = CHAINS.get(symbol.name)
    if chain is None:
        return "", [("", f"{symbol.name}({', '.join(_joined(*each) for each in operands)})")]
    left, right = (parts if kind == chain else [("", _joined(kind, parts))] for kind, parts in operands)
    is_inverse = symbol.name in ("-", "/")
    return chain, left + [(FLIPPED[sign] if is_inverse else sign, part) for sign, part in right]


def _joined(kind: str, parts: list[tuple[str, str]]) -> str:
    return f"{kind}[{' '.join(sorted(sign + part for sign, part in parts))}]" if kind else parts[0][1]
