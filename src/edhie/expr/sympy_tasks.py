"""What the worker process does with SymPy; run as `python -m edhie.expr.sympy_tasks`.

One JSON object a line comes in on standard input, one a line goes out. Nothing here needs a
time limit: the process is killed from outside, which stops SymPy wherever it is.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import sympy
from sympy.core.random import seed

from edhie.errors import EdhieError
from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.standard_libraries import everything
from edhie.expr.symbols import Symbol, operator
from edhie.expr.sympy_bridge import constant_names, to_sympy
from edhie.expr.sympy_reader import from_sympy

MAX_MEMORY = 4 * 2**30
Answer = dict[str, Any]


def request(task: str, exprs: list[Expr], **options: Any) -> dict[str, Any]:
    """What to send to the worker for these expressions, all over one library."""
    library = exprs[0].library
    return {
        "task": task,
        "library": library.to_json(),
        "custom": [[symbol.name, symbol.arity] for symbol in library.symbols if symbol.is_custom],
        "exprs": [[list(expr.tokens), list(expr.constants)] for expr in exprs],
        **options,
    }


def expr_from(answer: Answer, library: SymbolLibrary) -> Expr:
    """The expression in a worker's answer, over `library` or, where that lacks a symbol, a larger one."""
    wider = library.with_numbers()
    return Expr(wider if answer["fits"] else _widest(wider), answer["tokens"])


def _widest(library: SymbolLibrary) -> SymbolLibrary:
    """The library with every built-in operator and literal that its own names leave room for."""
    return library.extended(*(symbol for symbol in everything(0).symbols if symbol.kind != "constant"))


def _read_back(value: sympy.Expr, expr: Expr) -> Answer:
    library = expr.library.with_numbers()
    names = constant_names(expr.library, len(expr.constants))
    try:
        return {"fits": True, "tokens": list(from_sympy(value, library, constants=names).tokens)}
    except EdhieError:
        return {"fits": False, "tokens": list(from_sympy(value, _widest(library), constants=names).tokens)}


def simplify(exprs: list[Expr]) -> Answer:
    """SymPy's full simplification, which may take any time; never longer than its input."""
    (expr,) = exprs
    return _read_back(sympy.simplify(to_sympy(expr), ratio=1), expr)


def tidy(exprs: list[Expr]) -> Answer:
    """SymPy's automatic evaluation and common factors: milliseconds, whatever the expression.

    Numbers beside an unfitted constant go into it. On random expressions this comes out as
    short as `simplify`, whose time varies by a factor of a hundred from call to call; a
    corpus made with it is the same on any machine, since no time limit is ever reached.
    """
    (expr,) = exprs
    value = to_sympy(expr)
    shorter = sympy.factor_terms(value)
    value = min(value, shorter, key=sympy.count_ops)
    constants = {sympy.Symbol(name, real=True) for name in constant_names(expr.library, len(expr.constants))}
    return _read_back(_absorbed(value, constants), expr)


def _absorbed(value: sympy.Expr, constants: set[sympy.Symbol]) -> sympy.Expr:
    if not value.args:
        return value
    operands = [_absorbed(operand, constants) for operand in value.args]
    if (value.is_Add or value.is_Mul) and not constants.isdisjoint(operands):
        operands = [operand for operand in operands if not operand.is_number]
    return value.func(*operands)


def prove_zero(exprs: list[Expr], constants: list[int]) -> Answer:
    """Whether the first expression minus the second simplifies to 0; constants of the second are reordered."""
    left, right = (to_sympy(expr, exact=True) for expr in exprs)
    names = constant_names(exprs[0].library, len(constants))
    symbols = [sympy.Symbol(name, real=True) for name in names]
    right = right.subs({symbols[i]: symbols[j] for i, j in enumerate(constants)}, simultaneous=True)
    difference = left - right
    for step in ROADS_TO_ZERO:
        try:
            result = step(difference)
        except (ValueError, TypeError, AttributeError, NotImplementedError, RecursionError):
            continue  # one of SymPy's many roads is closed; the others may not be
        if result == 0:
            return {"zero": True}
        if result.is_Rational:
            return {"zero": False, "difference": str(sympy.N(result, 5))}
    return {"zero": False}


def _slopes(difference: sympy.Expr) -> sympy.Expr:
    """0 where no variable changes the difference, which the caller knows to vanish at points."""
    return sympy.Add(*(sympy.Abs(sympy.simplify(difference.diff(symbol))) for symbol in difference.free_symbols))


# Logarithms may be split and joined (force=True): their operands are positive wherever the
# expression is defined over the reals.
ROADS_TO_ZERO: tuple[Callable[[sympy.Expr], sympy.Expr], ...] = (
    sympy.expand,
    sympy.simplify,
    lambda d: sympy.expand(sympy.expand_trig(sympy.expand(d))),
    lambda d: sympy.simplify(sympy.expand_log(sympy.factor(d, deep=True), force=True)),
    lambda d: sympy.simplify(sympy.logcombine(sympy.expand(d), force=True)),
    lambda d: sympy.simplify(sympy.expand(d.rewrite(sympy.exp))),
    lambda d: sympy.simplify(d.rewrite(sympy.Piecewise)),
    _slopes,
)


TASKS: dict[str, Callable[..., Answer]] = {"simplify": simplify, "tidy": tidy, "prove_zero": prove_zero}


@lru_cache(maxsize=16)
def _library(text: str, custom: tuple[tuple[str, int], ...]) -> SymbolLibrary:
    """The library of a request; operators of a user's are known here by name alone."""
    operators: list[Symbol] = [operator(name, arity, numpy=_not_here) for name, arity in custom]
    return SymbolLibrary.from_json(text, operators=operators)


def _not_here(*operands: Any) -> Any:
    raise NotImplementedError("a user's function does not travel to the worker")


def answer(message: dict[str, Any]) -> Answer:
    """Do what one request asks for; an error becomes a part of the answer."""
    try:
        library = _library(message.pop("library"), tuple((n, a) for n, a in message.pop("custom")))
        exprs = [Expr(library, tokens, constants) for tokens, constants in message.pop("exprs")]
        seed(0)  # SymPy draws random points inside, and the time it takes depends on them
        return TASKS[message.pop("task")](exprs, **message)
    except Exception as error:  # SymPy raises whatever it likes; the caller must hear of it, not lose its worker
        return {"error": f"{type(error).__name__}: {error}"}


def serve() -> None:
    """Answer requests until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then closes our input
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    except (ImportError, ValueError, OSError):
        pass  # not on this system: then only the time limit holds
    sys.setrecursionlimit(5000)
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    serve()
